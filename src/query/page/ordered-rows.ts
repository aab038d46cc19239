import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type Candidates, eachMember } from '../condition/candidates.ts'
import { type Condition, everything } from '../condition/condition.ts'
import type { IdSet } from '../condition/id-set.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { FirstRows } from './first-rows.ts'
import { inKeyOrder } from './key-comparison.ts'
import { walkKeys } from './key-walk.ts'
import {
  comparePositions,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  orderValue,
  positionOf,
} from './list-order.ts'

export interface OrderedRowsOptions {
  readonly view: StoreView
  readonly set: IdSet
  /** What the set was made of. */
  readonly condition: Condition
  /** Outside these, sorted, the set has no members; `undefined`: anywhere. */
  readonly namespaces: readonly string[] | undefined
  readonly order: ListOrder
  /** Only members behind this position, which need not be anybody's. */
  readonly after: OrderPosition | undefined
  /** At least 1. */
  readonly limit: number
  readonly budget: WorkBudget
}

/** So many rows for each row wanted cost less than finding out whether there is a better way. */
const cheapRowsPerMember = 4

/**
 * The first members of a set in an order, without sorting the set. There are two ways, and neither is always good:
 *
 * - **Sorting** the members, found by the smallest postings that cover the set or by testing every object: good where they are few.
 * - **Walking** all objects in the wanted order, which the indexes keep anyway, and testing each: good where most of them are
 *   members, since the page is soon full.
 *
 * A set that is obviously small is sorted. Otherwise the walk begins; where it finds too little for what it costs, the rest is
 * sorted after all. A step of the walk costs some times as much as a test, so it may take as many as a part of what there is to be
 * tested: then both together never cost much more than the cheaper of the two, and nobody has to estimate how the condition and
 * the order go together.
 */
export function orderedRows(options: OrderedRowsOptions): readonly ObjectId[] {
  const { view, set, order, limit, budget } = options
  const cheapRows = cheapRowsPerMember * limit
  const few = set.candidates(cheapRows)
  if (few !== undefined) return sortedRows(few, options)
  const { condition, namespaces } = options
  const found: ObjectId[] = []
  // The store's own order is walked as fast as objects are tested in any other.
  const isByKey = order.terms.length === 0
  const candidates = set.candidates(view.size >> 1) ?? (isByKey ? undefined : allOf(view))
  // So many steps would fill the page if the members were spread evenly: where fewer have to be sorted, they are.
  if (candidates?.exact === true && candidates.size ** 2 < limit * view.size) {
    return sortedRows(candidates, options)
  }
  budget.report?.searched(condition, undefined, namespaces === undefined ? [] : ['namespace'])
  const steadily = candidates === undefined ? Infinity : candidates.size
  const allowed = Math.max(cheapRows, isByKey ? steadily : steadily / testsPerStep)
  let steps = 0
  for (const id of walk(options, 0, options.after)) {
    steps += 1
    budget.spend('examined', 1)
    if (id !== undefined) {
      found.push(id)
      if (found.length === limit) return found
    }
    if (steps < allowed || candidates === undefined) continue
    const last = found.at(-1)
    const after = last === undefined ? options.after : positionOf(view, order.terms, last)
    return [...found, ...sortedRows(candidates, { ...options, after, limit: limit - found.length })]
  }
  return found
}

/** So many objects are tested in the time of one step of a walk. */
const testsPerStep = 16

function allOf(view: StoreView): Candidates {
  return { size: view.size, from: everything, exact: false, ids: () => view.ids() }
}

/** An object and where it stands. */
interface Row {
  readonly id: ObjectId
  readonly position: OrderPosition
}

/** So many are most likely in the order of their keys, which is found out sooner than the first of them. */
const fewRows = 512

