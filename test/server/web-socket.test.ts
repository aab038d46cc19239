import { once } from 'node:events'
import { type Client, createClient } from 'graphql-ws'
import type { GraphQLServer, ServerOptions } from 'informerql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serve, type SmallApi, smallApi, until } from './small-api.ts'

let api: SmallApi
let server: GraphQLServer
const clients: Client[] = []
const sockets: WebSocket[] = []

async function start(options: Partial<ServerOptions> = {}): Promise<void> {
  await server[Symbol.asyncDispose]()
  server = await serve(api, options)
}

function client(): Client {
  const url = server.url.replace('http', 'ws')
  const made = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0, lazy: true })
  clients.push(made)
  return made
}

/** A WebSocket without the protocol's client, opened. */
async function bare(protocols: string[] = ['graphql-transport-ws']): Promise<WebSocket> {
  const socket = new WebSocket(server.url.replace('http', 'ws'), protocols)
  socket.on('error', () => {})
  sockets.push(socket)
  await once(socket, 'open')
  return socket
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number]
  return code
}

const send = (socket: WebSocket, message: object): void => socket.send(JSON.stringify(message))

async function acknowledged(): Promise<WebSocket> {
  const socket = await bare()
  send(socket, { type: 'connection_init' })
  await once(socket, 'message')
  return socket
}

async function all(made: Client, query: string, variables = {}): Promise<unknown[]> {
  const results: unknown[] = []
  for await (const result of made.iterate({ query, variables })) results.push(result)
  return results
}

beforeEach(async () => {
  api = smallApi()
  server = await serve(api)
})
afterEach(async () => {
  for (const made of clients.splice(0)) await made.dispose()
  for (const socket of sockets.splice(0)) socket.terminate()
  api.release()
  await server[Symbol.asyncDispose]()
})

describe('GraphQL over WebSocket', () => {
  it('streams a subscription to its end', async () => {
    expect(await all(client(), 'subscription { count(to: 3) }')).toEqual([
      { data: { count: 1 } },
      { data: { count: 2 } },
      { data: { count: 3 } },
    ])
  })

  it('answers queries through the same pipeline, with a context that knows the transport', async () => {
    const query = 'query ($n: String) { hello(name: $n) transport }'
    expect(await all(client(), query, { n: 'Ada' })).toEqual([
      { data: { hello: 'hello Ada', transport: 'websocket' } },
    ])
  })

  it('gives errors the codes that HTTP gives them, and nothing of HTTP', async () => {
    const [result] = await all(client(), '{ refused broken hello }')
    expect(JSON.stringify(result)).not.toContain('hunter2')
    expect(result).toMatchObject({
      data: { hello: 'hello you' },
      errors: [{ extensions: { code: 'FORBIDDEN' } }, { extensions: { code: 'INTERNAL' } }],
    })
    expect(JSON.stringify(result)).not.toMatch(/"(http|unexpected)"/)
  })

  it.each([
    ['syntax', '{ hello', {}],
    ['an unknown field', '{ nothing }', {}],
  ])('answers %s with an error that says BAD_USER_INPUT', async (_, query, variables) => {
    await expect(all(client(), query, variables)).rejects.toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT' } },
    ])
  })

  it('answers a variable of the wrong type with BAD_USER_INPUT', async () => {
    const [result] = await all(client(), 'query ($n: Int!) { square(of: $n) }', { n: 'x' })
    expect(result).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] })
  })

  it('ends the operation on the server when the client completes it', async () => {
    const iterator = client().iterate({ query: 'subscription { held }' })
    expect((await iterator.next()).value).toEqual({ data: { held: 'first' } })
    expect(api.underWay()).toBe(1)
    const left = iterator.return?.()
    api.release()
    await left
    await until(() => api.underWay() === 0)
  })

  it('ends the operations of a client that is gone', async () => {
    const socket = await acknowledged()
    send(socket, { id: '1', type: 'subscribe', payload: { query: 'subscription { held }' } })
    await once(socket, 'message')
    expect(api.underWay()).toBe(1)
    socket.terminate()
    api.release()
    await until(() => api.underWay() === 0)
  })
})

