import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import { must, startSimulatedCluster, type TestUser } from './test-cluster.ts'

/** What is cached: `one/Pod`. */
const cached = async (gateway: ServedGateway): Promise<readonly string[]> => {
  const { gatewayClusters } = await gateway.data(
    '{ gatewayClusters { name resources(loaded: true) { type } } }',
  )
  return gatewayClusters
    .flatMap(({ name, resources }: { name: string; resources: { type: string }[] }) =>
      resources.map(({ type }) => `${name}/${type}`),
    )
    .toSorted()
}

describe('only what is asked for is started', () => {
  let clusters: readonly [Simulator, Simulator]
  let gateway: ServedGateway
  beforeAll(async () => {
    clusters = await Promise.all([startSimulator(), startSimulator()])
  })
  afterAll(async () => {
    await Promise.all(clusters.map(async (one) => one[Symbol.asyncDispose]()))
  })
  afterEach(async () => gateway[Symbol.asyncDispose]())

  const serve = async (): Promise<ServedGateway> => {
    const [one, two] = clusters
    gateway = await serveGateway({
      clusters: [
        { name: 'one', server: one.url },
        { name: 'two', server: two.url },
      ],
    })
    return gateway
  }

  it('not the kind of a root field in a fragment from the default cluster too', async () => {
    const { data } = await serve()
    await data('query { ...Two } fragment Two on Query { pods(cluster: "two") { totalCount } }')
    expect(await cached(gateway)).toEqual(['two/Pod'])
  })

  it('each kind in the cluster of its own field', async () => {
    const { data } = await serve()
    await data(`{
      pods { nodes { node { id } } }
      services(cluster: "two") { nodes { endpointSlices { totalCount } } }
    }`)
    expect(await cached(gateway)).toEqual([
      'one/Node',
      'one/Pod',
      'two/EndpointSlice',
      'two/Service',
    ])
  })

  it('in the cluster that the default of a variable names', async () => {
    const { data } = await serve()
    await data('query ($at: String = "two") { configMaps(cluster: $at) { totalCount } }')
    await data('query ($at: String = "two") { secrets(cluster: $at) { totalCount } }', {
      at: 'one',
    })
    expect(await cached(gateway)).toEqual(['one/Secret', 'two/ConfigMap'])
  })

  it('nothing that @skip and @include leave out, by variables and their defaults', async () => {
    const { data } = await serve()
    await data(
      `query ($no: Boolean!, $yes: Boolean = true) {
        pods { nodes { node @include(if: $no) { id } } }
        services @skip(if: $yes) { totalCount }
        ... @include(if: $no) { secrets { totalCount } }
        configMaps @skip(if: $no) @include(if: $yes) { totalCount }
      }`,
      { no: false },
    )
    expect(await cached(gateway)).toEqual(['one/ConfigMap', 'one/Pod'])
  })

  it('of an operation that is not run, nothing', async () => {
    await serve()
    const operations = 'query A { pods { totalCount } } query B { services { totalCount } }'
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: operations, operationName: 'B' }),
    })
    expect(await response.json()).toMatchObject({ data: { services: expect.anything() } })
    expect(await cached(gateway)).toEqual(['one/Service'])
  })

  it('an object by its id in the cluster and of the kind that the id says', async () => {
    const { data } = await serve()
    const { namespaces } = await data('{ namespaces(cluster: "two") { nodes { id } } }')
    await gateway[Symbol.asyncDispose]()
    await serve()
    const { object } = await gateway.data(
      `query ($id: ID!) {
        object(id: $id) { id ... on Namespace { metadata { name } } ... on Pod { node { id } } }
      }`,
      { id: namespaces.nodes[0].id },
    )
    expect(object).toEqual({ id: namespaces.nodes[0].id, metadata: { name: expect.any(String) } })
    expect(await cached(gateway)).toEqual(['two/Namespace'])
  })

  it('for a subscription as for a query', async () => {
    await serve()
    await firstAnswer(
      gateway.connect(),
      `subscription ($at: String = "two") { ...Live }
       fragment Live on Subscription {
         pods(cluster: $at) { changes { object { node { id } services { totalCount } } } }
       }`,
    )
    expect(await cached(gateway)).toEqual(['two/Node', 'two/Pod', 'two/Service'])
  })
})

