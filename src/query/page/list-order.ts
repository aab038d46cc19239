/*
 * Orders of lists: `orderBy` compiled to terms, the position of an object in an order, and how positions compare. Keys break
 * ties, in the order in which stores keep them. `FirstRows` collects the first rows of an order without sorting the rest.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import type { FilterableIndex } from '../index/index-definition.ts'

export interface OrderTerm {
  readonly index: string
  readonly descending: boolean
}

/**
 * The position of an object in an order: its value for each term, `undefined` if missing, and its key, which breaks ties. If
 * an object has several values, the first one in the order counts.
 */
export interface OrderPosition {
  readonly values: readonly (string | undefined)[]
  readonly key: string
}

/** An order and its direction. Objects without a value come last; when read backwards, first. */
export interface ListOrder {
  readonly terms: readonly OrderTerm[]
  readonly backwards: boolean
}

/** A bound on the cost: each further term only orders objects that are equal in all earlier terms. */
const maxTerms = 8

/** Reads an `orderBy` argument. Throws {@link ArgumentError} for an unknown or repeated index. */
export function compileOrder(
  orderBy: readonly Readonly<Record<string, unknown>>[] | null | undefined,
  indexes: readonly FilterableIndex[],
): readonly OrderTerm[] {
  if (orderBy === undefined || orderBy === null) return []
  if (orderBy.length > maxTerms) {
    throw new ArgumentError('orderBy', `has more than ${maxTerms} keys`, { value: orderBy.length })
  }
  const seen = new Set<string>()
  return orderBy.map((term, position) => {
    const argument = `orderBy[${position}]`
    const [entry, ...others] = Object.entries(term)
    if (entry === undefined || others.length > 0) {
      throw new ArgumentError(argument, 'must name exactly one index', { value: term })
    }
    const [index, direction] = entry
    if (!indexes.some(({ name }) => name === index)) {
      throw new ArgumentError(
        `${argument}.${index}`,
        `there is no index ${JSON.stringify(index)}`,
        {
          value: index,
          hint: `there are ${indexes.map(({ name }) => name).join(', ')}`,
        },
      )
    }
    if (direction !== 'ASC' && direction !== 'DESC') {
      throw new ArgumentError(`${argument}.${index}`, 'must be ASC or DESC', { value: direction })
    }
    if (seen.has(index)) {
      throw new ArgumentError(`${argument}.${index}`, 'orders by the same index twice', {
        value: index,
      })
    }
    seen.add(index)
    return { index, descending: direction === 'DESC' }
  })
}

/** The value that orders an object; `undefined` if it has none. */
export function orderValue(
  view: StoreView,
  { index, descending }: OrderTerm,
  id: ObjectId,
): string | undefined {
  return view.index(index).endValue(id, descending)
}

export function positionOf(
  view: StoreView,
  terms: readonly OrderTerm[],
  id: ObjectId,
): OrderPosition {
  return { values: terms.map((term) => orderValue(view, term, id)), key: view.keyOf(id) }
}

export function comparePositions(a: OrderPosition, b: OrderPosition, order: ListOrder): number {
  const byValues = compareValues(a, b, order)
  if (byValues !== 0) return byValues
  const byKey = compareKeys(a.key, b.key)
  return order.backwards ? -byKey : byKey
}

/** Compares positions by their values alone: 0 for a tie. */
export function compareValues(
  a: Pick<OrderPosition, 'values'>,
  b: Pick<OrderPosition, 'values'>,
  { terms, backwards }: ListOrder,
): number {
  for (let at = 0; at < terms.length; at++) {
    // No destructuring here: it may allocate an array for each comparison, and sorting spends most of its time here.
    const left = a.values[at]
    const right = b.values[at]
    if (left === right) continue
    // Missing values come last in both directions.
    const forwards =
      left === undefined
        ? 1
        : right === undefined
          ? -1
          : left < right === (terms[at]?.descending === true)
            ? 1
            : -1
    return backwards ? -forwards : forwards
  }
  return 0
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

const slash = 0x2f

/**
 * Compares two object keys in the order of stores: by namespace, then name, both by UTF-16 code units. Comparing whole
 * keys would be wrong: `team-a/x` sorts before `team/x`, because `-` sorts before `/`.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) {
      // One namespace is a prefix of the other.
      if (left === slash) return -1
      return right === slash ? 1 : left - right
    }
    // Within a namespace, the engine compares names faster.
    if (left === slash) break
  }
  return a < b ? -1 : a > b ? 1 : 0
}

/** Sorts objects of a store by key. Skips sorting if they are in order already, as they mostly are. */
export function inKeyOrder(ids: readonly ObjectId[], view: StoreView): readonly ObjectId[] {
  const namespaces = view.index('namespace')
  // Within a namespace, the engine compares whole keys faster.
  const compare = (a: KeyedObject, b: KeyedObject): number => {
    if (!namespaces.isSame(a.id, b.id)) return compareKeys(a.key, b.key)
    return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
  }
  const keyed = ids.map((id) => ({ id, key: view.keyOf(id) }))
  let before: KeyedObject | undefined
  for (const next of keyed) {
    if (before !== undefined && compare(before, next) > 0) {
      return keyed.toSorted(compare).map(({ id }) => id)
    }
    before = next
  }
  return ids
}

interface KeyedObject {
  readonly id: ObjectId
  readonly key: string
}
