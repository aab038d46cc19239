import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts'
import { DerivedIndex, LabelIndex, ObjectIndex } from './object-index.ts'
import { KeyOrder } from './sorted-list.ts'
import type { HeldObject, ObjectCodec } from '../codec/object-codec.ts'
import type { Indexers, IndexFunction, IndexView, ObjectId } from './store-view.ts'
import { IndexFunctionError } from './store-errors.ts'

export interface StoreEntry {
  readonly key: string
  readonly held: HeldObject
  readonly object: KubernetesObject
  /** The text of an event, for an archive. */
  readonly text?: Uint8Array
}

/** What the store keeps of an object, besides its index entries. */
export interface StoredObject {
  readonly held: HeldObject
  readonly uid: string
  readonly resourceVersion: string
}

export interface StoreContentsOptions {
  /** For error messages: `pods`. */
  readonly resourceName: string
  readonly indexers: Indexers
  readonly onIndexFailure: (error: IndexFunctionError) => void
  readonly codec: Pick<ObjectCodec, 'bytesOf' | 'decode'>
  /** Called each time that the objects have {@link reportedBytes} more. */
  readonly grown?: (() => void) | undefined
}

/** The generation that another one is to replace. */
type Replaced = Pick<StoreContents, 'stored'>

const reportedBytes = 1 << 20

/** The memory per object besides its key's text: entries of tables, UID and resource version. */
const entryBytes = 170

/** Between two points where the work may pause. */
const objectsPerStep = 16

/**
 * The most values of one object in an index. An API server accepts objects with some twenty thousand, and indexing those
 * with each state would block the informer's loop.
 */
const maxValuesPerObject = 5_000

/** An index that a function computes from each object. */
interface FunctionIndex {
  readonly index: ObjectIndex
  readonly compute: IndexFunction
}

/**
 * One generation of a store: its objects, numbered, and all their indexes. A relist fills a new generation beside the
 * current one, and then replaces it in one step.
 */
export class StoreContents {
  readonly ids: Map<string, ObjectId> = new Map()
  readonly labels: LabelIndex = new LabelIndex()
  readonly order: KeyOrder = new KeyOrder((id) => this.keys[id] ?? '')
  readonly keys: string[] = []
  /** `''` if there is none. */
  readonly uids: string[] = []
  readonly helds: (HeldObject | undefined)[] = []
  readonly indexes: Map<string, IndexView> = new Map()
  readonly #byUid: DerivedIndex
  readonly #derived: readonly DerivedIndex[]
  readonly #functions: FunctionIndex[] = []
  readonly #resourceVersions: string[] = []
  readonly #free: ObjectId[] = []
  readonly #options: StoreContentsOptions
  #heldBytes = 0
  #reportedBytes = 0
  #replaced: Replaced | undefined
  #sharedBytes = 0
  #keyBytes = 0

  /**
   * `replaced`: shares the rows of objects that have not changed since, so that a list of what is held takes no second copy
   * of it.
   */
  constructor(options: StoreContentsOptions, replaced?: Replaced) {
    this.#options = options
    this.#replaced = replaced
    const ids = () => this.ids.values()
    const uidOf = (id: ObjectId) => this.uids[id] || undefined
    this.#byUid = new DerivedIndex({ name: 'uid', valueOf: uidOf, ids })
    this.#derived = [
      new DerivedIndex({ name: 'name', valueOf: (id) => nameOf(this.keys[id]), ids }),
      this.#byUid,
    ]
    for (const index of this.#derived) this.indexes.set(index.name, index)
    for (const { index } of this.#add(this.lacking(options.indexers))) {
      this.indexes.set(index.name, index)
    }
  }

  get size(): number {
    return this.ids.size
  }

  idOfUid(uid: string): ObjectId | undefined {
    return this.#byUid.built.anyOf(uid)
  }

