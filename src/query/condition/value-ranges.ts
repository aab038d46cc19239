/** Strings from one on and before another, in the order of UTF-16 code units, which is that of index keys. */
export interface ValueRange {
  readonly from: string
  /** The first string behind it; `undefined` where it has no end. */
  readonly to: string | undefined
}

/**
 * A set of strings as ranges, sorted, with a gap between each two. Every comparison of index keys is one range, and so is
 * a prefix. So any number of alternatives is one set of ranges, and a value is looked for by halving: a thousand
 * alternatives cost ten comparisons.
 */
export type ValueRanges = readonly ValueRange[]

/** Every string. */
export const everyValue: ValueRanges = [{ from: '', to: undefined }]

/** The strings that begin with a prefix: up to its successor, the prefix with its last code unit raised. */
export function withPrefix(prefix: string): ValueRange {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff_ff) end -= 1
  if (end === 0) return { from: prefix, to: undefined }
  const raised = String.fromCharCode(prefix.charCodeAt(end - 1) + 1)
  return { from: prefix, to: prefix.slice(0, end - 1) + raised }
}

/** The string right behind another one. */
export function after(value: string): string {
  return `${value}\0`
}

/** What is in one of the ranges at least. They may be in any order, overlap and be empty. */
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

/** What is in both. */
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

/** Whether a string is in one of the ranges. */
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
