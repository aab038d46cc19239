import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import { type WaitOptions, waitChecks, withDeadline } from '../../lib/deadline.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { atOnce, inSlices } from '../../lib/event-loop.ts'
import {
  compareResourceVersions,
  latestResourceVersion,
  readJointPosition,
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
import { aString, checkedOptions, type OptionChecks } from '../../lib/options.ts'
import { StoreContents, type StoreContentsOptions, type StoreEntry } from './store-contents.ts'
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
  readonly onIndexFailure?: (error: IndexFunctionError) => void
  /** See {@link StoreContentsOptions.grown}. */
  readonly grown?: () => void
  /** Whether resource versions have an order (promised since Kubernetes 1.35). Default: true. */
  readonly resourceVersionsComparable?: IsOrdered
}

/** What the view of a store shares with its {@link IndexedStore}, which alone writes it. */
interface StoreState {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  readonly waiters: ResourceVersionWaiters
  contents: StoreContents
  /** The generation that is being filled, or was when a list failed. */
  staged: StoreContents | undefined
  resourceVersion: ResourceVersion
  /** Of each namespace, if one watch per namespace fills the store. */
  positions: Positions | undefined
}

type Positions = ReadonlyMap<string, ResourceVersion | undefined>

/** How long to wait for a resource version, and of which watch. */
export interface VersionWaitOptions extends WaitOptions {
  /**
   * The namespace of the object that was written. With `namespaces`, each namespace has a watch of its own, and quiet ones
   * reach a version by a bookmark only, up to a minute later: this waits for the one watch. Otherwise it changes nothing.
   */
  readonly namespace?: string
}

const versionWaitChecks: OptionChecks<VersionWaitOptions> = { ...waitChecks, namespace: aString }

/** A read-only view of an informer's store. */
export class InformerStore<T extends KubernetesObject = KubernetesObject> implements StoreView<T> {
  readonly resource: ApiResource
  readonly #state: StoreState

  constructor(state: StoreState) {
    this.resource = state.resource
    this.#state = state
  }

  get size(): number {
    return this.#state.contents.size
  }

  get heldBytes(): number {
    const { contents, staged, codec } = this.#state
    return contents.bytes + (staged ? staged.bytes - staged.sharedBytes : 0) + codec.sharedBytes
  }

  get resourceVersion(): ResourceVersion {
    return this.#state.resourceVersion
  }

  idOf(key: string): ObjectId | undefined {
    return this.#state.contents.ids.get(key)
  }

  keyOf(id: ObjectId): string {
    return this.#state.contents.keys[id] ?? ''
  }

  idOfUid(uid: string): ObjectId | undefined {
    return this.#state.contents.idOfUid(uid)
  }

  uidOf(id: ObjectId): string {
    return this.#state.contents.uids[id] ?? ''
  }

  held(id: ObjectId): HeldObject {
    const held = this.#state.contents.helds[id]
    if (held === undefined) throw new RangeError(`no object has the id ${id} in this tick`)
    return held
  }

  projection(selection: ObjectSelection): Projection {
    return this.#state.codec.projection(selection)
  }

  object(id: ObjectId): T {
    return this.#state.codec.decode(this.held(id)) as T
  }

  ids(): IterableIterator<ObjectId> {
    return this.#state.contents.order.ids()
  }

  idsAfter(key: string): IterableIterator<ObjectId> {
    return this.#state.contents.order.idsAfter(key)
  }

  idsBefore(key: string | undefined): IterableIterator<ObjectId> {
    return this.#state.contents.order.idsBefore(key)
  }

  index(name: string): IndexView {
    const index = this.#state.contents.indexes.get(name)
    if (index === undefined) {
      throw new UnknownIndexError(groupResourceOf(this.resource), name, this.indexNames())
    }
    return index
  }

  hasIndex(name: string): boolean {
    return this.#state.contents.indexes.has(name)
  }

  indexNames(): readonly string[] {
    return [...this.#state.contents.indexes.keys()]
  }

  label(key: string): IndexView | undefined {
    return this.#state.contents.labels.key(key)
  }

  labelKeys(): IterableIterator<string> {
    return this.#state.contents.labels.keys()
  }

  labelsOf(id: ObjectId): Readonly<Record<string, string>> {
    return this.#state.contents.labels.labelsOf(id)
  }

  hasSameLabels(one: ObjectId, other: ObjectId): boolean {
    return this.#state.contents.labels.isSame(one, other)
  }

  /**
   * Read-your-writes: resolves when the store has applied `wanted` or a later version. Rejects with `DeadlineError`,
   * with `IncomparableResourceVersionError` if versions have no order, or with `InformerStoppedError`.
   */
  async waitForResourceVersion(
    wanted: ResourceVersion,
    options: VersionWaitOptions = {},
  ): Promise<void> {
    const { namespace, ...wait } = checkedOptions('a wait', options, versionWaitChecks)
    const position = (): ResourceVersion => {
      const { positions, resourceVersion } = this.#state
      if (namespace === undefined || positions === undefined) return resourceVersion
      return positions.get(namespace) ?? latestResourceVersion
    }
    await this.#state.waiters.wait(position, wanted, wait)
  }
}

/**
 * The objects of one resource with indexes (client-go's `ThreadSafeStore` and `Indexer`). Only the shared informer
 * writes to it; all others have its {@link InformerStore}.
 */
export class IndexedStore<T extends KubernetesObject = KubernetesObject> extends InformerStore<T> {
  readonly view: InformerStore<T>
  readonly codec: ObjectCodec
  readonly #state: StoreState
  readonly #generation: Omit<StoreContentsOptions, 'indexers'>
  /** Generations that are being filled. */
  readonly #staged = new Set<WeakRef<StoreContents>>()
  #indexers: Indexers

