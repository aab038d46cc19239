import { type ApiServer, createApiServer } from 'informerql/cluster'
import {
  createEventRecorder,
  type EventRecorder,
  eventRecorderDefaults,
  type EventRecorderOptions,
} from 'informerql/controller'
import { InvalidOptionError, type KubernetesObject, resources } from 'informerql/informer'
import type { EventsEvent } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, describeContract, newConfigMap, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'
import { until } from '../support/informer.ts'
import { startAnswerProxy } from './answer-proxy.ts'

const controller = 'example.com/order-controller'
const shipped = { reason: 'Shipped', action: 'Ship', note: 'on its way' } as const

/** A recorder, and what its observer was told of: `REASON count`, `dropped REASON why`. */
function recorderOf(
  apiServer: ApiServer,
  options: Partial<EventRecorderOptions> = {},
): { readonly recorder: EventRecorder; readonly told: string[] } {
  const told: string[] = []
  const recorder = createEventRecorder({
    apiServer,
    controller,
    observer: {
      written: ({ reason, series }) => told.push(`${reason} ${series?.count ?? 1}`),
      dropped: ({ reason }, why) => told.push(`dropped ${reason} ${why}`),
    },
    ...options,
  })
  return { recorder, told }
}

describeContract('The event recorder', (server) => {
  let apiServer: ApiServer
  let namespace: string
  beforeAll(async () => {
    apiServer = await openApiServer(server())
    namespace = await newNamespace(server())
  })
  afterAll(async () => apiServer[Symbol.asyncDispose]())

  const eventsOf = async (name: string, at = namespace): Promise<EventsEvent[]> => {
    const { json } = await ask(server(), `/apis/events.k8s.io/v1/namespaces/${at}/events`)
    const { items } = json as { items: EventsEvent[] }
    return items.filter(({ regarding }) => regarding?.name === name)
  }

  it('writes what has happened to an object, as the API wants it', async () => {
    const order: KubernetesObject = await newConfigMap(server(), namespace, 'order')
    await using parts = new AsyncDisposableStack()
    const { recorder } = recorderOf(apiServer)
    parts.use(recorder)
    recorder.record({
      ...shipped,
      regarding: order,
      related: { apiVersion: 'v1', kind: 'Pod', namespace, name: 'parcel' },
      type: 'Warning',
    })
    await recorder.flush({ deadlineMs: 20_000 })
    const [event, ...others] = await eventsOf('order')
    expect(others).toEqual([])
    expect(event).toMatchObject({
      ...shipped,
      type: 'Warning',
      reportingController: controller,
      reportingInstance: expect.stringMatching(/^order-controller-./),
      eventTime: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
      regarding: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace,
        name: 'order',
        uid: order.metadata.uid,
        resourceVersion: order.metadata.resourceVersion,
      },
      related: { apiVersion: 'v1', kind: 'Pod', namespace, name: 'parcel' },
    })
    expect(event?.series ?? null).toBeNull()
  })

  it('events about objects without a namespace are in default, whatever their names', async () => {
    const { recorder, told } = recorderOf(apiServer)
    const names = ['node-1', 'system:node:A_b', `${'x'.repeat(200)}.${'y'.repeat(52)}`, '::']
    for (const name of names) {
      recorder.record({ ...shipped, regarding: { apiVersion: 'v1', kind: 'Node', name } })
    }
    await recorder.close()
    expect(told).toEqual(names.map(() => 'Shipped 1'))
    for (const name of names) {
      const [event] = await eventsOf(name, 'default')
      expect(event?.regarding).toEqual({ apiVersion: 'v1', kind: 'Node', name })
    }
  })

  it('an event that repeats is one Event, whose series counts', async () => {
    const regarding = await newConfigMap(server(), namespace, 'again')
    const { recorder, told } = recorderOf(apiServer)
    recorder.record({ ...shipped, regarding })
    await recorder.flush({ deadlineMs: 20_000 })
    recorder.record({ ...shipped, regarding, note: 'once more' })
    await until(() => told.includes('Shipped 2'), 'the series has begun')
    // Other versions of the object make no difference.
    const { resourceVersion: _, ...metadata } = regarding.metadata
    for (let at = 0; at < 5; at += 1)
      recorder.record({ ...shipped, regarding: { ...regarding, metadata } })
    recorder.record({ ...shipped, regarding, type: 'Warning' })
    await recorder.close()
    expect(told.toSorted()).toEqual(['Shipped 1', 'Shipped 1', 'Shipped 2', 'Shipped 7'])
    const [event] = (await eventsOf('again')).filter(({ type }) => type === 'Normal')
    expect(event?.note).toBe('on its way')
    expect(event?.series).toEqual({
      count: 7,
      lastObservedTime: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
    })
  })

  it('an event that repeats before it is written needs one write', async () => {
    const regarding = await newConfigMap(server(), namespace, 'burst')
    const { recorder, told } = recorderOf(apiServer)
    recorder.record({ ...shipped, regarding })
    recorder.record({ ...shipped, regarding })
    recorder.record({ ...shipped, regarding })
    await recorder.close()
    const [event, ...others] = await eventsOf('burst')
    expect([event?.series?.count, others]).toEqual([3, []])
    expect(told.length).toBeLessThanOrEqual(2)
  })

  it('a series that has ended is told so, and the next event is a new one', async () => {
    const regarding = await newConfigMap(server(), namespace, 'ended')
    const { recorder, told } = recorderOf(apiServer, { seriesEndMs: 3000 })
    recorder.record({ ...shipped, regarding })
    await recorder.flush({ deadlineMs: 20_000 })
    recorder.record({ ...shipped, regarding })
    await until(() => told.includes('Shipped 2'), 'the series has begun')
    recorder.record({ ...shipped, regarding })
    recorder.record({ ...shipped, regarding })
    await until(() => told.includes('Shipped 4'), 'its last count')
    recorder.record({ ...shipped, regarding })
    await recorder.close()
    expect(told).toEqual(['Shipped 1', 'Shipped 2', 'Shipped 4', 'Shipped 1'])
    const counts = (await eventsOf('ended')).map(({ series }) => series?.count ?? 1)
    expect(new Set(counts)).toEqual(new Set([1, 4]))
  })

  it('an event that the server has forgotten is made again, with its count', async () => {
    const regarding = await newConfigMap(server(), namespace, 'forgotten')
    const { recorder } = recorderOf(apiServer)
    recorder.record({ ...shipped, regarding })
    await recorder.flush({ deadlineMs: 20_000 })
    const [{ metadata } = { metadata: { name: '' } }] = await eventsOf('forgotten')
    await apiServer.client(resources.eventsEvents).delete(metadata)
    recorder.record({ ...shipped, regarding })
    await recorder.close()
    const [event] = await eventsOf('forgotten')
    expect([event?.metadata.name, event?.series?.count]).toEqual([metadata.name, 2])
  })

  it('texts are as long as the API takes them: notes are cut, others refused', async () => {
    const regarding = await newConfigMap(server(), namespace, 'long')
    const { recorder, told } = recorderOf(apiServer)
    const longest = 'x'.repeat(128)
    recorder.record({ regarding, reason: longest, action: longest, note: 'ü'.repeat(600) })
    expect(() => recorder.record({ ...shipped, regarding, reason: `${longest}x` })).toThrow(
      /^reason is "xxx/,
    )
    expect(() => recorder.record({ ...shipped, regarding, action: '' })).toThrow(InvalidOptionError)
    await recorder.close()
    expect(told).toEqual([`${longest} 1`])
    const [event] = await eventsOf('long')
    expect(event?.note).toBe(`${'ü'.repeat(510)}…`)
  })

  it('one object has as many new events at once as are allowed, and leaves others theirs', async () => {
    const one = await newConfigMap(server(), namespace, 'noisy')
    const other = await newConfigMap(server(), namespace, 'calm')
    const { recorder, told } = recorderOf(apiServer, { burst: 3 })
    for (let at = 0; at < 5; at += 1) {
      recorder.record({ ...shipped, regarding: one, reason: `Reason${at}` })
    }
    recorder.record({ ...shipped, regarding: other })
    // Repetitions are only counted.
    recorder.record({ ...shipped, regarding: one, reason: 'Reason0' })
    await recorder.close()
    expect(told.filter((line) => line.startsWith('dropped'))).toEqual([
      'dropped Reason3 rate-limit',
      'dropped Reason4 rate-limit',
    ])
    expect((await eventsOf('noisy')).length).toBe(3)
    expect((await eventsOf('calm')).length).toBe(1)
  })
})

