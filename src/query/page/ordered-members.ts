import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Candidates, IdSet } from '../condition/id-set.ts'
import { compareKeys } from './key-comparison.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { SmallestKeys } from './smallest-keys.ts'

export interface OrderedMembersOptions {
  readonly view: StoreView
  readonly set: IdSet
  /** Outside these, sorted, the set has no members; `undefined`: anywhere. */
  readonly namespaces: readonly string[] | undefined
  /** Only members after this key, which need not exist. */
  readonly after: string | undefined
  /** At least 1. */
  readonly limit: number
  readonly budget: WorkBudget
}

/** So many rows for each row wanted cost less than finding out whether there is a better way. */
const cheapRowsPerMember = 4

/**
 * The first members of a set in the order of namespace, then name. A small set is sorted. A large one is walked in the
 * order that the store keeps anyway, since a page is soon full; where the walk finds too little, the rest is taken from the
 * smallest postings after all. So it never examines much more than twice the smaller of the two.
 */
export function orderedMembers(options: OrderedMembersOptions): ObjectId[] {
  const { view, set, namespaces, after, limit, budget } = options
  const cheapRows = cheapRowsPerMember * limit
  const few = set.candidates(cheapRows)
  if (few !== undefined) return smallestMembers(few, options)

  const found: ObjectId[] = []
  const walkSize = sizeOfWalk(view, namespaces)
  let candidates: Candidates | undefined
  let examined = 0
  let allowed = cheapRows
  for (const id of walk(view, namespaces, after)) {
    budget.spend('examined', 1)
    examined += 1
    if (set.has(id)) {
      found.push(id)
      if (found.length === limit) return found
    }
    if (examined < allowed) continue
    const isFirstDecision = candidates === undefined
    candidates ??= set.candidates(walkSize >> 1)
    if (candidates === undefined) {
      allowed = Number.POSITIVE_INFINITY
      continue
    }
    const missing = limit - found.length
    if (isFirstDecision && (missing * walkSize) / candidates.size < candidates.size) {
      allowed += candidates.size
      continue
    }
    const rest = { ...options, after: view.keyOf(id), limit: missing }
    return [...found, ...smallestMembers(candidates, rest)]
  }
  return found
}

function smallestMembers(
  candidates: Candidates,
  { view, set, after, limit, budget }: OrderedMembersOptions,
): ObjectId[] {
  budget.spend('examined', candidates.size)
  const smallest = new SmallestKeys(limit)
  for (const id of candidates.ids()) {
    if (!set.has(id)) continue
    const key = view.keyOf(id)
    if (after === undefined || compareKeys(key, after) > 0) smallest.add(id, key)
  }
  return smallest.ids()
}

function sizeOfWalk(view: StoreView, namespaces: readonly string[] | undefined): number {
  if (namespaces === undefined) return view.size
  const index = view.index('namespace')
  return namespaces.reduce((sum, namespace) => sum + (index.posting(namespace)?.size ?? 0), 0)
}

function* walk(
  view: StoreView,
  namespaces: readonly string[] | undefined,
  after: string | undefined,
): IterableIterator<ObjectId> {
  if (namespaces === undefined) {
    yield* after === undefined ? view.ids() : view.idsAfter(after)
    return
  }
  const index = view.index('namespace')
  for (const namespace of namespaces) {
    if (index.posting(namespace) === undefined) continue
    const before = `${namespace}/`
    const from = after !== undefined && compareKeys(after, before) > 0 ? after : before
    for (const id of view.idsAfter(from)) {
      if (!index.has(id, namespace)) break
      yield id
    }
  }
}
