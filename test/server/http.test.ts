import { auditServer } from 'graphql-http'
import type { GraphQLServer } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { rawRequest } from './raw-request.ts'
import { post, serve, smallApi } from './small-api.ts'

let server: GraphQLServer
beforeAll(async () => {
  server = await serve(smallApi(), { maxBodyBytes: 2048 })
})
afterAll(() => server[Symbol.asyncDispose]())

const answerOf = async (response: Response): Promise<unknown> => await response.json()

describe('GraphQL over HTTP', () => {
  it('passes the audits of the specification, all that MUST and SHOULD', async () => {
    const results = await auditServer({ url: server.url })
    const failed = results.filter(({ status }) => status === 'error' || status === 'warn')
    expect(failed.map(({ id, name }) => `${id} ${name}`)).toEqual([])
    expect(results.length).toBeGreaterThan(40)
  })

  it('answers an operation with variables, and nobody keeps the answer', async () => {
    const response = await post(server.url, {
      query: 'query ($n: String) { hello(name: $n) transport }',
      variables: { n: 'Ada' },
    })
    expect(await answerOf(response)).toEqual({ data: { hello: 'hello Ada', transport: 'http' } })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('gives every error a code of the API and hides what was not meant for clients', async () => {
    const response = await post(server.url, { query: '{ refused broken hello }' })
    const text = await response.text()
    expect(text).not.toContain('hunter2')
    expect(JSON.parse(text)).toMatchObject({
      data: { refused: null, broken: null, hello: 'hello you' },
      errors: [
        { message: 'not you', path: ['refused'], extensions: { code: 'FORBIDDEN' } },
        { path: ['broken'], extensions: { code: 'INTERNAL' } },
      ],
    })
  })

  it.each([
    ['syntax', { query: '{ hello' }],
    ['an unknown field', { query: '{ nothing }' }],
    [
      'a variable of the wrong type',
      { query: 'query ($n: Int!) { square(of: $n) }', variables: { n: 'x' } },
    ],
    ['an unknown operation', { query: 'query A { hello }', operationName: 'B' }],
    ['no query', { variables: {} }],
    ['a body that is not JSON', '{ "query": '],
    ['a batch', [{ query: '{ hello }' }, { query: '{ hello }' }] as object],
  ])('answers %s with BAD_USER_INPUT', async (_, body) => {
    const response = await post(server.url, body)
    const { errors } = (await answerOf(response)) as { errors: object[] }
    expect(errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
    expect(errors[0]).not.toHaveProperty('extensions.http')
  })

  it('has no subscriptions in one answer, and says what there is instead', async () => {
    const response = await post(server.url, { query: 'subscription { count(to: 3) }' })
    expect(await answerOf(response)).toMatchObject({
      errors: [
        { extensions: { code: 'UNSUPPORTED', hint: expect.stringContaining('text/event-stream') } },
      ],
    })
  })
})

describe('the type of an answer', () => {
  const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

  it('is decided before anything is executed: no write is made whose answer the client does not accept', async () => {
    await using simulator = await startSimulator()
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      allowWrites: true,
    })
    const manifest = '{apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: default}}'
    const query = `mutation { apply(manifest: "${manifest}") { __typename } }`
    for (const accept of [
      'multipart/mixed',
      'multipart/mixed;deferSpec=20220824, text/html',
      'text/html',
      'application/json;q=0',
      'application/json; charset=iso-8859-1',
      '*/json',
    ]) {
      const response = await post(gateway.url, { query }, { accept })
      expect(response.status, accept).toBe(406)
      expect(response.headers.get('transfer-encoding'), accept).toBeNull()
      expect(await answerOf(response)).toMatchObject({
        errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
      })
    }
    expect([...simulator.storage.list(configMaps)].map(({ metadata }) => metadata.name)).toEqual([])
    const whole = await post(gateway.url, { query }, { accept: 'multipart/mixed, */*;q=0.1' })
    expect(await answerOf(whole)).toMatchObject({
      data: { apply: [{ __typename: 'WritePayload' }] },
    })
  })

  it.each([
    ['', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    ['APPLICATION/JSON; charset=UTF-8', 'application/json; charset=utf-8'],
    ['multipart/mixed, application/json;q=0.9', 'application/json; charset=utf-8'],
    [
      'multipart/mixed, application/graphql-response+json, application/json;q=0.9',
      'application/graphql-response+json; charset=utf-8',
    ],
    ['application/json, text/event-stream', 'application/json; charset=utf-8'],
    [
      'text/html, application/graphql-response+json',
      'application/graphql-response+json; charset=utf-8',
    ],
  ])(
    'is the first one that the client accepts and the server has: of %j it is %s',
    async (accept, type) => {
      // By a plan, and by the pipeline.
      await using simulator = await startSimulator()
      await using gateway = await serveGateway({
        clusters: [{ name: 'one', server: simulator.url }],
      })
      for (const query of ['{ configMaps { totalCount } }', '{ __schema { __typename } }']) {
        const response = await post(gateway.url, { query }, { accept })
        expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
        expect(await answerOf(response)).toHaveProperty('data')
      }
    },
  )
})

describe('bodies', () => {
  it('refuses one that is too large with 413, by its header alone', async () => {
    const response = await post(server.url, { query: `{ hello } #${'x'.repeat(2048)}` })
    expect(response.status).toBe(413)
    expect(await response.text()).toContain('at most 2048')
  })

  it('takes one that just fits', async () => {
    const empty = JSON.stringify({ query: '{ hello } #' }).length
    const response = await post(server.url, { query: `{ hello } #${'x'.repeat(2048 - empty)}` })
    expect(response.status).toBe(200)
  })

  it('refuses one of unknown length with 411', async () => {
    const { status } = await rawRequest(server.port, [
      'POST /graphql HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'content-type: application/json',
      'transfer-encoding: chunked',
    ])
    expect(status).toBe(411)
  })

  it('refuses headers without end', async () => {
    const response = await fetch(server.url, { headers: { 'x-long': 'x'.repeat(20_000) } })
    expect(response.status).toBe(431)
  })
})

describe('what a page of another origin could make a browser send without asking', () => {
  const body = '{"query":"{ hello }"}'
  it.each([
    ['text/plain', body],
    ['text/plain; application/json', body],
    ['application/x-www-form-urlencoded', 'query={hello}'],
    ['multipart/form-data; boundary=x', body],
    ['', body],
  ])('is refused as content type %s', async (type, text) => {
    const response = await post(server.url, text, { 'content-type': type })
    expect(response.status).toBe(415)
    expect(await response.text()).not.toContain('hello you')
  })

  it('is refused as GET, unless a header proves that the browser was asked', async () => {
    const url = `${server.url}?query={hello}`
    for (const headers of [
      {},
      { 'sec-fetch-site': 'none', 'sec-fetch-dest': 'empty' },
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'script' },
    ]) {
      const refused = await fetch(url, { headers })
      expect(refused.status).toBe(403)
      expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await refused.json()).toEqual({
        errors: [
          {
            message: 'A GET must prove that no page of another site sent it.',
            extensions: {
              code: 'FORBIDDEN',
              hint: expect.stringContaining('graphql-require-preflight'),
            },
          },
        ],
      })
    }
    const proven = await fetch(url, { headers: { 'graphql-require-preflight': '1' } })
    expect(await answerOf(proven)).toEqual({ data: { hello: 'hello you' } })
  })

  it('is refused as any other method', async () => {
    const statuses = await Promise.all(
      ['PUT', 'DELETE', 'PATCH', 'OPTIONS'].map(async (method) => {
        const { status } = await fetch(server.url, { method })
        return status
      }),
    )
    expect(statuses).toEqual([405, 405, 405, 405])
  })
})

