import { population, type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadAll, namedObjects } from '../plan/known-objects.ts'
import { neverTooCostly } from '../plan/random-operation.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type GraphQLAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import {
  operatorDefinition,
  operatorNames,
  operatorObject,
} from '../support/operator-definitions.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { kindsIn, kindsQuery, Oracle, unordered } from './oracle.ts'
import { expectSearch } from './plain-search.ts'
import { PlainWorld } from './plain-world.ts'

const operations = Number(process.env['OPERATIONS'] ?? 150)

let cluster: Simulator
let served: ServedGateway
let oracle: Oracle
let world: PlainWorld

/** A pod that uses always the same. */
function measured(pod: Fields): Fields {
  const { name, annotations } = pod.metadata
  const usage = `${(name.length * 37) % 900}m ${16 * (1 + (name.length % 9))}Mi`
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...annotations, 'simulator.informerql/usage': usage },
    },
  }
}

/** A policy whose settings are ConfigMaps, and bindings that name or select them. */
const admission = [
  ['validatingadmissionpolicies', 'limits', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }],
  [
    'validatingadmissionpolicybindings',
    'named',
    { paramRef: { name: 'kube-root-ca.crt', namespace: 'shop' } },
  ],
  ['validatingadmissionpolicybindings', 'anywhere', { paramRef: { name: 'kube-root-ca.crt' } }],
  [
    'validatingadmissionpolicybindings',
    'selected',
    { paramRef: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } },
  ],
  ['validatingadmissionpolicybindings', 'unbound', {}],
].map(([resource, name, spec]) => {
  const object: Fields = { metadata: { name }, spec: { policyName: 'limits', ...(spec as object) } }
  return [
    { group: 'admissionregistration.k8s.io', version: 'v1', resource: resource as string },
    object,
  ] as const
})

/** Kinds of operators, whose definitions repeat the same structures, with objects in two namespaces. */
async function addOperators(server: string): Promise<void> {
  const random = seededRandom(1)
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(server + path, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(await answer.text())
  }
  for (const number of [0, 2, 3]) {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await send('POST', definitions, operatorDefinition(number))
    const { group, plural } = operatorNames(number)
    for (let at = 0; at < 6; at += 1) {
      const namespace = at % 2 === 0 ? 'kube-system' : 'default'
      const object = operatorObject(number, { name: `operand-${at}`, namespace }, random)
      const path = `/apis/${group}/v1/namespaces/${namespace}/${plural}`
      await send('POST', path, object)
      await send('PUT', `${path}/${object.metadata.name}/status`, object)
    }
  }
}

beforeAll(async () => {
  // Nothing changes in it: what is listed once is what every answer is about.
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    metrics: true,
    populate: (storage) => {
      for (const { resource, object } of population({ pods: 150, seed: 'oracle' })) {
        storage.create(resource, resource.resource === 'pods' ? measured(object) : object)
      }
      for (const [resource, object] of admission) storage.create(resource, object)
    },
  })
  await addOperators(cluster.url)
  served = await serveGateway({
    clusters: [{ name: 'test', server: cluster.url }],
    limits: { work: neverTooCostly },
    cache: { usageIntervalMs: 3_600_000 },
  })
  const { schema } = served.gateway
  await loadAll(served.query, schema)
  const kinds = kindsIn(await served.data(kindsQuery))
  world = await PlainWorld.read(cluster.url, 'test', kinds)
  oracle = new Oracle(world, schema)
}, 120_000)

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

it(`answers what the objects of the cluster say, in ${operations} random operations, seed ${runSeed}`, async () => {
  const asked = oracle.operations(seededRandom(runSeed), await namedObjects(served.query))
  let compared = 0
  for (let at = 0; at < operations; at++) {
    const { query, variables } = asked.next()
    const answer = await served.query(query, variables)
    if (answer.errors !== undefined) continue
    const expected = await oracle.answer(query, variables)
    if (expected === undefined) continue
    compared += 1
    expect(expected, `${query} ${JSON.stringify(variables)}`).toEqual({ data: answer.data })
  }
  expect(compared, 'compared answers').toBeGreaterThan(operations * 0.6)
}, 600_000)

