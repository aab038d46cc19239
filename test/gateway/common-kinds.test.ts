import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import { type Fields, must, startSimulatedCluster } from './test-cluster.ts'

let cluster: Simulator

beforeAll(async () => {
  cluster = await startSimulator({ populate: company({ pods: 60, seed: 'cold' }) })
  await created(cluster, '/api/v1/namespaces/default/configmaps', { metadata: { name: 'root' } })
})

afterAll(async () => cluster[Symbol.asyncDispose]())

const serve = async (options: Fields = {}) =>
  serveGateway({ clusters: [{ name: 'one', server: cluster.url }], ...options })

const everyList = `{ pods { totalCount } deployments { totalCount } replicaSets { totalCount }
  services { totalCount } configMaps { totalCount } nodes { totalCount } namespaces { totalCount } }`

const looked = 'types complete notLookedAt'

const questions = [
  `search(text: "web") { ${looked} totalCount counts { type count } }`,
  `deployments(first: 3) { nodes { owned { ${looked} totalCount }
    instanceObjects { ${looked} nodes { id } } } }`,
]

it('names what commonKinds and problemKinds have and no cluster serves, since it may come later', async () => {
  const kinds = { commonKinds: ['pods', 'deploymnets'], problemKinds: ['pods', '*.example.com'] }
  await using gateway = await serve(kinds)
  expect(gateway.log.filter((line) => line.includes('no served kind'))).toEqual([
    expect.stringContaining('commonKinds: no served kind has the list field deploymnets'),
    expect.stringContaining('problemKinds: no served kind has the list field *.example.com'),
  ])
  const readyz = await fetch(new URL('/readyz', gateway.url))
  expect(readyz.status).toBe(200)
  expect(await readyz.text()).toContain('deploymnets')
})

describe('a gateway that has just started', () => {
  it.each(questions)(
    'answers as one that has been asked for everything before: %s',
    async (one) => {
      await using warm = await serve()
      await warm.data(everyList)
      await using cold = await serve()
      expect(await cold.data(`{ ${one} }`)).toEqual(await warm.data(`{ ${one} }`))
    },
  )

  it('draws the graph that one draws that has been asked for everything before', async () => {
    await using warm = await serve()
    const { deployments } = await warm.data('{ deployments(first: 1) { nodes { id } } }')
    await warm.data(everyList)
    const graph = `{ graph(roots: ["${deployments.nodes[0].id}"]) {
      ${looked} nodes { id } edges { relation } notFollowed } }`
    await using cold = await serve()
    const found = await cold.data(graph)
    expect(found.graph.nodes.length).toBeGreaterThan(5)
    expect(found).toEqual(await warm.data(graph))
  })

  it('finds what nobody has listed', async () => {
    await using cold = await serve()
    const { search } = await cold.data(`{ search(text: "web") { ${looked} totalCount } }`)
    expect(search.totalCount).toBeGreaterThan(0)
    expect(search.types).toEqual(
      expect.arrayContaining(['Deployment', 'Ingress', 'Pod', 'Service']),
    )
  })
})

describe('an answer about several kinds', () => {
  it('is not complete without the kinds that were not looked into, and names them', async () => {
    await using gateway = await serve()
    const { configMap, search } = await gateway.data(`{
      search(text: "web") { ${looked} }
      configMap(namespace: "default", name: "root") { id owned { ${looked} } } }`)
    for (const found of [search, configMap.owned]) {
      expect(found.complete).toBe(false)
      expect(found.notLookedAt).toEqual(expect.arrayContaining(['Lease', 'Secret']))
      for (const type of [...found.types, 'Event']) expect(found.notLookedAt).not.toContain(type)
    }
    const { graph } = await gateway.data(
      `{ graph(roots: ["${configMap.id}"]) { ${looked} truncated } }`,
    )
    expect(graph).toMatchObject({ complete: false, truncated: false })
    expect(graph.notLookedAt).toContain('Secret')
  })

  it('is complete with the kinds that the request names', async () => {
    await using gateway = await serve({ commonKinds: [] })
    const { configMap, search } = await gateway.data(`{
      search(text: "web", types: ["Pod", "Secret"]) { ${looked} }
      configMap(namespace: "default", name: "root") { id usedBy { ${looked} } } }`)
    expect(search).toEqual({ types: ['Pod', 'Secret'], complete: true, notLookedAt: [] })
    expect(configMap.usedBy).toMatchObject({ complete: true, notLookedAt: [] })
    const { graph } = await gateway.data(
      `{ graph(roots: ["${configMap.id}"], relations: ["Pod.configMaps"]) { ${looked} } }`,
    )
    expect(graph).toMatchObject({ complete: true, notLookedAt: [] })
  })

  it('tells of kinds that the gateway may not read, and of named ones by an error too', async () => {
    const reader = { token: 'reader-token', user: 'reader' }
    await using forbidding = await startSimulatedCluster({}, [reader])
    await must(forbidding, '/api/v1/namespaces/default/services', {
      method: 'POST',
      body: { metadata: { name: 'cart' }, spec: { ports: [{ port: 80 }] } },
    })
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', ...(await forbidding.selectionFor(reader)) }],
    })
    const answer = await gateway.query(`{
      all: search(text: "cart") { totalCount ${looked} }
      named: search(text: "cart", types: ["Service", "Deployment"]) { totalCount ${looked} } }`)
    const { all, named } = answer.data
    expect(all).toMatchObject({ totalCount: 1, complete: false })
    expect(all.notLookedAt).toContain('Deployment')
    expect(named).toEqual({
      totalCount: 1,
      types: ['Service'],
      complete: false,
      notLookedAt: ['Deployment'],
    })
    expect(answer.errors).toMatchObject([
      { path: ['named'], extensions: { code: 'FORBIDDEN', type: 'Deployment' } },
    ])
  })
})
