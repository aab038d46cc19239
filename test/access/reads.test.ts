import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** Reads pods and all that belongs to them in `one`, knows one ConfigMap of `two` by name, and no nodes. */
const alice = caller('alice')
/** Reads everything. */
const admin = caller('admin', 'system:masters')
/** Reads pods everywhere, and the node by its name. */
const bob = caller('bob')
/** Reads the classes, but pods, ConfigMaps, Deployments and their autoscalers in `one` only. */
const carol = caller('carol')
/** Reads nothing. */
const mallory = caller('mallory')

let world: SmallWorld
let served: ViewedGateway

beforeAll(async () => {
  world = await startSmallWorld()
  await world.allow('one', 'alice', 'alice', [
    reads('', 'pods', 'services', 'events'),
    reads('apps', 'deployments', 'replicasets'),
  ])
  await world.allow('two', 'alice', 'alice', [gets('configmaps', 'settings')])
  await world.allowEverywhere('bob', 'bob', [reads('', 'pods'), gets('nodes', 'worker')])
  await world.allow('one', 'carol', 'carol', [
    reads('', 'pods', 'configmaps'),
    reads('apps', 'deployments'),
    reads('autoscaling', 'horizontalpodautoscalers'),
  ])
  await world.allowEverywhere('carol', 'carol', [reads('scheduling.k8s.io', 'priorityclasses')])
  await world.make('/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'high' },
    value: 1000,
  })
  served = await serveViewers({ clusters: [world.selection] })
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const codes = (answer: {
  readonly errors?: readonly { readonly extensions: { code: string } }[]
}) => answer.errors?.map(({ extensions }) => extensions.code)

describe.each(['query', 'explained'] as const)('By %s', (way) => {
  const ask: ViewedGateway['query'] = (who, query, variables) => served[way](who, query, variables)

  it('a list holds what may be listed, and is forbidden where that is nothing', async () => {
    const query =
      '{ pods { totalCount nodes { metadata { namespace } } facets(by: ["namespace"]) { values { value count } } } }'
    const seen = (await ask(alice, query)).data
    expect(seen.pods).toEqual({
      totalCount: 1,
      nodes: [{ metadata: { namespace: 'one' } }],
      facets: [{ values: [{ value: 'one', count: 1 }] }],
    })
    expect((await ask(admin, query)).data.pods.totalCount).toBe(2)
    expect((await ask(bob, query)).data.pods.totalCount).toBe(2)
    const none = await ask(mallory, query)
    expect(codes(none)).toEqual(['FORBIDDEN'])
    expect(none.data.pods).toBeNull()
  })

  it('a list of a namespace is forbidden where that is', async () => {
    const query = '{ pods(namespace: "two") { totalCount } }'
    expect(codes(await ask(alice, query))).toEqual(['FORBIDDEN'])
    expect((await ask(bob, query)).data.pods.totalCount).toBe(1)
  })

  it('a look-up of what may not be seen is that of what is not there', async () => {
    const query = `{
      own: pod(namespace: "one", name: "shop-1-x") { metadata { name } }
      other: pod(namespace: "two", name: "shop-1-x") { metadata { name } }
      absent: pod(namespace: "two", name: "nobody") { metadata { name } }
    }`
    const answer = await ask(alice, query)
    expect(answer).toEqual({
      ...answer,
      data: { own: { metadata: { name: 'shop-1-x' } }, other: null, absent: null },
    })
    expect(answer.errors).toBeUndefined()
  })

  it('a name that may be got is found by it, and by nothing else', async () => {
    const look = '{ configMap(namespace: "two", name: "settings") { data } }'
    expect((await ask(alice, look)).data.configMap.data).toEqual({ of: 'two' })
    expect((await ask(bob, look)).data.configMap).toBeNull()
    expect(codes(await ask(alice, '{ configMaps { totalCount } }'))).toEqual(['FORBIDDEN'])
  })

  it('a relation to one object needs the right to get it', async () => {
    const query = '{ pods(namespace: "one") { nodes { node { metadata { name } } } } }'
    const refused = await ask(alice, query)
    expect(refused.data.pods.nodes).toEqual([{ node: null }])
    expect(refused.errors).toMatchObject([
      { path: ['pods', 'nodes', 0, 'node'], extensions: { code: 'FORBIDDEN', type: 'Node' } },
    ])
    const allowed = await ask(bob, query)
    expect(allowed.data.pods.nodes).toEqual([{ node: { metadata: { name: 'worker' } } }])
    expect(allowed.errors).toBeUndefined()
  })

  it('a refused relation to one object is one error of its field, however many rows have it', async () => {
    const query = '{ pods { nodes { namespaceObject { id } again: namespaceObject { id } } } }'
    const { data, errors } = await ask(bob, query)
    const none = { namespaceObject: null, again: null }
    expect(data.pods.nodes).toEqual([none, none])
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['pods', 'nodes', 0, 'namespaceObject'], 'FORBIDDEN'],
      [['pods', 'nodes', 0, 'again'], 'FORBIDDEN'],
    ])
  })

  it('the namespaces of the viewer are those where they may list the kind, and null where that is everywhere', async () => {
    const query = `{ viewer { pods: namespaces(type: "Pod") services: namespaces(type: "Service", cluster: "${world.selection.name}")
      configMaps: namespaces(type: "ConfigMap") any: namespaces } }`
    const namespacesOf = async (who: typeof alice) => (await ask(who, query)).data.viewer
    const [one, none] = [['one'], []]
    expect(await namespacesOf(alice)).toEqual({
      pods: one,
      services: one,
      configMaps: none,
      any: one,
    })
    expect(await namespacesOf(bob)).toEqual({
      pods: null,
      services: none,
      configMaps: none,
      any: null,
    })
    expect(await namespacesOf(mallory)).toEqual({
      pods: none,
      services: none,
      configMaps: none,
      any: none,
    })
    for (const kind of ['Node', 'Nothing']) {
      const refused = await ask(alice, `{ viewer { username namespaces(type: "${kind}") } }`)
      expect(refused.data.viewer).toEqual({ username: 'alice', namespaces: null })
      expect(codes(refused)).toEqual(['BAD_USER_INPUT'])
    }
  })

  it('a relation to many needs the right to list them, backwards and through others too', async () => {
    const down = '{ deployments { nodes { pods { totalCount } events { totalCount } } } }'
    expect((await ask(alice, down)).data.deployments.nodes).toEqual([
      { pods: { totalCount: 1 }, events: { totalCount: 0 } },
    ])
    const up = '{ pods { nodes { services { totalCount } events { nodes { reason } } } } }'
    expect((await ask(alice, up)).data.pods.nodes).toEqual([
      { services: { totalCount: 1 }, events: { nodes: [{ reason: 'Started' }] } },
    ])
    const forbidden = await ask(bob, up)
    expect(new Set(codes(forbidden))).toEqual(new Set(['FORBIDDEN']))
    expect(forbidden.data.pods.nodes[0]).toEqual({ services: null, events: null })
    const fromNode = '{ node(name: "worker") { pods { totalCount } } }'
    expect((await ask(bob, fromNode)).data.node.pods.totalCount).toBe(2)
    expect((await ask(alice, fromNode)).data.node).toBeNull()
  })

  it('the users of an object are an error where some may be hidden, as a field and as a filter', async () => {
    const kinds = '(types: ["Pod"])'
    const field = `{ priorityClass(name: "high") { usedBy${kinds} { totalCount } } }`
    const filter =
      '{ priorityClasses(where: { usedBy: { none: { types: ["Pod"] } } }) { nodes { metadata { name } } } }'
    for (const query of [field, filter]) {
      const { errors } = await ask(carol, query)
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', type: 'Pod' } }])
    }
    expect((await ask(admin, field)).data.priorityClass.usedBy).toEqual({ totalCount: 0 })
    // The users of a ConfigMap are in its namespace.
    const within = `{ configMap(namespace: "one", name: "settings") { usedBy${kinds} { totalCount } } }`
    expect((await ask(carol, within)).data.configMap.usedBy).toEqual({ totalCount: 0 })
    // So are the autoscalers of a Deployment: their reference to any kind has no place for a namespace.
    const scaled =
      '{ deployment(namespace: "one", name: "shop") { usedBy(types: ["HorizontalPodAutoscaler"]) { totalCount } } }'
    expect((await ask(carol, scaled)).data.deployment.usedBy).toEqual({ totalCount: 0 })
  })

  it('owners, what is owned and ids hold to the same', async () => {
    const query = `{ pods(namespace: "one") { nodes {
      id owners { metadata { name } } ownerChain { name } owned { totalCount }
    } } }`
    const [own] = (await ask(alice, query)).data.pods.nodes
    expect(own.owners).toEqual([{ metadata: { name: 'shop-1' } }])
    expect(own.ownerChain).toEqual([{ name: 'shop-1' }, { name: 'shop' }])
    const [seen] = (await ask(bob, query)).data.pods.nodes
    expect(seen.owners).toEqual([])
    expect(seen.ownerChain).toEqual([{ name: 'shop-1' }])
    const byId =
      'query ($id: ID!) { object(id: $id) { metadata { name } } objects(ids: [$id]) { kind } }'
    const { id } = own
    expect((await ask(alice, byId, { id })).data.object).toEqual({ metadata: { name: 'shop-1-x' } })
    expect((await ask(mallory, byId, { id })).data).toEqual({ object: null, objects: [null] })
    const byIds = 'query ($id: ID!) { pods(ids: [$id]) { totalCount } }'
    const others = (await ask(bob, '{ pods(namespace: "two") { nodes { id } } }')).data.pods
    expect((await ask(alice, byIds, others.nodes[0])).data.pods.totalCount).toBe(0)
    expect((await ask(alice, byId, others.nodes[0])).data.object).toBeNull()
  })

  it('what is read live holds to the same', async () => {
    const query = `{
      own: pod(namespace: "one", name: "shop-1-x", live: true) { metadata { name } }
      other: pod(namespace: "two", name: "shop-1-x", live: true) { metadata { name } }
      absent: pod(namespace: "two", name: "nobody", live: true) { metadata { name } }
    }`
    expect((await ask(alice, query)).data).toEqual({
      own: { metadata: { name: 'shop-1-x' } },
      other: null,
      absent: null,
    })
  })

  it('gatewayClusters tells of kinds that may be listed, with as many objects as may be', async () => {
    const query =
      '{ gatewayClusters { resources(loaded: true) { type state objects } permissions { state } } }'
    await ask(admin, '{ pods { totalCount } nodes { totalCount } configMaps { totalCount } }')
    const seenBy = async (who: typeof alice): Promise<Map<string, number>> => {
      const [{ resources }] = (await ask(who, query)).data.gatewayClusters
      return new Map(
        resources.map((one: { type: string; objects: number }) => [one.type, one.objects]),
      )
    }
    const [whole, own] = [await seenBy(admin), await seenBy(alice)]
    expect([whole.get('Pod'), whole.get('Node'), whole.has('ConfigMap')]).toEqual([2, 1, true])
    expect([own.get('Pod'), own.has('Node'), own.has('ConfigMap')]).toEqual([1, false, false])
    expect(await seenBy(mallory)).toEqual(new Map())
  })

  it('viewer is who asks, and can is what the API server says', async () => {
    const query = `{
      viewer { username groups }
      anywhere: can(verb: "list", type: "Pod")
      here: can(verb: "list", resource: "pods", namespace: "one")
      other: can(verb: "list", type: "Pod", namespace: "two")
      named: can(verb: "get", type: "ConfigMap", namespace: "two", name: "settings")
      logs: can(verb: "get", type: "Pod", subresource: "log", namespace: "one")
      pods(namespace: "one") { nodes { reads: can(verb: "get") deletes: can(verb: "delete") } }
    }`
    expect((await ask(alice, query)).data).toEqual({
      viewer: { username: 'alice', groups: ['system:authenticated'] },
      anywhere: false,
      here: true,
      other: false,
      named: true,
      logs: false,
      pods: { nodes: [{ reads: true, deletes: false }] },
    })
    expect((await ask(admin, query)).data.pods.nodes).toEqual([{ reads: true, deletes: true }])
    expect(codes(await ask(alice, '{ can(verb: "no thing", type: "Pod") }'))).toEqual([
      'BAD_USER_INPUT',
    ])
  })
})

