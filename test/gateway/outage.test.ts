import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { endlessBackoff } from '../support/informer.ts'

const kinds = ['pods', 'services', 'configMaps', 'nodes', 'deployments', 'ingresses']
const states = `{ gatewayClusters { resources(loaded: true) { state } } }`

async function statesOf(gateway: ServedGateway): Promise<string[]> {
  const { gatewayClusters } = await gateway.data(states)
  return gatewayClusters[0].resources.map(({ state }: { state: string }) => state)
}

it('While the API server is away, /readyz says how many caches are behind, and when it is back, all of them are fresh again', async () => {
  await using simulator = await startSimulator()
  await using proxy = await startCutProxy(Number(new URL(simulator.url).port))
  await using gateway = await serveGateway({
    clusters: [{ name: 'one', server: `http://127.0.0.1:${proxy.port}` }],
    // What breaks right after it was opened is asked for again at once, however long a back-off is.
    reflector: { backoff: endlessBackoff, shortWatchMs: 0 },
  })
  await gateway.data(`{ ${kinds.map((kind) => `${kind} { totalCount }`).join(' ')} }`)
  const ready = async (): Promise<[number, string]> => {
    const response = await fetch(new URL('/readyz', gateway.url))
    return [response.status, await response.text()]
  }
  await expect.poll(() => statesOf(gateway)).toEqual(kinds.map(() => 'SYNCED'))
  expect(await ready()).toEqual([200, 'ok\n'])
  await proxy.refuse()
  await expect
    .poll(ready)
    .toEqual([200, expect.stringMatching(/^ok\ncaches behind: 6, by up to \d+ s\n$/)])
  const refusals = () =>
    gateway.log.filter((line) => /: (list|watch) failed: .*ECONNREFUSED/.test(line))
  await expect.poll(() => refusals().length).toBeGreaterThanOrEqual(kinds.length)
  await proxy.listen()
  await expect.poll(() => statesOf(gateway)).toEqual(kinds.map(() => 'SYNCED'))
  await expect.poll(ready).toEqual([200, 'ok\n'])
})

it('A kind that was never loaded fails at once while the API server is known to be away, and is there once it is back', async () => {
  await using simulator = await startSimulator()
  await using proxy = await startCutProxy(Number(new URL(simulator.url).port))
  await using gateway = await serveGateway({
    clusters: [{ name: 'one', server: `http://127.0.0.1:${proxy.port}` }],
    // Longer than the test waits for an answer.
    limits: { syncDeadlineMs: 600_000, operationDeadlineMs: 600_000 },
  })
  await gateway.data('{ pods { totalCount } }')
  await proxy.refuse()
  const cluster = async (): Promise<string> =>
    (await gateway.data('{ gatewayClusters { state } }')).gatewayClusters[0].state
  await expect.poll(cluster).toBe('UNREACHABLE')
  const answer = await gateway.query('{ services { totalCount } pods { totalCount } }')
  expect(answer.data).toEqual({ services: null, pods: { totalCount: expect.any(Number) } })
  expect(answer.errors).toMatchObject([
    { path: ['services'], extensions: { code: 'CLUSTER_UNREACHABLE', type: 'Service' } },
  ])
  await proxy.listen()
  await expect
    .poll(async () => (await gateway.query('{ services { totalCount } }')).errors, {
      timeout: 60_000,
    })
    .toBeUndefined()
})
