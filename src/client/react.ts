/**
 * The hooks of React. Components that ask the same of the same client (document, variables, operation) share one
 * subscription: {@link sharing} keeps those that have subscribers by client and request. A rendering only looks for one, or
 * makes an object that costs nothing; it is registered when a component is mounted. The Suspense form has to subscribe
 * before that, since React forgets what a suspended rendering has made: it holds the subscription until its first snapshot
 * is complete, and a moment longer for the component to be mounted.
 */

import { useMemo, useSyncExternalStore } from 'react'
import {
  type Compare,
  type LiveCollection,
  liveCollection,
  type LiveCollectionOptions,
} from './live-collection.ts'
import {
  livePage,
  type LivePageOptions,
  type LivePageSnapshot,
  liveValue,
  type LiveValueOptions,
  type LiveValueSnapshot,
  type ValueOf,
} from './live-value.ts'
import {
  documentText,
  graceMs,
  type LiveQuery,
  type LiveSnapshot,
  type LiveState,
  type RowOf,
  valueText,
} from './live-stream.ts'
import type { LiveTransport } from './live-transport.ts'

/** What a hook takes besides the options of its subscription. */
export interface HookOptions {
  /**
   * Whether it subscribes; default: true. While it does not, its `status` is `idle`, and the rows are those that it has seen
   * last.
   */
  readonly enabled?: boolean
}

/** A subscription by its text: its rows have the type that is named. */
type Text = { readonly query: string }

/** A hook for the objects of a subscription, by its text or by a typed document. */
interface UseCollection<Further> {
  <Row>(options: LiveCollectionOptions<unknown, object, Row> & Further & Text): LiveSnapshot<Row>
  <Result, Variables, Row = RowOf<Result>>(
    options: LiveCollectionOptions<Result, Variables, Row> & Further,
  ): LiveSnapshot<Row>
}

/** One for a live page. */
interface UsePage<Further> {
  <Row>(options: LivePageOptions<unknown, object> & Further & Text): LivePageSnapshot<Row>
  <Result, Variables, Row = RowOf<Result>>(
    options: LivePageOptions<Result, Variables> & Further,
  ): LivePageSnapshot<Row>
}

/** One for a value. */
interface UseValue<Further> {
  <Value>(options: LiveValueOptions<unknown, object> & Further & Text): LiveValueSnapshot<Value>
  <Result, Variables, Value = ValueOf<Result>>(
    options: LiveValueOptions<Result, Variables> & Further,
  ): LiveValueSnapshot<Value>
}

/**
 * The objects of a subscription while the component is mounted: of another one when `client`, `query` or `variables`
 * change, by value except the client. Components with equal ones share a subscription. It subscribes when the component is
 * mounted, so a rendering that React discards never connects, and a component that StrictMode mounts twice connects once.
 * Another `compare` only sorts again; declare it outside of the component, and `rows` stays the same array between frames.
 * Throws `TypeError` for a document without its text.
 */
export const useLiveCollection: UseCollection<HookOptions> = <Row>(
  options: LiveCollectionOptions<unknown, object, Row> & HookOptions,
) => useCollection(options, false)

/**
 * {@link useLiveCollection} that suspends until the first snapshot is complete, and throws the error of a subscription that
 * has failed. On a server it throws, so that the nearest Suspense boundary is rendered in the browser.
 */
export const useSuspenseLiveCollection: UseCollection<unknown> = <Row>(
  options: LiveCollectionOptions<unknown, object, Row>,
) => useCollection(options, true)

/** The same for a live page: its rows in the gateway's order, and how many there are on all pages. */
export const useLivePage: UsePage<HookOptions> = <Row>(
  options: LivePageOptions<unknown, object> & HookOptions,
) => useSubscription('page', options, () => livePage<unknown, object, Row>(options), false).snapshot

/** {@link useLivePage} that suspends until the first page is complete. */
export const useSuspenseLivePage: UsePage<unknown> = <Row>(
  options: LivePageOptions<unknown, object>,
) => useSubscription('page', options, () => livePage<unknown, object, Row>(options), true).snapshot

/** The same for a subscription whose frames each take the place of the one before, such as live counts. */
export const useLiveValue: UseValue<HookOptions> = <Value>(
  options: LiveValueOptions<unknown, object> & HookOptions,
) =>
  useSubscription('value', options, () => liveValue<unknown, object, Value>(options), false)
    .snapshot

/** {@link useLiveValue} that suspends until the first frame. */
export const useSuspenseLiveValue: UseValue<unknown> = <Value>(
  options: LiveValueOptions<unknown, object>,
) =>
  useSubscription('value', options, () => liveValue<unknown, object, Value>(options), true).snapshot

