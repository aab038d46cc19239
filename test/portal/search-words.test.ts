import { describe, expect, it } from 'vitest'
import { deedsIn } from '../../packages/portal/src/search/deeds.ts'
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

  it('by letters in order only from the beginning of a single word', () => {
    expect(fitOf('drain', 'ValidatingWebhookConfigurations')).toBeUndefined()
    expect(fitOf('log', 'ClusterRoleBindings')).toBeUndefined()
    expect(fitOf('cert', 'cluster staging')).toBeUndefined()
  })

  it('by letters in order only where nothing fits better', () => {
    const kinds = [entry('CustomResourceDefinitions'), entry('CertificateSigningRequests')]
    expect(fitting('cert', kinds, 5)).toEqual([kinds[1]])
    expect(fitting('csrd', kinds, 5)).toEqual([kinds[0]])
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

describe('what is to be done with an object', () => {
  const deeds = [
    { label: 'Delete', also: [] },
    { label: 'Roll back', also: ['rollback'] },
    { label: 'Resume the rollout', also: ['resume'] },
    { label: 'Resume', also: [] },
    { label: 'Logs', also: [] },
  ]
  const found = (text: string) => deedsIn(text, deeds).map(({ deed, name }) => [deed.label, name])

  it('is named by its label, another word, or three letters of one, before the name', () => {
    expect(found('delete Ledger')).toEqual([['Delete', 'Ledger']])
    expect(found('del ledger')).toEqual([['Delete', 'ledger']])
    expect(found('roll back web api')).toEqual([['Roll back', 'web api']])
    expect(found('rollback web')).toEqual([['Roll back', 'web']])
    expect(found('log web')).toEqual([['Logs', 'web']])
    expect(found('resume web')).toEqual([
      ['Resume the rollout', 'web'],
      ['Resume', 'web'],
    ])
  })

  it('is not named by fewer letters, nor without a name after it', () => {
    expect(found('de ledger')).toEqual([])
    expect(found('delete')).toEqual([])
    expect(found('roll ba')).toEqual([])
    expect(found('ledger delete')).toEqual([])
  })
})
