/**
 * The hooks of React. Each keeps one subscription for a component, makes another one when the request changes by value, and
 * reads its snapshot by `useSyncExternalStore`. Subscribing and leaving is the business of the subscription itself.
 */

import { useMemo, useSyncExternalStore } from 'react'
import { liveCollection, type LiveCollectionOptions } from './live-collection.ts'
import {
  livePage,
  type LivePageOptions,
  type LivePageSnapshot,
  liveValue,
  type LiveValueOptions,
  type LiveValueSnapshot,
  type ValueOf,
} from './live-value.ts'
import { documentText, type LiveQuery, type LiveSnapshot, type RowOf } from './live-stream.ts'

/**
 * The objects of a subscription while the component is mounted: of another one when `client`, `query` or `variables`
 * change, by value except the client. It subscribes when the component is mounted, so a rendering that React discards
 * never connects, and a component that StrictMode mounts twice connects once. Another `compare` only sorts again;
 * declare it outside of the component, and `rows` stays the same array between frames. Throws `TypeError` for a
 * document without its text.
 */
export function useLiveCollection<Result, Variables, Row = RowOf<Result>>(
  options: LiveCollectionOptions<Result, Variables, Row>,
): LiveSnapshot<Row> {
  const { compare } = options
  const { collection, order } = useSubscription(options, () => ({
    collection: liveCollection<Result, Variables, Row>(options),
    order: compare,
  }))
  const snapshot = useSyncExternalStore(
    collection.subscribe,
    collection.getSnapshot,
    collection.getSnapshot,
  )
  return useMemo(() => {
    if (compare === undefined || compare === order) return snapshot
    return { ...snapshot, rows: snapshot.rows.toSorted(compare) }
  }, [snapshot, compare, order])
}

/** The same for a live page: its rows in the gateway's order, and how many there are on all pages. */
export function useLivePage<Result, Variables, Row = RowOf<Result>>(
  options: LivePageOptions<Result, Variables>,
): LivePageSnapshot<Row> {
  const page = useSubscription(options, () => livePage<Result, Variables, Row>(options))
  return useSyncExternalStore(page.subscribe, page.getSnapshot, page.getSnapshot)
}

/** The same for a subscription whose frames each take the place of the one before, such as live counts. */
export function useLiveValue<Result, Variables, Value = ValueOf<Result>>(
  options: LiveValueOptions<Result, Variables>,
): LiveValueSnapshot<Value> {
  const value = useSubscription(options, () => liveValue<Result, Variables, Value>(options))
  return useSyncExternalStore(value.subscribe, value.getSnapshot, value.getSnapshot)
}

/** What `make` returns, made again for another subscription. */
function useSubscription<Live>(
  { client, query, variables, operationName }: LiveQuery<unknown, unknown>,
  make: () => Live,
): Live {
  const text = documentText(query)
  const values = JSON.stringify(variables)
  return useMemo(make, [client, text, values, operationName])
}
