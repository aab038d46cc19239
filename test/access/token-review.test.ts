import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OperationOrigin, Viewer } from 'informerql'
import { createClient } from 'graphql-ws'
import { liveCollection, type LiveTransport, WebSocketClient } from 'informerql/client'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'

const admin = { token: 'the-gateway-itself', user: 'gateway' }
const ann = { token: 'a-secret-of-ann', user: 'ann', uid: 'u-1', groups: ['developers'] }
const bob = { token: 'a-secret-of-bob', user: 'bob' }
const reviews = '/tokenreviews'
const query = '{ nodes { totalCount } }'
const answer = { data: { nodes: { totalCount: 0 } } }

const annAsViewer: Viewer = {
  username: 'ann',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  extra: {},
}

describe('bearer tokens by TokenReview', () => {
  let cluster: CountedServer
  let gateway: ServedGateway
  const resources: AsyncDisposable[] = []
  /** The origins of operations that have gone through the pipeline. */
  let origins: OperationOrigin[] = []

  const serve = async (auth: object = {}, server: object = {}): Promise<ServedGateway> => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-token-review-'))
    const kubeconfig = join(folder, 'config.json')
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: cluster.url } }],
        users: [{ name: 'a', user: { token: admin.token } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      }),
    )
    const served = await serveGateway({ clusters: [{ name: 'one', kubeconfig }] }, server, {
      auth: { mode: 'token-review', ...auth },
      context: (origin) => {
        origins.push(origin)
        return {}
      },
    })
    await rm(folder, { recursive: true })
    return served
  }

  const open = async (init: object, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws', {
      headers,
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: init }))
    return socket
  }
  const closed = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0]

  beforeAll(async () => {
    const simulator = await startSimulator({ users: [admin, ann, bob] })
    cluster = await startCountedServer(simulator.url)
    gateway = await serve()
    resources.push(gateway, cluster, simulator)
    await gateway.as(ann.token).data(query)
  })
  afterAll(async () => {
    for (const one of resources) await one[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    origins = []
  })

  it('who asks is known to every operation, by HTTP and by WebSocket', async () => {
    const caller = gateway.as(ann.token)
    // What has no plan goes through the pipeline.
    const unplanned = '{ gatewayClusters { name } }'
    expect(await caller.query(unplanned)).toEqual({ data: { gatewayClusters: [{ name: 'one' }] } })
    expect(await firstAnswer(caller.connect(), query)).toEqual(answer)
    expect(origins.map(({ transport, viewer }) => [transport, viewer])).toEqual([
      ['http', annAsViewer],
      ['websocket', annAsViewer],
    ])
  })

  it('a WebSocket may show its token when it is opened, and the one in connection_init comes before it', async () => {
    for (const [init, headers, username] of [
      [{}, { authorization: `Bearer ${ann.token}` }, 'ann'],
      [{ Authorization: `bearer ${bob.token}` }, { authorization: `Bearer ${ann.token}` }, 'bob'],
    ] as const) {
      origins = []
      const socket = await open(init, headers)
      await once(socket, 'message')
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
      await once(socket, 'message')
      socket.close()
      expect(origins.map(({ viewer }) => viewer?.username)).toEqual([username])
    }
  })

  it.each([
    ['none', undefined, 'Bearer realm="informerql"'],
    ['of another kind', 'Basic YW5uOmFubg==', 'Bearer realm="informerql", error="invalid_request"'],
    ['nobody’s', 'Bearer nobodys', 'Bearer realm="informerql", error="invalid_token"'],
    [
      'two',
      `Bearer ${ann.token} ${bob.token}`,
      'Bearer realm="informerql", error="invalid_request"',
    ],
  ])('credentials that are %s get 401 by HTTP', async (_, authorization, challenge) => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify({ query }),
    })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(challenge)
    expect(await response.json()).toEqual({
      errors: [
        {
          message: expect.any(String) as string,
          extensions: { code: 'UNAUTHENTICATED', hint: expect.any(String) as string },
        },
      ],
    })
  })

  it.each([
    ['none', {}, 4401],
    ['no text', { authorization: { token: ann.token } }, 4401],
    ['of another kind', { authorization: 'Basic YW5uOmFubg==' }, 4401],
    ['nobody’s', { authorization: 'Bearer nobodys' }, 4403],
  ])('credentials that are %s close a WebSocket', async (_, init, code) => {
    expect(await closed(await open(init))).toBe(code)
  })

  it.each<[string, (token: () => string) => LiveTransport]>([
    [
      'its own client',
      (token) =>
        new WebSocketClient({
          url: gateway.url.replace('http', 'ws'),
          connectionParams: () => ({ authorization: `Bearer ${token()}` }),
        }),
    ],
    [
      'the client of graphql-ws',
      (token) =>
        createClient({
          url: gateway.url.replace('http', 'ws'),
          webSocketImpl: WebSocket,
          connectionParams: () => ({ authorization: `Bearer ${token()}` }),
          retryWait: () => new Promise((resolve) => void setTimeout(resolve, 20)),
        }),
    ],
  ])('a token that is refused is followed by another one: %s', async (_, transport) => {
    const tokens = ['nobodys', ann.token]
    const client = transport(() => tokens.shift() ?? '')
    const subscription =
      'subscription { nodes { reset synced changes { type objectId object { id } } } }'
    using nodes = liveCollection<unknown, object, object>({ client, query: subscription })
    await nodes.synced
    expect(tokens).toEqual([])
  })

  it('what needs no credentials are probes alone', async () => {
    const statuses = ['/livez', '/readyz', '/graphql'].map(
      async (path) => (await fetch(new URL(path, gateway.url))).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 403])
  })

  it('a token is reviewed once, however many show it at once', async () => {
    await using fresh = await serve()
    const before = cluster.count(reviews)
    const callers = Array.from({ length: 20 }, () => fresh.as(bob.token))
    const answers = await Promise.all([
      ...callers.map(async (caller) => caller.query(query)),
      ...callers.map(async (caller) => firstAnswer(caller.connect(), query)),
    ])
    expect(answers).toEqual(Array.from({ length: 40 }, () => answer))
    expect(cluster.count(reviews) - before).toBe(1)
  })

  it('an API server that cannot review is no reason to call callers unknown', async () => {
    await using fresh = await serve()
    cluster.refuse(reviews, 500)
    const asked = fetch(fresh.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ann.token}` },
      body: JSON.stringify({ query }),
    })
    const response = await asked
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'IDENTITY_UNAVAILABLE', retryAfterMs: 1_000 } }],
    })
    const socket = new WebSocket(fresh.url.replace('http', 'ws'), 'graphql-transport-ws')
    await once(socket, 'open')
    const payload = { authorization: `Bearer ${ann.token}` }
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    expect(await closed(socket)).toBe(1013)
    cluster.refuse(reviews, undefined)
    expect(await fresh.as(ann.token).query(query)).toEqual(answer)
    expect(fresh.log.join('\n')).toContain('tokens cannot be verified')
  })

  it('a WebSocket whose token is revoked is closed, and a new token may mend that', async () => {
    const users = [admin, { ...ann }]
    await using simulator = await startSimulator({ users })
    await using other = await startCountedServer(simulator.url)
    const before = cluster
    cluster = other
    await using fresh = await serve({ knownMs: 1_000 }, { reauthenticateMs: 300 })
    cluster = before
    const socket = new WebSocket(fresh.url.replace('http', 'ws'), 'graphql-transport-ws')
    await once(socket, 'open')
    const payload = { authorization: `Bearer ${ann.token}` }
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    await once(socket, 'message')
    const closing = closed(socket)
    // An authenticator that knows the token no more: the API server’s answer is 201 and not authenticated.
    other.answer(reviews, { status: { authenticated: false } })
    expect(await closing).toBe(4403)
  })

  it('a clock that is set back makes no token known for longer', async () => {
    await using fresh = await serve({ knownMs: 200 })
    const asked = async (): Promise<number> => {
      expect(await fresh.as(ann.token).query(query)).toEqual(answer)
      return cluster.count(reviews)
    }
    const first = await asked()
    const now = Date.now()
    vi.spyOn(Date, 'now').mockReturnValue(now - 3_600_000)
    try {
      await expect.poll(asked).toBeGreaterThan(first)
    } finally {
      vi.restoreAllMocks()
    }
  })

  it('tokens for others than those that are wanted are refused', async () => {
    await using strict = await serve({ audiences: ['https://informerql.example.com'] })
    expect(await strict.as(ann.token).query(query)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    })
    await using loose = await serve({ audiences: ['x', 'https://kubernetes.default.svc'] })
    expect(await loose.as(ann.token).query(query)).toEqual(answer)
  })

  it('a cluster that there is not reviews no tokens', async () => {
    await expect(serve({ cluster: 'nowhere' })).rejects.toThrow(
      /"nowhere".*not a configured cluster/,
    )
  })

  it('no token is ever in the log', async () => {
    await using fresh = await serve()
    cluster.refuse(reviews, 403)
    await fresh.as(ann.token).query(query)
    await fresh.as('nobodys-secret').query('{ nothing }')
    cluster.refuse(reviews, undefined)
    await fresh.as(ann.token).query('{ pods(first: -1) { totalCount } }')
    const said = JSON.stringify([fresh.log, gateway.log])
    expect(said).not.toMatch(/secret/)
  })
})
