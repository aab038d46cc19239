import { isStringOneByteRepresentation } from 'node:v8'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { buildClientSchema, type GraphQLSchema, introspectionFromSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectShape, withTypes } from '../oracle/shape.ts'
import { company } from '../support/company.ts'
import {
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
  type Variables,
} from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { loadAll, namedObjects } from './known-objects.ts'
import { neverTooCostly, RandomOperations } from './random-operation.ts'

const operations = Number(process.env['OPERATIONS'] ?? 200)

let cluster: Simulator
let served: ServedGateway
let schema: GraphQLSchema

beforeAll(async () => {
  // Nothing changes in it, so that two answers can be compared.
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 150, seed: 'plans' }),
  })
  served = await serveGateway(
    {
      clusters: [{ name: 'test', server: cluster.url }],
      relay: true,
      limits: { work: neverTooCostly },
    },
    { maxBodyBytes: 1_000_000 },
  )
  schema = buildClientSchema(introspectionFromSchema(served.gateway.schema))
}, 120_000)

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** Asks twice. The second answer comes from the texts that are kept now, and has to be the same. */
async function answered(query: string, variables: Variables = {}): Promise<GraphQLAnswer> {
  const asked = withTypes(schema, query)
  // Which kinds are cached is a part of some answers.
  await served.query(asked, variables)
  const text = await served.queryText(asked, variables)
  const again = await served.queryText(asked, variables)
  expect(again === text, `the second answer to ${query}`).toBe(true)
  const answer = JSON.parse(text) as GraphQLAnswer
  expectShape(schema, asked, variables, answer)
  return answer
}

describe('an answer has the fields that graphql-js gives it, in their order', () => {
  it(`for ${operations} random operations over the whole schema, seed ${runSeed}`, async () => {
    await loadAll(served.query, served.gateway.schema)
    const objects = await namedObjects(served.query)
    const random = new RandomOperations(served.gateway.schema, seededRandom(runSeed), objects)
    let whole = 0
    for (let at = 0; at < operations; at++) {
      const { query, variables } = random.next()
      const { errors } = await answered(query, variables)
      if (errors === undefined) whole += 1
    }
    expect(whole, 'answers without errors').toBeGreaterThan(operations / 2)
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
  ])('of %s', async (query) => {
    expect(await answered(query)).not.toHaveProperty('errors')
  })

  it('for objects by their ids and by what others call them', async () => {
    const objects = await namedObjects(served.query)
    const ids = objects.map(({ id }) => id)
    const of = `__typename id events(last: 2) { totalCount } ... on Pod { node { metadata { name } } }
      ... on Deployment { pods(first: $first) { nodes { metadata { name } } } owned { totalCount types } }
      ... on Service { pods(where: { phase: { eq: "Running" } }) { totalCount } }`
    expect(
      await answered(
        `query ($ids: [ID!]!, $first: Int) { objects(ids: $ids) { ${of} } none: objects(ids: []) { id } }`,
        { ids, first: 3 },
      ),
    ).not.toHaveProperty('errors')
    for (const { id, type, apiVersion, kind, namespace, name } of objects.filter(
      (_, at) => at % 4 === 0,
    )) {
      const variables = { id, apiVersion, kind, namespace, name, first: 1 }
      expect(
        await answered(
          `query ($id: ID!, $apiVersion: String!, $kind: String!, $namespace: String, $name: String!, $first: Int) {
          object(id: $id) { ${of} } fetch__${type}(id: $id) { id metadata { name } }
          objectByRef(apiVersion: $apiVersion, kind: $kind, namespace: $namespace, name: $name) { ${of} } }`,
          variables,
        ),
      ).not.toHaveProperty('errors')
    }
    const gone = Buffer.from('1\0test\0\0Pod\0no-such-uid').toString('base64url')
    expect(
      await answered(`{ object(id: "${gone}") { id } objects(ids: ["${gone}"]) { id } }`),
    ).not.toHaveProperty('errors')
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
      expect(await answered(query), query).toHaveProperty('errors')
    }
  })

  it('also where the kinds of owners have not been cached before', async () => {
    const clusters = [{ name: 'test', server: cluster.url }]
    await using fresh = await serveGateway({ clusters })
    const query = '{ pods { nodes { rootOwner { kind object { metadata { name } } } } } }'
    expect(await fresh.query(query)).toEqual(await served.query(query))
  })

  it('for graphs', async () => {
    const { deployments, nodes } = await served.data(
      '{ deployments(first: 20) { nodes { id } } nodes(first: 2) { nodes { id } } }',
    )
    const roots: readonly string[] = [...deployments.nodes, ...nodes.nodes].map(({ id }) => id)
    for (const relations of [
      undefined,
      [],
      ['Deployment.replicaSets', 'ReplicaSet.pods', 'Pod.node', 'services', 'configMaps'],
      ['owners', 'owned', 'pods'],
    ]) {
      for (const [at, root] of roots.entries()) {
        const variables = { roots: [root], depth: at % 6, maxNodes: 40 * (1 + at), relations }
        await answered(
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
    const withObjects = `{ graph(roots: ["${roots[0]}"]) { nodes { id object { id events(last: 1) { totalCount }
      ... on Pod { node { metadata { name } } } ... on Deployment { owned { totalCount } } } } } }`
    expect(await answered(withObjects)).not.toHaveProperty('errors')
    const unknown = `{ graph(roots: ["${roots[0]}"], relations: ["nothing"]) { nodes { id } } }`
    expect(await answered(unknown)).toHaveProperty('errors')
  })
  it('in one byte a character, whatever stands in the comments of documents and of the schema', async () => {
    const { deployments } = await served.data('{ deployments(first: 1) { nodes { id } } }')
    const roots = JSON.stringify(deployments.nodes[0].id)
    const query = `# …
      { graph(roots: [${roots}], depth: 4) { nodes { aNameThatIsNotShort: id } edges { from to relation } } }`
    const text = await served.gateway.planned.answer({ query })
    expect(text?.includes('"relation":"Pod.node"')).toBe(true)
    expect(isStringOneByteRepresentation(text ?? '…')).toBe(true)
  })
})
