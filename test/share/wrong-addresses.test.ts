import { expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { freePort, SharedGateways } from './shared-gateways.ts'

const patience = { timeout: 100_000, interval: 200 }
const count = 12
const all = '{ pods(clusters: ["*"]) { totalCount incomplete { cluster code } } }'
const whole = { data: { pods: { totalCount: count, incomplete: [] } } }

const serve = (
  shared: SharedGateways,
  port: number,
  addressPort: number,
): Promise<ServedGateway> => {
  const share = { address: `http://127.0.0.1:${addressPort}` }
  return serveGateway({ ...shared.options, share }, { port })
}

it(
  'gateways that have each other’s address ask themselves, once, and name what they lack',
  { ...needsPostgres },
  async () => {
    await using shared = await SharedGateways.start(count)
    const [port, other] = [await freePort(), await freePort()]
    await using here = await serve(shared, port, other)
    await using there = await serve(shared, other, port)
    for (const gateway of [here, there]) {
      const isShared = async (): Promise<number> => {
        const { pods } = (await gateway.query(all)).data
        expect(pods.totalCount + pods.incomplete.length).toBe(count)
        return pods.incomplete.length
      }
      await expect.poll(isShared, patience).toBeGreaterThan(0)
      const { pods } = (await gateway.query(all)).data
      const [{ cluster, code }] = pods.incomplete
      expect(code).toBe('CLUSTER_UNREACHABLE')
      const query = `{ pods(cluster: "${cluster}") { totalCount } }`
      expect(await gateway.query(query)).toMatchObject({
        errors: [{ extensions: { code: 'CLUSTER_UNREACHABLE' } }],
      })
      expect(gateway.log.join('\n')).toContain('this gateway does not hold the cluster')
    }
  },
)

it('gateways that have one address hold everything, and say so', { ...needsPostgres }, async () => {
  await using shared = await SharedGateways.start(count)
  const [port, other] = [await freePort(), await freePort()]
  await using here = await serve(shared, port, port)
  await using there = await serve(shared, other, port)
  for (const gateway of [here, there]) {
    await expect.poll(() => gateway.query(all), patience).toEqual(whole)
    await expect.poll(() => gateway.log.join('\n'), patience).toContain('another gateway has')
  }
})
