import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import { maxTimerMs } from '../../lib/deadline.ts'
import type { Change } from '../store/change.ts'
import { Listener, type ListenerOptions } from './listener.ts'
import { type ListenerRoute, Router, type ValuesOfChange } from './route.ts'

/** What a processor needs of the store. */
export interface ProcessorOptions {
  /**
   * The store's objects, all of them or those on the route: as additions, or for a resync as modifications without a
   * difference.
   */
  readonly snapshot: (type: 'ADDED' | 'MODIFIED', route: ListenerRoute | undefined) => Change[]
  readonly position: () => ResourceVersion
}

interface Registration {
  readonly route: ListenerRoute | undefined
  readonly resync: NodeJS.Timeout | undefined
}

/** Delivers every change of a store to the listeners that it affects (client-go's `sharedProcessor`). */
export class Processor {
  readonly #registrations = new Map<Listener, Registration>()
  readonly #unrouted = new Set<Listener>()
  readonly #router = new Router<Listener>()
  readonly #resynced = new Set<Listener>()
  readonly #options: ProcessorOptions
  #synced = false

  constructor(options: ProcessorOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#registrations.size
  }

  /** The indexes whose values {@link distribute} reads. */
  get routedIndexes(): readonly string[] {
    return this.#router.indexes
  }

  /**
   * Adds a listener. In the same tick it receives all objects on its route, unless `replay` is false; later changes
   * follow.
   */
  listen(options: ListenerOptions & { readonly replay?: boolean } = {}): Listener {
    const { route, replay = true, resyncPeriodMs } = options
    const { position, snapshot } = this.#options
    const listener = new Listener(
      {
        position,
        snapshot: (type) => snapshot(type, route),
        remove: (ended) => this.#remove(ended),
      },
      options,
    )
    const resync = resyncTimer(listener, resyncPeriodMs)
    this.#registrations.set(listener, { route, resync })
    if (resync !== undefined) this.#resynced.add(listener)
    if (route === undefined) this.#unrouted.add(listener)
    else this.#router.add(listener, route)
    if (this.#synced) listener.completeInitial(replay ? snapshot('ADDED', route) : [])
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

  /** The first whole list was applied. */
  distributeInitial(): void {
    this.#synced = true
    let all: readonly Change[] | undefined
    for (const [listener, { route }] of this.#registrations) {
      listener.completeInitial(
        route === undefined
          ? (all ??= this.#options.snapshot('ADDED', undefined))
          : this.#options.snapshot('ADDED', route),
      )
    }
  }

  /** Ends all listeners. */
  close(): void {
    for (const listener of this.#registrations.keys()) listener.close()
  }

  #remove(listener: Listener): void {
    const registration = this.#registrations.get(listener)
    if (registration === undefined) return
    clearInterval(registration.resync)
    this.#registrations.delete(listener)
    this.#unrouted.delete(listener)
    this.#resynced.delete(listener)
    if (registration.route !== undefined) this.#router.delete(listener, registration.route)
  }
}

/** client-go's minimum resync period. */
const minResyncPeriodMs = 1000

function resyncTimer(listener: Listener, periodMs = 0): NodeJS.Timeout | undefined {
  if (periodMs <= 0 || periodMs > maxTimerMs) return undefined
  const timer = setInterval(() => listener.resync(), Math.max(minResyncPeriodMs, periodMs))
  // A running informer keeps the process alive; its resync timers need not.
  return timer.unref()
}
