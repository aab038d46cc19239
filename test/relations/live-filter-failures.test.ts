import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { FilteredClient } from './filtered-client.ts'

const backoff = { initialMs: 10, factor: 1, maxMs: 10, resetAfterMs: 1_000 }
const pods = { group: '', version: 'v1', resource: 'pods' } as const
const services = '/api/v1/namespaces/default/services'
const argument = 'where.pods.none'
const headless = { clusterIP: 'None' }
const selector = { ...headless, selector: { app: 'shop' } }

let cluster: Simulator
let gateway: ServedGateway
beforeEach(async () => {
  cluster = await startSimulator({ bookmarkIntervalMs: 0 })
  gateway = await serveGateway({
    clusters: [{ name: 'one', server: cluster.url }],
    limits: { syncDeadlineMs: 500 },
    reflector: { backoff },
  })
  await created(cluster, services, { metadata: { name: 'shop' }, spec: selector })
  await created(cluster, services, { metadata: { name: 'idle' }, spec: headless })
  const labels = { app: 'shop' }
  const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
  const pod = { metadata: { name: 'shop', labels }, spec }
  await created(cluster, '/api/v1/namespaces/default/pods', pod)
})
afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const none = '(where: { pods: { none: {} } }, coalesceMs: 5'
const asked = {
  'of a group': `services${none}) { changes { object { id } } }`,
  'of a live page': `servicesPage${none}, first: 5) { changes { object { id } } }`,
}
const first = async (field: string) => {
  const frames = gateway.connect().iterate<object>({ query: `subscription { frame: ${field} }` })
  const { value } = await frames.next()
  await frames.return?.()
  return value
}

describe('a subscription that is filtered by objects which cannot be read', () => {
  it.each(Object.entries(asked))(
    '%s is NOT_SYNCED where they are not there yet',
    async (_, field) => {
      const match = { resource: 'pods', verb: 'list' } as const
      cluster.faults.inject({ fault: { type: 'status', code: 503 }, match, times: 1_000_000 })
      const refused = await first(field)
      expect(refused.data?.frame).toBeUndefined()
      expect(refused.errors).toMatchObject([
        { extensions: { code: 'NOT_SYNCED', cluster: 'one', type: 'Pod', argument } },
      ])
      cluster.faults.clear()
      await expect
        .poll(async () => (await gateway.query('{ pods { totalCount } }')).errors)
        .toBeUndefined()
      expect((await first(field)).data.frame.changes).toHaveLength(1)
    },
  )

  it('stands as it was last known while the gateway cannot read them, and goes on from there', async () => {
    const client = new FilteredClient('Service', { pods: { none: {} } })
    client.follow(gateway.connect())
    await expect.poll(() => client.keys()).toEqual(['default/idle'])
    const fault = { type: 'status', code: 403 } as const
    for (const verb of ['list', 'watch'] as const) {
      cluster.faults.inject({ fault, match: { resource: 'pods', verb }, times: 1_000_000 })
    }
    cluster.faults.inject({ fault: { type: 'end-watches' } })
    await expect.poll(() => gateway.log.join('\n')).toMatch(/Pod: (list|watch) failed.*403/)
    cluster.storage.delete(pods, 'default', 'shop')
    // Of what else it follows it tells meanwhile.
    await created(cluster, services, { metadata: { name: 'new' }, spec: selector })
    await created(cluster, services, { metadata: { name: 'free' }, spec: headless })
    await expect.poll(() => client.keys()).toEqual(['default/free', 'default/idle'])
    cluster.faults.clear()
    await expect
      .poll(() => client.keys())
      .toEqual(['free', 'idle', 'new', 'shop'].map((name) => `default/${name}`))
    expect([client.error, client.resets, client.problems]).toEqual([undefined, 1, []])
    client.leave()
  })
})
