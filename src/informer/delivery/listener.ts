import type { KubernetesObject } from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { latestResourceVersion, type ResourceVersion } from '../../kubernetes/resource-version.ts'
import { maxTimerMs } from '../../lib/deadline.ts'
import { aFlag, anObject, checksLike, oneOf, type OptionChecks } from '../../lib/options.ts'
import type { Change } from '../store/change.ts'

/**
 * What happens when the buffer of a slow listener is full:
 * - `coalesce`: from then on only the latest state per object is kept; deletions are kept;
 * - `reset`: everything is dropped, and the listener gets a new snapshot;
 * - `disconnect`: the listener is removed, and its iteration throws {@link ListenerOverflowError}.
 */
export type OverflowPolicy = 'coalesce' | 'reset' | 'disconnect'

/**
 * The objects that a listener receives: those under these keys (`namespace/name`, or `name`), or those with one of
 * these values in an index. With an index, the listener receives every change of an object that has one of the values
 * before or after it. An object that gains or loses the value arrives as MODIFIED; later changes of an object that lost
 * it do not arrive.
 */
export type ListenerRoute =
  | { readonly keys: readonly string[] }
  | { readonly index: string; readonly values: readonly string[] }
  /** Each object that is added or removed, and each change of an object with any value in this index before or after it. */
  | { readonly valued: string }

/** The buffer, overflow policy and resync period of one listener. */
export interface ListenerOptions {
  /**
   * How many changes may wait before {@link overflow} applies. 0 with `coalesce` keeps one per object from the start.
   */
  readonly bufferLimit?: number
  readonly overflow?: OverflowPolicy
  /**
   * How often the store's objects are delivered again, as modifications whose two objects have the same resource
   * version. 0: never. Less than a second counts as a second. Such listeners also receive what the server sends again
   * unchanged: a repeated event, or the unchanged objects of a relist.
   */
  readonly resyncPeriodMs?: number
  /** The objects to deliver; absent: all. */
  readonly route?: ListenerRoute
  /**
   * Whether the reader also reads the store, and so may know an object whose addition still waits. Then its deletion is
   * delivered; otherwise coalescing cancels the two.
   */
  readonly readsStore?: boolean
}

/** The defaults of {@link ListenerOptions}. */
export const listenerDefaults: Required<Omit<ListenerOptions, 'route'>> = {
  bufferLimit: 10_000,
  overflow: 'coalesce',
  resyncPeriodMs: 0,
  readsStore: false,
}

/** `replay`: see `SharedInformer.listen`. */
export const listenerChecks: OptionChecks<ListenerOptions & { readonly replay?: boolean }> = {
  ...checksLike(listenerDefaults),
  overflow: oneOf('coalesce', 'reset', 'disconnect'),
  route: anObject,
  replay: aFlag,
}

/** client-go's minimum resync period. */
const minResyncPeriodMs = 1000

const noKeys: ReadonlySet<string> = new Set()

const sparse = 1024

/** A batch of changes for a listener. */
export interface ListenerBatch<T extends KubernetesObject = KubernetesObject> {
  /** Forget what you hold: `changes` starts a new snapshot. Only with the policy `reset`. */
  readonly reset: boolean
  readonly changes: readonly Change<T>[]
  /** Whether the listener's first snapshot is complete after this batch. True once. */
  readonly synced: boolean
  /**
   * The resource version after this batch: a reader that has applied all batches holds what the store held at this
   * version (within the listener's route). Taken in the same tick as the changes, so a watch or listener that starts
   * here misses nothing.
   */
  readonly position: ResourceVersion
}

/** A listener with the policy `disconnect` did not keep up. */
export class ListenerOverflowError extends CodedError {
  constructor(bufferLimit: number) {
    super('LISTENER_OVERFLOW', `a listener was disconnected with ${bufferLimit} changes waiting`, {
      value: bufferLimit,
      hint: 'consume faster, raise bufferLimit, or choose the overflow policy "coalesce" or "reset"',
    })
  }
}

