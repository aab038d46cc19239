import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveGateway, type ServedGateway } from '../support/gateway.ts'
import type { Fields } from './random-cluster.ts'
import { object, ownedBy, RelationCluster, uidIn } from './relation-cluster.ts'
import type { RelationRow } from './relation-row.ts'

const pod = (name: string, spec: object = {}, metadata: object = {}, more: object = {}) =>
  object('v1', 'Pod', name, { spec: { containers: [], ...spec }, ...more }, metadata)

const labelled = (name: string, labels: object, metadata: object = {}) =>
  pod(name, {}, { labels, ...metadata })

const policy = (name: string, podSelector: object) =>
  object('networking.k8s.io/v1', 'NetworkPolicy', name, { spec: { podSelector } })

const account = (name: string, namespace: string) => ({ kind: 'ServiceAccount', name, namespace })

/** What is easily got wrong: each by its name, forwards and backwards. */
const pitfalls: readonly RelationRow[] = [
  {
    row: 'owners are matched by UID, never by name',
    objects: [
      object('apps/v1', 'Deployment', 'web'),
      object('apps/v1', 'ReplicaSet', 'own', {}, ownedBy('apps/v1', 'Deployment', 'web')),
      // Of a Deployment of the same name, which was deleted.
      object(
        'apps/v1',
        'ReplicaSet',
        'former',
        {},
        {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'a former one' },
          ],
        },
      ),
      // Renamed, as its name in the reference says; the UID counts.
      object(
        'apps/v1',
        'ReplicaSet',
        'misnamed',
        {},
        {
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'Deployment',
              name: 'other',
              uid: uidIn('Deployment', 'web'),
            },
          ],
        },
      ),
    ],
    expected: {
      'deployment web replicaSets': ['misnamed', 'own'],
      'deployment web owned': ['misnamed', 'own'],
      'replicaSet own deployment': 'web',
      'replicaSet misnamed deployment': 'web',
      'replicaSet former deployment': null,
      'replicaSet former owners': [],
    },
  },
  {
    row: 'a namespaced object may have a cluster-scoped owner',
    objects: [
      object('v1', 'Node', 'pit-node'),
      object('v1', 'Node', 'pit-idle'),
      pod('mirror', {}, ownedBy('v1', 'Node', 'pit-node')),
      object(
        'coordination.k8s.io/v1',
        'Lease',
        'pit-node',
        {},
        { namespace: 'kube-node-lease', ...ownedBy('v1', 'Node', 'pit-node') },
      ),
      pod('stray'),
    ],
    expected: {
      'pod mirror owners': ['pit-node'],
      'pod mirror controller': 'pit-node',
      'pod stray owners': [],
      'lease pit-node@kube-node-lease owners': ['pit-node'],
      'node pit-node owned': ['mirror', 'pit-node'],
      'node pit-idle owned': [],
    },
  },
  {
    row: 'a Service without a selector selects nothing',
    objects: [
      object('v1', 'Service', 'without', { spec: {} }),
      object('v1', 'Service', 'empty', { spec: { selector: {} } }),
      object('v1', 'Service', 'web', { spec: { selector: { app: 'web' } } }),
      labelled('web', { app: 'web' }),
      pod('bare'),
    ],
    expected: {
      'service without pods': [],
      'service empty pods': [],
      'service web pods': ['web'],
      'pod web services': ['web'],
      'pod bare services': [],
    },
  },
  {
    row: 'a NetworkPolicy with an empty selector selects every pod of its namespace',
    objects: [
      policy('all', {}),
      policy('web', { matchLabels: { app: 'web' } }),
      labelled('web', { app: 'web' }),
      pod('bare'),
      pod('far', {}, { namespace: 'pit-elsewhere' }),
    ],
    expected: {
      'networkPolicy all pods': ['bare', 'web'],
      'networkPolicy web pods': ['web'],
      'pod bare networkPolicies': ['all'],
      'pod web networkPolicies': ['all', 'web'],
      'pod far@pit-elsewhere networkPolicies': [],
    },
  },
  {
    row: 'matchExpressions count, beside matchLabels and alone',
    objects: [
      ...(
        [
          ['in', { key: 'tier', operator: 'In', values: ['front', 'middle'] }],
          ['not-in', { key: 'tier', operator: 'NotIn', values: ['front'] }],
          ['exists', { key: 'tier', operator: 'Exists' }],
          ['absent', { key: 'tier', operator: 'DoesNotExist' }],
        ] as const
      ).flatMap(([name, expression]) => [
        policy(name, { matchExpressions: [expression] }),
        policy(`${name}-too`, { matchLabels: { app: 'web' }, matchExpressions: [expression] }),
      ]),
      labelled('front', { app: 'web', tier: 'front' }),
      labelled('back', { app: 'web', tier: 'back' }),
      labelled('other', { app: 'other' }),
    ],
    expected: {
      'networkPolicy in pods': ['front'],
      'networkPolicy in-too pods': ['front'],
      'networkPolicy not-in pods': ['back', 'other'],
      'networkPolicy not-in-too pods': ['back'],
      'networkPolicy exists pods': ['back', 'front'],
      'networkPolicy exists-too pods': ['back', 'front'],
      'networkPolicy absent pods': ['other'],
      'networkPolicy absent-too pods': [],
      'pod front networkPolicies': ['exists', 'exists-too', 'in', 'in-too'],
      'pod back networkPolicies': ['exists', 'exists-too', 'not-in', 'not-in-too'],
      'pod other networkPolicies': ['absent', 'not-in'],
    },
  },
  {
    row: 'Events of kubelets about a Node carry its name as UID',
    objects: [
      object('v1', 'Node', 'pit-kubelet'),
      object('v1', 'Node', 'pit-quiet'),
      ...(
        [
          ['by-name', 'pit-kubelet'],
          ['by-uid', uidIn('Node', 'pit-kubelet')],
          ['former', 'that of a former node'],
        ] as const
      ).map(([name, uid]) =>
        object('v1', 'Event', name, { involvedObject: { kind: 'Node', name: 'pit-kubelet', uid } }),
      ),
    ],
    expected: {
      'node pit-kubelet events': ['by-name', 'by-uid'],
      'node pit-quiet events': [],
    },
  },
  {
    row: 'the subject of a RoleBinding has its own namespace',
    objects: [
      object('v1', 'ServiceAccount', 'robot'),
      object('v1', 'ServiceAccount', 'robot', {}, { namespace: 'pit-team' }),
      object('v1', 'ServiceAccount', 'robot', {}, { namespace: 'pit-other' }),
      object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'far', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'any' },
        subjects: [account('robot', 'pit-team')],
      }),
      object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'near', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'any' },
        subjects: [account('robot', '<namespace>')],
      }),
    ],
    expected: {
      'roleBinding far serviceAccounts namespaceObject': [],
      'serviceAccount robot roleBindings': ['near'],
      'serviceAccount robot@pit-team roleBindings': ['far'],
      'serviceAccount robot@pit-other roleBindings': [],
    },
  },
  {
    row: 'every reference is looked up in the namespace of who refers, unless the API says otherwise',
    objects: [
      object('v1', 'ConfigMap', 'settings'),
      object('v1', 'ConfigMap', 'settings', {}, { namespace: 'pit-far' }),
      object('v1', 'ConfigMap', 'only-far', {}, { namespace: 'pit-far' }),
      object('v1', 'ServiceAccount', 'default', {}, { namespace: 'pit-far' }),
      pod('web', {
        serviceAccountName: 'default',
        volumes: [{ configMap: { name: 'settings' } }, { configMap: { name: 'only-far' } }],
      }),
      // The API says otherwise: the webhook names the namespace of its Service.
      object('v1', 'Service', 'hook', {}, { namespace: 'pit-far' }),
      object('v1', 'Service', 'hook'),
      object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'pit-hook', {
        webhooks: [{ clientConfig: { service: { name: 'hook', namespace: 'pit-far' } } }],
      }),
    ],
    expected: {
      'pod web configMaps': ['settings'],
      'pod web serviceAccount': null,
      'configMap settings pods': ['web'],
      'configMap settings@pit-far pods': [],
      'configMap only-far@pit-far pods': [],
      'serviceAccount default@pit-far pods': [],
      'service hook@pit-far validatingWebhookConfigurations': ['pit-hook'],
      'service hook validatingWebhookConfigurations': [],
    },
  },
]

