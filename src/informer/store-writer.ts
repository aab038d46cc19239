import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../kubernetes/object.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { Change, type ChangeOptions } from './store/change.ts'
import { keyOfDelta, type ListDelta, type StepDelta } from './reflector/delta-queue.ts'
import { NamespacePositions } from './namespace-positions.ts'
import type { IndexedStore } from './store/indexed-store.ts'
import type { HeldObject } from './codec/object-codec.ts'
import type { StoreContents, StoredObject } from './store/store-contents.ts'
import type { ValuesOfChange } from './delivery/processor.ts'

/** The changes of a delta, and the index values of the changed objects before and after. */
export interface Applied {
  readonly changes: readonly Change[]
  /** A state that the server sent again unchanged. Resyncs deliver it. */
  readonly repeated?: Change
  readonly valuesOf: ValuesOfChange
}

/** Between two points where the work may pause. */
const objectsPerStep = 64

/**
 * Applies deltas to a store and determines what changed. The only writer of the store. A state that the store has
 * already (same UID and resource version) is not a change: only resyncs deliver it. After a reread, objects are
 * compared as a whole.
 *
 * A relist is staged: it fills a generation of its own, with all indexes, which is compared with the current one in
 * slices, while readers and the event loop continue. When all differences are known, the generations are swapped in the
 * tick in which listeners get the changes. Unchanged objects keep their old row, since the identity of a row is the
 * object's version.
 */
export class StoreWriter {
  readonly #store: IndexedStore
  #hasList = false
  /** The positions of a store that several lists fill. */
  #namespaces: NamespacePositions | undefined

  constructor(store: IndexedStore) {
    this.#store = store
  }

  get hasList(): boolean {
    return this.#hasList
  }

  /** The namespaces that the store covers, with their positions; `undefined` if one list fills it. */
  get namespaces(): NamespacePositions | undefined {
    return this.#namespaces
  }