it('an explanation counts nothing that may not be seen, nor does it tell which way that made the cheaper one', async () => {
  const query = '{ pods(namespace: "one") { nodes { metadata { name } } } nodes { totalCount } }'
  await served.query(admin, query)
  const of = async (who: typeof alice) => {
    const answer = await served.explained(who, query)
    return answer.extensions?.explain as {
      readonly fields: readonly { readonly path: string; readonly [part: string]: unknown }[]
      readonly types: readonly { readonly type: string; readonly objects: number | null }[]
    }
  }
  const [whole, own] = [await of(admin), await of(alice)]
  expect(whole.types.map(({ type, objects }) => [type, objects])).toContainEqual(['Pod', 2])
  expect(own.types.map(({ type, objects }) => [type, objects])).toEqual([['Pod', null]])
  expect(own.fields).toHaveLength(1)
  expect(own.fields).toMatchObject([{ path: 'pods', types: ['Pod'], returned: 1 }])
  const way = ['access', 'postings', 'values', 'tested', 'forwards', 'backwards', 'scanned']
  const hidden = [...way, 'examined', 'tests'].map((part) => [part, null])
  expect(own.fields[0]).toMatchObject(Object.fromEntries(hidden))
})

it('an explanation tells nobody who may only get objects by their names how many there are', async () => {
  const dora = caller('dora')
  await world.allowEverywhere('dora', 'dora', [{ ...reads('', 'pods'), verbs: ['get'] }])
  await served.query(admin, '{ pods { totalCount } }')
  const query = '{ pod(namespace: "one", name: "shop-1-x") { metadata { name } } }'
  const { data, extensions } = await served.explained(dora, query)
  expect(data.pod).toEqual({ metadata: { name: 'shop-1-x' } })
  expect(extensions?.explain).toMatchObject({ types: [] })
})

it('an informer starts only for somebody who may list its kind, or get the object', async () => {
  const secret = 'configMap(namespace: "two", name: "settings") { metadata { name } }'
  await using fresh = await serveViewers({ clusters: [world.selection] })
  const kinds = async (): Promise<readonly string[]> => {
    const answer = await fresh.query(
      admin,
      '{ gatewayClusters { resources(loaded: true) { type } } }',
    )
    return answer.data.gatewayClusters[0].resources.map((one: { type: string }) => one.type)
  }
  const asked = `{ nodes { totalCount } node(name: "worker") { id } pods { totalCount } ${secret} }`
  await fresh.query(mallory, asked)
  await fresh.query(mallory, 'query { pods(namespace: "one") { nodes { node { id } } } }')
  expect(await kinds()).toEqual([])
  await fresh.query(alice, `{ ${secret} }`)
  expect(await kinds()).toEqual(['ConfigMap'])
})
