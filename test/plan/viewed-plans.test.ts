import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import { kindsIn, kindsQuery, Oracle, refusedIn, unordered } from '../oracle/oracle.ts'
import { type PlainKind, type PlainViewer, PlainWorld } from '../oracle/plain-world.ts'
import { expectSearch } from '../oracle/plain-search.ts'
import type { Variables } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { type Caller, caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { loadAll, namedObjects } from './known-objects.ts'
import { type NamedObject, neverTooCostly } from './random-operation.ts'

const operations = Number(process.env['OPERATIONS'] ?? 60)

/** What is slow to load on a busy machine is waited for. */
const patient = { syncDeadlineMs: 30_000 }

const everywhere = '*'

/** The rules of RBAC that bind each viewer, by namespace. */
const granted: Readonly<Record<string, Readonly<Record<string, readonly Fields[]>>>> = {
  admin: { [everywhere]: [reads('*', '*')] },
  // Reads what belongs to pods in `one`, and no nodes.
  alice: {
    one: [reads('', 'pods', 'services', 'events'), reads('apps', 'deployments', 'replicasets')],
  },
  // Reads pods everywhere, and the node by its name.
  bob: { [everywhere]: [reads('', 'pods'), gets('nodes', 'worker')] },
  // May look at one pod and one Service by their names.
  carol: { two: [gets('pods', 'shop-1-x'), gets('services', 'shop')] },
  nobody: {},
}
const admin = caller('admin', 'system:masters')
const viewers = Object.keys(granted).map((name) => (name === 'admin' ? admin : caller(name)))

/** RBAC as its documentation has it, of these rules. */
function viewerOf({ username }: Caller): PlainViewer {
  const has = (list: readonly string[], value: string): boolean =>
    list.includes(everywhere) || list.includes(value)
  return {
    may: (verb, { group, resource }, { metadata }) =>
      Object.entries(granted[username] ?? {}).some(
        ([namespace, rules]) =>
          (namespace === everywhere || namespace === metadata.namespace) &&
          rules.some(
            ({ apiGroups, resources, verbs, resourceNames }) =>
              has(apiGroups, group) &&
              has(resources, resource) &&
              has(verbs, verb) &&
              (resourceNames === undefined ||
                (verb === 'get' && resourceNames.includes(metadata.name))),
          ),
      ),
  }
}

let world: SmallWorld
let served: ViewedGateway
let objects: readonly NamedObject[]
let kinds: readonly PlainKind[]
let oracle: Oracle
let seen: ReadonlyMap<Caller, PlainWorld>

beforeAll(async () => {
  world = await startSmallWorld()
  for (const [name, namespaces] of Object.entries(granted)) {
    if (name === 'admin') continue
    for (const [namespace, rules] of Object.entries(namespaces)) {
      if (namespace === everywhere) await world.allowEverywhere(name, name, rules)
      else await world.allow(namespace, name, name, rules)
    }
  }
  served = await serveViewers({
    clusters: [world.selection],
    relay: true,
    limits: { work: neverTooCostly, ...patient },
  })
  const { schema } = served.gateway
  const ask = async (query: string) => served.query(admin, query)
  await loadAll(ask, schema)
  objects = await namedObjects(ask)
  kinds = kindsIn((await ask(kindsQuery)).data)
  const whole = await PlainWorld.read(world.url, 'test', kinds, world.administrator)
  oracle = new Oracle(whole, schema)
  seen = new Map(viewers.map((viewer) => [viewer, whole.seenBy(viewerOf(viewer))]))
}, 120_000)

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** The answer for a viewer, which has to be what the oracle says where it is not refused. Returns whether it was compared. */
async function compared(viewer: Caller, query: string, variables: Variables): Promise<boolean> {
  const { data, errors = [] } = await served.query(viewer, query, variables)
  if (errors.some(({ extensions }) => extensions.code !== 'FORBIDDEN')) return false
  const about = `${viewer.username} ${JSON.stringify({ errors, query, variables })}`
  for (const { extensions } of errors) {
    const kind = kinds.find(({ type }) => type === extensions.type)
    const elsewhere = { metadata: { namespace: 'elsewhere', name: 'none' } }
    expect(kind && viewerOf(viewer).may('list', kind, elsewhere), `refused: ${about}`).toBe(false)
  }
  const expected = await oracle.answer(query, variables, seen.get(viewer))
  if (expected?.data === undefined) return false
  const answer = { data: expected.data }
  for (const { path = [] } of errors) refusedIn(answer, { data }, ['data', ...path])
  // A condition that contradicts itself matches nothing for anyone, whatever its words, so no permission is asked. The oracle
  // reads such words for the administrator, and the answer has to be the same.
  const unasked = refusedFields(expected.errors).filter((field) => data[field] !== null)
  if (unasked.length > 0) {
    const whole = await oracle.answer(query, variables)
    const { data: told = {} } = (whole ?? {}) as { readonly data?: Fields }
    for (const field of unasked) Object.assign(answer.data as object, { [field]: told[field] })
  }
  const told = `${about}, expected errors ${JSON.stringify(expected.errors)}`
  const inOrder = 'graph' in data ? unordered : (answered: unknown) => answered
  expect(inOrder(data), told).toEqual(inOrder(answer.data))
  return true
}

/** The fields of `Query` that the oracle refuses. */
function refusedFields(errors: unknown): readonly string[] {
  return ((errors ?? []) as readonly { readonly path: readonly [string] }[]).map(
    ({ path: [field] }) => field,
  )
}

describe('a viewer is answered what the objects that they may see say, and refused the rest', () => {
  it(`in ${operations} random operations, seed ${runSeed}`, async () => {
    const random = oracle.operations(seededRandom(runSeed), objects)
    let count = 0
    for (let at = 0; at < operations; at++) {
      const { query, variables } = random.next()
      for (const viewer of viewers) {
        if (await compared(viewer, query, variables)) count += 1
      }
    }
    expect(count, 'compared answers').toBeGreaterThan(operations * viewers.length * 0.5)
  }, 600_000)

  it('for objects of whatever kind', async () => {
    const ids = objects.map(({ id }) => id)
    const of = `kind metadata { name } ... on Pod { node { metadata { name } } owners { kind } }
      ... on Service { pods { totalCount nodes { metadata { namespace } } } }`
    const query = `query ($ids: [ID!]!, $id: ID!, $apiVersion: String!, $kind: String!, $namespace: String, $name: String!) {
      objects(ids: $ids) { ${of} } object(id: $id) { ${of} owned { totalCount nodes { ${of} } } }
      objectByRef(apiVersion: $apiVersion, kind: $kind, namespace: $namespace, name: $name) { ${of} } }`
    for (const viewer of viewers) {
      for (const { id, apiVersion, kind, namespace, name } of objects) {
        const variables = { ids, id, apiVersion, kind, namespace, name }
        expect(await compared(viewer, query, variables), `${viewer.username} ${id}`).toBe(true)
      }
    }
  }, 60_000)

  it('around objects of whatever kind', async () => {
    const query = `query ($roots: [ID!]!, $relations: [String!]) { graph(roots: $roots, relations: $relations) {
      nodes { id kind namespace name depth object { metadata { name } } } edges { from to relation } truncated } }`
    let count = 0
    for (const viewer of viewers) {
      for (const relations of [
        ['Pod.node', 'Pod.replicaSet', 'ReplicaSet.deployment', 'services'],
        ['pods', 'replicaSets', 'configMaps'],
        ['owners', 'owned', 'Node.pods', 'events'],
      ]) {
        for (const { id } of objects) {
          if (await compared(viewer, query, { roots: [id], relations })) count += 1
        }
      }
    }
    expect(count).toBeGreaterThan(objects.length * 3 * 3)
  }, 60_000)

  it('that have all words of a text', async () => {
    const query = `query ($text: String!, $types: [String!]) { search(text: $text, types: $types, first: 500) {
      totalCount counts { type count } complete notLookedAt nodes { matched value object { id } } } }`
    for (const viewer of viewers) {
      for (const variables of [
        ...['s', 'shop', 'settings', 'app=', 'ns:one shop', 'kind:pod,deploy 1'].map((text) => ({
          text,
        })),
        { text: 'shop', types: ['Pod', 'Service'] },
      ]) {
        const { data, errors = [] } = await served.query(viewer, query, variables)
        const codes = errors.map(({ extensions }) => extensions.code)
        expect(codes.filter((code) => code !== 'FORBIDDEN')).toEqual([])
        const visible = seen.get(viewer) as PlainWorld
        // Who may list nothing of what is named is refused.
        expectSearch(visible, variables, data?.search ?? { totalCount: 0, nodes: [], counts: [] })
      }
    }
  }, 60_000)

  it('and told what they may do, of which nothing has been asked before', async () => {
    const query = `{ pods { nodes { metadata { name namespace } get: can(verb: "get") can(verb: "delete")
      log: can(verb: "get", subresource: "log") } } }`
    const pod = kinds.find(({ type }) => type === 'Pod') as PlainKind
    for (const viewer of viewers) {
      await using fresh = await serveViewers({ clusters: [world.selection], limits: patient })
      const { data } = await fresh.query(viewer, query)
      expect(data, viewer.username).toEqual((await served.query(viewer, query)).data)
      for (const { metadata, ...may } of data?.pods?.nodes ?? []) {
        expect(may, viewer.username).toEqual({
          get: viewerOf(viewer).may('get', pod, { metadata }),
          can: viewer === admin,
          log: viewer === admin,
        })
      }
    }
    // More is not asked for one operation.
    const access = { maxReviewsPerOperation: 4 }
    await using few = await serveViewers({ clusters: [world.selection], access })
    const { errors } = await few.query(caller('alice'), query)
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'RBAC_BUDGET_EXCEEDED' } })
  }, 60_000)
})
