import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import { checkedWait, type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { atOnce, inSlices } from '../../lib/event-loop.ts'
import {
  compareResourceVersions,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'
import type { HeldObject, ObjectCodec, Projection } from '../codec/object-codec.ts'
import type { ObjectSelection } from '../codec/projection.ts'
import {
  builtInIndexers,
  type Indexers,
  type IndexView,
  type ObjectId,
  type StoreView,
} from './store-view.ts'
import { StoreContents, type StoreEntry } from './store-contents.ts'
import {
  DuplicateIndexError,
  IncomparableResourceVersionError,
  IndexFunctionError,
  UnknownIndexError,
} from './store-errors.ts'

export interface IndexedStoreOptions {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  /** Besides the built-in ones. */
  readonly indexers?: Indexers
  /** Called when an index function throws. The object is stored anyway. */
  readonly onIndexFailure?: (error: IndexFunctionError) => void
  /** Whether resource versions have an order (promised since Kubernetes 1.35). Default: true. */
  readonly resourceVersionsComparable?: IsOrdered
}

/** A read-only view of an informer's store. */
export interface InformerStore<T extends KubernetesObject = KubernetesObject> extends StoreView<T> {
  /**
   * Read-your-writes: resolves when the store has applied `wanted` or a later version. Rejects with `DeadlineError`,
   * with `IncomparableResourceVersionError` if versions have no order, or with `InformerStoppedError`.
   */
  waitForResourceVersion(wanted: ResourceVersion, options?: WaitOptions): Promise<void>
}

/**
 * The objects of one resource with indexes (client-go's `ThreadSafeStore` and `Indexer`). Only the shared informer
 * writes to it; all others have an {@link InformerStore}.
 */
export class IndexedStore<
  T extends KubernetesObject = KubernetesObject,
> implements InformerStore<T> {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  readonly #onIndexFailure: (error: IndexFunctionError) => void
  readonly #waiters: ResourceVersionWaiters
  #indexers: Indexers
  #contents: StoreContents
  #resourceVersion = latestResourceVersion

  constructor(options: IndexedStoreOptions) {
    this.resource = options.resource
    this.codec = options.codec
    this.#onIndexFailure = options.onIndexFailure ?? (() => {})
    this.#waiters = new ResourceVersionWaiters(
      groupResourceOf(options.resource),
      options.resourceVersionsComparable ?? true,
    )
    this.#indexers = { ...builtInIndexers }
    this.#contents = this.#newContents()
    this.addIndexers(options.indexers ?? {})
  }

  get size(): number {
    return this.#contents.size
  }

  get heldBytes(): number {
    return this.#contents.bytes + this.codec.sharedBytes
  }

  get resourceVersion(): ResourceVersion {
    return this.#resourceVersion
  }

  idOf(key: string): ObjectId | undefined {
    return this.#contents.ids.get(key)
  }

  keyOf(id: ObjectId): string {
    return this.#contents.keys[id] ?? ''
  }

  idOfUid(uid: string): ObjectId | undefined {
    return this.#contents.idOfUid(uid)
  }

  uidOf(id: ObjectId): string {
    return this.#contents.uids[id] ?? ''
  }

  held(id: ObjectId): HeldObject {
    const held = this.#contents.helds[id]
    if (held === undefined) throw new RangeError(`no object has the id ${id} in this tick`)
    return held
  }

  projection(selection: ObjectSelection): Projection {
    return this.codec.projection(selection)
  }

  object(id: ObjectId): T {
    return this.codec.decode(this.held(id)) as T
  }

  ids(): IterableIterator<ObjectId> {
    return this.#contents.order.ids()
  }

  idsAfter(key: string): IterableIterator<ObjectId> {
    return this.#contents.order.idsAfter(key)
  }

  idsBefore(key: string | undefined): IterableIterator<ObjectId> {
    return this.#contents.order.idsBefore(key)
  }

  index(name: string): IndexView {
    const index = this.#contents.indexes.get(name)
    if (index === undefined) {
      throw new UnknownIndexError(groupResourceOf(this.resource), name, this.indexNames())
    }
    return index
  }

  /**
   * The values that an index function returns for an object, stored or not. Throws {@link UnknownIndexError}, or {@link
   * IndexFunctionError} if the function throws.
   */
  indexValues(name: string, object: T): readonly string[] {
    const known = this.index(name)
    try {
      return this.#indexers[known.name]?.(object) ?? []
    } catch (cause) {
      const resource = groupResourceOf(this.resource)
      throw new IndexFunctionError(resource, name, objectKey(object.metadata), cause)
    }
  }

  hasIndex(name: string): boolean {
    return this.#contents.indexes.has(name)
  }

  indexNames(): readonly string[] {
    return [...this.#contents.indexes.keys()]
  }

  label(key: string): IndexView | undefined {
    return this.#contents.labels.key(key)
  }

  labelKeys(): IterableIterator<string> {
    return this.#contents.labels.keys()
  }

  labelsOf(id: ObjectId): Readonly<Record<string, string>> {
    return this.#contents.labels.labelsOf(id)
  }

  hasSameLabels(one: ObjectId, other: ObjectId): boolean {
    return this.#contents.labels.isSame(one, other)
  }

  /** Adds and fills indexes at once. If it throws, as {@link backfillIndexers} rejects, it adds none. */
  addIndexers(indexers: Indexers): void {
    this.#declare(indexers)
    try {
      atOnce(this.#contents.backfill(indexers, this.#decode))
    } catch (error) {
      this.#retract(indexers)
      throw error
    }
  }

  /**
   * Adds and fills indexes in slices, so that a large store does not block the event loop. Resolves when they are
   * filled, or when `isOver` returns true after a slice. Until then the store does not have them, but their names are
   * taken. If it rejects, with {@link DuplicateIndexError} or another error, it adds none and frees the names.
   */
  async backfillIndexers(indexers: Indexers, isOver: () => boolean = () => false): Promise<void> {
    this.#declare(indexers)
    const contents = this.#contents
    try {
      // A list that replaces these contents has the indexes already.
      await inSlices(
        contents.backfill(indexers, this.#decode),
        () => isOver() || contents !== this.#contents,
      )
    } catch (error) {
      this.#retract(indexers)
      throw error
    }
  }

  waitForResourceVersion(wanted: ResourceVersion, options: WaitOptions = {}): Promise<void> {
    return this.#waiters.wait(this.#resourceVersion, wanted, options)
  }

  /** For the writer: rejects all waits for resource versions, since nothing more will be written. */
  endWaits(error: Error): void {
    this.#waiters.end(error)
  }

  /** For the writer: adds or replaces an object. */
  put(entry: StoreEntry): void {
    this.#contents.put(entry)
  }

  /** For the writer: removes an object. */
  remove(key: string): void {
    this.#contents.remove(key)
  }

  /** For the writer: sets the position of what was applied, and resolves waits for it. */
  advance(resourceVersion: ResourceVersion): void {
    this.#resourceVersion = resourceVersion
    this.#waiters.reached(resourceVersion)
  }

  /** For the writer: starts a new generation, invisible until {@link swap}. */
  stage(): StoreContents {
    return this.#newContents()
  }

  /** For the writer: the current generation. */
  get contents(): StoreContents {
    return this.#contents
  }

  /** For the writer: fills the indexes that were added after a generation was staged. */
  *complete(staged: StoreContents): Generator<void, void> {
    let lacking = staged.lacking(this.#indexers)
    while (Object.keys(lacking).length > 0) {
      yield* staged.backfill(lacking, this.#decode)
      lacking = staged.lacking(this.#indexers)
    }
  }

  /** For the writer: replaces the current generation with a staged one, and returns it. */
  swap(staged: StoreContents): StoreContents {
    atOnce(this.complete(staged))
    const before = this.#contents
    this.#contents = staged
    return before
  }

  readonly #decode = (held: HeldObject): KubernetesObject => this.codec.decode(held)

  #declare(indexers: Indexers): void {
    for (const name of Object.keys(indexers)) {
      if (Object.hasOwn(this.#indexers, name)) {
        throw new DuplicateIndexError(groupResourceOf(this.resource), name)
      }
    }
    this.#indexers = { ...this.#indexers, ...indexers }
  }

  #retract(indexers: Indexers): void {
    this.#indexers = Object.fromEntries(
      Object.entries(this.#indexers).filter(([name]) => !Object.hasOwn(indexers, name)),
    )
  }

  #newContents(): StoreContents {
    return new StoreContents({
      resourceName: groupResourceOf(this.resource),
      indexers: this.#indexers,
      onIndexFailure: this.#onIndexFailure,
      bytesOf: (held) => this.codec.bytesOf(held),
    })
  }
}

/**
 * Whether the server promises an order of resource versions, or a function that finds out (`undefined`: unknown yet).
 */
type IsOrdered = boolean | (() => Promise<boolean | undefined>)

interface Waiter {
  readonly wanted: ResourceVersion
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** The callers that wait until a store has reached a resource version. */
class ResourceVersionWaiters {
  readonly #resourceName: string
  #isOrdered: IsOrdered
  readonly #waiting = new Set<Waiter>()
  /** The error with which all waits end. */
  #ended: Error | undefined

  constructor(resourceName: string, isOrdered: IsOrdered) {
    this.#resourceName = resourceName
    this.#isOrdered = isOrdered
  }

  async wait(
    current: ResourceVersion,
    wanted: ResourceVersion,
    options: WaitOptions,
  ): Promise<void> {
    const { deadlineMs, signal } = checkedWait(options)
    if (current === wanted) return
    if (compareResourceVersions(wanted, wanted) === undefined) throw this.#incomparable(wanted)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { wanted, resolve, reject }
    if (isAtLeast(current, wanted)) resolve()
    else if (this.#ended !== undefined) reject(this.#ended)
    else this.#waiting.add(waiter)
    const what = `waiting for ${this.#resourceName} to reach resource version ${wanted}`
    try {
      await withDeadline(what, this.#inOrder(wanted, promise), deadlineMs, signal)
    } finally {
      this.#waiting.delete(waiter)
    }
  }

  /** Rejects all current and future waits: the store will not be written again. */
  end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting) reject(this.#ended)
  }

  /** Reaching a position only counts if positions have an order. */
  async #inOrder(wanted: ResourceVersion, reached: Promise<void>): Promise<void> {
    // It may reject while the server is asked.
    reached.catch(() => {})
    const ask = this.#isOrdered
    if (typeof ask === 'function') this.#isOrdered = (await ask()) ?? ask
    if (this.#isOrdered === false) throw this.#incomparable(wanted)
    await reached
  }

  #incomparable(wanted: ResourceVersion): IncomparableResourceVersionError {
    return new IncomparableResourceVersionError(this.#resourceName, wanted)
  }

  reached(current: ResourceVersion): void {
    for (const { wanted, resolve } of this.#waiting) {
      if (isAtLeast(current, wanted)) resolve()
    }
  }
}

function isAtLeast(current: ResourceVersion, wanted: ResourceVersion): boolean {
  const order = compareResourceVersions(current, wanted)
  return order !== undefined && order >= 0
}
