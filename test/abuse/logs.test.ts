import { once } from 'node:events'
import { GatewayMetrics, type GatewayOptions, type OperationReport } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type CountedServer, startCountedServer } from '../access/counted-server.ts'
import { followLogs } from '../logs/followed-logs.ts'
import { namespace, putNodes, putPod, type Run, running } from '../logs/small-town.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'

interface TownWithLogs extends AsyncDisposable {
  readonly gateway: ServedGateway
  /** The API server. */
  readonly cluster: CountedServer
  readonly reports: readonly OperationReport[]
  readonly metric: (name: string) => Promise<number>
}

/** Thirty pods that have written 20,000 lines each if they have run for an hour, and who reads them is known. */
async function startTownWithLogs(
  run: Run,
  logs: GatewayOptions['logs'] = {},
): Promise<TownWithLogs> {
  await using stack = new AsyncDisposableStack()
  const users = ['gateway', 'mallory', 'ann'].map((user) => ({ token: `of-${user}`, user }))
  const populate: NonNullable<Parameters<typeof startSimulator>[0]>['populate'] = (storage) => {
    putNodes(storage)
    for (let at = 0; at < 30; at += 1) putPod(storage, `pod-${at}`, run, { linesPerSecond: 200 })
  }
  const simulator = stack.use(await startSimulator({ users, populate }))
  const cluster = stack.use(await startCountedServer(simulator.url))
  const headers = { authorization: 'Bearer of-gateway' }
  const kubeconfig = stack.use(
    await writeKubeconfig({ url: cluster.url, headers, expireHistory: async () => {} }),
  )
  const reports: OperationReport[] = []
  const metrics = new GatewayMetrics()
  const gateway = stack.use(
    await serveGateway(
      {
        clusters: [{ name: 'one', kubeconfig: kubeconfig.path }],
        logs,
        metrics,
        audit: {
          answered: (report) => void reports.push(report),
          ended: (report) => void reports.push(report),
        },
      },
      { pingIntervalMs: 600_000, writeDeadlineMs: 600_000 },
      { auth: { mode: 'token-review' } },
    ),
  )
  const all = stack.move()
  return {
    gateway,
    cluster,
    reports,
    metric: async (name) =>
      Number(new RegExp(`^${name} (.*)$`, 'm').exec(await metrics.text())?.[1]),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
const ended: Run = {
  state: {
    terminated: {
      containerID: 'containerd://run-0',
      exitCode: 0,
      reason: 'Completed',
      startedAt: hourAgo,
      finishedAt: new Date(Date.now() - 60_000).toISOString(),
    },
  },
}
const mebibyte = 1 << 20
/** Fills the buffers of the sockets soon. */
const many = Array.from({ length: 30 }, (_, at) => `t${at}: text`).join(' ')

describe('900 subscriptions to logs that have ended, on nine sockets that read nothing', () => {
  it('hold no more than logs may hold for a user, end in refusals, and leave room for others', async () => {
    const maxHeldBytesPerUser = 2 * mebibyte
    await using town = await startTownWithLogs(ended, { maxHeldBytesPerUser })
    const { gateway, reports, metric } = town
    const sockets = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
        await once(socket, 'open')
        const payload = { authorization: 'Bearer of-mallory' }
        socket.send(JSON.stringify({ type: 'connection_init', payload }))
        await once(socket, 'message')
        socket.pause()
        for (let at = 0; at < 100; at += 1) {
          const where = `where: { name: { eq: "pod-${at % 30}" } }`
          const query = `subscription { podLogs(namespace: "${namespace}", ${where}, tailLines: 2000) { lines { ${many} } } }`
          socket.send(JSON.stringify({ id: String(at), type: 'subscribe', payload: { query } }))
        }
        return socket
      }),
    )
    const codes = () => reports.flatMap((report) => report.codes)
    await expect.poll(() => reports.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(900)
    // Those that have begun go on until there is no room for what they read.
    await expect.poll(() => codes().length, { timeout: 60_000 }).toBeGreaterThan(850)
    expect(codes()).toEqual(expect.arrayContaining(['QUERY_TOO_COSTLY', 'TOO_MANY_OPERATIONS']))
    expect(await metric('informerql_log_held_bytes')).toBeLessThan(1.2 * maxHeldBytesPerUser)
    // All that was read has ended: what has a place waits to be sent.
    expect(await metric('informerql_log_streams')).toBeGreaterThan(0)
    const ann = followLogs(
      gateway.as('of-ann').connect(),
      `namespace: "${namespace}", tailLines: 10`,
    )
    await ann.until('lines of all pods', () => ann.lines.length === 300)
    ann.close()
    for (const socket of sockets) socket.terminate()
    await expect.poll(() => metric('informerql_log_held_bytes')).toBe(0)
    await expect.poll(() => metric('informerql_log_streams')).toBe(0)
  })
})

