import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import {
  allOf,
  type Condition,
  namespacesOf,
  type RelatedStores,
  scopeCondition,
} from '../condition/condition.ts'
import {
  type CutValue,
  decodeCursor,
  encodeCursor,
  type ListIdentity,
  listHash,
  valueHash,
} from './cursor.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { IdSet } from '../condition/candidates.ts'
import type { IdBytes } from '../condition/id-bytes.ts'
import { type Spread, spreadOf } from './facets.ts'
import {
  comparePositions,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  orderValue,
  positionOf,
} from './list-order.ts'
import { orderedRows } from './ordered-rows.ts'
import { type ExactSum, type NumberColumns, sumOfIndex } from './sums.ts'
import { membersOf } from './value-counts.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { isInScope, type Scope } from '../condition/scope.ts'

export const defaultPageSize = 100

/** A page size is below 0, above the maximum, or not whole. */
export class PageSizeError extends ArgumentError {
  constructor(argument: string, value: unknown, maxPageSize: number) {
    const isTooLarge = typeof value === 'number' && value > maxPageSize
    super(argument, `must be a whole number from 0 to ${maxPageSize}, not ${String(value)}`, {
      value,
      ...(isTooLarge
        ? {
            hint: `request a smaller page and continue with \`${argument === 'last' ? 'before' : 'after'}\``,
          }
        : {}),
    })
  }
}

/** A page is requested from both ends. */
export class PageBoundsError extends ArgumentError {
  constructor(last: number) {
    super('last', 'cannot be given together with `first`', {
      value: last,
      hint: 'use `first` with `after`, or `last` with `before`',
    })
  }
}

/** An offset is below 0, or given together with another start of the page. */
export class PageOffsetError extends ArgumentError {
  constructor(value: number, other?: string) {
    const problem =
      other === undefined
        ? `must be a whole number from 0, not ${value}`
        : `cannot be given together with \`${other}\``
    const hint = 'jump with `offset`, and go on from there with `after`'
    super('offset', problem, { value, ...(other === undefined ? {} : { hint }) })
  }
}

export interface RowsOptions {
  readonly view: StoreView
  /** The condition of the arguments and, on a connection, of the relation. */
  readonly condition: Condition
  readonly scope: Scope
  readonly budget: WorkBudget
  /** Needed by conditions on related objects. */
  readonly related?: RelatedStores | undefined
}

/** The requested part of a list: its start or, with `last`, its end. */
export interface PageBounds {
  /** Defaults to `defaultPageSize` without `last`. Not allowed with `last`. */
  readonly first?: number | null | undefined
  /** A cursor of the same list: only rows behind it. */
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  /** A cursor of the same list: only rows before it. */
  readonly before?: string | null | undefined
}

/** How {@link listPage} finds the start of a page. */
export interface ListPageBounds extends PageBounds {
  /** The number of rows to skip. Not allowed with `after`, `last` and `before`. The budget pays for each. */
  readonly offset?: number | null | undefined
}

export interface PageOptions extends RowsOptions, ListPageBounds {
  /** What the cursors are bound to. */
  readonly identity: ListIdentity
  /** The order. Namespace and name break ties, and are the default. */
  readonly terms: readonly OrderTerm[]
  readonly maxPageSize: number
}

