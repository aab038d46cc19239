import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import { allOf, type Condition, namespacesOf } from '../condition/condition.ts'
import { decodeCursor, encodeCursor, type ListIdentity, listHash } from './cursor.ts'
import { bindCondition, type IdSet } from '../condition/id-set.ts'
import type { RelatedStores } from '../condition/related-by.ts'
import { type Members, membersOf, type Spread, spreadOf } from './facets.ts'
import {
  comparePositions,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  positionOf,
} from './list-order.ts'
import { orderedRows } from './ordered-rows.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { type Scope, scopeCondition } from '../condition/scope.ts'

export const defaultPageSize = 100
export const defaultMaxPageSize = 500

/** A page size below 0, above the largest one, or not whole. */
export class PageSizeError extends ArgumentError {
  constructor(argument: string, value: unknown, maxPageSize: number) {
    const isTooLarge = typeof value === 'number' && value > maxPageSize
    super(argument, `must be a whole number from 0 to ${maxPageSize}, not ${String(value)}`, {
      value,
      ...(isTooLarge
        ? {
            hint: `ask for a smaller page and go on with \`${argument === 'last' ? 'before' : 'after'}\``,
          }
        : {}),
    })
  }
}

/** A page that is asked for from both ends. */
export class PageBoundsError extends ArgumentError {
  constructor(last: number) {
    super('last', 'cannot be given together with `first`', {
      value: last,
      hint: 'ask for the first objects, with `after`, or for the last ones, with `before`',
    })
  }
}

/** The rows that a viewer asks for. */
export interface RowsOptions {
  readonly view: StoreView
  /** What the arguments and, on a connection, the relation ask for. */
  readonly condition: Condition
  readonly scope: Scope
  readonly budget: WorkBudget
  /** Needed by conditions on related objects. */
  readonly related?: RelatedStores | undefined
}

/** Which part of a list is asked for: its beginning or, where `last` is given, its end. */
export interface PageBounds {
  /** `defaultPageSize` where neither it nor `last` is given. Not with `last`. */
  readonly first?: number | null | undefined
  /** A cursor of the same list: only what comes behind it. */
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  /** A cursor of the same list: only what comes ahead of it. */
  readonly before?: string | null | undefined
}

export interface PageOptions extends RowsOptions, PageBounds {
  /** What the cursors are bound to. */
  readonly identity: ListIdentity
  /** The order; by namespace and name where empty or absent, and among equals. */
  readonly terms?: readonly OrderTerm[]
  readonly maxPageSize?: number
}

/** One page of a list. Valid within the tick: it holds ids, and counts when asked to. */
export interface Page {
  readonly ids: readonly ObjectId[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  /** What the list is known by on every replica, whatever its order. */
  listHash(): string
  /** The cursor of one of its objects. */
  cursorOf(id: ObjectId): string
  /** All objects of the list, on every page. May look at each of them: throws `QueryTooCostlyError`. */
  totalCount(): number
  /** How the objects on all pages are spread over an index. May look at each of them: throws `QueryTooCostlyError`. */
  spread(index: IndexView | undefined, top: number): Spread
}

/**
 * One page of the objects that meet a condition and that the viewer may see. Throws {@link PageSizeError},
 * {@link PageBoundsError}, `CursorError` and `QueryTooCostlyError`.
 */
export function listPage(options: PageOptions): Page {
  const { view, identity, terms = [], budget } = options
  const { size, backwards } = pageSizeOf(options, options.maxPageSize ?? defaultMaxPageSize)
  let hash: string | undefined
  const hashOnce = () => (hash ??= listHash(identity, budget))
  const after = positionAt(options.after, 'after', terms, hashOnce)
  const before = positionAt(options.before, 'before', terms, hashOnce)
  const order = { terms, backwards }
  const { set, namespaces, condition } = visible(options)
  budget.report?.reading(view)
  const [from, bound] = backwards ? [before, after] : [after, before]
  const found = orderedRows({
    view,
    set,
    condition,
    namespaces,
    order,
    after: from,
    limit: size + 1,
    budget,
  })
  const within = bound === undefined ? found : rowsAheadOf(bound, found, view, order)
  const isCut = within.length > size || within.length < found.length
  const ids = within.slice(0, size)
  if (backwards) ids.reverse()
  budget.report?.returned(ids.length, terms)
  let unordered: string | undefined
  let members: Members | undefined
  const isEverything = () => set.count() === view.size
  return {
    ids,
    hasNextPage: backwards ? before !== undefined : isCut,
    hasPreviousPage: backwards ? isCut : after !== undefined,
    listHash: () => (unordered ??= listHash({ ...identity, orderBy: null }, budget)),
    cursorOf: (id) => encodeCursor(hashOnce(), positionOf(view, terms, id), budget),
    totalCount: () =>
      from === undefined && bound === undefined && !isCut
        ? ids.length
        : countMembers(options, set, condition),
    spread(index, top) {
      if (!isEverything()) members ??= membersOf({ view, set, condition, budget })
      return spreadOf({ view, index, members, top, budget })
    },
  }
}

/** Of rows in an order, those that come ahead of a position. */
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
  cursor: string | null | undefined,
  argument: string,
  terms: readonly OrderTerm[],
  hash: () => string,
): OrderPosition | undefined {
  if (cursor === undefined || cursor === null) return undefined
  return decodeCursor(cursor, { hash: hash(), argument, terms: terms.length })
}

export interface KeyRowsOptions extends RowsOptions {
  /** Only what comes behind this key, or backwards ahead of it; the key need not be anybody's. */
  readonly after?: string | undefined
  /** Only what comes until this key. */
  readonly before?: string | undefined
  readonly backwards?: boolean
  /** At least 1. */
  readonly limit: number
}

/** The first objects, or backwards the last ones, in the order of their keys that meet a condition and that the viewer may see. */
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

/** The first object that meets a condition and that the viewer may see: what a field for one object answers. */
export function findObject(options: RowsOptions): ObjectId | undefined {
  return listRows({ ...options, limit: 1 })[0]
}

/** How many objects meet a condition and may be seen by the viewer. Throws `QueryTooCostlyError`. */
export function countObjects(options: RowsOptions): number {
  const { set, condition } = visible(options)
  return countMembers(options, set, condition)
}

function countMembers({ view, budget }: RowsOptions, set: IdSet, condition: Condition): number {
  const known = set.count()
  if (known !== undefined) return known
  return membersOf({ view, set, condition, budget }).size
}

/** The one place where what is asked for meets what may be seen. */
function visible({ view, condition, scope, budget, related }: RowsOptions): {
  set: IdSet
  condition: Condition
  namespaces: readonly string[] | undefined
} {
  const both = allOf([condition, scopeCondition(scope)])
  return {
    set: bindCondition(both, view, budget, related),
    condition: both,
    namespaces: namespacesOf(both),
  }
}

/** How many objects are asked for, and from which end. Throws {@link PageSizeError} and {@link PageBoundsError}. */
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

function checkedSize(argument: string, size: number, maxPageSize: number): number {
  if (Number.isInteger(size) && size >= 0 && size <= maxPageSize) return size
  throw new PageSizeError(argument, size, maxPageSize)
}

function isGiven(size: number | null | undefined): size is number {
  return size !== undefined && size !== null
}
