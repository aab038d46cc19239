import { createGateway, defaultServerOptions, type Gateway, startGraphQLServer } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import {
  buildClientSchema,
  execute,
  getNamedType,
  type GraphQLSchema,
  introspectionFromSchema,
  isCompositeType,
  parse,
} from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AskParsed, loadAll, namedObjects } from '../plan/known-objects.ts'
import { neverTooCostly, RandomOperations } from '../plan/random-operation.ts'
import { company } from '../support/company.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { indexesOf } from './plain-indexes.ts'
import { NotFollowedError, PlainRelations } from './plain-relations.ts'
import { PlainValues } from './plain-values.ts'
import { type PlainKind, PlainWorld } from './plain-world.ts'

const operations = Number(process.env['OPERATIONS'] ?? 400)
const log = { info() {}, warn() {}, error() {} }

let cluster: Simulator
let gateway: Gateway
let server: AsyncDisposable
let ask: AskParsed
let post: (query: string, variables: object) => Promise<string>
let world: PlainWorld

beforeAll(async () => {
  // Nothing changes in it: what is listed once is what every answer is about.
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 150, seed: 'oracle' }),
  })
  gateway = await createGateway({
    clusters: [{ name: 'test', server: cluster.url }],
    log,
    limits: { work: neverTooCostly },
  })
  const served = await startGraphQLServer({
    server: { ...defaultServerOptions(), port: 0 },
    planned: gateway.planned,
    plugins: [gateway.plugin],
    log,
    readiness: gateway.readiness,
  })
  server = served
  post = async (query, variables) => {
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return await response.text()
  }
  ask = async (query) => JSON.parse(await post(query, {})) as Awaited<ReturnType<AskParsed>>
  await loadAll(ask, gateway.schema)
  const { data } = await ask(`{ gatewayClusters { resources {
    type group version apiVersion kind resource namespaced listField state } } }`)
  const kinds = (
    data.gatewayClusters[0].resources as readonly (PlainKind & { state: string })[]
  ).filter(({ state }) => state !== 'UNCACHED')
  world = await PlainWorld.read(cluster.url, 'test', kinds)
}, 120_000)

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

it(`answers what the objects of the cluster say, in ${operations} random operations, seed ${runSeed}`, async () => {
  const schema = buildClientSchema(introspectionFromSchema(gateway.schema))
  const values = new PlainValues(world, schema)
  const rootValue = values.root()
  const random = seededRandom(runSeed)
  const objects = await namedObjects(ask)
  const asked = new RandomOperations(gateway.schema, random, objects, {
    skips: skipped(schema),
    valueOf: (type, index) => {
      const kind = world.kind(type)
      const known = kind && indexesOf(world, kind).get(index)
      if (known === undefined || known.type === 'HEALTH') return undefined
      const rows = world.of(type)
      const row = rows[Math.floor(random() * rows.length)]
      return row && known.valuesOf(row)[0]
    },
  })
  let compared = 0
  for (let at = 0; at < operations; at++) {
    const { query, variables } = asked.next()
    const answer = JSON.parse(await post(query, variables)) as { data?: unknown; errors?: unknown }
    if (answer.errors !== undefined) continue
    const expected = await execute({
      schema,
      document: parse(query),
      rootValue,
      variableValues: variables,
    })
    const unknown = expected.errors?.some(
      ({ originalError }) => originalError instanceof NotFollowedError,
    )
    if (unknown === true) continue
    compared += 1
    const about = `${query} ${JSON.stringify(variables)}`
    expect(JSON.parse(JSON.stringify(expected)), about).toEqual({ data: answer.data })
  }
  expect(compared, 'compared answers').toBeGreaterThan(operations * 0.6)
}, 600_000)

/** What only the gateway knows: positions, freshness, what is loaded; and the relations that the oracle cannot follow. */
function skipped(schema: GraphQLSchema): (type: string, field: string) => boolean {
  const relations = new PlainRelations(world)
  const own = new Set([
    'cursor',
    'startCursor',
    'endCursor',
    'resumeToken',
    'resourceVersion',
    'types',
    'complete',
    'notLookedAt',
    'printerColumns',
    'can',
    'usage',
    'requests',
    'limits',
  ])
  const roots = new Set(['graph', 'search', 'complete', 'problems'])
  const known = new Map<string, boolean>()
  const isKind = (type: string): boolean =>
    schema.getType(`${type}Where`) !== undefined && type !== 'KubernetesObject'
  return (typeName, field) => {
    if (typeName === 'Query') {
      const type =
        getNamedType(schema.getQueryType()?.getFields()[field]?.type)?.name.replace(
          /Connection$/,
          '',
        ) ?? ''
      return roots.has(field) || (isKind(type) && world.kind(type) === undefined)
    }
    if (own.has(field)) return true
    if (typeName === 'GatewayCluster') return field !== 'name'
    if (typeName === 'UsedBy') return field === 'paths'
    if (typeName === 'IndexSum') return field === 'value'
    if (field === 'changed') return true
    const type = schema.getType(typeName)
    const fields = type !== undefined && 'getFields' in type ? type.getFields() : {}
    const of = fields[field]?.type
    if (of === undefined || world.kind(typeName) === undefined) return false
    const declared = relations.declaration(typeName, field)
    if (declared === undefined || !isCompositeType(getNamedType(of))) return false
    if (getNamedType(of).name === 'ObjectRef')
      return declared.directives.some(({ args }) => args.kindAt)
    const name = `${typeName}.${field}`
    let follows = known.get(name)
    if (follows === undefined) known.set(name, (follows = relations.follows(typeName, field)))
    return !follows
  }
}
