import { WebSocket } from 'ws'
import { describe, expect, it } from 'vitest'
import { serveSimulator, type ServedSimulatorOptions } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import { follow } from './followed-subscription.ts'
import { applied, type Held } from './resumed-subscription.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const selection = 'metadata { name annotations } data'
const field = 'configMaps(namespace: "default", coalesceMs: 0)'

const query = `subscription { frame: ${field} { reset changes { type objectId object { id ${selection} } } } }`
const subscribeMessage = JSON.stringify({ id: '1', type: 'subscribe', payload: { query } })

/** A reader that can stop reading, down to its socket. */
const openReader = async (url: string) => {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
  let held: Held = new Map()
  const resets: number[] = []
  let frames = 0
  const acknowledged = Promise.withResolvers<void>()
  socket.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString())
    if (type === 'connection_ack') acknowledged.resolve()
    if (type !== 'next') return
    const { frame } = payload.data
    if (frame.reset === true) resets.push(frames)
    frames += 1
    held = applied(held, frame)
  })
  socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
  await acknowledged.promise
  socket.send(subscribeMessage)
  return { socket, held: () => held, resets, frames: () => frames }
}

/** A reader that only looks for the last object, so that many of them are quick. */
const openCounter = async (url: string) => {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
  const begun = Promise.withResolvers<void>()
  let isLast = false
  socket.on('message', (data: Buffer) => {
    if (data.includes('connection_ack')) socket.send(subscribeMessage)
    else begun.resolve()
    isLast ||= data.includes('"name":"last"')
  })
  socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
  await begun.promise
  return { socket, isLast: () => isLast }
}

/** Megabytes for each of many readers take their time on a busy machine. */
const wait = { timeout: 120_000 }

const options: ServedSimulatorOptions = {
  gateway: { live: { maxFrames: 16, maxBytes: 1 << 20 } },
  // Longer than any test: who reads nothing is not cut off for that.
  server: { pingIntervalMs: 60_000, writeDeadlineMs: 600_000 },
}

describe('a reader that stops reading', () => {
  it('costs the others nothing, holds nothing but its place, and begins anew when it reads again', async () => {
    await using served = await serveSimulator(options)
    const { cluster, gateway } = served
    const names = Array.from({ length: 5 }, (_, at) => `big-${at}`)
    const big = (round: number): object => ({
      annotations: { text: `${round} ${'x'.repeat(200_000)}` },
    })
    for (const name of names) {
      await created(cluster, configMaps, { metadata: { name, ...big(0) } })
    }
    const reader = await openReader(gateway.url)
    await expect.poll(() => reader.held().size).toBe(5)
    const others = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const live = follow(gateway.connect(), field, selection)
        await live.until('snapshot', () => live.fold.synced)
        return live
      }),
    )
    const many = await Promise.all(Array.from({ length: 10 }, async () => openCounter(gateway.url)))
    expect(gateway.gateway.planned.liveState()).toMatchObject({ groups: 2, members: 16 })
    reader.socket.pause()
    for (let round = 1; round <= 20; round += 1) {
      for (const name of names) {
        await sent(cluster, 'PATCH', `${configMaps}/${name}`, { metadata: big(round) })
      }
    }
    await created(cluster, configMaps, { metadata: { name: 'last' } })
    const isLast = (objects: Held): boolean =>
      [...objects.values()].some(({ metadata }) => metadata.name === 'last')
    await Promise.all(others.map(async (live) => live.until('the last', isLast)))
    expect(others.flatMap(({ problems }) => problems)).toEqual([])
    await expect.poll(() => many.filter((one) => !one.isLast()).length, wait).toBe(0)
    expect(reader.frames()).toBeLessThan(80)
    // What the five objects take once in each of the two groups, and the rings of both, however many have not read them.
    const rings = 2 * 2 * (1 << 20)
    expect(gateway.gateway.planned.liveState().heldBytes).toBeLessThan(2 * 6 * 2 * 200_500 + rings)
    reader.socket.resume()
    await expect.poll(() => isLast(reader.held()), wait).toBe(true)
    expect(reader.resets).toHaveLength(2)
    const fresh = follow(gateway.connect(), field, selection)
    await fresh.until('snapshot', () => fresh.fold.synced)
    expect(new Map(reader.held())).toEqual(new Map(fresh.fold.objects))
    const { resets } = gateway.gateway.planned.liveState()
    expect(resets).toBe(1)
    for (const { socket } of [reader, ...many]) socket.terminate()
  })

  it('is sent the rest when it reads again, also where nothing is followed any more', async () => {
    await using served = await serveSimulator(options)
    const { cluster, gateway } = served
    const texts = Array.from({ length: 20 }, (_, at) => `${at} ${'x'.repeat(1_000_000)}`)
    await created(cluster, configMaps, { metadata: { name: 'big' } })
    const reader = await openReader(gateway.url)
    const ended = Promise.withResolvers<void>()
    reader.socket.on('message', (data: Buffer) => {
      if (data.includes('"complete"')) ended.resolve()
    })
    await expect.poll(() => reader.held().size).toBe(1)
    const other = follow(gateway.connect(), field, selection)
    reader.socket.pause()
    for (const text of texts) {
      await sent(cluster, 'PATCH', `${configMaps}/big`, { data: { text } })
      await other.until(text.slice(0, 2), (objects) =>
        [...objects.values()].some(({ data }) => data?.text === text),
      )
    }
    await gateway.gateway[Symbol.asyncDispose]()
    reader.socket.resume()
    await ended.promise
    expect([...reader.held().values()]).toMatchObject([{ data: { text: texts.at(-1) } }])
    reader.socket.terminate()
  })

  it('is reported with the rows that it has taken, not with those that wait for it', async () => {
    const ended: number[] = []
    await using served = await serveSimulator({
      gateway: {
        limits: { maxFrameObjects: 2 },
        audit: { answered() {}, ended: ({ rows }) => void ended.push(rows) },
      },
    })
    const { cluster, gateway } = served
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await created(cluster, configMaps, { metadata: { name } })
    }
    const { planned } = gateway.gateway
    const asked = `subscription { ${field} { synced changes { objectId } } }`
    const [one, all] = [
      await planned.subscribe({ query: asked }, {}),
      await planned.subscribe({ query: asked }, {}),
    ]
    one.take()
    while (all.take() !== undefined);
    await created(cluster, configMaps, { metadata: { name: 'f' } })
    await expect.poll(() => all.take()?.toString()).toContain('"synced":true')
    one.close()
    all.close()
    expect(ended).toEqual([2, 6])
  })
})
