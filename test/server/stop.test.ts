import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { rawRequest } from './raw-request.ts'
import { post, serve, smallApi, until } from './small-api.ts'

describe('a stop', () => {
  it('closes WebSockets with 1001, lets requests under way finish, and takes no more', async () => {
    const api = smallApi()
    const server = await serve(api)
    const socket = new WebSocket(server.url.replace('http', 'ws'), ['graphql-transport-ws'])
    await once(socket, 'open')
    const idle = await rawRequest(server.port, ['GET /livez HTTP/1.1', 'host: localhost'])
    const answer = post(server.url, { query: '{ held }' })
    await until(() => api.underWay() === 1)

    const closed = once(socket, 'close')
    const stopped = server[Symbol.asyncDispose]()
    expect((await closed)[0]).toBe(1001)
    await once(idle.socket, 'close')
    await expect(fetch(new URL('/livez', server.url))).rejects.toThrow('fetch failed')

    api.release()
    expect(await (await answer).json()).toEqual({ data: { held: 'released' } })
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

  it('may be asked for twice', async () => {
    const server = await serve(smallApi())
    await Promise.all([server[Symbol.asyncDispose](), server[Symbol.asyncDispose]()])
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
  })
})

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
      message: `cannot listen on 127.0.0.1, port ${port}: the port is taken`,
      hint: expect.stringContaining('--port') as string,
    })
    other.close()
  })
})