  constructor({
    resource,
    codec,
    indexers = {},
    onIndexFailure = () => {},
    grown,
    resourceVersionsComparable = true,
  }: IndexedStoreOptions) {
    const resourceName = groupResourceOf(resource)
    const generation = { resourceName, codec, onIndexFailure, grown }
    const state = {
      resource,
      codec,
      waiters: new ResourceVersionWaiters(resourceName, resourceVersionsComparable),
      contents: new StoreContents({ ...generation, indexers: builtInIndexers }),
      staged: undefined,
      resourceVersion: latestResourceVersion,
      positions: undefined,
    }
    super(state)
    this.view = new InformerStore(state)
    this.codec = codec
    this.#state = state
    this.#generation = generation
    this.#indexers = builtInIndexers
    this.addIndexers(indexers)
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

  addIndexers(indexers: Indexers): void {
    this.#declare(indexers)
    try {
      atOnce(this.contents.backfill(indexers))
    } catch (error) {
      this.#retract(indexers)
      throw error
    }
  }

  /**
   * Adds and fills indexes in slices, until `isOver`. If it rejects, with {@link DuplicateIndexError} or another error,
   * it adds none and frees the names.
   */
  async backfillIndexers(indexers: Indexers, isOver: () => boolean = () => false): Promise<void> {
    this.#declare(indexers)
    const { contents } = this
    try {
      // A list that replaces these contents has the indexes already.
      await inSlices(contents.backfill(indexers), () => isOver() || contents !== this.contents)
    } catch (error) {
      this.#retract(indexers)
      throw error
    }
  }

  /** Replaces an object's values in indexes whose functions read more than the object. */
  reindex(key: string, values: Readonly<Record<string, readonly string[]>>): void {
    this.contents.reindex(key, values)
    for (const staged of this.#staged) {
      const contents = staged.deref()
      if (contents === undefined || contents === this.contents) this.#staged.delete(staged)
      else contents.reindex(key, values)
    }
  }

  /** Removes indexes that are built; others stay. */
  dropIndexers(names: readonly string[]): void {
    const built = names.filter((name) => this.hasIndex(name))
    this.contents.dropIndexes(built)
    this.#retract(Object.fromEntries(built.map((name) => [name, () => []])))
  }

  /** Rejects all waits for resource versions, since nothing more will be written. */
  endWaits(error: Error): void {
    this.#state.waiters.end(error)
  }

  put(entry: StoreEntry): void {
    this.contents.put(entry)
  }

  remove(key: string): void {
    this.contents.remove(key)
  }

  advance(resourceVersion: ResourceVersion, positions?: Positions): void {
    this.#state.resourceVersion = resourceVersion
    this.#state.positions = positions
    this.#state.waiters.advanced()
  }

  get contents(): StoreContents {
    return this.#state.contents
  }

  /** Starts a new generation, invisible until {@link swap}. `isReread`: objects may look different at the same version. */
  stage(isReread: boolean = false): StoreContents {
    const replaced = isReread ? undefined : this.contents
    const contents = new StoreContents({ ...this.#generation, indexers: this.#indexers }, replaced)
    this.#staged.add(new WeakRef(contents))
    this.#state.staged = contents
    return contents
  }

  /** Fills the indexes that were added after the generation was staged. */
  *complete(staged: StoreContents): Generator<void, void> {
    let lacking = staged.lacking(this.#indexers)
    while (Object.keys(lacking).length > 0) {
      yield* staged.backfill(lacking)
      lacking = staged.lacking(this.#indexers)
    }
  }

  /** Returns the generation before. */
  swap(staged: StoreContents): StoreContents {
    atOnce(this.complete(staged))
    const before = this.contents
    staged.settle()
    this.#state.contents = staged
    this.#state.staged = undefined
    return before
  }

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
}

/**
 * Whether the server promises an order of resource versions, or a function that finds out (`undefined`: unknown yet).
 */
type IsOrdered = boolean | (() => Promise<boolean | undefined>)

interface Waiter {
  readonly position: () => ResourceVersion
  readonly wanted: ResourceVersion
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class ResourceVersionWaiters {
  readonly #resourceName: string
  #isOrdered: IsOrdered
  readonly #waiting = new Set<Waiter>()
  #ended: Error | undefined

  constructor(resourceName: string, isOrdered: IsOrdered) {
    this.#resourceName = resourceName
    this.#isOrdered = isOrdered
  }

  async wait(
    position: () => ResourceVersion,
    wanted: ResourceVersion,
    { deadlineMs, signal }: WaitOptions,
  ): Promise<void> {
    if (position() === wanted) return
    if (compareResourceVersions(wanted, wanted) === undefined) throw this.#incomparable(wanted)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { position, wanted, resolve, reject }
    if (isAtLeast(position(), wanted)) resolve()
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

  advanced(): void {
    for (const { position, wanted, resolve } of this.#waiting) {
      if (isAtLeast(position(), wanted)) resolve()
    }
  }
}

function isAtLeast(current: ResourceVersion, wanted: ResourceVersion): boolean {
  // Several watches fill the store: the wanted version may be of any namespace.
  const order = compareResourceVersions(readJointPosition(current)?.low ?? current, wanted)
  return order !== undefined && order >= 0
}
