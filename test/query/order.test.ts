import { objectKey } from 'informerql/informer'
import type { Unstructured } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { allOf, type Condition, everything } from '../../src/query/condition/condition.ts'
import { compileListCondition } from '../../src/query/condition/list-condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { indexersOf, indexFunctionOf } from '../../src/query/index/index-definition.ts'
import { compareKeys, compileOrder, type OrderTerm } from '../../src/query/page/list-order.ts'
import { listPage, type Page, type PageBounds } from '../../src/query/page/page.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { podIndexes, RandomPods } from './random-pods.ts'
import { keysOf, resourceOf, storeOf, type WrittenStore } from './stores.ts'

const seeds = Array.from({ length: 8 }, (_, at) => runSeed + at)

/** The values of an object by which it is ordered, worked out from the object itself. */
function valueOf(pod: Unstructured, { index, descending }: OrderTerm): string | undefined {
  const definition = podIndexes.find(({ name }) => name === index)
  if (definition === undefined) throw new TypeError(index)
  const values = [...indexFunctionOf(definition)(pod)].toSorted((a, b) => (a < b ? -1 : 1))
  return descending ? values.at(-1) : values[0]
}

/** Where an object stands in an order. */
interface Place {
  readonly key: string
  /** One for each term. */
  readonly values: readonly (string | undefined)[]
}

const placeOf = (pod: Unstructured, terms: readonly OrderTerm[]): Place => ({
  key: objectKey(pod.metadata),
  values: terms.map((term) => valueOf(pod, term)),
})

function compare(a: Place, b: Place, terms: readonly OrderTerm[]): number {
  for (const [at, { descending }] of terms.entries()) {
    const [left, right] = [a.values[at], b.values[at]]
    if (left === right) continue
    if (left === undefined) return 1
    if (right === undefined) return -1
    return left < right === descending ? 1 : -1
  }
  return compareKeys(a.key, b.key)
}

interface Case {
  readonly pods: Map<string, Unstructured>
  readonly store: WrittenStore
  readonly random: RandomPods
}

function populated(seed: number, count: number): Case {
  const random = new RandomPods(seededRandom(seed))
  const pods = new Map<string, Unstructured>()
  for (let at = 0; at < count; at++) {
    const pod = random.pod()
    pods.set(objectKey(pod.metadata), pod)
  }
  const store = storeOf(resourceOf('Pod'), [...pods.values()], indexersOf(podIndexes))
  return { pods, store, random }
}

function randomTerms(random: RandomPods): readonly OrderTerm[] {
  const names = podIndexes.map(({ name }) => name)
  const picked = new Set(Array.from({ length: random.below(4) }, () => random.pick(names)))
  return Array.from(picked, (index) => ({ index, descending: random.chance(0.5) }))
}

function pageOf(
  { store }: Case,
  condition: Condition,
  terms: readonly OrderTerm[],
  bounds: PageBounds,
): Page {
  return listPage({
    view: store.view,
    condition,
    scope: unrestricted,
    terms,
    budget: new WorkBudget({ tests: 1e9, examined: 1e9 }),
    identity: { list: 'Pod', orderBy: terms },
    ...bounds,
  })
}