describe('limits of a WebSocket', () => {
  it('closes one that does not begin in time', async () => {
    await start({ connectionInitDeadlineMs: 50 })
    expect(await closeCode(await bare())).toBe(4408)
  })

  it('closes one that subscribes before it has begun', async () => {
    const socket = await bare()
    send(socket, { id: '1', type: 'subscribe', payload: { query: '{ hello }' } })
    expect(await closeCode(socket)).toBe(4401)
  })

  it('answers one operation too many with an error, and goes on with the others', async () => {
    await start({ maxOperationsPerSocket: 2 })
    const made = client()
    const held = [0, 1].map(() => made.iterate({ query: 'subscription { held }' }))
    for (const one of held) expect((await one.next()).value).toEqual({ data: { held: 'first' } })
    await expect(all(made, '{ hello }')).rejects.toMatchObject([
      { extensions: { code: 'TOO_MANY_OPERATIONS', value: 2 } },
    ])
    api.release()
    for (const one of held) expect((await one.next()).value).toEqual({ data: { held: 'last' } })
    for (const one of held) expect((await one.next()).done).toBe(true)
    expect(await all(made, '{ hello }')).toEqual([{ data: { hello: 'hello you' } }])
  })

  it('closes one whose completed operations pile up', async () => {
    await start({ maxOperationsPerSocket: 2 })
    const socket = await acknowledged()
    for (let id = 0; id < 40; id++) {
      send(socket, { id: `${id}`, type: 'subscribe', payload: { query: '{ held }' } })
      send(socket, { id: `${id}`, type: 'complete' })
    }
    expect(await closeCode(socket)).toBe(4429)
    expect(api.underWay()).toBeLessThanOrEqual(14)
  })

  it('closes one that sends a message larger than a body may be', async () => {
    await start({ maxBodyBytes: 2048 })
    const socket = await acknowledged()
    send(socket, {
      id: '1',
      type: 'subscribe',
      payload: { query: `{ hello } #${'x'.repeat(2048)}` },
    })
    expect(await closeCode(socket)).toBe(1009)
  })

  it('closes one that speaks another protocol', async () => {
    const socket = new WebSocket(server.url.replace('http', 'ws'), ['graphql-ws'])
    sockets.push(socket)
    const [error] = (await once(socket, 'error')) as [Error]
    expect(error.message).toContain('no subprotocol')
  })

  it('cuts off one that answers no ping', async () => {
    await start({ pingIntervalMs: 20 })
    const socket = new WebSocket(server.url.replace('http', 'ws'), ['graphql-transport-ws'], {
      autoPong: false,
    })
    sockets.push(socket)
    expect(await closeCode(socket)).toBe(1006)
  })

  it('cuts off one that does not read what it asked for', async () => {
    await start({ maxUnsentBytes: 65_536, pingIntervalMs: 3_600_000 })
    const socket = await acknowledged()
    socket.pause()
    const name = 'x'.repeat(100_000)
    const closed = closeCode(socket)
    for (let id = 0; id < 90; id++) {
      const query =
        '{ ' + Array.from({ length: 5 }, (_, n) => `a${n}: hello(name: $n) `).join('') + '}'
      const payload = { query: `query ($n: String) ${query}`, variables: { n: name } }
      send(socket, { id: `${id}`, type: 'subscribe', payload })
    }
    socket.once('error', () => {})
    await until(() => socket.bufferedAmount === 0 || socket.readyState !== WebSocket.OPEN)
    socket.resume()
    expect(await closed).toBe(1006)
  })

  it('is on the path of the API only', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/other`, ['graphql-transport-ws'])
    sockets.push(socket)
    const [error] = (await once(socket, 'error')) as [Error]
    expect(error.message).toContain('404')
  })
})
