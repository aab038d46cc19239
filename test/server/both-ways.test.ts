import { createHash } from 'node:crypto'
import { auditServer } from 'graphql-http'
import { createGateway, defaultServerOptions, type Gateway, startGraphQLServer } from 'informerql'
import type { GraphQLServer } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'

const log = { info() {}, warn() {}, error() {} }
const ways = ['plan', 'pipeline'] as const
type Way = (typeof ways)[number]

let cluster: Simulator
let gateway: Gateway
let servers: Record<Way, GraphQLServer>
let answeredByPlan = 0

beforeAll(async () => {
  cluster = await startSimulator({
    bookmarkIntervalMs: 0,
    populate: company({ pods: 300, seed: 'both' }),
  })
  gateway = await createGateway({ clusters: [{ name: 'test', server: cluster.url }], log })
  const planned: Gateway['planned'] = Object.create(gateway.planned, {
    answer: {
      value: async (operation: Parameters<Gateway['planned']['answer']>[0]) => {
        const text = await gateway.planned.answer(operation)
        if (text !== undefined) answeredByPlan += 1
        return text
      },
    },
  })
  const serve = (plans: Gateway['planned'] | undefined): Promise<GraphQLServer> =>
    startGraphQLServer({
      server: { ...defaultServerOptions(), port: 0, maxBodyBytes: 2_048 },
      plugins: [gateway.plugin],
      ...(plans === undefined ? {} : { planned: plans }),
      log,
      readiness: gateway.readiness,
    })
  servers = { plan: await serve(planned), pipeline: await serve(undefined) }
})
afterAll(async () => {
  for (const way of ways) await servers[way][Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const json = 'application/json'
const graphqlJson = 'application/graphql-response+json'
const query = '{ nodes(first: 2) { nodes { metadata { name } } } }'
/** Some 60 KB. */
const large =
  '{ pods(first: 300) { nodes { id metadata { name namespace labels } status { phase podIP } } } }'
const hashOf = (document: string): string => createHash('sha256').update(document).digest('hex')
const named = (document: string): object => ({
  persistedQuery: { version: 1, sha256Hash: hashOf(document) },
})

const post = (
  way: Way,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(servers[way].url, {
    method: 'POST',
    headers: { 'content-type': json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const get = (
  way: Way,
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${servers[way].url}?${new URLSearchParams(parameters)}`, {
    headers: { 'apollo-require-preflight': '1', accept: json, ...headers },
  })

const getNamed = (
  way: Way,
  document: string,
  headers?: Readonly<Record<string, string>>,
): Promise<Response> => get(way, { extensions: JSON.stringify(named(document)) }, headers)

/** All that a client can see, but when it was sent. */
const seen = async (response: Response): Promise<object> => {
  const { date: _, 'x-request-id': id = 'none', ...headers } = Object.fromEntries(response.headers)
  const text = (await response.text()).replaceAll(id, 'ID')
  return { status: response.status, headers, text }
}

describe.each(ways)('by %s', (way) => {
  it('passes the audits of GraphQL over HTTP, all that MUST and SHOULD', async () => {
    const results = await auditServer({ url: servers[way].url })
    const failed = results.filter(({ status }) => status === 'error' || status === 'warn')
    expect(failed.map(({ id, name }) => `${id} ${name}`)).toEqual([])
    expect(results.length).toBeGreaterThan(40)
  })

  it('answers a document by its hash, once it was sent with it', async () => {
    const document = `query ${way} ${query}`
    const unknown = await getNamed(way, document)
    expect(await unknown.json()).toMatchObject({
      errors: [
        { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } },
      ],
    })
    const sent = await post(way, { query: document, extensions: named(document) })
    const answer = await sent.json()
    expect(answer).toMatchObject({ data: { nodes: { nodes: [{}, {}] } } })
    expect(await (await getNamed(way, document)).json()).toEqual(answer)
    expect(await (await post(way, { extensions: named(document) })).json()).toEqual(answer)
  })

  it('does not take a document for one of another hash', async () => {
    const sent = await post(way, { query, extensions: named('{ other }') })
    expect(await sent.json()).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'extensions.persistedQuery' } }],
    })
    expect(await (await getNamed(way, '{ other }')).json()).toMatchObject({
      errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    })
  })

  it('sends what has not changed only once', async () => {
    await post(way, { query, extensions: named(query) })
    const first = await getNamed(way, query)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('vary')).toContain('authorization')
    const again = await getNamed(way, query, { 'if-none-match': `"x", ${etag}` })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
    const other = await getNamed(way, query, { 'if-none-match': '"x"' })
    expect(other.status).toBe(200)
    // Whatever was not named by its hash is nobody's to keep.
    const plain = await get(way, { query })
    expect(plain.headers.get('etag')).toBeNull()
    expect(plain.headers.get('cache-control')).toBe('no-store')
  })

  it('compresses large answers as the client accepts it', async () => {
    const whole = await (
      await post(way, { query: large }, { 'accept-encoding': 'identity' })
    ).text()
    expect(whole.length).toBeGreaterThan(40_000)
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip;q=1.0, br;q=0', 'gzip'],
    ] as const) {
      const response = await post(way, { query: large }, { 'accept-encoding': accepted })
      expect(response.headers.get('content-encoding')).toBe(encoding)
      expect(response.headers.get('vary')).toBe('accept-encoding')
      expect(Number(response.headers.get('content-length'))).toBeLessThan(whole.length / 2)
      expect(await response.text()).toBe(whole)
    }
    const none = await post(way, { query: large }, { 'accept-encoding': 'identity' })
    expect(none.headers.get('content-encoding')).toBeNull()
    const small = await post(way, { query }, { 'accept-encoding': 'br, gzip' })
    expect(small.headers.get('content-encoding')).toBeNull()
  })
})

/** One path once read these otherwise than another. */
describe.each(ways)('by %s, a request is read in one way:', (way) => {
  const preflighted = { 'graphql-require-preflight': '1' }

  it('variables in a URL that are no JSON are the fault of the client', async () => {
    const response = await get(way, { query, variables: '{' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      errors: [{ message: 'variables is not JSON', extensions: { code: 'BAD_USER_INPUT' } }],
    })
  })

  it('a body is JSON, whatever its type says', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/graphql']) {
      const headers = { ...preflighted, 'content-type': type }
      expect(await (await post(way, { query }, headers)).json()).toMatchObject({ data: {} })
      const text = await post(way, query, headers)
      expect(text.status).toBe(400)
      expect(await text.json()).toMatchObject({ errors: [{ message: 'the body is not JSON' }] })
    }
  })

  it('other parameters of a URL count for nothing', async () => {
    expect(await (await get(way, { query, utm: 'x' })).json()).toMatchObject({ data: {} })
  })
})

describe('what a client sees is the same by plan and by the pipeline:', () => {
  const sentNamed = { query, extensions: named(query) }
  it.each<[string, (way: Way) => Promise<Response>]>([
    ['an answer', (way) => post(way, { query })],
    ['one in application/json', (way) => post(way, { query }, { accept: json })],
    ['one in graphql-response+json', (way) => post(way, { query }, { accept: graphqlJson })],
    ['one in whatever', (way) => post(way, { query }, { accept: '*/*' })],
    ['one in nothing that there is', (way) => post(way, { query }, { accept: 'image/png' })],
    ['a large one, compressed', (way) => post(way, { query: large })],
    ['one by GET', (way) => get(way, { query })],
    [
      'one by GET with variables',
      (way) =>
        get(way, {
          query: 'query ($n: Int) { nodes(first: $n) { totalCount nodes { kind } } }',
          variables: '{"n":1}',
        }),
    ],
    ['one by GET with variables that are no JSON', (way) => get(way, { query, variables: '{' })],
    ['a named document', (way) => post(way, sentNamed)],
    ['the same by GET', (way) => getNamed(way, query)],
    ['a hash that nobody knows', (way) => getNamed(way, '{ nobody }', { accept: graphqlJson })],
    ['a hash that is none', (way) => post(way, { extensions: { persistedQuery: { version: 1 } } })],
    ['a syntax error', (way) => post(way, { query: '{' }, { accept: graphqlJson })],
    ['an unknown field', (way) => post(way, { query: '{ nothing }' })],
    [
      'a variable of the wrong type',
      (way) =>
        post(way, {
          query: 'query ($n: Int) { nodes(first: $n) { totalCount } }',
          variables: { n: 'x' },
        }),
    ],
    [
      'an error of a field',
      (way) => post(way, { query: '{ nodes(first: -1) { totalCount } }' }, { accept: graphqlJson }),
    ],
    [
      'pages that are too large',
      (way) =>
        post(
          way,
          { query: '{ nodes(first: 500) { nodes { pods(first: 500) { nodes { kind } } } } }' },
          { accept: graphqlJson },
        ),
    ],
    ['an unknown operation', (way) => post(way, { query, operationName: 'x' })],
    ['a subscription', (way) => post(way, { query: 'subscription { pods { synced } }' })],
    ['no query', (way) => post(way, {})],
    ['nothing at all', (way) => post(way, '')],
    ['null', (way) => post(way, 'null')],
    ['no JSON', (way) => post(way, '{')],
    ['a list', (way) => post(way, [{ query }])],
    ['extensions that mean nothing here', (way) => post(way, { query, extensions: { mine: 1 } })],
    ['extensions that are none', (way) => post(way, { query, extensions: 1 })],
    ['a member that no operation has', (way) => post(way, { query, other: 1 })],
    [
      'a body of another type that no foreign page can send',
      (way) =>
        post(
          way,
          { query },
          { 'content-type': 'text/plain', 'graphql-require-preflight': '1', accept: json },
        ),
    ],
    ['a body that is too large', (way) => post(way, { query: `${query} #${'x'.repeat(3_000)}` })],
  ])('%s', async (_, ask) => {
    const byPipeline = await seen(await ask('pipeline'))
    expect(await seen(await ask('plan'))).toEqual(byPipeline)
  })

  it('although plans have answered', async () => {
    const before = answeredByPlan
    await post('plan', { query })
    await get('plan', { query })
    await getNamed('plan', query)
    expect(answeredByPlan - before).toBe(3)
  })
})
