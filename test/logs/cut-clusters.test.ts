import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { followLogs, type FollowedLogs, isIn, logFields, type Logs } from './followed-logs.ts'
import { changePod, namespace, putNodes, putPod, removePod, running } from './small-town.ts'

const names = ['one', 'two'] as const
const over = `clusters: ["*"], namespace: "${namespace}"`

const exit = { containerID: 'containerd://run-0', exitCode: 1, reason: 'Error' }

describe('logs over clusters of which one is cut off', () => {
  let simulators: Record<'one' | 'two', Simulator>
  let proxies: Record<'one' | 'two', CutProxy>
  let gateway: ServedGateway
  let startedAt: Date
  beforeEach(async () => {
    const [one, two] = await Promise.all([
      startSimulator({ populate: putNodes }),
      startSimulator({ populate: putNodes }),
    ])
    simulators = { one, two }
    startedAt = new Date(Date.now() - 60_000)
    const [first, second] = await Promise.all(
      [one, two].map(({ url }) => startCutProxy(Number(new URL(url).port))),
    )
    proxies = { one: first as CutProxy, two: second as CutProxy }
    for (const name of names)
      putPod(simulators[name].storage, `pod-${name}`, running(0, startedAt), { linesPerSecond: 50 })
    gateway = await serveGateway({
      clusters: names.map((name) => ({ name, server: `http://127.0.0.1:${proxies[name].port}` })),
    })
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const one of [...Object.values(proxies), ...Object.values(simulators)])
      await one[Symbol.asyncDispose]()
  })

  const linesOf = (logs: FollowedLogs, pod: string): readonly string[] =>
    logs.lines.filter((one) => one.pod === pod).map(({ time, text }) => `${time} ${text}`)
  const gaps = (logs: FollowedLogs): readonly unknown[] => logs.frames.at(-1)?.incomplete ?? []
  const untilMore = async (logs: FollowedLogs, pod: string): Promise<void> => {
    const before = linesOf(logs, pod).length
    await logs.until(`lines of ${pod}`, () => linesOf(logs, pod).length > before + 20)
  }
  const cut = async (logs: FollowedLogs): Promise<void> => {
    await untilMore(logs, 'pod-one')
    await untilMore(logs, 'pod-two')
    await proxies.two.refuse()
    await logs.until('the gap', () => gaps(logs).length > 0)
    expect(gaps(logs)).toEqual([{ cluster: 'two', code: 'CLUSTER_UNREACHABLE' }])
  }
  const idsOf = async (): Promise<string> => {
    const { pods } = await gateway.data(`{ pods(${over}) { nodes { id } } }`)
    return JSON.stringify(pods.nodes.map(({ id }: { id: string }) => id))
  }

  it.each([
    ['by a filter', async () => over],
    ['by ids', async () => `ids: ${await idsOf()}`],
    [
      'by ids with names',
      async () => `ids: ["one/Pod/${namespace}/pod-one", "two/Pod/${namespace}/pod-two"]`,
    ],
  ])('a subscription %s goes on, says the gap, and takes the cluster up again', async (_, args) => {
    const logs = followLogs(gateway.connect(), `${await args()}, tailLines: 1`)
    await cut(logs)
    await logs.until('the failure', () => isIn(logs, 'pod-two', 'FAILED'))
    await untilMore(logs, 'pod-one')
    expect(logs.errors()).toEqual([])
    await proxies.two.listen()
    await logs.until('the end of the gap', () => gaps(logs).length === 0)
    await untilMore(logs, 'pod-two')
    expect(isIn(logs, 'pod-two', 'STREAMING')).toBe(true)
    expect(logs.isCompleted()).toBe(false)
    // Every line is there, and once: also those that were written meanwhile.
    for (const pod of ['pod-one', 'pod-two']) {
      const lines = linesOf(logs, pod)
      const { podLogs } = await gateway.data(
        `{ podLogs(${over}, where: { name: { eq: "${pod}" } }, tailLines: 5000) { lines { time text } } }`,
      )
      const whole = (podLogs as Logs).lines.map(({ time, text }) => `${time} ${text}`)
      const from = whole.indexOf(lines[0] ?? '')
      expect(lines).toEqual(whole.slice(from, from + lines.length))
    }
  })

  it('a pod that was deleted meanwhile has ended, and one that was made is followed', async () => {
    const logs = followLogs(gateway.connect(), over)
    await cut(logs)
    removePod(simulators.two.storage, 'pod-two')
    putPod(simulators.two.storage, 'pod-new', running(0, new Date()), { linesPerSecond: 50 })
    await untilMore(logs, 'pod-one')
    expect(isIn(logs, 'pod-two', 'ENDED')).toBe(false)
    await proxies.two.listen()
    await logs.until('the end of the pod', () => isIn(logs, 'pod-two', 'ENDED'))
    expect(logs.streams().find(({ pod }) => pod === 'pod-two')?.reason).toBe('PodDeleted')
    await untilMore(logs, 'pod-new')
    expect(linesOf(logs, 'pod-new')[0]).toContain('starting app')
  })

  it('a container that crashed meanwhile brings the end of its former run, then the next one', async () => {
    const logs = followLogs(gateway.connect(), over)
    await cut(logs)
    await untilMore(logs, 'pod-one')
    const [crashed, began] = [new Date(), new Date(Date.now() + 1)]
    const terminated = {
      ...exit,
      startedAt: startedAt.toISOString(),
      finishedAt: crashed.toISOString(),
    }
    changePod(simulators.two.storage, 'pod-two', {
      ...running(1, began),
      lastState: { terminated },
    })
    await untilMore(logs, 'pod-one')
    await proxies.two.listen()
    await logs.until('the next run', () =>
      linesOf(logs, 'pod-two').some((line) => line.includes('starting app')),
    )
    await untilMore(logs, 'pod-two')
    const lines = linesOf(logs, 'pod-two')
    const end = lines.findIndex((line) => line.includes('queue.dsn'))
    expect(end).toBeGreaterThan(0)
    expect(lines.findIndex((line) => line.includes('starting app'))).toBeGreaterThan(end)
    expect(new Set(lines).size).toBe(lines.length)
  })

  it('a subscription begins without the cluster, and brings its lines once it is back', async () => {
    await gateway.data(`{ pods(${over}) { totalCount } }`)
    await proxies.two.refuse()
    const logs = followLogs(gateway.connect(), over)
    await untilMore(logs, 'pod-one')
    await logs.until('the gap', () => gaps(logs).length > 0)
    await proxies.two.listen()
    await untilMore(logs, 'pod-two')
    await logs.until('the end of the gap', () => gaps(logs).length === 0)
    expect(logs.errors()).toEqual([])
  })

  it('a query brings the lines of the others, and names the cluster', async () => {
    await gateway.data(`{ pods(${over}) { totalCount } }`)
    await proxies.two.refuse()
    const query = `{ podLogs(${over}, tailLines: 5) { ${logFields} } }`
    const read = async (): Promise<Logs> => (await gateway.query(query)).data?.podLogs
    await expect
      .poll(async () => (await read())?.incomplete)
      .toEqual([{ cluster: 'two', code: 'CLUSTER_UNREACHABLE' }])
    const { lines, streams } = await read()
    expect(new Set(lines.map(({ pod }) => pod))).toEqual(new Set(['pod-one']))
    expect(lines).toHaveLength(5)
    // Its pods are known, and their logs are not.
    for (const { pod, state, reason } of streams ?? [])
      expect([pod, state, reason]).toEqual(
        pod === 'pod-one'
          ? ['pod-one', 'ENDED', null]
          : ['pod-two', 'FAILED', 'CLUSTER_UNREACHABLE'],
      )
  })
})
