/*
 * The first members of a set in an order, without sorting the whole set. Either of two ways may be far slower than the
 * other: sorting the members is fast for few of them; walking all objects in order, which the indexes keep, and testing each
 * is fast if most are members, because the page is soon full. `orderedRows` sorts a set that is obviously small. Otherwise
 * it walks, and if that finds too little for its cost, it sorts the remaining members. A step of the walk costs several
 * tests, so its number of steps is limited to a fraction of the tests that sorting needs. Together they cost little more
 * than the cheaper way, without an estimate of how the condition and the order correlate.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type Candidates, eachMember, type IdSet } from '../condition/candidates.ts'
import { type Condition, everything, partsOf } from '../condition/condition.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import {
  compareKeys,
  comparePositions,
  inKeyOrder,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  orderValue,
  positionOf,
} from './list-order.ts'

export interface OrderedRowsOptions {
  readonly view: StoreView
  readonly set: IdSet
  /** The condition that the set was bound from. */
  readonly condition: Condition
  /** The namespaces that members can be in, sorted; `undefined`: any. */
  readonly namespaces: readonly string[] | undefined
  readonly order: ListOrder
  /** Only members behind this position, which need not be that of an object. */
  readonly after: OrderPosition | undefined
  /** At least 1. */
  readonly limit: number
  readonly budget: WorkBudget
}

export interface OrderedRows {
  readonly rows: readonly ObjectId[]
  /** The value of the first term that reading ended before. Absent: there are `limit` rows, or no others. */
  readonly next?: ValueStart
}

/** Up to so many rows per wanted row, choosing a better way would cost more than it saves. */
const cheapRowsPerMember = 4

/**
 * The first members of a set in an order. With `mayEndEarly`, for a list that is merged with others, which may need only some
 * of the rows, reading ends before a value that more objects have than rows are wanted, unless it is the first one.
 */
export function orderedRows(options: OrderedRowsOptions, mayEndEarly: boolean): OrderedRows {
  const { view, set, order, limit, budget } = options
  const isDeep = limit > fewRows
  const cheapRows = cheapRowsPerMember * Math.min(limit, fewRows)
  const few = set.candidates(cheapRows)
  if (few !== undefined) return { rows: sortedRows(few, options) }
  const { condition, namespaces } = options
  const found: ObjectId[] = []
  // The store's own order is as fast to walk as any enumeration.
  const isByKey = order.terms.length === 0
  const candidates =
    set.candidates(view.size >> 1) ??
    (isByKey
      ? undefined
      : { size: view.size, from: everything, exact: false, ids: () => view.ids() })
  // If members were spread evenly, so many steps would fill the page. Fewer candidates than that are sorted.
  if (candidates?.exact === true && candidates.size ** 2 < limit * view.size) {
    return { rows: sortedRows(candidates, options) }
  }
  budget.report?.searched(
    partsOf(condition),
    undefined,
    namespaces === undefined ? [] : ['namespace'],
  )
  const steadily = candidates === undefined ? Infinity : candidates.size
  const allowed = Math.max(cheapRows, isByKey || isDeep ? steadily : steadily / testsPerStep)
  const testsPerRow = isDeep && !isByKey ? testsPerOrderedRow : 0
  let steps = 0
  for (const id of walk({ ...options, tellsValues: mayEndEarly }, 0, options.after)) {
    steps += 1
    budget.spend('examined', 1)
    if (typeof id === 'object') {
      if (found.length > 0 && id.size > limit - found.length) return { rows: found, next: id }
      continue
    }
    if (id !== undefined) {
      budget.spend('tests', testsPerRow)
      found.push(id)
      if (found.length === limit) return { rows: found }
    }
    if (steps < allowed || candidates === undefined) continue
    const last = found.at(-1)
    const after = last === undefined ? options.after : positionOf(view, order.terms, last)
    const others = sortedRows(candidates, { ...options, after, limit: limit - found.length })
    return { rows: [...found, ...others] }
  }
  return { rows: found }
}

/** Testing so many objects takes as long as one step of a walk. */
const testsPerStep = 16

interface Row {
  readonly id: ObjectId
  readonly position: OrderPosition
}

/**
 * So few are most likely in key order, which is faster to check than to select the first. A page that ends further
 * behind is deep: most of its cost is to order the rows before it.
 */
const fewRows = 512

/** The tests that each ordered row costs on the way to a deep page. */
const testsPerOrderedRow = 8

function sortedRows(
  candidates: Candidates,
  { view, set, order, after, limit, budget, condition }: OrderedRowsOptions,
): readonly ObjectId[] {
  budget.report?.searched(partsOf(condition), partsOf(candidates.from))
  if (limit > fewRows) budget.spend('tests', testsPerOrderedRow * candidates.size)
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
    // The first value alone rules out most objects.
    const last = first.last?.position.values[0]
    if (term !== undefined && last !== undefined) {
      const value = orderValue(view, term, id)
      // Missing values come last; read backwards, first.
      const isBehind = value === undefined || value > last !== term.descending
      if (value !== last && isBehind !== order.backwards) continue
    }
    if (!candidates.exact && !set.has(id)) continue
    const position = positionOf(view, order.terms, id)
    if (after === undefined || comparePositions(position, after, order) > 0) {
      first.add({ id, position })
    }
  }
  return first.rows().map(({ id }) => id)
}

interface WalkOptions extends OrderedRowsOptions {
  /** Whether the walk tells each value of the first term before the objects that have it. */
  readonly tellsValues: boolean
}

/** A value of the first term, and the number of objects that have it. */
interface ValueStart {
  readonly value: string | undefined
  readonly size: number
}

/** Restricts a walk to objects that are equal in all earlier terms. */
type Restriction = ((id: ObjectId) => boolean) | undefined

