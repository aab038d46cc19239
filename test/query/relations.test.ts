import type { StoreView, KubernetesObject } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { compileListCondition } from '../../src/query/condition/list-condition.ts'
import { listPage } from '../../src/query/page/page.ts'
import {
  type RelationDefinition,
  RelationDefinitionError,
} from '../../src/query/relation/relation-definition.ts'
import { compileRelations, indexersByType } from '../../src/query/relation/relations.ts'
import { QueryTooCostlyError, WorkBudget } from '../../src/query/condition/work-budget.ts'
import { type Scope, unrestricted } from '../../src/query/condition/scope.ts'
import { keysOf, objectOf, resourceOf, storeOf } from './stores.ts'

const definitions: readonly RelationDefinition[] = [
  {
    form: 'reference',
    name: 'node',
    from: 'Pod',
    to: 'Node',
    paths: ['spec.nodeName'],
    many: false,
  },
  { form: 'reverse', name: 'pods', from: 'Node', to: 'Pod', of: 'Pod.node' },
  {
    form: 'reference',
    name: 'configMaps',
    from: 'Pod',
    to: 'ConfigMap',
    paths: [
      'spec.volumes[*].configMap.name',
      'spec.volumes[*].projected.sources[*].configMap.name',
      'spec.containers[*].envFrom[*].configMapRef.name',
      'spec.configMapNames[*]',
    ],
    many: true,
  },
  { form: 'reverse', name: 'pods', from: 'ConfigMap', to: 'Pod', of: 'Pod.configMaps' },
  {
    form: 'reference',
    name: 'serviceAccounts',
    from: 'RoleBinding',
    to: 'ServiceAccount',
    paths: ['subjects[*].name'],
    namespacePaths: ['subjects[*].namespace'],
    many: true,
  },
  {
    form: 'reverse',
    name: 'roleBindings',
    from: 'ServiceAccount',
    to: 'RoleBinding',
    of: 'RoleBinding.serviceAccounts',
  },
  {
    form: 'reference',
    name: 'claim',
    from: 'PersistentVolume',
    to: 'PersistentVolumeClaim',
    paths: ['spec.claimRef.name'],
    namespacePaths: ['spec.claimRef.namespace'],
    many: false,
  },
  {
    form: 'selects',
    name: 'pods',
    from: 'Service',
    to: 'Pod',
    path: 'spec.selector',
    selector: 'map',
  },
  { form: 'reverse', name: 'services', from: 'Pod', to: 'Service', of: 'Service.pods' },
  {
    form: 'selects',
    name: 'pods',
    from: 'NetworkPolicy',
    to: 'Pod',
    path: 'spec.podSelector',
    selector: 'labelSelector',
    whenAbsent: 'everything',
  },
  {
    form: 'reverse',
    name: 'networkPolicies',
    from: 'Pod',
    to: 'NetworkPolicy',
    of: 'NetworkPolicy.pods',
  },
  {
    form: 'selects',
    name: 'pods',
    from: 'PodDisruptionBudget',
    to: 'Pod',
    path: 'spec.selector',
    selector: 'labelSelector',
  },
  {
    form: 'selects',
    name: 'nodes',
    from: 'ClusterSelector',
    to: 'Pod',
    path: 'spec.selector',
    selector: 'labelSelector',
  },
  {
    form: 'reverse',
    name: 'clusterSelectors',
    from: 'Pod',
    to: 'ClusterSelector',
    of: 'ClusterSelector.nodes',
  },
  { form: 'owned', name: 'pods', from: 'Deployment', to: 'Pod', through: ['ReplicaSet'] },
  { form: 'owned', name: 'replicaSets', from: 'Deployment', to: 'ReplicaSet' },
  { form: 'owner', name: 'deployment', from: 'Pod', to: 'Deployment', through: ['ReplicaSet'] },
  { form: 'owner', name: 'node', from: 'Lease', to: 'Node' },
  { form: 'events', name: 'events', from: 'Pod', to: 'Event' },
  { form: 'events', name: 'events', from: 'Node', to: 'Event' },
]

const clusterScoped = new Set(['Node', 'PersistentVolume', 'ClusterSelector'])
const context = { isNamespaced: (type: string) => !clusterScoped.has(type) }
const relations = compileRelations(definitions, context)

