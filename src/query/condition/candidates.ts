import type { ObjectId, PostingView, StoreView } from '../../informer/store/store-view.ts'
import { type Condition, nothing } from './condition.ts'
import type { WorkBudget } from './work-budget.ts'

/** Ids, each of them once, and how many at most. */
export interface Candidates {
  readonly size: number
  /** The part of the condition that names them. */
  readonly from: Condition
  /** Whether all of them are members, so that none has to be tested. */
  readonly exact: boolean
  ids(): Iterable<ObjectId>
}

/** Of a condition that no object meets. */
export const noCandidates: Candidates = {
  size: 0,
  from: nothing,
  exact: true,
  ids: () => [],
}

/** The ids of several postings; `undefined` where their sizes add up to more than `limit`. */
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

/** What members are looked for in: the candidates of a set, or the whole store where it names none. */
export interface MemberSearch {
  readonly set: { has(id: ObjectId): boolean }
  readonly candidates: Candidates | undefined
  readonly view: StoreView
  readonly budget: WorkBudget
}

/** Hands out the members of a set one by one, each tested where that is needed; paid for. Throws `QueryTooCostlyError`. */
export function eachMember(
  { set, candidates, view, budget }: MemberSearch,
  take: (id: ObjectId) => void,
): void {
  budget.spend('examined', candidates?.size ?? view.size)
  const areMembers = candidates?.exact === true
  for (const id of candidates?.ids() ?? view.ids()) if (areMembers || set.has(id)) take(id)
}

/** Each id once. */
export function merge(parts: readonly Iterable<ObjectId>[]): ReadonlySet<ObjectId> {
  const ids = new Set<ObjectId>()
  for (const part of parts) for (const id of part) ids.add(id)
  return ids
}
