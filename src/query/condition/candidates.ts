/*
 * A condition bound to a store is an `IdSet`. It tests single ids, and it names candidates: the ids of the smallest postings
 * that cover its members. A read that has few candidates examines only these, else it walks the store. Here are the
 * interfaces and the steps that all sets share; `id-set.ts` makes the sets.
 */

import type { ObjectId, PostingView, StoreView } from '../../informer/store/store-view.ts'
import { type Condition, nothing } from './condition.ts'
import type { WorkBudget } from './work-budget.ts'

/** The objects of one store that meet a condition, valid within one tick. */
export interface IdSet {
  /** Set if the set is known to hold every object, so that testing is unnecessary. */
  readonly isWhole?: true
  /** Whether the object is a member. Takes constant time for each part of the condition. */
  has(id: ObjectId): boolean
  /**
   * A superset of the members, from the smallest postings that cover them. `undefined` if no index narrows them to
   * `limit` ids: then walk the store. Takes time in proportion to `limit`.
   */
  candidates(limit: number): Candidates | undefined
  /** The number of members, if the indexes know it without examining objects. */
  count(): number | undefined
}

/** Distinct ids that include the members of a set. */
export interface Candidates {
  readonly size: number
  /** The part of the condition that selects them. */
  readonly from: Condition
  /** Whether all of them are members, so that none needs a test. */
  readonly exact: boolean
  ids(): Iterable<ObjectId>
}

export const noCandidates: Candidates = {
  size: 0,
  from: nothing,
  exact: true,
  ids: () => [],
}

/** The ids of several postings; `undefined` if their sizes add up to more than `limit`. */
export function postingsOf(
  postings: readonly (PostingView | undefined)[],
  limit: number,
  from: Condition,
): Candidates | undefined {
  const present = postings.filter((posting) => posting !== undefined)
  const [first] = present
  if (first === undefined) return noCandidates
  const size = present.reduce((sum, posting) => sum + posting.size, 0)
  if (size > limit) return undefined
  return present.length === 1
    ? { size, from, exact: true, ids: () => first }
    : { size, from, exact: true, ids: () => merge(present) }
}

/** A set to enumerate: its candidates, or the whole store if there are none. */
export interface MemberSearch {
  readonly set: { has(id: ObjectId): boolean }
  readonly candidates: Candidates | undefined
  readonly view: StoreView
  readonly budget: WorkBudget
}

/** Calls `take` with each member of a set. Tests and pays for candidates as needed. Throws `QueryTooCostlyError`. */
export function eachMember(
  { set, candidates, view, budget }: MemberSearch,
  take: (id: ObjectId) => void,
): void {
  budget.spend('examined', candidates?.size ?? view.size)
  const areMembers = candidates?.exact === true
  for (const id of candidates?.ids() ?? view.ids()) if (areMembers || set.has(id)) take(id)
}

export function merge(parts: readonly Iterable<ObjectId>[]): ReadonlySet<ObjectId> {
  const ids = new Set<ObjectId>()
  for (const part of parts) for (const id of part) ids.add(id)
  return ids
}