/** What a listener needs of its processor. */
export interface ListenerSource {
  /** All objects, or those on a route: as additions, or for a resync as modifications without a difference. */
  snapshot(type: 'ADDED' | 'MODIFIED', route: ListenerRoute | undefined): Change[]
  /** The position of the store. */
  position(): ResourceVersion
  remove(listener: Listener): void
}

/**
 * One consumer of an informer's changes: a bounded buffer, read as batches. The snapshot does not count towards the
 * bound. The processor creates it; {@link close} ends it.
 */
export class Listener<T extends KubernetesObject = KubernetesObject> implements AsyncIterable<
  ListenerBatch<T>
> {
  readonly route: ListenerRoute | undefined
  readonly #source: ListenerSource
  readonly #resyncTimer: NodeJS.Timeout | undefined
  readonly #bufferLimit: number
  readonly #overflow: OverflowPolicy
  readonly #readsStore: boolean
  #initial: readonly Change[] = []
  /** The position of the snapshot. Changes may have come since. */
  #initialPosition = latestResourceVersion
  #initialComplete = false
  #synced = false
  #reset = false
  /** The keys to leave out of the pending resync; `undefined` if none is pending. */
  #resyncExcept: ReadonlySet<string> | undefined
  /** Holes are additions that a deletion has cancelled. */
  #changes: (Change | undefined)[] = []
  /** When coalescing: the position of each object's entry in `#changes`. */
  #positions: Map<string, number> | undefined
  /** Objects whose deletion waits without an earlier delivery. */
  #loneDeletions: Set<string> | undefined
  #wake: PromiseWithResolvers<void> | undefined
  #ended: { readonly error: Error | undefined } | undefined

  constructor(source: ListenerSource, options: ListenerOptions) {
    const { bufferLimit, overflow, readsStore, resyncPeriodMs, route } = {
      ...listenerDefaults,
      ...options,
    }
    this.route = route
    this.#source = source
    this.#bufferLimit = bufferLimit
    this.#overflow = overflow
    this.#readsStore = readsStore
    if (resyncPeriodMs <= 0 || resyncPeriodMs > maxTimerMs) return
    const timer = setInterval(() => this.resync(), Math.max(minResyncPeriodMs, resyncPeriodMs))
    // A running informer keeps the process alive; its resync timers need not.
    this.#resyncTimer = timer.unref()
  }

  /** Whether it has a resync period. */
  get isResynced(): boolean {
    return this.#resyncTimer !== undefined
  }

  /** The number of waiting changes. */
  get pending(): number {
    return this.#initial.length + this.#changes.length
  }

  /** Whether the reader has processed everything and waits for more. */
  get isDrained(): boolean {
    return this.#wake !== undefined
  }

  /** Whether changes or a new snapshot wait for the reader. */
  get hasWaiting(): boolean {
    return this.#reset || this.pending > 0
  }

  get closed(): boolean {
    return this.#ended !== undefined
  }

  /** Sets the first snapshot, as of the store's present position. The processor calls it once. */
  completeInitial(changes: readonly Change[]): void {
    this.#initial = changes
    this.#initialPosition = this.#source.position()
    this.#initialComplete = true
    this.#notify()
  }

  /** Adds changes to the buffer; applies the overflow policy if it is full. Only the processor calls it. */
  push(changes: readonly Change[]): void {
    if (this.#ended !== undefined || this.#reset || changes.length === 0) return
    for (const change of changes) this.#add(change)
    this.#notify()
  }

  /** Schedules a resync, except for some keys. It does not count towards the bound; at most one is pending. */
  resync(except: ReadonlySet<string> = noKeys): void {
    if (this.#ended !== undefined || !this.#synced) return
    this.#resyncExcept = this.#resyncExcept === undefined ? except : noKeys
    this.#notify()
  }

  /** Ends the iteration. Waiting changes are not delivered. */
  close(error?: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = { error }
    clearInterval(this.#resyncTimer)
    this.#initial = []
    this.#changes = []
    this.#source.remove(this)
    this.#notify()
  }

  [Symbol.asyncIterator](): AsyncGenerator<ListenerBatch<T>, void, void> {
    return this.gathered(() => undefined)
  }

  /**
   * The same batches, each taken after the promise of `pause` has resolved. `pause` is called when there is something
   * to take, so changes of one object in the meantime merge.
   */
  async *gathered(
    pause: () => Promise<void> | undefined,
  ): AsyncGenerator<ListenerBatch<T>, void, void> {
    try {
      while (true) {
        if (this.#ready) await pause()
        const batch = this.#take()
        if (batch !== undefined) yield batch
        else if (this.#ended === undefined) {
          this.#wake ??= Promise.withResolvers()
          await this.#wake.promise
        } else if (this.#ended.error === undefined) return
        else throw this.#ended.error
      }
    } finally {
      this.close()
    }
  }

  /** Whether there is something to take: {@link hasWaiting}, or a resync is due. */
  get #ready(): boolean {
    return this.hasWaiting || this.#resyncExcept !== undefined
  }

  #notify(): void {
    this.#wake?.resolve()
    this.#wake = undefined
  }

  #add(change: Change): void {
    if (this.#positions === undefined && this.#changes.length >= this.#bufferLimit) {
      switch (this.#overflow) {
        case 'disconnect':
          this.close(new ListenerOverflowError(this.#bufferLimit))
          return
        case 'reset':
          this.#changes = []
          this.#loneDeletions = undefined
          this.#reset = true
          return
        case 'coalesce':
          this.#coalesceAll()
      }
    }
    if (this.#ended !== undefined || this.#reset) return
    if (this.#positions === undefined) this.#changes.push(change)
    else this.#coalesce(this.#positions, change)
  }

  #coalesceAll(): void {
    const waiting = this.#changes
    this.#changes = []
    const positions = new Map<string, number>()
    this.#positions = positions
    for (const change of waiting) if (change !== undefined) this.#coalesce(positions, change)
  }

  #coalesce(positions: Map<string, number>, change: Change): void {
    // By UID, so that the deletion of an object and the addition of its namesake stay two changes in order.
    const id = change.uid === '' ? change.key : change.uid
    const position = positions.get(id)
    const earlier = position === undefined ? undefined : this.#changes[position]
    if (position === undefined || earlier === undefined) {
      positions.set(id, this.#changes.push(change) - 1)
      return
    }
    // Only the deletion waited, and it is undone: the object is new for the reader.
    const isNew = change.type === 'ADDED' && this.#loneDeletions?.delete(id) === true
    const both = isNew ? change : earlier.followedBy(change)
    if (both === undefined && this.#readsStore) (this.#loneDeletions ??= new Set()).add(id)
    const kept = both ?? (this.#readsStore ? change : undefined)
    this.#changes[position] = kept
    if (kept !== undefined) return
    positions.delete(id)
    if (this.#changes.length > 2 * positions.size + sparse) this.#coalesceAll()
  }

  #take(): ListenerBatch<T> | undefined {
    if (this.#ended !== undefined) return undefined
    if (this.#reset) {
      this.#reset = false
      this.#resyncExcept = undefined
      this.#initial = []
      this.#initialComplete = true
      return this.#batch(true, this.#source.snapshot('ADDED', this.route))
    }
    if (this.#initial.length > 0 || (this.#initialComplete && !this.#synced)) {
      const initial = this.#initial
      this.#initial = []
      return this.#batch(false, initial, this.#initialPosition)
    }
    const changes = this.#changes.filter((change) => change !== undefined)
    this.#changes = []
    this.#positions = undefined
    this.#loneDeletions = undefined
    const except = this.#resyncExcept
    if (except !== undefined) {
      // After the waiting changes, in the same tick: so the reader's state equals the store's when the resync comes.
      this.#resyncExcept = undefined
      for (const change of this.#source.snapshot('MODIFIED', this.route)) {
        if (!except.has(change.key)) changes.push(change)
      }
    }
    return changes.length === 0 ? undefined : this.#batch(false, changes)
  }

  #batch(
    reset: boolean,
    changes: readonly Change[],
    position: ResourceVersion = this.#source.position(),
  ): ListenerBatch<T> {
    const synced = this.#initialComplete && !this.#synced
    this.#synced ||= synced
    return { reset, changes: changes as readonly Change<T>[], synced, position }
  }
}
