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

interface SpreadOptions extends Members {
  /** `undefined`: a label that no object has. */
  readonly index: IndexView | undefined
  /** The numeric indexes to add up for each value that is answered. */
  readonly sums: readonly IndexView[]
  /** Kept for all sums of the list. */
  readonly columns: NumberColumns
}

/** Counts the values of an index without examining objects, and adds up other indexes for the `top` values. */
export function spreadOf({ index, sums, columns, ...of }: SpreadOptions, top: number): Spread {
  const total = of.members?.size ?? of.view.size
  if (index === undefined) return { values: [], distinctCount: 0, missingCount: total }
  const first = new FirstRows<ValueCount>(Math.max(1, top), compareCounts)
  let distinctCount = 0
  const having = countValues(index, of, (value, count) => {
    distinctCount += 1
    first.add({ value, count })
  })
  const shown = top === 0 ? [] : first.rows()
  of.budget.spend('tests', testsPerAnswered * shown.length)
  const ofValues = sumsByValue(
    index,
    shown.map(({ value }) => value),
    sums,
    of,
    columns,
  )
  const values = shown.map((one, at) => ({ ...one, sums: ofValues[at] ?? [] }))
  return { values, distinctCount, missingCount: total - having }
}

/** Answering a value and its count takes as long as so many tests. */
const testsPerAnswered = 3

function compareCounts(a: ValueCount, b: ValueCount): number {
  if (a.count !== b.count) return b.count - a.count
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

/** The values of an index in one list, all of them: with those of other lists, they make one distribution. */
export interface Tally {
  /** Adds the number of objects of each value to `counts`; the number of objects without a value is returned. */
  addTo(counts: Map<string, number>): number
  /** The sums for each of some values. The budget of the list pays. Absent: nothing is added up. */
  readonly sumsOf?: (values: readonly string[]) => readonly (readonly ExactSum[])[]
}

/** Counts the values of an index for {@link mergedSpread}. Valid within the tick. */
export function tallyOf({ index, sums, columns, ...of }: SpreadOptions): Tally {
  const total = of.members?.size ?? of.view.size
  const sumsOf = (values: readonly string[]): readonly (readonly ExactSum[])[] =>
    index === undefined
      ? values.map(() => sums.map(() => addedSums([])))
      : sumsByValue(index, values, sums, of, columns)
  return {
    addTo(counts) {
      if (index === undefined) return total
      const add = (value: string, count: number): void => {
        counts.set(value, (counts.get(value) ?? 0) + count)
      }
      return total - countValues(index, of, add)
    },
    ...(sums.length === 0 ? {} : { sumsOf }),
  }
}

/** The distribution of the objects of several lists, which have the same index and the same sums. Exact. */
export function mergedSpread(tallies: readonly Tally[], top: number): Spread {
  const counts = new Map<string, number>()
  let missingCount = 0
  for (const tally of tallies) missingCount += tally.addTo(counts)
  const first = new FirstRows<ValueCount>(Math.max(1, top), compareCounts)
  for (const [value, count] of counts) first.add({ value, count })
  const shown = top === 0 ? [] : first.rows()
  const values = shown.map(({ value }) => value)
  const parts = tallies.flatMap(({ sumsOf }) => (sumsOf === undefined ? [] : [sumsOf(values)]))
  return {
    values: shown.map((one, at) => {
      const ofLists = parts.map((part) => part[at] ?? [])
      const sums = (ofLists[0] ?? []).map((_, which) =>
        addedSums(ofLists.flatMap((list) => list[which] ?? [])),
      )
      return { ...one, sums }
    }),
    distinctCount: counts.size,
    missingCount,
  }
}
