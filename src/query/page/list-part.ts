/*
 * The visible objects of one kind in one cluster that meet a condition. Only `VisiblePart` joins the condition of a request
 * and the viewer's Scope: pages, counts and sums all read through it. Look-ups of single objects are at the end.
 *
 * `orderedRows` finds its first members in an order, without sorting the whole set. Either of two ways may be far slower than
 * the other: sorting the members is fast for few of them; walking all objects in order, which the indexes keep, and testing
 * each is fast if most are members, because the page is soon full. It sorts a set that is obviously small. Otherwise it walks,
 * and if that finds too little for its cost, it sorts the remaining members. A step of the walk costs several tests, so its
 * number of steps is limited to a fraction of the tests that sorting needs. Together they cost little more than the cheaper
 * way, without an estimate of how the condition and the order correlate.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type Candidates, eachMember, type IdSet } from '../condition/candidates.ts'
import {
  allOf,
  type Condition,
  everything,
  namespacesOf,
  partsOf,
  type RelatedStores,
  scopeCondition,
} from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
import { type Scope, isInScope, type NameGate } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { ListPosition } from './cursor.ts'
import {
  compareKeys,
  comparePositions,
  FirstRows,
  inKeyOrder,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  orderValue,
  positionOf,
} from './list-order.ts'
import { type NumberColumns, type Members, membersOf } from './sums.ts'

export interface WantedObjects {
  readonly view: StoreView
  /** The condition of the arguments and, on a connection, of the relation. */
  readonly condition: Condition
  readonly scope: Scope
  /** Needed by conditions on related objects. */
  readonly related?: RelatedStores | undefined
}

export interface ListPart extends WantedObjects {
  /** Unique among the parts, and the same on every replica. Parts are in the order of their names. */
  readonly name: string
  /** Set if the API server has ordered the objects and cut them to a page. Such a part is the only one of its list. */
  readonly served?: ServedRows
}

/** The rows of a page that an API server has cut. */
export interface ServedRows {
  readonly rows: readonly ObjectId[]
  readonly hasNextPage: boolean
  /** The position in the list from which the cursor of a row continues. */
  positionAt(position: number): ListPosition
  /** The number of rows on all pages. Throws if the server does not say it. */
  totalCount(): number
}

/** The visible objects of a part, bound to the store once they are read. */
export class VisiblePart<P extends WantedObjects = WantedObjects> {
  readonly part: P
  #columns: NumberColumns | undefined
  readonly #budget: WorkBudget
  #visible: BoundPart | undefined
  #members: Members | undefined

  constructor(part: P, budget: WorkBudget) {
    this.part = part
    this.#budget = budget
  }

  /** The columns of numbers that sums over this part have read. */
  get columns(): NumberColumns {
    return (this.#columns ??= new Map())
  }

  get #bound(): BoundPart {
    if (this.#visible === undefined) {
      const { view, condition: asked, scope, related } = this.part
      const budget = this.#budget
      const condition = allOf([asked, scopeCondition(scope)])
      const set = bindCondition(condition, view, budget, related)
      this.#visible = { view, set, condition, namespaces: namespacesOf(condition), budget }
      budget.report?.reading(view)
    }
    return this.#visible
  }

  /** The first objects behind a key, in key order. No object needs to have the key. */
  first(after: string | undefined, limit: number): readonly ObjectId[] {
    const rows = this.rows(
      byKey,
      after === undefined ? undefined : { values: [], key: after },
      limit,
    )
    this.#budget.report?.returned(rows.length)
    return rows
  }