describe('probes', () => {
  it('tell that the process runs, and whether it can answer', async () => {
    let ready = false
    await using probed = await serve(
      smallApi(),
      {},
      { readiness: () => ({ ready, reasons: ready ? [] : ['cluster prod: pods are loading'] }) },
    )
    const at = (path: string): Promise<Response> => fetch(new URL(path, probed.url))
    expect((await at('/livez')).status).toBe(200)
    expect((await at('/healthz')).status).toBe(200)
    const waiting = await at('/readyz')
    expect(waiting.status).toBe(503)
    expect(await waiting.text()).toBe('not ready\ncluster prod: pods are loading\n')
    // A kubelet asks by an address that is nobody's name; what it is told names no cluster.
    const byAddress = await rawRequest(probed.port, ['GET /readyz HTTP/1.1', 'host: 10.1.2.3:4000'])
    expect(byAddress.status).toBe(503)
    expect(byAddress.body).not.toContain('prod')
    ready = true
    expect((await at('/readyz')).status).toBe(200)
  })

  it('are all there is besides the API', async () => {
    expect((await fetch(new URL('/nothing', server.url))).status).toBe(404)
    const host = `host: 127.0.0.1:${server.port}`
    const { status } = await rawRequest(server.port, ['GET //evil/graphql HTTP/1.1', host])
    expect(status).toBe(404)
  })
})
