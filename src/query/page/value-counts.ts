/*
 * Counts the values of an index without examining objects. For all objects, it takes the sizes of the postings. For some, it
 * counts the members in each posting, or asks each member for its values if members are few.
 */

import type { IndexView, StoreView } from '../../informer/store/store-view.ts'
import { eachMember, type IdSet } from '../condition/candidates.ts'
import { type Condition, partsOf } from '../condition/condition.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

export interface Members {
  readonly view: StoreView
  /** The result of {@link membersOf}; `undefined`: all objects of the store. */
  readonly members: IdBytes | undefined
  readonly budget: WorkBudget
}

/**
 * Passes each value of an index and the number of members that have it to `add`, in no particular order. Returns the number
 * of members that have any value.
 */
export function countValues(
  index: IndexView,
  { members, budget }: Members,
  add: (value: string, count: number) => void,
): number {
  if (members === undefined) {
    for (const value of index.values()) {
      budget.spend('examined', examinedPerValue)
      add(value, index.posting(value)?.size ?? 0)
    }
    return index.objectCount
  }
  let having = 0
  if (members.size * examinedPerAsked < index.objectCount) {
    budget.spend('examined', members.size * examinedPerAsked)
    const counts = new Map<string, number>()
    for (const id of members.ids(1)) {
      const values = index.valuesOf(id)
      if (values.length > 0) having += 1
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    for (const [value, count] of counts) add(value, count)
    return having
  }
  budget.spend('examined', index.objectCount)
  let places = 0
  for (const value of index.values()) {
    budget.spend('examined', examinedPerValue)
    const posting = index.posting(value)
    places += posting?.size ?? 0
    const count = posting === undefined ? 0 : members.countOf(posting, 1)
    having += count
    if (count > 0) add(value, count)
  }
  if (places === index.objectCount) return having
  // Objects with several values were counted several times.
  budget.spend('examined', places)
  const withValue = new IdBytes()
  for (const value of index.values()) {
    for (const id of index.posting(value) ?? []) if (members.get(id) === 1) withValue.set(id, 1)
  }
  return withValue.size
}

/** Collecting a value and its count takes as long as passing so many ids of postings. */
const examinedPerValue = 3
/** Asking an object for its values takes as long as passing so many ids of postings. */
export const examinedPerAsked = 8

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
