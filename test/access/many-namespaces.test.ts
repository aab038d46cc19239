import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { firstAnswer } from '../support/gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** More of them than may be asked about. */
const namespaces = ['alpha', 'beta', 'gamma', 'zulu']
const maxNamespaces = 3

describe('Where there are more namespaces than may be asked about', () => {
  let world: SmallWorld
  let served: ViewedGateway
  beforeAll(async () => {
    world = await startSmallWorld()
    for (const name of namespaces) {
      await world.make('/api/v1/namespaces', { metadata: { name } })
      const path = `/api/v1/namespaces/${name}`
      await world.make(`${path}/services`, { metadata: { name }, spec: { ports: [{ port: 80 }] } })
    }
    await world.make('/api/v1/namespaces/zulu/configmaps', { metadata: { name: 'mine' } })
    const kinds = reads('', 'configmaps', 'services')
    await world.allow('zulu', 'reader', 'ann', [kinds])
    served = await serveViewers({ clusters: [world.selection], access: { maxNamespaces } })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })
  const ann = caller('ann')

  it('a kind that few of them have is loaded for who may list it in one, and listed', async () => {
    const query = '{ configMaps { totalCount nodes { metadata { namespace name } } } }'
    const nodes = [{ metadata: { namespace: 'zulu', name: 'mine' } }]
    const { data, errors } = await served.query(ann, query)
    expect(errors).toBeUndefined()
    expect(data.configMaps).toEqual({ totalCount: 1, nodes })
  })

  it('who may list it in none of those that were asked about is told so, and nothing is loaded', async () => {
    const { data, errors = [] } = await served.query(caller('ben'), '{ secrets { totalCount } }')
    expect(data.secrets).toBeNull()
    const { code, hint, value } = errors[0]?.extensions ?? {}
    expect([code, value]).toEqual(['RBAC_BUDGET_EXCEEDED', maxNamespaces])
    expect(hint).toMatch(/name the namespaces/)
    const states = '{ gatewayClusters { resources(loaded: true) { type } } }'
    const loaded = await served.query(caller('root', 'system:masters'), states)
    expect(JSON.stringify(loaded.data)).not.toContain('Secret')
  })

  it('what too many of them have is never cut: they have to be named', async () => {
    const query = 'query ($in: [String!]) { services(namespaces: $in) { totalCount } }'
    const frames = 'subscription { services { synced } }'
    for (const answer of [
      await served.query(ann, query),
      await firstAnswer(served.connect(ann), frames),
    ]) {
      expect(answer.errors?.[0]?.extensions.code).toBe('RBAC_BUDGET_EXCEEDED')
    }
    const named = await served.query(ann, query, { in: ['zulu'] })
    expect(named.data).toEqual({ services: { totalCount: 1 } })
  })
})