describe('a list is answered in any order', () => {
  it.each(seeds)('as sorting all of it would have it, page by page both ways, seed %i', (seed) => {
    const made = populated(seed, 1500)
    const { pods, random, store } = made
    for (let round = 0; round < 40; round++) {
      const terms = randomTerms(random)
      const where = random.chance(0.5) ? {} : random.where()
      const condition = compileListCondition({ where }, podIndexes)
      const all = new Set(keysOf(store.view, walkAll(made, condition, terms, false, 500)))
      const expected = [...pods.values()]
        .map((pod) => placeOf(pod, terms))
        .filter(({ key }) => all.has(key))
        .toSorted((a, b) => compare(a, b, terms))
        .map(({ key }) => key)
      const size = random.pick([1, 3, 50, 400])
      const bound = size < 10 ? 60 : Infinity
      const about = JSON.stringify({ terms, where, size })
      const forwards = keysOf(store.view, walkAll(made, condition, terms, false, size, bound))
      expect(forwards, about).toEqual(expected.slice(0, forwards.length))
      const backwards = keysOf(store.view, walkAll(made, condition, terms, true, size, bound))
      expect(backwards, about).toEqual(expected.toReversed().slice(0, backwards.length))
    }
  })

  it('and goes on where a cursor was, whatever came and went meanwhile', () => {
    const made = populated(runSeed, 600)
    const { pods, random, store } = made
    const terms = [
      { index: 'phase', descending: false },
      { index: 'restarts', descending: true },
    ]
    const stayed = new Set(pods.keys())
    const seen: string[] = []
    let after: string | undefined
    for (;;) {
      const page = pageOf(made, everything, terms, { first: 20, after })
      seen.push(...keysOf(store.view, page.ids))
      const last = page.ids.at(-1)
      if (!page.hasNextPage || last === undefined) break
      after = page.cursorOf(last)
      for (let change = 0; change < 5; change++) {
        const key = random.pick([...pods.keys()])
        stayed.delete(key)
        pods.delete(key)
        store.remove(key)
        const pod = random.pod(`late-${seen.length}-${change}`)
        pods.set(objectKey(pod.metadata), pod)
        store.put(pod)
      }
    }
    expect(new Set(seen).size).toBe(seen.length)
    const found = new Set(seen)
    expect([...stayed].filter((key) => !found.has(key))).toEqual([])
  })

  it('between two cursors there is what stands between them', () => {
    const made = populated(runSeed, 300)
    const terms = [{ index: 'memory', descending: true }]
    const whole = pageOf(made, everything, terms, { first: 500 })
    const cursorAt = (at: number) => whole.cursorOf(whole.ids[at] ?? 0)
    const between = pageOf(made, everything, terms, { after: cursorAt(10), before: cursorAt(30) })
    expect(between.ids).toEqual(whole.ids.slice(11, 30))
    expect(between.hasPreviousPage).toBe(true)
    expect(between.hasNextPage).toBe(true)
    const last = pageOf(made, everything, terms, { last: 5, before: cursorAt(30) })
    expect(last.ids).toEqual(whole.ids.slice(25, 30))
  })
})

describe('an orderBy that cannot be honoured names its argument', () => {
  it.each([
    [[{ nothing: 'ASC' }], 'orderBy[0].nothing'],
    [[{ phase: 'UP' }], 'orderBy[0].phase'],
    [[{ phase: 'ASC' }, { phase: 'DESC' }], 'orderBy[1].phase'],
    [[{}], 'orderBy[0]'],
    [[{ phase: 'ASC', name: 'ASC' }], 'orderBy[0]'],
  ])('%j', (orderBy, argument) => {
    expect(() => compileOrder(orderBy, podIndexes)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', argument }),
    )
  })

  it('first and last together', () => {
    const made = populated(1, 3)
    expect(() => pageOf(made, everything, [], { first: 1, last: 1 })).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', argument: 'last' }),
    )
  })
})

describe('facets count what every object of the list has', () => {
  it.each(seeds)('as counting them one by one does, seed %i', (seed) => {
    const { pods, random, store } = populated(seed, 800)
    for (let round = 0; round < 30; round++) {
      const where = random.chance(0.3) ? {} : random.where()
      const condition = allOf([compileListCondition({ where }, podIndexes)])
      const page = pageOf({ pods, random, store }, condition, [], { first: 500 })
      const members = new Set(
        keysOf(store.view, walkAll({ pods, random, store }, condition, [], false, 500)),
      )
      const name = random.pick(podIndexes).name
      const definition = podIndexes.find((index) => index.name === name)
      const counts = new Map<string, number>()
      let missing = 0
      for (const [key, pod] of pods) {
        if (!members.has(key) || definition === undefined) continue
        const values = new Set(indexFunctionOf(definition)(pod))
        if (values.size === 0) missing += 1
        for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
      }
      const top = random.pick([1, 3, 100])
      const expected = Array.from(counts, ([value, count]) => ({ value, count }))
        .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
        .slice(0, top)
      expect(page.spread(store.view.index(name), top), JSON.stringify({ where, name })).toEqual({
        values: expected,
        distinctCount: counts.size,
        missingCount: missing,
      })
    }
  })
})

function walkAll(
  made: Case,
  condition: Condition,
  terms: readonly OrderTerm[],
  backwards: boolean,
  size: number,
  bound = Infinity,
): readonly number[] {
  const ids: number[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < bound; pages++) {
    const page = pageOf(
      made,
      condition,
      terms,
      backwards ? { last: size, before: cursor } : { first: size, after: cursor },
    )
    ids.push(...(backwards ? page.ids.toReversed() : page.ids))
    const edge = backwards ? page.ids[0] : page.ids.at(-1)
    if (edge === undefined || !(backwards ? page.hasPreviousPage : page.hasNextPage)) break
    cursor = page.cursorOf(edge)
  }
  return ids
}