/** Stores of a small cluster, indexed as the relations ask. */
function clusterOf(objects: readonly KubernetesObject[]): (type: string) => StoreView {
  const types = new Set(objects.map((object) => object.kind))
  const stores = new Map(
    [...types, ...definitions.map((definition) => definition.to)].map((type) => [
      type,
      storeOf(
        resourceOf(type, context.isNamespaced(type), type === 'Deployment' ? 'apps' : ''),
        objects.filter((object) => object.kind === type),
        indexersByType(relations.values()).get(type) ?? {},
      ).view,
    ]),
  )
  return (type) => {
    const view = stores.get(type)
    if (view === undefined) throw new Error(`no store of ${type}`)
    return view
  }
}

interface FollowOptions {
  readonly scope?: Scope
  readonly labelSelector?: string
  readonly budget?: WorkBudget
}

function follow(
  stores: (type: string) => StoreView,
  name: string,
  key: string,
  { scope = unrestricted, labelSelector, budget = new WorkBudget() }: FollowOptions = {},
): string[] {
  const relation = relations.get(name)
  if (relation === undefined) throw new Error(`no relation ${name}`)
  const view = stores(relation.definition.from)
  const id = view.idOf(key)
  if (id === undefined) throw new Error(`no object ${key}`)
  const related = relation.follow({
    view,
    id,
    part: (type) => ({ view: stores(type), scope: unrestricted }),
    budget,
  })
  const target = stores(relation.definition.to)
  const condition = compileListCondition({ labelSelector: labelSelector ?? null }, [])
  const both = { form: 'and', conditions: [related, condition] } as const
  const page = listPage({ view: target, condition: both, scope, budget, identity: { list: name } })
  expect(page.totalCount()).toBe(page.ids.length)
  return keysOf(target, page.ids)
}

const inNamespace = (
  kind: string,
  key: string,
  fields: Record<string, unknown> = {},
  metadata = {},
) => {
  const [namespace = '', name = ''] = key.split('/')
  return objectOf(kind, { name, namespace, ...metadata }, fields)
}

const owner = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
})

const about = (reference: object) => ({ involvedObject: reference })

describe('references', () => {
  const stores = clusterOf([
    objectOf('Node', { name: 'n1' }),
    objectOf('Node', { name: 'n2' }),
    inNamespace('Pod', 'a/one', { spec: { nodeName: 'n1' } }),
    inNamespace('Pod', 'b/one', { spec: { nodeName: 'n1' } }, { labels: { app: 'x' } }),
    inNamespace('Pod', 'a/lost', { spec: { nodeName: 'gone' } }),
    inNamespace('Pod', 'a/pending', { spec: {} }),
    inNamespace('Pod', 'a/unset', { spec: { nodeName: '' } }),
    inNamespace('ConfigMap', 'a/settings'),
    inNamespace('ConfigMap', 'b/settings'),
    inNamespace('ConfigMap', 'a/extra'),
    inNamespace('Pod', 'a/configured', {
      spec: {
        volumes: [
          { configMap: { name: 'settings' } },
          { projected: { sources: [{ configMap: { name: 'extra' } }, { secret: { name: 'x' } }] } },
          { emptyDir: {} },
        ],
        containers: [{ envFrom: [{ configMapRef: { name: 'settings' } }] }, { name: 'bare' }],
        configMapNames: ['absent'],
      },
    }),
    objectOf(
      'PersistentVolume',
      { name: 'pv' },
      { spec: { claimRef: { namespace: 'b', name: 'data' } } },
    ),
    objectOf('PersistentVolume', { name: 'free' }, { spec: { claimRef: { name: 'data' } } }),
    inNamespace('PersistentVolumeClaim', 'a/data'),
    inNamespace('PersistentVolumeClaim', 'b/data'),
    inNamespace('ServiceAccount', 'a/robot'),
    inNamespace('ServiceAccount', 'b/robot'),
    inNamespace('ServiceAccount', 'a/other'),
    inNamespace('RoleBinding', 'a/binding', {
      subjects: [{ name: 'robot', namespace: 'b' }, { name: 'other' }],
    }),
  ])

  it('lead to the object of that name', () => {
    expect(follow(stores, 'Pod.node', 'a/one')).toEqual(['n1'])
    expect(follow(stores, 'Pod.node', 'a/lost')).toEqual([])
    expect(follow(stores, 'Pod.node', 'a/pending')).toEqual([])
    expect(follow(stores, 'Pod.node', 'a/unset')).toEqual([])
  })

  it('are read backwards from the same index', () => {
    expect(follow(stores, 'Node.pods', 'n1')).toEqual(['a/one', 'b/one'])
    expect(follow(stores, 'Node.pods', 'n2')).toEqual([])
  })

  it('stay in the namespace of the object, from every place the API has', () => {
    expect(follow(stores, 'Pod.configMaps', 'a/configured')).toEqual(['a/extra', 'a/settings'])
    expect(follow(stores, 'ConfigMap.pods', 'a/settings')).toEqual(['a/configured'])
    expect(follow(stores, 'ConfigMap.pods', 'b/settings')).toEqual([])
  })

  it('go to another namespace where the API says which', () => {
    expect(follow(stores, 'PersistentVolume.claim', 'pv')).toEqual(['b/data'])
    expect(follow(stores, 'PersistentVolume.claim', 'free')).toEqual([])
  })

  it('pair each subject of a RoleBinding with its own namespace', () => {
    const name = 'RoleBinding.serviceAccounts'
    expect(follow(stores, name, 'a/binding')).toEqual(['a/other', 'b/robot'])
    expect(follow(stores, 'ServiceAccount.roleBindings', 'b/robot')).toEqual(['a/binding'])
    expect(follow(stores, 'ServiceAccount.roleBindings', 'a/robot')).toEqual([])
  })

  it('combine with the filters and the Scope of their target', () => {
    expect(follow(stores, 'Node.pods', 'n1', { labelSelector: 'app=x' })).toEqual(['b/one'])
    const scope: Scope = { form: 'namespaces', namespaces: new Set(['a']) }
    expect(follow(stores, 'Node.pods', 'n1', { scope })).toEqual(['a/one'])
    const none: Scope = { form: 'names', keys: new Set() }
    expect(follow(stores, 'Pod.node', 'a/one', { scope: none })).toEqual([])
  })
})

