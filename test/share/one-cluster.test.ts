import { describe, expect, it } from 'vitest'
import { needsPostgres } from '../support/postgres.ts'
import { holdersBy, SharedGateways } from './shared-gateways.ts'

describe('a gateway for which there is no cluster', needsPostgres, () => {
  it('is ready, and answers for the cluster of another one', async () => {
    await using shared = await SharedGateways.start(1)
    const a = await shared.serve()
    const b = await shared.serve()
    const holders = async (): Promise<readonly unknown[]> => [
      ...new Set((await Promise.all([a, b].map(holdersBy))).map((one) => one['c-0'])),
    ]
    await expect.poll(holders, { timeout: 60_000 }).toHaveLength(1)
    for (const gateway of [a, b]) {
      const names = async (): Promise<unknown> =>
        (await gateway.query('{ pods { nodes { name } } }')).data?.pods?.nodes
      await expect.poll(names, { timeout: 60_000 }).toEqual([{ name: 'pod-of-c-0' }])
      const isReady = (): boolean => gateway.gateway.readiness().ready
      await expect.poll(isReady, { timeout: 60_000 }).toBe(true)
    }
  }, 180_000)
})
