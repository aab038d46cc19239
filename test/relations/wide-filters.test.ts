import { setTimeout as sleep } from 'node:timers/promises'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { FilteredClient } from './filtered-client.ts'
import type { Fields } from './random-cluster.ts'

const nodes = { group: '', version: 'v1', resource: 'nodes' } as const
const pods = { group: '', version: 'v1', resource: 'pods' } as const
const count = 10_200

describe('a change that concerns more rows than are decided one by one', () => {
  it('lets all of them in, and out again', async () => {
    await using simulator = await startSimulator({
      bookmarkIntervalMs: 0,
      populate(storage) {
        const node = { apiVersion: 'v1', kind: 'Node' }
        storage.create(nodes, { ...node, metadata: { name: 'large' }, spec: {} })
        const spec = { unschedulable: true }
        storage.create(nodes, { ...node, metadata: { name: 'small' }, spec })
        for (let at = 0; at < count; at += 1) {
          const metadata = { name: `pod-${at}`, namespace: 'a', uid: `uid-${at}` }
          const pod = { nodeName: at === 0 ? 'small' : 'large', containers: [] }
          storage.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod })
        }
      },
    })
    await using gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
    const where = { node: { is: { unschedulable: { eq: true } } } }
    const client = new FilteredClient('Pod', where)
    client.follow(gateway.connect())
    const until = async (size: number): Promise<void> => {
      const endMs = performance.now() + 60_000
      while (client.held.size !== size && client.error === undefined && performance.now() < endMs) {
        await Promise.race([client.told(), sleep(100)])
      }
      expect(client.error).toBeUndefined()
      expect(client.held.size).toBe(size)
    }
    const cordon = (unschedulable: boolean): void => {
      const before = simulator.storage.get(nodes, '', 'large') as Fields
      simulator.storage.update(nodes, { ...before, spec: { unschedulable } })
    }
    await until(1)
    cordon(true)
    await until(count)
    cordon(false)
    await until(1)
    expect(new Set(client.removed.values())).toEqual(new Set(['UNMATCHED']))
    expect(client.problems).toEqual([])
    client.leave()
  })
})
