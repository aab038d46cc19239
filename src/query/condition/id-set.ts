/*
 * Binds conditions to a store, as sets of ids. A set of values looks up postings; ranges and tests try each value of the
 * index and join the postings that match. An intersection takes the smallest candidates of its parts, a union the candidates
 * of all parts. A complement has candidates only if the index has few other values. The budget pays for each step, in tests.
 */

import type {
  IndexView,
  ObjectId,
  PostingView,
  StoreView,
} from '../../informer/store/store-view.ts'
import { type Candidates, type IdSet, merge, noCandidates, postingsOf } from './candidates.ts'
import type { Condition, IndexReference, RelatedStores } from './condition.ts'
import { relatedSet } from './related-set.ts'
import { everyValue, isWithin } from './value-ranges.ts'
import type { WorkBudget } from './work-budget.ts'

const emptySet: IdSet = { has: () => false, candidates: () => noCandidates, count: () => 0 }

function wholeSet(view: StoreView): IdSet {
  return { isWhole: true, has: () => true, candidates: () => undefined, count: () => view.size }
}

/** Preparing a part of a condition takes as long as so many tests. */
export const testsPerPart = 5

/**
 * Binds a condition to a store; valid within the tick. The budget pays a test for each part that is prepared, and for
 * each test of an object or an index value. Only conditions on related objects need `stores`. Throws
 * `UnknownIndexError`; the set's methods throw `QueryTooCostlyError` and the errors of `stores`.
 */
export function bindCondition(
  condition: Condition,
  view: StoreView,
  budget: WorkBudget,
  stores?: RelatedStores,
): IdSet {
  const bind = (one: Condition, of: StoreView): IdSet => bindCondition(one, of, budget, stores)
  budget.spend('tests', testsPerPart)
  switch (condition.form) {
    case 'everything':
      return wholeSet(view)
    case 'nothing':
      return emptySet
    case 'keys':
      return keySet(condition, view, budget)
    case 'values': {
      const index = indexOf(condition.index, view)
      return index === undefined ? emptySet : valueSet(index, condition, budget)
    }
    case 'ranges':
    case 'tests': {
      const index = indexOf(condition.index, view)
      return index === undefined ? emptySet : testSet(index, condition, budget)
    }
    case 'and':
      return intersection(
        condition.conditions.map((one) => bind(one, view)),
        view,
      )
    case 'or':
      return union(
        condition.conditions.map((one) => bind(one, view)),
        condition,
      )
    case 'not': {
      const { condition: inner } = condition
      const index = inner.form === 'values' ? indexOf(inner.index, view) : undefined
      const others =
        index === undefined
          ? undefined
          : otherValues(index, inner as ValuesCondition, view, condition)
      return complement(bind(inner, view), view, others)
    }
    case 'related':
      if (stores === undefined) throw new TypeError(`${condition.argument} is bound without stores`)
      if (!stores.has(condition.relation.to)) return emptySet
      return relatedSet({ condition, view, budget, stores, bind })
  }
}

function indexOf(reference: IndexReference, view: StoreView): IndexView | undefined {
  return reference.form === 'index' ? view.index(reference.name) : view.label(reference.name)
}

function keySet(
  condition: Extract<Condition, { form: 'keys' }>,
  view: StoreView,
  budget: WorkBudget,
): IdSet {
  const { keys } = condition
  budget.spend('tests', keys.length)
  const ids = new Set<ObjectId>()
  for (const key of keys) {
    const id = view.idOf(key)
    if (id !== undefined) ids.add(id)
  }
  const candidates: Candidates = { size: ids.size, from: condition, exact: true, ids: () => ids }
  return {
    has(id) {
      budget.spend('tests', 1)
      return ids.has(id)
    },
    candidates: (limit) => (ids.size > limit ? undefined : candidates),
    count: () => ids.size,
  }
}

/** Up to here, testing each value is faster than a set of values. */
const fewValues = 4

type ValuesCondition = Extract<Condition, { form: 'values' }>

function valueSet(index: IndexView, condition: ValuesCondition, budget: WorkBudget): IdSet {
  const { index: reference, values } = condition
  const [only = ''] = values
  if (values.length === 1) {
    return {
      has(id) {
        budget.spend('tests', 1)
        return index.has(id, only)
      },
      candidates: (limit) => postingsOf([index.posting(only)], limit, condition),
      count: () => index.posting(only)?.size ?? 0,
    }
  }
  // An object has one namespace, one name, one UID and one value per label, so their postings are disjoint.
  const single = reference.form === 'label' || ['namespace', 'name', 'uid'].includes(reference.name)
  const postings = () => {
    budget.spend('tests', values.length)
    return values.map((value) => index.posting(value))
  }
  const hasOne: (id: ObjectId) => boolean =
    values.length <= fewValues
      ? (id) => values.some((value) => index.has(id, value))
      : (id) => index.valuesOf(id).some((value) => setOf(condition).has(value))
  return {
    has(id) {
      budget.spend('tests', 1)
      return hasOne(id)
    },
    candidates: (limit) => postingsOf(postings(), limit, condition),
    count() {
      const present = postings().filter((posting) => posting !== undefined)
      // An object may be in several postings.
      return single || present.length <= 1
        ? present.reduce((sum, { size }) => sum + size, 0)
        : undefined
    },
  }
}

const madeSets = new WeakMap<ValuesCondition, ReadonlySet<string>>()