function sortedRows(
  candidates: Candidates,
  { view, set, order, after, limit, budget, condition }: OrderedRowsOptions,
): readonly ObjectId[] {
  budget.report?.searched(condition, candidates.from)
  const isFromStart = order.terms.length === 0 && !order.backwards && after === undefined
  if (isFromStart && candidates.size <= Math.max(limit, fewRows)) {
    const members: ObjectId[] = []
    eachMember({ set, candidates, view, budget }, (id) => members.push(id))
    const inOrder = inKeyOrder(members, view)
    return inOrder.length <= limit ? inOrder : inOrder.slice(0, limit)
  }
  budget.spend('examined', candidates.size)
  const first = new FirstRows<Row>(limit, (a, b) => comparePositions(a.position, b.position, order))
  const [term] = order.terms
  for (const id of candidates.ids()) {
    // Most objects are out by the first of their values already.
    const last = first.last?.position.values[0]
    if (term !== undefined && last !== undefined) {
      const value = orderValue(view, term, id)
      if (value !== last && isBehind(value, last, term.descending, order.backwards)) continue
    }
    if (!candidates.exact && !set.has(id)) continue
    const position = positionOf(view, order.terms, id)
    if (after === undefined || comparePositions(position, after, order) > 0) {
      first.add({ id, position })
    }
  }
  return first.rows().map(({ id }) => id)
}

/** Whether one value comes behind another in the order of a term; without a value is last, backwards first. */
function isBehind(
  value: string | undefined,
  other: string,
  descending: boolean,
  backwards: boolean,
): boolean {
  const forwards = value === undefined || value > other !== descending
  return forwards !== backwards
}

/** What the walk is restricted to at one level: the objects that are equal in all terms before. */
type Restriction = ((id: ObjectId) => boolean) | undefined

/**
 * The members of the set behind a position, in the order; `undefined` for each step that found none, so that whoever walks can
 * count the cost. Level by level: for each value of a term, the objects that have it, in the order of the other terms.
 */
function* walk(
  options: OrderedRowsOptions,
  level: number,
  after: OrderPosition | undefined,
  restriction?: Restriction,
): IterableIterator<ObjectId | undefined> {
  const { view, set, order, namespaces } = options
  const term = order.terms[level]
  if (term === undefined) {
    for (const id of walkKeys(view, namespaces, after?.key, order.backwards)) {
      yield (restriction === undefined || restriction(id)) && set.has(id) ? id : undefined
    }
    return
  }
  const from = after?.values[level]
  // Those without a value come last, and backwards first.
  const isInMissing = after !== undefined && from === undefined
  if (order.backwards && (after === undefined || isInMissing)) {
    yield* missing(options, level, term, after, restriction)
  }
  if (order.backwards || !isInMissing) {
    const descending = term.descending !== order.backwards
    for (const value of view
      .index(term.index)
      .orderedValues(isInMissing ? undefined : from, descending)) {
      const inner = value === from && !isInMissing ? after : undefined
      yield* withValue(options, level, term, value, inner, restriction)
    }
  }
  if (!order.backwards)
    yield* missing(options, level, term, isInMissing ? after : undefined, restriction)
}

/** So many objects are sorted rather than looked for in the order of the next term. */
const smallPosting = 512

function* withValue(
  options: OrderedRowsOptions,
  level: number,
  term: OrderTerm,
  value: string,
  after: OrderPosition | undefined,
  restriction: Restriction,
): IterableIterator<ObjectId | undefined> {
  const { view, order } = options
  const index = view.index(term.index)
  const posting = index.posting(value)
  if (posting === undefined) {
    yield undefined
    return
  }
  // An object with several values stands at the first of them only.
  const isMember = (id: ObjectId): boolean =>
    (restriction === undefined || restriction(id)) && orderValue(view, term, id) === value
  if (posting.size > smallPosting) {
    yield* walk(options, level + 1, after, (id) => index.has(id, value) && isMember(id))
    return
  }
  const members: Row[] = []
  for (const id of posting) {
    if (!isMember(id) || !options.set.has(id)) yield undefined
    else if (posting.size === 1 && after === undefined) yield id
    else members.push({ id, position: positionOf(view, order.terms, id) })
  }
  members.sort((a, b) => comparePositions(a.position, b.position, order))
  for (const { id, position } of members) {
    const isBehindStart = after === undefined || comparePositions(position, after, order) > 0
    yield isBehindStart ? id : undefined
  }
}

function* missing(
  options: OrderedRowsOptions,
  level: number,
  term: OrderTerm,
  after: OrderPosition | undefined,
  restriction: Restriction,
): IterableIterator<ObjectId | undefined> {
  const index = options.view.index(term.index)
  yield* walk(
    options,
    level + 1,
    after,
    (id) => index.valuesOf(id).length === 0 && (restriction === undefined || restriction(id)),
  )
}
