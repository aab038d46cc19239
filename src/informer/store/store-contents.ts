import type { KubernetesObject } from '../../kubernetes/object.ts'
import { DerivedIndex } from './derived-index.ts'
import { KeyOrder } from './key-order.ts'
import { LabelIndex } from './label-index.ts'
import type { HeldObject } from '../codec/object-codec.ts'
import { FunctionIndexes, type FunctionIndexesOptions } from './function-indexes.ts'
import type { Indexers, IndexView, ObjectId } from './store-view.ts'

/** One object on its way into a store: how it is held, and what it says. */
export interface StoreEntry {
  readonly key: string
  readonly held: HeldObject
  readonly object: KubernetesObject
}

/** What the store remembers of an object besides its indices. */
export interface StoredObject {
  readonly held: HeldObject
  readonly uid: string
  readonly resourceVersion: string
}

export interface StoreContentsOptions extends FunctionIndexesOptions {
  readonly indexers: Indexers
  /** About what a held object takes in memory, without what it shares with others. */
  readonly bytesOf: (held: HeldObject) => number
}

/** What a store keeps of each object besides its key's text: the entries of its tables, its UID and resource version. */
const entryBytes = 170

/** So many objects are indexed between two moments at which the work may pause. */
const objectsPerStep = 16

/**
 * The objects of one generation of a store, numbered, with all their indices. A relist fills a new generation beside
 * the one that is read and then takes its place in one step.
 */
export class StoreContents {
  readonly ids: Map<string, ObjectId> = new Map()
  readonly labels: LabelIndex = new LabelIndex()
  readonly order: KeyOrder = new KeyOrder((id) => this.keys[id] ?? '')
  readonly keys: string[] = []
  /** `''` where there is none. */
  readonly uids: string[] = []
  readonly helds: (HeldObject | undefined)[] = []
  readonly indexes: Map<string, IndexView> = new Map()
  readonly #byUid: DerivedIndex
  readonly #derived: readonly DerivedIndex[]
  readonly #functions: FunctionIndexes
  readonly #resourceVersions: string[] = []
  readonly #free: ObjectId[] = []
  readonly #options: StoreContentsOptions
  #heldBytes = 0
  #keyBytes = 0

  constructor(options: StoreContentsOptions) {
    this.#options = options
    this.#functions = new FunctionIndexes(options)
    const ids = () => this.ids.values()
    this.#byUid = new DerivedIndex({
      name: 'uid',
      valueOf: (id) => this.uids[id] || undefined,
      ids,
    })
    this.#derived = [
      new DerivedIndex({ name: 'name', valueOf: (id) => nameOf(this.keys[id]), ids }),
      this.#byUid,
    ]
    for (const index of this.#derived) this.indexes.set(index.name, index)
    for (const { index } of this.#functions.add(this.lacking(options.indexers))) {
      this.indexes.set(index.name, index)
    }
  }

  get size(): number {
    return this.ids.size
  }

  idOfUid(uid: string): ObjectId | undefined {
    return this.#byUid.anyOf(uid)
  }

  /** About what the objects (as the codec counts) and their indices take in memory. */
  get bytes(): number {
    const indices = this.labels.bytes + this.#functions.bytes
    let bytes = indices + this.#heldBytes + this.#keyBytes + this.size * entryBytes
    for (const index of this.#derived) bytes += index.bytes
    return bytes
  }

  /** What is stored under a key. */
  stored(key: string): StoredObject | undefined {
    const id = this.ids.get(key)
    const held = id === undefined ? undefined : this.helds[id]
    if (id === undefined || held === undefined) return undefined
    return {
      held,
      uid: this.uids[id] ?? '',
      resourceVersion: this.#resourceVersions[id] ?? '',
    }
  }

  /** Adds or replaces an object and brings its indices up to date. */
  put({ key, held, object }: StoreEntry): void {
    let id = this.ids.get(key)
    if (id === undefined) {
      id = this.#free.pop() ?? this.keys.length
      this.keys[id] = key
      this.ids.set(key, id)
      this.order.insert(id, key)
      this.#keyBytes += key.length
    }
    this.#hold(id, held)
    const { metadata } = object
    this.uids[id] = textOf(metadata.uid)
    this.#resourceVersions[id] = textOf(metadata.resourceVersion)
    for (const index of this.#derived) index.update(id)
    this.#functions.update(id, key, object)
    this.labels.set(id, metadata.labels)
  }

  /** Holds an object as it was held before, because nothing has changed in it. */
  keepHeld(key: string, held: HeldObject): void {
    const id = this.ids.get(key)
    if (id !== undefined) this.#hold(id, held)
  }

  remove(key: string): void {
    const id = this.ids.get(key)
    if (id === undefined) return
    for (const index of this.#derived) index.delete(id)
    this.#functions.delete(id)
    this.labels.delete(id)
    this.order.remove(key)
    this.ids.delete(key)
    this.#hold(id, undefined)
    this.#keyBytes -= key.length
    this.keys[id] = ''
    this.uids[id] = ''
    this.#free.push(id)
  }

  /** The values of an object in an index; none where it, or the index, is not there. */
  valuesOf(key: string, index: string): readonly string[] {
    const id = this.ids.get(key)
    return id === undefined ? [] : (this.indexes.get(index)?.valuesOf(id) ?? [])
  }

  /** Those of the index functions that have not been declared here. */
  lacking(indexers: Indexers): Indexers {
    return Object.fromEntries(
      Object.entries(indexers).filter(
        ([name]) => !this.#functions.has(name) && !this.indexes.has(name),
      ),
    )
  }

  /**
   * Adds indexes and fills them. From its first step on they are kept up to date with what is stored and removed; found
   * they are only after the last one. Where it throws there are none.
   */
  *backfill(
    indexers: Indexers,
    decode: (held: HeldObject) => KubernetesObject,
  ): Generator<void, true> {
    const added = this.#functions.add(indexers)
    try {
      // In the order of ids: one that is given again meanwhile is only indexed twice.
      for (let id = 0; id < this.keys.length; id++) {
        if (id % objectsPerStep === objectsPerStep - 1) yield
        const held = this.helds[id]
        if (held === undefined) continue
        const object = decode(held)
        for (const one of added) this.#functions.set(one, id, this.keys[id] ?? '', object)
      }
    } catch (error) {
      this.#functions.drop(added)
      throw error
    }
    for (const { index } of added) this.indexes.set(index.name, index)
    return true
  }

  #hold(id: ObjectId, held: HeldObject | undefined): void {
    const { bytesOf } = this.#options
    const before = this.helds[id]
    if (before !== undefined) this.#heldBytes -= bytesOf(before)
    if (held !== undefined) this.#heldBytes += bytesOf(held)
    this.helds[id] = held
  }
}

/** Whatever an object has there: what is no string counts as absent. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function nameOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : key.slice(key.indexOf('/') + 1)
}