  /** The store and its indexes are up to date on return. */
  apply(delta: StepDelta, routedIndexes: readonly string[]): Applied {
    const key = keyOfDelta(delta) ?? ''
    const before = this.#valuesIn(key, routedIndexes)
    const told = this.#toldBy(delta)
    const { namespace, resourceVersion } = delta
    this.#advance(
      namespace === undefined || this.#namespaces === undefined
        ? resourceVersion
        : this.#namespaces.reached(namespace, resourceVersion),
    )
    const after = this.#valuesIn(key, routedIndexes)
    return { ...told, valuesOf: valuesOfChange(before, after) }
  }

  /**
   * Covers these namespaces from now on. Returns the keys of the objects in others, which {@link drop} has to take out
   * of the store.
   */
  cover(namespaces: ReadonlySet<string>): readonly string[] {
    this.#namespaces ??= new NamespacePositions()
    this.#namespaces.cover(namespaces)
    this.#advance(this.#namespaces.next())
    const index = this.#store.index('namespace')
    return [...index.values()].flatMap((namespace) =>
      namespaces.has(namespace) ? [] : this.#keysIn(namespace),
    )
  }

  /** Takes an object out of the store whose final state is unknown. */
  drop(key: string, routedIndexes: readonly string[]): Applied | undefined {
    const old = this.#store.contents.stored(key)
    if (old === undefined) return undefined
    const before = this.#valuesIn(key, routedIndexes)
    this.#store.remove(key)
    this.#step()
    return { changes: [this.#vanished(key, old)], valuesOf: valuesOfChange(before, noValues) }
  }

  /** Puts one object of the list of a namespace into the store. `undefined` if it is there already. */
  putListed(
    { contents, isReread }: ListDelta,
    key: string,
    routedIndexes: readonly string[],
  ): Applied | undefined {
    const now = contents.stored(key)
    if (now === undefined) return undefined
    const old = this.#store.contents.stored(key)
    const change = this.#difference(key, old, contents, isReread)
    if (change === undefined) return undefined
    const before = this.#valuesIn(key, routedIndexes)
    const isOther = old !== undefined && old.uid !== now.uid
    this.#store.put({ key, held: now.held, object: this.#store.codec.decode(now.held) })
    this.#step()
    const after = this.#valuesIn(key, routedIndexes)
    const changes = isOther ? [this.#vanished(key, old), change] : [change]
    return { changes, valuesOf: valuesOfChange(before, after) }
  }

  /** The keys of a namespace's objects that its list lacks. */
  missingIn({ contents }: ListDelta, namespace: string): readonly string[] {
    return this.#keysIn(namespace).filter((key) => !contents.ids.has(key))
  }

  /** Records that the list of a namespace is applied. Returns whether this completes the first list of the store. */
  listed(namespace: string, resourceVersion: ResourceVersion): boolean {
    if (this.#namespaces === undefined) return false
    this.#advance(this.#namespaces.reached(namespace, resourceVersion))
    return this.completesList()
  }

  /** Whether every namespace is listed now for the first time. */
  completesList(): boolean {
    if (this.#hasList || this.#namespaces?.areListed !== true) return false
    this.#hasList = true
    return true
  }

  #keysIn(namespace: string): readonly string[] {
    const ids = this.#store.index('namespace').posting(namespace) ?? none
    return Array.from(ids, (id) => this.#store.keyOf(id))
  }

  #advance(to: ResourceVersion): void {
    this.#store.advance(to, this.#namespaces?.covered)
  }

  #step(): void {
    if (this.#namespaces !== undefined) this.#advance(this.#namespaces.next())
  }

  /**
   * Computes what a list changes, before it is applied, in slices; discard it if another delta is applied first. Yields
   * deletions first, then additions and updates in the order of the list. Empty for the first list, which only adds.
   */
  *compare({ contents, isReread }: ListDelta): Generator<void, readonly Change[]> {
    yield* this.#store.complete(contents)
    if (!this.#hasList) return []
    const before = this.#store.contents
    const vanished: Change[] = []
    let looked = 0
    for (const key of before.ids.keys()) {
      if (++looked % objectsPerStep === 0) yield
      const old = before.stored(key)
      if (old !== undefined && contents.stored(key)?.uid !== old.uid) {
        vanished.push(this.#vanished(key, old))
      }
    }
    const others: Change[] = []
    for (const key of contents.ids.keys()) {
      if (++looked % objectsPerStep === 0) yield
      const change = this.#difference(key, before.stored(key), contents, isReread)
      if (change !== undefined) others.push(change)
    }
    return [...vanished, ...others]
  }

  /** `changes` are those from {@link compare}. */
  replace(
    { contents, resourceVersion, namespaces }: ListDelta,
    changes: readonly Change[],
  ): Applied {
    this.#hasList = true
    this.#namespaces = namespaces && new NamespacePositions(namespaces)
    const before = this.#store.swap(contents)
    this.#advance(resourceVersion)
    return { changes, valuesOf: valuesOfChange(lookUp(before), lookUp(contents)) }
  }

  #toldBy(delta: StepDelta): Omit<Applied, 'valuesOf'> {
    switch (delta.type) {
      case 'BOOKMARK':
        return { changes: none }
      case 'REFUSED': {
        const before = this.#store.contents.stored(delta.key)
        this.#store.remove(delta.key)
        return { changes: before === undefined ? none : [this.#vanished(delta.key, before)] }
      }
      case 'DELETED': {
        const { key, held, object, text } = delta.entry
        this.#store.remove(key)
        const gone = { type: 'DELETED', key, uid: uidOf(object), held, object, text } as const
        return { changes: [this.#change(gone)] }
      }
      case 'ADDED':
      case 'MODIFIED': {
        const { key, held, object, text } = delta.entry
        const uid = uidOf(object)
        const before = this.#store.contents.stored(key)
        if (
          before !== undefined &&
          before.uid === uid &&
          before.resourceVersion !== '' &&
          before.resourceVersion === object.metadata.resourceVersion
        ) {
          const { held: same } = before
          const again = { type: 'MODIFIED', key, uid, held: same, previousHeld: same } as const
          return { changes: none, repeated: this.#change(again) }
        }
        this.#store.put(delta.entry)
        if (before !== undefined && before.uid === uid) {
          const previousHeld = before.held
          const other = { type: 'MODIFIED', key, uid, held, object, previousHeld, text } as const
          return { changes: [this.#change(other)] }
        }
        const added = this.#change({ type: 'ADDED', key, uid, held, object, text })
        return { changes: before === undefined ? [added] : [this.#vanished(key, before), added] }
      }
    }
  }

  #difference(
    key: string,
    old: StoredObject | undefined,
    contents: StoreContents,
    isReread: boolean,
  ): Change | undefined {
    const now = contents.stored(key)
    if (now === undefined) return undefined
    const { uid, held } = now
    if (old === undefined || old.uid !== uid) {
      return this.#change({ type: 'ADDED', key, uid, held })
    }
    const isOther = old.resourceVersion === '' || old.resourceVersion !== now.resourceVersion
    if (isOther || (isReread && !this.#looksSame(old.held, held))) {
      const previousHeld = old.held
      return this.#change({ type: 'MODIFIED', key, uid, held, previousHeld })
    }
    contents.keepHeld(key, old.held)
    return undefined
  }

  #looksSame(before: HeldObject, now: HeldObject): boolean {
    return isDeepStrictEqual(this.#store.codec.decode(before), this.#store.codec.decode(now))
  }

  #change(options: ChangeOptions): Change {
    return new Change(this.#store.codec, options)
  }

  #vanished(key: string, { uid, held }: StoredObject): Change {
    return this.#change({ type: 'DELETED', key, uid, held, finalStateKnown: false })
  }

  /** Copied, because the indexes are about to change. */
  #valuesIn(key: string, indexes: readonly string[]): ValuesOfKey {
    if (indexes.length === 0) return noValues
    const values = new Map<string, readonly string[]>()
    for (const index of indexes) values.set(index, this.#store.contents.valuesOf(key, index))
    return (_, index) => values.get(index) ?? none
  }
}

type ValuesOfKey = (key: string, index: string) => readonly string[]

const none: readonly never[] = []
const noValues: ValuesOfKey = () => none

function lookUp(contents: StoreContents): ValuesOfKey {
  return (key, index) => contents.valuesOf(key, index)
}

/** If an object was recreated under its key, the deletion has the old values and the addition the new ones. */
function valuesOfChange(before: ValuesOfKey, after: ValuesOfKey): ValuesOfChange {
  return ({ key, type }, index) => {
    if (type === 'ADDED') return after(key, index)
    return type === 'DELETED' ? before(key, index) : [...before(key, index), ...after(key, index)]
  }
}

/** The UID as the store keeps it: `''` if missing or not a string. */
function uidOf({ metadata }: KubernetesObject): string {
  const uid: unknown = metadata.uid
  return typeof uid === 'string' ? uid : ''
}
