import { liveCollection, livePage } from '@informerql/client'
import { useMemo, useState, useSyncExternalStore } from 'react'
import {
  TableBlockChangesDocument,
  TableBlockDocument,
  type TableBlockQueryVariables,
  TablePageDocument,
  type TablePageSubscription,
  type TablePageSubscriptionVariables,
  type TableRowFragment as TableRow,
} from '../gateway/documents.ts'
import { type Gateway, GatewayError, useGateway } from '../gateway/gateway.ts'
import { blockRows, headRows, LiveRows, type RowsSnapshot, type RowSources } from './live-rows.ts'
import { polledPage } from './polled-page.ts'

/** What a table lists. */
export type ListArguments = Omit<TablePageSubscriptionVariables, 'first' | 'resumeFrom'>

/** The variables of the head of a table. */
export function headVariables(list: ListArguments): ListArguments & { readonly first: number } {
  return { ...list, first: headRows }
}

/**
 * The rows of a list, live. Those of the list before stay until the first of another one are here. `isCached`: whether
 * the gateway has a cache of the kind; other kinds cannot be followed.
 */
export function useLiveRows(
  list: ListArguments,
  isCached: boolean,
): {
  readonly live: LiveRows
  readonly rows: RowsSnapshot
  /** Whether `rows` are still those of the list before. */
  readonly isChanging: boolean
} {
  const gateway = useGateway()
  const live = useMemo(
    () => new LiveRows(isCached ? liveSources(gateway, list) : polledSources(gateway, list)),
    [gateway, JSON.stringify(list), isCached],
  )
  const rows = useSyncExternalStore(live.subscribe, live.getSnapshot)
  const [before, setBefore] = useState(rows)
  const isHere = rows.count !== undefined
  if (isHere && before !== rows) setBefore(rows)
  const isChanging = !isHere && rows.status === 'loading' && before.count !== undefined
  return { live, rows: isChanging ? before : rows, isChanging }
}

function liveSources(gateway: Gateway, list: ListArguments): RowSources {
  return {
    head: livePage<TablePageSubscription, TablePageSubscriptionVariables, TableRow>({
      client: gateway.socket,
      query: TablePageDocument,
      variables: headVariables(list),
    }),
    async block(offset, signal) {
      const variables = { ...list, first: blockRows, offset }
      return rowsOf(gateway, variables, signal)
    },
    follow: (ids) =>
      liveCollection({
        client: gateway.socket,
        query: TableBlockChangesDocument,
        variables: { ...list, ids: [...ids] },
      }),
  }
}

/** Of a kind that the gateway has no cache of: its first rows only, which cannot be followed. */
function polledSources(gateway: Gateway, list: ListArguments): RowSources {
  return {
    head: polledPage(async () => {
      const rows = await rowsOf(gateway, headVariables(list))
      return { rows, totalCount: rows.length }
    }),
    block: () => Promise.resolve([]),
    follow: () => ({ onChanges: () => () => {}, close: () => {} }),
  }
}

/** Some rows of the list. Rejects if none can be read. */
async function rowsOf(
  gateway: Gateway,
  variables: TableBlockQueryVariables,
  signal?: AbortSignal,
): Promise<readonly TableRow[]> {
  const { data, errors } = await gateway.ask(TableBlockDocument, variables, signal)
  if (data.objectList === null) throw new GatewayError(errors)
  return data.objectList.nodes
}