describe('selectors', () => {
  const webLabels = { labels: { app: 'web', tier: 'front', 'x.example/y': '1' } }
  const stores = clusterOf([
    inNamespace('Pod', 'a/web', {}, webLabels),
    inNamespace('Pod', 'a/db', {}, { labels: { app: 'db' } }),
    inNamespace('Pod', 'a/bare'),
    inNamespace('Pod', 'b/web', {}, webLabels),
    inNamespace('Service', 'a/web', { spec: { selector: { app: 'web', tier: 'front' } } }),
    inNamespace('Service', 'a/slash', { spec: { selector: { 'x.example/y': '1' } } }),
    inNamespace('Service', 'a/other', { spec: { selector: { app: 'web', tier: 'back' } } }),
    inNamespace('Service', 'a/none', { spec: {} }),
    inNamespace('Service', 'a/empty', { spec: { selector: {} } }),
    inNamespace('NetworkPolicy', 'a/all', { spec: { podSelector: {} } }),
    inNamespace('NetworkPolicy', 'a/absent', { spec: {} }),
    inNamespace('NetworkPolicy', 'a/labels', {
      spec: { podSelector: { matchLabels: { app: 'db' } } },
    }),
    inNamespace('NetworkPolicy', 'a/expressions', {
      spec: {
        podSelector: {
          matchLabels: { app: 'web' },
          matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['front'] }],
        },
      },
    }),
    inNamespace('NetworkPolicy', 'a/in', {
      spec: {
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] },
      },
    }),
    inNamespace('NetworkPolicy', 'a/not', {
      spec: { podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } },
    }),
    inNamespace('NetworkPolicy', 'a/malformed', {
      spec: { podSelector: { matchExpressions: [{ key: 'app', operator: 'Near' }] } },
    }),
    inNamespace('PodDisruptionBudget', 'a/absent', { spec: {} }),
    inNamespace('PodDisruptionBudget', 'a/all', { spec: { selector: {} } }),
    objectOf(
      'ClusterSelector',
      { name: 'web' },
      { spec: { selector: { matchLabels: { app: 'web' } } } },
    ),
  ])

  it.each([
    ['Service.pods', 'a/web', ['a/web']],
    ['Service.pods', 'a/slash', ['a/web']],
    ['Service.pods', 'a/other', []],
    ['NetworkPolicy.pods', 'a/labels', ['a/db']],
    ['NetworkPolicy.pods', 'a/expressions', []],
    ['NetworkPolicy.pods', 'a/in', ['a/db', 'a/web']],
    ['NetworkPolicy.pods', 'a/not', ['a/bare']],
    ['NetworkPolicy.pods', 'a/malformed', []],
    ['ClusterSelector.nodes', 'web', ['a/web', 'b/web']],
  ])('%s of %s: %j', (name, key, expected) => {
    expect(follow(stores, name, key)).toEqual(expected)
  })

  it('that a Service lacks select nothing', () => {
    expect(follow(stores, 'Service.pods', 'a/none')).toEqual([])
    expect(follow(stores, 'Service.pods', 'a/empty')).toEqual([])
  })

  it('that are empty select the whole namespace of a NetworkPolicy or a PodDisruptionBudget', () => {
    const all = ['a/bare', 'a/db', 'a/web']
    expect(follow(stores, 'NetworkPolicy.pods', 'a/all')).toEqual(all)
    expect(follow(stores, 'PodDisruptionBudget.pods', 'a/all')).toEqual(all)
  })

  it('that are absent select all for a NetworkPolicy and nothing for a PodDisruptionBudget', () => {
    expect(follow(stores, 'NetworkPolicy.pods', 'a/absent')).toHaveLength(3)
    expect(follow(stores, 'PodDisruptionBudget.pods', 'a/absent')).toEqual([])
  })

  it.each([
    ['Service.pods', 'Pod.services'],
    ['NetworkPolicy.pods', 'Pod.networkPolicies'],
    ['ClusterSelector.nodes', 'Pod.clusterSelectors'],
  ])('%s read backwards is %s', (forward, backward) => {
    const selecting = stores(relations.get(forward)?.definition.from ?? '')
    const pods = stores('Pod')
    for (const pod of keysOf(pods, pods.ids())) {
      const expected = keysOf(selecting, selecting.ids()).filter((key) =>
        follow(stores, forward, key).includes(pod),
      )
      expect({ pod, keys: follow(stores, backward, pod) }).toEqual({ pod, keys: expected })
    }
  })

  it('read backwards try only those under labels of the object, each of which is paid for', () => {
    const services = Array.from({ length: 500 }, (_, at) =>
      inNamespace('Service', `a/s${at}`, { spec: { selector: { app: `app-${at}` } } }),
    )
    const labels = Object.fromEntries(services.map((_, at) => [`l${at}`, 'x']))
    const pod = inNamespace('Pod', 'a/p', {}, { labels: { ...labels, app: 'app-7' } })
    const [of, budget] = [clusterOf([...services, pod]), new WorkBudget()]
    expect(follow(of, 'Pod.services', 'a/p', { budget })).toEqual(['a/s7'])
    expect(budget.spent('examined')).toBeLessThan(5)
    expect(budget.spent('tests')).toBeGreaterThan(500)
  })
})

