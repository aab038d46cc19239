import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { serveSimulator } from '../support/served-simulator.ts'
import { followLogs, isIn } from './followed-logs.ts'
import { namespace, putNodes, putPod, removePod, running } from './small-town.ts'

const nameOf = (at: number): string => `pod-${String(at).padStart(4, '0')}`
const hourAgo = new Date(Date.now() - 3_600_000)
const all = `namespace: "${namespace}"`

describe('a user who follows the logs of 1,000 pods', () => {
  const users = ['gateway', 'ann', 'bob'].map((user) => ({ token: `token-of-${user}`, user }))
  const stack = new AsyncDisposableStack()
  let cluster: Simulator
  let gateway: ServedGateway

  beforeEach(async () => {
    cluster = stack.use(
      await startSimulator({
        users,
        populate(storage) {
          putNodes(storage)
          for (let at = 0; at < 1_000; at++) {
            putPod(storage, nameOf(at), running(0), { linesPerSecond: 2 })
          }
        },
      }),
    )
    const headers = { authorization: 'Bearer token-of-gateway' }
    const kubeconfig = stack.use(
      await writeKubeconfig({ url: cluster.url, headers, expireHistory: async () => {} }),
    )
    const clusters = [{ name: 'one', kubeconfig: kubeconfig.path }]
    gateway = stack.use(await serveGateway({ clusters }, {}, { auth: { mode: 'token-review' } }))
  })
  afterEach(() => stack.disposeAsync())

  it('follows the first ones, is told of the others, and others are not hurt', async () => {
    const logs = followLogs(gateway.as('token-of-ann').connect(), `${all}, tailLines: 1`)
    const streaming = (): number =>
      logs.streams().filter(({ state }) => state === 'STREAMING').length
    await logs.until('as many as a user may have', () => streaming() === 100)
    expect(logs.notFollowed()).toBe(900)
    expect(isIn(logs, nameOf(0), 'STREAMING')).toBe(true)
    expect(logs.streams().find(({ pod }) => pod === nameOf(999))).toMatchObject({
      state: 'WAITING',
      reason: 'TOO_MANY_STREAMS',
      message: expect.stringContaining('logs.maxStreamsPerUser'),
    })
    const again = followLogs(gateway.as('token-of-ann').connect(), `${all}, tailLines: 1`)
    await again.until('refusal', () => again.errors().length > 0)
    expect(again.errors()).toMatchObject([{ extensions: { code: 'TOO_MANY_OPERATIONS' } }])
    const bob = followLogs(
      gateway.as('token-of-bob').connect(),
      `${all}, where: { name: { eq: "${nameOf(500)}" } }`,
    )
    await bob.until('lines', () => bob.lines.length > 100)
    removePod(cluster.storage, nameOf(0))
    await logs.until('the next one', () => isIn(logs, nameOf(100), 'STREAMING'))
    expect(logs.notFollowed()).toBe(899)
    logs.close()
    await expect
      .poll(async () => {
        const one = followLogs(gateway.as('token-of-ann').connect(), `${all}, tailLines: 1`)
        await one.until('answer', () => one.errors().length > 0 || one.frames.length > 0)
        one.close()
        return one.errors()
      })
      .toEqual([])
  })
})

describe('a reader that has stopped', () => {
  it('loses the oldest lines of logs that never end, and others lose none', async () => {
    const pods = Array.from({ length: 10 }, (_, at) => nameOf(at))
    await using served = await serveSimulator({
      simulator: {
        populate(storage) {
          putNodes(storage)
          for (const name of pods)
            putPod(storage, name, running(0, hourAgo), { linesPerSecond: 200 })
        },
      },
      gateway: { logs: { maxLines: 1_000 } },
      server: { pingIntervalMs: 60_000, writeDeadlineMs: 600_000 },
    })
    const { gateway } = served
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
    const query = `subscription { podLogs(${all}, since: "1h") { skipped lines { pod time text } } }`
    const acknowledged = Promise.withResolvers<void>()
    let skipped = 0
    let lastTime = ''
    socket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString())
      if (type === 'connection_ack') acknowledged.resolve()
      if (type !== 'next') return
      skipped += payload.data.podLogs.skipped as number
      lastTime = payload.data.podLogs.lines.at(-1)?.time ?? lastTime
    })
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
    await acknowledged.promise
    socket.pause()
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
    const other = followLogs(
      gateway.connect(),
      `${all}, where: { name: { eq: "${pods[0]}" } }, tailLines: 1`,
    )
    const seconds = (): number => {
      const [first, last] = [other.lines[0], other.lines.at(-1)]
      return (Date.parse(last?.time ?? '') - Date.parse(first?.time ?? '')) / 1_000
    }
    await other.until('lines of five seconds', () => seconds() > 5)
    expect(other.skipped()).toBe(0)
    const times = other.lines.map(({ time }) => time)
    expect(times).toEqual(times.toSorted())
    expect(other.lines.length).toBeGreaterThan(900)
    const now = new Date().toISOString()
    socket.resume()
    await expect.poll(() => skipped, { timeout: 60_000 }).toBeGreaterThan(0)
    await expect.poll(() => lastTime > now, { timeout: 60_000 }).toBe(true)
    socket.terminate()
  })
})

describe('server-sent events', () => {
  it('bring logs as WebSockets do', async () => {
    await using served = await serveSimulator({
      simulator: {
        populate(storage) {
          putNodes(storage)
          putPod(storage, 'one', running(0))
        },
      },
    })
    const query = `subscription { podLogs(${all}, tailLines: 1) { lines { text } } }`
    const leaving = new AbortController()
    const response = await fetch(served.gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
      signal: leaving.signal,
    })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.split('event: next').length > 4) break
    }
    leaving.abort()
    expect(text).toContain('"podLogs":{"lines":[{"text":')
  })
})