/** One page of rows in any form, valid within the tick. Counts are computed on request. */
export interface PageOf<R> {
  readonly rows: readonly R[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  cursorOf(row: R): string
  /** The number of rows on all pages. May examine each of them: throws `QueryTooCostlyError`. */
  totalCount(): number
}

/** One page of a list of one kind. */
export interface Page extends PageOf<ObjectId> {
  /** The namespaces that its objects can be in, sorted; `undefined`: any. */
  readonly namespaces?: readonly string[] | undefined
  /** Identifies the list on every replica, whatever its order. */
  listHash(): string
  /**
   * The distribution of the objects on all pages over an index, with the sums of numeric indexes for each of the `top`
   * values. May examine each of them: throws `QueryTooCostlyError`.
   */
  spread(index: IndexView | undefined, top: number, sums?: readonly IndexView[]): Spread
  /** The sum of a numeric index over the objects on all pages. Costs as much as {@link spread} does. */
  sum(index: IndexView): ExactSum
}

/**
 * One page of the visible objects that meet a condition. Throws {@link PageSizeError}, {@link PageBoundsError},
 * {@link PageOffsetError}, `CursorError` and `QueryTooCostlyError`.
 */
export function listPage(options: PageOptions): Page {
  const { view, identity, terms, budget } = options
  const { size, backwards } = pageSizeOf(options, options.maxPageSize)
  const skipped = Math.min(offsetOf(options), view.size)
  let hash: string | undefined
  const hashOnce = () => (hash ??= listHash(identity, budget))
  const after = positionAt(options, 'after', hashOnce)
  const before = positionAt(options, 'before', hashOnce)
  const order = { terms, backwards }
  const { set, namespaces, condition } = visible(options)
  budget.report?.reading(view)
  const [from, bound] = backwards ? [before, after] : [after, before]
  const read = (): readonly ObjectId[] =>
    orderedRows({
      view,
      set,
      condition,
      namespaces,
      order,
      after: from,
      limit: skipped + size + 1,
      budget,
    })
  const found = skipped === 0 ? read() : budget.because(farOffset, read)
  const within = bound === undefined ? found : rowsAheadOf(bound, found, view, order)
  const isCut = within.length > skipped + size || within.length < found.length
  const rows = within.slice(skipped, skipped + size)
  if (backwards) rows.reverse()
  budget.report?.returned(rows.length, terms)
  let unordered: string | undefined
  let members: IdBytes | undefined
  const columns: NumberColumns = new Map()
  const everyMember = () => {
    if (set.count() !== view.size) members ??= membersOf({ view, set, condition, budget })
    return { view, members, budget }
  }
  return {
    rows,
    hasNextPage: backwards ? before !== undefined : isCut,
    hasPreviousPage: backwards ? isCut : after !== undefined || Math.min(skipped, found.length) > 0,
    namespaces,
    listHash: () => (unordered ??= listHash({ ...identity, orderBy: null }, budget)),
    cursorOf: (id) => encodeCursor(hashOnce(), positionOf(view, terms, id), budget),
    totalCount: () =>
      from === undefined && bound === undefined && !isCut
        ? found.length
        : countMembers(options, set, condition),
    spread: (index, top, sums = []) => spreadOf({ index, sums, columns, ...everyMember() }, top),
    sum: (index) => sumOfIndex(index, everyMember()),
  }
}

export const farOffset = { argument: 'offset', hint: 'use a smaller offset, or narrow the list' }

function rowsAheadOf(
  bound: OrderPosition,
  rows: readonly ObjectId[],
  view: StoreView,
  order: ListOrder,
): readonly ObjectId[] {
  const end = rows.findIndex(
    (id) => comparePositions(positionOf(view, order.terms, id), bound, order) >= 0,
  )
  return end < 0 ? rows : rows.slice(0, end)
}

function positionAt(
  options: PageOptions,
  argument: 'after' | 'before',
  hash: () => string,
): OrderPosition | undefined {
  const cursor = options[argument]
  if (cursor === undefined || cursor === null) return undefined
  const { terms } = options
  const wholeValue = (key: string, cut: CutValue, at: number): string =>
    wholeValueOf(options, { key, cut, term: terms[at], argument })
  return decodeCursor(cursor, { hash: hash(), argument, terms: terms.length, wholeValue })
}

/**
 * The value of which a cursor has only the start: that of its object or, if that has another one or its part is gone,
 * about that value.
 */
export function wholeValueOf(
  part: Pick<RowsOptions, 'view' | 'scope'> | undefined,
  {
    key,
    cut: [start, known],
    term,
    argument,
  }: {
    readonly key: string
    readonly cut: CutValue
    readonly term: OrderTerm | undefined
    readonly argument: 'after' | 'before'
  },
): string {
  const isSeen = part !== undefined && isInScope(part.scope, key)
  const id = isSeen ? part.view.idOf(key) : undefined
  const value = isSeen && term && id !== undefined ? orderValue(part.view, term, id) : undefined
  if (value !== undefined && valueHash(value) === known) return value
  // The object is gone or has changed: the page repeats objects with the same start rather than skip some.
  const isLow = (term?.descending === true) === (argument === 'before')
  return isLow ? start : `${start}\uffff`
}

export interface KeyRowsOptions extends RowsOptions {
  /** Only objects behind this key; backwards, before it. No object needs to have the key. */
  readonly after?: string | undefined
  /** Only objects up to this key. */
  readonly before?: string | undefined
  readonly backwards?: boolean
  /** At least 1. */
  readonly limit: number
}

/** The first visible objects that meet a condition, in key order; backwards, the last ones. */
export function listRows(options: KeyRowsOptions): readonly ObjectId[] {
  const { view, limit, budget, after, before, backwards = false } = options
  const order = { terms: [], backwards }
  const from = after === undefined ? undefined : { values: [], key: after }
  budget.report?.reading(view)
  const found = orderedRows({ view, ...visible(options), order, after: from, limit, budget })
  const rows =
    before === undefined ? found : rowsAheadOf({ values: [], key: before }, found, view, order)
  budget.report?.returned(rows.length)
  return rows
}

/** The first visible object that meets a condition: the answer of a field for one object. */
export function findObject(options: RowsOptions): ObjectId | undefined {
  return listRows({ ...options, limit: 1 })[0]
}

/** The number of visible objects that meet a condition. Throws `QueryTooCostlyError`. */
export function countObjects(options: RowsOptions): number {
  const { set, condition } = visible(options)
  return countMembers(options, set, condition)
}

export function countMembers(
  { view, budget }: RowsOptions,
  set: IdSet,
  condition: Condition,
): number {
  const known = set.count()
  if (known !== undefined) return known
  return membersOf({ view, set, condition, budget }).size
}

/** The objects that a request may see: the request's condition and the viewer's Scope, bound to the store. */
export interface VisibleSet {
  readonly set: IdSet
  readonly condition: Condition
  readonly namespaces: readonly string[] | undefined
}

/** The only place where the request's condition and the viewer's Scope are combined. */
export function visible({ view, condition, scope, budget, related }: RowsOptions): VisibleSet {
  const both = allOf([condition, scopeCondition(scope)])
  return {
    set: bindCondition(both, view, budget, related),
    condition: both,
    namespaces: namespacesOf(both),
  }
}

/** The requested page size and end. Throws {@link PageSizeError} and {@link PageBoundsError}. */
export function pageSizeOf(
  { first, last }: PageBounds,
  maxPageSize: number,
): { readonly size: number; readonly backwards: boolean } {
  if (isGiven(first) && isGiven(last)) throw new PageBoundsError(last)
  if (isGiven(last)) return { size: checkedSize('last', last, maxPageSize), backwards: true }
  const size = isGiven(first)
    ? checkedSize('first', first, maxPageSize)
    : Math.min(defaultPageSize, maxPageSize)
  return { size, backwards: false }
}

/** The number of rows to skip. Throws {@link PageOffsetError}. */
export function offsetOf({ offset, ...others }: ListPageBounds): number {
  if (!isGiven(offset)) return 0
  const other = (['after', 'last', 'before'] as const).find(
    (name) => (others[name] ?? null) !== null,
  )
  if (other !== undefined || !Number.isInteger(offset) || offset < 0) {
    throw new PageOffsetError(offset, other)
  }
  return offset
}

function checkedSize(argument: string, size: number, maxPageSize: number): number {
  if (Number.isInteger(size) && size >= 0 && size <= maxPageSize) return size
  throw new PageSizeError(argument, size, maxPageSize)
}

function isGiven(size: number | null | undefined): size is number {
  return size !== undefined && size !== null
}
