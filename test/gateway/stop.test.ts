import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createGateway } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { afterEach, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestUser } from './test-cluster.ts'

const reader: TestUser = { token: 'reader-token', user: 'reader' }

/** Timers that would keep the process. */
const timers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('a stop ends everything at once', () => {
  const sockets: Socket[] = []
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
  })

  /** Somebody who takes connections and says nothing. */
  const silentServer = async (): Promise<{ port: number } & AsyncDisposable> => {
    const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      port: (server.address() as AddressInfo).port,
      [Symbol.asyncDispose]: async () => {
        for (const socket of sockets) socket.destroy()
        server.close()
        await once(server, 'close')
      },
    }
  }

  it('a preload that is forbidden leaves no timer behind', async () => {
    await using cluster = await startSimulatedCluster({}, [reader])
    const selection = await cluster.selectionFor(reader)
    const before = timers()
    const gateway = await createGateway({
      clusters: [{ name: 'one', ...selection }],
      preload: ['secrets', 'deployments', 'pods'],
    })
    await gateway[Symbol.asyncDispose]()
    expect(timers()).toBeLessThanOrEqual(before)
  })

  it('a start whose cluster does not answer ends with its signal', async () => {
    await using silent = await silentServer()
    const stop = new AbortController()
    const starting = createGateway({
      clusters: [{ name: 'silent', server: `http://127.0.0.1:${silent.port}` }],
      // Longer than the test may take.
      connection: { requestDeadlineMs: 600_000 },
      signal: stop.signal,
    })
    const reason = new Error('enough')
    const outcome = starting.then(
      () => 'started',
      (error: unknown) => error,
    )
    await expect.poll(() => sockets.length).toBeGreaterThan(0)
    stop.abort(reason)
    expect(await outcome).toBe(reason)
  })

  it('a cluster that is being asked again holds up nothing', async () => {
    await using simulator = await startSimulator()
    await using silent = await silentServer()
    const port = 1
    const gateway = await createGateway({
      clusters: [
        { name: 'one', server: simulator.url },
        { name: 'silent', server: `http://127.0.0.1:${silent.port}` },
        { name: 'refused', server: `http://127.0.0.1:${port}` },
      ],
      connection: { requestDeadlineMs: 500 },
      retryMs: 1,
    })
    const asked = sockets.length
    await expect.poll(() => sockets.length).toBeGreaterThan(asked)
    await gateway[Symbol.asyncDispose]()
    const after = sockets.length
    // What the gateway had begun would come before these.
    for (let own = 1; own <= 10; own += 1) {
      const socket = connect(silent.port, '127.0.0.1')
      sockets.push(socket)
      await expect.poll(() => sockets.length).toBeGreaterThanOrEqual(after + 2 * own)
    }
    expect(sockets.length).toBe(after + 20)
  })

  it('whoever waits for a kind is told', async () => {
    await using simulator = await startSimulator()
    const match = { resource: 'pods', verb: 'list' } as const
    const fault = { type: 'half-open', afterBytes: 1 } as const
    simulator.faults.inject({ fault, match, times: 1_000 })
    const gateway = await createGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      limits: { syncDeadlineMs: 600_000 },
    })
    const before = timers()
    const answer = gateway.planned.answer({ query: '{ pods { totalCount } }' })
    await gateway[Symbol.asyncDispose]()
    expect(JSON.parse((await answer) ?? '{}')).toMatchObject({
      errors: [{ path: ['pods'], extensions: { code: 'NOT_SYNCED' } }],
    })
    expect(timers()).toBeLessThanOrEqual(before)
  })
})