/**
 * The members behind a position, in order; `undefined` for each step without a member, so that the caller can count
 * steps. Works level by level: for each value of a term, it walks the objects with that value in the order of the
 * remaining terms.
 */
function* walk(
  options: WalkOptions,
  level: number,
  after: OrderPosition | undefined,
  restriction?: Restriction,
): IterableIterator<ObjectId | ValueStart | undefined> {
  const { view, set, order, namespaces } = options
  const term = order.terms[level]
  if (term === undefined) {
    for (const id of walkKeys(view, namespaces, after?.key, order.backwards)) {
      yield (restriction === undefined || restriction(id)) && set.has(id) ? id : undefined
    }
    return
  }
  const from = after?.values[level]
  const index = view.index(term.index)
  const tellsValues = options.tellsValues && level === 0
  // Objects without a value come last; read backwards, first.
  const isInMissing = after !== undefined && from === undefined
  if (order.backwards && (after === undefined || isInMissing)) {
    yield* missing(options, level, term, after, restriction)
  }
  if (order.backwards || !isInMissing) {
    const descending = term.descending !== order.backwards
    for (const value of index.orderedValues(isInMissing ? undefined : from, descending)) {
      if (tellsValues) yield { value, size: index.posting(value)?.size ?? 0 }
      const inner = value === from && !isInMissing ? after : undefined
      yield* withValue(options, level, term, value, inner, restriction)
    }
  }
  if (order.backwards) return
  if (tellsValues) yield { value: undefined, size: view.size - index.objectCount }
  yield* missing(options, level, term, isInMissing ? after : undefined, restriction)
}

/** Up to so many objects are sorted instead of walked by the next term. */
const smallPosting = 512

/** A posting with more objects than this for each wanted row is not sorted as a whole. */
const manyPerRow = 4

function* withValue(
  options: WalkOptions,
  level: number,
  term: OrderTerm,
  value: string,
  after: OrderPosition | undefined,
  restriction: Restriction,
): IterableIterator<ObjectId | ValueStart | undefined> {
  const { view, order } = options
  const index = view.index(term.index)
  const posting = index.posting(value)
  if (posting === undefined) {
    yield undefined
    return
  }
  // An object with several values counts at the first one only.
  const isMember = (id: ObjectId): boolean =>
    (restriction === undefined || restriction(id)) && orderValue(view, term, id) === value
  if (posting.size > smallPosting) {
    yield* walk(options, level + 1, after, (id) => index.has(id, value) && isMember(id))
    return
  }
  if (posting.size > manyPerRow * options.limit) {
    // Few of them are wanted: the others need no order.
    const first = new FirstRows<Row>(options.limit, (a, b) =>
      comparePositions(a.position, b.position, order),
    )
    for (const id of posting) {
      if (!isMember(id) || !options.set.has(id)) {
        yield undefined
        continue
      }
      const position = positionOf(view, order.terms, id)
      if (after === undefined || comparePositions(position, after, order) > 0) {
        first.add({ id, position })
      }
    }
    for (const { id } of first.rows()) yield id
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
  options: WalkOptions,
  level: number,
  term: OrderTerm,
  after: OrderPosition | undefined,
  restriction: Restriction,
): IterableIterator<ObjectId | ValueStart | undefined> {
  const index = options.view.index(term.index)
  yield* walk(
    options,
    level + 1,
    after,
    (id) => index.valuesOf(id).length === 0 && (restriction === undefined || restriction(id)),
  )
}

/** Collects the first `limit` rows in an order, without sorting the rest. */
export class FirstRows<T> {
  readonly #limit: number
  readonly #capacity: number
  readonly #compare: (a: T, b: T) => number
  #rows: T[] = []
  /** The last of the first `limit` rows, once there are so many. Rows after it are skipped. */
  #last: T | undefined

  /** `limit` is at least 1. */
  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit
    this.#capacity = Math.max(64, 2 * limit)
    this.#compare = compare
  }

  /** The last of the first `limit` rows known so far. Rows after it need not be added. */
  get last(): T | undefined {
    return this.#last
  }

  add(row: T): void {
    if (this.#last !== undefined && this.#compare(row, this.#last) >= 0) return
    this.#rows.push(row)
    if (this.#rows.length >= this.#capacity) this.#cut()
  }

  /** The rows in order; at most `limit`. */
  rows(): readonly T[] {
    this.#cut()
    return this.#rows
  }

  #cut(): void {
    this.#rows.sort(this.#compare)
    if (this.#rows.length < this.#limit) return
    this.#rows.length = this.#limit
    this.#last = this.#rows.at(-1)
  }
}

/**
 * Walks the objects of a store by namespace and name, forwards or backwards: those of some namespaces (sorted), or all.
 * Starts behind `after`, which need not exist.
 */
function* walkKeys(
  view: StoreView,
  namespaces: readonly string[] | undefined,
  after: string | undefined,
  backwards: boolean,
): IterableIterator<ObjectId> {
  if (namespaces === undefined) {
    if (backwards) yield* view.idsBefore(after)
    else yield* after === undefined ? view.ids() : view.idsAfter(after)
    return
  }
  const index = view.index('namespace')
  for (const namespace of backwards ? namespaces.toReversed() : namespaces) {
    if (index.posting(namespace) === undefined) continue
    const bound = backwards ? `${namespace}/${beyondAllNames}` : `${namespace}/`
    const isInside = after !== undefined && compareKeys(after, bound) > 0 !== backwards
    const from = isInside ? after : bound
    for (const id of backwards ? view.idsBefore(from) : view.idsAfter(from)) {
      if (!index.has(id, namespace)) break
      yield id
    }
  }
}

/** Sorts after every object name: names are ASCII. */
const beyondAllNames = '\uffff'
