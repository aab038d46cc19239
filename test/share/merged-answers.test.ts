import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRecord } from '../../src/lib/json.ts'
import { type NamedObject, neverTooCostly, RandomOperations } from '../plan/random-operation.ts'
import { company } from '../support/company.ts'
import {
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
  type Variables,
} from '../support/gateway.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { freePort, holdersBy } from './shared-gateways.ts'

const names = ['ap', 'eu', 'jp', 'us', 'za'] as const
const operations = Number(process.env['OPERATIONS'] ?? 60)

let simulators: readonly Simulator[]
let postgres: PostgresServer
/** Holds all clusters. */
let whole: ServedGateway
/** Shares them with two others. */
let shared: ServedGateway
let others: readonly ServedGateway[]

beforeAll(async () => {
  simulators = await Promise.all(
    names.map((name) =>
      startSimulator({ populate: company({ pods: 20, seed: `shared ${name}` }) }),
    ),
  )
  postgres = await startPostgres()
  const options: GatewayOptions = {
    clusters: names.map((name, at) => ({
      name,
      server: simulators[at]?.url ?? '',
      labels: { region: name },
    })),
    limits: { work: neverTooCostly },
    preload: ['pods'],
  }
  whole = await serveGateway(options)
  const archive = { url: await postgres.database(), kinds: ['pods'] }
  const started = []
  for (let at = 0; at < 3; at++) {
    // oxlint-disable-next-line no-await-in-loop -- one finds the others
    const port = await freePort()
    const share = { address: `http://127.0.0.1:${port}` }
    // oxlint-disable-next-line no-await-in-loop -- as above
    started.push(await serveGateway({ ...options, archive, share }, { port }))
  }
  const [first, ...rest] = started
  if (first === undefined) throw new Error('no gateway')
  shared = first
  others = rest
  await areShared()
}, 180_000)

afterAll(async () => {
  for (const one of [whole, shared, ...others, postgres, ...simulators]) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    await one?.[Symbol.asyncDispose]()
  }
})

/** Waits until each of the gateways holds some of the clusters. */
const areShared = async (): Promise<void> => {
  const held = Object.values(await holdersBy(shared))
  if (!held.includes(null) && new Set(held).size === 3) return
  await sleep(200)
  await areShared()
}

const isGap = (value: unknown): boolean => isRecord(value) && 'code' in value && 'message' in value

/** Gaps in any order. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const all = value.map(ordered)
    return all.length > 0 && all.every(isGap)
      ? all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : all
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, ordered(one)]))
}

/** The text of an answer, as far as it is the same whoever holds the clusters: errors are in any order, and cut elsewhere. */
const comparable = ({ data, errors = [] }: GraphQLAnswer): string => {
  const isCut = errors.some(({ message }) => message.includes(' more errors, such as this one'))
  const told = errors.map(({ message, path, extensions }) =>
    JSON.stringify({ message, path, extensions }),
  )
  return JSON.stringify({ data: ordered(data), errors: isCut ? [] : told.toSorted() })
}

/** The answers of a gateway that shares the clusters, and of the one that holds all. */
const both = async (
  query: string,
  variables: Variables = {},
): Promise<readonly [string, string]> => [
  comparable(await shared.query(query, variables)),
  comparable(await whole.query(query, variables)),
]

