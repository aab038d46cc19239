import { ObjectIndex } from './object-index.ts'
import type { IndexView, ObjectId } from './store-view.ts'

/** The labels of a store's objects: one index per label key, so that every label selector is set arithmetic. */
export class LabelIndex {
  readonly #byKey = new Map<string, ObjectIndex>()
  /** The label keys of each object. Siblings share the array. */
  readonly #keys: (readonly string[] | undefined)[] = []
  readonly #keySets = new Map<string, readonly string[]>()

  /** About what it takes in memory. */
  get bytes(): number {
    let bytes = this.#keys.length * 8
    for (const index of this.#byKey.values()) bytes += index.bytes
    return bytes
  }

  /** The index of one label key: value to objects; `undefined` where no object has the key. */
  key(key: string): IndexView | undefined {
    return this.#byKey.get(key)
  }

  /** The label keys that at least one object has. */
  keys(): IterableIterator<string> {
    return this.#byKey.keys()
  }

  /** The labels of one object, without decoding it. */
  labelsOf(id: ObjectId): Readonly<Record<string, string>> {
    const keys = this.#keys[id]
    if (keys === undefined) return noLabels
    const labels: Record<string, string> = {}
    for (const key of keys) labels[key] = this.#byKey.get(key)?.endValue(id, false) ?? ''
    return labels
  }

  /** Whether two objects have the same labels: those of siblings share their keys and, value by value, a posting. */
  isSame(one: ObjectId, other: ObjectId): boolean {
    const keys = this.#keys[one]
    if (keys !== this.#keys[other]) return false
    for (const key of keys ?? none) {
      if (this.#byKey.get(key)?.isSame(one, other) === false) return false
    }
    return true
  }

  /** Takes whatever an object has for labels: what is no string, or in no object, counts as not there. */
  set(id: ObjectId, found: unknown): void {
    const labels = labelsIn(found)
    const before = this.#keys[id] ?? none
    const keys = Object.keys(labels)
    for (const old of before) if (!Object.hasOwn(labels, old)) this.#remove(id, old)
    for (const key of keys) {
      let index = this.#byKey.get(key)
      if (index === undefined) this.#byKey.set(key, (index = new ObjectIndex(key)))
      index.set(id, [labels[key] ?? ''])
    }
    const isSame = keys.length === before.length && keys.every((key, at) => key === before[at])
    if (!isSame) this.#keys[id] = keys.length === 0 ? undefined : this.#shared(keys)
  }

  delete(id: ObjectId): void {
    for (const key of this.#keys[id] ?? []) this.#remove(id, key)
    this.#keys[id] = undefined
  }

  #remove(id: ObjectId, key: string): void {
    const index = this.#byKey.get(key)
    index?.delete(id)
    if (index?.size === 0) this.#byKey.delete(key)
  }

  #shared(keys: readonly string[]): readonly string[] {
    const signature = JSON.stringify(keys)
    const known = this.#keySets.get(signature)
    if (known !== undefined) return known
    // Label keys come from templates, so there are few sets of them; should that not hold, start again.
    if (this.#keySets.size >= maxKeySets) this.#keySets.clear()
    this.#keySets.set(signature, keys)
    return keys
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
