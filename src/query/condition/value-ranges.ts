/*
 * A set of strings as sorted ranges with gaps in between. Each comparison of index keys, and each prefix, is one range. So
 * any number of alternatives makes one set of ranges, and a binary search tests a value: a thousand alternatives cost ten
 * comparisons.
 */

/** The strings from `from` up to but not including `to`, in UTF-16 order, which is the order of index keys. */
export interface ValueRange {
  readonly from: string
  /** `undefined`: no upper bound. */
  readonly to: string | undefined
}

export type ValueRanges = readonly ValueRange[]

export const everyValue: ValueRanges = [{ from: '', to: undefined }]

/** The strings with a prefix: up to the prefix with its last code unit incremented. */
export function withPrefix(prefix: string): ValueRange {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff_ff) end -= 1
  if (end === 0) return { from: prefix, to: undefined }
  const raised = String.fromCharCode(prefix.charCodeAt(end - 1) + 1)
  return { from: prefix, to: prefix.slice(0, end - 1) + raised }
}

export function after(value: string): string {
  return `${value}\0`
}

/** The union of ranges, which may be in any order, overlap and be empty. */
export function unionOf(ranges: readonly ValueRange[]): ValueRanges {
  const sorted = ranges.filter(isNotEmpty).toSorted((a, b) => compare(a.from, b.from))
  const union: ValueRange[] = []
  for (const range of sorted) {
    const last = union.at(-1)
    if (last === undefined || (last.to !== undefined && last.to < range.from)) {
      union.push(range)
    } else if (last.to !== undefined && (range.to === undefined || range.to > last.to)) {
      union[union.length - 1] = { from: last.from, to: range.to }
    }
  }
  return union
}

export function intersectionOf(a: ValueRanges, b: ValueRanges): ValueRanges {
  return unionOf(
    a.flatMap((one) =>
      b.map((other) => ({
        from: one.from > other.from ? one.from : other.from,
        to: earlier(one.to, other.to),
      })),
    ),
  )
}

export function isWithin(ranges: ValueRanges, value: string): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    const range = ranges[middle] as ValueRange
    if (value < range.from) high = middle
    else if (range.to === undefined || value < range.to) return true
    else low = middle + 1
  }
  return false
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined) return b
  return b === undefined || a < b ? a : b
}

const isNotEmpty = ({ from, to }: ValueRange): boolean => to === undefined || from < to

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
