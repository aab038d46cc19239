import { type ApiServer, createApiServer } from 'informerql/cluster'
import {
  type ControllerOptions,
  createControllerMetrics,
  runController,
  type RunOptions,
} from 'informerql/controller'
import { resources } from 'informerql/informer'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { runCandidate } from './candidates.ts'

const { configMaps } = resources
const place = { namespace: 'default', name: 'one' }
const lease = { namespace: 'default', name: 'lease' }
/** So that the lease is soon lost. */
const timing = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 50 }

interface Setting extends AsyncDisposable {
  readonly simulator: Simulator
  /** Of the controller, through the proxy. */
  readonly apiServer: ApiServer
  readonly proxy: CutProxy
  /** Of rivals and of the test. */
  readonly near: ApiServer
  run(reconcile: ControllerOptions['reconcile'], options?: RunOptions): Promise<void>
}

async function setting(): Promise<Setting> {
  await using parts = new AsyncDisposableStack()
  const simulator = parts.use(await startSimulator())
  const proxy = parts.use(await startCutProxy(Number(new URL(simulator.url).port)))
  const near = parts.use(createApiServer({ server: simulator.url }))
  const apiServer = parts.use(createApiServer({ server: `http://127.0.0.1:${proxy.port}` }))
  await near.client(configMaps).create({ metadata: place, data: { writer: 'nobody' } })
  const all = parts.move()
  return {
    simulator,
    proxy,
    near,
    apiServer,
    run: async (reconcile, options) =>
      await runController({
        apiServer,
        log: { info() {}, warn() {}, error() {} },
        leaderElection: { ...lease, ...timing },
        for: { resource: configMaps, informer: { fieldSelector: 'metadata.name=one' } },
        reconcile,
        ...options,
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

describe('A controller that loses its lease', () => {
  it('aborts its reconciles and their requests before a rival leads', async () => {
    await using test = await setting()
    const ended: number[] = []
    const began = Promise.withResolvers<void>()
    const run = test.run(async (_, { client, signal }) => {
      // A write that hangs with the network.
      const written = new Promise((resolve) => signal.addEventListener('abort', resolve))
      began.resolve()
      await written
      await failureOf(client(configMaps).patch(place, { merge: { data: { writer: 'loser' } } }))
      ended.push(performance.now())
    })
    await began.promise
    await using rival = runCandidate({ apiServer: test.near, ...lease, ...timing, identity: 'two' })
    test.proxy.hang()
    expect(await failureOf(run)).toMatchObject({ reason: 'expired', workEnded: true })
    await rival.leads()
    expect(ended).toHaveLength(1)
    expect(rival.startedAtMs).toBeGreaterThan(ended[0] ?? Number.POSITIVE_INFINITY)
    test.proxy.flow()
    expect((await test.near.client(configMaps).get(place)).data).toEqual({ writer: 'nobody' })
  })

  it('rejects when the lease runs out, though a reconcile hangs on', async () => {
    await using test = await setting()
    const began = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const written = Promise.withResolvers<unknown>()
    const run = test.run(async (_, { client }) => {
      began.resolve()
      await goOn.promise
      const merge = { data: { writer: 'loser' } }
      written.resolve(failureOf(client(configMaps).patch(place, { merge })))
    })
    await began.promise
    test.proxy.hang()
    expect(await failureOf(run)).toMatchObject({ reason: 'expired', workEnded: false })
    test.proxy.flow()
    goOn.resolve()
    expect(await written.promise).toBeInstanceOf(Error)
    expect((await test.near.client(configMaps).get(place)).data).toEqual({ writer: 'nobody' })
  })

  it('sends nothing after it has blocked its process for longer than the lease', async () => {
    await using test = await setting()
    const written = Promise.withResolvers<unknown>()
    const run = test.run((_, { client }) => {
      const endMs = performance.now() + timing.leaseDurationMs
      while (performance.now() < endMs);
      const merge = { data: { writer: 'loser' } }
      written.resolve(failureOf(client(configMaps).patch(place, { merge })))
    })
    expect(await written.promise).toMatchObject({ name: 'AbortError' })
    expect(await failureOf(run)).toMatchObject({ reason: 'expired' })
    expect((await test.near.client(configMaps).get(place)).data).toEqual({ writer: 'nobody' })
  })
})

describe('The metrics of a controller', () => {
  it('show who leads, slow renewals, and Events that were not written', async () => {
    await using test = await setting()
    const metrics = createControllerMetrics()
    const stop = new AbortController()
    const refusal = { type: 'status', code: 403 } as const
    test.simulator.faults.inject({ fault: refusal, match: { resource: 'events' } })
    let reconciles = 0
    const run = test.run(
      (_, { event }) => {
        reconciles += 1
        event({ reason: 'Seen', action: 'Look' })
      },
      { metrics, signal: stop.signal, leaderElection: { ...lease, retryPeriodMs: 50 } },
    )
    const shows = async (text: string): Promise<void> =>
      await expect.poll(() => metrics.text()).toContain(`\n${text}\n`)
    await shows('controller_events_dropped_total{controller="configmap",reason="refused"} 1')
    await shows('leader_election_master_status 1')
    await shows('leader_election_slowpath_total 0')
    const merge = { metadata: { annotations: { seen: 'yes' } } }
    await test.near.client(resources.leases).patch(lease, { merge })
    await shows('leader_election_slowpath_total 1')
    stop.abort()
    await run
    expect(reconciles).toBeGreaterThan(0)
    expect(metrics.text()).toContain('leader_election_master_status 0\n')
  })
})

describe('A controller that is stopped', () => {
  it.each([
    ['while it fills its caches', 'configmaps'],
    ['while it waits for the lease', 'leases'],
  ])('%s ends without an error', async (_, resource) => {
    await using test = await setting()
    const stop = new AbortController()
    const asked = Promise.withResolvers<void>()
    test.simulator.faults.inject({
      fault: { type: 'status', code: 503 },
      match: { resource },
      times: 1000,
    })
    const noted = (message: string): void => {
      if (resource === 'configmaps' || message.includes('lease')) asked.resolve()
    }
    let reconciles = 0
    const run = test.run(() => void (reconciles += 1), {
      signal: stop.signal,
      log: { info: noted, warn: noted, error: noted },
    })
    if (resource === 'leases') await asked.promise
    stop.abort()
    await run
    expect(reconciles).toBe(0)
  })
})
