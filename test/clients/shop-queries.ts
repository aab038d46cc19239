import { shop } from './shop.ts'

export interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string }
}

/** What {@link pageText} answers. */
export interface Page {
  readonly pods: {
    readonly nodes: readonly Pod[]
    readonly totalCount: number
    readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean }
  }
}

/** A page of the shop's pods. */
export const pageText: string = `
  query Page($first: Int, $after: String, $labelSelector: String) {
    pods(namespace: "${shop}", first: $first, after: $after, labelSelector: $labelSelector) {
      nodes { id metadata { name } }
      totalCount
      pageInfo { endCursor hasNextPage }
    }
  }
`

/** The labels of the shop's pods. */
export const labelsText: string = `
  query Labels { pods(namespace: "${shop}", first: 500) { nodes { id metadata { labels } } } }
`

/** The frames of the shop's pods. */
export const framesText: string = `
  subscription Frames($labelSelector: String) {
    pods(namespace: "${shop}", labelSelector: $labelSelector) {
      reset synced
      changes { type removal objectId object { id metadata { name } status { phase } } }
    }
  }
`

/** The frames of a live page of the shop's pods. */
export const livePageText: string = `
  subscription LivePage($first: Int) {
    podsPage(namespace: "${shop}", first: $first, coalesceMs: 0) {
      reset synced totalCount
      changes { step index from objectId object { id metadata { name } } }
    }
  }
`

export function podNamesOf(nodes: readonly Pod[]): readonly string[] {
  return nodes.map(({ metadata }) => metadata.name)
}
