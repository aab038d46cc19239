import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  firstAnswer,
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
  type Variables,
} from '../support/gateway.ts'
import { makeNamespaces } from './random-writes.ts'
import { inParallel, must, startSimulatedCluster, type TestCluster } from './test-cluster.ts'

/** An operation that cannot be honoured, and what its error says. */
interface BadCase {
  readonly title: string
  readonly query: string
  readonly variables?: Variables
  readonly error: {
    readonly message: RegExp
    readonly code: string
    readonly argument?: string
    readonly hint?: RegExp
    readonly value?: unknown
  }
}

const bad = 'BAD_USER_INPUT'
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const queries: readonly BadCase[] = [
  {
    title: 'text that is no GraphQL',
    query: '{ pods( }',
    error: { code: bad, message: /Syntax Error/ },
  },
  {
    title: 'a field that is not there',
    query: '{ pods { nodes { color } } }',
    error: { code: bad, message: /Cannot query field "color" on type "Pod"/ },
  },
  ...[
    [
      'a variable that is not declared',
      '{ pods(first: $n) { totalCount } }',
      /"\$n" is not defined/,
    ],
    [
      'a variable that is not used',
      'query ($n: Int) { pods { totalCount } }',
      /"\$n" is never used/,
    ],
    [
      'a variable of no type',
      'query ($n: Color) { pods(first: $n) { totalCount } }',
      /type "Color"/,
    ],
    ['a directive that is not there', '{ pods @color { totalCount } }', /directive "@color"/],
    ['a directive twice', '{ pods { totalCount @skip(if: false) @skip(if: false) } }', /"@skip"/],
    ['a fragment on no type', '{ pods { ... on Color { totalCount } } }', /type "Color"/],
    [
      'a fragment on another type',
      '{ pods { ... on Pod { name } } }',
      /can never be of type "Pod"/,
    ],
    [
      'a fragment that is not used',
      '{ pods { totalCount } } fragment f on Pod { name }',
      /"f" is never used/,
    ],
  ].map(([title, query, message]): BadCase => {
    return {
      title: String(title),
      query: String(query),
      error: { code: bad, message: message as RegExp },
    }
  }),
  {
    title: 'a filter that is not there',
    query: '{ pods(where: { color: { eq: "red" } }) { totalCount } }',
    error: { code: bad, argument: 'where.color', message: /"PodWhere".*unknown field "color"/ },
  },
  {
    title: 'a filter that is not there, in a variable',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: { where: { color: { eq: 'red' } } },
    error: { code: bad, argument: 'where', message: /\$where.*"color"/ },
  },
  {
    title: 'an argument of another type',
    query: '{ pods(first: "ten") { totalCount } }',
    error: { code: bad, argument: 'first', message: /Int cannot represent/ },
  },
  {
    title: 'text for a number',
    query: '{ pods(where: { restarts: { gt: "a" } }) { totalCount } }',
    error: { code: bad, argument: 'where.restarts.gt', message: /Int64 cannot represent "a"/ },
  },
  {
    title: 'a time that is none',
    query: '{ pods(where: { or: [{ creationTimestamp: { lt: 5 } }] }) { totalCount } }',
    error: { code: bad, argument: 'where.or.creationTimestamp.lt', message: /DateTime cannot/ },
  },
  {
    title: 'a quantity that is none',
    query: '{ persistentVolumes(where: { capacity: { gte: "much" } }) { totalCount } }',
    error: { code: bad, argument: 'where.capacity.gte', message: /Quantity cannot .*"much"/ },
  },
  {
    title: 'a phase that the API does not have',
    query: '{ pods(where: { phase: { eq: "running" } }) { totalCount } }',
    error: {
      code: bad,
      argument: 'where.phase.eq',
      value: 'running',
      message: /"running" is not a value of phase/,
      hint: /^there are Failed, Pending, Running, Succeeded, Unknown$/,
    },
  },
  {
    title: 'a phase that the API does not have, of a related object and in a variable',
    query:
      'query ($in: [String!]) { nodes(where: { pods: { none: { phase: { in: $in } } } }) { totalCount } }',
    variables: { in: ['Running', 'CrashLoopBackOff'] },
    error: {
      code: bad,
      argument: 'where.pods.none.phase.in[1]',
      value: 'CrashLoopBackOff',
      message: /"CrashLoopBackOff" is not a value of phase/,
    },
  },
  {
    title: 'a type of Service that the API does not have',
    query: '{ services(where: { not: { type: { in: ["Headless"] } } }) { totalCount } }',
    error: {
      code: bad,
      argument: 'where.not.type.in[0]',
      message: /"Headless"/,
      hint: /ClusterIP/,
    },
  },
  {
    title: 'text for a number, in a variable',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: { where: { or: [{ restarts: { gt: 'a' } }] } },
    error: { code: bad, argument: 'where.or[0].restarts.gt', message: /Int64 cannot represent/ },
  },
  {
    title: 'a time that is none, in a variable of a relation',
    query:
      'query ($t: DateTime) { nodes { nodes { pods(where: { creationTimestamp: { lt: $t } }) { totalCount } } } }',
    variables: { t: 'soon' },
    error: { code: bad, argument: 'where.creationTimestamp.lt', message: /DateTime cannot/ },
  },
  {
    title: 'a label selector that is none',
    query: '{ pods(labelSelector: "app in (a") { totalCount } }',
    error: {
      code: bad,
      argument: 'labelSelector',
      value: 'app in (a',
      message: /^labelSelector: /,
    },
  },
  {
    title: 'a page that is too large',
    query: '{ pods(first: 100000) { totalCount } }',
    error: {
      code: bad,
      argument: 'first',
      value: 100_000,
      message: /from 0 to 500, not 100000/,
      hint: /after/,
    },
  },
  {
    title: 'a page of less than nothing',
    query: '{ pods(first: -1) { totalCount } }',
    error: { code: bad, argument: 'first', value: -1, message: /from 0 to 500, not -1/ },
  },
  {
    title: 'a page that is too large, in a relation',
    query: '{ nodes { nodes { pods(first: 501) { totalCount } } } }',
    error: { code: bad, argument: 'first', value: 501, message: /from 0 to 500/ },
  },
  {
    title: 'an offset of less than nothing',
    query: '{ pods(offset: -1) { totalCount } }',
    error: { code: bad, argument: 'offset', value: -1, message: /from 0, not -1/ },
  },
  ...['after: "x"', 'before: "x"', 'last: 2'].map((other) => ({
    title: `an offset with ${other}`,
    query: `{ pods(offset: 5, ${other}) { totalCount } }`,
    error: {
      code: bad,
      argument: 'offset',
      value: 5,
      message: new RegExp(`cannot be given together with \`${other.split(':')[0]}\``),
      hint: /go on from there with `after`/,
    },
  })),
  {
    title: 'an offset of a relation',
    query: '{ nodes { nodes { pods(offset: 5) { totalCount } } } }',
    error: { code: bad, argument: 'offset', message: /Unknown argument "offset"/ },
  },
  {
    title: 'a cursor that is none',
    query: '{ pods(after: "not a cursor!") { totalCount } }',
    error: { code: bad, argument: 'after', message: /is not a cursor/, hint: /start again/ },
  },
  {
    title: 'a cursor that somebody made',
    query: 'query ($after: String) { pods(after: $after) { totalCount } }',
    variables: { after: encode([4, 'AAAAAAAAAAAA', '', 'bad/p-1']) },
    error: { code: bad, argument: 'after', message: /is a cursor of another query/ },
  },
  {
    title: 'a cursor of an older version of the gateway',
    query: 'query ($after: String) { pods(after: $after) { totalCount } }',
    variables: { after: encode([3, 'AAAAAAAAAAAA', 'bad/p-1']) },
    error: { code: bad, argument: 'after', message: /another version/, hint: /start again/ },
  },
  {
    title: 'a cursor of another version of the gateway',
    query: 'query ($after: String) { pods(after: $after) { totalCount } }',
    variables: { after: encode([999, 'AAAAAAAAAAAA', 'bad/p-1']) },
    error: { code: bad, argument: 'after', message: /another version/ },
  },
  {
    title: 'a cluster that is not there',
    query: '{ pods(cluster: "mars") { totalCount } }',
    error: { code: bad, argument: 'cluster', value: 'mars', message: /"mars"/, hint: /one/ },
  },
  {
    title: 'an id that is none',
    query: '{ object(id: "nonsense") { id } }',
    error: { code: bad, value: 'nonsense', message: /not the id of an object/ },
  },
  {
    title: 'more rows than an operation may examine',
    query: '{ a: pods(first: 60) { nodes { id } } b: pods(first: 100) { nodes { id } } }',
    error: {
      code: 'QUERY_TOO_COSTLY',
      value: { work: 'examined', limit: 150 },
      message: /examines some of at most 150 objects/,
      hint: /narrow/,
    },
  },
]