describe('The event recorder without an answer', () => {
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a' }
  const eventsIn = (simulator: Simulator): number =>
    [...simulator.storage.list({ group: 'events.k8s.io', version: 'v1', resource: 'events' })]
      .length

  it('keeps its events until the server is back', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    const { recorder, told } = recorderOf(apiServer)
    simulator.faults.inject({ fault: { type: 'cut' } })
    for (let at = 0; at < 10; at += 1) recorder.record({ ...shipped, regarding, reason: `R${at}` })
    await expect(recorder.flush({ deadlineMs: 50 })).rejects.toMatchObject({ code: 'DEADLINE' })
    simulator.faults.inject({ fault: { type: 'mend' } })
    await recorder.flush({ deadlineMs: 20_000 })
    expect(told.toSorted()).toEqual(Array.from({ length: 10 }, (_, at) => `R${at} 1`))
    expect(eventsIn(simulator)).toBe(10)
    await recorder.close()
  })

  it('drops what comes while too many wait, what waits too long, and the rest at its close', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    simulator.faults.inject({ fault: { type: 'hang' } })
    const { recorder, told } = recorderOf(apiServer, { maxQueued: 2, closeDeadlineMs: 100 })
    for (const reason of ['A', 'B', 'C']) recorder.record({ ...shipped, regarding, reason })
    expect(told).toEqual(['dropped C overflow'])
    await recorder.close()
    recorder.record({ ...shipped, regarding, reason: 'D' })
    expect(told.slice(1)).toEqual(['dropped A closed', 'dropped B closed', 'dropped D closed'])
    simulator.faults.inject({ fault: { type: 'mend' } })

    simulator.faults.inject({ fault: { type: 'cut' } })
    const late = recorderOf(apiServer, { retryDeadlineMs: 100 })
    late.recorder.record({ ...shipped, regarding })
    await late.recorder.flush({ deadlineMs: 20_000 })
    expect(late.told).toEqual(['dropped Shipped deadline'])
    await late.recorder.close()
    simulator.faults.inject({ fault: { type: 'mend' } })
  })

  it('does not repeat what the server refuses', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    const { recorder, told } = recorderOf(apiServer)
    simulator.faults.inject({
      fault: [
        { type: 'status', code: 503 },
        { type: 'status', code: 403 },
      ],
      match: { resource: 'events' },
    })
    recorder.record({ ...shipped, regarding })
    await recorder.flush({ deadlineMs: 20_000 })
    expect(told).toEqual(['dropped Shipped refused'])
    recorder.record({ ...shipped, regarding })
    await recorder.close()
    expect(told.slice(1)).toEqual(['Shipped 1'])
  })

  it('makes an event once, also when the answer to its making is lost', async () => {
    await using simulator = await startSimulator()
    await using proxy = await startAnswerProxy(simulator.url)
    await using apiServer = createApiServer({ server: proxy.url })
    const { recorder, told } = recorderOf(apiServer)
    proxy.lose('POST')
    recorder.record({ ...shipped, regarding })
    await recorder.flush({ deadlineMs: 20_000 })
    await recorder.close()
    expect([told, eventsIn(simulator)]).toEqual([['Shipped 1'], 1])
  })

  it('remembers so many events, and forgets the oldest', async () => {
    await using simulator = await startSimulator()
    await using apiServer = createApiServer({ server: simulator.url })
    const { recorder, told } = recorderOf(apiServer, { maxRemembered: 3 })
    for (const name of ['a', 'b', 'c', 'd', 'a']) {
      recorder.record({ ...shipped, regarding: { ...regarding, name } })
      await recorder.flush({ deadlineMs: 20_000 })
    }
    await recorder.close()
    expect(told).toEqual(Array.from({ length: 5 }, () => 'Shipped 1'))
  })
})

