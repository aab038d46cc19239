import { afterAll, beforeAll, expect, it } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { type GraphQLAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import {
  describeClusters,
  type Fields,
  inParallel,
  listAll,
  must,
  type TestCluster,
} from './test-cluster.ts'

const namespaces = ['lists-a', 'lists-b', 'lists-c']
const images = ['nginx:1.27', 'redis:7', 'registry.example.com/team/app@sha256:0123']
const tiers = ['front', 'back', 'data']
const phases = ['Running', 'Pending', 'Failed', 'Succeeded']
const podCount = 1000
const appCount = 12

const mergePatch = 'application/merge-patch+json'

/** Everything that the queries are about, as the raw API lists it. */
interface RawState {
  readonly pods: readonly Fields[]
  readonly nodes: readonly Fields[]
  readonly replicaSets: readonly Fields[]
  readonly deployments: readonly Fields[]
  readonly services: readonly Fields[]
  readonly configMaps: readonly Fields[]
}

const ownerOf = (owner: Fields, apiVersion: string, kind: string): object => ({
  apiVersion,
  kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
})

/** A Deployment with its ReplicaSet, Service and ConfigMap; answers with the ReplicaSet. */
const createApp = async (cluster: TestCluster, app: number): Promise<Fields> => {
  const name = `app-${app}`
  const namespace = namespaces[app % namespaces.length]
  const labels = { app: name }
  const spec = {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: images[0] }] },
    },
  }
  const create = async (path: string, metadata: object, rest: object): Promise<Fields> =>
    must(cluster, path.replace('NS', namespace ?? ''), {
      method: 'POST',
      body: { metadata, ...rest },
    })
  const apps = '/apis/apps/v1/namespaces/NS'
  const deployment = await create(`${apps}/deployments`, { name, labels }, { spec })
  await create('/api/v1/namespaces/NS/configmaps', { name }, { data: { a: '1' } })
  await create(
    '/api/v1/namespaces/NS/services',
    { name },
    { spec: { selector: labels, ports: [{ port: 80 }] } },
  )
  return create(
    `${apps}/replicasets`,
    { name, labels, ownerReferences: [ownerOf(deployment, 'apps/v1', 'Deployment')] },
    { spec },
  )
}

const createPod = async (
  cluster: TestCluster,
  position: number,
  random: () => number,
  replicaSets: readonly Fields[],
): Promise<void> => {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const set = pick(replicaSets)
  const { namespace, labels } = set.metadata
  const name = `pod-${position}`
  const isOwned = random() < 0.8
  const node = random() < 0.85 ? `lists-node-${Math.floor(random() * 9)}` : undefined
  const path = `/api/v1/namespaces/${namespace}/pods`
  const body = {
    metadata: {
      name,
      labels: { ...(isOwned ? labels : {}), ...(random() < 0.9 ? { tier: pick(tiers) } : {}) },
      ...(isOwned ? { ownerReferences: [ownerOf(set, 'apps/v1', 'ReplicaSet')] } : {}),
    },
    spec: {
      ...(node === undefined ? {} : { nodeName: node }),
      containers: [
        { name: 'main', image: pick(images) },
        ...(random() < 0.3 ? [{ name: 'side', image: pick(images) }] : []),
      ],
      ...(random() < 0.5
        ? { volumes: [{ name: 'config', configMap: { name: set.metadata.name } }] }
        : {}),
    },
  }
  const status = { phase: pick(phases) }
  await must(cluster, path, { method: 'POST', body })
  const options = { method: 'PATCH', contentType: mergePatch, body: { status } } as const
  await must(cluster, `${path}/${name}/status`, options)
}

