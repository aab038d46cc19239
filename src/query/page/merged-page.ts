import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition, RelatedStores } from '../condition/condition.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { Scope } from '../condition/scope.ts'
import {
  type CutValue,
  encodeTypedCursor,
  type ListIdentity,
  listHash,
  splitTypedKey,
  type TypedPosition,
  typedPositionAt,
} from './cursor.ts'
import { mergedSpread, type Spread, type Tally, tallyOf } from './facets.ts'
import {
  compareKeys,
  compareValues,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  positionOf,
} from './list-order.ts'
import { nextRows, type OrderedRows, orderedRows, type OrderedRowsOptions } from './ordered-rows.ts'
import { addedSums, type ExactSum, type NumberColumns, sumOfIndex } from './sums.ts'
import { type Members, membersOf } from './value-counts.ts'
import {
  countMembers,
  farOffset,
  type ListPageBounds,
  offsetOf,
  type PageOf,
  pageSizeOf,
  visible,
  type VisibleSet,
  wholeValueOf,
} from './page.ts'

/** The objects of one kind in one cluster, in a list over several of them. */
export interface MergedPart {
  /** Unique among the parts, and the same on every replica. Parts are in the order of their names. */
  readonly name: string
  readonly view: StoreView
  readonly condition: Condition
  readonly scope: Scope
  /** Needed by conditions on related objects. */
  readonly related?: RelatedStores | undefined
}

export interface MergedPageOptions<P extends MergedPart> extends ListPageBounds {
  readonly parts: readonly P[]
  /** The order, by indexes that all parts have. The part's name, namespace and name break ties, and are the default. */
  readonly terms?: readonly OrderTerm[]
  readonly budget: WorkBudget
  readonly identity: ListIdentity
  readonly maxPageSize: number
}

export interface MergedRow<P extends MergedPart = MergedPart> {
  readonly part: P
  readonly id: ObjectId
}

/** One page of a list of several parts. */
export interface MergedPage<P extends MergedPart = MergedPart> extends PageOf<MergedRow<P>> {
  /** The number of objects of each part on all pages. As `totalCount`. */
  counts(): readonly { readonly part: P; readonly count: number }[]
  /** As `Page.spread`, over the objects of all parts. `indexOf`: the index of a part; `sumsOf`: those to add up. */
  spread(
    indexOf: (part: P) => IndexView | undefined,
    top: number,
    sumsOf?: (part: P) => readonly IndexView[],
  ): Spread
  /** As `Page.sum`, over the objects of all parts. */
  sum(indexOf: (part: P) => IndexView): ExactSum
  /** The same for the objects of each part. */
  sums(indexOf: (part: P) => IndexView): readonly ExactSum[]
}

/**
 * One page of a list of several parts. Merges the ordered rows of the parts: reads only as many rows of each as the page
 * needs, and compares each with the next ones of the others. Cursors into a part that is gone continue behind it. Throws
 * as `listPage` does.
 */
export function listMergedPage<P extends MergedPart>(options: MergedPageOptions<P>): MergedPage<P> {
  const { budget, identity, terms = [] } = options
  const { size, backwards } = pageSizeOf(options, options.maxPageSize)
  const skipped = offsetOf(options)
  let hash: string | undefined
  const hashOnce = (): string => (hash ??= listHash(identity, budget))
  const parts = options.parts
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((part) => new VisiblePart(part, budget))
  const positionAt = (argument: 'after' | 'before'): TypedPosition | undefined => {
    const cursor = options[argument]
    if (cursor === undefined || cursor === null) return undefined
    const wholeValue = (text: string, cut: CutValue, at: number): string => {
      const { type, key } = splitTypedKey(text) ?? { type: '', key: '' }
      const found = parts.find(({ part }) => part.name === type)
      return wholeValueOf(found?.part, { key, cut, term: terms[at], argument })
    }
    const context = { hash: hashOnce(), argument, terms: terms.length, wholeValue }
    return typedPositionAt(cursor, context)
  }
  const [after, before] = [positionAt('after'), positionAt('before')]
  const [from, bound] = backwards ? [before, after] : [after, before]
  const order = { terms, backwards }
  const wanted = skipped + size + 1
  const read = (): readonly PositionedRow<P>[] => mergedRows(parts, order, from, wanted)
  const found = skipped === 0 ? read() : budget.because(farOffset, read)
  const end =
    bound === undefined ? -1 : found.findIndex((row) => comparePlaces(row, bound, order) >= 0)
  const within = end < 0 ? found : found.slice(0, end)
  const isCut = within.length > skipped + size || within.length < found.length
  const rows = within.slice(skipped, skipped + size).map(({ part, id }) => ({ part, id }))
  if (backwards) rows.reverse()
  budget.report?.returned(rows.length, terms)
  const counts = (): readonly { readonly part: P; readonly count: number }[] =>
    parts.map((one) => ({ part: one.part, count: one.count() }))
  return {
    rows,
    hasNextPage: backwards ? before !== undefined : isCut,
    hasPreviousPage: backwards ? isCut : after !== undefined || Math.min(skipped, found.length) > 0,
    cursorOf: ({ part, id }) =>
      encodeTypedCursor(
        hashOnce(),
        { type: part.name, ...positionOf(part.view, terms, id) },
        budget,
      ),
    counts,
    totalCount: () =>
      from === undefined && bound === undefined && !isCut
        ? found.length
        : counts().reduce((sum, { count }) => sum + count, 0),
    spread: (indexOf, top, sumsOf = () => []) =>
      mergedSpread(
        parts.map((one) => one.tally(indexOf(one.part), sumsOf(one.part))),
        top,
      ),
    sum: (indexOf) => addedSums(parts.map((one) => one.sum(indexOf(one.part)))),
    sums: (indexOf) => parts.map((one) => one.sum(indexOf(one.part))),
  }
}