it('a query of logs is refused where its lines find no room, and what it held is free again', async () => {
  await using town = await startTownWithLogs(ended, { maxHeldBytesPerUser: mebibyte / 2 })
  const { gateway, metric } = town
  const read = (tailLines: number) =>
    gateway
      .as('of-ann')
      .query(`{ podLogs(namespace: "${namespace}", tailLines: ${tailLines}) { lines { text } } }`)
  const { errors } = await read(1_000)
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'QUERY_TOO_COSTLY',
    value: mebibyte / 2,
    retryAfterMs: 10_000,
  })
  expect((await read(10)).data.podLogs.lines).toHaveLength(300)
  expect(await metric('informerql_log_held_bytes')).toBe(0)
  expect(await metric('informerql_log_streams')).toBe(0)
})

const line = (at: number): string =>
  `2026-01-15T12:00:00.${String(at).padStart(9, '0')}Z GET /items/${at} 200\n`
const lines = 120_000
const wholeLog = Buffer.from(Array.from({ length: lines }, (_, at) => line(at)).join(''))

it.each([
  ['a subscription', 'subscription', 1],
  ['three queries', 'query', 3],
])(
  '%s to thirty logs of which no line is sent lets the queries of others between',
  async (_, operation, times) => {
    await using town = await startTownWithLogs(running(0))
    const { gateway, cluster, metric } = town
    cluster.answer('/log', wholeLog)
    const ann = gateway.as('of-ann').connect()
    let documents = 0
    // Work of the gateway, and little for its clients.
    const long = async () => {
      documents += 1
      const fields = Array.from({ length: 450 }, (_each, at) => `a${documents}_${at}: kind`)
      const answer = await firstAnswer(
        ann,
        `{ pods(first: 1) { nodes { kind ... @skip(if: true) { ${fields.join(' ')} } } } }`,
      )
      expect(answer.errors).toBeUndefined()
    }
    const twenty = () => Promise.all(Array.from({ length: 20 }, long))
    await twenty()
    const mallory = gateway.as('of-mallory').connect()
    const query = `${operation} { podLogs(namespace: "${namespace}", since: "30d", contains: "POST") { lines { text } } }`
    for (let at = 0; at < times; at += 1)
      mallory.subscribe({ query }, { next() {}, error() {}, complete() {} })
    const read = (): Promise<number> => metric('informerql_log_read_total')
    await expect.poll(read, { interval: 1 }).toBeGreaterThan(0)
    // In turns, 200,000 lines are read beside twenty documents; otherwise 740,000, which is all that the sockets bring. A
    // pause of the machine holds up the documents alone, so the best try counts, as long as there are lines to read.
    const all = 30 * lines * times
    let [fewest, before] = [Number.POSITIVE_INFINITY, await read()]
    while (fewest >= 600_000 && before < all) {
      await twenty()
      const after = await read()
      if (after < all) fewest = Math.min(fewest, after - before)
      before = after
    }
    expect(fewest).toBeLessThan(600_000)
  },
)