describe('owners', () => {
  const stores = clusterOf([
    inNamespace('Deployment', 'a/web', {}, { uid: 'd-1' }),
    inNamespace('Deployment', 'b/web', {}, { uid: 'd-2' }),
    inNamespace(
      'ReplicaSet',
      'a/web-old',
      {},
      { uid: 'r-0', ...owner('Deployment', 'web', 'd-0') },
    ),
    inNamespace('ReplicaSet', 'a/web-1', {}, { uid: 'r-1', ...owner('Deployment', 'web', 'd-1') }),
    inNamespace('ReplicaSet', 'a/web-2', {}, { uid: 'r-2', ...owner('Deployment', 'web', 'd-1') }),
    inNamespace('Pod', 'a/old', {}, owner('ReplicaSet', 'web-old', 'r-0')),
    inNamespace('Pod', 'a/p1', {}, owner('ReplicaSet', 'web-1', 'r-1')),
    inNamespace('Pod', 'a/p2', {}, owner('ReplicaSet', 'web-2', 'r-2')),
    inNamespace('Pod', 'a/stale', {}, owner('ReplicaSet', 'web-1', 'r-gone')),
    inNamespace('Pod', 'a/orphan'),
    objectOf('Node', { name: 'n1', uid: 'n-1' }),
    inNamespace('Lease', 'kube-node-lease/n1', {}, owner('Node', 'n1', 'n-1')),
  ])

  it('are matched by UID in two hops, never by name', () => {
    expect(follow(stores, 'Deployment.replicaSets', 'a/web')).toEqual(['a/web-1', 'a/web-2'])
    expect(follow(stores, 'Deployment.pods', 'a/web')).toEqual(['a/p1', 'a/p2'])
    expect(follow(stores, 'Deployment.pods', 'b/web')).toEqual([])
    expect(follow(stores, 'Pod.deployment', 'a/p2')).toEqual(['a/web'])
    expect(follow(stores, 'Pod.deployment', 'a/old')).toEqual([])
    expect(follow(stores, 'Pod.deployment', 'a/stale')).toEqual([])
    expect(follow(stores, 'Pod.deployment', 'a/orphan')).toEqual([])
  })

  it('of a namespaced object may be cluster-scoped', () => {
    expect(follow(stores, 'Lease.node', 'kube-node-lease/n1')).toEqual(['n1'])
  })

  it('on the way count against the budget', () => {
    const budget = new WorkBudget({ examined: 1 })
    expect(() => follow(stores, 'Deployment.pods', 'a/web', { budget })).toThrow(
      QueryTooCostlyError,
    )
  })

  it('in between must be readable', () => {
    expect(relations.get('Deployment.pods')?.reads).toEqual(['ReplicaSet', 'Pod'])
  })
})