/** What the smaller budget of one test refuses. */
const costly: BadCase = {
  title: 'a jump too far',
  query:
    '{ pods(offset: 119, first: 1) { nodes { id } } b: pods(first: 0, offset: 119) { nodes { id } } }',
  error: {
    code: 'QUERY_TOO_COSTLY',
    argument: 'offset',
    message: /examines some of at most 150 objects/,
    hint: /use a smaller offset/,
  },
}

const subscriptions: readonly BadCase[] = [
  {
    title: 'a filter that is not there',
    query: 'subscription { pods(where: { color: { eq: "red" } }) { synced } }',
    error: { code: bad, argument: 'where.color', message: /unknown field "color"/ },
  },
  {
    title: 'a label selector that is none',
    query: 'subscription { pods(labelSelector: "a=(") { synced } }',
    error: { code: bad, argument: 'labelSelector', value: 'a=(', message: /^labelSelector: / },
  },
  {
    title: 'a cluster that is not there',
    query: 'subscription { pods(cluster: "mars") { synced } }',
    error: { code: bad, argument: 'cluster', value: 'mars', message: /"mars"/ },
  },
  ...[-1, 60_001].map((coalesceMs) => ({
    title: `coalesceMs: ${coalesceMs}`,
    query: `subscription { pods(coalesceMs: ${coalesceMs}) { synced } }`,
    error: {
      code: bad,
      argument: 'coalesceMs',
      value: coalesceMs,
      message: /must be from 0 to 60000/,
    },
  })),
  ...['not a token', 'bm90IGEgdG9rZW4', '"}'].map((resumeFrom) => ({
    title: `resumeFrom: ${resumeFrom}`,
    query: `subscription { pods(resumeFrom: ${JSON.stringify(resumeFrom)}) { synced } }`,
    error: {
      code: bad,
      argument: 'resumeFrom',
      value: resumeFrom,
      message: /is not a resume token/,
      hint: /resumeToken/,
    },
  })),
]

