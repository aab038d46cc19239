import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import { Change } from '../store/change.ts'
import type { IndexedStore } from '../store/indexed-store.ts'
import type { ObjectId } from '../store/store-view.ts'
import {
  Listener,
  type ListenerOptions,
  type ListenerRoute,
  type ListenerSource,
} from './listener.ts'

/** The values of the changed object in an index, before and after the change. */
export type ValuesOfChange = (change: Change, index: string) => Iterable<string>

/** Delivers every change of a store to the listeners that it affects (client-go's `sharedProcessor`). */
export class Processor implements ListenerSource {
  readonly #store: IndexedStore
  readonly #listeners = new Set<Listener>()
  readonly #unrouted = new Set<Listener>()
  readonly #resynced = new Set<Listener>()
  readonly #router = new Router()
  #synced = false

  constructor(store: IndexedStore) {
    this.#store = store
  }

  get size(): number {
    return this.#listeners.size
  }

  /** The indexes whose values {@link distribute} reads. */
  get routedIndexes(): readonly string[] {
    return this.#router.indexes
  }

  /**
   * Adds a listener. In the same tick it receives all objects on its route, unless `replay` is false; later changes
   * follow.
   */
  listen({ replay = true, ...options }: ListenerOptions & { readonly replay?: boolean }): Listener {
    const listener = new Listener(this, options)
    const { route } = listener
    this.#listeners.add(listener)
    if (listener.isResynced) this.#resynced.add(listener)
    if (route === undefined) this.#unrouted.add(listener)
    else this.#router.add(listener, route)
    if (this.#synced) listener.completeInitial(replay ? this.snapshot('ADDED', route) : [])
    return listener
  }

  /** Delivers changes that were applied to the store. */
  distribute(changes: readonly Change[], valuesOf: ValuesOfChange): void {
    for (const listener of this.#unrouted) listener.push(changes)
    if (this.#router.isEmpty) return
    for (const change of changes) {
      for (const listener of this.#router.listenersFor(change, valuesOf)) listener.push([change])
    }
  }

  /** Delivers an unchanged state that the server has sent again, to listeners with resyncs. */
  distributeRepeated(change: Change, valuesOf: ValuesOfChange): void {
    if (this.#resynced.size === 0) return
    const routed = this.#router.isEmpty ? undefined : this.#router.listenersFor(change, valuesOf)
    for (const listener of this.#resynced) {
      if (this.#unrouted.has(listener) || routed?.has(listener) === true) listener.push([change])
    }
  }

  /** Delivers a relist to listeners with resyncs: all objects but its changes. */
  distributeRelisted(changes: readonly Change[]): void {
    if (this.#resynced.size === 0) return
    const changed = new Set(changes.map(({ key }) => key))
    for (const listener of this.#resynced) listener.resync(changed)
  }

  distributeInitial(): void {
    this.#synced = true
    let all: readonly Change[] | undefined
    for (const listener of this.#listeners) {
      listener.completeInitial(
        listener.route === undefined
          ? (all ??= this.snapshot('ADDED', undefined))
          : this.snapshot('ADDED', listener.route),
      )
    }
  }

  close(): void {
    for (const listener of this.#listeners) listener.close()
  }

  position(): ResourceVersion {
    return this.#store.resourceVersion
  }

  snapshot(type: 'ADDED' | 'MODIFIED', route: ListenerRoute | undefined): Change[] {
    const store = this.#store
    const isInInitialList = type === 'ADDED'
    const changes: Change[] = []
    for (const id of route === undefined ? store.contents.ids.values() : this.#idsOn(route)) {
      const held = store.held(id)
      const key = store.keyOf(id)
      const uid = store.uidOf(id)
      const previous = isInInitialList ? {} : { previousHeld: held }
      changes.push(new Change(store.codec, { type, key, uid, held, isInInitialList, ...previous }))
    }
    return changes
  }

  remove(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return
    this.#unrouted.delete(listener)
    this.#resynced.delete(listener)
    if (listener.route !== undefined) this.#router.delete(listener, listener.route)
  }

  /** The ids of the objects on a route, each once. Throws `UnknownIndexError`. */
  #idsOn(route: ListenerRoute): ReadonlySet<ObjectId> {
    if ('keys' in route) {
      return new Set(route.keys.flatMap((key) => this.#store.idOf(key) ?? []))
    }
    if ('valued' in route) return new Set(this.#store.contents.ids.values())
    const index = this.#store.index(route.index)
    const ids = new Set<ObjectId>()
    for (const value of route.values) for (const id of index.posting(value) ?? []) ids.add(id)
    return ids
  }
}

/**
 * Finds the listeners for a change in time proportional to their number: a map from each key, and from each value of
 * each index, to the listeners that named it.
 */
class Router {
  readonly #byKey: Named = new Map()
  readonly #byIndex = new Map<string, Named>()
  /** By the index in which any value counts. */
  readonly #valued: Named = new Map()

  get indexes(): readonly string[] {
    if (this.#byIndex.size + this.#valued.size === 0) return none
    return [...this.#byIndex.keys(), ...this.#valued.keys()]
  }

  get isEmpty(): boolean {
    return this.#byKey.size + this.#byIndex.size + this.#valued.size === 0
  }

  add(listener: Listener, route: ListenerRoute): void {
    if ('keys' in route) return join(this.#byKey, route.keys, listener)
    if ('valued' in route) return join(this.#valued, [route.valued], listener)
    let byValue = this.#byIndex.get(route.index)
    if (byValue === undefined) this.#byIndex.set(route.index, (byValue = new Map()))
    join(byValue, route.values, listener)
  }

  delete(listener: Listener, route: ListenerRoute): void {
    if ('keys' in route) return leave(this.#byKey, route.keys, listener)
    if ('valued' in route) return leave(this.#valued, [route.valued], listener)
    const byValue = this.#byIndex.get(route.index)
    if (byValue === undefined) return
    leave(byValue, route.values, listener)
    if (byValue.size === 0) this.#byIndex.delete(route.index)
  }

  listenersFor(change: Change, valuesOf: ValuesOfChange): ReadonlySet<Listener> {
    const ofKey = this.#byKey.get(change.key)
    if (this.#byIndex.size + this.#valued.size === 0) return ofKey ?? noListeners
    const affected = new Set(ofKey)
    for (const [index, listeners] of this.#valued) {
      if (change.type === 'MODIFIED' && isEmpty(valuesOf(change, index))) continue
      for (const listener of listeners) affected.add(listener)
    }
    for (const [index, byValue] of this.#byIndex) {
      for (const value of valuesOf(change, index)) {
        for (const listener of byValue.get(value) ?? []) affected.add(listener)
      }
    }
    return affected
  }
}

/** Listeners by what they named: keys, or values of an index. */
type Named = Map<string, Set<Listener>>

const none: readonly string[] = []
const noListeners: ReadonlySet<Listener> = new Set()

function isEmpty(values: Iterable<string>): boolean {
  for (const _ of values) return false
  return true
}

function join(listeners: Named, names: readonly string[], listener: Listener): void {
  for (const name of names) {
    const named = listeners.get(name)
    if (named === undefined) listeners.set(name, new Set([listener]))
    else named.add(listener)
  }
}

function leave(listeners: Named, names: readonly string[], listener: Listener): void {
  for (const name of names) {
    const named = listeners.get(name)
    named?.delete(listener)
    if (named?.size === 0) listeners.delete(name)
  }
}