function setOf(condition: ValuesCondition): ReadonlySet<string> {
  let set = madeSets.get(condition)
  if (set === undefined) madeSets.set(condition, (set = new Set(condition.values)))
  return set
}

type TestsCondition = Extract<Condition, { form: 'ranges' | 'tests' }>

/** A test that pays for each call. */
function matcherOf(condition: TestsCondition, budget: WorkBudget): (value: string) => boolean {
  if (condition.form === 'ranges') {
    const { ranges } = condition
    if (ranges === everyValue) {
      return () => {
        budget.spend('tests', 1)
        return true
      }
    }
    const price = Math.ceil(1 + Math.log2(ranges.length))
    return (value) => {
      budget.spend('tests', price)
      return isWithin(ranges, value)
    }
  }
  const { tests } = condition
  const passes = (value: string): boolean => {
    budget.spend('tests', tests.length * (1 + (value.length >> longValueBits)))
    return tests.some((test) => test(value))
  }
  if (tests.length === 1) return passes
  // Many objects share a value, so verdicts are kept.
  const verdicts = new Map<string, boolean>()
  return (value) => {
    budget.spend('tests', 1)
    let verdict = verdicts.get(value)
    if (verdict === undefined) verdicts.set(value, (verdict = passes(value)))
    return verdict
  }
}

/** Searching a value takes twice as long for each doubling beyond this many bits of its length. */
const longValueBits = 8

/** Looking at an index value costs a fraction of looking up the values of an object. */
const valuesPerRow = 2

/** Reading an index value takes as long as so many tests, because most values are elsewhere in memory. */
const testsPerValue = 2

/** Finding the posting of a matching value takes as long as so many tests. */
const testsPerPosting = 2

function testSet(index: IndexView, condition: TestsCondition, budget: WorkBudget): IdSet {
  const matches = matcherOf(condition, budget)
  return {
    has(id) {
      budget.spend('tests', 1)
      return index.valuesOf(id).some(matches)
    },
    candidates(limit) {
      const postings: PostingView[] = []
      let looked = 0
      let size = 0
      for (const value of index.values()) {
        looked += 1
        if (looked > valuesPerRow * limit) return undefined
        budget.spend('tests', testsPerValue)
        const posting = matches(value) ? index.posting(value) : undefined
        if (posting === undefined) continue
        budget.spend('tests', testsPerPosting)
        size += posting.size
        if (size > limit) return undefined
        postings.push(posting)
      }
      return postingsOf(postings, limit, condition)
    },
    count: () => undefined,
  }
}

function intersection(all: readonly IdSet[], view: StoreView): IdSet {
  if (all.includes(emptySet)) return emptySet
  const sets = all.filter(({ isWhole }) => isWhole !== true)
  const [first] = sets
  if (first === undefined) return wholeSet(view)
  if (sets.length === 1) return first
  return {
    has(id) {
      for (const set of sets) if (!set.has(id)) return false
      return true
    },
    candidates(limit) {
      let best: Candidates | undefined
      for (const set of sets) {
        const found = set.candidates(best === undefined ? limit : best.size - 1)
        if (found !== undefined) best = found
        if (best?.size === 0) break
      }
      return best === undefined || sets.length === 1 ? best : { ...best, exact: false }
    },
    count: () => (sets.some((set) => set.count() === 0) ? 0 : undefined),
  }
}

function union(all: readonly IdSet[], from: Condition): IdSet {
  const whole = all.find(({ isWhole }) => isWhole === true)
  if (whole !== undefined) return whole
  const sets = all.filter((set) => set !== emptySet)
  const [first] = sets
  if (first === undefined) return emptySet
  if (sets.length === 1) return first
  return {
    has(id) {
      for (const set of sets) if (set.has(id)) return true
      return false
    },
    candidates(limit) {
      const parts: Candidates[] = []
      let size = 0
      for (const set of sets) {
        const found = set.candidates(limit - size)
        if (found === undefined) return undefined
        size += found.size
        parts.push(found)
      }
      const exact = parts.every((part) => part.exact)
      return { size, from, exact, ids: () => merge(parts.map((part) => part.ids())) }
    },
    count: () => undefined,
  }
}

/**
 * The candidates for objects without these values: the postings of all other values. Works for indexes in which every
 * object has a value, and few other values.
 */
function otherValues(
  index: IndexView,
  condition: ValuesCondition,
  view: StoreView,
  complementary: Condition,
): IdSet['candidates'] {
  return (limit) => {
    if (index.objectCount !== view.size) return undefined
    const postings: PostingView[] = []
    let looked = 0
    for (const value of index.values()) {
      looked += 1
      if (looked > maxOtherValues) return undefined
      const posting = setOf(condition).has(value) ? undefined : index.posting(value)
      if (posting !== undefined) postings.push(posting)
    }
    const found = postingsOf(postings, limit, complementary)
    // An object may also have one of the excluded values.
    return found === undefined ? undefined : { ...found, exact: false }
  }
}

const maxOtherValues = 64

function complement(
  set: IdSet,
  view: StoreView,
  candidates: IdSet['candidates'] = () => undefined,
): IdSet {
  if (set === emptySet) return wholeSet(view)
  if (set.isWhole === true) return emptySet
  return {
    has: (id) => !set.has(id),
    candidates,
    count() {
      const members = set.count()
      return members === undefined ? undefined : view.size - members
    },
  }
}
