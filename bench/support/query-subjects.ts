import { askGraphQL } from './graphql-client.ts'
import type { QuerySubjects } from './query-load.ts'

interface Named {
  readonly metadata: { readonly name: string; readonly namespace: string }
}

interface Facet {
  readonly values: readonly { readonly value: string; readonly count: number }[]
}

/** Finds something in the population for each question to be about. */
export async function querySubjects(gateway: string): Promise<QuerySubjects> {
  const text = await askGraphQL(gateway, {
    query: `{ pods(first: 1, where: { phase: { eq: "Running" } }) {
        nodes { metadata { name namespace } spec { nodeName } }
      }
      all: pods(first: 0) { totalCount facets(by: ["nodeName", "namespace"], top: 1000) { values { value count } } }
      deployments(first: 300) { nodes { metadata { name namespace } pods(first: 1) { totalCount } } } }`,
  })
  const { data } = JSON.parse(text) as {
    readonly data: {
      readonly pods: { readonly nodes: readonly (Named & { spec: { nodeName: string } })[] }
      readonly all: { readonly totalCount: number; readonly facets: readonly [Facet, Facet] }
      readonly deployments: {
        readonly nodes: readonly (Named & { pods: { totalCount: number } })[]
      }
    }
  }
  const [pod] = data.pods.nodes
  const found = data.deployments.nodes.find(({ pods }) => pods.totalCount >= 20)
  if (pod === undefined || found === undefined) throw new Error('no pod, or no large Deployment')
  const { totalCount, facets } = data.all
  const [byNode, byNamespace] = facets
  return {
    namespace: pod.metadata.namespace,
    pod: pod.metadata.name,
    nodeName: pod.spec.nodeName,
    deploymentNamespace: found.metadata.namespace,
    deployment: found.metadata.name,
    nodes: nearest(byNode, totalCount / 1000),
    namespaces: nearest(byNamespace, totalCount / 10),
  }
}

/** The five values whose counts are nearest to one. */
function nearest({ values }: Facet, count: number): readonly string[] {
  return values
    .toSorted((a, b) => Math.abs(a.count - count) - Math.abs(b.count - count))
    .slice(0, 5)
    .map(({ value }) => value)
}
