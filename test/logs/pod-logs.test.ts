import { resources } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { freshForEachTest } from '../support/served-simulator.ts'
import { followLogs, isIn, logFields, type Logs } from './followed-logs.ts'
import {
  changePod,
  failed,
  namespace,
  putDeployment,
  putNodes,
  putPod,
  removePod,
  running,
} from './small-town.ts'

const there = freshForEachTest({ simulator: { populate: putNodes } })
const storage = () => there.cluster.storage
const all = `namespace: "${namespace}"`

const idOf = async (field: string, name: string): Promise<string> => {
  const at = `namespace: "${namespace}", name: "${name}"`
  const { found } = await there.gateway.data(`{ found: ${field}(${at}) { id } }`)
  return found.id as string
}

describe('The query podLogs', () => {
  const read = async (args: string): Promise<Logs> => {
    const { podLogs } = await there.gateway.data(`{ podLogs(${args}) { ${logFields} } }`)
    return podLogs as Logs
  }

  it('brings the last lines of all containers, init containers too, in the order of time', async () => {
    const done = {
      terminated: {
        exitCode: 0,
        reason: 'Completed',
        startedAt: '2026-01-01T00:00:00Z',
        finishedAt: '2026-01-01T00:00:05Z',
      },
    }
    putPod(storage(), 'one', running(0), { init: { state: done } })
    putPod(storage(), 'two', running(0))
    const { lines, streams, skipped } = await read(`${all}, tailLines: 5`)
    expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).toSorted())
    const places = lines.map(({ pod, container }) => `${pod}/${container}`)
    expect([...new Set(places)].toSorted()).toEqual(['one/app', 'one/prepare', 'two/app'])
    expect(places.filter((place) => place === 'two/app')).toHaveLength(5)
    expect(lines.find(({ container }) => container === 'app')?.fields).toMatchObject({
      level: expect.any(String),
    })
    expect(lines.find(({ container }) => container === 'prepare')?.fields).toBeNull()
    expect(streams?.map(({ state, reason }) => `${state} ${reason}`)).toEqual([
      'ENDED Completed',
      'ENDED null',
      'ENDED null',
    ])
    expect(skipped).toBe(0)
  })

  it('brings what a crashed container wrote last, and the run before', async () => {
    const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }
    putPod(storage(), 'crashing', { state: waiting, lastState: failed(3), restartCount: 4 })
    const now = await read(`${all}, contains: "queue.dsn is not set"`)
    expect(now.lines).toHaveLength(1)
    expect(now.streams).toMatchObject([{ state: 'ENDED', reason: 'CrashLoopBackOff' }])
    const { lines } = await read(`${all}, previous: true, timestamps: true`)
    expect(lines.at(-1)?.text).toBe(`${lines.at(-1)?.time} ${now.lines[0]?.text}`)
  })

  it('names the containers that have written nothing, and why', async () => {
    putPod(storage(), 'pulling', { state: { waiting: { reason: 'ImagePullBackOff' } } })
    putPod(storage(), 'first', running(0))
    const { streams } = await read(`${all}, tailLines: 1`)
    expect(streams).toMatchObject([
      { pod: 'first', state: 'ENDED' },
      { pod: 'pulling', state: 'WAITING', reason: 'ImagePullBackOff' },
    ])
    const before = await read(`${all}, previous: true`)
    expect(before.streams?.map(({ reason }) => reason)).toEqual(['NoPreviousRun', 'NoPreviousRun'])
  })

  it('since is a time or a duration', async () => {
    putPod(storage(), 'one', running(0))
    const recent = await read(`${all}, since: "10s"`)
    const earlier = await read(`${all}, since: "1m30s"`)
    expect(recent.lines.length).toBeGreaterThan(100)
    expect(earlier.lines.length).toBeGreaterThan(recent.lines.length)
    const middle = earlier.lines[500]?.time ?? ''
    const exact = await read(`${all}, since: "${middle.slice(0, 23)}Z", tailLines: 5000`)
    expect(exact.lines.every(({ time }) => time >= middle.slice(0, 23))).toBe(true)
    expect(exact.lines.length).toBeGreaterThan(0)
  })

  it('a node that is down is an error where nothing else can be read', async () => {
    putPod(storage(), 'lost', running(0), { node: 'down' })
    const { errors } = await there.gateway.query(`{ podLogs(${all}) { ${logFields} } }`)
    expect(errors).toMatchObject([{ extensions: { code: 'NODE_UNREACHABLE', type: 'Pod' } }])
    putPod(storage(), 'fine', running(0))
    await expect
      .poll(async () => (await read(`${all}, tailLines: 1`)).streams)
      .toMatchObject([
        { pod: 'fine', state: 'ENDED' },
        { pod: 'lost', state: 'FAILED', reason: 'NODE_UNREACHABLE' },
      ])
  })

  it.each([
    ['', 'ids'],
    ['cluster: "one"', 'ids'],
    [`${all}, tailLines: -1`, 'tailLines'],
    [`${all}, tailLines: 1000000`, 'tailLines'],
    [`${all}, since: "yesterday"`, 'since'],
    [`${all}, since: "0s"`, 'since'],
    [`${all}, contains: ""`, 'contains'],
    [`${all}, container: "proxy"`, 'container'],
    [`${all}, ids: ["x"]`, 'namespace'],
    ['ids: []', 'ids'],
  ])('podLogs(%s) is refused with the name of the argument', async (args, argument) => {
    putPod(storage(), 'one', running(0))
    const field = args === '' ? 'podLogs' : `podLogs(${args})`
    const { errors } = await there.gateway.query(`{ ${field} { lines { text } } }`)
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
    const live = followLogs(there.gateway.connect(), args === '' ? 'ids: null' : args)
    await live.until('refusal', () => live.errors().length > 0)
    expect(live.errors()).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
  })

  it('an id of something without pods is refused, and one that is gone is not found', async () => {
    putDeployment(storage(), 'web')
    const id = await idOf('deployment', 'web')
    storage().delete(resources.deployments, namespace, 'web')
    const errorsOf = async (one: string): Promise<unknown> =>
      (await there.gateway.query(`{ podLogs(ids: ["${one}"]) { skipped } }`)).errors
    await expect
      .poll(() => errorsOf(id))
      .toMatchObject([{ extensions: { code: 'NOT_FOUND', argument: 'ids' } }])
    storage().create(resources.leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'lease', namespace },
    })
    expect(await errorsOf(await idOf('lease', 'lease'))).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', argument: 'ids' } },
    ])
  })
})

