import type { LivePageSnapshot } from '@informerql/client'
import type { TableRowFragment as TableRow } from '../gateway/documents.ts'
import type { RowSources } from './live-rows.ts'

const everyMs = 5_000

/**
 * The head of a list that cannot be followed, because the gateway has no cache of its kind: it is asked for again and
 * again while it has subscribers. `ask` resolves to its first rows, of how many.
 */
export function polledPage(
  ask: () => Promise<{ readonly rows: readonly TableRow[]; readonly totalCount: number }>,
): RowSources['head'] {
  const listeners = new Set<() => void>()
  let snapshot: LivePageSnapshot<TableRow> = {
    rows: [],
    totalCount: undefined,
    status: 'loading',
    error: undefined,
    staleSince: null,
    incomplete: [],
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  // Rounds of subscribers that have left since say nothing.
  let run = 0

  const round = async (own: number): Promise<void> => {
    const next = await ask().then(
      (answer): LivePageSnapshot<TableRow> => ({
        ...answer,
        status: 'live',
        error: undefined,
        staleSince: null,
        incomplete: [],
      }),
      (reason: unknown): LivePageSnapshot<TableRow> => ({
        ...snapshot,
        status: snapshot.totalCount === undefined ? 'failed' : 'reconnecting',
        error: reason instanceof Error ? reason : new Error(String(reason)),
      }),
    )
    if (own !== run) return
    snapshot = next
    for (const listener of listeners) listener()
    timer = setTimeout(() => void round(own), everyMs)
  }

  return {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) void round(++run)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearTimeout(timer)
        run++
      }
    },
  }
}