it(`pages forwards and backwards through what the objects say, seed ${runSeed}`, async () => {
  const random = seededRandom(runSeed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const lists = ['pods', 'events', 'configMaps', 'services', 'replicaSets', 'deployments']
  const orders = [
    '[]',
    '[{ name: DESC }]',
    '[{ namespace: DESC }]',
    '[{ creationTimestamp: DESC }, { name: ASC }]',
    '[{ health: ASC }]',
  ]
  for (let time = 0; time < 30; time++) {
    const list = `list: ${pick(lists)}`
    const rest = `where: { name: { contains: "${pick(['a', 'e', 'web', ''])}" } }, orderBy: ${pick(orders)}`
    const whole = await oracle.answer(`{ ${list}(first: 500, ${rest}) { nodes { id } } }`, {})
    const { list: expected } = (whole ?? {}).data as {
      readonly list: { readonly nodes: object[] }
    }
    const size = 1 + Math.floor(random() * Math.max(10, expected.nodes.length / 3))
    for (const isForward of [true, false]) {
      const found: object[] = []
      let position: string | null = null
      do {
        const page = isForward ? `first: ${size}, after` : `last: ${size}, before`
        const query = `query ($at: String) { ${list}(${page}: $at, ${rest}) { totalCount nodes { id }
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
        const { data }: GraphQLAnswer = await served.query(query, { at: position })
        const { nodes, pageInfo, totalCount } = data.list
        expect(totalCount).toBe(expected.nodes.length)
        const [isBegun, more, cursor] = isForward
          ? [pageInfo.hasPreviousPage, pageInfo.hasNextPage, pageInfo.endCursor]
          : [pageInfo.hasNextPage, pageInfo.hasPreviousPage, pageInfo.startCursor]
        expect(isBegun, query).toBe(position !== null)
        if (isForward) found.push(...nodes)
        else found.unshift(...nodes)
        position = more ? cursor : null
      } while (position !== null)
      expect(found, `${list} ${rest} in pages of ${size}`).toEqual(expected.nodes)
    }
  }
}, 120_000)

const problemFields = `totalCount lookedAt complete notLookedAt counts { severity type kind count }
  nodes { severity reason message since count kind type object { id kind namespace name }
    objects(first: 30) { id kind namespace name } lastEvent { reason message count lastSeen } }`

it('lists what is wrong, each cause once', async () => {
  const { problems } = await served.data(`{ problems(first: 500) { ${problemFields} } }`)
  expect(problems.nodes.length).toBeGreaterThan(3)
  const namespaces: readonly string[] = problems.nodes.map(({ object }: Fields) => object.namespace)
  for (const args of [
    'first: 500',
    'severity: CRITICAL, orderBy: [{ count: DESC }, { since: ASC }]',
    'types: ["Pod", "ConfigMap"], orderBy: [{ since: DESC }]',
    'types: ["Deployment", "Node"], first: 2',
    ...[...new Set(namespaces)].map(
      (namespace) => `namespaces: ["${namespace ?? ''}", "kube-system"]`,
    ),
  ]) {
    const query = `{ problems(${args}) { ${problemFields} } }`
    expect(await oracle.answer(query, {}), query).toEqual(await served.query(query))
  }
}, 60_000)

const graphQuery = `query ($roots: [ID!]!, $relations: [String!], $depth: Int) {
  graph(roots: $roots, relations: $relations, depth: $depth, maxNodes: 5000) {
    nodes { id clusterName apiVersion kind namespace name depth object { id } } edges { from to relation } truncated } }`

it('finds what is around objects', async () => {
  const objects = await namedObjects(served.query)
  const random = seededRandom(runSeed)
  let isBackwards = false
  for (const relations of [
    ['Deployment.replicaSets', 'ReplicaSet.pods', 'Pod.node', 'services', 'configMaps'],
    ['Node.pods', 'Pod.deployment', 'Deployment.pods', 'ReplicaSet.deployment'],
    ['owners', 'owned', 'secrets', 'serviceAccount'],
    ['pods', 'owners', 'namespaceObject', 'events'],
    ['Pod.owners', 'ReplicaSet.owned', 'Service.pods', 'Pod.services', 'persistentVolumeClaims'],
  ]) {
    for (let depth = 0; depth < 5; depth++) {
      const roots = Array.from(
        { length: 1 + Math.floor(random() * 3) },
        () => objects[Math.floor(random() * objects.length)]?.id,
      )
      // Nodes run pods, so some edge is read backwards whatever else is asked.
      if (relations[0] === 'Node.pods') roots.push(objects.find(({ kind }) => kind === 'Node')?.id)
      const variables = { roots, relations, depth }
      const answer = await served.query(graphQuery, variables)
      const expected = await oracle.answer(graphQuery, variables)
      if (expected === undefined) continue
      expect(unordered(expected), JSON.stringify(variables)).toEqual(unordered(answer))
      isBackwards ||= answer.data.graph.edges.some(
        ({ relation }: Fields) => relation === 'Pod.node',
      )
    }
  }
  expect(isBackwards).toBe(true)
}, 60_000)

const searchQuery = `query ($text: String!, $types: [String!], $namespaces: [String!]) {
  search(text: $text, types: $types, namespaces: $namespaces, first: 500) {
    totalCount counts { type count } nodes { matched value object { id } } } }`

it('finds what has all words of a text', async () => {
  for (const variables of [
    ...['a', 'web', 'SHOP', 'kube sys', 'web a', 'nginx:', '10.', 'kind:po,svc e'].map((text) => ({
      text,
    })),
    ...['app=', 'app=web', 'ns:shop', 'ns:shop,payments kind:deploy a', 'app!=web s'].map(
      (text) => ({ text }),
    ),
    { text: 's', types: ['Event', 'ConfigMap'] },
    { text: 'e', namespaces: ['shop', 'kube-system'] },
  ]) {
    const { search } = await served.data(searchQuery, variables)
    expectSearch(world, variables, search)
    expect(search.nodes).toHaveLength(Math.min(500, search.totalCount))
  }
}, 60_000)

it.each([
  `{ group0OperatorsExampleComOperand2s { totalCount nodes { name health { status }
     spec { forProvider { subnetIdSelector { ...S } roleArnSelector { ...S } } initProvider { roleArnSelector { ...S } } } } } }
   fragment S on Group0OperatorsExampleComOperand2SpecForProviderRoleArnSelector { matchLabels matchExpressions { key operator values } }`,
  `{ group0OperatorsExampleComOperand0s(where: { namespace: { eq: "default" } }, orderBy: [{ name: DESC }]) { nodes { name
     spec { template { spec { containers { name env { name } livenessProbe { ...P } readinessProbe { ...P } } initContainers { name livenessProbe { ...P } } } } } } } }
   fragment P on Group0OperatorsExampleComOperand0SpecTemplateSpecContainersLivenessProbe { httpGet { port httpHeaders { name value } } }`,
  `{ customResourceDefinitions { nodes { name instances(first: 20) { totalCount nodes { id kind name } } usedBy(first: 20) { totalCount nodes { object { name } } } } }
     group0OperatorsExampleComOperand2s { nodes { name definition { id name } } } }`,
  '{ validatingAdmissionPolicyBindings { nodes { name params { id kind namespace name object { id } } paramObjects(first: 100) { totalCount nodes { id name } } } } }',
  '{ configMaps(first: 150) { nodes { name namespace admissionPolicyBindings(first: 9) { totalCount nodes { name } } usedBy(first: 90) { totalCount nodes { object { name } } } } } }',
  ...[
    'deployments',
    'statefulSets',
    'replicaSets',
    'roles',
    'clusterRoles',
    'persistentVolumes',
  ].map(
    (list) =>
      `{ ${list}(first: 60) { nodes { name usedBy(first: 90) { totalCount nodes { object { kind name } } } } } }`,
  ),
  '{ pods(first: 40) { nodes { name usedBy(first: 90, types: ["Service", "NetworkPolicy", "PodDisruptionBudget"]) { totalCount nodes { object { kind name } } } } } }',
  '{ pods(orderBy: [{ usageMemory: DESC }, { usageCpu: ASC }], first: 90) { nodes { name usage { cpu memory containers { name cpu memory } } } } }',
  '{ pods(where: { usageCpu: { gt: "300m" } }) { totalCount sum(of: ["usageCpu", "usageMemory", "cpuRequests"]) { of number count } facets(by: ["nodeName"], sum: ["usageMemory"]) { values { value count sums { of number } } } } }',
  '{ nodes(where: { pods: { some: { usageCpu: { gte: "500m" } } } }) { nodes { name printerColumns(wide: true) { name type format priority value since } } } }',
  '{ pods { nodes { printerColumns { name value since } } } secrets { nodes { printerColumns { name value } } } jobs { nodes { printerColumns(wide: true) { name value since } } } services { nodes { printerColumns { value type } } } }',
])('answers as the objects say: %s', async (query) => {
  expect(await oracle.answer(query, {})).toEqual(await served.query(query))
})
