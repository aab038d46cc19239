/*
 * Counts the values of indexes and adds up numeric ones, without decoding objects. Counting takes the sizes of the postings
 * for all objects of a store. For some, it counts the members in each posting, or asks each member for its values if members
 * are few. Each posting is passed once for each sum. A sum over many objects reads from a column: the numbers of all objects
 * in one typed array, made from the postings of the summed index. Sums are exact, so that the sums of several parts of a list
 * can be added up.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { type Decimal, decimalOfKey, DecimalTotal, powerOf } from '../../kubernetes/decimal.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { FirstRows } from './list-order.ts'
import { eachMember, type IdSet } from '../condition/candidates.ts'
import { type Condition, partsOf } from '../condition/condition.ts'

/** The sum of a numeric index over some objects. Exact, so that the sums of several lists can be added up. */
export interface ExactSum {
  readonly total: Decimal
  /** The number of objects that have a value. The others add nothing. */
  readonly count: number
}

export function addedSums(sums: readonly ExactSum[]): ExactSum {
  const total = new DecimalTotal()
  let count = 0
  for (const sum of sums) {
    total.add(sum.total)
    count += sum.count
  }
  return { total: total.value, count }
}

/** The sum of a numeric index over members. It counts the values of the index, as a facet does. */
export function sumOfIndex(index: IndexView, of: Members): ExactSum {
  const total = new DecimalTotal()
  const count = countValues(index, of, (value, times) => total.add(decimalOfKey(value), times))
  return { total: total.value, count }
}

/** The sums of numeric indexes over the members that have each of some values of another index. */
export function sumsByValue(
  index: IndexView,
  values: readonly string[],
  sums: readonly IndexView[],
  { members, budget }: Members,
  columns: NumberColumns,
): readonly (readonly ExactSum[])[] {
  if (sums.length === 0 || values.length === 0) return values.map(() => [])
  const postings = values.map((value) => index.posting(value))
  let groups: readonly Iterable<ObjectId>[] = postings.map((posting) => posting ?? [])
  let size = postings.reduce((sum, posting) => sum + (posting?.size ?? 0), 0)
  let tested = members
  if (members !== undefined && members.size * examinedPerAsked < size) {
    // Members are few: they are asked for their values.
    const asked = new Map(values.map((value): [string, ObjectId[]] => [value, []]))
    for (const id of members.ids(1)) {
      for (const value of index.valuesOf(id)) asked.get(value)?.push(id)
    }
    groups = [...asked.values()]
    size = members.size
    tested = undefined
    budget.spend('examined', examinedPerAsked * size)
  }
  const results = values.map((): ExactSum[] => [])
  for (const numeric of sums) {
    const isBulk = size * examinedPerAsked >= numeric.objectCount
    const numbers = isBulk ? columnOf(numeric, columns, budget) : new AskedNumbers(numeric)
    const perId = isBulk ? 1 / idsPerExamined : examinedPerAsked
    budget.spend('examined', Math.ceil(perId * size) + examinedPerSum * values.length)
    for (const [at, ids] of groups.entries()) results[at]?.push(numbers.sumOf(ids, tested))
    budget.spend('examined', examinedPerLarge * numbers.largeCount)
  }
  return results
}

/** The columns of the indexes of a list that are summed, for its further sums in the tick. */
export type NumberColumns = Map<IndexView, NumberColumn>

function columnOf(index: IndexView, columns: NumberColumns, budget: WorkBudget): NumberColumn {
  return getOrInsert(columns, index, () => {
    budget.spend('examined', Math.ceil(index.objectCount / idsPerExamined))
    return new NumberColumn(index, budget)
  })
}

/** Reading or writing so many numbers of a column takes as long as examining an object. */
const idsPerExamined = 16
/** Decoding a number takes as long as examining so many objects. */
const examinedPerNumber = 3
/** Writing a sum as an exact number takes as long as examining so many objects. */
const examinedPerSum = 3
/** Adding a number that does not fit into a column takes as long as examining so many objects. */
const examinedPerLarge = 4

/** The numbers of a few objects, each read from the index. */
class AskedNumbers {
  readonly largeCount = 0
  readonly #index: IndexView

  constructor(index: IndexView) {
    this.#index = index
  }

  sumOf(ids: Iterable<ObjectId>, members: IdBytes | undefined): ExactSum {
    const total = new DecimalTotal()
    let count = 0
    for (const id of ids) {
      if (members !== undefined && members.get(id) !== 1) continue
      const key = this.#index.endValue(id, false)
      if (key === undefined) continue
      count += 1
      total.add(decimalOfKey(key))
    }
    return { total: total.value, count }
  }
}

/** The most digits of a number in a column: sums of some such numbers are exact in a double. */
const maxDigits = 15
/** Beyond this, one more number could make a sum inexact. */
const maxUnits = 2 ** 53 - 10 ** maxDigits
/** The smallest unit of a column, a nano. The API server rounds quantities to it. */
const minPower = -9

/**
 * The number of each object, in units that make all of them whole. NaN stands for no value, infinity for a number that
 * does not fit, which is kept beside the column.
 */
class NumberColumn {
  readonly #units: Float64Array
  readonly #power: number
  readonly #large = new Map<ObjectId, Decimal>()

