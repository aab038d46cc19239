import type { IndexView } from '../../informer/store/store-view.ts'
import { FirstRows } from './ordered-rows.ts'
import { addedSums, type ExactSum, type NumberColumns, sumsByValue } from './sums.ts'
import { countValues, type Members } from './value-counts.ts'

/** A key of an index, and the number of objects that have it. */
interface ValueCount {
  readonly value: string
  readonly count: number
}

/** The distribution of objects over the values of an index. */
export interface Spread {
  /** The most frequent first; equally frequent ones by value. Sums are in the order of the summed indexes. */
  readonly values: readonly (ValueCount & { readonly sums: readonly ExactSum[] })[]
  readonly distinctCount: number
  /** Objects without a value. */
  readonly missingCount: number
}

/** The objects of one part of a list, with the indexes to count and add up. */
export interface SpreadPart extends Members {
  /** `undefined`: a label that no object has. */
  readonly index: IndexView | undefined
  /** The numeric indexes to add up for each value that is answered. All parts have as many. */
  readonly sums: readonly IndexView[]
  /** Kept for all sums of the part. */
  readonly columns: NumberColumns
}

/**
 * Counts the values of an index without examining objects, and adds up other indexes for the `top` values. The counts of
 * one part go straight to the most frequent values; those of several are added up by value first.
 */
export function spreadOf(parts: readonly SpreadPart[], top: number): Spread {
  const first = new FirstRows<ValueCount>(Math.max(1, top), compareCounts)
  let distinctCount = 0
  let missingCount = 0
  const rank = (value: string, count: number): void => {
    distinctCount += 1
    first.add({ value, count })
  }
  const added = parts.length === 1 ? undefined : new Map<string, number>()
  const add = (value: string, more: number): void => {
    added?.set(value, (added.get(value) ?? 0) + more)
  }
  for (const { index, ...of } of parts) {
    missingCount += of.members?.size ?? of.view.size
    if (index !== undefined) missingCount -= countValues(index, of, added ? add : rank)
  }
  added?.forEach((times, value) => rank(value, times))
  const shown = top === 0 ? [] : first.rows()
  const values = shown.map(({ value }) => value)
  const sums = parts.map(({ index, sums: indexes, columns, ...of }) => {
    of.budget.spend('tests', testsPerAnswered * shown.length)
    if (index === undefined) return values.map(() => indexes.map(() => addedSums([])))
    return sumsByValue(index, values, indexes, of, columns)
  })
  return {
    values: shown.map((one, at) => ({
      ...one,
      sums: addedByIndex(sums.map((of) => of[at] ?? [])),
    })),
    distinctCount,
    missingCount,
  }
}

/** Answering a value and its count takes as long as so many tests. */
const testsPerAnswered = 3

function compareCounts(a: ValueCount, b: ValueCount): number {
  if (a.count !== b.count) return b.count - a.count
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

/** The sums of each index, over all parts. */
function addedByIndex(parts: readonly (readonly ExactSum[])[]): readonly ExactSum[] {
  const [only = []] = parts
  if (parts.length === 1) return only
  return only.map((_, which) => addedSums(parts.flatMap((sums) => sums[which] ?? [])))
}
