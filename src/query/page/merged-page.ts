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
import { orderedRows } from './ordered-rows.ts'
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
  const hash = listHash(identity, budget)
  const parts = options.parts
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((part) => new VisiblePart(part, budget))
  const positionAt = (argument: 'after' | 'before'): TypedPosition | undefined => {
    const wholeValue = (text: string, cut: CutValue, at: number): string => {
      const { type, key } = splitTypedKey(text) ?? { type: '', key: '' }
      const found = parts.find(({ part }) => part.name === type)
      return wholeValueOf(found?.part, { key, cut, term: terms[at], argument })
    }
    const context = { hash, argument, terms: terms.length, wholeValue }
    return typedPositionAt(options[argument], context)
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
      encodeTypedCursor(hash, { type: part.name, ...positionOf(part.view, terms, id) }, budget),
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
    const { view } = this.part
    return orderedRows({ view, ...this.#bound, order, after, limit, budget: this.#budget })
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
  // Without an order, the parts follow each other.
  const share = order.terms.length === 0 ? limit : Math.ceil(limit / ordered.length) + spareRows
  const heads = new Heads<P>(order)
  const found: PositionedRow<P>[] = []
  for (const part of ordered) {
    if (order.terms.length === 0 && found.length >= limit) break
    if (isPassed(part.part, after, order)) continue
    const rows = new PartRows(part, order, startIn(part.part, after), Math.min(share, limit))
    if (order.terms.length === 0) {
      for (let row = rows.next(); row !== undefined && found.length < limit; row = rows.next())
        found.push(row)
    } else heads.add(rows)
  }
  for (let row = heads.next(); row !== undefined; row = heads.next()) {
    found.push(row)
    if (found.length === limit) break
  }
  return found
}

/** So many rows more than its share are read of each part at first. */
const spareRows = 4

/** Whether all rows of a part are before a position in the order of the parts. */
function isPassed(
  { name }: MergedPart,
  after: TypedPosition | undefined,
  { terms, backwards }: ListOrder,
): boolean {
  if (after === undefined || terms.length > 0 || name === after.type) return false
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

/** The rows of a part in order. Reads some at a time, each time twice as many. */
class PartRows<P extends MergedPart> {
  readonly part: P
  readonly #visible: VisiblePart<P>
  readonly #order: ListOrder
  #after: OrderPosition | undefined
  #ids: readonly ObjectId[] = []
  #at = 0
  #limit: number
  #isEnded = false

  constructor(
    part: VisiblePart<P>,
    order: ListOrder,
    after: OrderPosition | undefined,
    limit: number,
  ) {
    this.part = part.part
    this.#visible = part
    this.#order = order
    this.#after = after
    this.#limit = limit
  }

  next(): PositionedRow<P> | undefined {
    if (this.#at === this.#ids.length) this.#read()
    const id = this.#ids[this.#at]
    if (id === undefined) return undefined
    this.#at += 1
    const position = positionOf(this.part.view, this.#order.terms, id)
    this.#after = position
    return { part: this.part, id, position }
  }

  #read(): void {
    this.#at = 0
    this.#ids = this.#isEnded ? [] : this.#visible.rows(this.#order, this.#after, this.#limit)
    this.#isEnded = this.#ids.length < this.#limit
    this.#limit *= 2
  }
}

/** The next row of each part, as a heap: the first in the order is at the top. */
class Heads<P extends MergedPart> {
  readonly #order: ListOrder
  readonly #heap: { row: PositionedRow<P>; readonly rows: PartRows<P> }[] = []

  constructor(order: ListOrder) {
    this.#order = order
  }

  add(rows: PartRows<P>): void {
    const row = rows.next()
    if (row === undefined) return
    const heap = this.#heap
    let at = heap.push({ row, rows }) - 1
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (!this.#isBefore(at, parent)) break
      this.#swap(at, parent)
      at = parent
    }
  }

  next(): PositionedRow<P> | undefined {
    const [top] = this.#heap
    if (top === undefined) return undefined
    const { row } = top
    const following = top.rows.next()
    if (following === undefined) {
      const last = this.#heap.pop()
      if (last !== undefined && this.#heap.length > 0) this.#heap[0] = last
    } else top.row = following
    this.#sink()
    return row
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
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (one === undefined || other === undefined) return false
    return compareRows(one.row, other.row, this.#order) < 0
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (one === undefined || other === undefined) return
    this.#heap[a] = other
    this.#heap[b] = one
  }
}

function compareRows(a: PositionedRow, b: PositionedRow, order: ListOrder): number {
  return comparePlaces(a, { type: b.part.name, ...b.position }, order)
}

/** Compares a row with a place in the list: by the values, then the parts, then the keys. */
function comparePlaces(
  { part: { name }, position }: PositionedRow,
  place: TypedPosition,
  order: ListOrder,
): number {
  const byValues = compareValues(position, place, order)
  if (byValues !== 0) return byValues
  const byPart = name < place.type ? -1 : name > place.type ? 1 : 0
  const forwards = byPart === 0 ? compareKeys(position.key, place.key) : byPart
  return order.backwards ? -forwards : forwards
}
