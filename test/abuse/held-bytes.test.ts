import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts'

const mebibyte = 1 << 20
const timeout = 25_000

const aliases = (times: number, field: string): string =>
  Array.from({ length: times }, (_, at) => `a${at}: ${field}`).join(' ')
/** Some 0.4 MB each time. */
const everything = (times: number): string => `{ ${aliases(times, 'pods { nodes { json } }')} }`
/** 9 MB: more than the kernel takes for a reader that reads nothing. */
const large = everything(24)
/** As much as is answered without a plan. */
const fairlyLarge = everything(8)

describe('what readers do not read is bounded:', () => {
  let world: AttackedGateway
  const sockets: (Socket | WebSocket)[] = []
  afterEach(async () => {
    for (const socket of sockets.splice(0)) {
      if (socket instanceof WebSocket) socket.terminate()
      else socket.destroy()
    }
    await world[Symbol.asyncDispose]()
  })

  const requestOf = (query: string, accept: string): string => {
    const body = JSON.stringify({ query })
    const lines = [
      'POST /graphql HTTP/1.1',
      `host: ${new URL(world.gateway.url).host}`,
      'content-type: application/json',
      `accept: ${accept}`,
      `authorization: ${world.authorization}`,
      `content-length: ${Buffer.byteLength(body)}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }
  /** Asks by HTTP, over a connection of its own, and reads nothing of what comes. */
  const askUnread = async (query: string, accept = 'application/json'): Promise<Socket> => {
    const { hostname, port } = new URL(world.gateway.url)
    const socket = connect({ port: Number(port), host: hostname }).pause()
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(requestOf(query, accept))
    return socket
  }
  const statusOfMallory = async (): Promise<number> => {
    const response = await fetch(world.gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: world.authorization },
      body: '{"query":"{ __typename }"}',
    })
    return response.status
  }
  /** Reads what there is until the connection is closed. */
  const bytesOf = async (socket: Socket): Promise<number> => {
    let bytes = 0
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume()
    await once(socket, 'close')
    return bytes
  }
  const openSocket = async (): Promise<WebSocket> => {
    const socket = new WebSocket(world.gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'open')
    const payload = { authorization: world.authorization }
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    await once(socket, 'message')
    return socket
  }
  const ask = (socket: WebSocket, id: string, query: string): void =>
    socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query } }))

  describe('an answer', () => {
    beforeEach(async () => {
      world = await startAttackedGateway({ maxOperationsPerUser: 3 })
    })

    it('by HTTP counts for its user until it has been read', async () => {
      const unread = await Promise.all([1, 2, 3].map(async () => askUnread(large)))
      await expect.poll(() => world.unsent(), { timeout }).toBeGreaterThan(9 * mebibyte)
      expect(await statusOfMallory()).toBe(429)
      await world.neighbour()
      unread[0]?.resume()
      await expect.poll(statusOfMallory, { timeout }).toBe(200)
      for (const socket of unread) socket.destroy()
      await expect.poll(() => world.unsent(), { timeout }).toBe(0)
    })

    it('by WebSocket does, too', async () => {
      const socket = await openSocket()
      socket.pause()
      let asked = 0
      const askedOnce = async (): Promise<number> => {
        ask(socket, `${(asked += 1)}`, fairlyLarge)
        return statusOfMallory()
      }
      await expect.poll(askedOnce, { timeout }).toBe(429)
      expect(world.unsent()).toBeGreaterThan(3 * mebibyte)
      await world.neighbour()
      socket.resume()
      await expect.poll(statusOfMallory, { timeout }).toBe(200)
    })
  })

  it('beyond the bound of a user, the reader that has taken nothing for longest is cut off', async () => {
    world = await startAttackedGateway({ maxUnsentBytesPerUser: 15 * mebibyte })
    const first = await askUnread(large)
    await expect.poll(() => world.unsent(), { timeout }).toBeGreaterThan(8 * mebibyte)
    const socket = await openSocket()
    socket.pause()
    for (const id of ['1', '2']) ask(socket, id, fairlyLarge)
    await expect.poll(() => world.unsent(), { timeout }).toBeGreaterThan(11 * mebibyte)
    const last = await askUnread(large)
    await expect.poll(() => world.cutOff, { timeout }).toEqual(['http'])
    expect(world.unsent()).toBeLessThan(15 * mebibyte)
    await world.neighbour()
    expect(await bytesOf(first)).toBeLessThan(8 * mebibyte)
    let bytes = 0
    last.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume()
    await expect.poll(() => bytes, { timeout }).toBeGreaterThan(8 * mebibyte)
  })

  it('beyond the bound of all, somebody else is answered, and the user with the most is cut off', async () => {
    world = await startAttackedGateway({ maxUnsentBytes: 20 * mebibyte })
    for (let at = 0; at < 5; at += 1) {
      await askUnread(large)
      await world.neighbour()
    }
    await expect.poll(() => world.cutOff.length, { timeout }).toBeGreaterThanOrEqual(3)
    expect(world.unsent()).toBeLessThan(20 * mebibyte)
    await world.neighbour()
  })

  describe('a reader that takes nothing until the write deadline is cut off', () => {
    beforeEach(async () => {
      world = await startAttackedGateway({ writeDeadlineMs: 500 })
    })

    it('by WebSocket, although it sends pongs', async () => {
      const socket = await openSocket()
      socket.pause()
      const pongs = setInterval(() => socket.pong(), 50)
      for (let id = 0; world.unsent() === 0; id += 1) {
        ask(socket, `${id}`, everything(1))
        await world.neighbour()
      }
      await expect.poll(() => world.cutOff, { timeout }).toEqual(['websocket'])
      clearInterval(pongs)
      expect(world.unsent()).toBe(0)
    })

    it('by HTTP, although it goes on to ask', async () => {
      const query = everything(1)
      const socket = await askUnread(query)
      while (world.cutOff.length === 0) {
        socket.write(requestOf(query, 'application/json'))
        await world.neighbour()
      }
      await expect.poll(() => world.unsent(), { timeout }).toBe(0)
    })

    it('as events', async () => {
      const query = `subscription { pods { changes { object { ${aliases(12, 'json')} } } } }`
      await askUnread(query, 'text/event-stream')
      await expect.poll(() => world.cutOff, { timeout }).toEqual(['http'])
    })
  })

  it('one that reads slowly is sent everything', async () => {
    world = await startAttackedGateway({ writeDeadlineMs: 2_000 })
    const { length } = await world.mallory.queryText(large)
    const socket = await askUnread(large)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      socket.pause()
      setTimeout(() => socket.resume(), 10)
    })
    socket.resume()
    await expect.poll(() => bytes, { timeout }).toBeGreaterThan(length)
    expect(world.cutOff).toEqual([])
  })
})