const populate = async (cluster: TestCluster): Promise<void> => {
  await inParallel(namespaces, async (name) =>
    must(cluster, '/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } }),
  )
  // Pods name nine nodes, of which one does not exist.
  await inParallel(Array.from({ length: 8 }).keys(), async (position) =>
    must(cluster, '/api/v1/nodes', {
      method: 'POST',
      body: { metadata: { name: `lists-node-${position}` } },
    }),
  )
  const sets: Fields[] = []
  await inParallel(Array.from({ length: appCount }).keys(), async (app) => {
    sets[app] = await createApp(cluster, app)
  })
  const random = seededRandom(1)
  await inParallel(Array.from({ length: podCount }).keys(), async (position) =>
    createPod(cluster, position, random, sets),
  )
}

const rawState = async (cluster: TestCluster): Promise<RawState> => ({
  pods: await listAll(cluster, '/api/v1/pods'),
  nodes: await listAll(cluster, '/api/v1/nodes'),
  replicaSets: await listAll(cluster, '/apis/apps/v1/replicasets'),
  deployments: await listAll(cluster, '/apis/apps/v1/deployments'),
  services: await listAll(cluster, '/api/v1/services'),
  configMaps: await listAll(cluster, '/api/v1/configmaps'),
})

const keyOf = ({ metadata }: Fields): string => `${metadata.namespace ?? ''}/${metadata.name}`
const byCodePoint = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
const keysOf = (objects: readonly Fields[]): readonly string[] =>
  objects.map(keyOf).toSorted(byCodePoint)

const key = 'metadata { namespace name }'

/** All pages of a pod list, as keys in the order in which they came; every page must count the same. */
const walk = async (
  gateway: ServedGateway,
  args: string,
  first: number,
): Promise<{ readonly keys: readonly string[]; readonly totalCount: number }> => {
  const keys: string[] = []
  const counts = new Set<number>()
  let after: string | null = null
  let hasNextPage = true
  while (hasNextPage) {
    const data: GraphQLAnswer['data'] = await gateway.data(
      `query ($first: Int, $after: String) {
        pods(first: $first, after: $after ${args}) {
          totalCount pageInfo { hasNextPage endCursor } nodes { ${key} }
        }
      }`,
      { first, after },
    )
    const { totalCount, pageInfo, nodes } = data.pods
    counts.add(totalCount)
    keys.push(...nodes.map(keyOf))
    after = pageInfo.endCursor
    hasNextPage = pageInfo.hasNextPage
    if (hasNextPage) expect(nodes).toHaveLength(first)
  }
  expect(counts.size, 'every page counts the same').toBe(1)
  return { keys, totalCount: counts.values().next().value ?? -1 }
}

const labelOf = (pod: Fields, name: string): string | undefined => pod.metadata.labels?.[name]
const imagesOf = (pod: Fields): readonly string[] =>
  pod.spec.containers.map(({ image }: Fields) => image)
const ownerUids = (object: Fields): readonly string[] =>
  (object.metadata.ownerReferences ?? []).map(({ uid }: Fields) => uid)

/** Arguments of `pods`, and what they mean in the words of the raw API. */
const filters: readonly (readonly [args: string, matches: (pod: Fields) => boolean])[] = [
  ['where: { phase: { eq: "Running" } }', (pod) => pod.status.phase === 'Running'],
  [
    'where: { phase: { in: ["Failed", "Succeeded"] } }',
    (pod) => ['Failed', 'Succeeded'].includes(pod.status.phase),
  ],
  ['where: { nodeName: { eq: "lists-node-3" } }', (pod) => pod.spec.nodeName === 'lists-node-3'],
  ['where: { nodeName: { exists: false } }', (pod) => pod.spec.nodeName === undefined],
  ['where: { image: { eq: "redis:7" } }', (pod) => imagesOf(pod).includes('redis:7')],
  [
    'where: { or: [{ phase: { eq: "Failed" } }, { image: { eq: "nginx:1.27" } }] }',
    (pod) => pod.status.phase === 'Failed' || imagesOf(pod).includes('nginx:1.27'),
  ],
  [
    'where: { not: { phase: { eq: "Pending" } }, nodeName: { exists: true } }',
    (pod) => pod.status.phase !== 'Pending' && pod.spec.nodeName !== undefined,
  ],
  ['namespace: "lists-b"', (pod) => pod.metadata.namespace === 'lists-b'],
  [
    'namespaces: ["lists-a", "lists-c"], labelSelector: "tier in (front,back),app!=app-3"',
    (pod) =>
      ['lists-a', 'lists-c'].includes(pod.metadata.namespace) &&
      ['front', 'back'].includes(labelOf(pod, 'tier') ?? '') &&
      labelOf(pod, 'app') !== 'app-3',
  ],
  ['labelSelector: "!tier"', (pod) => labelOf(pod, 'tier') === undefined],
  [
    'labelSelector: "app=app-1,tier=data"',
    (pod) => labelOf(pod, 'app') === 'app-1' && labelOf(pod, 'tier') === 'data',
  ],
  ['where: { phase: { startsWith: "Unheard of" } }', () => false],
]

describeClusters('1,000 pods that were created through the API', (cluster) => {
  let raw: RawState
  let gateway: ServedGateway

  beforeAll(async () => {
    await populate(cluster())
    raw = await rawState(cluster())
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster().selection }],
      // Whole lists and all that they are related to, at once.
      limits: { maxPathRows: 1_000_000_000 },
    })
  }, 180_000)
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it('are all listed, page after page, in the order of namespace and name', async () => {
    expect(raw.pods).toHaveLength(podCount)
    const { keys, totalCount } = await walk(gateway, '', 137)
    expect(totalCount).toBe(podCount)
    expect(keys).toEqual(
      raw.pods
        .toSorted(
          (a, b) =>
            byCodePoint(a.metadata.namespace, b.metadata.namespace) ||
            byCodePoint(a.metadata.name, b.metadata.name),
        )
        .map(keyOf),
    )
  })

  it('have the fields that the raw API tells', async () => {
    const fields = `metadata { namespace name uid resourceVersion creationTimestamp labels }
      spec { nodeName containers { name image } } status { phase }`
    const { pods } = await gateway.data(`{ pods(first: 500) { nodes { ${fields} } } }`)
    const rawByKey = new Map(raw.pods.map((pod) => [keyOf(pod), pod]))
    expect(pods.nodes).toHaveLength(500)
    for (const pod of pods.nodes) {
      const { metadata, spec, status } = rawByKey.get(keyOf(pod))
      const { namespace, name, uid, resourceVersion, creationTimestamp, labels = null } = metadata
      expect(pod).toEqual({
        metadata: { namespace, name, uid, resourceVersion, creationTimestamp, labels },
        spec: {
          nodeName: spec.nodeName ?? null,
          containers: spec.containers.map((one: Fields) => ({ name: one.name, image: one.image })),
        },
        status: { phase: status.phase },
      })
    }
  })

  it.each(filters)('are filtered by %s', async (args, matches) => {
    const expected = keysOf(raw.pods.filter(matches))
    const { keys, totalCount } = await walk(gateway, args, 97)
    expect(keys.toSorted(byCodePoint)).toEqual(expected)
    expect(totalCount).toBe(expected.length)
  })

  it('are related to their nodes, both ways', async () => {
    const { nodes } = await gateway.data(
      `{ nodes { nodes { ${key} pods(first: 500) { totalCount nodes { ${key} node { ${key} } } } } } }`,
    )
    expect(keysOf(nodes.nodes)).toEqual(keysOf(raw.nodes))
    for (const node of nodes.nodes) {
      const { name } = node.metadata
      const expected = raw.pods.filter(({ spec }) => spec.nodeName === name)
      expect(keysOf(node.pods.nodes), name).toEqual(keysOf(expected))
      expect(node.pods.totalCount).toBe(expected.length)
      for (const pod of node.pods.nodes) expect(pod.node.metadata.name).toBe(name)
    }
    const { pods } = await gateway.data(
      '{ pods(where: { nodeName: { eq: "lists-node-8" } }, first: 500) { nodes { node { id } } } }',
    )
    expect(pods.nodes.length).toBeGreaterThan(0)
    expect(pods.nodes.every(({ node }: Fields) => node === null)).toBe(true)
  })

  it('are related to their owners, and through them', async () => {
    const { deployments } = await gateway.data(`{
      deployments { nodes { ${key}
        replicaSets { nodes { ${key} pods(first: 500) { totalCount } } }
        pods(first: 500) { totalCount nodes { ${key} deployment { ${key} } owners { kind metadata { name } } } }
        owned { nodes { kind ${key} } }
      } }
    }`)
    expect(keysOf(deployments.nodes)).toEqual(keysOf(raw.deployments))
    for (const deployment of deployments.nodes) {
      const own = raw.deployments.find((one) => keyOf(one) === keyOf(deployment))
      const sets = raw.replicaSets.filter((set) => ownerUids(set).includes(own.metadata.uid))
      const uids = sets.map(({ metadata }) => metadata.uid)
      const pods = raw.pods.filter((pod) => ownerUids(pod).some((uid) => uids.includes(uid)))
      expect(keysOf(deployment.replicaSets.nodes)).toEqual(keysOf(sets))
      expect(deployment.replicaSets.nodes[0].pods.totalCount).toBe(pods.length)
      expect(keysOf(deployment.pods.nodes)).toEqual(keysOf(pods))
      expect(deployment.pods.totalCount).toBe(pods.length)
      for (const pod of deployment.pods.nodes) {
        expect(keyOf(pod.deployment)).toBe(keyOf(deployment))
        expect(pod.owners).toEqual([
          { kind: 'ReplicaSet', metadata: { name: sets[0].metadata.name } },
        ])
      }
      expect(deployment.owned.nodes.map(keyOf)).toEqual(keysOf(sets))
    }
    const all = deployments.nodes.reduce((sum: number, one: Fields) => sum + one.pods.totalCount, 0)
    expect(all).toBe(raw.pods.filter((pod) => ownerUids(pod).length > 0).length)
  })

  it('are related to Services by labels and to ConfigMaps by name', async () => {
    const { services, configMaps } = await gateway.data(`{
      services { nodes { ${key} pods(first: 500) { totalCount nodes { ${key} } } } }
      configMaps { nodes { ${key} pods(first: 500) { totalCount nodes { ${key} } } } }
    }`)
    expect(keysOf(services.nodes)).toEqual(keysOf(raw.services))
    for (const service of services.nodes) {
      const { spec } = raw.services.find((one) => keyOf(one) === keyOf(service))
      const selector = Object.entries(spec.selector ?? {})
      const expected = raw.pods.filter(
        (pod) =>
          selector.length > 0 &&
          pod.metadata.namespace === service.metadata.namespace &&
          selector.every(([name, value]) => labelOf(pod, name) === value),
      )
      expect(keysOf(service.pods.nodes), keyOf(service)).toEqual(keysOf(expected))
      expect(service.pods.totalCount).toBe(expected.length)
    }
    expect(keysOf(configMaps.nodes)).toEqual(keysOf(raw.configMaps))
    for (const configMap of configMaps.nodes) {
      const expected = raw.pods.filter(
        ({ metadata, spec }) =>
          metadata.namespace === configMap.metadata.namespace &&
          spec.volumes?.some((one: Fields) => one.configMap?.name === configMap.metadata.name),
      )
      expect(keysOf(configMap.pods.nodes), keyOf(configMap)).toEqual(keysOf(expected))
    }
  })

  it('are found one by one, by name and by id', async () => {
    for (const pod of raw.pods.slice(0, 5)) {
      const { namespace, name, uid } = pod.metadata
      const { pod: found } = await gateway.data(
        'query ($namespace: String!, $name: String!) { pod(namespace: $namespace, name: $name) { id metadata { uid } } }',
        { namespace, name },
      )
      expect(found.metadata.uid).toBe(uid)
      const { object } = await gateway.data(
        'query ($id: ID!) { object(id: $id) { kind metadata { uid } } }',
        { id: found.id },
      )
      expect(object).toEqual({ kind: 'Pod', metadata: { uid } })
    }
    const { pod } = await gateway.data('{ pod(namespace: "lists-a", name: "nobody") { id } }')
    expect(pod).toBeNull()
  })

  it('are counted by the gateway as they are by the cluster', async () => {
    const { gatewayClusters } = await gateway.data(
      '{ gatewayClusters { name state resources(loaded: true) { type state objects lastError } } }',
    )
    expect(gatewayClusters[0]).toMatchObject({ name: 'one', state: 'CONNECTED' })
    expect(gatewayClusters[0].resources).toContainEqual({
      type: 'Pod',
      state: 'SYNCED',
      objects: podCount,
      lastError: null,
    })
  })
})
