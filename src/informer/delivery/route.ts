import { Change, type ChangeType } from '../store/change.ts'
import type { ObjectId, StoreView } from '../store/store-view.ts'
import type { ObjectCodec } from '../codec/object-codec.ts'
import type { IndexedStore } from '../store/indexed-store.ts'

/**
 * The objects that a listener receives: those under these keys (`namespace/name`, or `name`), or those with one of
 * these values in an index. With an index, the listener receives every change of an object that has one of the values
 * before or after it. An object that gains or loses the value arrives as MODIFIED; later changes of an object that lost
 * it do not arrive.
 */
export type ListenerRoute =
  | { readonly keys: readonly string[] }
  | { readonly index: string; readonly values: readonly string[] }

/** The values of the changed object in an index, before and after the change. */
export type ValuesOfChange<C = Change> = (change: C, index: string) => Iterable<string>

/** The ids of the objects on a route, each once. Throws `UnknownIndexError`. */
export function idsOnRoute(store: StoreView, route: ListenerRoute): ReadonlySet<ObjectId> {
  const ids = new Set<ObjectId>()
  if ('keys' in route) {
    for (const key of route.keys) {
      const id = store.idOf(key)
      if (id !== undefined) ids.add(id)
    }
    return ids
  }
  const index = store.index(route.index)
  for (const value of route.values) for (const id of index.posting(value) ?? []) ids.add(id)
  return ids
}

/**
 * Finds the listeners for a change in time proportional to their number: a map from each key, and from each value of
 * each index, to the listeners that named it.
 */
export class Router<Listener> {
  readonly #byKey = new Map<string, Set<Listener>>()
  readonly #byIndex = new Map<string, Map<string, Set<Listener>>>()

  /** The indexes in routes. */
  get indexes(): readonly string[] {
    return this.#byIndex.size === 0 ? none : [...this.#byIndex.keys()]
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0 && this.#byIndex.size === 0
  }

  add(listener: Listener, route: ListenerRoute): void {
    if ('keys' in route) return join(this.#byKey, route.keys, listener)
    let byValue = this.#byIndex.get(route.index)
    if (byValue === undefined) this.#byIndex.set(route.index, (byValue = new Map()))
    join(byValue, route.values, listener)
  }

  delete(listener: Listener, route: ListenerRoute): void {
    if ('keys' in route) return leave(this.#byKey, route.keys, listener)
    const byValue = this.#byIndex.get(route.index)
    if (byValue === undefined) return
    leave(byValue, route.values, listener)
    if (byValue.size === 0) this.#byIndex.delete(route.index)
  }

  /** The listeners for a change, each once. */
  listenersFor(change: Change, valuesOf: ValuesOfChange): ReadonlySet<Listener> {
    const ofKey = this.#byKey.get(change.key)
    if (this.#byIndex.size === 0) return ofKey ?? new Set()
    const concerned = new Set(ofKey)
    for (const [index, byValue] of this.#byIndex) {
      for (const value of valuesOf(change, index)) {
        for (const listener of byValue.get(value) ?? []) concerned.add(listener)
      }
    }
    return concerned
  }
}

const none: readonly string[] = []

function join<L>(listeners: Map<string, Set<L>>, names: readonly string[], listener: L): void {
  for (const name of names) {
    const named = listeners.get(name)
    if (named === undefined) listeners.set(name, new Set([listener]))
    else named.add(listener)
  }
}

function leave<L>(listeners: Map<string, Set<L>>, names: readonly string[], listener: L): void {
  for (const name of names) {
    const named = listeners.get(name)
    named?.delete(listener)
    if (named?.size === 0) listeners.delete(name)
  }
}

interface SnapshotOptions {
  readonly codec: ObjectCodec
  /** As additions, or as modifications without a difference. */
  readonly type: Extract<ChangeType, 'ADDED' | 'MODIFIED'>
  /** Only the objects on this route. */
  readonly route: ListenerRoute | undefined
}

/** The objects of a store as changes. Throws `UnknownIndexError`. */
export function snapshotOf(store: IndexedStore, { codec, type, route }: SnapshotOptions): Change[] {
  const isInInitialList = type === 'ADDED'
  const changes: Change[] = []
  for (const id of route === undefined ? store.contents.ids.values() : idsOnRoute(store, route)) {
    const held = store.held(id)
    const key = store.keyOf(id)
    const uid = store.uidOf(id)
    const previous = isInInitialList ? {} : { previousHeld: held }
    changes.push(new Change(codec, { type, key, uid, held, isInInitialList, ...previous }))
  }
  return changes
}