  /** The approximate memory of the objects (as the codec counts) and their indexes. */
  get bytes(): number {
    let bytes = this.labels.bytes + this.#heldBytes + this.#keyBytes + this.size * entryBytes
    for (const index of this.#derived) bytes += index.bytes
    for (const { index } of this.#functions) bytes += index.bytes
    return bytes
  }

  /** The bytes of rows that it shares with the generation that it is to replace. */
  get sharedBytes(): number {
    return this.#sharedBytes
  }

  /** Called once it has replaced the other generation. */
  settle(): void {
    this.#replaced = undefined
    this.#sharedBytes = 0
  }

  stored(key: string): StoredObject | undefined {
    const id = this.ids.get(key)
    const held = id === undefined ? undefined : this.helds[id]
    if (id === undefined || held === undefined) return undefined
    return { held, uid: this.uids[id] ?? '', resourceVersion: this.#resourceVersions[id] ?? '' }
  }

  put({ key, held, object }: StoreEntry): void {
    let id = this.ids.get(key)
    if (id === undefined) {
      id = this.#free.pop() ?? this.keys.length
      this.keys[id] = key
      this.ids.set(key, id)
      this.order.insert(id, key)
      this.#keyBytes += key.length
    }
    const { metadata } = object
    this.#hold(id, this.#unchanged(key, metadata) ?? held)
    this.uids[id] = textOf(metadata.uid)
    this.#resourceVersions[id] = textOf(metadata.resourceVersion)
    for (const index of this.#derived) index.update(id)
    for (const one of this.#functions) this.#compute(one, id, key, object)
    this.labels.set(id, metadata.labels)
  }

  #unchanged(key: string, { uid, resourceVersion }: ObjectMeta): HeldObject | undefined {
    const before = this.#replaced?.stored(key)
    if (before === undefined || before.uid !== uid || before.resourceVersion === '')
      return undefined
    if (before.resourceVersion !== resourceVersion) return undefined
    this.#sharedBytes += this.#options.codec.bytesOf(before.held)
    return before.held
  }

  keepHeld(key: string, held: HeldObject): void {
    const id = this.ids.get(key)
    if (id !== undefined) this.#hold(id, held)
  }

  remove(key: string): void {
    const id = this.ids.get(key)
    if (id === undefined) return
    for (const index of this.#derived) index.delete(id)
    for (const { index } of this.#functions) index.delete(id)
    this.labels.delete(id)
    this.order.remove(key)
    this.ids.delete(key)
    this.#hold(id, undefined)
    this.#keyBytes -= key.length
    this.keys[id] = ''
    this.uids[id] = ''
    this.#free.push(id)
  }

  /** No values if the object or the index does not exist. */
  valuesOf(key: string, index: string): readonly string[] {
    const id = this.ids.get(key)
    return id === undefined ? [] : (this.indexes.get(index)?.valuesOf(id) ?? [])
  }

  /** The index functions that this generation lacks. */
  lacking(indexers: Indexers): Indexers {
    const has = (name: string) =>
      this.indexes.has(name) || this.#functions.some(({ index }) => index.name === name)
    return Object.fromEntries(Object.entries(indexers).filter(([name]) => !has(name)))
  }

  /**
   * Adds and fills indexes. They follow all changes from the first step on, but can only be read after the last one. If
   * it throws, it adds none.
   */
  *backfill(indexers: Indexers): Generator<void, true> {
    const added = this.#add(indexers)
    try {
      // In the order of ids. An id that is reused meanwhile is only indexed twice.
      for (let id = 0; id < this.keys.length; id++) {
        if (id % objectsPerStep === objectsPerStep - 1) yield
        const held = this.helds[id]
        if (held === undefined) continue
        const object = this.#options.codec.decode(held)
        for (const one of added) this.#compute(one, id, this.keys[id] ?? '', object)
      }
    } catch (error) {
      for (const one of added) this.#functions.splice(this.#functions.indexOf(one), 1)
      throw error
    }
    for (const { index } of added) this.indexes.set(index.name, index)
    return true
  }

  /** Replaces an object's values in indexes whose functions read more than the object. Ignores other indexes and keys. */
  reindex(key: string, values: Readonly<Record<string, readonly string[]>>): void {
    const id = this.ids.get(key)
    if (id === undefined) return
    for (const { index } of this.#functions) {
      const own = values[index.name]
      if (own !== undefined) index.set(id, own)
    }
  }

  dropIndexes(names: readonly string[]): void {
    for (const name of names) {
      this.indexes.delete(name)
      const at = this.#functions.findIndex(({ index }) => index.name === name)
      if (at >= 0) this.#functions.splice(at, 1)
    }
  }

  /** Adds empty indexes. From now on they follow all changes. */
  #add(indexers: Indexers): readonly FunctionIndex[] {
    const added = Object.entries(indexers).map(([name, compute]) => ({
      index: new ObjectIndex(name),
      compute,
    }))
    this.#functions.push(...added)
    return added
  }

  /** An object whose function throws or returns too many values is not in that index. */
  #compute(
    { index, compute }: FunctionIndex,
    id: ObjectId,
    key: string,
    object: KubernetesObject,
  ): void {
    try {
      const values = compute(object)
      if (values.length > maxValuesPerObject) {
        throw new RangeError(`it returned ${values.length} values, more than ${maxValuesPerObject}`)
      }
      for (const value of values) {
        if (typeof value !== 'string')
          throw new TypeError(`it returned a value that is not a string: ${typeof value}`)
      }
      index.set(id, values)
    } catch (cause) {
      index.delete(id)
      const { resourceName, onIndexFailure } = this.#options
      onIndexFailure(new IndexFunctionError(resourceName, index.name, key, cause))
    }
  }

  #hold(id: ObjectId, held: HeldObject | undefined): void {
    const { codec, grown } = this.#options
    const before = this.helds[id]
    if (before !== undefined) this.#heldBytes -= codec.bytesOf(before)
    if (held !== undefined) this.#heldBytes += codec.bytesOf(held)
    this.helds[id] = held
    if (this.#heldBytes <= this.#reportedBytes + reportedBytes) return
    this.#reportedBytes = this.#heldBytes
    grown?.()
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function nameOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : key.slice(key.indexOf('/') + 1)
}
