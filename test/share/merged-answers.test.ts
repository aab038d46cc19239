import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NamedObject, neverTooCostly, RandomOperations } from '../plan/random-operation.ts'
import { created } from '../gateway/created.ts'
import { company } from '../support/company.ts'
import {
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
  type Variables,
} from '../support/gateway.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { freePort, holdersBy } from './shared-gateways.ts'

const names = ['ap', 'br', 'eu', 'jp', 'us', 'za'] as const
/** So many that two gateways both get some, whatever their addresses are. */
const many = Array.from({ length: 12 }, (_, at) => `c-${String(at).padStart(2, '0')}`)
const operations = Number(process.env['OPERATIONS'] ?? 60)

let simulators: readonly Simulator[]
let postgres: PostgresServer
/** Holds all clusters. */
let whole: ServedGateway
/** Shares them with two others. */
let shared: ServedGateway
let others: readonly ServedGateway[]

describe('a question about the past over the clusters of several gateways', needsPostgres, () => {
  let clusters: readonly Simulator[]
  let database: PostgresServer
  let gateways: readonly ServedGateway[]

  beforeAll(async () => {
    clusters = await Promise.all(many.map(() => startSimulator()))
    database = await startPostgres()
    const archive = { url: await database.database(), kinds: ['configMaps'] }
    const selected = many.map((name, at) => ({ name, server: clusters[at]?.url ?? '' }))
    const options: GatewayOptions = { clusters: selected, archive, preload: ['configMaps'] }
    const started = []
    for (let at = 0; at < 2; at++) {
      const port = await freePort()
      const share = { address: `http://127.0.0.1:${port}` }
      started.push(await serveGateway({ ...options, share }, { port }))
    }
    gateways = started
    await areSharedBy(gateways)
  }, 180_000)

  afterAll(async () => {
    for (const one of [...gateways, database, ...clusters]) {
      await one[Symbol.asyncDispose]()
    }
  })

  it('is answered page by page, each change once and in its order', async () => {
    const [gateway] = gateways
    if (gateway === undefined) throw new Error('no gateway')
    const from = new Date().toISOString()
    const path = '/api/v1/namespaces/default/configmaps'
    const made = clusters.flatMap((cluster) => ['a', 'b', 'c'].map((name) => ({ cluster, name })))
    await Promise.all(
      made.map(({ cluster, name }) => created(cluster, path, { metadata: { name } })),
    )
    const pageBy = async (
      field: string,
    ): Promise<
      readonly { id: string; cluster: string; object: { name: string; id: string } }[]
    > => {
      const query = `query ($after: String) { page: ${field}, clusters: ["*"], types: ["ConfigMap"], first: 4, after: $after) {
        nodes { id cluster object { name id } } pageInfo { hasNextPage endCursor } incomplete { cluster } } }`
      const rows = []
      let after: string | null = null
      do {
        const { page } = await gateway.data(query, { after })
        expect(page.incomplete).toEqual([])
        rows.push(...page.nodes)
        after = page.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null
      } while (after !== null)
      return rows
    }
    const clusterOf = (id: string): string =>
      Buffer.from(id, 'base64url').toString().split('\0')[1] ?? ''
    const since = `(since: "${from}"`
    await expect.poll(async () => (await pageBy(`changes${since}`)).length).toBe(made.length)
    const changes = await pageBy(`changes${since}`)
    expect(new Set(changes.map(({ id }) => id)).size).toBe(made.length)
    expect(changes.map(({ cluster }) => cluster)).toEqual(
      changes.map(({ object }) => clusterOf(object.id)),
    )
    const differences = await pageBy(`differences(from: "${from}"`)
    expect(differences.map(({ object: { id, name } }) => `${clusterOf(id)} ${name}`)).toEqual(
      many.flatMap((cluster) => ['a', 'b', 'c'].map((name) => `${cluster} ${name}`)),
    )
  })
})

describe('an answer over clusters whose holder does not answer', needsPostgres, () => {
  let clusters: readonly Simulator[]
  let database: PostgresServer
  let asked: ServedGateway
  let away: ServedGateway

  beforeAll(async () => {
    clusters = await Promise.all(
      many.map((name) => startSimulator({ populate: company({ pods: 5, seed: `lost ${name}` }) })),
    )
    database = await startPostgres()
    const archive = { url: await database.database(), kinds: ['pods'] }
    const options: GatewayOptions = {
      clusters: many.map((name, at) => ({ name, server: clusters[at]?.url ?? '' })),
      archive,
      preload: ['pods'],
      problemKinds: ['pods'],
    }
    const port = await freePort()
    const share = { address: `http://127.0.0.1:${port}` }
    asked = await serveGateway({ ...options, share }, { port })
    // Nobody listens there.
    const elsewhere = { address: `http://127.0.0.1:${await freePort()}` }
    away = await serveGateway({ ...options, share: elsewhere })
    await areSharedBy([asked, away])
  }, 180_000)

  afterAll(async () => {
    for (const one of [asked, away, database, ...clusters]) {
      await one[Symbol.asyncDispose]()
    }
  })

  it('has the rows of the others, and says what it lacks', async () => {
    const holders = await holdersBy(asked)
    const here = new URL(asked.url).origin
    const lost = many.filter((name) => holders[name] !== here)
    const gaps = 'incomplete { cluster code }'
    const { data, errors } = await asked.query(`{
      pods(clusters: ["*"]) { totalCount ${gaps} nodes { clusterName } }
      kubernetesObjects(kinds: ["Pod"], clusters: ["*"]) { totalCount ${gaps} complete }
      search(text: "a", clusters: ["*"]) { totalCount ${gaps} } problems(clusters: ["*"]) { ${gaps} nodes { reason cluster } }
      accessGrants(clusters: ["*"]) { totalCount ${gaps} nodes { cluster } }
      gatewayClusters { name holder } own: pods(cluster: "${many.find((name) => holders[name] === here)}") { totalCount } }`)
    for (const field of ['pods', 'kubernetesObjects', 'search', 'problems', 'accessGrants']) {
      const told = data[field].incomplete.map(({ cluster }: { cluster: string }) => cluster)
      expect([...new Set(told)], field).toEqual(lost)
      const codes = new Set(
        errors
          ?.filter(({ path }) => path?.[0] === field)
          .map(({ extensions }) => `${extensions.cluster} ${extensions.code}`),
      )
      expect([...codes].toSorted(), field).toEqual(
        lost.map((name) => `${name} CLUSTER_UNREACHABLE`),
      )
    }
    const found = new Set<string>(
      data.pods.nodes.map(({ clusterName }: { clusterName: string }) => clusterName),
    )
    expect([...found].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
      many.filter((name) => holders[name] === here),
    )
    expect(data.gatewayClusters.map(({ name }: { name: string }) => name)).toEqual(many)
    expect(data.own.totalCount).toBeGreaterThan(0)
  })
})

