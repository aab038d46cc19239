import { type Simulator, startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { serveGateway } from '../support/gateway.ts'
import { sent } from './created.ts'
import { followSynced } from './followed-subscription.ts'
import type { Fields } from './test-cluster.ts'

/** The kinds, and the fields of `Workload` as the objects of the API have them. */
const kinds: readonly {
  readonly kind: string
  readonly path: string
  readonly read: (object: Fields) => Fields
}[] = [
  { kind: 'Deployment', path: '/apis/apps/v1/deployments', read: replicasOf },
  {
    kind: 'StatefulSet',
    path: '/apis/apps/v1/statefulsets',
    read: (object) => ({ ...replicasOf(object), strategy: object.spec.updateStrategy ?? null }),
  },
  {
    kind: 'DaemonSet',
    path: '/apis/apps/v1/daemonsets',
    read: ({ spec, status }) => ({
      replicas: status.desiredNumberScheduled,
      readyReplicas: status.numberReady,
      updatedReplicas: status.updatedNumberScheduled ?? null,
      podTemplate: spec.template,
      strategy: spec.updateStrategy ?? null,
      conditions: status.conditions ?? null,
    }),
  },
  { kind: 'ReplicaSet', path: '/apis/apps/v1/replicasets', read: replicasOf },
  {
    kind: 'Job',
    path: '/apis/batch/v1/jobs',
    read: ({ spec, status }) => ({
      replicas: spec.parallelism ?? null,
      readyReplicas: status?.ready ?? null,
      updatedReplicas: null,
      podTemplate: spec.template,
      strategy: null,
      conditions: status?.conditions ?? null,
    }),
  },
  {
    kind: 'CronJob',
    path: '/apis/batch/v1/cronjobs',
    read: ({ spec }) => ({
      replicas: null,
      readyReplicas: null,
      updatedReplicas: null,
      podTemplate: spec.jobTemplate.spec.template,
      strategy: null,
      conditions: null,
    }),
  },
]

function replicasOf({ spec, status }: Fields): Fields {
  return {
    replicas: spec.replicas,
    readyReplicas: status?.readyReplicas ?? null,
    updatedReplicas: status?.updatedReplicas ?? null,
    podTemplate: spec.template,
    strategy: spec.strategy ?? null,
    conditions: status?.conditions ?? null,
  }
}

const workload = `... on Workload {
  replicas readyReplicas updatedReplicas
  podTemplate { spec { containers { name image } } }
  strategy { type rollingUpdate { maxSurge maxUnavailable partition } }
  conditions { type status reason message lastTransitionTime }
  pods(first: 500) { totalCount }
  serviceAccount { name }
}`

/** What the selection above shows of the fields that are objects of the API. */
const shown = ({ podTemplate, strategy, conditions, ...counts }: Fields): Fields => ({
  ...counts,
  podTemplate: {
    spec: {
      containers: podTemplate.spec.containers.map(({ name, image }: Fields) => ({ name, image })),
    },
  },
  strategy: strategy && {
    type: strategy.type ?? null,
    rollingUpdate: strategy.rollingUpdate
      ? { maxSurge: null, maxUnavailable: null, partition: null, ...strategy.rollingUpdate }
      : null,
  },
  conditions:
    conditions?.map((one: Fields) => ({
      type: one.type,
      status: one.status,
      reason: one.reason ?? null,
      message: one.message ?? null,
      lastTransitionTime: one.lastTransitionTime ?? null,
    })) ?? null,
})

const listAll = async ({ url }: Simulator, path: string): Promise<readonly Fields[]> =>
  (await (await fetch(url + path)).json()).items

it('One selection on `Workload` reads all kinds that run pods, each from where its API has the field', async () => {
  await using cluster = await startSimulator({ populate: company({ pods: 400 }) })
  await using gateway = await serveGateway({ clusters: [{ name: 'demo', server: cluster.url }] })
  for (const { kind, path, read } of kinds) {
    const { list } = await gateway.data(
      `{ list: objectList(kind: "${kind}", first: 500) { nodes { name namespace ${workload} } } }`,
    )
    const expected = await listAll(cluster, path)
    expect(expected, kind).not.toHaveLength(0)
    const byName = new Map<string, Fields>(
      list.nodes.map((node: Fields) => [`${node.namespace}/${node.name}`, node]),
    )
    for (const object of expected) {
      const { name, namespace } = object.metadata
      expect(byName.get(`${namespace}/${name}`), `${kind} ${name}`).toMatchObject(
        shown(read(object)),
      )
    }
  }
  const { list } = await gateway.data(`{
    list: kubernetesObjects(kinds: ["Deployment", "ConfigMap"], first: 500) { nodes { kind ${workload} } }
  }`)
  const { ConfigMap = [], Deployment = [] } = Object.groupBy(
    list.nodes as Fields[],
    ({ kind }) => kind,
  )
  expect(ConfigMap[0]).toEqual({ kind: 'ConfigMap' })
  expect(Deployment.some(({ pods }) => pods.totalCount > 0)).toBe(true)
})

it('A subscription follows a workload of any kind by the same selection', async () => {
  await using cluster = await startSimulator({ populate: company({ pods: 100 }) })
  await using gateway = await serveGateway({ clusters: [{ name: 'demo', server: cluster.url }] })
  const [deployment] = await listAll(cluster, '/apis/apps/v1/deployments')
  const { name, namespace } = deployment.metadata
  const field = `objectByRef(apiVersion: "apps/v1", kind: "Deployment", namespace: "${namespace}", name: "${name}", coalesceMs: 0)`
  const live = await followSynced(gateway.connect(), field, '... on Workload { replicas }')
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`
  await sent(cluster, 'PATCH', path, { spec: { replicas: 7 } })
  await live.until('scaled', (held) => [...held.values()][0]?.['replicas'] === 7)
  expect(live.frames.flatMap(({ changes }) => changes).at(-1)).toMatchObject({
    type: 'MODIFIED',
    object: { replicas: 7 },
  })
})
