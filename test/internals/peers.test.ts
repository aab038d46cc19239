// Imports internals: how one gateway asks another, without a database by which they know of each other.
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PeerCaller, PeerRequest } from '../../src/graphql/over-gateways/peers.ts'
import { defaultServerOptions } from 'informerql'
import { OriginCheck } from '../../src/server/guard/request-guard.ts'
import { HttpPeers } from '../../src/gateway/peers.ts'
import type { FrameStream } from '../../src/lib/frame-stream.ts'
import { FleetCluster } from '../gateway/fleet-cluster.ts'
import { caller, serveViewers, tokenOf, type ViewedGateway } from '../support/viewed-gateway.ts'

let cluster: FleetCluster
let peer: ViewedGateway
let address: string
const quiet = {
  address: 'http://127.0.0.1:1',
  trust: {},
  proofOf: () => 'proof',
  unreachable() {},
  refused() {},
  deadlineMs: 20_000,
  failed() {},
}
const peers = new HttpPeers(quiet)

beforeAll(async () => {
  cluster = await FleetCluster.start('a')
  peer = await serveViewers({ clusters: [cluster.selection] })
  address = new URL(peer.url).origin
}, 60_000)

afterAll(async () => {
  peers[Symbol.dispose]()
  await peer[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const as = (username: string, headers: Readonly<Record<string, string>> = {}): PeerCaller => ({
  sent: {
    authorization: tokenOf(caller(username, 'system:masters')),
    headers: () =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  },
  trace: { requestId: 'request-1' },
})

const ask = async (request: PeerRequest, who = as('ann')): Promise<unknown> =>
  JSON.parse(await peers.ask(address, request, who))

/** The next frame of a stream; its errors if it has failed. */
const nextOf = async (stream: FrameStream): Promise<Record<string, unknown> | undefined> => {
  for (;;) {
    const ready = Promise.withResolvers<void>()
    stream.onReady(() => ready.resolve())
    const frame = stream.take()
    if (frame !== undefined) return JSON.parse(frame.toString()) as Record<string, unknown>
    if (stream.end?.form === 'failed') throw stream.end.errors[0] as Error
    if (stream.end !== undefined) return undefined
    await ready.promise
  }
}

const follows =
  'subscription { configMaps { reset synced changes { type object { metadata { name } data } } } }'

describe('another gateway', () => {
  it('answers an operation as it came, to the caller that has sent it', async () => {
    const query =
      'query named($n: Int) { other: viewer { username } pods(first: $n) { totalCount } }'
    const request = { query, operationName: 'named', variables: { n: 1 } }
    expect(await ask(request)).toEqual({
      data: { other: { username: 'ann' }, pods: { totalCount: expect.any(Number) } },
    })
    expect(await ask(request, as('bob'))).toMatchObject({ data: { other: { username: 'bob' } } })
    const explained = { ...request, explains: true }
    expect(await ask(explained)).toHaveProperty('extensions.explain')
  })

  it('gets no header of the caller but those that are meant for it', async () => {
    const seen = Promise.withResolvers<unknown>()
    const server = createServer((request, response) => {
      seen.resolve(request.headers)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{}}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { sent: given } = as('ann', {
      host: 'evil.example.com',
      origin: 'https://evil.example.com',
      'x-remote-user': 'admin',
      'transfer-encoding': 'chunked',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    await peers.ask(
      `http://127.0.0.1:${port}`,
      { query: '{ __typename }' },
      {
        sent: { authorization: 'Bearer x', headers: given?.headers ?? (() => ({})), cookie: 'a=b' },
        trace: { requestId: 'request-1' },
      },
    )
    expect(await seen.promise).toEqual({
      accept: 'application/json',
      authorization: 'Bearer x',
      connection: 'keep-alive',
      'content-length': expect.any(String),
      'content-type': 'application/json',
      cookie: 'a=b',
      host: `127.0.0.1:${port}`,
      'informerql-forwarded': 'http://127.0.0.1:1',
      'informerql-proof': 'proof',
      origin: `http://127.0.0.1:${port}`,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-request-id': 'request-1',
    })
    server.close()
  })

  it('gets the headers that name a caller only with a certificate', async () => {
    using trusting = new HttpPeers(quiet)
    trusting.trustHeaders({
      allowedNames: [],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: [],
      groupHeaders: [],
      extraHeaderPrefixes: [],
    })
    const headers = () => ({ 'x-remote-user': ['ann'] })
    const clientCertificate = { commonName: 'proxy', notAfterMs: Date.now() + 60_000 }
    const named = { sent: { authorization: undefined, headers, clientCertificate } }
    await expect(trusting.ask(address, { query: '{ __typename }' }, named)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    })
  })

  it('takes a cookie from another gateway, which says whose page has sent it, and from no foreign page', () => {
    const origins = new OriginCheck(
      { ...defaultServerOptions(), publicUrl: 'https://portal.example.com' },
      'http://10.0.0.7:4000',
    )
    const isOwn = (headers: Readonly<Record<string, string>>): boolean =>
      origins.isByOwnPage({ method: 'POST', headers, socket: {} } as IncomingMessage)
    const host = { host: '10.0.0.7:4000' }
    const origin = 'http://10.0.0.7:4000'
    const forwarded = { ...host, origin, 'informerql-forwarded': 'http://10.0.0.8:4000' }
    expect(origins.refusal(forwarded)).toBeUndefined()
    expect(isOwn(forwarded)).toBe(true)
    expect(isOwn({ ...host, origin })).toBe(false)
    expect(isOwn({ ...forwarded, 'sec-fetch-site': 'cross-site' })).toBe(false)
    expect(isOwn({ ...forwarded, origin: 'https://evil.example.com' })).toBe(false)
    expect(isOwn({ ...host, origin: 'https://portal.example.com' })).toBe(true)
  })

  it('passes on its refusals, and is unreachable where it does not answer', async () => {
    const nobody = { sent: { authorization: undefined, headers: () => ({}) } }
    await expect(
      peers.ask('http://127.0.0.1:1', { query: '{ __typename }' }, nobody),
    ).rejects.toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      retryAfterMs: 1_000,
      mayHaveBegun: false,
    })
    expect(await ask({ query: '{ nothing }' })).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    })
  })

  it('sends the frames of a subscription, also to a subscriber that takes none for a while', async () => {
    const stream = peers.follow(address, { query: follows }, as('ann'))
    for (;;) {
      const frame = await nextOf(stream)
      if (JSON.stringify(frame).includes('"synced":true')) break
    }
    await cluster.make('one')
    expect(await nextOf(stream)).toMatchObject({
      data: { configMaps: { changes: [{ type: 'ADDED', object: { metadata: { name: 'one' } } }] } },
    })
    // Much more than the connection and the gateway take without a reader.
    const value = 'x'.repeat(300_000)
    for (let at = 0; at < 15; at += 1) {
      await cluster.change('one', `${at} ${value}`)
    }
    let last: unknown
    while (!JSON.stringify(last ?? '').includes('14 xxx')) last = await nextOf(stream)
    stream.close()
    expect(stream.end).toEqual({ form: 'complete' })
  })

  it('ends a subscription with an error that passes when it stops', async () => {
    const other = await serveViewers({ clusters: [cluster.selection] })
    const stream = peers.follow(new URL(other.url).origin, { query: follows }, as('ann'))
    await nextOf(stream)
    const ended = (async () => {
      for (;;) if ((await nextOf(stream)) === undefined) return
    })()
    await Promise.all([
      expect(ended).rejects.toMatchObject({ code: 'CLUSTER_UNREACHABLE', retryAfterMs: 1_000 }),
      other[Symbol.asyncDispose](),
    ])
    stream.close()
  })
})

describe('what is at the address of another gateway', () => {
  const query = '{ __typename }'
  const nobody: PeerCaller = { sent: { authorization: undefined, headers: () => ({}) } }
  const stack = new AsyncDisposableStack()
  afterAll(async () => stack.disposeAsync())

  /** The address of a server. */
  const served = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    stack.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const json = { 'content-type': 'application/json' }

  it.each<[string, boolean, RequestListener]>([
    ['a page', true, (_, response) => response.setHeader('content-type', 'text/html').end('<p>')],
    ['JSON of another kind', true, (_, response) => response.writeHead(200, json).end('{"ok":1}')],
    ['the failure of a proxy', true, (_, response) => response.writeHead(503).end('upstream')],
    ['no such path', true, (_, response) => response.writeHead(404).end('nothing')],
    [
      'a gateway that starts',
      false,
      (_, response) =>
        response
          .writeHead(503, json)
          .end('{"errors":[{"message":"starts","extensions":{"code":"INTERNAL"}}]}'),
    ],
    [
      'a gateway that fails',
      true,
      (_, response) =>
        response
          .writeHead(500, json)
          .end('{"errors":[{"message":"fails","extensions":{"code":"INTERNAL"}}]}'),
    ],
    [
      'half an answer',
      true,
      (_, response) => {
        response.writeHead(200, { ...json, 'content-length': 100 }).write('{"data":')
        setTimeout(() => response.destroy(), 100)
      },
    ],
  ])('may be %s, which is no answer', async (_, mayHaveBegun, answer) => {
    const at = await served(answer)
    await expect(peers.ask(at, { query }, nobody)).rejects.toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      mayHaveBegun,
    })
    const stream = peers.follow(at, { query: follows }, nobody)
    await expect(nextOf(stream)).rejects.toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
    stream.close()
  })

  it('may send more than a gateway keeps of one peer, and is heard no further', async () => {
    const mebibyte = Buffer.alloc(1 << 20, 'x')
    const endless: RequestListener = (request, response) => {
      response.writeHead(200, { 'content-type': request.headers.accept })
      const write = (): void => {
        while (response.write(mebibyte));
        response.once('drain', write)
      }
      write()
    }
    const at = await served(endless)
    using patient = new HttpPeers({ ...quiet, deadlineMs: 600_000 })
    await expect(patient.ask(at, { query }, nobody)).rejects.toMatchObject({
      code: 'TOO_MANY_OPERATIONS',
    })
  }, 180_000)

  it('is waited for while it says that it runs, and given up otherwise, until it does', async () => {
    let stands = true
    let isRunning = false
    const waiting = Promise.withResolvers<void>()
    const at = await served((request, response) => {
      if (request.url === '/livez') {
        if (isRunning) response.end('ok')
        return
      }
      if (request.headers.accept === 'text/event-stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        return
      }
      response.writeHead(200, json).flushHeaders()
      if (!stands) void waiting.promise.then(() => response.end('{"data":{}}'))
    })
    const lost = { code: 'CLUSTER_UNREACHABLE', message: expect.stringContaining('stands still') }
    using patient = new HttpPeers({ ...quiet, deadlineMs: 600_000 })
    const stream = patient.follow(at, { query: follows }, nobody)
    await Promise.all([
      expect(patient.ask(at, { query }, nobody)).rejects.toMatchObject(lost),
      expect(nextOf(stream)).rejects.toMatchObject(lost),
    ])
    stream.close()
    await expect(patient.ask(at, { query }, nobody)).rejects.toMatchObject({
      ...lost,
      mayHaveBegun: false,
    })
    isRunning = true
    stands = false
    const answer = async (): Promise<string> =>
      await patient.ask(at, { query }, nobody).catch((error: Error) => error.message)
    // Longer than a gateway may say nothing.
    setTimeout(() => waiting.resolve(), 12_000)
    await expect.poll(answer).toBe('{"data":{}}')
  }, 60_000)
})
