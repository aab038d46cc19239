import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { rawRequest, upgradeLines } from './raw-request.ts'
import { post, serve, smallApi, until } from './small-api.ts'

describe('a stop', () => {
  it('closes WebSockets with 1012, lets requests under way finish, and takes no more', async () => {
    const api = smallApi()
    const server = await serve(api)
    const socket = new WebSocket(server.url.replace('http', 'ws'), ['graphql-transport-ws'])
    await once(socket, 'open')
    const idle = await rawRequest(server.port, ['GET /livez HTTP/1.1', 'host: localhost'])
    const answer = post(server.url, { query: '{ held }' })
    await until(() => api.underWay() === 1)

    const closed = once(socket, 'close')
    const left = once(idle.socket, 'close')
    const stopped = server[Symbol.asyncDispose]()
    expect((await closed)[0]).toBe(1012)
    await left
    await expect(fetch(new URL('/livez', server.url))).rejects.toThrow('fetch failed')

    api.release()
    expect(await (await answer).json()).toEqual({ data: { held: 'released' } })
    await stopped
  })

  it('cuts off no answer that its reader has not taken yet', async () => {
    const api = smallApi()
    const server = await serve(api, { maxBodyBytes: 16_777_216, compressFromBytes: 0 })
    const name = 'x'.repeat(12_000_000)
    const query = 'query ($name: String) { held hello(name: $name) }'
    const response = post(server.url, { query, variables: { name } })
    await until(() => api.underWay() === 1)
    api.release()
    const answer = await response
    const stopped = server[Symbol.asyncDispose]()
    expect((await answer.text()).length).toBeGreaterThan(name.length)
    await stopped
  })

  it('cuts off requests that outlast its deadline', async () => {
    const api = smallApi()
    const server = await serve(api, { stopDeadlineMs: 50 })
    const answer = post(server.url, { query: '{ held }' })
    const failure = answer.then(
      () => 'answered',
      (error: Error) => error.message,
    )
    await until(() => api.underWay() === 1)
    await server[Symbol.asyncDispose]()
    expect(await failure).toBe('fetch failed')
    api.release()
  })

  it('ends subscriptions', async () => {
    const api = smallApi()
    const server = await serve(api)
    const socket = new WebSocket(server.url.replace('http', 'ws'), ['graphql-transport-ws'])
    await once(socket, 'open')
    socket.send('{"type":"connection_init"}')
    await once(socket, 'message')
    socket.send('{"type":"subscribe","id":"1","payload":{"query":"subscription { held }"}}')
    await until(() => api.underWay() === 1)
    await server[Symbol.asyncDispose]()
    api.release()
    await until(() => api.underWay() === 0)
    expect(socket.readyState).toBe(WebSocket.CLOSED)
  })

  it('answers the query of a WebSocket before it closes it, and takes no other', async () => {
    const api = smallApi()
    const server = await serve(api)
    const { socket, messages } = await connected(server.url)
    socket.send('{"type":"subscribe","id":"1","payload":{"query":"{ held }"}}')
    socket.send('{"type":"subscribe","id":"2","payload":{"query":"subscription { held }"}}')
    await until(() => api.underWay() === 2)
    const closed = once(socket, 'close')
    const stopped = server[Symbol.asyncDispose]()
    api.release()
    expect(String((await closed)[1])).toBe('Reconnect: the gateway stops')
    expect(messages()).toContain('{"id":"1","type":"next","payload":{"data":{"held":"released"}}}')
    await stopped
  })

  it('cuts off a WebSocket whose query outlasts its deadline', async () => {
    const api = smallApi()
    const server = await serve(api, { stopDeadlineMs: 50 })
    const { socket } = await connected(server.url)
    socket.send('{"type":"subscribe","id":"1","payload":{"query":"{ held }"}}')
    await until(() => api.underWay() === 1)
    const closed = once(socket, 'close')
    await server[Symbol.asyncDispose]()
    expect((await closed)[0]).toBe(1006)
    api.release()
  })

  it('ends event streams of subscriptions without `complete`, and answers those of queries', async () => {
    const api = smallApi()
    const server = await serve(api)
    const accept = { accept: 'text/event-stream' }
    const followed = await post(server.url, { query: 'subscription { held }' }, accept)
    const asked = await post(server.url, { query: '{ held }' }, accept)
    await until(() => api.underWay() === 2)
    const stopped = server[Symbol.asyncDispose]()
    const events = await followed.text()
    expect(events).toContain('first')
    expect(events).not.toContain('complete')
    api.release()
    expect(await asked.text()).toMatch(/released.*complete/s)
    await stopped
  })

  it('may be asked for twice', async () => {
    const server = await serve(smallApi())
    await Promise.all([server[Symbol.asyncDispose](), server[Symbol.asyncDispose]()])
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
  })
})

