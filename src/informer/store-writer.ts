import type { KubernetesObject } from '../kubernetes/object.ts'
import { Change } from './store/change.ts'
import type { Delta } from './reflector/delta-queue.ts'
import type { IndexedStore } from './store/indexed-store.ts'
import type { ObjectCodec } from './codec/object-codec.ts'
import type { StoreContents, StoredObject } from './store/store-contents.ts'

export interface StoreWriterOptions {
  readonly store: IndexedStore
  readonly codec: ObjectCodec
}

/**
 * Applies deltas to a store, its only writer, and concludes what changed. A state that the store has already (same
 * UID and resource version) is no change: after a relist only real differences reach the listeners.
 */
export class StoreWriter {
  readonly #store: IndexedStore
  readonly #codec: ObjectCodec
  #hasList = false

  constructor(options: StoreWriterOptions) {
    this.#store = options.store
    this.#codec = options.codec
  }

  /** Whether a whole list has been applied. */
  get hasList(): boolean {
    return this.#hasList
  }

  /** Store and indices are up to date when it returns. */
  apply(delta: Delta): Change[] {
    const changes = this.#changesOf(delta)
    this.#store.advance(delta.resourceVersion)
    return changes
  }

  #changesOf(delta: Delta): Change[] {
    switch (delta.type) {
      case 'BOOKMARK':
        return []
      case 'REPLACED':
        return this.#replace(delta.contents)
      case 'REFUSED': {
        const before = this.#store.stored(delta.key)
        this.#store.remove(delta.key)
        return before === undefined ? [] : [this.#vanished(delta.key, before)]
      }
      case 'DELETED': {
        const { key, held, object } = delta.entry
        this.#store.remove(key)
        const uid = uidOf(object)
        return [new Change(this.#codec, { type: 'DELETED', key, uid, held, object })]
      }
      case 'ADDED':
      case 'MODIFIED': {
        const { key, held, object } = delta.entry
        const uid = uidOf(object)
        const before = this.#store.stored(key)
        if (
          before !== undefined &&
          before.uid === uid &&
          before.resourceVersion !== '' &&
          before.resourceVersion === object.metadata.resourceVersion
        ) {
          return []
        }
        this.#store.put(delta.entry)
        if (before !== undefined && before.uid === uid) {
          const previousHeld = before.held
          return [
            new Change(this.#codec, { type: 'MODIFIED', key, uid, held, object, previousHeld }),
          ]
        }
        const added = new Change(this.#codec, { type: 'ADDED', key, uid, held, object })
        return before === undefined ? [added] : [this.#vanished(key, before), added]
      }
    }
  }

  /**
   * Deletions first, then additions and updates in the order of the list. What has not changed stays held as it was: its
   * identity is its version.
   */
  #replace(contents: StoreContents): Change[] {
    const isInInitialList = !this.#hasList
    this.#hasList = true
    const before = this.#store.swap(contents)
    const vanished: Change[] = []
    for (const key of before.ids.keys()) {
      const old = before.stored(key)
      if (old !== undefined && contents.stored(key)?.uid !== old.uid) {
        vanished.push(this.#vanished(key, old))
      }
    }
    const others: Change[] = []
    for (const key of contents.ids.keys()) {
      const now = contents.stored(key)
      if (now === undefined) continue
      const { uid, held } = now
      const old = before.stored(key)
      if (old === undefined || old.uid !== uid) {
        others.push(new Change(this.#codec, { type: 'ADDED', key, uid, held, isInInitialList }))
      } else if (old.resourceVersion === '' || old.resourceVersion !== now.resourceVersion) {
        const previousHeld = old.held
        others.push(new Change(this.#codec, { type: 'MODIFIED', key, uid, held, previousHeld }))
      } else contents.keepHeld(key, old.held)
    }
    return [...vanished, ...others]
  }

  #vanished(key: string, { uid, held }: StoredObject): Change {
    return new Change(this.#codec, { type: 'DELETED', key, uid, held, finalStateKnown: false })
  }
}

/** As the store has it: `''` where there is none, or what is there is no string. */
function uidOf({ metadata }: KubernetesObject): string {
  const uid: unknown = metadata.uid
  return typeof uid === 'string' ? uid : ''
}
