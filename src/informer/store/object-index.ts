import { CharacterSet } from './character-set.ts'
import { SortedList } from './sorted-list.ts'
import { TermList } from './term-list.ts'
import type { IndexView, ObjectId, PostingView } from './store-view.ts'

/**
 * The objects that share a value: an unordered array of ids, and for each the slot of the value among the object's
 * values.
 */
class Posting implements PostingView {
  readonly value: string
  readonly #ids: ObjectId[] = []
  /** Absent while all slots are 0, as in every index with one value per object. */
  #slots: number[] | undefined

  constructor(value: string) {
    this.value = value
  }

  get size(): number {
    return this.#ids.length
  }

  [Symbol.iterator](): IterableIterator<ObjectId> {
    return this.#ids.values()
  }

  slotAt(position: number): number {
    return this.#slots?.[position] ?? 0
  }

  /** Returns the position of the new id. */
  push(id: ObjectId, slot: number): number {
    if (slot > 0) this.#slots ??= this.#ids.map(() => 0)
    this.#slots?.push(slot)
    return this.#ids.push(id) - 1
  }

  /** Removes the id at `position`. Returns the id that moved there, if any. */
  removeAt(position: number): ObjectId | undefined {
    const last = this.#ids.pop()
    const slot = this.#slots?.pop() ?? 0
    if (last === undefined || position === this.#ids.length) return undefined
    this.#ids[position] = last
    if (this.#slots !== undefined) this.#slots[position] = slot
    return last
  }
}

/** One value of one object: the value itself while no other object has it, else the shared posting. */
type Membership = string | Posting

/** The only object with a value: `slot * slotUnit + id`, which is the bare id for objects with one value. */
type Owner = number

const slotUnit = 2 ** 32
const none: readonly string[] = []

const slotBytes = 26
const valueBytes = 92
/** Characters of a value that {@link valueBytes} includes. */
const shortValue = 64
/** A sparse array allocates so many slots for each used one. */
const sparseSlots = 3

/**
 * An index: from each value to the objects that have it, and back. Adding, removing and testing one value of one object
 * takes constant time, even for a value that every object has.
 *
 * The trick is what each object keeps. A set of ids per value costs some 60 bytes per id. A bare array costs 8, but
 * removing an id would require a search. So each object keeps its position in each of its postings, and the posting
 * keeps which of the object's values it is (the slot). The last id moves into the gap, and only its position changes.
 *
 * Two common cases keep less. A value that only one object has (a name, an IP address) has no posting: the value leads
 * to the id and slot in one number, and the object's membership is the value itself. And an object with one value keeps
 * its membership and position bare, instead of in arrays.
 */
export class ObjectIndex implements IndexView {
  readonly name: string
  readonly #byValue = new Map<string, Owner | Posting>()
  readonly #memberships: (Membership | Membership[] | undefined)[] = []
  readonly #positions: (number | number[])[] = []
  #ordered: SortedList<string> | undefined
  #terms: TermList | undefined
  #characters: CharacterSet | undefined
  #objects = 0
  #revision = 0
  /** The characters of long values beyond {@link shortValue}. */
  #longCharacters = 0

  constructor(name: string) {
    this.name = name
  }

  get bytes(): number {
    const slots = Math.min(this.#memberships.length, this.#objects * sparseSlots)
    const lists = (this.#ordered === undefined ? 0 : 1) + (this.#terms === undefined ? 0 : 1)
    const perValue = valueBytes + lists * slotBytes
    return slots * slotBytes + this.#byValue.size * perValue + this.#longCharacters
  }

  get size(): number {
    return this.#byValue.size
  }

  get objectCount(): number {
    return this.#objects
  }

  get revision(): number {
    return this.#revision
  }

  /** Sorted on the first call, so that other indexes do not pay for it. */
  orderedValues(from: string | undefined, descending: boolean): IterableIterator<string> {
    if (this.#ordered === undefined) {
      this.#ordered = new SortedList((value) => value, [...this.#byValue.keys()].toSorted())
    }
    return descending ? this.#ordered.backwards(from) : this.#ordered.forwards(from)
  }

  terms(prefix: string): IterableIterator<string> {
    this.#terms ??= new TermList(this.#byValue.keys())
    return this.#terms.startingWith(prefix)
  }

  characters(): Pick<CharacterSet, 'isLowerCase' | 'mayContain'> {
    return (this.#characters ??= new CharacterSet(this.#byValue.keys()))
  }

  posting(value: string): PostingView | undefined {
    const found = this.#byValue.get(value)
    return typeof found === 'number' ? new SinglePosting(found % slotUnit) : found
  }

  /** Any object with this value, without creating a posting. */
  anyOf(value: string): ObjectId | undefined {
    const found = this.#byValue.get(value)
    if (typeof found === 'number') return found % slotUnit
    return found?.[Symbol.iterator]().next().value
  }

  has(id: ObjectId, value: string): boolean {
    const membership = this.#memberships[id]
    if (membership === undefined) return false
    return Array.isArray(membership)
      ? membership.some((one) => valueOf(one) === value)
      : valueOf(membership) === value
  }

  isSame(one: ObjectId, other: ObjectId): boolean {
    const membership = this.#memberships[one]
    return membership === this.#memberships[other] && !Array.isArray(membership)
  }

  valuesOf(id: ObjectId): readonly string[] {
    const membership = this.#memberships[id]
    if (membership === undefined) return none
    return Array.isArray(membership) ? membership.map(valueOf) : [valueOf(membership)]
  }

  endValue(id: ObjectId, greatest: boolean): string | undefined {
    const membership = this.#memberships[id]
    if (membership === undefined) return undefined
    if (!Array.isArray(membership)) return valueOf(membership)
    let end: string | undefined
    for (const one of membership) {
      const value = valueOf(one)
      if (end === undefined || value > end === greatest) end = value
    }
    return end
  }

  values(): IterableIterator<string> {
    return this.#byValue.keys()
  }

  /** Replaces the values of the object. Repeated values count once. */
  set(id: ObjectId, values: readonly string[]): void {
    if (this.#unchanged(id, values)) return
    const own = distinct(values)
    if (own !== values && this.#unchanged(id, own)) return
    this.delete(id)
    const [first] = own
    if (first === undefined) return
    this.#objects += 1
    this.#revision += 1
    if (own.length === 1) {
      this.#positions[id] = 0
      this.#memberships[id] = this.#join(id, first, 0)
      return
    }
    // Allocated at their final size: growing arrays reserve room for a dozen more.
    const memberships: Membership[] = own.map(() => '')
    this.#memberships[id] = memberships
    this.#positions[id] = own.map(() => 0)
    let slot = 0
    for (const value of own) {
      memberships[slot] = this.#join(id, value, slot)
      slot += 1
    }
  }

  delete(id: ObjectId): void {
    const membership = this.#memberships[id]
    if (membership === undefined) return
    this.#objects -= 1
    this.#revision += 1
    if (Array.isArray(membership)) membership.forEach((one, slot) => this.#leave(id, one, slot))
    else this.#leave(id, membership, 0)
    this.#memberships[id] = undefined
    this.#positions[id] = 0
  }

  #unchanged(id: ObjectId, values: readonly string[]): boolean {
    const membership = this.#memberships[id]
    if (membership === undefined) return values.length === 0
    if (!Array.isArray(membership)) return values.length === 1 && values[0] === valueOf(membership)
    return (
      membership.length === values.length &&
      membership.every((one, slot) => valueOf(one) === values[slot])
    )
  }

  #join(id: ObjectId, value: string, slot: number): Membership {
    const found = this.#byValue.get(value)
    if (found === undefined) {
      this.#longCharacters += Math.max(0, value.length - shortValue)
      this.#byValue.set(value, slot * slotUnit + id)
      this.#ordered?.insert(value, value)
      this.#terms?.add(value)
      this.#characters?.add(value)
      return value
    }
    if (typeof found !== 'number') {
      this.#setPosition(id, slot, found.push(id, slot))
      return found
    }
    const posting = new Posting(value)
    this.#byValue.set(value, posting)
    this.#share(found, posting)
    this.#setPosition(id, slot, posting.push(id, slot))
    return posting
  }

  #share(owner: Owner, posting: Posting): void {
    const id = owner % slotUnit
    const slot = (owner - id) / slotUnit
    const membership = this.#memberships[id]
    if (Array.isArray(membership)) membership[slot] = posting
    else this.#memberships[id] = posting
    this.#setPosition(id, slot, posting.push(id, slot))
  }

  #leave(id: ObjectId, membership: Membership, slot: number): void {
    if (typeof membership === 'string') return this.#forget(membership)
    const position = this.#positionOf(id, slot)
    const moved = membership.removeAt(position)
    if (moved !== undefined) this.#setPosition(moved, membership.slotAt(position), position)
    if (membership.size === 0) this.#forget(membership.value)
  }

  #forget(value: string): void {
    this.#longCharacters -= Math.max(0, value.length - shortValue)
    this.#byValue.delete(value)
    this.#ordered?.remove(value)
    this.#terms?.remove(value)
  }

  #positionOf(id: ObjectId, slot: number): number {
    const position = this.#positions[id]
    return (Array.isArray(position) ? position[slot] : position) ?? 0
  }

  #setPosition(id: ObjectId, slot: number, position: number): void {
    const positions = this.#positions[id]
    if (Array.isArray(positions)) positions[slot] = position
    else this.#positions[id] = position
  }
}

/** The posting of a value that only one object has, created when it is read. */
class SinglePosting implements PostingView {
  readonly size = 1
  readonly #id: ObjectId

