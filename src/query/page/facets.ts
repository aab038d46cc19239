import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { eachMember } from '../condition/candidates.ts'
import type { Condition } from '../condition/condition.ts'
import type { IdSet } from '../condition/id-set.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { FirstRows } from './first-rows.ts'

/** One value of an index, by its key, and how many objects have it. */
export interface ValueCount {
  readonly value: string
  readonly count: number
}

/** How objects are spread over the values of an index. */
export interface Spread {
  /** The most frequent first; among equals by value. */
  readonly values: readonly ValueCount[]
  /** Values that at least one of the objects has. */
  readonly distinctCount: number
  /** Objects without a value. */
  readonly missingCount: number
}

export interface SpreadOptions {
  readonly view: StoreView
  /** `undefined`: a label that no object has. */
  readonly index: IndexView | undefined
  /** The objects that count; `undefined`: all. */
  readonly members: Members | undefined
  readonly top: number
  readonly budget: WorkBudget
}

/**
 * Counts the values of an index by its postings: of all objects by their sizes, of some by which of their ids are members. Few
 * members are asked for their values instead. No object is looked at.
 */
export function spreadOf({ view, index, members, top, budget }: SpreadOptions): Spread {
  const total = members?.size ?? view.size
  if (index === undefined) return { values: [], distinctCount: 0, missingCount: total }
  const first = new FirstRows<ValueCount>(Math.max(1, top), compareCounts)
  let distinctCount = 0
  let having = 0
  const add = (value: string, count: number): void => {
    if (count === 0) return
    distinctCount += 1
    first.add({ value, count })
  }
  if (members === undefined) {
    for (const value of index.values()) {
      budget.spend('examined', examinedPerValue)
      add(value, index.posting(value)?.size ?? 0)
    }
    having = index.objectCount
  } else if (members.size * membersPerPosting < index.objectCount) {
    budget.spend('examined', members.size * membersPerPosting)
    const counts = new Map<string, number>()
    for (const id of members.ids()) {
      const values = index.valuesOf(id)
      if (values.length > 0) having += 1
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    for (const [value, count] of counts) add(value, count)
  } else {
    budget.spend('examined', index.objectCount)
    let places = 0
    for (const value of index.values()) {
      budget.spend('examined', examinedPerValue)
      const posting = index.posting(value)
      places += posting?.size ?? 0
      const count = posting === undefined ? 0 : members.countOf(posting)
      having += count
      add(value, count)
    }
    // Objects with several values have been counted several times.
    if (places > index.objectCount) {
      budget.spend('examined', places)
      having = membersWithValue(index, members)
    }
  }
  const values = top === 0 ? [] : first.rows()
  budget.spend('tests', testsPerAnswered * values.length)
  return {
    values,
    distinctCount,
    missingCount: total - having,
  }
}

function membersWithValue(index: IndexView, members: Members): number {
  const having = new Members()
  for (const value of index.values()) {
    for (const id of index.posting(value) ?? []) if (members.has(id)) having.add(id)
  }
  return having.size
}

/** A value and its count are answered in the time of so many tests. */
const testsPerAnswered = 3
/** Taking a value and its count takes as long as passing by so many ids of postings. */
const examinedPerValue = 3
/** Asking an object for its values takes as long as passing by so many ids of postings. */
const membersPerPosting = 8

function compareCounts(a: ValueCount, b: ValueCount): number {
  if (a.count !== b.count) return b.count - a.count
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

/** A set of ids as bits: to be asked a hundred thousand times a millisecond. */
export class Members {
  #bits = new Uint8Array(1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(id: ObjectId): boolean {
    return this.#bits[id] === 1
  }

  add(id: ObjectId): void {
    if (id >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bits.length, id + 1))
      larger.set(this.#bits)
      this.#bits = larger
    }
    if (this.#bits[id] === 1) return
    this.#bits[id] = 1
    this.#size += 1
  }

  /** How many of these are in the set. */
  countOf(ids: Iterable<ObjectId>): number {
    const bits = this.#bits
    let count = 0
    for (const id of ids) if (bits[id] === 1) count += 1
    return count
  }

  *ids(): IterableIterator<ObjectId> {
    for (let id = 0; id < this.#bits.length; id++) if (this.#bits[id] === 1) yield id
  }
}

/** A set whose members are wanted. */
export interface MembersOptions {
  readonly view: StoreView
  readonly set: IdSet
  /** What the set was made of. */
  readonly condition: Condition
  readonly budget: WorkBudget
}

/** The members of a set; what is tested is paid for. */
export function membersOf({ view, set, condition, budget }: MembersOptions): Members {
  const candidates = set.candidates(view.size)
  budget.report?.searched(condition, candidates?.from)
  const members = new Members()
  eachMember({ set, candidates, view, budget }, (id) => members.add(id))
  return members
}
