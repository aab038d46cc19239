import type { StoreView } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import type { Condition, RelatedBy, RelatedStores } from '../../src/query/condition/condition.ts'
import type { RelatedFields } from '../../src/query/condition/related-filter.ts'
import { type Scope, unrestricted } from '../../src/query/condition/scope.ts'
import { compileWhere, type Where } from '../../src/query/condition/where.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { builtInDefinitions } from '../../src/query/index/index-definition.ts'
import { countObjects, listRows } from '../../src/query/page/page.ts'
import { compileRelations, indexersByType } from '../../src/query/relation/relations.ts'
import { keysOf, objectOf, resourceOf, storeOf } from '../query/stores.ts'

const relations = compileRelations(
  [
    {
      form: 'reference',
      name: 'configMaps',
      from: 'Pod',
      to: 'ConfigMap',
      paths: ['spec.maps[*]'],
      many: true,
    },
    { form: 'reverse', name: 'pods', from: 'ConfigMap', to: 'Pod', of: 'Pod.configMaps' },
    {
      form: 'reference',
      name: 'node',
      from: 'Pod',
      to: 'Node',
      paths: ['spec.nodeName'],
      many: false,
    },
    { form: 'reverse', name: 'pods', from: 'Node', to: 'Pod', of: 'Pod.node' },
  ],
  { isNamespaced: (type) => type !== 'Node' },
)

function relatedBy(name: string): RelatedBy {
  const relation = relations.get(name)
  if (relation === undefined) throw new TypeError(name)
  const { definition, ...rest } = relation
  const { from, to } = definition
  const indexes = new Map([from, to].map((type) => [type, { needed: [], useful: [] }]))
  return { name, from, to, indexes, ...rest }
}

const indexes = builtInDefinitions
const none = () => ({ indexes, related: new Map() })
const related = (name: string): RelatedFields =>
  new Map([['pods', { form: 'many', name: 'pods', relation: relatedBy(name), to: none }]])

const pod = (name: string, namespace: string, spec: object) =>
  objectOf('Pod', { name, namespace }, { spec })

function clusterOf(scope: Scope, podCount = 0) {
  const extra = Array.from({ length: podCount }, (_, at) =>
    pod(`p${at}`, 'a', { nodeName: `node-${at % 50}` }),
  )
  const pods = storeOf(
    resourceOf('Pod'),
    [
      pod('one', 'a', { maps: ['used'], nodeName: 'node-1' }),
      pod('two', 'b', { maps: ['used'], nodeName: 'node-2' }),
      ...extra,
    ],
    indexersByType(relations.values()).get('Pod') ?? {},
  ).view
  const maps = ['a/used', 'a/free', 'b/used', 'b/free'].map((key) => {
    const [namespace = '', name = ''] = key.split('/')
    return objectOf('ConfigMap', { name, namespace })
  })
  const nodes = Array.from({ length: podCount === 0 ? 3 : 50 }, (_, at) =>
    objectOf('Node', { name: `node-${at}` }),
  )
  const known = new Map<Condition, Map<StoreView, object>>()
  const stores: RelatedStores = {
    has: () => true,
    part: () => ({ view: pods, scope }),
    notFullyVisible: (type, argument) => new Error(`${argument}: not all of ${type}`),
    known(condition) {
      const made = known.get(condition) ?? new Map<StoreView, object>()
      known.set(condition, made)
      return made
    },
  }
  return {
    stores,
    configMaps: storeOf(resourceOf('ConfigMap'), maps).view,
    nodes: storeOf(resourceOf('Node', false), nodes).view,
  }
}

function keys(
  cluster: ReturnType<typeof clusterOf>,
  kind: 'configMaps' | 'nodes',
  where: Where,
  namespace?: string,
): string[] {
  const view = cluster[kind]
  const name = kind === 'nodes' ? 'Node.pods' : 'ConfigMap.pods'
  const inside: Where = namespace === undefined ? {} : { namespace: { eq: namespace } }
  const condition = compileWhere({ ...inside, ...where }, indexes, 'where', related(name))
  const options = { view, condition, scope: unrestricted, budget: new WorkBudget() }
  return keysOf(view, listRows({ ...options, related: cluster.stores, limit: 100 }))
}

describe('a filter by related objects that may be seen in some namespaces only', () => {
  const cluster = clusterOf({ form: 'namespaces', namespaces: new Set(['a']) })

  it('finds what is there as far as it may be seen', () => {
    expect(keys(cluster, 'configMaps', { pods: { some: {} } })).toEqual(['a/used'])
    expect(keys(cluster, 'nodes', { pods: { some: {} } })).toEqual(['node-1'])
  })

  it('says that there is none only where all of them may be seen', () => {
    const unused: Where = { pods: { none: {} } }
    expect(keys(cluster, 'configMaps', unused, 'a')).toEqual(['a/free'])
    expect(keys(cluster, 'configMaps', { not: { pods: { some: {} } } }, 'a')).toEqual(['a/free'])
    expect(() => keys(cluster, 'configMaps', unused)).toThrow('where.pods.none: not all of Pod')
    expect(() => keys(cluster, 'configMaps', unused, 'b')).toThrow('where.pods.none')
    const some: Where = { not: { pods: { some: {} } } }
    expect(() => keys(cluster, 'configMaps', some)).toThrow('where.not.pods.some')
    const every: Where = { pods: { every: { name: { eq: 'one' } } } }
    expect(keys(cluster, 'configMaps', every, 'a')).toEqual(['a/free', 'a/used'])
    expect(() => keys(cluster, 'configMaps', every)).toThrow('where.pods.every')
  })

  it('never says so of cluster-scoped objects, to which any namespace may be related', () => {
    expect(() => keys(cluster, 'nodes', { pods: { none: {} } })).toThrow('where.pods.none')
  })

  it('never says so where only some objects may be seen by their names', () => {
    const named = clusterOf({ form: 'names', keys: new Set(['a/one']) })
    expect(keys(named, 'configMaps', { pods: { some: {} } })).toEqual(['a/used'])
    expect(() => keys(named, 'configMaps', { pods: { none: {} } }, 'a')).toThrow('where.pods.none')
  })
})

describe('what a filter by related objects costs', () => {
  const examined = (where: Where): number => {
    const { stores, nodes: view } = clusterOf(unrestricted, 20_000)
    const budget = new WorkBudget()
    const condition = compileWhere(where, indexes, 'where', related('Node.pods'))
    const options = { view, condition, scope: unrestricted, budget, related: stores }
    countObjects(options)
    return budget.spent('examined')
  }

  it('is little where few objects meet the inner condition', () => {
    expect(examined({ pods: { some: { name: { eq: 'p7' } } } })).toBeLessThan(10)
    expect(examined({ pods: { none: { name: { eq: 'p7' } } } })).toBeLessThan(1_000)
  })

  it('is no more than one related object each where nearly all of them do', () => {
    expect(examined({ pods: { some: { namespace: { eq: 'a' } } } })).toBeLessThan(1_000)
    expect(examined({ pods: { none: {} } })).toBeLessThan(200)
  })

  it('is paid for before it is done', () => {
    const { stores, nodes: view } = clusterOf(unrestricted, 20_000)
    const where: Where = { pods: { none: { name: { endsWith: 'x' } } } }
    const condition = compileWhere(where, indexes, 'where', related('Node.pods'))
    const budget = new WorkBudget({ examined: 5_000, tests: 5_000 })
    const options = { view, condition, scope: unrestricted, budget, related: stores }
    expect(() => countObjects(options)).toThrow('the operation')
  })
})
