import { SortedList } from './sorted-list.ts'
import type { IndexView, ObjectId, PostingView } from './store-view.ts'

/**
 * The objects that share one value of one index: an unordered array of ids, and beside it the slot that the value has in each
 * object. An id is taken out in constant time by moving the last one into its place: the caller then updates the position that
 * the moved object keeps.
 */
class Posting implements PostingView {
  readonly value: string
  readonly #ids: ObjectId[] = []
  /** Absent while all are 0, as in every index with one value an object. */
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

  /** Takes out the id at `position`; returns the id that stands there now, if another one was moved. */
  removeAt(position: number): ObjectId | undefined {
    const last = this.#ids.pop()
    const slot = this.#slots?.pop() ?? 0
    if (last === undefined || position === this.#ids.length) return undefined
    this.#ids[position] = last
    if (this.#slots !== undefined) this.#slots[position] = slot
    return last
  }
}

/** One value of one object: the value itself while no other object has it, else the posting that they share. */
type Membership = string | Posting

/** The one object that has a value: `slot * slotUnit + id`, which is the bare id of an object with one value. */
type Owner = number

const slotUnit = 2 ** 32
const none: readonly string[] = []

/** A membership, a position, and an id in a posting. */
const slotBytes = 26
/** An entry of the map, and the value's text. */
const valueBytes = 92
/** An array that is mostly holes takes so many slots for each that is used. */
const sparseSlots = 3

/**
 * One index: from each value to the objects that have it, and back. Adding, removing and testing one value of one
 * object takes constant time, so an index may have a value that every object shares.
 *
 * The trick is what is kept for each object. A set of ids per value would be simple, and cost some 60 bytes an id. A
 * bare array of ids costs 8, but to take one out it would have to be searched; so each object remembers its position
 * in each posting that it is in, and the posting which of the object's values it is (the slot). The last id of the array
 * moves into the gap, and is the only one whose position changes. Whether an object has a value, and which it has, is
 * then a look at its own memberships.
 *
 * Two common cases keep less. A value that only one object has (a name, an IP address) has no posting: the value
 * leads to the id and the slot, in one number, and the object's membership is the value itself; when a second object comes to have it, the
 * two get a posting. And an object with one value keeps its membership and its position bare; with several, in arrays.
 */
export class ObjectIndex implements IndexView {
  readonly name: string
  readonly #byValue = new Map<string, Owner | Posting>()
  readonly #memberships: (Membership | Membership[] | undefined)[] = []
  readonly #positions: (number | number[])[] = []
  #ordered: SortedList<string> | undefined
  /** How many objects have a value. */
  #objects = 0

  constructor(name: string) {
    this.name = name
  }

  /** About what it takes in memory. */
  get bytes(): number {
    const slots = Math.min(this.#memberships.length, this.#objects * sparseSlots)
    const perValue = this.#ordered === undefined ? valueBytes : valueBytes + slotBytes
    return slots * slotBytes + this.#byValue.size * perValue
  }

  /** The number of different values. */
  get size(): number {
    return this.#byValue.size
  }

  get objectCount(): number {
    return this.#objects
  }

  /**
   * The dictionary in order is built when it is first asked for, and kept up to date from then on: an index that nobody
   * orders by pays nothing for it.
   */
  orderedValues(from: string | undefined, descending: boolean): IterableIterator<string> {
    if (this.#ordered === undefined) {
      this.#ordered = new SortedList((value) => value)
      for (const value of [...this.#byValue.keys()].toSorted()) this.#ordered.insert(value, value)
    }
    return descending ? this.#ordered.backwards(from) : this.#ordered.forwards(from)
  }

  posting(value: string): PostingView | undefined {
    const found = this.#byValue.get(value)
    return typeof found === 'number' ? new SinglePosting(found % slotUnit) : found
  }

  /** One of the objects with this value, without the posting: for values that tell objects apart. */
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

  /** Makes `values` (repeated ones count once) all the values of the object. */
  set(id: ObjectId, values: readonly string[]): void {
    if (this.#unchanged(id, values)) return
    const own = distinct(values)
    if (own !== values && this.#unchanged(id, own)) return
    this.delete(id)
    const [first] = own
    if (first === undefined) return
    this.#objects += 1
    if (own.length === 1) {
      this.#positions[id] = 0
      this.#memberships[id] = this.#join(id, first, 0)
      return
    }
    // Of their final size from the start: arrays that grow keep room for a dozen more.
    const memberships: Membership[] = own.map(() => '')
    this.#memberships[id] = memberships
    this.#positions[id] = own.map(() => 0)
    let slot = 0
    for (const value of own) {
      memberships[slot] = this.#join(id, value, slot)
      slot += 1
    }
  }

  /** Takes the object out of the index. */
  delete(id: ObjectId): void {
    const membership = this.#memberships[id]
    if (membership === undefined) return
    this.#objects -= 1
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
      this.#byValue.set(value, slot * slotUnit + id)
      this.#ordered?.insert(value, value)
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

  /** The only object with a value is about to get company: its membership becomes the shared posting. */
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
    this.#byValue.delete(value)
    this.#ordered?.remove(value)
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

/** The posting of a value that one object has, made when it is read: of an index of names for each value that is looked for. */
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

/** The values, each once. */
function distinct(values: readonly string[]): readonly string[] {
  if (values.length < 2) return values
  const once = new Set(values)
  return once.size === values.length ? values : [...once]
}

function valueOf(membership: Membership): string {
  return typeof membership === 'string' ? membership : membership.value
}