describe('events', () => {
  const stores = clusterOf([
    inNamespace('Pod', 'a/p', {}, { uid: 'u-2' }),
    inNamespace('Pod', 'b/p', {}, { uid: 'u-3' }),
    objectOf('Node', { name: 'n1', uid: 'u-n1' }),
    inNamespace('Event', 'a/now', about({ kind: 'Pod', namespace: 'a', name: 'p', uid: 'u-2' })),
    inNamespace('Event', 'a/former', about({ kind: 'Pod', namespace: 'a', name: 'p', uid: 'u-1' })),
    inNamespace(
      'Event',
      'a/no-uid',
      about({ apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'p' }),
    ),
    inNamespace(
      'Event',
      'a/group',
      about({ apiVersion: 'x.io/v1', kind: 'Pod', namespace: 'a', name: 'p' }),
    ),
    inNamespace('Event', 'a/kind', about({ kind: 'Job', namespace: 'a', name: 'p' })),
    inNamespace('Event', 'a/new', {
      regarding: { kind: 'Pod', namespace: 'a', name: 'p', uid: 'u-2' },
    }),
    inNamespace('Event', 'default/kubelet', about({ kind: 'Node', name: 'n1', uid: 'n1' })),
    inNamespace('Event', 'default/controller', about({ kind: 'Node', name: 'n1', uid: 'u-n1' })),
    inNamespace('Event', 'default/other', about({ kind: 'Node', name: 'n2', uid: 'n2' })),
    inNamespace('Event', 'default/nothing'),
  ])

  it('about an object are those with its UID, and those without any that name it', () => {
    expect(follow(stores, 'Pod.events', 'a/p')).toEqual(['a/new', 'a/no-uid', 'a/now'])
    expect(follow(stores, 'Pod.events', 'b/p')).toEqual([])
  })

  it('of kubelets carry the name of the Node in place of its UID', () => {
    expect(follow(stores, 'Node.events', 'n1')).toEqual(['default/controller', 'default/kubelet'])
  })
})

describe('a set of relations is refused', () => {
  const [node, pods] = definitions
  if (node === undefined || pods === undefined) throw new Error('no definitions')
  it.each<[string, RelationDefinition[]]>([
    ['declared twice', [node, node]],
    ['no relation Pod.node', [pods]],
    ['leads from Node to Service', [node, { ...pods, to: 'Service' }]],
    [
      'has no reverse',
      [
        { form: 'owned', name: 'pods', from: 'Job', to: 'Pod' },
        { form: 'reverse', name: 'job', from: 'Pod', to: 'Job', of: 'Job.pods' },
      ],
    ],
    [
      'as many namespace paths',
      [
        {
          form: 'reference',
          name: 'x',
          from: 'A',
          to: 'B',
          paths: ['a', 'b'],
          namespacePaths: ['c'],
          many: true,
        },
      ],
    ],
    [
      'does not stand beside',
      [
        {
          form: 'reference',
          name: 'x',
          from: 'A',
          to: 'B',
          paths: ['items[*].name'],
          namespacePaths: ['others[*].namespace'],
          many: true,
        },
      ],
    ],
  ])('%s', (problem, set) => {
    expect(() => compileRelations(set, context)).toThrow(RelationDefinitionError)
    expect(() => compileRelations(set, context)).toThrow(problem)
  })
})