/** The order of a shared collection: that of the component that made it. */
const orders = new WeakMap<object, Compare<never> | undefined>()

function useCollection<Row>(
  options: LiveCollectionOptions<unknown, object, Row> & HookOptions,
  suspends: boolean,
): LiveSnapshot<Row> {
  const { compare } = options
  const make = (): LiveCollection<Row> => {
    const made = liveCollection<unknown, object, Row>(options)
    orders.set(made, compare)
    return made
  }
  const { live, snapshot } = useSubscription('collection', options, make, suspends)
  return useMemo(() => {
    const order = orders.get(live)
    if (compare === order) return snapshot
    // The objects are in the order of their arrival.
    const rows =
      compare === undefined ? [...live.objects.values()] : snapshot.rows.toSorted(compare)
    return { ...snapshot, rows }
  }, [live, snapshot, compare])
}

/** What all subscriptions have. */
interface Live<Snapshot> {
  readonly subscribe: (listener: () => void) => () => void
  readonly getSnapshot: () => Snapshot
}

type SnapshotOf<L extends Live<LiveState>> = ReturnType<L['getSnapshot']>

function useSubscription<L extends Live<LiveState>>(
  form: string,
  {
    client,
    query,
    variables,
    operationName,
    enabled = true,
  }: LiveQuery<unknown, object> & HookOptions,
  make: () => L,
  suspends: boolean,
): { readonly live: L; readonly snapshot: SnapshotOf<L> } {
  const key = JSON.stringify([form, documentText(query), operationName, valueText(variables ?? {})])
  const shared = useMemo(() => sharing(client, key, make), [client, key])
  if (suspends) suspend(shared)
  const subscribe = enabled ? shared.subscribe : never
  const current = useSyncExternalStore<SnapshotOf<L>>(
    subscribe,
    shared.getSnapshot,
    shared.getSnapshot,
  )
  const snapshot = useMemo<SnapshotOf<L>>(
    () => (enabled ? current : { ...current, status: 'idle' as const, error: undefined }),
    [current, enabled],
  )
  return { live: shared.live(), snapshot }
}

function never(): () => void {
  return () => {}
}

/** A subscription that has subscribers, or had them a moment ago. */
interface Entry {
  readonly live: Live<LiveState>
  users: number
  /** Resolves when its first snapshot is complete, for those who suspend. */
  waiting?: Promise<void> | undefined
}

const entries = new WeakMap<LiveTransport, Map<string, Entry>>()

/** A subscription of a component, which may be that of others. */
interface Sharing<L extends Live<LiveState>> extends Live<SnapshotOf<L>> {
  readonly live: () => L
  /** Registers the subscription. */
  readonly entry: () => Entry
}

function sharing<L extends Live<LiveState>>(
  client: LiveTransport,
  key: string,
  make: () => L,
): Sharing<L> {
  const all = entries.get(client) ?? new Map<string, Entry>()
  entries.set(client, all)
  let own: L | undefined
  const live = (): L => (all.get(key)?.live as L | undefined) ?? (own ??= make())
  const entry = (): Entry => {
    own = live()
    const known = all.get(key)
    if (known !== undefined) return known
    const made: Entry = { live: own, users: 0 }
    all.set(key, made)
    return made
  }
  return {
    live,
    entry,
    getSnapshot: () => live().getSnapshot() as SnapshotOf<L>,
    subscribe(listener) {
      const joined = entry()
      joined.users++
      const leave = joined.live.subscribe(listener)
      return () => {
        leave()
        joined.users--
        // As long as the subscription itself stays open for those who come back.
        setTimeout(() => {
          if (joined.users === 0 && all.get(key) === joined) all.delete(key)
        }, graceMs)
      }
    },
  }
}

/** How long a suspended rendering is waited for, and how long a component may take to be mounted after it. */
const suspendedMs = 30_000
const mountMs = 1_000

/** Throws what React waits for, or the error of a subscription that has failed. */
function suspend({ live, entry, subscribe }: Sharing<Live<LiveState>>): void {
  const { status, error } = live().getSnapshot()
  if (status === 'failed') throw error
  if (status !== 'loading') return
  if (!('window' in globalThis)) throw new Error('live subscriptions are rendered in the browser')
  const joined = entry()
  joined.waiting ??= new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer)
      joined.waiting = undefined
      resolve()
      setTimeout(leave, mountMs)
    }
    // React does not report that it abandons a suspended rendering. If it has not abandoned it, it renders again.
    const timer = setTimeout(settle, suspendedMs)
    const leave = subscribe(() => {
      if (joined.waiting !== undefined && live().getSnapshot().status !== 'loading') settle()
    })
  })
  // oxlint-disable-next-line typescript/only-throw-error -- React's protocol
  throw joined.waiting
}
