import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Candidates, IdSet } from '../condition/id-set.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { FirstRows } from './first-rows.ts'
import { walkKeys } from './key-walk.ts'
import {
  comparePositions,
  type ListOrder,
  type OrderPosition,
  orderValue,
  positionOf,
} from './list-order.ts'

export interface OrderedRowsOptions {
  readonly view: StoreView
  readonly set: IdSet
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
 * - **Sorting** the smallest postings that cover the set: good where they are small.
 * - **Walking** all objects in the wanted order, which the indexes keep anyway, and testing each: good where most of them are
 *   members, since the page is soon full.
 *
 * A set that is obviously small is sorted. Otherwise the walk begins; where it finds too little for what it costs, the smallest
 * postings are looked up after all, and whichever is cheaper from there on does the rest. So it never examines much more than
 * twice the smaller of the two, and nobody has to estimate how the condition and the order go together.
 */
export function orderedRows(options: OrderedRowsOptions): ObjectId[] {
  const { view, set, order, limit, budget } = options
  const cheapRows = cheapRowsPerMember * limit
  const few = set.candidates(cheapRows)
  if (few !== undefined) return sortedRows(few, options)

  const found: ObjectId[] = []
  let candidates: Candidates | undefined
  let isDecided = false
  let examined = 0
  let allowed = cheapRows
  for (const id of walk(options, 0, options.after)) {
    examined += 1
    budget.spend('examined', 1)
    if (id !== undefined && set.has(id)) {
      found.push(id)
      if (found.length === limit) return found
    }
    if (examined < allowed || isDecided) continue
    candidates ??= set.candidates(view.size >> 1)
    if (candidates === undefined) {
      isDecided = true
      continue
    }
    const wanted = limit - found.length
    if (allowed === cheapRows && (wanted * view.size) / candidates.size < candidates.size) {
      allowed += candidates.size
      continue
    }
    const last = found.at(-1)
    const after = last === undefined ? options.after : positionOf(view, order.terms, last)
    return [...found, ...sortedRows(candidates, { ...options, after, limit: wanted })]
  }
  return found
}

function sortedRows(
  candidates: Candidates,
  { view, set, order, after, limit, budget }: OrderedRowsOptions,
): ObjectId[] {
  budget.spend('examined', candidates.size)
  const first = new FirstRows<Row>(limit, (a, b) => comparePositions(a.position, b.position, order))
  for (const id of candidates.ids()) {
    if (!set.has(id)) continue
    const position = positionOf(view, order.terms, id)
    if (after === undefined || comparePositions(position, after, order) > 0) {
      first.add({ id, position })
    }
  }
  return first.rows().map(({ id }) => id)
}

/** An object and where it stands. */
interface Row {
  readonly id: ObjectId
  readonly position: OrderPosition
}

/** What the walk is restricted to at one level: the objects that are equal in all terms before. */
type Restriction = ((id: ObjectId) => boolean) | undefined

/**
 * All objects of the store behind a position, in the order; `undefined` for each step that found none, so that whoever walks
 * can count the cost. Level by level: for each value of a term, the objects that have it, in the order of the other terms.
 */
function* walk(
  options: OrderedRowsOptions,
  level: number,
  after: OrderPosition | undefined,
  restriction?: Restriction,
): IterableIterator<ObjectId | undefined> {
  const { view, order, namespaces } = options
  const term = order.terms[level]
  if (term === undefined) {
    for (const id of walkKeys(view, namespaces, after?.key, order.backwards)) {
      yield restriction === undefined || restriction(id) ? id : undefined
    }
    return
  }
  const from = after?.values[level]
  // Those without a value come last, and backwards first.
  const isInMissing = after !== undefined && from === undefined
  if (order.backwards && (after === undefined || isInMissing)) {
    yield* missing(options, level, after, restriction)
  }
  if (order.backwards || !isInMissing) {
    const descending = term.descending !== order.backwards
    for (const value of view
      .index(term.index)
      .orderedValues(isInMissing ? undefined : from, descending)) {
      const inner = value === from && !isInMissing ? after : undefined
      yield* withValue(options, level, value, inner, restriction)
    }
  }
  if (!order.backwards) yield* missing(options, level, isInMissing ? after : undefined, restriction)
}

/** So many objects are sorted rather than looked for in the order of the next term. */
const smallPosting = 512

function* withValue(
  options: OrderedRowsOptions,
  level: number,
  value: string,
  after: OrderPosition | undefined,
  restriction: Restriction,
): IterableIterator<ObjectId | undefined> {
  const { view, order } = options
  const term = order.terms[level]
  if (term === undefined) return
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
    if (!isMember(id)) yield undefined
    else members.push({ id, position: positionOf(view, order.terms, id) })
  }
  members.sort((a, b) => comparePositions(a.position, b.position, order))
  for (const { id, position } of members) {
    const isBehind = after === undefined || comparePositions(position, after, order) > 0
    yield isBehind ? id : undefined
  }
}

function* missing(
  options: OrderedRowsOptions,
  level: number,
  after: OrderPosition | undefined,
  restriction: Restriction,
): IterableIterator<ObjectId | undefined> {
  const { view, order } = options
  const term = order.terms[level]
  if (term === undefined) return
  const index = view.index(term.index)
  yield* walk(
    options,
    level + 1,
    after,
    (id) => index.valuesOf(id).length === 0 && (restriction === undefined || restriction(id)),
  )
}