describe('a drain', () => {
  it('answers /readyz with 503 at once, serves whoever still comes, and ends their connections', async () => {
    const server = await serve(smallApi(), { drainDelayMs: 3_600_000 })
    const { socket } = await connected(server.url)
    const drained = server.drain()
    expect((await fetch(new URL('/readyz', server.url))).status).toBe(503)
    const lives = await fetch(new URL('/livez', server.url))
    expect([lives.status, lives.headers.get('connection')]).toEqual([200, 'close'])
    const answer = await post(server.url, { query: '{ hello }' })
    expect(await answer.json()).toEqual({ data: { hello: 'hello you' } })
    const late = await connected(server.url)
    expect(socket.readyState).toBe(WebSocket.OPEN)

    const closed = Promise.all([once(socket, 'close'), once(late.socket, 'close')])
    await server[Symbol.asyncDispose]()
    await drained
    expect((await closed).map(([code]) => code as number)).toEqual([1012, 1012])
  })

  it('asks clients to reconnect, and then waits for the stop', async () => {
    await using server = await serve(smallApi())
    const { socket } = await connected(server.url)
    const closed = once(socket, 'close')
    await server.drain()
    expect((await closed)[0]).toBe(1012)
    const probe = await fetch(new URL('/readyz', server.url))
    expect(await probe.text()).toBe('not ready\nthe gateway is stopping\n')
    const upgrade = await rawRequest(server.port, upgradeLines({ host: 'localhost' }))
    expect(upgrade.status).toBe(503)
  })
})

/** A WebSocket that the server has acknowledged, and what arrives on it. */
const connected = async (
  url: string,
): Promise<{ socket: WebSocket; messages: () => readonly string[] }> => {
  const socket = new WebSocket(url.replace('http', 'ws'), ['graphql-transport-ws'])
  const messages: string[] = []
  socket.on('message', (data: Buffer) => messages.push(data.toString()))
  await once(socket, 'open')
  socket.send('{"type":"connection_init"}')
  await until(() => messages.length > 0)
  return { socket, messages: () => messages }
}

describe('a start', () => {
  it.each([['0.0.0.0'], ['::'], ['192.0.2.1'], ['gateway.example.com']])(
    'refuses to listen on %s while nobody is asked who he is',
    async (host) => {
      await expect(serve(smallApi(), { host })).rejects.toMatchObject({ code: 'UNSAFE_ADDRESS' })
      await expect(serve(smallApi(), { host })).rejects.toMatchObject({
        code: 'UNSAFE_ADDRESS',
        value: host,
        hint: expect.stringContaining('--insecure-no-auth') as string,
      })
    },
  )

  it('listens on all addresses where that was asked for, and then serves no GraphiQL', async () => {
    await using server = await serve(smallApi(), { host: '0.0.0.0', insecureNoAuth: true })
    expect(server.servesGraphiql).toBe(false)
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/graphql`)
    expect((await post(server.url, { query: '{ hello }' })).status).toBe(200)
    const page = await fetch(server.url, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(403)
    const answer = await rawRequest(server.port, ['GET /graphql HTTP/1.1', 'host: 0.0.0.0'])
    expect(answer.status).toBe(403)
  })

  it('says that the port is taken, and what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    await expect(serve(smallApi(), { port })).rejects.toMatchObject({ code: 'LISTEN' })
    await expect(serve(smallApi(), { port })).rejects.toMatchObject({
      message: `cannot listen on 127.0.0.1, port ${port}: the port is already in use`,
      hint: expect.stringContaining('--port') as string,
    })
    other.close()
  })
})
