import type { Change } from '../store/change.ts'
import type { ObjectId, StoreView } from '../store/store-view.ts'

/**
 * What a listener wants to hear of: the objects under these keys (`namespace/name`, or `name`), or those that have one
 * of these values in an index. With an index, a listener is told of every change of an object that had or has one of
 * the values: one that comes to have it arrives as the MODIFIED that it is, and so does one that has it no more; what
 * happens to that one later is not told.
 */
export type ListenerRoute =
  | { readonly keys: readonly string[] }
  | { readonly index: string; readonly values: readonly string[] }

/** The values, before and after a change, of its object in an index. */
export type ValuesOfChange<C = Change> = (change: C, index: string) => Iterable<string>

/** The objects that a route leads to, each once. Throws `UnknownIndexError`. */
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
 * Finds those whom a change concerns, at a cost in proportion to their number and not to that of all: a map from each
 * key, and from each value of each index, to those who named it.
 */
export class Router<Listener> {
  readonly #byKey = new Map<string, Set<Listener>>()
  readonly #byIndex = new Map<string, Map<string, Set<Listener>>>()

  /** The indexes that somebody is routed by. */
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

  /** Those whom a change concerns, each once. */
  concernedBy(change: Change, valuesOf: ValuesOfChange): ReadonlySet<Listener> {
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
