// Imports internals: the value of `Query` in a run is told to nobody outside.
import { type Simulator, startSimulator } from 'informerql/simulator'
import {
  buildClientSchema,
  type ExecutionResult,
  execute,
  getNamedType,
  type GraphQLSchema,
  introspectionFromSchema,
  isObjectType,
  parse,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queryValues } from '../../src/graphql/reads/query-values.ts'
import { neverTooCostly } from '../plan/random-operation.ts'
import { loadAll } from '../plan/known-objects.ts'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'

/*
 * The values that `Query` reads are values in graphql-js's own sense: its `execute`, over a schema without any resolver,
 * answers a document from them byte by byte as the plan does. The value is taken from the run that answers, in its tick.
 *
 * Rows of kinds are no such values, but places in the caches, which writers of their own write: documents leave them out
 * here. test/oracle compares these.
 */
let cluster: Simulator
let served: ServedGateway
let viewed: ViewedGateway
/** As a client knows it: no field has a resolver. */
let schema: GraphQLSchema

/** Called with the value of `Query` and each run. */
let began: ((root: object, run: unknown) => void) | undefined
const members = [
  'can',
  'gatewayClusters',
  'kubernetesObjects',
  'search',
  'complete',
  'problems',
  'podLogs',
  'graph',
] as const
const own = Object.getOwnPropertyDescriptors(queryValues)

beforeAll(async () => {
  // Nothing changes in it.
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 150, seed: 'values' }),
  })
  const options = {
    clusters: [{ name: 'test', server: cluster.url }],
    limits: { work: neverTooCostly },
  }
  served = await serveGateway(options)
  viewed = await serveViewers(options)
  await loadAll(served.query, served.gateway.schema)
  schema = buildClientSchema(introspectionFromSchema(served.gateway.schema))
  for (const name of members) {
    const { value } = own[name]
    Object.defineProperty(queryValues, name, {
      ...own[name],
      value(this: typeof queryValues, args: object, run: unknown) {
        began?.(this, run)
        return Reflect.apply(value as (...given: readonly unknown[]) => unknown, this, [args, run])
      },
    })
  }
}, 120_000)

afterAll(async () => {
  Object.defineProperties(queryValues, own)
  await viewed[Symbol.asyncDispose]()
  await served[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** The answer of the plan, and that of graphql-js over the values of the run that answered. */
async function bothAnswers(
  ask: () => Promise<string>,
  query: string,
): Promise<readonly [plan: string, values: string]> {
  let result: ExecutionResult | undefined
  began = (rootValue, contextValue) => {
    // Runs are repeated until they lack nothing: the last one answers.
    const execution = { schema, document: parse(query), rootValue, contextValue }
    const outer = began
    began = undefined
    result = execute(execution) as ExecutionResult
    began = outer
  }
  try {
    const text = await ask()
    return [text, JSON.stringify(result)]
  } finally {
    began = undefined
  }
}

/** All fields of a type but rows of kinds. Fields that take arguments have none. */
function everyField(name: string, depth = 4): string {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new TypeError(name)
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const of = getNamedType(field.type)
    if (field.args.some(({ type: given }) => String(given).endsWith('!'))) return []
    if (!('getFields' in of) && !('getTypes' in of)) return [field.name]
    const isRow = schema.getType(`${of.name}Where`) !== undefined
    if (isRow || !isObjectType(of) || depth === 0) return []
    return [`${field.name} ${everyField(of.name, depth - 1)}`]
  })
  return `{ __typename ${fields.join(' ')} }`
}

const documents = (): readonly string[] => [
  `{ can(verb: "get", type: "Pod") viewer { username } gatewayClusters ${everyField('GatewayCluster')} }`,
  '{ gatewayClusters { a: name resources(loaded: true) { type facets(by: ["health", "name"], top: 2) { by values { value count } distinctCount } } ...F } } fragment F on GatewayCluster { b: resources(loaded: false) { type state } }',
  `{ problems(first: 50) ${everyField('ProblemConnection')} }`,
  '{ a: problems(severity: CRITICAL, orderBy: [{ count: ASC }], first: 3) { edges { cursor node { id since } } } b: problems(types: ["Pod"], first: 0) { counts { count } pageInfo { endCursor } } }',
  `{ search(text: "web", first: 20) ${everyField('SearchResultConnection')} complete(text: "s", first: 30) ${everyField('Completions')} }`,
  '{ complete(text: "", terms: [LABEL_KEY, NAME], namespaces: ["shop"]) { completions { term text type @skip(if: true) } } }',
  `{ kubernetesObjects(kinds: ["Pod", "Service"], first: 7) { totalCount counts { type count } pageInfo { hasNextPage startCursor } incomplete { type } edges { cursor } staleSince } }`,
]

describe('graphql-js answers without resolvers, from the values of the run, as the plan answers', () => {
  it('whoever asks', async () => {
    for (const query of documents()) {
      const [plan, values] = await bothAnswers(async () => served.queryText(query), query)
      expect(plan, query).not.toContain('"errors"')
      expect(values, query).toBe(plan)
    }
  })

  it('and who is known', async () => {
    const query = `{ viewer { username groups namespaces(type: "Pod") } can(verb: "list", type: "Pod") }`
    const who = caller('somebody', 'some')
    const ask = async () => JSON.stringify(await viewed.query(who, query))
    const [plan, values] = await bothAnswers(ask, query)
    expect(JSON.parse(plan)).toMatchObject({ data: { viewer: { username: 'somebody' } } })
    expect(values).toBe(plan)
  })

  it('around an object', async () => {
    const { deployments } = await served.data('{ deployments(first: 2) { nodes { id } } }')
    const roots = JSON.stringify(deployments.nodes.map(({ id }: { readonly id: string }) => id))
    const query = `{ graph(roots: ${roots}, depth: 2) ${everyField('Graph')} }`
    const [plan, values] = await bothAnswers(async () => served.queryText(query), query)
    expect(plan).toContain('"relation":"ReplicaSet.deployment"')
    expect(values).toBe(plan)
  })

  it('with the lines of a log', async () => {
    const { pods } = await served.data(
      '{ pods(first: 1, where: { phase: { eq: "Running" } }) { nodes { id } } }',
    )
    const { id } = pods.nodes[0]
    const type = getNamedType(schema.getQueryType()?.getFields()['podLogs']?.type)?.name ?? ''
    const query = `{ podLogs(ids: ["${id}"], tailLines: 5) ${everyField(type)} }`
    const [plan, values] = await bothAnswers(async () => served.queryText(query), query)
    expect(plan).not.toContain('"errors"')
    expect(values).toBe(plan)
  })
})