describe('pitfalls', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start()
    for (const [at, { objects }] of pitfalls.entries()) cluster.create(`pit-${at}`, objects)
    cluster.create('ended', [
      ...['used', 'ended', 'unused'].map((name) => object('v1', 'ConfigMap', name)),
      ...(
        [
          ['running', 'used', 'Running'],
          ['waiting', 'used', 'Pending'],
          ['done', 'ended', 'Succeeded'],
          ['broken', 'ended', 'Failed'],
        ] as const
      ).map(([name, used, phase]) =>
        pod(name, { volumes: [{ configMap: { name: used } }] }, {}, { status: { phase } }),
      ),
    ])
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  it.each(pitfalls.map(({ row, expected }, at) => [row, expected, at] as const))(
    '%s',
    async (_row, expected, at) => {
      const found: Record<string, unknown> = {}
      for (const path of Object.keys(expected)) {
        found[path] = await cluster.namesAt(`pit-${at}`, path)
      }
      expect(found).toEqual(expected)
    },
  )

  it('terminal pods do not use a ConfigMap, though they name it', async () => {
    const { data, errors } = await cluster.ask(`{
      all: configMaps(namespace: "ended") {
        nodes { metadata { name } pods { nodes { metadata { name } } } usedBy { totalCount nodes { object { name } } } }
      }
      unused: configMaps(namespace: "ended", where: { usedBy: { none: {} } }) { nodes { metadata { name } } }
      used: configMaps(namespace: "ended", where: { usedBy: { some: {} } }) { nodes { metadata { name } } }
    }`)
    expect(errors).toBeUndefined()
    const names = ({ nodes }: Fields): readonly string[] =>
      nodes.map(({ metadata, object: used }: Fields) => (metadata ?? used).name)
    const told = data.all.nodes.map(({ metadata, pods, usedBy }: Fields) => {
      expect(usedBy.totalCount).toBe(usedBy.nodes.length)
      return [metadata.name, names(pods), names(usedBy)]
    })
    expect(told).toEqual([
      ['ended', ['broken', 'done'], []],
      ['unused', [], []],
      ['used', ['running', 'waiting'], ['running', 'waiting']],
    ])
    expect(names(data.unused)).toEqual(['ended', 'unused'])
    expect(names(data.used)).toEqual(['used'])
  })
})

