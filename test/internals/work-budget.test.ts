// Imports internals: the figures of a budget that is not passed are told to nobody.
import { describe, expect, it } from 'vitest'
import { bindCondition } from '../../src/query/condition/id-set.ts'
import { compileWhere, type Where } from '../../src/query/condition/where.ts'
import {
  defaultWorkLimits,
  QueryTooCostlyError,
  WorkBudget,
} from '../../src/query/condition/work-budget.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { podIndexes } from '../query/random-pods.ts'
import { objectOf, resourceOf, storeOf } from './stores.ts'

const limits = { ...defaultWorkLimits, rows: 10, fields: 100, tests: 1_000 }

describe('a work budget', () => {
  it('may be spent on one kind of work alone, to the last unit', () => {
    const budget = new WorkBudget(limits)
    for (let row = 0; row < 10; row += 1) budget.spend('rows', 1)
    expect(budget.failure).toBeUndefined()
    expect(() => budget.spend('rows', 1)).toThrow(QueryTooCostlyError)
  })

  it('is one for all kinds of work, and says what they came to', () => {
    const budget = new WorkBudget(limits)
    budget.spend('rows', 5)
    budget.spend('fields', 50)
    expect(() => budget.spend('tests', 30)).toThrow(
      expect.objectContaining({
        code: 'QUERY_TOO_COSTLY',
        message:
          'the operation answers 5 of at most 10 objects and writes 50 of at most 100 fields, which together is too much',
      }) as Error,
    )
  })

  it('names the work, its figure, its limit and a way out', () => {
    const budget = new WorkBudget(limits)
    expect(() => budget.spend('fields', 400)).toThrow(
      expect.objectContaining({
        value: { work: 'fields', amount: 400, limit: 100 },
        message: 'the operation writes 400 of at most 100 fields',
        hint: 'ask for smaller pages, or for fewer fields',
      }) as Error,
    )
  })

  it('once passed stays passed, with the same error', () => {
    const budget = new WorkBudget(limits)
    expect(() => budget.spend('rows', 11)).toThrow(QueryTooCostlyError)
    const { failure } = budget
    expect(() => budget.spend('fields', 0)).toThrow(failure)
  })
})

describe('alternatives on one index', () => {
  const pods = Array.from({ length: 500 }, (_, at) =>
    objectOf(
      'Pod',
      { name: `p${String(at).padStart(3, '0')}`, namespace: 'x' },
      {
        spec: { phase: at % 2 === 0 ? 'Running' : 'Failed' },
      },
    ),
  )
  const { view } = storeOf(resourceOf('Pod'), pods, indexersOf(podIndexes))

  /** The tests that finding all members costs, and how many there are. */
  const costOf = (or: readonly Where[]): { readonly tests: number; readonly members: number } => {
    const budget = new WorkBudget()
    const set = bindCondition(compileWhere({ or }, podIndexes), view, budget)
    const members = [...view.ids()].filter((id) => set.has(id)).length
    return { tests: budget.spent('tests'), members }
  }
  const each = (count: number, filter: (at: number) => Where): Where[] =>
    Array.from({ length: count }, (_, at) => filter(at))

  it('that are values are one set', () => {
    const one = costOf([{ name: { eq: 'p000' } }])
    const many = costOf(each(300, (at) => ({ name: { eq: `p${String(at).padStart(3, '0')}` } })))
    expect(many.members).toBe(300)
    expect(many.tests).toBeLessThan(2 * one.tests)
  })

  it('that are comparisons or prefixes are found by halving', () => {
    const one = costOf([{ name: { startsWith: 'p0' } }])
    const many = costOf(
      each(400, (at) => ({ name: { startsWith: `p${String(at).padStart(3, '0')}` } })),
    )
    expect(many.members).toBe(400)
    expect(many.tests).toBeLessThan(8 * one.tests)
  })

  it('of which many pass cost more than one that none passes, as all that pass are gathered', () => {
    const costOfAll = (contains: string): number => {
      const budget = new WorkBudget()
      const where = { name: { contains } }
      bindCondition(compileWhere(where, podIndexes), view, budget).candidates(1e9)
      return budget.spent('tests')
    }
    expect(costOfAll('p')).toBeGreaterThanOrEqual(costOfAll('none') + 2 * 500)
  })

  it('that are parts are tried once on each value that objects share', () => {
    const many = costOf(
      each(200, (at) => ({ phase: { contains: at === 199 ? 'ail' : `no${at}` } })),
    )
    expect(many.members).toBe(250)
    // Two phases of 200 parts, and a look at each pod.
    expect(many.tests).toBeLessThan(2 * 200 + 3 * 500)
  })
})