  constructor(id: ObjectId) {
    this.#id = id
  }

  [Symbol.iterator](): IterableIterator<ObjectId> {
    return [this.#id].values()
  }
}

function distinct(values: readonly string[]): readonly string[] {
  if (values.length < 2) return values
  const once = new Set(values)
  return once.size === values.length ? values : [...once]
}

function valueOf(membership: Membership): string {
  return typeof membership === 'string' ? membership : membership.value
}

interface DerivedIndexOptions {
  readonly name: string
  /** The value of a stored object; `undefined` if it has none. */
  readonly valueOf: (id: ObjectId) => string | undefined
  readonly ids: () => Iterable<ObjectId>
}

/**
 * An index of a value that the store keeps for each object anyway. The postings are built when they are first read.
 */
export class DerivedIndex implements IndexView {
  readonly name: string
  readonly #options: DerivedIndexOptions
  #index: ObjectIndex | undefined

  constructor(options: DerivedIndexOptions) {
    this.name = options.name
    this.#options = options
  }

  get bytes(): number {
    return this.#index?.bytes ?? 0
  }

  get built(): ObjectIndex {
    if (this.#index === undefined) {
      const index = new ObjectIndex(this.name)
      for (const id of this.#options.ids()) index.set(id, this.valuesOf(id))
      this.#index = index
    }
    return this.#index
  }

  get objectCount(): number {
    return this.built.objectCount
  }

  get revision(): number {
    return this.built.revision
  }

  orderedValues(from: string | undefined, descending: boolean): IterableIterator<string> {
    return this.built.orderedValues(from, descending)
  }

  terms(prefix: string): IterableIterator<string> {
    return this.built.terms(prefix)
  }

  characters(): ReturnType<ObjectIndex['characters']> {
    return this.built.characters()
  }

  get size(): number {
    return this.built.size
  }

  posting(value: string): PostingView | undefined {
    return this.built.posting(value)
  }

  values(): IterableIterator<string> {
    return this.built.values()
  }

  has(id: ObjectId, value: string): boolean {
    return this.#options.valueOf(id) === value
  }

  isSame(one: ObjectId, other: ObjectId): boolean {
    return this.#options.valueOf(one) === this.#options.valueOf(other)
  }

  valuesOf(id: ObjectId): readonly string[] {
    const value = this.#options.valueOf(id)
    return value === undefined ? none : [value]
  }

  endValue(id: ObjectId): string | undefined {
    return this.#options.valueOf(id)
  }

  update(id: ObjectId): void {
    this.#index?.set(id, this.valuesOf(id))
  }

  delete(id: ObjectId): void {
    this.#index?.delete(id)
  }
}

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

  get bytes(): number {
    let bytes = this.#keySets.length * 8
    for (const index of this.#byKey.values()) bytes += index.bytes
    return bytes
  }

  key(key: string): IndexView | undefined {
    return this.#byKey.get(key)
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys()
  }

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

  /** Siblings share their key set and, for each value, a posting. */
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
const maxKeySets = 4096
