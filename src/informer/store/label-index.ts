import { ObjectIndex } from './object-index.ts'
import type { IndexView, ObjectId } from './store-view.ts'

/** A set of label keys with their indexes in the same order. */
interface KeySet {
  readonly keys: readonly string[]
  readonly indexes: readonly ObjectIndex[]
}

/** The labels of a store's objects: one index per label key, so that label selectors are set operations. */
export class LabelIndex {
  readonly #byKey = new Map<string, ObjectIndex>()
  /** The key set of each object. Siblings share one. */
  readonly #keySets: (KeySet | undefined)[] = []
  readonly #known = new Map<string, KeySet>()

  /** The approximate size in memory. */
  get bytes(): number {
    let bytes = this.#keySets.length * 8
    for (const index of this.#byKey.values()) bytes += index.bytes
    return bytes
  }

  key(key: string): IndexView | undefined {
    return this.#byKey.get(key)
  }

  /** All label keys in use. */
  keys(): IterableIterator<string> {
    return this.#byKey.keys()
  }

  /** The labels of an object, without decoding it. */
  labelsOf(id: ObjectId): Readonly<Record<string, string>> {
    const keySet = this.#keySets[id]
    if (keySet === undefined) return noLabels
    const { keys, indexes } = keySet
    const labels: Record<string, string> = {}
    for (let at = 0; at < keys.length; at++) {
      labels[keys[at] ?? ''] = indexes[at]?.endValue(id, false) ?? ''
    }
    return labels
  }

  /** Whether two objects have the same labels. Siblings share their key set and, for each value, a posting. */
  isSame(one: ObjectId, other: ObjectId): boolean {
    const keySet = this.#keySets[one]
    if (keySet !== this.#keySets[other]) return false
    if (keySet === undefined) return true
    for (const index of keySet.indexes) if (!index.isSame(one, other)) return false
    return true
  }

  /** Accepts any value of `labels`. Ignores it if it is not an object, and entries that are not strings. */
  set(id: ObjectId, found: unknown): void {
    const labels = labelsIn(found)
    const before = this.#keySets[id]?.keys ?? none
    const keys = Object.keys(labels)
    for (const old of before) if (!Object.hasOwn(labels, old)) this.#remove(id, old)
    for (const key of keys) {
      let index = this.#byKey.get(key)
      if (index === undefined) this.#byKey.set(key, (index = new ObjectIndex(key)))
      index.set(id, [labels[key] ?? ''])
    }
    const isSame = keys.length === before.length && keys.every((key, at) => key === before[at])
    if (!isSame) this.#keySets[id] = keys.length === 0 ? undefined : this.#shared(keys)
  }

  delete(id: ObjectId): void {
    for (const key of this.#keySets[id]?.keys ?? none) this.#remove(id, key)
    this.#keySets[id] = undefined
  }

  #remove(id: ObjectId, key: string): void {
    const index = this.#byKey.get(key)
    index?.delete(id)
    if (index?.size !== 0) return
    this.#byKey.delete(key)
    // Key sets with this key are unused now; a new index of the key needs new ones.
    this.#known.clear()
  }

  #shared(keys: readonly string[]): KeySet {
    const signature = JSON.stringify(keys)
    const known = this.#known.get(signature)
    if (known !== undefined) return known
    // Label keys come from templates, so there are few key sets. If there are many, start again.
    if (this.#known.size >= maxKeySets) this.#known.clear()
    const indexes = keys.map((key) => this.#byKey.get(key)).filter((one) => one !== undefined)
    const keySet = { keys, indexes }
    this.#known.set(signature, keySet)
    return keySet
  }
}

function labelsIn(found: unknown): Readonly<Record<string, string>> {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return noLabels
  for (const key in found) {
    if (typeof (found as Record<string, unknown>)[key] === 'string') continue
    return Object.fromEntries(Object.entries(found).filter(isLabel))
  }
  return found as Readonly<Record<string, string>>
}

function isLabel(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string'
}

const noLabels: Readonly<Record<string, string>> = {}
const none: readonly string[] = []
const maxKeySets = 4096