  rows(order: ListOrder, after: OrderPosition | undefined, limit: number): readonly ObjectId[] {
    return orderedRows({ ...this.#bound, order, after, limit, mayEndEarly: false }).rows
  }

  /** As {@link rows}, but may end early: see {@link orderedRows}. */
  nextRows(order: ListOrder, after: OrderPosition | undefined, limit: number): OrderedRows {
    return orderedRows({ ...this.#bound, order, after, limit, mayEndEarly: true })
  }

  /** About how many visible objects have a value in an index, if the visible ones are spread evenly. */
  withValue(index: string, value: string | undefined): number {
    if (value === undefined) return 0
    const { view } = this.part
    const visibleCount = this.#bound.set.count() ?? 0
    const { size = 0 } = view.index(index).posting(value) ?? {}
    return Math.ceil((size * visibleCount) / Math.max(1, view.size))
  }

  count(): number {
    return this.#bound.set.count() ?? membersOf(this.#bound).size
  }

  members(): Members {
    if (this.#members === undefined) {
      const { view, set, budget } = this.#bound
      const members = set.count() === view.size ? undefined : membersOf(this.#bound)
      this.#members = { view, members, budget }
    }
    return this.#members
  }
}

const byKey: ListOrder = { terms: [], backwards: false }

/** The position in a part that a position in the list means. Ties are in the order of the parts, whatever their keys. */
export function startIn({ name }: Pick<ListPart, 'name'>, at: ListPosition): OrderPosition {
  if (name === at.part) return at
  return { values: at.values, key: name < at.part ? beyondAllKeys : '' }
}

/** Sorts after every key: namespaces and names are ASCII. */
export const beyondAllKeys = '\uffff/\uffff'

/** The visible objects of a part, bound to its store. */
interface BoundPart {
  readonly view: StoreView
  readonly set: IdSet
  /** The condition that the set was bound from. */
  readonly condition: Condition
  /** The namespaces that members can be in, sorted; `undefined`: any. */
  readonly namespaces: readonly string[] | undefined
  readonly budget: WorkBudget
}

interface OrderedRowsOptions extends BoundPart {
  readonly order: ListOrder
  /** Only members behind this position, which need not be that of an object. */
  readonly after: OrderPosition | undefined
  /** At least 1. */
  readonly limit: number
  /**
   * For a list that is merged with others, which may need only some of the rows: reading ends before a value that more
   * objects have than rows are wanted, unless it is the first one.
   */
  readonly mayEndEarly: boolean
}

interface OrderedRows {
  readonly rows: readonly ObjectId[]
  /** The value of the first term that reading ended before. Absent: there are `limit` rows, or no others. */
  readonly next?: ValueStart
}

/** Up to so many rows per wanted row, choosing a better way would cost more than it saves. */
const cheapRowsPerMember = 4

/** The first members of a set in an order. */
function orderedRows(options: OrderedRowsOptions): OrderedRows {
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
  for (const id of walk(options, 0, options.after)) {
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
  options: OrderedRowsOptions,
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
  /** Whether it tells each value of the first term before the objects that have it. */
  const tellsValues = options.mayEndEarly && level === 0
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
  options: OrderedRowsOptions,
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
  options: OrderedRowsOptions,
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

export interface LookupOptions {
  readonly view: StoreView
  readonly scope: Scope
  /** Further objects that the viewer may look up by name. */
  readonly byName?: NameGate | undefined
  readonly budget: WorkBudget
}

/** The object with a key; `undefined` if it does not exist or is not visible. */
export function objectByKey(options: LookupOptions, key: string): ObjectId | undefined {
  // Visibility is checked first, so that the time of the answer does not reveal whether the object exists.
  return reached(options, isVisible(options, key) ? options.view.idOf(key) : undefined)
}

/** The object with a UID; otherwise like {@link objectByKey}. `''` is not a UID. */
export function objectByUid(options: LookupOptions, uid: string): ObjectId | undefined {
  const { view } = options
  const id = uid === '' ? undefined : view.idOfUid(uid)
  return reached(options, id !== undefined && isVisible(options, view.keyOf(id)) ? id : undefined)
}

/**
 * The object with a UID and a key, whether or not the viewer may see it. A namesake that was created later does not count.
 * Kinds without UIDs have only the key.
 */
export function sameObject(view: StoreView, uid: string, key: string): ObjectId | undefined {
  return uid === '' ? view.idOf(key) : view.idOfUid(uid)
}

function isVisible({ scope, byName }: LookupOptions, key: string): boolean {
  return isInScope(scope, key) || byName?.allows(key) === true
}

function reached({ budget, view }: LookupOptions, id: ObjectId | undefined): ObjectId | undefined {
  budget.report?.reading(view)
  budget.report?.reached('key')
  budget.spend('examined', 1)
  if (id !== undefined) budget.report?.returned(1)
  return id
}
