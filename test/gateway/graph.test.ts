import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Fields, startSimulatedCluster } from './test-cluster.ts'
import { company } from '../support/company.ts'

let cluster: Simulator
let gateway: ServedGateway

const list = async (path: string): Promise<readonly Fields[]> => {
  const response = await fetch(`${cluster.url}${path}`)
  const { items }: Fields = await response.json()
  return items
}

const create = async (path: string, object: object): Promise<Fields> => {
  const response = await fetch(`${cluster.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  })
  expect(response.status).toBe(201)
  return await response.json()
}

beforeAll(async () => {
  cluster = await startSimulator({
    populate: company({ pods: 150, seed: 'graph' }),
  })
  gateway = await serveGateway({ clusters: [{ name: 'test', server: cluster.url }] })
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const graphOf = async (variables: object, from: ServedGateway = gateway): Promise<Fields> => {
  const { graph } = await from.data(
    `query ($roots: [ID!]!, $depth: Int, $relations: [String!], $maxNodes: Int) {
      graph(roots: $roots, depth: $depth, relations: $relations, maxNodes: $maxNodes) {
        nodes { id clusterName apiVersion kind namespace name depth }
        edges { from to relation } truncated types notFollowed } }`,
    { ...variables },
  )
  return graph
}

/** `Pod shop/web -Pod.node-> Node n1`, sorted. */
const told = ({ nodes, edges }: Fields): readonly string[] => {
  const names = new Map<string, string>(
    nodes.map(({ id, kind, namespace, name }: Fields) => [
      id,
      `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`,
    ]),
  )
  return edges
    .map(({ from, to, relation }: Fields) => `${names.get(from)} -${relation}-> ${names.get(to)}`)
    .toSorted()
}

const named = ({ kind, metadata: { namespace, name } }: Fields, as: string = kind): string =>
  `${as} ${namespace === undefined ? '' : `${namespace}/`}${name}`

const idsOf = async (field: string, first = 500): Promise<ReadonlyMap<string, string>> => {
  const { [field]: found } = await gateway.data(
    `{ ${field}(first: ${first}) { nodes { id metadata { name namespace } } } }`,
  )
  return new Map(
    found.nodes.map(({ id, metadata: { namespace, name } }: Fields) => [
      namespace === null ? name : `${namespace}/${name}`,
      id,
    ]),
  )
}

const isOwnedBy =
  (owner: Fields) =>
  ({ metadata }: Fields): boolean =>
    (metadata.ownerReferences ?? []).some(({ uid }: Fields) => uid === owner.metadata.uid)

const wanted = [
  'Deployment.replicaSets',
  'ReplicaSet.pods',
  'Pod.node',
  'Pod.services',
  'Service.endpointSlices',
  'Pod.configMaps',
]

describe('graph', () => {
  it('equals what the raw objects say, for the relations that are named', async () => {
    const [deployments, replicaSets, pods, services, slices] = await Promise.all([
      list('/apis/apps/v1/deployments'),
      list('/apis/apps/v1/replicasets'),
      list('/api/v1/pods'),
      list('/api/v1/services'),
      list('/apis/discovery.k8s.io/v1/endpointslices'),
    ])
    const ids = await idsOf('deployments')
    for (const deployment of deployments.slice(0, 12)) {
      const { namespace, name } = deployment.metadata
      const edges = new Set<string>()
      for (const replicaSet of replicaSets.filter(isOwnedBy(deployment))) {
        edges.add(
          `${named(replicaSet, 'ReplicaSet')} -ReplicaSet.deployment-> ${named(deployment, 'Deployment')}`,
        )
        for (const pod of pods.filter(isOwnedBy(replicaSet))) {
          edges.add(`${named(pod, 'Pod')} -Pod.replicaSet-> ${named(replicaSet, 'ReplicaSet')}`)
          if (pod.spec.nodeName !== undefined) {
            edges.add(`${named(pod, 'Pod')} -Pod.node-> Node ${pod.spec.nodeName}`)
          }
          for (const service of services) {
            const selector = Object.entries(service.spec.selector ?? {})
            const selects =
              service.metadata.namespace === namespace &&
              selector.length > 0 &&
              selector.every(([key, value]) => pod.metadata.labels?.[key] === value)
            if (!selects) continue
            edges.add(`${named(service, 'Service')} -Service.pods-> ${named(pod, 'Pod')}`)
            for (const slice of slices) {
              const of = slice.metadata.labels?.['kubernetes.io/service-name']
              if (slice.metadata.namespace !== namespace || of !== service.metadata.name) continue
              edges.add(
                `${named(slice, 'EndpointSlice')} -EndpointSlice.service-> ${named(service, 'Service')}`,
              )
            }
          }
        }
      }
      const graph = await graphOf({
        roots: [ids.get(`${namespace}/${name}`)],
        depth: 6,
        relations: wanted.filter((one) => one !== 'Pod.configMaps'),
      })
      expect(told(graph)).toEqual([...edges].toSorted())
      expect(graph).toMatchObject({ truncated: false, notFollowed: [] })
    }
  })

  it('tells each relation once, whichever way it was followed', async () => {
    const roots = [...(await idsOf('nodes')).values()].slice(0, 2)
    const forwards = ['Pod.node', 'Pod.services']
    const both = [...forwards, 'Node.pods', 'Service.pods']
    const graph = await graphOf({ roots, depth: 16, relations: both, maxNodes: 5_000 })
    const edges = told(graph)
    expect(edges.length).toBeGreaterThan(20)
    expect(new Set(edges).size).toBe(edges.length)
    const pods = graph.nodes.flatMap(({ kind, id }: Fields) => (kind === 'Pod' ? [id] : []))
    const same = await graphOf({ roots: pods, depth: 1, relations: forwards, maxNodes: 5_000 })
    expect(told(same)).toEqual(edges)
  })

  it('follows references to whatever kind from either end', async () => {
    const relations = ['HorizontalPodAutoscaler.target', 'autoscaler']
    const [autoscaler] = await list('/apis/autoscaling/v2/horizontalpodautoscalers')
    const { namespace } = autoscaler.metadata
    const { kind, name } = autoscaler.spec.scaleTargetRef
    const edge = `${named(autoscaler, 'HorizontalPodAutoscaler')} -HorizontalPodAutoscaler.target-> ${kind} ${namespace}/${name}`
    for (const root of [
      (await idsOf('horizontalPodAutoscalers')).get(named(autoscaler, '').slice(1)),
      (await idsOf(kind === 'Deployment' ? 'deployments' : 'statefulSets')).get(
        `${namespace}/${name}`,
      ),
    ]) {
      expect(told(await graphOf({ roots: [root], depth: 2, relations }))).toEqual([edge])
      expect(told(await graphOf({ roots: [root], depth: 1 }))).toContain(edge)
    }
  })

  it('answers the objects, the nearest first, and how far they are', async () => {
    const [root] = (await idsOf('deployments')).values()
    const graph = await graphOf({ roots: [root], depth: 3, relations: wanted })
    const depths = graph.nodes.map(({ depth }: Fields) => depth)
    expect(depths).toEqual(depths.toSorted())
    expect(graph.nodes[0]).toMatchObject({
      id: root,
      depth: 0,
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      clusterName: 'test',
    })
    const { graph: objects } = await gateway.data(
      `query ($roots: [ID!]!, $relations: [String!]) { graph(roots: $roots, relations: $relations) {
        nodes { id kind name object { id kind metadata { name } ... on Pod { node { id } } } } } }`,
      { roots: [root], relations: wanted },
    )
    expect(objects.nodes.map(({ id }: Fields) => id)).toEqual(
      graph.nodes.map(({ id }: Fields) => id),
    )
    for (const { id, kind, name, object } of objects.nodes) {
      expect(object).toMatchObject({ id, kind, metadata: { name } })
    }
  })

  it('is cut at maxNodes, and says so', async () => {
    const roots = [...(await idsOf('nodes')).values()].slice(0, 1)
    const whole = await graphOf({ roots, depth: 2, relations: ['Node.pods', 'Pod.services'] })
    const size = whole.nodes.length
    expect(size).toBeGreaterThan(3)
    const exact = await graphOf({
      roots,
      depth: 2,
      relations: ['pods', 'services'],
      maxNodes: size,
    })
    expect(exact.truncated).toBe(false)
    const cut = await graphOf({ roots, depth: 2, relations: ['pods', 'services'], maxNodes: 3 })
    expect(cut).toMatchObject({ truncated: true, nodes: { length: 3 } })
    const known = new Set(cut.nodes.map(({ id }: Fields) => id))
    for (const { from, to } of cut.edges) expect(known.has(from) && known.has(to)).toBe(true)
    expect((await graphOf({ roots, depth: 0 })).nodes).toHaveLength(1)
  })

  it('leaves out objects that are gone, and those of clusters and kinds that are not there', async () => {
    const pod = await create('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'to-be-gone' },
    })
    const [id] = [...(await idsOf('configMaps'))].filter(([key]) => key === 'default/to-be-gone')
    await fetch(`${cluster.url}/api/v1/namespaces/default/configmaps/to-be-gone`, {
      method: 'DELETE',
    })
    expect(pod.metadata.name).toBe('to-be-gone')
    await expect.poll(async () => (await graphOf({ roots: [id?.[1]] })).nodes).toEqual([])
    const elsewhere = Buffer.from('1\0nowhere\0\0Pod\0some-uid').toString('base64url')
    expect((await graphOf({ roots: [elsewhere] })).nodes).toEqual([])
  })
})

describe('a graph of relations that are not named', () => {
  it('starts nothing without common kinds, follows what is in memory, and tells what it has not followed', async () => {
    await using other = await serveGateway({
      clusters: [{ name: 'test', server: cluster.url }],
      commonKinds: [],
    })
    const cached = async () => {
      const { gatewayClusters } = await other.data(
        '{ gatewayClusters { resources(loaded: true) { type } } }',
      )
      return gatewayClusters[0].resources.map(({ type }: Fields) => type).toSorted()
    }
    const [root] = (await idsOf('nodes')).values()
    const alone = await graphOf({ roots: [root] }, other)
    expect(alone).toMatchObject({ nodes: { length: 1 }, types: ['Node'] })
    expect(alone.notFollowed).toContain('Node.pods')
    expect(await cached()).toEqual(['Node'])
    await other.data('{ pods { totalCount } namespaces { totalCount } events { totalCount } }')
    const graph = await graphOf({ roots: [root], depth: 2 }, other)
    expect(graph.types).toEqual(['Node', 'Pod'])
    expect(graph.nodes.length).toBeGreaterThan(1)
    expect(graph.notFollowed).toContain('Pod.replicaSet')
    expect(graph.notFollowed).not.toContain('Node.pods')
    expect(await cached()).toEqual(['Event', 'Namespace', 'Node', 'Pod'])
  })

  it('follows owners that no relation knows', async () => {
    await gateway.data('{ configMaps { totalCount } services { totalCount } }')
    const services = await list('/api/v1/services')
    const [service] = services
    await create(`/api/v1/namespaces/${service.metadata.namespace}/configmaps`, {
      metadata: {
        name: 'owned-by-a-service',
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Service',
            name: service.metadata.name,
            uid: service.metadata.uid,
          },
        ],
      },
    })
    const edge = `ConfigMap ${service.metadata.namespace}/owned-by-a-service -ConfigMap.owners-> ${named(service, 'Service')}`
    const find = async (field: string, key: string): Promise<readonly string[]> => {
      const root = (await idsOf(field)).get(key)
      return root === undefined ? [] : told(await graphOf({ roots: [root], depth: 1 }))
    }
    const { namespace, name } = service.metadata
    await expect.poll(async () => find('services', `${namespace}/${name}`)).toContain(edge)
    expect(await find('configMaps', `${namespace}/owned-by-a-service`)).toContain(edge)
  })
})

describe('a graph of which a kind cannot be read', () => {
  it('tells that beside what it finds', async () => {
    const reader = { token: 'reader-token', user: 'reader' }
    const populate = company({ pods: 20, seed: 'graph' })
    await using test = await startSimulatedCluster({ populate }, [reader])
    await using other = await serveGateway({
      clusters: [{ name: 'test', ...(await test.selectionFor(reader)) }],
    })
    const { replicaSets } = await other.data('{ replicaSets(first: 1) { nodes { id } } }')
    const { data, errors } = await other.query(
      `query ($roots: [ID!]!) { graph(roots: $roots, relations: ["ReplicaSet.deployment", "ReplicaSet.pods"]) {
        nodes { kind } edges { relation } notFollowed } }`,
      { roots: [replicaSets.nodes[0].id] },
    )
    expect(errors).toMatchObject([
      { path: ['graph'], extensions: { code: 'FORBIDDEN', type: 'Deployment' } },
    ])
    expect(data.graph.notFollowed).toEqual(['ReplicaSet.deployment'])
    expect(data.graph.edges[0]).toEqual({ relation: 'Pod.replicaSet' })
  })
})

describe('a graph that cannot be answered as it is asked for', () => {
  const refused = async (args: string) => {
    const { errors = [] } = await gateway.query(`{ graph(${args}) { nodes { id } } }`)
    return errors[0]?.extensions
  }

  it.each([
    ['depth: 1000, roots: []', 'depth'],
    ['depth: -1, roots: []', 'depth'],
    ['maxNodes: 1000000, roots: []', 'maxNodes'],
    ['maxNodes: 0, roots: []', 'maxNodes'],
    ['roots: ["no-id"]', 'roots[0]'],
    ['roots: [], relations: ["pods", "Pod.nodes"]', 'relations[1]'],
  ])('%s is refused, naming the argument', async (args, argument) => {
    expect(await refused(args)).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument,
      hint: expect.any(String),
    })
  })

  it('roots beyond maxNodes are refused', async () => {
    const [one, two] = (await idsOf('nodes')).values()
    expect(await refused(`maxNodes: 1, roots: ["${one}", "${two}"]`)).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'roots',
    })
  })

  it.each([
    ['', 'relations'],
    [', relations: ["Node.pods", "Pod.node", "Pod.services", "Service.pods"]', 'depth'],
  ])('one that walks too far%s names the argument that would make it shorter', async (more, by) => {
    await using tight = await serveGateway({
      clusters: [{ name: 'test', server: cluster.url }],
      limits: { work: { examined: 50 } },
      preload: ['pods', 'nodes', 'services'],
    })
    const [root] = (await idsOf('nodes')).values()
    await expect
      .poll(
        async () => {
          const query = `{ graph(roots: ["${root}"], depth: 9${more}) { nodes { id } } }`
          const { errors } = await tight.query(query)
          return errors?.[0]?.extensions
        },
        { timeout: 60_000 },
      )
      .toMatchObject({
        code: 'QUERY_TOO_COSTLY',
        argument: by,
        value: { work: 'examined' },
        hint: expect.stringContaining('`depth`'),
      })
  })

  it('one whose objects have pages behind them is refused before it is read', async () => {
    const { errors } = await gateway.query(
      '{ graph(roots: [], maxNodes: 5000) { nodes { object { ... on Node { pods(first: 500) { nodes { id } } } } } } }',
    )
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'QUERY_TOO_COSTLY',
      argument: 'maxNodes',
    })
  })
})
