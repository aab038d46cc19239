import type { IndexView, ObjectId } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { isInScope } from '../condition/scope.ts'
import {
  encodeCursor,
  type ListIdentity,
  type ListPosition,
  listHash,
  positionIn,
  valueHash,
} from './cursor.ts'
import { comparePositions, type OrderTerm, orderValue, positionOf } from './list-order.ts'
import { type ListPart, startIn, VisiblePart } from './list-part.ts'
import { type FoundRows, mergedRows } from './merged-rows.ts'
import { type ExactSum, type Spread, spreadOf, sumOfIndex } from './sums.ts'

/*
 * A list is parts, each the objects of one kind in one cluster that meet a condition, merged in an order. Most lists have
 * one part, whose rows need no merging: they are read straight from its indexes, as ids, without an object for each row.
 * A page of either says of which part each row is, makes cursors, and counts and adds up all objects of the list.
 */

export const defaultPageSize = 100

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

export interface PageOptions<P extends ListPart> extends ListPageBounds {
  readonly parts: readonly P[]
  /** The order, by indexes that all parts have. The part's name, namespace and name break ties, and are the default. */
  readonly terms?: readonly OrderTerm[]
  readonly budget: WorkBudget
  /** What the cursors are bound to. */
  readonly identity: ListIdentity
  readonly maxPageSize: number
}

/** One page of rows in any form, valid within the tick. Counts are computed on request. */
export interface PageOf<R> {
  readonly rows: readonly R[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  /** The cursor of the row at a position of the page. */
  cursorAt(position: number): string
  /** The number of rows on all pages. May examine each of them: throws `QueryTooCostlyError`. */
  totalCount(): number
}

/** The indexes of a part that {@link Page.spread} reads. */
interface SpreadIndexes {
  /** `undefined`: a label that no object has. */
  readonly index: IndexView | undefined
  /** The numeric indexes to add up for each value. All parts have as many. */
  readonly sums?: readonly IndexView[]
}

/** One page of a list. */
export interface Page<P extends ListPart = ListPart> extends PageOf<ObjectId> {
  readonly parts: readonly P[]
  /** The part that has the row at a position of the page. */
  partAt(position: number): P
  /** The number of objects of each part on all pages. As `totalCount`. */
  counts(): readonly { readonly part: P; readonly count: number }[]
  /**
   * The distribution of the objects on all pages over an index, with the sums of numeric indexes for each of the `top`
   * values. May examine each of them: throws `QueryTooCostlyError`.
   */
  spread(indexesOf: (part: P) => SpreadIndexes, top: number): Spread
  /** The sums of a numeric index over the objects of each part. Costs as much as {@link spread} does. */
  sums(indexOf: (part: P) => IndexView): readonly ExactSum[]
}

/**
 * One page of the visible objects of some parts that meet their conditions. Reads only as many rows of each part as the
 * page needs. Cursors into a part that is gone continue behind it. Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function listPage<P extends ListPart>(options: PageOptions<P>): Page<P> {
  const { budget, identity, terms = [] } = options
  const { size, backwards } = pageSizeOf(options, options.maxPageSize)
  const offset = offsetOf(options)
  let hash: string | undefined
  const hashOnce = (): string => (hash ??= listHash(identity, budget))
  const servedBy = options.parts[0]?.served
  if (servedBy !== undefined) {
    if (budget.report !== undefined) budget.report.now.returned += servedBy.rows.length
    return new FoundPage({
      rows: servedBy.rows,
      hasNextPage: servedBy.hasNextPage,
      hasPreviousPage: (options.after ?? null) !== null,
      parts: options.parts,
      visible: [],
      total: () => servedBy.totalCount(),
      cursorOf: (_part, _id, at) => encodeCursor(hashOnce(), servedBy.positionAt(at), budget),
    })
  }
  const after = positionAt(options, 'after', hashOnce)
  const before = positionAt(options, 'before', hashOnce)
  const [from, bound] = backwards ? [before, after] : [after, before]
  const order = { terms, backwards }
  const sorted =
    options.parts.length < 2
      ? options.parts
      : options.parts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const parts = sorted.map((part) => new VisiblePart(part, budget))
  const skipped = offset === 0 ? 0 : Math.min(offset, sizeOf(sorted))
  const limit = skipped + size + 1
  const [only] = parts
  const read = (): FoundRows<P> =>
    only !== undefined && parts.length === 1
      ? { ids: only.rows(order, from && startIn(only.part, from), limit) }
      : mergedRows(parts, order, from, limit)
  const found = skipped === 0 ? read() : budget.because(farOffset, read)
  const { ids, places } = found
  const partOf = (at: number): P => places?.[at] ?? (sorted[0] as P)
  const isBeyond = (to: ListPosition, id: ObjectId, at: number): boolean => {
    const part = partOf(at)
    return comparePositions(positionOf(part.view, terms, id), startIn(part, to), order) >= 0
  }
  const beyond = bound === undefined ? -1 : ids.findIndex((id, at) => isBeyond(bound, id, at))
  const end = beyond < 0 ? ids.length : beyond
  const isCut = end > skipped + size || end < ids.length
  const last = Math.min(end, skipped + size)
  const onPage = skipped === 0 && last === ids.length ? ids : ids.slice(skipped, last)
  const rows = backwards ? onPage.toReversed() : onPage
  const placed = places?.slice(skipped, last)
  if (backwards) placed?.reverse()
  budget.report?.returned(rows.length, terms)
  return new FoundPage({
    rows,
    places: placed,
    hasNextPage: backwards ? before !== undefined : isCut,
    hasPreviousPage: backwards ? isCut : after !== undefined || Math.min(skipped, ids.length) > 0,
    parts: sorted,
    visible: parts,
    // The page is the whole list.
    total: from === undefined && bound === undefined && !isCut ? () => ids.length : undefined,
    cursorOf: (part, id) =>
      encodeCursor(hashOnce(), { part: part.name, ...positionOf(part.view, terms, id) }, budget),
  })
}

const farOffset = { argument: 'offset', hint: 'use a smaller offset, or narrow the list' }

function sizeOf(parts: readonly ListPart[]): number {
  return parts.reduce((sum, { view }) => sum + view.size, 0)
}

interface FoundPageOptions<P extends ListPart> extends Pick<
  Page<P>,
  'rows' | 'hasNextPage' | 'hasPreviousPage' | 'parts'
> {
  /** The part of each row. Absent: the only one. */
  readonly places?: readonly P[] | undefined
  readonly visible: readonly VisiblePart<P>[]
  /** The number of rows on all pages, where the page has all of them. */
  readonly total: (() => number) | undefined
  readonly cursorOf: (part: P, id: ObjectId, position: number) => string
}

