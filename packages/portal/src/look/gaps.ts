import type { ClusterGap } from '@informerql/client'
import { words } from '../words.ts'

const said = words.gaps

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
