import { isStringOneByteRepresentation } from 'node:v8'
import { createGateway, defaultServerOptions, type Gateway, startGraphQLServer } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'
import { type AskParsed, loadAll, namedObjects } from './known-objects.ts'
import { neverTooCostly, RandomOperations } from './random-operation.ts'
import { company } from '../support/company.ts'

type Ask = (query: string, variables?: Readonly<Record<string, unknown>>) => Promise<string>

type Planned = Pick<Gateway['planned'], 'answer' | 'plugin'>

const operations = Number(process.env['OPERATIONS'] ?? 500)
const log = { info() {}, warn() {}, error() {} }

let cluster: Simulator
let gateway: Gateway
let byPlan: Ask
let byGraphqlJs: Ask
let planned = 0
const servers: AsyncDisposable[] = []

beforeAll(async () => {
  // Nothing changes in it, so that two answers can be compared.
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 150, seed: 'plans' }),
  })
  gateway = await createGateway({
    clusters: [{ name: 'test', server: cluster.url }],
    relay: true,
    log,
    limits: { work: neverTooCostly },
  })
  const counted: Planned = {
    plugin: gateway.plugin,
    answer: async (operation) => {
      const text = await gateway.planned.answer(operation)
      if (text !== undefined) planned += 1
      return text
    },
  }
  byPlan = await serve(counted)
  byGraphqlJs = await serve(undefined)
})

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

async function serve(plans: Planned | undefined, of = gateway): Promise<Ask> {
  const server = await startGraphQLServer({
    server: { ...defaultServerOptions(), port: 0, maxBodyBytes: 1_000_000 },
    plugins: [of.plugin],
    ...(plans === undefined ? {} : { planned: plans }),
    log,
    readiness: of.readiness,
  })
  servers.push(server)
  return async (query, variables = {}) => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return await response.text()
  }
}

async function expectSame(query: string, variables?: Readonly<Record<string, unknown>>) {
  const told = await byGraphqlJs(query, variables)
  const about = `${query} ${JSON.stringify(variables)}`
  // The second answer comes from the fragments that are kept now.
  for (let time = 0; time < 2; time++) {
    const answer = await byPlan(query, variables)
    expect(differenceOf(withoutAmounts(answer), withoutAmounts(told)), about).toBeUndefined()
  }
}

/** Plans and graphql-js count their work in prices of their own: where it is too much, they find that at other places. */
function withoutAmounts(text: string): string {
  if (!text.includes('"code":"QUERY_TOO_COSTLY"')) return text
  const { errors, data } = JSON.parse(text) as {
    errors: { extensions: { code: string } }[]
    data: unknown
  }
  return JSON.stringify({ codes: errors.map(({ extensions }) => extensions.code), data })
}

async function expectWhole(query: string, variables?: Readonly<Record<string, unknown>>) {
  expect(await plannedAnswer(query, variables)).not.toHaveProperty('errors')
}

/** What a plan answers, which is what graphql-js does. */
async function plannedAnswer(
  query: string,
  variables?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  // Which kinds are cached is a part of some answers.
  await byGraphqlJs(query, variables)
  const before = planned
  await expectSame(query, variables)
  expect(planned - before, query).toBe(2)
  return JSON.parse(await byPlan(query, variables)) as unknown
}

/** The place where two texts differ: answers may be large. */
function differenceOf(text: string, other: string): readonly string[] | undefined {
  if (text === other) return undefined
  let at = 0
  while (text[at] === other[at]) at += 1
  return [text, other].map((one) => one.slice(Math.max(0, at - 80), at + 80))
}

const parsed: AskParsed = async (query) =>
  JSON.parse(await byGraphqlJs(query)) as Awaited<ReturnType<AskParsed>>

