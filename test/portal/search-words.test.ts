import { describe, expect, it } from 'vitest'
import { fitOf, fitting } from '../../packages/portal/src/search/fit.ts'

const entry = (title: string, ...also: readonly string[]) => ({ title, also })

describe('a text fits a title', () => {
  it('best as the whole title, then as its beginning, the beginning of a word, a part, and letters in order', () => {
    expect(fitOf('pods', 'Pods')).toBe(0)
    expect(fitOf('pod', 'Pods')).toBe(1)
    expect(fitOf('worker', 'invoice-worker')).toBe(2)
    expect(fitOf('set', 'StatefulSets')).toBe(3)
    expect(fitOf('dpl', 'Deployments')).toBe(4)
    expect(fitOf('xyz', 'Deployments')).toBeUndefined()
  })

  it('by any two letters only if they stand together', () => {
    expect(fitOf('ds', 'Deployments')).toBeUndefined()
    expect(fitOf('de', 'Deployments')).toBe(1)
  })

  it('and the best and shortest come first, by their other words too', () => {
    const found = fitting(
      'pod',
      [entry('PodDisruptionBudgets'), entry('Deployments'), entry('Pods'), entry('PodTemplates')],
      2,
    )
    expect(found.map(({ title }) => title)).toEqual(['Pods', 'PodTemplates'])
    const byShortName = fitting('svc', [entry('Services', 'svc'), entry('SVCs')], 5)
    expect(byShortName.map(({ title }) => title)).toEqual(['Services', 'SVCs'])
  })
})
