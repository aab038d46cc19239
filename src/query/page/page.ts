/*
 * A list consists of parts, merged in an order. A part is the objects of one kind in one cluster that meet a condition. Most
 * lists have one part, whose rows need no merging: the page reads them straight from the indexes, as ids, without an object
 * for each row. From several parts, the page reads only as many rows as it wants, and compares the next rows of all parts
 * (`mergedRows`). Either page tells the part of each row, makes cursors, and counts and adds up the whole list.
 */

import type { IndexView, ObjectId } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import { isInScope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import {
  type ListIdentity,
  type ListPosition,
  encodeCursor,
  listHash,
  positionIn,
  valueHash,
} from './cursor.ts'
import {
  FirstRows,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  compareKeys,
  comparePositions,
  compareValues,
  orderValue,
  positionOf,
} from './list-order.ts'
import { type ListPart, VisiblePart, beyondAllKeys, startIn } from './list-part.ts'
import { type ExactSum, type Spread, spreadOf, sumOfIndex } from './sums.ts'

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
  readonly identity: ListIdentity
  readonly maxPageSize: number
}

/** One page of rows in any form, valid within the tick. Counts are computed on request. */
export interface PageOf<R> {
  readonly rows: readonly R[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
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

export interface Page<P extends ListPart = ListPart> extends PageOf<ObjectId> {
  readonly parts: readonly P[]
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
  const whole = (): number => sorted.reduce((sum, { view }) => sum + view.size, 0)
  const skipped = offset === 0 ? 0 : Math.min(offset, whole())
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
    /**
     * The value of the cursor's object. If the object has another value by now, or its part is gone: a value beside the cut
     * one.
     */
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
  { first = null, last = null }: PageBounds,
  maxPageSize: number,
): { readonly size: number; readonly backwards: boolean } {
  if (first !== null && last !== null) {
    throw new ArgumentError('last', 'cannot be given together with `first`', {
      value: last,
      hint: 'use `first` with `after`, or `last` with `before`',
    })
  }
  const size = last ?? first ?? Math.min(defaultPageSize, maxPageSize)
  const backwards = last !== null
  if (Number.isInteger(size) && size >= 0 && size <= maxPageSize) return { size, backwards }
  const problem = `must be a whole number from 0 to ${maxPageSize}, not ${size}`
  const hint = `request a smaller page and continue with \`${backwards ? 'before' : 'after'}\``
  throw new ArgumentError(backwards ? 'last' : 'first', problem, {
    value: size,
    ...(size > maxPageSize ? { hint } : {}),
  })
}

/** The number of rows to skip. Throws `ArgumentError`. */
export function offsetOf({ offset = null, ...others }: ListPageBounds): number {
  if (offset === null) return 0
  const other = (['after', 'last', 'before'] as const).find(
    (name) => (others[name] ?? null) !== null,
  )
  if (other === undefined && Number.isInteger(offset) && offset >= 0) return offset
  const problem =
    other === undefined
      ? `must be a whole number from 0, not ${offset}`
      : `cannot be given together with \`${other}\``
  const hint = 'jump with `offset`, and go on from there with `after`'
  throw new ArgumentError('offset', problem, {
    value: offset,
    ...(other === undefined ? {} : { hint }),
  })
}

/**
 * A page of rows that are values, such as results of a search. `found`: the rows from the beginning of the page, one more than
 * `size` if there are others.
 */
export function pageOfValues<R>(of: {
  readonly found: readonly R[]
  readonly size: number
  readonly hasPreviousPage: boolean
  readonly cursorOf: (row: R) => string
  readonly totalCount: () => number
}): PageOf<R> {
  const { found, size, hasPreviousPage, cursorOf, totalCount } = of
  const rows = found.slice(0, size)
  return {
    rows,
    hasNextPage: found.length > size,
    hasPreviousPage,
    cursorAt(position) {
      const row = rows[position]
      if (row === undefined) throw new RangeError(`the page has no row ${position}`)
      return cursorOf(row)
    },
    totalCount,
  }
}

/**
 * The page behind a position of rows that are values, and are all known. `rows`: in no order. `hash`: that of the list, for
 * the cursors.
 */
export function pageAfter<R>(of: {
  readonly rows: readonly R[]
  readonly positionOf: (row: R) => OrderPosition
  readonly order: ListOrder
  readonly from: OrderPosition | undefined
  readonly size: number
  readonly hash: string
  readonly budget: WorkBudget
}): PageOf<R> {
  const { rows, positionOf: at, order, from, size, hash, budget } = of
  const first = new FirstRows<R>(size + 1, (a, b) => comparePositions(at(a), at(b), order))
  for (const row of rows) {
    if (from === undefined || comparePositions(at(row), from, order) > 0) first.add(row)
  }
  return pageOfValues({
    found: first.rows(),
    size,
    hasPreviousPage: from !== undefined,
    cursorOf: (row) => encodeCursor(hash, { part: '', ...at(row) }, budget),
    totalCount: () => rows.length,
  })
}

interface FoundRows<P extends ListPart> {
  readonly ids: readonly ObjectId[]
  /** The part of each row. Absent: all rows are from one part. */
  readonly places?: readonly P[]
}

/** The first rows of all parts, which are in the order of their names, behind a position. */
function mergedRows<P extends ListPart>(
  parts: readonly VisiblePart<P>[],
  order: ListOrder,
  after: ListPosition | undefined,
  limit: number,
): FoundRows<P> {
  const ordered = order.backwards ? parts.toReversed() : parts
  const [term] = order.terms
  const ids: ObjectId[] = []
  const places: P[] = []
  const add = (part: P, id: ObjectId): void => {
    ids.push(id)
    places.push(part)
  }
  if (term === undefined) {
    for (const visiblePart of ordered) {
      const { part } = visiblePart
      if (ids.length === limit) break
      // All rows of a part may be before the position, in the order of the parts.
      const isOther = after !== undefined && part.name !== after.part
      if (isOther && part.name < after.part !== order.backwards) continue
      const from = after && startIn(part, after)
      for (const id of visiblePart.rows(order, from, limit - ids.length)) add(part, id)
    }
    return { ids, places }
  }
  const share = Math.min(limit, Math.ceil(limit / ordered.length) + spareRows)
  const heads = new Heads<P>(order, term)
  for (const visiblePart of ordered) {
    const from = after && startIn(visiblePart.part, after)
    heads.add(headsOf(visiblePart, { order, term, after: from, limit: share }))
  }
  while (ids.length < limit) {
    const row = heads.next(limit - ids.length)
    if (row === undefined) break
    add(row.part, row.id)
  }
  return { ids, places }
}

/** The first read of each part takes so many rows more than its share. */
const spareRows = 4

/** The next row of a part or, while it is not read yet, a place at or before it: its value of the first term. */
interface Head<P extends ListPart> {
  readonly part: P
  readonly position: OrderPosition
  readonly id: ObjectId | undefined
}

interface HeadsOptions {
  readonly order: ListOrder
  readonly term: OrderTerm
  readonly after: OrderPosition | undefined
  /** The number of rows that the first read takes. */
  readonly limit: number
}

/**
 * The heads of a part in order. Each read takes twice as many rows as the one before. If many objects share a value, their
 * rows are read only once they may be next. Each step receives the number of rows that the page still wants from all parts.
 */
function* headsOf<P extends ListPart>(
  visiblePart: VisiblePart<P>,
  { order, term, after, limit: share }: HeadsOptions,
): Generator<Head<P>, void, number> {
  const { part } = visiblePart
  const isTied = order.terms.length === 1
  // The first value behind the position. `undefined`: objects without a value come first.
  const start = after?.values[0]
  const isInMissing = start === undefined && (order.backwards || after !== undefined)
  let value: string | undefined
  if (!isInMissing) {
    const descending = term.descending !== order.backwards
    ;[value] = part.view.index(term.index).orderedValues(start, descending)
  }
  let from = after
  for (let limit = share; ; limit *= 2) {
    const wanted = yield { part, position: { values: [value], key: '' }, id: undefined }
    // Equal rows of one part follow each other.
    if (isTied) limit = Math.max(limit, Math.min(wanted, visiblePart.withValue(term.index, value)))
    const { rows, next } = visiblePart.nextRows(order, from, limit)
    for (const id of rows) {
      from = positionOf(part.view, order.terms, id)
      yield { part, id, position: from }
    }
    if (next === undefined && rows.length < limit) return
    if (next === undefined) [value] = from?.values ?? []
    else {
      ;({ value } = next)
      if (isTied) from = { values: [value], key: order.backwards ? beyondAllKeys : '' }
    }
  }
}

/** The next row of a part, and the rows behind it. */
interface NextRow<P extends ListPart> {
  head: Head<P>
  readonly heads: Generator<Head<P>, void, number>
}

/**
 * The next row of each part, the first one last. A part is read only once its rows may be next: if many objects share the first
 * value, one part after the other.
 */
class Heads<P extends ListPart> {
  readonly #order: ListOrder
  readonly #byFirst: ListOrder
  readonly #sorted: NextRow<P>[] = []

  constructor(order: ListOrder, first: OrderTerm) {
    this.#order = order
    this.#byFirst = { ...order, terms: [first] }
  }

  add(heads: Generator<Head<P>, void, number>): void {
    const { value: head } = heads.next()
    if (head !== undefined) this.#put({ head, heads })
  }

  /** The next row; `undefined` behind the last one. `wanted`: the number of rows that the page still wants. */
  next(wanted: number): { readonly part: P; readonly id: ObjectId } | undefined {
    for (let top = this.#sorted.pop(); top !== undefined; top = this.#sorted.pop()) {
      const { id, part } = top.head
      const { value: following } = top.heads.next(wanted)
      if (following !== undefined) {
        top.head = following
        this.#put(top)
      }
      if (id !== undefined) return { part, id }
    }
    return undefined
  }

  #put(one: NextRow<P>): void {
    const sorted = this.#sorted
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = sorted[middle]
      if (other !== undefined && this.#isBefore(one.head, other.head)) low = middle + 1
      else high = middle
    }
    sorted.splice(low, 0, one)
  }

  #isBefore(one: Head<P>, other: Head<P>): boolean {
    if (one.id !== undefined && other.id !== undefined) {
      const byValues = compareValues(one.position, other.position, this.#order)
      if (byValues !== 0) return byValues < 0
      const [a, b] = [one.part.name, other.part.name]
      const isForwards = a === b ? compareKeys(one.position.key, other.position.key) < 0 : a < b
      return isForwards !== this.#order.backwards
    }
    const byFirst = compareValues(one.position, other.position, this.#byFirst)
    if (byFirst !== 0) return byFirst < 0
    // The order of the parts decides, unless further values may: a part that is not read does not know them yet.
    const isOneRead = one.id !== undefined
    if (this.#order.terms.length > 1 && isOneRead === (other.id === undefined)) return !isOneRead
    return one.part.name < other.part.name !== this.#order.backwards
  }
}
