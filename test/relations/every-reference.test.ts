import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeClusters, type Fields, must } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const core = '/api/v1/namespaces/default'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const own = `${rbac}/namespaces/default`
const apps = '/apis/apps/v1/namespaces/default'
const labels = { app: 'web' }
const selector = { matchLabels: labels }
const container = { name: 'main', image: 'nginx:1' }
const template = { metadata: { labels }, spec: { containers: [container] } }
const roleRef = (kind: string, name: string): Fields => ({
  apiGroup: 'rbac.authorization.k8s.io',
  kind,
  name,
})
const scaler = (name: string, kind: string, target: string, apiVersion = 'apps/v1'): Fields => ({
  metadata: { name },
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion, kind, name: target } },
})
const group = 'uses.example.com'

const definition = (plural: string, kind: string, more: Fields): Fields => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, kind },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
        ...more,
      },
    ],
  },
})

const scale = {
  subresources: {
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
}

/** What names and selects what, as it is made over the API. */
const made: readonly (readonly [path: string, body: Fields])[] = [
  ...['reader', 'idle'].map((name) => [`${own}/roles`, { metadata: { name }, rules: [] }] as const),
  [`${rbac}/clusterroles`, { metadata: { name: 'uses-all' }, rules: [] }],
  [
    `${own}/rolebindings`,
    { metadata: { name: 'reads' }, roleRef: roleRef('Role', 'reader'), subjects: [] },
  ],
  [
    `${own}/rolebindings`,
    { metadata: { name: 'reads-all' }, roleRef: roleRef('ClusterRole', 'uses-all'), subjects: [] },
  ],
  [
    `${rbac}/clusterrolebindings`,
    { metadata: { name: 'uses-all' }, roleRef: roleRef('ClusterRole', 'uses-all'), subjects: [] },
  ],
  [`${apps}/deployments`, { metadata: { name: 'web' }, spec: { selector, template } }],
  [`${apps}/replicasets`, { metadata: { name: 'web' }, spec: { selector, template } }],
  [
    `${apps}/statefulsets`,
    { metadata: { name: 'web' }, spec: { serviceName: 'none', selector, template } },
  ],
  [`${core}/pods`, { metadata: { name: 'web', labels }, spec: { containers: [container] } }],
  [
    `${core}/services`,
    { metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } },
  ],
  [
    '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    { metadata: { name: 'web' }, spec: { selector, minAvailable: 1 } },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    { metadata: { name: 'web' }, spec: { podSelector: selector, policyTypes: ['Ingress'] } },
  ],
  ...['Deployment', 'ReplicaSet', 'StatefulSet'].map(
    (kind) =>
      [
        '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
        scaler(kind.toLowerCase(), kind, 'web'),
      ] as const,
  ),
  [
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    scaler('crank', 'Crank', 'one', `${group}/v1`),
  ],
  [
    '/api/v1/persistentvolumes',
    {
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: { driver: 'csi.example.com', volumeHandle: 'v' },
      },
    },
  ],
  [
    `${core}/persistentvolumeclaims`,
    {
      metadata: { name: 'disk' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        volumeName: 'disk',
        storageClassName: '',
      },
    },
  ],
  [
    '/apis/storage.k8s.io/v1/volumeattachments',
    {
      metadata: { name: 'disk' },
      spec: {
        attacher: 'csi.example.com',
        nodeName: 'node',
        source: { persistentVolumeName: 'disk' },
      },
    },
  ],
]

