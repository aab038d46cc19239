import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import { compareKeys } from './key-comparison.ts'

/** One key of an order. */
export interface OrderTerm {
  /** The name of an index. */
  readonly index: string
  readonly descending: boolean
}

/**
 * Where an object stands in an order: its value for each term, `undefined` where it has none, and its key, which breaks ties.
 * Of several values the one counts that comes first in the order.
 */
export interface OrderPosition {
  readonly values: readonly (string | undefined)[]
  readonly key: string
}

/** The order of a list, or the same backwards: objects without a value come last either way, backwards first. */
export interface ListOrder {
  readonly terms: readonly OrderTerm[]
  readonly backwards: boolean
}

/** Only so many terms: every further one can only order objects that all those before leave equal. */
const maxTerms = 8

/** Reads an `orderBy` argument. Throws {@link ArgumentError} for an index that the kind has not, or has twice. */
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

/** The value by which an object is ordered; `undefined` where it has none. */
export function orderValue(
  view: StoreView,
  { index, descending }: OrderTerm,
  id: ObjectId,
): string | undefined {
  return view.index(index).endValue(id, descending)
}

/** Where an object stands. */
export function positionOf(
  view: StoreView,
  terms: readonly OrderTerm[],
  id: ObjectId,
): OrderPosition {
  return { values: terms.map((term) => orderValue(view, term, id)), key: view.keyOf(id) }
}

/** Compares two positions as the order has them. */
export function comparePositions(
  a: OrderPosition,
  b: OrderPosition,
  { terms, backwards }: ListOrder,
): number {
  for (let at = 0; at < terms.length; at++) {
    // Not `const [left, right] = […]`: this is most of a sorted page, and that may make an array for each comparison.
    const left = a.values[at]
    const right = b.values[at]
    if (left === right) continue
    // Without a value is last, whichever way the term goes.
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
  const byKey = compareKeys(a.key, b.key)
  return backwards ? -byKey : byKey
}
