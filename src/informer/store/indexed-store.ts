import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { WaitOptions } from '../../lib/deadline.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { atOnce, inSlices } from '../../lib/event-loop.ts'
import { latestResourceVersion, type ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { HeldObject, ObjectCodec, Projection } from '../codec/object-codec.ts'
import type { ObjectSelection } from '../codec/projection.ts'
import { builtInIndexers } from './built-in-indexers.ts'
import { type IsOrdered, ResourceVersionWaiters } from './resource-version-waiters.ts'
import { StoreContents, type StoredObject, type StoreEntry } from './store-contents.ts'
import { DuplicateIndexError, IndexFunctionError, UnknownIndexError } from './store-errors.ts'
import type { Indexers, IndexView, ObjectId, StoreView } from './store-view.ts'

export interface IndexedStoreOptions {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  /** Besides the standard ones. */
  readonly indexers?: Indexers
  /** An index function threw; the object is stored all the same. */
  readonly onIndexFailure?: (error: IndexFunctionError) => void
  /** Whether the server promises that resource versions have an order (Kubernetes 1.35 and later); it does, unless given. */
  readonly resourceVersionsComparable?: IsOrdered
}

/**
 * The objects of one resource, indexed (client-go's `ThreadSafeStore` and `Indexer`). It has one writer, the shared
 * informer; everyone else gets it as a {@link StoreView}.
 */
export class IndexedStore<T extends KubernetesObject = KubernetesObject> implements StoreView<T> {
  readonly resource: ApiResource
  readonly #codec: ObjectCodec
  readonly #onIndexFailure: (error: IndexFunctionError) => void
  readonly #waiters: ResourceVersionWaiters
  #indexers: Indexers
  #contents: StoreContents
  #resourceVersion = latestResourceVersion

  constructor(options: IndexedStoreOptions) {
    this.resource = options.resource
    this.#codec = options.codec
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
    return this.#contents.bytes + this.#codec.sharedBytes
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
    return this.#codec.projection(selection)
  }

  object(id: ObjectId): T {
    return this.#codec.decode(this.held(id)) as T
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
   * The values that an index's function finds in an object, be it stored or not. Throws {@link UnknownIndexError}, and
   * {@link IndexFunctionError} where the function throws.
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

  /** Adds indexes, back-filling them at once. Where it throws, as {@link backfillIndexers} rejects, it adds none. */
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
   * Adds indexes, back-filling them in slices, so that a big store does not hold up the event loop. Resolves when they
   * are there, or when `isOver` says after a slice that nobody waits any more; until then the store does not have
   * them, but their names are taken. Where it rejects, with {@link DuplicateIndexError} or whatever has gone wrong, it adds
   * none, and their names are free again.
   */
  async backfillIndexers(indexers: Indexers, isOver: () => boolean = () => false): Promise<void> {
    this.#declare(indexers)
    const contents = this.#contents
    try {
      // A list that takes the place of these contents has the indexes.
      await inSlices(
        contents.backfill(indexers, this.#decode),
        () => isOver() || contents !== this.#contents,
      )
    } catch (error) {
      this.#retract(indexers)
      throw error
    }
  }

  /**
   * Read-your-writes: resolves when the store has applied `wanted` or something later. Rejects with `DeadlineError`, with
   * `IncomparableResourceVersionError` where only equality could be tested, and with what {@link endWaits} was given.
   */
  waitForResourceVersion(wanted: ResourceVersion, options: WaitOptions): Promise<void> {
    return this.#waiters.wait(this.#resourceVersion, wanted, options)
  }

  /** The writer's: it will write no more. What waits for a resource version rejects with this. */
  endWaits(error: Error): void {
    this.#waiters.end(error)
  }

  /** The writer's: what is stored under a key. */
  stored(key: string): StoredObject | undefined {
    return this.#contents.stored(key)
  }

  /** The writer's: the keys of all objects. */
  keys(): IterableIterator<string> {
    return this.#contents.ids.keys()
  }

  /** The writer's: adds or replaces one object. */
  put(entry: StoreEntry): void {
    this.#contents.put(entry)
  }

  /** The writer's: takes out one object. */
  remove(key: string): void {
    this.#contents.remove(key)
  }

  /** The writer's: the position of what has just been applied. Ends the waits for it. */
  advance(resourceVersion: ResourceVersion): void {
    this.#resourceVersion = resourceVersion
    this.#waiters.reached(resourceVersion)
  }

  /** The writer's: begins a new generation, which nobody reads until {@link swap}. */
  stage(): StoreContents {
    return this.#newContents()
  }

  /** The writer's: the present generation. */
  get contents(): StoreContents {
    return this.#contents
  }

  /** The writer's: fills in a staged generation the indexes that have been added since it was begun. */
  *complete(staged: StoreContents): Generator<void, void> {
    let lacking = staged.lacking(this.#indexers)
    while (Object.keys(lacking).length > 0) {
      yield* staged.backfill(lacking, this.#decode)
      lacking = staged.lacking(this.#indexers)
    }
  }

  /** The writer's: lets a staged generation take the place of the present one, which is returned. */
  swap(staged: StoreContents): StoreContents {
    atOnce(this.complete(staged))
    const before = this.#contents
    this.#contents = staged
    return before
  }

  readonly #decode = (held: HeldObject): KubernetesObject => this.#codec.decode(held)

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
      bytesOf: (held) => this.#codec.bytesOf(held),
    })
  }
}