/** Waits until the holders of the clusters are several, and stay the same. */
const areSharedBy = async (
  gateways: readonly ServedGateway[],
  same = 0,
  before = '',
): Promise<void> => {
  const said = await Promise.all(gateways.map(holdersBy))
  const [held = {}] = said
  const now = new Set(said.map((one) => JSON.stringify(one)))
  const [text = ''] = now
  const holders = new Set(Object.values(held))
  const isShared = now.size === 1 && holders.size > 1 && !holders.has(null)
  if (isShared && text === before && same > 12) return
  await sleep(500)
  await areSharedBy(gateways, isShared && text === before ? same + 1 : 0, text)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

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

describe(
  `an answer over the clusters of three gateways is that of one which holds all, seed ${runSeed}`,
  needsPostgres,
  () => {
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
        const port = await freePort()
        const share = { address: `http://127.0.0.1:${port}` }
        started.push(await serveGateway({ ...options, archive, share }, { port }))
      }
      const [first, ...rest] = started
      if (first === undefined) throw new Error('no gateway')
      shared = first
      others = rest
      await areSharedBy(started)
    }, 180_000)

    afterAll(async () => {
      for (const one of [whole, shared, ...others, postgres, ...simulators]) {
        await one?.[Symbol.asyncDispose]()
      }
    })

    it.each([
      'pods(clusters: ["*"], first: 7) { totalCount visible staleSince resourceVersion incomplete { code } nodes { name clusterName } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
      'pods(clusters: ["*"], orderBy: [{ restarts: DESC }, { name: ASC }], first: 9, offset: 20) { nodes { id } pageInfo { hasPreviousPage hasNextPage endCursor } }',
      'pods(clusters: ["*"], first: 7) { nodes { name usageHistory(minutes: 5) { source stepSeconds counts } } }',
      'pods(clusters: ["*"], offset: 1000) { nodes { id } pageInfo { hasPreviousPage hasNextPage endCursor } }',
      'pods(clusterSelector: "region!=eu", last: 5) { nodes { id } pageInfo { hasPreviousPage hasNextPage endCursor startCursor } }',
      'pods(clusters: ["*"], first: 1) { facets(by: ["phase", "cluster", "name", "restarts"], top: 3, sum: ["cpuRequests"]) { by distinctCount missingCount values { value count sums { of value number count } } } sum(of: ["memoryRequests", "restarts"]) { of value number count } }',
      'objectList(kind: "Pod", clusters: ["*"], orderBy: [{ name: "DESC" }], first: 3) { nodes { name } facets(by: ["phase"]) { values { value count } } type }',
      'search(text: "web", clusters: ["*"], first: 10) { totalCount counts { type count } types complete notLookedAt nodes { object { id name kind } matched value } pageInfo { hasNextPage endCursor } }',
      'problems(clusters: ["*"], first: 10) { totalCount counts { severity type kind count } lookedAt complete notLookedAt nodes { id cluster reason object { name } count } pageInfo { hasNextPage endCursor } }',
      'tlsCertificates(clusters: ["*"], first: 10) { totalCount types complete notLookedAt nodes { cluster notAfter object { name } } pageInfo { hasNextPage endCursor } }',
      'accessGrants(clusters: ["*"], type: "Pod", first: 10) { totalCount visible notes incomplete { code } unseenRoles { id name } nodes { cluster namespace subject { kind name } binding { id object { name } } } pageInfo { hasNextPage endCursor } }',
      'accessGrants(cluster: "us", type: "Pod", first: 10) { totalCount visible notes unseenRoles { name } nodes { namespace subject { kind name } binding { name } } }',
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
      const list =
        '{ pods(clusters: ["*"], orderBy: [{ name: DESC }], first: 30) { nodes { id } } }'
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
        ['accessGrants', '', 'cluster subject { name } binding { name } rule { verbs }'],
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
          // Since when a state lasts, each gateway says for itself.
          skips: (type, field) =>
            otherwise.has(field) || (type === 'GatewayCluster' && field === 'since'),
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
  },
)

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