describe('The subscription podLogs', () => {
  it('follows a rollout: the new pod from its first line, the old one to its last', async () => {
    const [, set] = putDeployment(storage(), 'web')
    const owner = set as NonNullable<typeof set>
    putPod(storage(), 'web-old', running(0), { owner })
    const logs = followLogs(there.gateway.connect(), `ids: ["${await idOf('deployment', 'web')}"]`)
    await logs.until('lines of the old pod', () => logs.lines.length > 5)
    expect(isIn(logs, 'web-old', 'STREAMING')).toBe(true)
    putPod(storage(), 'web-new', { state: { waiting: { reason: 'ContainerCreating' } } }, { owner })
    await logs.until('the new container', () => isIn(logs, 'web-new', 'WAITING'))
    changePod(storage(), 'web-new', running(0, new Date()), { owner })
    await logs.until('lines of the new pod', () => logs.lines.some(({ pod }) => pod === 'web-new'))
    const first = logs.lines.find(({ pod }) => pod === 'web-new')
    expect(first?.text).toContain('starting app')
    removePod(storage(), 'web-old')
    await logs.until('the end of the old pod', () => isIn(logs, 'web-old', 'ENDED'))
    expect(logs.streams().find(({ pod }) => pod === 'web-old')?.reason).toBe('PodDeleted')
    expect(isIn(logs, 'web-new', 'STREAMING')).toBe(true)
    for (const { lines } of logs.frames) {
      expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).toSorted())
    }
  })

  it('goes on with the next run of a container that crashes, and no line comes twice', async () => {
    putPod(storage(), 'one', running(0))
    const logs = followLogs(there.gateway.connect(), `${all}, tailLines: 1`)
    await logs.until('lines', () => logs.lines.length > 5)
    const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }
    changePod(storage(), 'one', { state: waiting, lastState: failed(0), restartCount: 0 })
    await logs.until('the reason', () => logs.lines.at(-1)?.text.includes('queue.dsn') === true)
    await logs.until('the wait', () => isIn(logs, 'one', 'WAITING'))
    expect(logs.streams()).toMatchObject([{ reason: 'CrashLoopBackOff' }])
    changePod(storage(), 'one', { ...running(1, new Date()), lastState: failed(0) })
    await logs.until('the next run', () => logs.lines.at(-1)?.text.includes('job') === true)
    const keys = logs.lines.map(({ time, text }) => `${time} ${text}`)
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('goes on after the API server was gone, with every line once', async () => {
    putPod(storage(), 'one', running(0), { linesPerSecond: 100 })
    const logs = followLogs(there.gateway.connect(), `${all}, tailLines: 1`)
    await logs.until('lines', () => logs.lines.length > 20)
    there.cluster.faults.inject({ fault: { type: 'cut' } })
    await logs.until('the failure', () => isIn(logs, 'one', 'FAILED'))
    expect(logs.streams()[0]?.reason).toBe('CLUSTER_UNREACHABLE')
    const before = logs.lines.length
    there.cluster.faults.inject({ fault: { type: 'mend' } })
    await logs.until('further lines', () => logs.lines.length > before + 20)
    expect(logs.streams()).toMatchObject([{ state: 'STREAMING', reason: null }])
    const keys = logs.lines.map(({ time, text }) => `${time} ${text}`)
    expect(new Set(keys).size).toBe(keys.length)
    // What the container has written meanwhile is there: reading it now gives the same lines.
    const [first] = logs.lines
    const args = `${all}, tailLines: 5000`
    const { podLogs } = await there.gateway.data(`{ podLogs(${args}) { lines { time text } } }`)
    const whole = (podLogs as Logs).lines.map(({ time, text }) => `${time} ${text}`)
    const from = whole.indexOf(`${first?.time} ${first?.text}`)
    expect(keys).toEqual(whole.slice(from, from + keys.length))
  })

  it('only lines that contain the text come', async () => {
    putPod(storage(), 'one', running(0), { linesPerSecond: 200 })
    const logs = followLogs(there.gateway.connect(), `${all}, contains: "job was slow"`)
    await logs.until('lines', () => logs.lines.length > 3)
    expect(logs.lines.every(({ text }) => text.includes('job was slow'))).toBe(true)
  })

  it('the runs before the last restart come once, and it completes', async () => {
    putPod(storage(), 'one', { ...running(1), lastState: failed(0) })
    const logs = followLogs(there.gateway.connect(), `${all}, previous: true`)
    await logs.until('the end', () => logs.isCompleted())
    expect(logs.lines.at(-1)?.text).toContain('queue.dsn is not set')
    expect(logs.streams()).toMatchObject([{ state: 'ENDED' }])
  })
})