describe('a plan answers what graphql-js answers, byte by byte', () => {
  it(`for ${operations} random operations over the whole schema, seed ${runSeed}`, async () => {
    await loadAll(parsed, gateway.schema)
    const objects = await namedObjects(parsed)
    const random = new RandomOperations(gateway.schema, seededRandom(runSeed), objects)
    const before = planned
    for (let at = 0; at < operations; at++) {
      const { query, variables } = random.next()
      await expectSame(query, variables)
    }
    expect(planned - before, 'answered by plans').toBeGreaterThan(operations / 2)
  }, 300_000)

  it.each([
    '{ pods { nodes { owners { id kind metadata { name } ... on ReplicaSet { spec { replicas } owners { kind } } } } } }',
    '{ pods { nodes { owners { ...Of } } } } fragment Of on KubernetesObject { clusterName ... on ReplicaSet { pods(first: 2) { totalCount } deployment { metadata { name } } } }',
    '{ pods { nodes { ownerChain { id apiVersion kind namespace name t: __typename } rootOwner { kind name object { __typename metadata { name } ... on Deployment { replicaSets(first: 1) { totalCount } } } } } } }',
    '{ configMaps { nodes { usedBy(first: 3) { totalCount types complete notLookedAt pageInfo { hasNextPage endCursor } nodes { t: __typename paths object { id kind name } } edges { cursor node { object { object { metadata { name } ... on Deployment { spec { replicas } } } } } } } } } }',
    '{ pods(first: 2) { nodes { usedBy { totalCount } owners { usedBy { totalCount } } } } objectList(kind: "ConfigMap", first: 3) { nodes { name usedBy(first: 2) { totalCount nodes { paths } } } } }',
    '{ secrets(where: { usedBy: { none: { types: ["Pod", "Ingress"] } } }) { totalCount nodes { metadata { name } usedBy(types: ["ServiceAccount"]) { totalCount } } } }',
    '{ pods { nodes { name namespace uid creationTimestamp labels metadata { uid creationTimestamp } namespaceObject { name namespace labels } owners { name namespace uid creationTimestamp labels } } } }',
    '{ nodes { nodes { owners { id } ownerChain { id } rootOwner { id } } } }',
    '{ events(first: 50) { nodes { involved { id apiVersion kind namespace name object { id health { status } } } } } }',
    '{ horizontalPodAutoscalers { nodes { target: metadata { name } owners { kind } } } }',
    '{ deployments(first: 5) { nodes { owned(first: 3) { t: __typename totalCount types complete notLookedAt pageInfo { hasNextPage endCursor } nodes { __typename id ... on ReplicaSet { pods(first: 1) { totalCount } owned { nodes { kind } } } } edges { cursor node { metadata { name } } } } } } }',
    '{ replicaSets(first: 5) { nodes { owned(types: ["Pod", "Job"], last: 2) { nodes { metadata { name } owners { kind } } types } } } }',
    '{ secrets(first: 50) { nodes { helmObjects(types: ["ConfigMap"], first: 2) { totalCount types nodes { kind metadata { name } } edges { node { id } } } } } }',
    '{ search(text: "web", first: 7) { t: __typename totalCount types complete notLookedAt counts { type count } pageInfo { hasNextPage endCursor } nodes { matched value object { id kind object { health { status } ... on Pod { node { metadata { name } } } } } } edges { cursor node { value t: __typename } } } }',
    '{ search(text: "s", types: ["Service", "Pod"], namespaces: ["shop", "default"]) { totalCount nodes { object { object { ... on Service { pods(first: 2) { totalCount } } } } } } }',
    '{ search(text: "kind:pod,svc ns:shop,payments e a", first: 5) { totalCount types counts { type count } nodes { matched value object { kind name } } } }',
    '{ search(text: "kind:deploy", first: 5) { totalCount types complete notLookedAt nodes { matched value object { kind name } } edges { cursor } } }',
    '{ complete(text: "s") { t: __typename from hasMore staleSince types complete notLookedAt completions { t: __typename term text insert type count } } }',
    '{ complete(text: "kind:pod ns:sh", types: ["Pod", "Service"], first: 3) { from completions { insert count } types } }',
    '{ complete(text: "", terms: [LABEL_KEY, NAME], namespaces: ["shop", "payments"], first: 30) { hasMore completions { term text type } } }',
    '{ events(first: 5) { nodes { events { totalCount } } } }',
    '{ objectList(kind: "Pod", first: 3, orderBy: [{ restarts: "DESC" }], where: { node: { isNot: { name: { eq: "x" } } } }) { t: __typename type totalCount resourceVersion staleSince facets(by: ["phase"]) { by values { value count } } pageInfo { hasNextPage endCursor } nodes { __typename id health { status } ... on Pod { phase: status { phase } node { metadata { name } } } } edges { cursor node { name ... on Pod { services { totalCount } } } } } }',
    '{ a: objectList(group: "apps", kind: "deployments", first: 2) { type nodes { name ... on Deployment { pods(first: 1) { totalCount } } ... on Pod { node { id } } } } b: objectList(kind: "Node", last: 2) { nodes { ... on Node { pods { totalCount } } } } }',
    '{ pods(first: 3) { nodes { cluster { name state version t: __typename resources { type state } } } } }',
    '{ gatewayClusters { name resources(loaded: true) { t: __typename type group version apiVersion kind resource namespaced shortNames listField state objects indexes { t: __typename name form values description } columns { name type format priority } facets(by: ["health", "name"], top: 2) { by values { value count } distinctCount } } } a: gatewayClusters { resources(loaded: false) { type objects facets(by: ["health"]) { by } } } }',
    '{ pods(first: 0) { facets(by: ["nodeName", "labels[\\"app\\"]"], top: 2, sum: ["restarts", "cpuRequests"]) { values { t: __typename sums { t: __typename of value number count } value } } a: sum(of: ["memoryRequests"]) { t: __typename of value number count } } nodes { nodes { pods(first: 0) { sum(of: ["cpuLimits"]) { number } } } } }',
    '{ pods(orderBy: [{ restarts: DESC }, { name: ASC }], offset: 40, first: 3) { totalCount pageInfo { hasPreviousPage hasNextPage endCursor } nodes { name } } objectList(kind: "Pod", offset: 1000) { totalCount pageInfo { hasPreviousPage } nodes { name } } }',
  ])('is covered: %s', async (query) => {
    expect(await plannedAnswer(query)).not.toHaveProperty('errors')
  })

  it('for objects by their ids and by what others call them', async () => {
    const objects = await namedObjects(parsed)
    const ids = objects.map(({ id }) => id)
    const of = `__typename id events(last: 2) { totalCount } ... on Pod { node { metadata { name } } }
      ... on Deployment { pods(first: $first) { nodes { metadata { name } } } owned { totalCount types } }
      ... on Service { pods(where: { phase: { eq: "Running" } }) { totalCount } }`
    await expectWhole(
      `query ($ids: [ID!]!, $first: Int) { objects(ids: $ids) { ${of} } none: objects(ids: []) { id } }`,
      { ids, first: 3 },
    )
    for (const { id, type, apiVersion, kind, namespace, name } of objects.filter(
      (_, at) => at % 4 === 0,
    )) {
      const variables = { id, apiVersion, kind, namespace, name, first: 1 }
      await expectWhole(
        `query ($id: ID!, $apiVersion: String!, $kind: String!, $namespace: String, $name: String!, $first: Int) {
          object(id: $id) { ${of} } fetch__${type}(id: $id) { id metadata { name } }
          objectByRef(apiVersion: $apiVersion, kind: $kind, namespace: $namespace, name: $name) { ${of} } }`,
        variables,
      )
    }
    const gone = Buffer.from('1\0test\0\0Pod\0no-such-uid').toString('base64url')
    await expectWhole(`{ object(id: "${gone}") { id } objects(ids: ["${gone}"]) { id } }`)
    for (const query of [
      `{ object(id: "none") { id } pods(first: 1) { totalCount } }`,
      `{ objects(ids: ["${ids[0]}", "none"]) { id } }`,
      `{ fetch__Service(id: "${ids[0]}") { id } }`,
      `{ objectByRef(apiVersion: "v1", kind: "Pod", name: "no-namespace") { id } }`,
      `{ objectByRef(apiVersion: "v2", kind: "Nothing", name: "x") { id } }`,
      `{ search(text: " ") { totalCount } }`,
      `{ search(text: "x", types: ["Nothing"]) { totalCount } }`,
      `{ search(text: "kind:pdo x") { totalCount } }`,
      `{ complete(text: "kind:pdo x") { from } pods(first: 1) { totalCount } }`,
      `{ complete(text: "x", first: 1000) { from } }`,
      `{ objectList(kind: "Podd") { totalCount } pods(first: 1) { totalCount } }`,
      `{ objectList(kind: "Pod", where: { phse: { eq: "Running" } }) { totalCount } }`,
      `{ objectList(kind: "Pod", where: { restarts: { gt: "a" } }) { totalCount } }`,
      `{ objectList(kind: "Node", namespace: "shop") { totalCount } }`,
      `{ objectList(kind: "Pod", first: -1) { totalCount } }`,
      `{ deployments { nodes { owned(types: ["Nothing"]) { totalCount } } } }`,
    ]) {
      await expectSame(query)
      expect(JSON.parse(await byPlan(query)), query).toHaveProperty('errors')
    }
  })

  it('also where the kinds of owners have not been cached before', async () => {
    const fresh = await createGateway({ clusters: [{ name: 'test', server: cluster.url }], log })
    const ask = await serve(fresh.planned, fresh)
    const query = '{ pods { nodes { rootOwner { kind object { metadata { name } } } } } }'
    expect(await ask(query)).toBe(await byGraphqlJs(query))
    expect(await fresh.planned.answer({ query })).toBeDefined()
    await fresh[Symbol.asyncDispose]()
  })
  it('for graphs', async () => {
    const { data } = JSON.parse(
      await byGraphqlJs(
        '{ deployments(first: 20) { nodes { id } } nodes(first: 2) { nodes { id } } }',
      ),
    ) as { data: Record<string, { nodes: { id: string }[] }> }
    const roots = Object.values(data).flatMap(({ nodes }) => nodes.map(({ id }) => id))
    const before = planned
    for (const relations of [
      undefined,
      [],
      ['Deployment.replicaSets', 'ReplicaSet.pods', 'Pod.node', 'services', 'configMaps'],
      ['owners', 'owned', 'pods'],
    ]) {
      for (const [at, root] of roots.entries()) {
        const variables = { roots: [root], depth: at % 6, maxNodes: 40 * (1 + at), relations }
        await expectSame(
          `query ($roots: [ID!]!, $depth: Int, $maxNodes: Int, $relations: [String!], $no: Boolean = false) {
            a: graph(roots: $roots, depth: $depth, maxNodes: $maxNodes, relations: $relations) {
              __typename edges { relation to f: from __typename } n: nodes { name id kind }
              nodes { id namespace ... @include(if: $no) { depth } apiVersion clusterName } truncated types notFollowed complete notLookedAt }
            ...Other }
          fragment Other on Query { graph(roots: $roots) { ...G nodes { depth } edges { relation @skip(if: true) } } } fragment G on Graph { nodes { id } }`,
          variables,
        )
      }
    }
    expect(planned - before).toBe(roots.length * 8)
    const withObjects = `{ graph(roots: ["${roots[0]}"]) { nodes { id object { id events(last: 1) { totalCount }
      ... on Pod { node { metadata { name } } } ... on Deployment { owned { totalCount } } } } } }`
    await expectWhole(withObjects)
    // What has an error beside its answer is graphql-js's.
    await expectSame(`{ graph(roots: ["${roots[0]}"], relations: ["nothing"]) { nodes { id } } }`)
  })
  it('in one byte a character, whatever stands in the comments of documents and of the schema', async () => {
    const { data } = JSON.parse(
      await byGraphqlJs('{ deployments(first: 1) { nodes { id } } }'),
    ) as {
      data: { deployments: { nodes: { id: string }[] } }
    }
    const roots = data.deployments.nodes.map(({ id }) => JSON.stringify(id)).join()
    const query = `# …
      { graph(roots: [${roots}], depth: 4) { nodes { aNameThatIsNotShort: id } edges { from to relation } } }`
    const text = await gateway.planned.answer({ query })
    expect(text?.includes('"relation":"Pod.node"')).toBe(true)
    expect(isStringOneByteRepresentation(text ?? '…')).toBe(true)
  })
})
