// Imports internals: a selector that is not followed leaves no trace outside.
import { expect, it } from 'vitest'
import { type Scope, unrestricted } from '../../src/query/condition/scope.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { compiledRelationsInSteps, indexersByType } from '../../src/query/relation/relations.ts'
import { atOnce } from '../../src/lib/event-loop.ts'
import { objectOf, resourceOf, storeOf } from './stores.ts'

const relations = atOnce(
  compiledRelationsInSteps(
    [
      {
        form: 'selects',
        name: 'targets',
        from: 'Scraper',
        to: 'Target',
        path: 'spec.selector',
        selector: 'labelSelector',
        namespaceLabelsPath: 'spec.namespaces',
      },
      { form: 'reverse', name: 'scrapers', from: 'Target', to: 'Scraper', of: 'Scraper.targets' },
    ],
    { isNamespaced: (type) => type !== 'Namespace' },
  ),
)

/** Which Scrapers select the one Target there is, as far as may be seen; nobody may read Namespaces. */
function follow(scope: Scope): unknown {
  const scrapers = storeOf(
    resourceOf('Scraper'),
    [
      objectOf(
        'Scraper',
        { name: 'all', namespace: 'hidden' },
        { spec: { selector: {}, namespaces: { matchLabels: { scraped: 'yes' } } } },
      ),
    ],
    indexersByType(relations.values()).get('Scraper') ?? {},
  ).view
  const { view } = storeOf(resourceOf('Target'), [
    objectOf('Target', { name: 'one', namespace: 'seen' }),
  ])
  const part = (type: string) => {
    if (type === 'Namespace') throw new Error('Namespaces may not be read')
    return { view: scrapers, scope }
  }
  const budget = new WorkBudget()
  return relations.get('Target.scrapers')?.follow({ view, id: 0, part, budget })
}

it('A selector that may not be seen is not told by what it would have to read', () => {
  expect(() => follow(unrestricted)).toThrow('Namespaces may not be read')
  expect(follow({ form: 'namespaces', namespaces: new Set(['seen']) })).toEqual({ form: 'nothing' })
})