  constructor(index: IndexView, budget: WorkBudget) {
    const keys: string[] = []
    const numbers: Decimal[] = []
    let power = 0
    for (const key of index.values()) {
      budget.spend('examined', examinedPerNumber)
      const number = decimalOfKey(key)
      keys.push(key)
      numbers.push(number)
      power = Math.min(power, powerOf(number))
    }
    this.#power = Math.max(minPower, power)
    let units = new Float64Array(index.objectCount * 2).fill(Number.NaN)
    for (const [at, number] of numbers.entries()) {
      const value = this.#unitsOf(number)
      for (const id of index.posting(keys[at] ?? '') ?? []) {
        if (id >= units.length) units = enlarged(units, id)
        units[id] = value
        if (value === Infinity) this.#large.set(id, number)
      }
    }
    this.#units = units
  }

  /** The number of numbers beside the column. */
  get largeCount(): number {
    return this.#large.size
  }

  sumOf(ids: Iterable<ObjectId>, members: IdBytes | undefined): ExactSum {
    const units = this.#units
    const power = this.#power
    const total = new DecimalTotal()
    let sum = 0
    let count = 0
    for (const id of ids) {
      if (members !== undefined && members.get(id) !== 1) continue
      // An id beyond the end of the array has no value either.
      const value = units[id] ?? Number.NaN
      if (Number.isNaN(value)) continue
      count += 1
      if (value === Infinity) {
        const large = this.#large.get(id)
        if (large !== undefined) total.add(large)
        continue
      }
      sum += value
      if (sum > maxUnits || sum < -maxUnits) {
        total.addUnits(BigInt(sum), power)
        sum = 0
      }
    }
    total.addUnits(BigInt(sum), power)
    return { total: total.value, count }
  }

  #unitsOf(number: Decimal): number {
    const zeros = powerOf(number) - this.#power
    if (zeros < 0 || number.digits.length + zeros > maxDigits) return Infinity
    return number.sign * Number(number.digits) * 10 ** zeros
  }
}

/** Apart from the constructor, whose loop over all ids is faster without it. */
function enlarged(units: Float64Array<ArrayBuffer>, id: ObjectId): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(2 * units.length, id + 1)).fill(Number.NaN)
  larger.set(units)
  return larger
}

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
  const first = new FirstRows<ValueCount>(Math.max(1, top), (a, b) => {
    if (a.count !== b.count) return b.count - a.count
    return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
  })
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
      sums: (sums[0]?.[at] ?? []).map((only, which) =>
        sums.length === 1 ? only : addedSums(sums.flatMap((of) => of[at]?.[which] ?? [])),
      ),
    })),
    distinctCount,
    missingCount,
  }
}

/** Answering a value and its count takes as long as so many tests. */
const testsPerAnswered = 3

export interface Members {
  readonly view: StoreView
  /** The result of {@link membersOf}; `undefined`: all objects of the store. */
  readonly members: IdBytes | undefined
  readonly budget: WorkBudget
}

/**
 * Passes each value of an index and the number of members that have it to `add`, in no particular order. Returns the number
 * of members that have any value.
 */
export function countValues(
  index: IndexView,
  { members, budget }: Members,
  add: (value: string, count: number) => void,
): number {
  if (members === undefined) {
    for (const value of index.values()) {
      budget.spend('examined', examinedPerValue)
      add(value, index.posting(value)?.size ?? 0)
    }
    return index.objectCount
  }
  let having = 0
  if (members.size * examinedPerAsked < index.objectCount) {
    budget.spend('examined', members.size * examinedPerAsked)
    const counts = new Map<string, number>()
    for (const id of members.ids(1)) {
      const values = index.valuesOf(id)
      if (values.length > 0) having += 1
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    for (const [value, count] of counts) add(value, count)
    return having
  }
  budget.spend('examined', index.objectCount)
  let places = 0
  for (const value of index.values()) {
    budget.spend('examined', examinedPerValue)
    const posting = index.posting(value)
    places += posting?.size ?? 0
    const count = posting === undefined ? 0 : members.countOf(posting, 1)
    having += count
    if (count > 0) add(value, count)
  }
  if (places === index.objectCount) return having
  // Objects with several values were counted several times.
  budget.spend('examined', places)
  const withValue = new IdBytes()
  for (const value of index.values()) {
    for (const id of index.posting(value) ?? []) if (members.get(id) === 1) withValue.set(id, 1)
  }
  return withValue.size
}

/** Collecting a value and its count takes as long as passing so many ids of postings. */
const examinedPerValue = 3
/** Asking an object for its values takes as long as passing so many ids of postings. */
export const examinedPerAsked = 8

interface MembersOptions {
  readonly view: StoreView
  readonly set: IdSet
  /** The condition that the set was bound from. */
  readonly condition: Condition
  readonly budget: WorkBudget
}

/** Collects the members of a set, each with the number 1. The budget pays for tests. */
export function membersOf({ view, set, condition, budget }: MembersOptions): IdBytes {
  const candidates = set.candidates(view.size)
  budget.report?.searched(partsOf(condition), partsOf(candidates?.from))
  const members = new IdBytes()
  if (candidates?.exact === true) {
    budget.spend('examined', candidates.size)
    members.setAll(candidates.ids(), 1)
  } else {
    eachMember({ set, candidates, view, budget }, (id) => members.set(id, 1))
  }
  return members
}
