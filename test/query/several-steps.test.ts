import type { StoreView, KubernetesObject } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { listRows } from '../../src/query/page/page.ts'
import type { RelationDefinition } from '../../src/query/relation/relation-definition.ts'
import { compileRelations, indexersByType } from '../../src/query/relation/relations.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { keysOf, objectOf, resourceOf, storeOf } from './stores.ts'

const definitions: readonly RelationDefinition[] = [
  { form: 'owned', name: 'pods', from: 'Job', to: 'Pod' },
  {
    form: 'selects',
    name: 'pods',
    from: 'Service',
    to: 'Pod',
    path: 'spec.selector',
    selector: 'map',
  },
  { form: 'reverse', name: 'services', from: 'Pod', to: 'Service', of: 'Service.pods' },
  { form: 'events', name: 'events', from: 'Pod', to: 'Event' },
  {
    form: 'through',
    name: 'services',
    from: 'Job',
    to: 'Service',
    steps: ['Job.pods', 'Pod.services'],
  },
  {
    form: 'through',
    name: 'podEvents',
    from: 'Job',
    to: 'Event',
    steps: ['Job.pods', 'Pod.events'],
  },
]

const relations = compileRelations(definitions, { isNamespaced: () => true })

describe('A relation over several steps', () => {
  it(`leads from siblings to what each of them leads to, seed ${runSeed}`, () => {
    const random = seededRandom(runSeed)
    const below = (limit: number): number => Math.floor(random() * limit)
    const labels = (): Record<string, string> => ({
      app: `a${below(3)}`,
      ...(random() < 0.5 ? { tier: `t${below(2)}` } : {}),
      ...(random() < 0.1 ? { only: String(random()) } : {}),
    })
    const objects: KubernetesObject[] = []
    for (let at = 0; at < 5; at++) objects.push(objectOf('Job', { name: `j${at}`, namespace: 'a' }))
    for (let at = 0; at < 60; at++) {
      const name = `p${at}`
      const namespace = random() < 0.8 ? 'a' : 'b'
      const owner = `j${below(5)}`
      const uid = `job-a-${owner}`
      const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: owner, uid }]
      objects.push(objectOf('Pod', { name, namespace, labels: labels(), ownerReferences }))
      if (random() < 0.4) {
        const involvedObject = { kind: 'Pod', namespace, name, uid: `pod-${namespace}-${name}` }
        const { uid: _, ...named } = involvedObject
        objects.push(
          objectOf(
            'Event',
            { name: `e${at}`, namespace },
            random() < 0.5 ? { involvedObject } : { related: named },
          ),
        )
      }
    }
    for (let at = 0; at < 20; at++) {
      const namespace = random() < 0.7 ? 'a' : 'b'
      const spec = random() < 0.1 ? {} : { selector: labels() }
      objects.push(objectOf('Service', { name: `s${at}`, namespace }, { spec }))
    }
    const stores = new Map<string, StoreView>(
      ['Job', 'Pod', 'Service', 'Event'].map((type) => [
        type,
        storeOf(
          resourceOf(type, true, ''),
          objects.filter(({ kind }) => kind === type),
          indexersByType(relations.values()).get(type) ?? {},
        ).view,
      ]),
    )
    const leadsTo = (name: string, key: string, withRelated: boolean): readonly string[] => {
      const relation = relations.get(name)
      const view = stores.get(relation?.definition.from ?? '')
      const target = stores.get(relation?.definition.to ?? '')
      const id = view?.idOf(key)
      if (relation === undefined || target === undefined) throw new Error(name)
      if (view === undefined || id === undefined) throw new Error(key)
      const budget = new WorkBudget()
      const part = (type: string) => ({ view: stores.get(type) ?? target, scope: unrestricted })
      const condition = relation.follow({ view, id, withRelated, part, budget })
      const rows = listRows({ view: target, condition, scope: unrestricted, budget, limit: 100 })
      return keysOf(target, rows)
    }
    let found = 0
    for (let at = 0; at < 5; at++) {
      for (const withRelated of [false, true]) {
        for (const [whole, last] of [
          ['Job.services', 'Pod.services'],
          ['Job.podEvents', 'Pod.events'],
        ] as const) {
          const pods = leadsTo('Job.pods', `a/j${at}`, withRelated)
          const each = new Set(pods.flatMap((pod) => leadsTo(last, pod, withRelated)))
          const keys = leadsTo(whole, `a/j${at}`, withRelated)
          expect(keys.toSorted(), whole).toEqual([...each].toSorted())
          found += keys.length
        }
      }
    }
    expect(found).toBeGreaterThan(20)
  })
})