class FoundPage<P extends ListPart> implements Page<P> {
  readonly rows: readonly ObjectId[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly parts: readonly P[]
  readonly #of: FoundPageOptions<P>

  constructor(of: FoundPageOptions<P>) {
    this.rows = of.rows
    this.hasNextPage = of.hasNextPage
    this.hasPreviousPage = of.hasPreviousPage
    this.parts = of.parts
    this.#of = of
  }

  partAt(position: number): P {
    const part = this.#of.places?.[position] ?? this.parts[0]
    if (part === undefined) throw new RangeError(`the page has no row ${position}`)
    return part
  }

  cursorAt(position: number): string {
    const id = this.rows[position]
    if (id === undefined) throw new RangeError(`the page has no row ${position}`)
    return this.#of.cursorOf(this.partAt(position), id, position)
  }

  totalCount(): number {
    return this.#of.total?.() ?? this.counts().reduce((sum, { count }) => sum + count, 0)
  }

  counts(): readonly { readonly part: P; readonly count: number }[] {
    return this.#of.visible.map((one) => ({ part: one.part, count: one.count() }))
  }

  spread(indexesOf: (part: P) => SpreadIndexes, top: number): Spread {
    const parts = this.#of.visible.map((one) => {
      const { index, sums = [] } = indexesOf(one.part)
      return { index, sums, columns: one.columns, ...one.members() }
    })
    return spreadOf(parts, top)
  }

  sums(indexOf: (part: P) => IndexView): readonly ExactSum[] {
    return this.#of.visible.map((one) => sumOfIndex(indexOf(one.part), one.members()))
  }
}

function positionAt(
  { parts, terms = [], ...options }: PageOptions<ListPart>,
  argument: 'after' | 'before',
  hash: () => string,
): ListPosition | undefined {
  const cursor = options[argument]
  if (cursor === undefined || cursor === null) return undefined
  return positionIn(cursor, {
    hash: hash(),
    argument,
    terms: terms.length,
    /** That of its object or, if that has another one or its part is gone, about the cut value. */
    wholeValue({ part: name, key }, [start, known], at) {
      const part = parts.find((one) => one.name === name)
      const term = terms[at]
      const isSeen = part !== undefined && isInScope(part.scope, key)
      const id = isSeen ? part.view.idOf(key) : undefined
      const value = isSeen && term && id !== undefined ? orderValue(part.view, term, id) : undefined
      if (value !== undefined && valueHash(value) === known) return value
      // The object is gone or has changed: the page repeats objects with the same start rather than skip some.
      const isLow = (term?.descending === true) === (argument === 'before')
      return isLow ? start : `${start}\uffff`
    },
  })
}

/** The requested page size and end. Throws `ArgumentError`. */
export function pageSizeOf(
  { first, last }: PageBounds,
  maxPageSize: number,
): { readonly size: number; readonly backwards: boolean } {
  if (isGiven(first) && isGiven(last)) {
    throw new ArgumentError('last', 'cannot be given together with `first`', {
      value: last,
      hint: 'use `first` with `after`, or `last` with `before`',
    })
  }
  if (isGiven(last)) return { size: checkedSize('last', last, maxPageSize), backwards: true }
  const size = isGiven(first)
    ? checkedSize('first', first, maxPageSize)
    : Math.min(defaultPageSize, maxPageSize)
  return { size, backwards: false }
}

/** The number of rows to skip. Throws `ArgumentError`. */
export function offsetOf({ offset, ...others }: ListPageBounds): number {
  if (!isGiven(offset)) return 0
  const other = (['after', 'last', 'before'] as const).find(
    (name) => (others[name] ?? null) !== null,
  )
  if (other !== undefined) {
    const hint = 'jump with `offset`, and go on from there with `after`'
    const problem = `cannot be given together with \`${other}\``
    throw new ArgumentError('offset', problem, { value: offset, hint })
  }
  if (!Number.isInteger(offset) || offset < 0) {
    const problem = `must be a whole number from 0, not ${offset}`
    throw new ArgumentError('offset', problem, { value: offset })
  }
  return offset
}

function checkedSize(argument: string, size: number, maxPageSize: number): number {
  if (Number.isInteger(size) && size >= 0 && size <= maxPageSize) return size
  const problem = `must be a whole number from 0 to ${maxPageSize}, not ${size}`
  const next = argument === 'last' ? 'before' : 'after'
  const hint =
    size > maxPageSize ? `request a smaller page and continue with \`${next}\`` : undefined
  throw new ArgumentError(argument, problem, { value: size, hint })
}

function isGiven(size: number | null | undefined): size is number {
  return size !== undefined && size !== null
}