/** What an error is to match. */
const told = ({ error: { message, hint, ...rest } }: Pick<BadCase, 'error'>): object => ({
  message: expect.stringMatching(message),
  extensions: { ...rest, ...(hint === undefined ? {} : { hint: expect.stringMatching(hint) }) },
})

describe('input that cannot be honoured is answered by an error that names it:', () => {
  let cluster: TestCluster
  let gateway: ServedGateway

  beforeAll(async () => {
    cluster = await startSimulatedCluster()
    await makeNamespaces(cluster, ['bad'])
    await must(cluster, '/api/v1/nodes', { method: 'POST', body: { metadata: { name: 'n-0' } } })
    await inParallel(Array.from({ length: 120 }).keys(), async (position) => {
      const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
      const body = { metadata: { name: `p-${position}` }, spec }
      await must(cluster, '/api/v1/namespaces/bad/pods', { method: 'POST', body })
    })
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      limits: { work: { examined: 150 } },
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  it.each([...queries, costly])('$title, by HTTP and by WebSocket', async (one) => {
    const byHttp = await gateway.query(one.query, one.variables)
    const byWebSocket = await firstAnswer(gateway.connect(), one.query, one.variables)
    expect([byHttp.errors, byWebSocket.errors]).toMatchObject([[told(one)], [told(one)]])
  })

  it.each(subscriptions)('a subscription with $title', async (one) => {
    const { errors } = await firstAnswer(gateway.connect(), one.query, one.variables)
    expect(errors).toMatchObject([told(one)])
  })

  it('a cursor is good for its own query, also when its object has gone, and for no other', async () => {
    const page = async (args: string, variables?: Variables): Promise<GraphQLAnswer> =>
      gateway.query(
        `query ($after: String) { pods(${args}, after: $after) { pageInfo { endCursor } nodes { metadata { name } } } }`,
        variables,
      )
    const first = await page('first: 10')
    const { endCursor } = first.data.pods.pageInfo
    const last = first.data.pods.nodes.at(-1).metadata.name
    const following = await page('first: 2', { after: endCursor })
    await must(cluster, `/api/v1/namespaces/bad/pods/${last}`, { method: 'DELETE' })
    await expect
      .poll(
        async () => (await gateway.data(`{ pod(namespace: "bad", name: "${last}") { id } }`)).pod,
      )
      .toBeNull()
    expect(await page('first: 2', { after: endCursor })).toEqual(following)
    const others = ['namespace: "bad"', 'labelSelector: "a"', 'where: { phase: { eq: "Running" } }']
    for (const args of others) {
      const answer = await page(`first: 2, ${args}`, { after: endCursor })
      const error = { code: bad, argument: 'after', value: endCursor, message: /of another query/ }
      expect(answer.errors, args).toMatchObject([told({ error })])
    }
    const services = await gateway.query(
      'query ($after: String) { services(after: $after) { totalCount } }',
      { after: endCursor },
    )
    expect(services.errors).toMatchObject([{ extensions: { code: bad, argument: 'after' } }])
  })

  it.each(['@include(if: $on)', '@skip(if: $on)'])(
    'null for %s is an error of queries and of subscriptions',
    async (directive) => {
      const document = (operation: string, fields: string): string =>
        `${operation} ($on: Boolean = true) { pods ${fields.replace('@', directive)} }`
      const variables = { on: null }
      const query = document('query', '{ totalCount nodes @ { id } }')
      const subscription = document('subscription', '{ reset synced @ }')
      for (const { data, errors } of [
        await gateway.query(query, variables),
        await firstAnswer(gateway.connect(), subscription, variables),
      ]) {
        expect(data?.pods ?? null).toBeNull()
        expect(errors).toMatchObject([{ extensions: { code: bad } }])
      }
      const given = await gateway.query(query, { on: false })
      expect(given.errors).toBeUndefined()
    },
  )

  it('one bad field leaves the others whole', async () => {
    const answer = await gateway.query(
      '{ a: pods(first: -1) { totalCount } b: pods { totalCount } }',
    )
    expect(answer.data).toEqual({ a: null, b: { totalCount: 119 } })
    expect(answer.errors).toMatchObject([{ path: ['a'], extensions: { code: bad } }])
  })
})