describe('owned', () => {
  let cluster: Simulator
  let gateway: ServedGateway
  const reader: TestUser = { token: 'reader-token', user: 'reader' }
  beforeAll(async () => {
    cluster = await startSimulator()
    const pods = '/api/v1/namespaces/default/pods'
    const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
    const owner = await created(cluster, pods, { metadata: { name: 'owner' }, spec })
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'Pod', name: 'owner', uid: owner.metadata.uid },
    ]
    await created(cluster, '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'of-the-pod', ownerReferences },
    })
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())
  afterEach(async () => gateway[Symbol.asyncDispose]())

  const ownedOfPod = (kinds = ''): string =>
    `{ pod(namespace: "default", name: "owner") { owned${kinds} { types nodes { kind metadata { name } } } } }`
  const ofThePod = { kind: 'ConfigMap', metadata: { name: 'of-the-pod' } }

  it('of one pod starts no informers but those that the SDL relates to pods, and those of common kinds', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      commonKinds: [],
    })
    const { pod } = await gateway.data(ownedOfPod())
    expect(pod.owned).toEqual({ types: ['Pod'], nodes: [] })
    expect(await cached(gateway)).toEqual(['one/Pod'])
  })

  it('says where it did not look, as kinds were not loaded', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      commonKinds: [],
    })
    const query = (kinds: string): string =>
      `{ pod(namespace: "default", name: "owner") { owned${kinds} { types notLookedAt } } }`
    const { pod } = await gateway.data(query(''))
    expect(pod.owned.types).toEqual(['Pod'])
    expect(pod.owned.notLookedAt).toEqual(expect.arrayContaining(['ConfigMap', 'ReplicaSet']))
    // What a pod owns is in its namespace, and events have no owners.
    for (const type of ['Pod', 'Node', 'Event']) expect(pod.owned.notLookedAt).not.toContain(type)
    const named = await gateway.data(query('(types: ["ConfigMap"])'))
    expect(named.pod.owned.notLookedAt).toEqual(
      pod.owned.notLookedAt.filter((type: string) => type !== 'ConfigMap'),
    )
    const { partOfObjects } = (
      await gateway.data('{ pods { nodes { partOfObjects { types notLookedAt } } } }')
    ).pods.nodes[0]
    expect(partOfObjects).toEqual({ types: [], notLookedAt: [] })
  })

  it('looks into the kinds that the SDL relates to a kind, whichever side declares it', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      commonKinds: [],
    })
    await gateway.data('{ deployments { nodes { owned { totalCount } } } }')
    await gateway.data('{ cronJobs { nodes { owned { totalCount } } } }')
    expect(await cached(gateway)).toEqual([
      'one/CronJob',
      'one/Deployment',
      'one/Job',
      'one/ReplicaSet',
    ])
  })

  it('looks into the kinds that are named, and into those that are cached', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      commonKinds: [],
    })
    const named = await gateway.data(ownedOfPod('(types: ["ConfigMap"])'))
    expect(named.pod.owned).toEqual({ types: ['ConfigMap', 'Pod'], nodes: [ofThePod] })
    const anyway = await gateway.data(ownedOfPod())
    expect(anyway.pod.owned).toEqual({ types: ['ConfigMap', 'Pod'], nodes: [ofThePod] })
    const { errors } = await gateway.query(ownedOfPod('(types: ["Pond"])'))
    expect(errors).toMatchObject([
      {
        path: ['pod', 'owned'],
        extensions: { code: 'BAD_USER_INPUT', argument: 'types', value: 'Pond' },
      },
    ])
  })

  it('answers the other kinds where one cannot be read, with one error for the field', async () => {
    await using forbidding = await startSimulatedCluster({}, [reader])
    for (const name of ['a', 'b']) {
      const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
      const body = { metadata: { name }, spec }
      await must(forbidding, '/api/v1/namespaces/default/pods', { method: 'POST', body })
    }
    const selection = await forbidding.selectionFor(reader)
    gateway = await serveGateway({ clusters: [{ name: 'one', ...selection }], commonKinds: [] })
    const { data, errors } = await gateway.query(
      '{ pods { nodes { owned(types: ["Secret", "Pod"]) { types totalCount } } } }',
    )
    const owned = { types: ['Pod'], totalCount: 0 }
    expect(data.pods.nodes).toEqual([{ owned }, { owned }])
    expect(errors).toMatchObject([
      {
        path: ['pods', 'nodes', 0, 'owned'],
        extensions: { code: 'FORBIDDEN', cluster: 'one', type: 'Secret' },
      },
    ])
  })
})
