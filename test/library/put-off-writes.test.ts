import { ConnectionError, createApiServer, type ObjectClient } from 'informerql/cluster'
import { ApiStatusError, createWorkQueue, resources, runWorkers } from 'informerql/informer'
import type { ConfigMap } from 'informerql/kubernetes'
import { type RequestFault, type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'

const metadata = { namespace: 'default', name: 'a' }
const putOff = (retryAfterSeconds: number): RequestFault => ({
  type: 'status',
  code: 429,
  retryAfterSeconds,
})

describe('A write that the server puts off', () => {
  let simulator: Simulator
  let apiServer: ReturnType<typeof createApiServer>
  let client: ObjectClient<ConfigMap>
  beforeEach(async () => {
    simulator = await startSimulator()
    apiServer = createApiServer({ server: simulator.url })
    client = apiServer.client(resources.configMaps, { fieldManager: 'tests' })
  })
  afterEach(async () => {
    await apiServer[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  it('is sent again after its Retry-After, and only then', async () => {
    const made = await client.create({ metadata })
    const writes = [
      () => client.update({ ...made, data: { n: '1' } }),
      () => client.patch(metadata, { merge: { data: { n: '2' } } }),
      () => client.apply({ metadata, data: { n: '3' } }, { force: true }),
      () => client.delete(metadata),
    ]
    for (const write of writes) {
      const done: string[] = []
      simulator.faults.inject({ fault: putOff(1) })
      const late = write().then(() => done.push('late'))
      await expect.poll(() => simulator.faults.pending()).toEqual([])
      simulator.faults.inject({ fault: putOff(0) })
      await client.apply({ metadata: { ...metadata, name: 'b' } })
      done.push('at once')
      await late
      expect(done, String(write)).toEqual(['at once', 'late'])
    }
  })

  it('is told of at once where the deadline comes before, and where no time is given', async () => {
    const refusals: readonly [RequestFault, number | undefined][] = [
      [putOff(31), 31_000],
      [{ type: 'status', code: 429 }, undefined],
      [{ type: 'status', code: 503, retryAfterSeconds: 1 }, 1000],
    ]
    for (const [fault, retryAfterMs] of refusals) {
      simulator.faults.inject({ fault })
      const refusal = await failureOf(client.create({ metadata }))
      expect(refusal).toBeInstanceOf(ApiStatusError)
      expect(refusal).toMatchObject({ retryAfterMs })
    }
  })

  it('ends with its connection, and with its signal', async () => {
    simulator.faults.inject({ fault: putOff(29), times: 2 })
    const stop = new AbortController()
    const aborted = failureOf(client.create({ metadata }, { signal: stop.signal }))
    const closed = failureOf(client.create({ metadata }))
    await expect.poll(() => simulator.faults.pending()).toEqual([])
    stop.abort(new Error('enough'))
    expect(await aborted).toBe(stop.signal.reason)
    await apiServer[Symbol.asyncDispose]()
    expect(await closed).toBeInstanceOf(ConnectionError)
  })

  it('is left to the worker where it takes longer: its key comes back when the server asks for it', async () => {
    simulator.faults.inject({ fault: [putOff(300), putOff(9_999_999)] })
    const delays: number[] = []
    const observer = { retried: (_: string, delayMs: number) => void delays.push(delayMs) }
    await using queue = createWorkQueue({ observer })
    const stop = new AbortController()
    const running = runWorkers(
      queue,
      1,
      async (name) => void (await client.create({ metadata: { ...metadata, name } })),
      stop.signal,
      { onFailure: () => undefined },
    )
    for (const key of ['a', 'b']) queue.add(key)
    await expect.poll(() => delays).toHaveLength(2)
    // No longer than the longest delay of the rate limiter.
    expect(delays).toEqual([300_000, 1_000_000])
    stop.abort()
    expect(await running).toEqual({ abandoned: ['a', 'b'] })
  })
})
