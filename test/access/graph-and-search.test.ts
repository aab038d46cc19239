import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { type Caller, caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** Reads what belongs to pods in `one`, and no nodes. */
const alice = caller('alice')
const admin = caller('admin', 'system:masters')
/** Reads pods everywhere, and the node by its name. */
const bob = caller('bob')

let world: SmallWorld
let served: ViewedGateway
let ids: ReadonlyMap<string, string>

beforeAll(async () => {
  world = await startSmallWorld()
  await world.allow('one', 'alice', 'alice', [
    reads('', 'pods', 'services'),
    reads('apps', 'deployments', 'replicasets'),
  ])
  await world.allowEverywhere('bob', 'bob', [reads('', 'pods'), gets('nodes', 'worker')])
  served = await serveViewers({ clusters: [world.selection] })
  const meta = '{ nodes { id kind metadata { namespace name } } }'
  const { data } = await served.query(
    admin,
    `{ pods ${meta} services ${meta} deployments ${meta} replicaSets ${meta} nodes ${meta} configMaps ${meta} }`,
  )
  ids = new Map(
    Object.values<Fields>(data).flatMap(({ nodes }) =>
      nodes.map(({ id, kind, metadata }: Fields) => [
        `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
        id,
      ]),
    ),
  )
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe('What a viewer may not see', () => {
  const around = async (who: Caller, root: string, relations: readonly string[] | null) => {
    const { data, errors = [] } = await served.query(
      who,
      `query ($roots: [ID!]!, $relations: [String!]) { graph(roots: $roots, depth: 4, relations: $relations) {
        nodes { kind namespace name } edges { relation } truncated } }`,
      { roots: [ids.get(root)], relations },
    )
    const nodes: readonly string[] = data.graph.nodes.map(
      ({ kind, namespace, name }: Fields) => `${kind} ${namespace ?? ''}/${name}`,
    )
    return {
      nodes: nodes.toSorted(),
      edges: data.graph.edges.length,
      codes: errors.map(({ extensions }) => extensions.code),
    }
  }
  const relations = ['Pod.node', 'Node.pods', 'Pod.services', 'Pod.replicaSet', 'deployment']

  it('a graph goes where its viewer may, and what is hidden is not there', async () => {
    const seen = await around(admin, 'Pod one/shop-1-x', relations)
    expect(seen.nodes).toHaveLength(9)
    expect(await around(alice, 'Pod one/shop-1-x', relations)).toEqual({
      nodes: [
        'Deployment one/shop',
        'Pod one/shop-1-x',
        'ReplicaSet one/shop-1',
        'Service one/shop',
      ],
      edges: 4,
      codes: ['FORBIDDEN'],
    })
    const hidden = { nodes: [], edges: 0, codes: [] }
    expect(await around(alice, 'Pod two/shop-1-x', ['Pod.services'])).toEqual(hidden)
    expect(await around(alice, 'Node /worker', ['Node.pods'])).toEqual(hidden)
  })

  it('a graph of relations that are not named does not tell of kinds that are forbidden', async () => {
    const { nodes, codes } = await around(alice, 'Pod one/shop-1-x', null)
    expect(nodes).toEqual([
      'Deployment one/shop',
      'Pod one/shop-1-x',
      'ReplicaSet one/shop-1',
      'Service one/shop',
    ])
    expect(codes).toEqual([])
  })

  it('a graph does not tell whether hidden objects have owners', async () => {
    const kinds = async (): Promise<readonly string[]> => {
      const query = 'query ($roots: [ID!]!) { graph(roots: $roots, depth: 1) { types } }'
      const { data } = await served.query(alice, query, { roots: [ids.get('Pod one/shop-1-x')] })
      return data.graph.types
    }
    const before = await kinds()
    const path = '/api/v1/namespaces/two/services'
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'worker', uid: 'of-the-worker' }
    await world.make(path, {
      metadata: { name: 'owned', ownerReferences: [owner] },
      spec: { ports: [{ port: 80 }] },
    })
    const services = '{ services(namespace: "two") { totalCount } }'
    await expect
      .poll(async () => (await served.query(admin, services)).data.services.totalCount)
      .toBe(2)
    expect(await kinds()).toEqual(before)
    await world.remove(`${path}/owned`)
    await expect
      .poll(async () => (await served.query(admin, services)).data.services.totalCount)
      .toBe(1)
  })

  it('a graph may begin at what its viewer knows by name', async () => {
    const { nodes } = await around(bob, 'Node /worker', ['Node.pods'])
    expect(nodes).toEqual(['Node /worker', 'Pod one/shop-1-x', 'Pod two/shop-1-x'])
  })

  it('a search finds and counts what its viewer may list', async () => {
    const find = async (who: Caller, args: string) => {
      const { data, errors = [] } = await served.query(
        who,
        `{ search(text: "shop"${args}) { totalCount types nodes { object { kind namespace } } } }`,
      )
      const places = new Set<string>(
        data.search.nodes.map(({ object }: Fields) => object.namespace),
      )
      return {
        count: data.search.totalCount,
        types: data.search.types,
        places: [...places].toSorted(),
        codes: errors.map(({ extensions }) => extensions.code),
      }
    }
    const four = ', types: ["Pod", "Service", "ReplicaSet", "Deployment"]'
    expect(await find(admin, four)).toMatchObject({ count: 8, places: ['one', 'two'] })
    expect(await find(alice, four)).toMatchObject({ count: 4, places: ['one'], codes: [] })
    expect(await find(alice, ', types: ["Pod", "Node"]')).toEqual({
      count: 1,
      types: ['Pod'],
      places: ['one'],
      codes: ['FORBIDDEN'],
    })
    expect(await find(alice, '')).toMatchObject({ count: 4, places: ['one'] })
    expect((await find(alice, '')).types).not.toContain('ConfigMap')
  })
})