describe('The options of an event recorder', () => {
  const apiServer = createApiServer({ server: 'http://127.0.0.1:1' })

  it.each([
    [{ controller: '' }, 'controller'],
    [{ controller: 'Example.com/x' }, 'controller'],
    [{ controller: 'a b' }, 'controller'],
    [{ controller, instance: 'x'.repeat(129) }, 'instance'],
    [{ controller, maxQueued: 0 }, 'maxQueued'],
    [{ controller, bursts: 3 }, 'bursts'],
  ])('%j is refused', (options, option) => {
    const create = () => createEventRecorder({ apiServer, ...options })
    expect(create).toThrow(InvalidOptionError)
    expect(create).toThrow(new RegExp(option))
  })

  it.each([
    [{ ...shipped, regarding: { kind: 'Pod', name: 'a' } }, 'regarding.apiVersion'],
    [{ ...shipped, regarding: { apiVersion: 'v1', kind: 'Pod' } }, 'regarding.name'],
    [{ ...shipped, type: 'Error' as 'Warning' }, 'type'],
    [{ ...shipped, message: 'x' }, 'message'],
  ])('an event %j is refused', (event, option) => {
    const recorder = createEventRecorder({ apiServer, controller })
    const regarding = { apiVersion: 'v1', kind: 'Pod', name: 'a' }
    expect(() => recorder.record({ regarding, ...event })).toThrow(new RegExp(option))
  })

  it('are client-go’s unless given', () => {
    expect(eventRecorderDefaults).toMatchObject({
      maxQueued: 1000,
      maxRemembered: 4096,
      burst: 25,
      refillMs: 300_000,
      seriesEndMs: 360_000,
      seriesRefreshMs: 1_800_000,
    })
  })
})
