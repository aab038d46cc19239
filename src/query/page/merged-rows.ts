import type { IndexView, ObjectId } from '../../informer/store/store-view.ts'
import type { ListPosition } from './cursor.ts'
import {
  compareKeys,
  compareValues,
  type ListOrder,
  type OrderPosition,
  type OrderTerm,
  positionOf,
} from './list-order.ts'
import { beyondAllKeys, type ListPart, startIn, type VisiblePart } from './list-part.ts'

/*
 * Merges the ordered rows of the parts of a list: reads only as many rows of each as are wanted, and compares each with
 * the next ones of the others. Without an order the parts follow each other. With one, a heap has the next row of each
 * part, and a part is read only once its first value may be next.
 */

/** The first rows of a list. */
export interface FoundRows<P extends ListPart> {
  readonly ids: readonly ObjectId[]
  /** The part of each row. Absent: all rows are of one. */
  readonly places?: readonly P[]
}

/** The first rows of all parts, which are in the order of their names, behind a position. */
export function mergedRows<P extends ListPart>(
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

/** So many rows more than its share are read of each part at first. */
const spareRows = 4

/** The next row of a part; where it is not read yet, a place at or before it: its value of the first term. */
interface Head<P extends ListPart> {
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
function* headsOf<P extends ListPart>(
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
class Heads<P extends ListPart> {
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
  next(wanted: number): { readonly part: P; readonly id: ObjectId } | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      const { id, part } = top.head
      const { value: following } = top.heads.next(wanted)
      if (following === undefined) {
        const last = this.#heap.pop()
        if (last !== undefined && this.#heap.length > 0) this.#heap[0] = last
      } else top.head = following
      this.#sink()
      if (id !== undefined) return { part, id }
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
      return compareHeads(one, other, this.#order) < 0
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

/** Compares two rows in the list: by the values, then the parts, then the keys. */
function compareHeads(a: Head<ListPart>, b: Head<ListPart>, order: ListOrder): number {
  const byValues = compareValues(a.position, b.position, order)
  if (byValues !== 0) return byValues
  const [one, other] = [a.part.name, b.part.name]
  const byPart = one < other ? -1 : one > other ? 1 : 0
  const forwards = byPart === 0 ? compareKeys(a.position.key, b.position.key) : byPart
  return order.backwards ? -forwards : forwards
}
