import { describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created } from '../gateway/created.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { needsPostgres } from '../support/postgres.ts'
import { SharedGateways } from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 50 }

describe('a cluster that connects while it is asked about', needsPostgres, () => {
  it('is archived from its first informer on', async () => {
    await using shared = await SharedGateways.start(1)
    const [simulator] = shared.simulators
    await using proxy = await startCutProxy(Number(new URL(simulator!.url).port))
    const clusters = [{ name: 'c-0', server: `http://127.0.0.1:${proxy.port}` }]
    const before = await shared.serve({ clusters })
    const published = () => shared.postgres.sql('SELECT COUNT(*) FROM apis', shared.archive).trim()
    await expect.poll(published, patience).toBe('1')
    await before[Symbol.asyncDispose]()
    await proxy.refuse()
    // The next schema takes its time.
    for (let count = 0; count < 60; count++) {
      const versions = [versionOf('v1', { layers: { type: 'integer' } })]
      const definition = definitionOf(`Cake${count}`, 'example.com', versions)
      await created(simulator!, definitionsPath, definition)
    }
    // What the cluster serves is known from the gateway before.
    const gateway = await shared.serve({ clusters })
    const stop = new AbortController()
    const names = async (): Promise<readonly string[]> => {
      const { data } = await gateway.query('{ pods(cluster: "c-0") { nodes { name } } }')
      return data?.pods?.nodes.map(({ name }: Fields) => name) ?? []
    }
    const asking = async (): Promise<void> => {
      while (!stop.signal.aborted) await names()
    }
    const all = Promise.all(Array.from({ length: 8 }, asking))
    await proxy.listen()
    await expect.poll(names, patience).toContain('pod-of-c-0')
    stop.abort()
    await all
    await created(simulator!, podsPath, podOf('told'))
    const told = async (): Promise<readonly string[]> => {
      const { data } = await gateway.query(
        '{ changes(types: ["Pod"]) { nodes { object { name } } } }',
      )
      return data?.changes?.nodes.map(({ object }: Fields) => object.name) ?? []
    }
    await expect.poll(told, patience).toContain('told')
  }, 180_000)
})