describe('a label whose key every JavaScript object has as a member', () => {
  it('is none of an object that lacks it, wherever the last one stands', async () => {
    await using cluster = await RelationCluster.start()
    const app = { app: 'web' }
    const selector = { ...app, constructor: 'x' }
    cluster.create('inherited', [
      ...['a', 'c'].map((name) => labelled(name, app)),
      ...['b', 'd'].map((name) => labelled(name, selector)),
      object('v1', 'Service', 'picky', { spec: { selector } }),
    ])
    const { data, errors } = await cluster.ask(
      '{ pods(namespace: "inherited") { nodes { metadata { name } services { nodes { metadata { name } } } } } }',
    )
    expect(errors).toBeUndefined()
    const told = data.pods.nodes.map(({ metadata, services }: Fields) => [
      metadata.name,
      services.nodes.length,
    ])
    expect(told).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 0],
      ['d', 1],
    ])
  })
})

describe('every reference is looked up in the cluster of who refers', () => {
  const simulators: Simulator[] = []
  let gateway: ServedGateway
  beforeAll(async () => {
    for (const label of ['first', 'second']) {
      simulators.push(
        await startSimulator({
          bookmarkIntervalMs: 0,
          populate(storage) {
            const node = { group: '', version: 'v1', resource: 'nodes' }
            const pods = { group: '', version: 'v1', resource: 'pods' }
            const metadata = { name: 'same', labels: { of: label } }
            storage.create(node, { apiVersion: 'v1', kind: 'Node', metadata })
            storage.create(pods, {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: { name: label, namespace: 'default' },
              spec: { nodeName: 'same', containers: [] },
            })
          },
        }),
      )
    }
    const clusters = simulators.map(({ url }, at) => ({ name: `c${at}`, server: url }))
    gateway = await serveGateway({ clusters })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const simulator of simulators) await simulator[Symbol.asyncDispose]()
  })

  it.each(['first', 'second'])('forwards and backwards, in the %s of two', async (label) => {
    const cluster = label === 'first' ? 'c0' : 'c1'
    const data = await gateway.data(`{
      pod(cluster: "${cluster}", namespace: "default", name: "${label}") { node { metadata { label(key: "of") } } }
      node(cluster: "${cluster}", name: "same") { pods { nodes { metadata { name } } } }
    }`)
    expect(data.pod.node.metadata.label).toBe(label)
    expect(data.node.pods.nodes).toEqual([{ metadata: { name: label } }])
  })
})
