import {
  findCondition,
  isConditionTrue,
  setCondition,
  type StatusCondition,
} from 'informerql/controller'
import { InvalidOptionError } from 'informerql/informer'
import type { Condition } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'

const firstMs = Date.UTC(2026, 0, 1)
const laterMs = firstMs + 60_000
const first = '2026-01-01T00:00:00Z'
const later = '2026-01-01T00:01:00Z'

const ready = { type: 'Ready', status: 'False', reason: 'Starting', message: '0 of 3' } as const
const conditions: readonly Condition[] = [
  { type: 'Progressing', status: 'True', reason: 'Busy', message: '', lastTransitionTime: first },
  { ...ready, lastTransitionTime: first, observedGeneration: 1 },
]

describe('A condition', () => {
  it('that is new comes last, with its time', () => {
    const set = setCondition(undefined, { ...ready, observedGeneration: 3 }, firstMs)
    expect(set).toEqual({
      changed: true,
      conditions: [{ ...ready, lastTransitionTime: first, observedGeneration: 3 }],
    })
    const second = setCondition(set.conditions, { ...ready, type: 'Synced' }, laterMs)
    expect(second.conditions.map(({ type }) => type)).toEqual(['Ready', 'Synced'])
  })

  it('that is as it was is no change, and the list is the same', () => {
    const set = setCondition(conditions, { ...ready, observedGeneration: 1 }, laterMs)
    expect(set.changed).toBe(false)
    expect(set.conditions).toBe(conditions)
    expect(setCondition(conditions, ready, laterMs).changed).toBe(false)
  })

  it.each([{ reason: 'Waiting' }, { message: '1 of 3' }, { observedGeneration: 2 }])(
    'that changes in %j keeps its transition time and its place',
    (change) => {
      const before = JSON.stringify(conditions)
      const set = setCondition(conditions, { ...ready, ...change }, laterMs)
      expect(set.changed).toBe(true)
      expect(set.conditions[1]).toEqual({ ...conditions[1], ...change })
      expect(set.conditions[0]).toBe(conditions[0])
      expect(JSON.stringify(conditions)).toBe(before)
    },
  )

  it('that changes its status has a new transition time', () => {
    const { conditions: all } = setCondition(
      conditions,
      { ...ready, status: 'True', reason: 'Up' },
      laterMs,
    )
    expect(all[1]).toMatchObject({ status: 'True', lastTransitionTime: later })
    expect(all[1]?.observedGeneration).toBe(1)
    expect([isConditionTrue(all, 'Ready'), isConditionTrue(conditions, 'Ready')]).toEqual([
      true,
      false,
    ])
  })

  it('of a kind’s own form keeps its further members', () => {
    interface Own extends StatusCondition {
      readonly lastUpdateTime?: string
    }
    const own: readonly Own[] = [{ type: 'Ready', status: 'True', lastUpdateTime: first }]
    const { conditions: all } = setCondition(own, { type: 'Ready', status: 'True', reason: 'Up' })
    expect(all[0]?.lastUpdateTime).toBe(first)
    expect(all[0]?.lastTransitionTime).toEqual(expect.any(String))
  })

  it('is found by its type', () => {
    expect(findCondition(conditions, 'Ready')?.reason).toBe('Starting')
    expect(findCondition(conditions, 'Lost')).toBeUndefined()
    expect(findCondition(undefined, 'Ready')).toBeUndefined()
    expect(isConditionTrue(undefined, 'Ready')).toBe(false)
  })

  it.each([
    ['type', { type: '' }],
    ['type', { type: 'not ready' }],
    ['reason', { reason: '' }],
    ['reason', { reason: 'Out of stock' }],
    ['status', { status: 'true' as 'True' }],
  ])('is refused where the API refuses its %s: %j', (option, wrong) => {
    const set = () => setCondition([], { ...ready, ...wrong })
    expect(set).toThrow(InvalidOptionError)
    expect(set).toThrow(new RegExp(`^${option} is`))
  })

  it('has its message cut to what the API takes', () => {
    const { conditions: all } = setCondition([], { ...ready, message: 'x'.repeat(40_000) })
    expect(all[0]?.message).toHaveLength(32_768)
    expect(setCondition(all, { ...ready, message: 'x'.repeat(40_000) }).changed).toBe(false)
  })
})
