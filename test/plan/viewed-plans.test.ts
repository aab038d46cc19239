import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gets, reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { loadAll, namedObjects } from './known-objects.ts'
import { type NamedObject, neverTooCostly, RandomOperations } from './random-operation.ts'

const operations = Number(process.env['OPERATIONS'] ?? 150)

/** Plan and graphql-js are asked one after the other: what is slow to load must be late for neither. */
const patient = { syncDeadlineMs: 30_000 }

const admin = caller('admin', 'system:masters')
const viewers = [
  admin,
  // Reads what belongs to pods in `one`, and no nodes.
  caller('alice'),
  // Reads pods everywhere, and the node by its name.
  caller('bob'),
  // May look at one pod and one Service by their names.
  caller('carol'),
  caller('nobody'),
]

let world: SmallWorld
let served: ViewedGateway
let objects: readonly NamedObject[]

beforeAll(async () => {
  world = await startSmallWorld()
  await world.allow('one', 'alice', 'alice', [
    reads('', 'pods', 'services', 'events'),
    reads('apps', 'deployments', 'replicasets'),
  ])
  await world.allowEverywhere('bob', 'bob', [reads('', 'pods'), gets('nodes', 'worker')])
  await world.allow('two', 'carol', 'carol', [gets('pods', 'shop-1-x'), gets('services', 'shop')])
  served = await serveViewers({
    clusters: [world.selection],
    relay: true,
    limits: { work: neverTooCostly, ...patient },
  })
  const ask = async (query: string) => served.unplanned(admin, query)
  await loadAll(ask, served.gateway.schema)
  objects = await namedObjects(ask)
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe('a plan shows a viewer what graphql-js shows, and fails where it fails', () => {
  it(`in ${operations} random operations, seed ${runSeed}`, async () => {
    const random = new RandomOperations(served.gateway.schema, seededRandom(runSeed), objects)
    let planned = 0
    for (let at = 0; at < operations; at++) {
      const { query, variables } = random.next()
      for (const viewer of viewers) {
        const told = await served.unplanned(viewer, query, variables)
        const about = `${viewer.username} ${query} ${JSON.stringify(variables)}`
        const answer = await served.query(viewer, query, variables)
        expect(JSON.stringify(answer), about).toBe(JSON.stringify(told))
        const text = await served.gateway.planned.answer({ query, variables }, { viewer })
        if (text !== undefined) planned += 1
      }
    }
    expect(planned, 'answered by plans').toBeGreaterThan(operations)
  }, 300_000)

  it('and may do what graphql-js says, of which nothing has been asked before', async () => {
    const query = `{ pods { nodes { metadata { name } get: can(verb: "get") can(verb: "delete") log: can(verb: "get", subresource: "log")
      node { can(verb: "patch") } } } }`
    for (const viewer of viewers) {
      await using fresh = await serveViewers({ clusters: [world.selection], limits: patient })
      const text = await fresh.gateway.planned.answer({ query }, { viewer })
      const told = await served.unplanned(viewer, query)
      expect(text, viewer.username).toBe(JSON.stringify(told))
      expect(await fresh.query(viewer, query), viewer.username).toEqual(told)
    }
    // More is not asked for one operation, and nothing of it by the plan.
    const access = { maxReviewsPerOperation: 4 }
    await using few = await serveViewers({ clusters: [world.selection], access })
    const { errors } = await few.query(caller('alice'), query)
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'RBAC_BUDGET_EXCEEDED' } })
  }, 60_000)

  it('for objects of whatever kind', async () => {
    const ids = objects.map(({ id }) => id)
    const of = `kind metadata { name } ... on Pod { node { metadata { name } } owners { kind } }
      ... on Service { pods { totalCount nodes { metadata { namespace } } } }`
    let planned = 0
    for (const viewer of viewers) {
      for (const { id, apiVersion, kind, namespace, name } of objects) {
        const query = `query ($ids: [ID!]!, $id: ID!, $apiVersion: String!, $kind: String!, $namespace: String, $name: String!) {
          objects(ids: $ids) { ${of} } object(id: $id) { ${of} owned { totalCount types nodes { ${of} } } }
          objectByRef(apiVersion: $apiVersion, kind: $kind, namespace: $namespace, name: $name) { ${of} }
          graph(roots: [$id], depth: 4, maxNodes: 50) { types nodes { name object { ${of} } } }
          search(text: "shop", first: 20) { types nodes { matched object { kind object { ${of} } } } } }`
        const variables = { ids, id, apiVersion, kind, namespace, name }
        const told = await served.unplanned(viewer, query, variables)
        expect(await served.query(viewer, query, variables), viewer.username).toEqual(told)
        const text = await served.gateway.planned.answer({ query, variables }, { viewer })
        if (text === undefined) continue
        planned += 1
        expect(text).toBe(JSON.stringify(told))
      }
    }
    expect(planned, 'answered by plans').toBeGreaterThan(objects.length)
  })
})