/** A part, and its visible objects, bound to the store once they are read. */
class VisiblePart<P extends MergedPart> {
  readonly part: P
  readonly #budget: WorkBudget
  readonly #columns: NumberColumns = new Map()
  #visible: VisibleSet | undefined
  #members: Members | undefined

  constructor(part: P, budget: WorkBudget) {
    this.part = part
    this.#budget = budget
  }

  get #bound(): VisibleSet {
    if (this.#visible === undefined) {
      this.#budget.report?.reading(this.part.view)
      this.#visible = visible({ ...this.part, budget: this.#budget })
    }
    return this.#visible
  }

  rows(order: ListOrder, after: OrderPosition | undefined, limit: number): readonly ObjectId[] {
    return orderedRows(this.#rowsOptions(order, after, limit))
  }

  /** As `nextRows`. */
  nextRows(order: ListOrder, after: OrderPosition | undefined, limit: number): OrderedRows {
    return nextRows(this.#rowsOptions(order, after, limit))
  }

  /** About so many visible objects have a value in an index, if the visible ones are spread evenly. */
  withValue(index: string, value: string | undefined): number {
    if (value === undefined) return 0
    const { view } = this.part
    const visibleCount = this.#bound.set.count() ?? 0
    const { size = 0 } = view.index(index).posting(value) ?? {}
    return Math.ceil((size * visibleCount) / Math.max(1, view.size))
  }

  count(): number {
    const { set, condition } = this.#bound
    return countMembers({ ...this.part, budget: this.#budget }, set, condition)
  }

  tally(index: IndexView | undefined, sums: readonly IndexView[]): Tally {
    return tallyOf({ index, sums, columns: this.#columns, ...this.#everyMember() })
  }

  sum(index: IndexView): ExactSum {
    return sumOfIndex(index, this.#everyMember())
  }

  #rowsOptions(
    order: ListOrder,
    after: OrderPosition | undefined,
    limit: number,
  ): OrderedRowsOptions {
    const { view } = this.part
    return { view, ...this.#bound, order, after, limit, budget: this.#budget }
  }

  #everyMember(): Members {
    if (this.#members === undefined) {
      const { view } = this.part
      const { set, condition } = this.#bound
      const budget = this.#budget
      const isWhole = set.count() === view.size
      const members = isWhole ? undefined : membersOf({ view, set, condition, budget })
      this.#members = { view, members, budget }
    }
    return this.#members
  }
}

interface PositionedRow<P extends MergedPart = MergedPart> extends MergedRow<P> {
  readonly position: OrderPosition
}

/** The first rows of all parts behind a position. */
function mergedRows<P extends MergedPart>(
  parts: readonly VisiblePart<P>[],
  order: ListOrder,
  after: TypedPosition | undefined,
  limit: number,
): readonly PositionedRow<P>[] {
  const ordered = order.backwards ? parts.toReversed() : parts
  const [term] = order.terms
  const found: PositionedRow<P>[] = []
  if (term === undefined) {
    // Without an order, the parts follow each other.
    for (const visiblePart of ordered) {
      const { part } = visiblePart
      if (found.length === limit) break
      if (isPassed(part, after, order)) continue
      for (const id of visiblePart.rows(order, startIn(part, after), limit - found.length))
        found.push({ part, id, position: positionOf(part.view, order.terms, id) })
    }
    return found
  }
  const share = Math.min(limit, Math.ceil(limit / ordered.length) + spareRows)
  const heads = new Heads<P>(order, term)
  for (const part of ordered) {
    heads.add(headsOf(part, { order, term, after: startIn(part.part, after), limit: share }))
  }
  while (found.length < limit) {
    const row = heads.next(limit - found.length)
    if (row === undefined) break
    found.push(row)
  }
  return found
}

/** So many rows more than its share are read of each part at first. */
const spareRows = 4

/** Whether all rows of a part are before a position in the order of the parts. */
function isPassed(
  { name }: MergedPart,
  after: TypedPosition | undefined,
  { backwards }: ListOrder,
): boolean {
  if (after === undefined || name === after.type) return false
  return name < after.type !== backwards
}

/** The position behind which the rows of a part begin. Ties are in the order of the parts, whatever their keys. */
function startIn(
  { name }: MergedPart,
  after: TypedPosition | undefined,
): OrderPosition | undefined {
  if (after === undefined) return undefined
  if (name === after.type) return after
  return { values: after.values, key: name < after.type ? beyondAllKeys : '' }
}

/** Sorts after every key: namespaces and names are ASCII. */
const beyondAllKeys = '\uffff/\uffff'

/** The next row of a part; where it is not read yet, a place at or before it: its value of the first term. */
interface Head<P extends MergedPart> {
  readonly part: P
  readonly position: OrderPosition
  readonly id: ObjectId | undefined
}

interface HeadsOptions {
  readonly order: ListOrder
  /** The first term of the order. */
  readonly term: OrderTerm
  readonly after: OrderPosition | undefined
  /** So many rows are read at first. */
  readonly limit: number
}

/**
 * The heads of a part in order. Reads some rows at a time, each time twice as many, and those of a value that many share
 * only once they may be next. Each step takes the number of rows that are wanted of all parts.
 */
function* headsOf<P extends MergedPart>(
  visiblePart: VisiblePart<P>,
  { order, term, after, limit: share }: HeadsOptions,
): Generator<Head<P>, void, number> {
  const { part } = visiblePart
  const isTied = order.terms.length === 1
  let value = firstValue(part.view.index(term.index), term, order, after)
  let from = after
  for (let limit = share; ; limit *= 2) {
    const wanted = yield { part, position: { values: [value], key: '' }, id: undefined }
    // Equal ones of one part follow each other.
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

/** The value of an index that comes first in an order behind a position; `undefined`: objects without a value may. */
function firstValue(
  index: IndexView,
  { descending }: OrderTerm,
  { backwards }: ListOrder,
  after: OrderPosition | undefined,
): string | undefined {
  const from = after?.values[0]
  if (from === undefined && (backwards || after !== undefined)) return undefined
  const [value] = index.orderedValues(from, descending !== backwards)
  return value
}

/**
 * The next row of each part, as a heap: the first in the order is at the top. A part is read once its rows may be next:
 * where many objects share the first value, that is one part after the other.
 */
class Heads<P extends MergedPart> {
  readonly #order: ListOrder
  readonly #byFirst: ListOrder
  readonly #heap: { head: Head<P>; readonly heads: Generator<Head<P>, void, number> }[] = []

  constructor(order: ListOrder, first: OrderTerm) {
    this.#order = order
    this.#byFirst = { ...order, terms: [first] }
  }

  add(heads: Generator<Head<P>, void, number>): void {
    const { value: head } = heads.next()
    if (head === undefined) return
    const heap = this.#heap
    let at = heap.push({ head, heads }) - 1
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (!this.#isBefore(at, parent)) break
      this.#swap(at, parent)
      at = parent
    }
  }

  /** The next row, where so many are wanted at most; `undefined` behind the last one. */
  next(wanted: number): PositionedRow<P> | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      const { id, part, position } = top.head
      const { value: following } = top.heads.next(wanted)
      if (following === undefined) {
        const last = this.#heap.pop()
        if (last !== undefined && this.#heap.length > 0) this.#heap[0] = last
      } else top.head = following
      this.#sink()
      if (id !== undefined) return { part, id, position }
    }
    return undefined
  }

  #sink(): void {
    const { length } = this.#heap
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      if (left >= length) return
      const child = right < length && this.#isBefore(right, left) ? right : left
      if (!this.#isBefore(child, at)) return
      this.#swap(at, child)
      at = child
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a]?.head, this.#heap[b]?.head]
    if (one === undefined || other === undefined) return false
    if (one.id !== undefined && other.id !== undefined) {
      return comparePlaces(one, placeOf(other), this.#order) < 0
    }
    const byFirst = compareValues(one.position, other.position, this.#byFirst)
    if (byFirst !== 0) return byFirst < 0
    // By the parts, unless further values decide, which a part that is not read does not know.
    const isOneRead = one.id !== undefined
    if (this.#order.terms.length > 1 && isOneRead === (other.id === undefined)) return !isOneRead
    return one.part.name < other.part.name !== this.#order.backwards
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (one === undefined || other === undefined) return
    this.#heap[a] = other
    this.#heap[b] = one
  }
}

function placeOf({ part, position }: Head<MergedPart>): TypedPosition {
  return { type: part.name, ...position }
}

/** Compares a row with a place in the list: by the values, then the parts, then the keys. */
function comparePlaces(
  { part: { name }, position }: Omit<PositionedRow, 'id'>,
  place: TypedPosition,
  order: ListOrder,
): number {
  const byValues = compareValues(position, place, order)
  if (byValues !== 0) return byValues
  const byPart = name < place.type ? -1 : name > place.type ? 1 : 0
  const forwards = byPart === 0 ? compareKeys(position.key, place.key) : byPart
  return order.backwards ? -forwards : forwards
}
