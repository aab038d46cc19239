import type { ClusterGap } from '@informerql/client'
import { createContext, useContext } from 'react'
import { words } from '../words.ts'

const said = words.gaps

/** The clusters that the page says above the view that they are cut off. None where something of the page stands alone. */
export const SaidCut = createContext<ReadonlySet<string>>(new Set())

/** What a view has to say of gaps: {@link gapSentences} without what the page says above it. */
export function useGapSentences(gaps: readonly ClusterGap[], what: string): readonly string[] {
  const cut = useContext(SaidCut)
  // Without a time there are not even old objects of the cluster, which the page does not say.
  const isSaid = ({ cluster, code = '', since = null }: ClusterGap): boolean =>
    cut.has(cluster) && codesOfCut.has(code) && since !== null
  return gapSentences(
    gaps.filter((gap) => !isSaid(gap)),
    what,
  )
}

const codesOfCut: ReadonlySet<string> = new Set(['CLUSTER_UNREACHABLE', 'CLUSTER_UNAUTHORIZED'])

/** What is missing of some clusters, a sentence for each reason: the clusters that have it are named together. */
export function gapSentences(gaps: readonly ClusterGap[], what: string): readonly string[] {
  const reasons = Map.groupBy(gaps, ({ code = '', since = null, message }) =>
    JSON.stringify([code, isOwn(code) ? minuteOf(since) : message]),
  )
  return [...reasons.values()].flatMap((own) => {
    const [first] = own
    if (first === undefined) return []
    const { code = '', since = null, message = code } = first
    const clusters = namesOf(own.map(({ cluster }) => cluster))
    if (!isOwn(code)) return [said.other(clusters, message)]
    return [said[code](clusters, what, since === null ? undefined : new Date(since))]
  })
}

type OwnCode = Exclude<keyof typeof said, 'other' | 'more'>

function isOwn(code: string): code is OwnCode {
  return code in said && code !== 'other' && code !== 'more'
}

/** Clusters that were lost in the same minute are told together. */
function minuteOf(since: string | null): string | null {
  return since?.slice(0, 16) ?? null
}

function namesOf(clusters: readonly string[]): string {
  const names = [...new Set(clusters)]
  return names.length > 4
    ? said.more(names.slice(0, 3).join(', '), names.length - 3)
    : names.join(', ')
}
