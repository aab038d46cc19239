import { objectKey } from 'informerql/informer'
import type { Unstructured } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { FilterValueError, UnknownFilterError } from '../../src/query/condition/argument-error.ts'
import { bindCondition } from '../../src/query/condition/id-set.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import {
  compileListCondition,
  type ListArguments,
} from '../../src/query/condition/list-condition.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import type { Where } from '../../src/query/condition/where.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { matchesSelector, matchesWhere, podIndexes, RandomPods } from './random-pods.ts'
import { byCodeUnits, keysOf, objectOf, resourceOf, storeOf } from './stores.ts'

function matches(args: ListArguments, pod: Unstructured): boolean {
  const { namespace, namespaces, labelSelector, where } = args
  if (typeof namespace === 'string' && pod.metadata.namespace !== namespace) return false
  if (namespaces?.includes(pod.metadata.namespace ?? '') === false) return false
  if (typeof labelSelector === 'string' && !matchesSelector(labelSelector, pod)) return false
  return matchesWhere(where ?? {}, pod)
}

function randomArguments(random: RandomPods): ListArguments {
  return {
    namespace: random.chance(0.2) ? random.namespace() : null,
    namespaces: random.chance(0.2) ? [random.namespace(), random.namespace()] : null,
    labelSelector: random.chance(0.5) ? random.labelSelector() : null,
    where: random.chance(0.8) ? random.where() : null,
  }
}

describe(`the arguments of a list, seed ${runSeed}`, () => {
  it('choose from the indexes what a scan of the objects would choose', () => {
    const random = new RandomPods(seededRandom(runSeed))
    const pods = new Map<string, Unstructured>()
    const store = storeOf(resourceOf('Pod'), [], indexersOf(podIndexes))
    for (let round = 0; round < 600; round += 1) {
      const pod = random.pod()
      const key = objectKey(pod.metadata)
      if (random.chance(0.25) && pods.delete(key)) store.remove(key)
      else {
        pods.set(key, pod)
        store.put(pod)
      }
      const args = randomArguments(random)
      const set = bindCondition(
        compileListCondition(args, podIndexes),
        store.view,
        new WorkBudget({ tests: 1e9 }),
      )
      const expected = [...pods].filter(([, one]) => matches(args, one)).map(([found]) => found)
      const found = [...store.view.ids()].filter((id) => set.has(id))
      expect({ round, args, keys: keysOf(store.view, found).toSorted(byCodeUnits) }).toEqual({
        round,
        args,
        keys: expected.toSorted(byCodeUnits),
      })
      expect(set.count() ?? expected.length).toBe(expected.length)
      const limit = random.below(pods.size + 10)
      const candidates = set.candidates(limit) ?? { size: 0, ids: () => found }
      const ids = [...candidates.ids()]
      expect(new Set(ids).size).toBe(ids.length)
      expect(candidates.size).toBeLessThanOrEqual(limit)
      expect(found.filter((id) => !ids.includes(id))).toEqual([])
    }
  })

  it('take the candidates from the smallest postings', () => {
    const pods = Array.from({ length: 100 }, (_, at) =>
      objectOf(
        'Pod',
        { name: `p${at}`, namespace: 'x', labels: { app: at < 3 ? 'rare' : 'common' } },
        { status: { phase: at < 40 ? 'Pending' : 'Running' } },
      ),
    )
    const { view } = storeOf(resourceOf('Pod'), pods, indexersOf(podIndexes))
    const size = (args: ListArguments) =>
      bindCondition(compileListCondition(args, podIndexes), view, new WorkBudget()).candidates(100)
        ?.size
    const pending: Where = { phase: { eq: 'Pending' } }
    expect(size({ where: pending })).toBe(40)
    expect(size({ where: pending, labelSelector: 'app=rare' })).toBe(3)
    expect(size({ where: { or: [pending, { name: { in: ['p1', 'p99'] } }] } })).toBe(42)
    // Every pod has a phase, so those that are not pending have another one; not every pod has an image.
    expect(size({ where: { not: pending } })).toBe(60)
    expect(size({ where: { not: { image: { eq: 'web:1' } } } })).toBeUndefined()
    expect(size({ where: { name: { startsWith: 'p1' } } })).toBe(11)
    // There are more names than pending pods: looking through them would not pay.
    expect(size({ where: { name: { startsWith: 'p1' }, ...pending } })).toBe(40)
    expect(size({ where: { phase: { in: [] } } })).toBe(0)
    expect(size({ where: { phase: { eq: 'Gone' } } })).toBe(0)
  })
})

describe('a bad argument is refused by its path', () => {
  const deep = (levels: number): Where => (levels === 0 ? {} : { not: deep(levels - 1) })
  it.each<[unknown, typeof UnknownFilterError | typeof FilterValueError, string]>([
    [{ phases: {} }, UnknownFilterError, 'where.phases'],
    [{ phases: null }, UnknownFilterError, 'where.phases'],
    [{ constructor: {} }, UnknownFilterError, 'where.constructor'],
    [{ phase: { equals: 'x' } }, UnknownFilterError, 'where.phase.equals'],
    [{ ready: { startsWith: 'x' } }, UnknownFilterError, 'where.ready.startsWith'],
    [{ memory: { startsWith: '1' } }, UnknownFilterError, 'where.memory.startsWith'],
    [{ labels: { key: 'app' } }, FilterValueError, 'where.labels'],
    [{ labels: [{ eq: 'x' }] }, FilterValueError, 'where.labels[0].key'],
    [{ labels: [{ key: 'app', like: 'x' }] }, UnknownFilterError, 'where.labels[0].like'],
    [{ labels: [{ key: 'app', in: [1] }] }, FilterValueError, 'where.labels[0].in[0]'],
    [{ phase: { eq: 3 } }, FilterValueError, 'where.phase.eq'],
    [{ phase: 'Running' }, FilterValueError, 'where.phase'],
    [{ phase: { in: 'Running' } }, FilterValueError, 'where.phase.in'],
    [{ phase: { eq: null } }, FilterValueError, 'where.phase.eq'],
    [{ phase: { in: ['Running', null] } }, FilterValueError, 'where.phase.in[1]'],
    [{ phase: { exists: 'yes' } }, FilterValueError, 'where.phase.exists'],
    [{ restarts: { gt: 'many' } }, FilterValueError, 'where.restarts.gt'],
    [{ memory: { lt: '1 Gi' } }, FilterValueError, 'where.memory.lt'],
    [{ creationTimestamp: { gte: 'today' } }, FilterValueError, 'where.creationTimestamp.gte'],
    [{ or: [{}, { phase: { not: { eq: 1 } } }] }, FilterValueError, 'where.or[1].phase.not.eq'],
    [{ and: { phase: {} } }, FilterValueError, 'where.and'],
    [{ and: [null] }, FilterValueError, 'where.and[0]'],
    [{ not: [] }, FilterValueError, 'where.not'],
    [
      { name: { in: Array.from({ length: 10_001 }, () => 'x') } },
      FilterValueError,
      'where.name.in',
    ],
    [deep(30), FilterValueError, `where${'.not'.repeat(21)}`],
  ])('%j', (where, type, argument) => {
    const compile = () => compileListCondition({ where: where as Where }, podIndexes)
    expect(compile).toThrow(type)
    expect(compile).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT', argument }))
    expect(compile).toThrow(argument)
  })

  it('a label selector', () => {
    const args = { labelSelector: 'a==b==c' }
    expect(() => compileListCondition(args, podIndexes)).toThrow(
      expect.objectContaining({ argument: 'labelSelector', value: 'a==b==c' }),
    )
  })
})
