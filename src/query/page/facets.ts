import type { IndexView, StoreView } from '../../informer/store/store-view.ts'
import { eachMember, type IdSet } from '../condition/candidates.ts'
import { type Condition, partsOf } from '../condition/condition.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { FirstRows } from './ordered-rows.ts'

/** A key of an index, and the number of objects that have it. */
interface ValueCount {
  readonly value: string
  readonly count: number
}

/** The distribution of objects over the values of an index. */
export interface Spread {
  /** The most frequent first; equally frequent ones by value. */
  readonly values: readonly ValueCount[]
  readonly distinctCount: number
  /** Objects without a value. */
  readonly missingCount: number
}

interface SpreadOptions {
  readonly view: StoreView
  /** `undefined`: a label that no object has. */
  readonly index: IndexView | undefined
  /** The objects to count, of {@link membersOf}; `undefined`: all. */
  readonly members: IdBytes | undefined
  readonly top: number
  readonly budget: WorkBudget
}

/**
 * Counts the values of an index without examining objects. For all objects, it takes the sizes of the postings. For
 * some, it counts the members in each posting, or asks each member for its values if members are few.
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
    for (const id of members.ids(1)) {
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
      const count = posting === undefined ? 0 : members.countOf(posting, 1)
      having += count
      add(value, count)
    }
    // Objects with several values were counted several times.
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

/** The sum of distributions over the objects of several stores, each of all values. */
export function mergedSpread(spreads: readonly Spread[], top: number): Spread {
  const counts = new Map<string, number>()
  let missingCount = 0
  for (const spread of spreads) {
    missingCount += spread.missingCount
    for (const { value, count } of spread.values) {
      counts.set(value, (counts.get(value) ?? 0) + count)
    }
  }
  const first = new FirstRows<ValueCount>(Math.max(1, top), compareCounts)
  for (const [value, count] of counts) first.add({ value, count })
  return { values: top === 0 ? [] : first.rows(), distinctCount: counts.size, missingCount }
}

function membersWithValue(index: IndexView, members: IdBytes): number {
  const having = new IdBytes()
  for (const value of index.values()) {
    for (const id of index.posting(value) ?? []) if (members.get(id) === 1) having.set(id, 1)
  }
  return having.size
}

/** Answering a value and its count takes as long as so many tests. */
const testsPerAnswered = 3
/** Collecting a value and its count takes as long as passing so many ids of postings. */
const examinedPerValue = 3
/** Asking an object for its values takes as long as passing so many ids of postings. */
const membersPerPosting = 8

function compareCounts(a: ValueCount, b: ValueCount): number {
  if (a.count !== b.count) return b.count - a.count
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

interface MembersOptions {
  readonly view: StoreView
  readonly set: IdSet
  /** The condition that the set was bound from. */
  readonly condition: Condition
  readonly budget: WorkBudget
}

/** Collects the members of a set, each with the number 1. The budget pays for tests. */
export function membersOf({ view, set, condition, budget }: MembersOptions): IdBytes {
  const candidates = set.candidates(view.size)
  budget.report?.searched(partsOf(condition), partsOf(candidates?.from))
  const members = new IdBytes()
  if (candidates?.exact === true) {
    budget.spend('examined', candidates.size)
    members.setAll(candidates.ids(), 1)
  } else {
    eachMember({ set, candidates, view, budget }, (id) => members.set(id, 1))
  }
  return members
}
