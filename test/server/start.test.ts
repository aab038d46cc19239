import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startSimulatedCluster } from '../gateway/test-cluster.ts'
import { startProgram } from '../support/example-process.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { freePort } from '../support/service-proxy.ts'
import { post } from './small-api.ts'

/** Servers that take connections and never say a word. */
class BlackHoles implements AsyncDisposable {
  readonly #servers: readonly Server[]
  readonly #taken: Socket[][]

  private constructor(servers: readonly Server[]) {
    this.#servers = servers
    this.#taken = servers.map(() => [])
    for (const [at, server] of servers.entries()) {
      server.on('connection', (socket) => this.#taken[at]?.push(socket.on('error', () => {})))
    }
  }

  static async open(count: number): Promise<BlackHoles> {
    const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
    const holes = new BlackHoles(servers)
    await Promise.all(servers.map((server) => once(server, 'listening')))
    return holes
  }

  get urls(): readonly string[] {
    return this.#servers.map((one) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`)
  }

  /** The first connection of each; `undefined` where there is none yet. */
  get first(): readonly (Socket | undefined)[] {
    return this.#taken.map(([socket]) => socket)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#taken.flat()) socket.destroy()
    await Promise.all(this.#servers.map((server) => once(server.close(), 'close')))
  }
}

describe('informerql serve, while six of its forty clusters are black holes', () => {
  it('is alive before any cluster has answered, refuses operations until it can answer them, and waits for no black hole', async () => {
    await using stack = new AsyncDisposableStack()
    const simulator = stack.use(await startSimulator())
    const holes = stack.use(await BlackHoles.open(6))
    const folder = await mkdtemp(join(tmpdir(), 'informerql-start-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const config = join(folder, 'informerql.yaml')
    const clusters = [
      ...holes.urls.map((server, at) => ({ name: `black-hole-${at}`, server })),
      ...Array.from({ length: 34 }, (_, at) => ({ name: `good-${at}`, server: simulator.url })),
    ]
    await writeFile(config, JSON.stringify({ clusters }))
    const port = await freePort()
    // The good clusters answer when the test has looked.
    simulator.faults.inject({ fault: { type: 'hang' } })
    const args = ['src/main.ts', 'serve', '--config', config, '--port', String(port)]
    const gateway = stack.use(startProgram(process.execPath, args, { timeout: 120_000 }))
    const url = `http://127.0.0.1:${port}`
    const status = (path: string): Promise<number> =>
      fetch(url + path).then(
        (response) => response.status,
        () => 0,
      )
    await expect.poll(() => status('/livez'), { timeout: 60_000 }).toBe(200)
    await expect.poll(() => holes.first).not.toContain(undefined)

    expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503])
    const refused = await post(`${url}/graphql`, { query: '{ namespaces { totalCount } }' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({
      errors: [{ message: 'The gateway is starting.', extensions: { retryAfterMs: 1_000 } }],
    })
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, ['graphql-transport-ws'])
    const [failure] = (await once(socket, 'error')) as [Error]
    expect(failure.message).toContain('503')

    simulator.faults.inject({ fault: { type: 'mend' } })
    await gateway.printed('informerql answers at')
    expect(await status('/readyz')).toBe(200)
    const query = '{ gatewayClusters { name state } namespaces(cluster: "good-33") { totalCount } }'
    const { data } = (await (await post(`${url}/graphql`, { query })).json()) as {
      data: { gatewayClusters: { state: string }[]; namespaces: { totalCount: number } }
    }
    expect(data.gatewayClusters.filter(({ state }) => state === 'CONNECTED')).toHaveLength(34)
    expect(data.namespaces.totalCount).toBeGreaterThan(0)
    // The gateway still waits for the first answer of each black hole.
    expect(holes.first.map((one) => one?.readyState)).toEqual(Array(6).fill('open'))
  })
})

describe('/readyz', () => {
  const lists = { resource: 'configmaps', verb: 'list' } as const
  const readyz = async ({ url }: ServedGateway): Promise<readonly [number, string]> => {
    const response = await fetch(new URL('/readyz', url))
    return [response.status, await response.text()]
  }

  it('waits for the kinds of preload, and no query after it meets a kind that is still loading', async () => {
    await using simulator = await startSimulator()
    simulator.faults.inject({
      fault: { type: 'status', code: 500 },
      match: lists,
      times: 1_000_000,
    })
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      preload: ['configMaps', 'pods'],
      limits: { syncDeadlineMs: 0 },
    })
    const waiting = [503, expect.stringContaining('cluster one: configMaps is still loading')]
    await expect.poll(() => readyz(gateway)).toEqual(waiting)
    simulator.faults.clear()
    await expect.poll(() => readyz(gateway)).toEqual([200, 'ok\n'])
    const { data } = await gateway.query('{ configMaps { totalCount } pods { totalCount } }')
    expect(data).toEqual({
      configMaps: { totalCount: expect.any(Number) },
      pods: { totalCount: expect.any(Number) },
    })
  })

  it('waits for preload no longer than preloadDeadlineMs, and says so in the log', async () => {
    await using simulator = await startSimulator()
    simulator.faults.inject({
      fault: { type: 'status', code: 500 },
      match: lists,
      times: 1_000_000,
    })
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      preload: ['configMaps'],
      preloadDeadlineMs: 1,
    })
    await expect.poll(() => readyz(gateway)).toEqual([200, 'ok\n'])
    expect(gateway.log.join('\n')).toContain(
      'cluster one: configMaps is still loading after 1 ms; the gateway is ready without it',
    )
  })

  it('waits for no kind that the gateway may not read, and for no cluster that cannot be reached', async () => {
    const reader = { token: 'reader-token', user: 'reader' }
    await using cluster = await startSimulatedCluster({}, [reader])
    await using lost = await startSimulator()
    lost.faults.inject({ fault: { type: 'status', code: 500 }, match: lists, times: 1_000_000 })
    await using gateway = await serveGateway({
      clusters: [
        { name: 'good', ...(await cluster.selectionFor(reader)) },
        { name: 'lost', server: lost.url },
      ],
      preload: ['configMaps', 'secrets'],
    })
    const waiting = 'not ready\ncluster lost: configMaps is still loading\n'
    await expect.poll(() => readyz(gateway)).toEqual([503, waiting])
    lost.faults.inject({ fault: { type: 'cut' } })
    await expect.poll(() => readyz(gateway)).toEqual([200, 'ok\n'])
  })
})
