import type { GraphQLServer } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawAnswer, rawRequest, upgradeLines } from './raw-request.ts'
import { serve, smallApi } from './small-api.ts'

let server: GraphQLServer
beforeAll(async () => {
  server = await serve(smallApi(), {
    allowedHosts: ['gateway.example.com', 'proxy.example.com:8443'],
    allowedOrigins: ['https://portal.example.com'],
    allowedHeaders: ['x-tenant'],
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const body = '{"query":"{ hello }"}'

async function byHttp(headers: Record<string, string>): Promise<RawAnswer> {
  const all = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const answer = await rawRequest(server.port, ['POST /graphql HTTP/1.1', ...lines], body)
  answer.socket.destroy()
  return answer
}

async function byWebSocket(headers: Record<string, string>): Promise<RawAnswer> {
  const answer = await rawRequest(server.port, upgradeLines(headers))
  answer.socket.destroy()
  return answer
}

const own = (): string => `127.0.0.1:${server.port}`

const transports = [
  { name: 'HTTP', ask: byHttp, accepted: 200 },
  { name: 'WebSocket', ask: byWebSocket, accepted: 101 },
]

describe.each(transports)('by $name', ({ ask, accepted }) => {
  it.each([
    ['127.0.0.1:4000'],
    ['localhost'],
    ['LOCALHOST:80'],
    ['[::1]:4000'],
    ['gateway.example.com'],
    ['gateway.example.com:8080'],
    ['proxy.example.com:8443'],
  ])('the name %s is answered', async (host) => {
    expect((await ask({ host })).status).toBe(accepted)
  })

  it.each([
    ['rebound.evil.example'],
    ['rebound.evil.example:4000'],
    ['localhost.evil.example'],
    ['127.0.0.1.evil.example'],
    ['127.0.0.1@evil.example'],
    ['127.0.0.1:4000:80'],
    ['localhost.'],
    ['10.0.0.7'],
    ['proxy.example.com'],
    [''],
  ])('the name "%s" gets nothing, although it has been made to lead here', async (host) => {
    const answer = await ask({ host, origin: `http://${host}` })
    expect(answer.status).toBe(403)
    expect(answer.body).toContain('not a name of this gateway')
    expect(answer.body).not.toContain('hello')
  })

  it('a page of the gateway itself is answered', async () => {
    expect((await ask({ host: own(), origin: `http://${own()}` })).status).toBe(accepted)
    const behindProxy = { host: 'gateway.example.com', origin: 'https://gateway.example.com' }
    expect((await ask(behindProxy)).status).toBe(accepted)
  })

  it.each([
    ['https://evil.example'],
    ['http://localhost:3000'],
    ['http://127.0.0.1'],
    ['https://portal.example.com.evil.example'],
    ['http://portal.example.com'],
    ['null'],
    ['file://'],
  ])('a page of %s gets nothing', async (origin) => {
    const answer = await ask({ host: own(), origin })
    expect(answer.status).toBe(403)
    expect(answer.body).toContain('are refused')
    expect(answer.body).not.toContain('hello')
    expect(answer.head).not.toContain('access-control')
  })

  it('a page of an allowed origin is answered', async () => {
    const origin = 'https://portal.example.com'
    expect((await ask({ host: own(), origin })).status).toBe(accepted)
  })
})

const askFirst = (origin: string): Promise<RawAnswer> =>
  rawRequest(server.port, [
    'OPTIONS /graphql HTTP/1.1',
    `host: ${own()}`,
    `origin: ${origin}`,
    'access-control-request-method: POST',
    'access-control-request-headers: content-type',
  ])

const followLink = (dest: string): Promise<RawAnswer> =>
  rawRequest(server.port, [
    'HEAD /graphql HTTP/1.1',
    `host: ${own()}`,
    'accept: text/html',
    'connection: close',
    'sec-fetch-site: cross-site',
    'sec-fetch-mode: navigate',
    `sec-fetch-dest: ${dest}`,
  ])

describe('HTTP besides', () => {
  it('lets a page of an allowed origin read the answer, and no other one', async () => {
    const answer = await byHttp({
      host: `127.0.0.1:${server.port}`,
      origin: 'https://portal.example.com',
    })
    expect(answer.head).toContain('access-control-allow-origin: https://portal.example.com')
    expect(answer.head).not.toContain('access-control-allow-credentials')
  })

  it('answers a browser that asks first for an allowed origin only', async () => {
    const allowed = await askFirst('https://portal.example.com')
    expect(allowed.status).toBe(204)
    expect(allowed.head).toContain('access-control-allow-headers: content-type')
    for (const name of ['traceparent', 'tracestate', 'baggage', 'x-tenant']) {
      expect(allowed.head).toMatch(new RegExp(`access-control-allow-headers: .*\\b${name}\\b`))
    }
    const refused = await askFirst('https://evil.example')
    expect(refused.status).toBe(403)
    expect(refused.head).not.toContain('access-control')
  })

  it('answers a GET of a page of an allowed origin, which may read it', async () => {
    const answer = await rawRequest(server.port, [
      'GET /graphql?query={hello} HTTP/1.1',
      `host: ${own()}`,
      'origin: https://portal.example.com',
      'connection: close',
    ])
    expect(answer.body).toContain('hello you')
    expect(answer.head).toContain('access-control-allow-origin: https://portal.example.com')
  })

  it('gives nothing to a script or image of another page, which carries no origin', async () => {
    const answer = await rawRequest(server.port, [
      'GET /graphql?query={hello} HTTP/1.1',
      `host: ${own()}`,
      'accept: text/html',
      'sec-fetch-site: same-site',
      'sec-fetch-mode: no-cors',
      'sec-fetch-dest: script',
    ])
    expect(answer.status).toBe(403)
  })

  it('follows a link to GraphiQL from anywhere, but shows it in no frame', async () => {
    expect((await followLink('document')).status).toBe(200)
    expect((await followLink('iframe')).status).toBe(403)
  })
})