describe(`an answer over the clusters of three gateways is that of one which holds all, seed ${runSeed}`, () => {
  it.each([
    'pods(clusters: ["*"], first: 7) { totalCount visible staleSince resourceVersion incomplete { code } nodes { name clusterName } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
    'pods(clusters: ["*"], orderBy: [{ restarts: DESC }, { name: ASC }], first: 9, offset: 20) { nodes { id } pageInfo { hasPreviousPage hasNextPage endCursor } }',
    'pods(clusters: ["*"], offset: 1000) { nodes { id } pageInfo { hasPreviousPage hasNextPage endCursor } }',
    'pods(clusterSelector: "region!=eu", last: 5) { nodes { id } pageInfo { hasPreviousPage hasNextPage endCursor startCursor } }',
    'pods(clusters: ["*"], first: 1) { facets(by: ["phase", "cluster", "name", "restarts"], top: 3, sum: ["cpuRequests"]) { by distinctCount missingCount values { value count sums { of value number count } } } sum(of: ["memoryRequests", "restarts"]) { of value number count } }',
    'objectList(kind: "Pod", clusters: ["*"], orderBy: [{ name: "DESC" }], first: 3) { nodes { name } facets(by: ["phase"]) { values { value count } } type }',
    'search(text: "web", clusters: ["*"], first: 10) { totalCount counts { type count } types complete notLookedAt nodes { object { id name kind } matched value } pageInfo { hasNextPage endCursor } }',
    'problems(clusters: ["*"], first: 10) { totalCount counts { severity type kind count } lookedAt complete notLookedAt nodes { id cluster reason object { name } count } pageInfo { hasNextPage endCursor } }',
    'kubernetesObjects(kinds: ["Deployment", "Node"], clusters: ["*"], orderBy: [{ age: ASC }], first: 10) { totalCount counts { type count } types nodes { id name kind } pageInfo { hasNextPage endCursor } }',
    'gatewayClusters { n: name __typename labels { x: __typename } }',
    'gatewayClusters { n: name __typename labels state }',
    'complete(text: "we", clusters: ["*"], first: 8) { completions { term text insert type count } from hasMore types complete notLookedAt }',
    'complete(text: "", clusters: ["*"]) { completions { term text insert type count } from hasMore }',
    'complete(text: "app", clusters: ["*"], first: 30) { completions { term text insert type count } from hasMore }',
    '__typename viewer { username } a: pods(cluster: "us", first: 2) { nodes { name } } b: nodes(clusters: ["eu", "ap"]) { totalCount } bad: pods(cluster: "none") { totalCount }',
    'big: pods(clusters: ["*"], first: 100000) { totalCount nodes { name } } services(clusters: ["us", "nope"]) { totalCount }',
  ])('of %s', async (selection) => {
    const [merged, expected] = await both(`{ ${selection} }`)
    expect(merged).toBe(expected)
  })

  it('of fragments and conditions by variables', async () => {
    const [merged, expected] = await both(
      `query Named($c: [String!], $n: Int = 3, $yes: Boolean!) { ...R }
      fragment R on Query { pods(clusters: $c, first: $n) { ...P edges @include(if: $yes) { node { ...N } } } }
      fragment P on PodConnection { nodes @skip(if: $yes) { name } totalCount __typename } fragment N on Pod { name node { name } }`,
      { c: ['*'], yes: true },
    )
    expect(merged).toBe(expected)
  })

  it('of objects by their ids, in their order', async () => {
    const list = '{ pods(clusters: ["*"], orderBy: [{ name: DESC }], first: 30) { nodes { id } } }'
    const { pods } = await whole.data(list)
    const known = pods.nodes.map(({ id }: { readonly id: string }) => id)
    const ids = ['nothing', ...known, 'eu/Pod/no/such']
    for (const query of [
      'query ($ids: [ID!]!) { objects(ids: $ids) { id name clusterName } }',
      `{ objects(ids: ${JSON.stringify(ids)}) { id } }`,
    ]) {
      const [merged, expected] = await both(query, { ids })
      expect(merged).toBe(expected)
    }
  })

  it('page by page', async () => {
    for (const [field, args, row] of [
      ['pods', 'orderBy: [{ phase: ASC }, { restarts: DESC }]', 'id'],
      ['pods', '', 'id'],
      ['search', 'text: "a"', 'object { id }'],
      ['problems', 'orderBy: [{ count: DESC }]', 'id'],
      ['kubernetesObjects', 'kinds: ["*"]', 'id'],
    ] as const) {
      const all: unknown[] = []
      let after: string | null = null
      do {
        const query = `query ($after: String) { page: ${field}(${args} clusters: ["*"], first: 17, after: $after) { nodes { ${row} } pageInfo { hasNextPage endCursor } } }`
        const { page } = await shared.data(query, { after })
        all.push(...page.nodes)
        after = page.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null
      } while (after !== null && all.length < 500)
      const { list } = await whole.data(
        `{ list: ${field}(${args} clusters: ["*"], first: 500) { nodes { ${row} } } }`,
      )
      expect(all.slice(0, 500)).toEqual(list.nodes)
    }
  }, 120_000)

  it(
    'of random operations',
    async () => {
      const { list } = await whole.data(
        '{ list: kubernetesObjects(kinds: ["Pod", "Deployment", "Service", "Node"], clusters: ["*"], first: 500) { nodes { id apiVersion kind namespace name } } }',
      )
      const objects = list.nodes.map((one: NamedObject): NamedObject => ({
        ...one,
        type: one.kind,
        lookup: one.kind.toLowerCase(),
      }))
      const random = new RandomOperations(whole.gateway.schema, seededRandom(runSeed), objects, {
        skips: (_type, field) => otherwise.has(field),
        clusters: [['*'], ['eu', 'us', 'jp'], ['za', 'ap'], ['eu', 'jp', 'za']],
      })
      for (let at = 0; at < operations; at++) {
        const { query, variables } = random.next()
        const { data } = await whole.query(query, variables)
        if (data === undefined || data === null) continue
        const [merged, expected] = await both(query, variables)
        expect(merged, `${query} ${JSON.stringify(variables)}`).toBe(expected)
      }
    },
    10_000 * operations,
  )
})

/** What each gateway has of its own, what needs the archive, and what is refused over several gateways. */
const otherwise: ReadonlySet<string> = new Set([
  'resumeToken',
  'staleSince',
  'resourceVersion',
  'changes',
  'differences',
  'history',
  'changesBefore',
  'lastLines',
  'printerColumns',
  'graph',
  'holder',
])