describeClusters('every reference and selector, backwards', (cluster) => {
  let gateway: ServedGateway
  beforeAll(async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    for (const one of [definition('cranks', 'Crank', scale), definition('bolts', 'Bolt', {})])
      await must(cluster(), definitions, { method: 'POST', body: one })
    for (const [path, body] of made) await must(cluster(), path, { method: 'POST', body })
    const crank = { apiVersion: `${group}/v1`, kind: 'Crank', metadata: { name: 'one' } }
    await vi.waitFor(
      async () =>
        must(cluster(), `/apis/${group}/v1/namespaces/default/cranks`, {
          method: 'POST',
          body: crank,
        }),
      { timeout: 60_000, interval: 200 },
    )
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
  }, 60_000)
  afterAll(async () => gateway?.[Symbol.asyncDispose]())

  const web = 'namespace: "default", name: "web"'
  it.each([
    ['role', 'namespace: "default", name: "reader"', ['RoleBinding reads roleRef.name']],
    ['role', 'namespace: "default", name: "idle"', []],
    [
      'clusterRole',
      'name: "uses-all"',
      ['ClusterRoleBinding uses-all roleRef.name', 'RoleBinding reads-all roleRef.name'],
    ],
    [
      'deployment',
      web,
      [
        'HorizontalPodAutoscaler deployment spec.scaleTargetRef.name',
        'NetworkPolicy web spec.podSelector',
        'PodDisruptionBudget web spec.selector',
        'Service web spec.selector',
      ],
    ],
    [
      'statefulSet',
      web,
      [
        'HorizontalPodAutoscaler statefulset spec.scaleTargetRef.name',
        'NetworkPolicy web spec.podSelector',
        'PodDisruptionBudget web spec.selector',
        'Service web spec.selector',
      ],
    ],
    [
      'replicaSet',
      web,
      [
        'HorizontalPodAutoscaler replicaset spec.scaleTargetRef.name',
        'NetworkPolicy web spec.podSelector',
        'PodDisruptionBudget web spec.selector',
        'Service web spec.selector',
      ],
    ],
    [
      'pod',
      web,
      [
        'NetworkPolicy web spec.podSelector',
        'PodDisruptionBudget web spec.selector',
        'Service web spec.selector',
      ],
    ],
    [
      'persistentVolume',
      'name: "disk"',
      [
        'PersistentVolumeClaim disk spec.volumeName',
        'VolumeAttachment disk spec.source.persistentVolumeName',
      ],
    ],
    [
      'usesExampleComCrank',
      'namespace: "default", name: "one"',
      ['HorizontalPodAutoscaler crank spec.scaleTargetRef.name'],
    ],
    ['customResourceDefinition', `name: "cranks.${group}"`, ['Crank one apiVersion kind']],
    ['customResourceDefinition', `name: "bolts.${group}"`, []],
  ])('are `usedBy` of %s(%s)', async (lookup, args, wanted) => {
    const { found } = await gateway.data(
      `{ found: ${lookup}(${args}) { usedBy { totalCount nodes { object { kind name } paths } } } }`,
    )
    const users = found.usedBy.nodes.map(
      ({ object, paths }: Fields) => `${object.kind} ${object.name} ${paths.join(' ')}`,
    )
    expect(users.toSorted()).toEqual(wanted)
    expect(found.usedBy.totalCount).toBe(wanted.length)
  })

  it('decide which roles, volumes and definitions `where: { usedBy: { none: {} } }` finds', async () => {
    const data = await gateway.data(`{
      roles(namespace: "default", where: { usedBy: { none: {} } }) { nodes { name } }
      persistentVolumes(where: { usedBy: { none: {} } }) { nodes { name } }
      customResourceDefinitions(where: { name: { endsWith: "${group}" }, usedBy: { none: {} } }) { nodes { name } } }`)
    const names = (list: Fields): readonly string[] => list.nodes.map(({ name }: Fields) => name)
    expect(names(data.roles)).toEqual(['idle'])
    expect(names(data.persistentVolumes)).toEqual([])
    expect(names(data.customResourceDefinitions)).toEqual([`bolts.${group}`])
  })

  it('count only where a change made them: a removed budget is no user any more', async () => {
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    const body = { metadata: { name: 'second' }, spec: { selector, minAvailable: 1 } }
    const query = `{ deployment(${web}) { usedBy(types: ["PodDisruptionBudget"]) { nodes { object { name } } } } }`
    const names = async (): Promise<readonly string[]> => {
      const { deployment } = await gateway.data(query)
      return deployment.usedBy.nodes.map(({ object }: Fields) => object.name)
    }
    await must(cluster(), budgets, { method: 'POST', body })
    await expect.poll(names).toEqual(['second', 'web'])
    await must(cluster(), `${budgets}/second`, { method: 'DELETE' })
    await expect.poll(names).toEqual(['web'])
  })
})
