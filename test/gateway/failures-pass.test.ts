import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import { startSimulatedCluster, type TestUser } from './test-cluster.ts'

let cluster: Simulator
let gateway: ServedGateway | undefined
beforeEach(async () => {
  cluster = await startSimulator()
})
afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const pod = (name: string): object => ({
  metadata: { name },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})
const pods = '/api/v1/namespaces/default/pods'

describe('failures pass', () => {
  it('a subscription reads a kind that missed its deadline as soon as it is there', async () => {
    await created(cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    // Nodes cannot be listed until the deadline of the subscription is over.
    const code = { type: 'status', code: 503 } as const
    cluster.faults.inject({
      fault: code,
      match: { resource: 'nodes', verb: 'list' },
      times: 1_000_000,
    })
    const { connect, query } = (gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      limits: { syncDeadlineMs: 1_000 },
      reflector: { backoff: { initialMs: 10, factor: 1, maxMs: 10, resetAfterMs: 1_000 } },
    }))
    await expect.poll(async () => (await query('{ pods { totalCount } }')).errors).toBeUndefined()
    const live =
      'subscription { pods(coalesceMs: 0) { reset changes { object { metadata { name } node { metadata { name } } } } } }'
    const frames = connect().iterate<{ pods: { changes: { object: object }[] } }>({ query: live })
    await created(cluster, pods, pod('first'))
    const first = await frames.next()
    expect(first.value?.errors).toMatchObject([
      { extensions: { code: 'NOT_SYNCED', type: 'Node' } },
    ])
    cluster.faults.clear()
    await expect.poll(async () => (await query('{ nodes { totalCount } }')).errors).toBeUndefined()
    const second = await frames.next()
    expect(second.value).toEqual({
      data: {
        pods: {
          reset: true,
          changes: [
            { object: { metadata: { name: 'first' }, node: { metadata: { name: 'node-1' } } } },
          ],
        },
      },
    })
    await frames.return?.()
  })

  it.each([
    ['a reset of the connection', { type: 'disconnect' }],
    ['a server that is busy', { type: 'status', code: 500 }],
    ['a list that is cut', { type: 'truncate', afterBytes: 20 }],
  ] as const)('%s while a kind is first listed is waited out', async (_what, fault) => {
    gateway = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })
    cluster.faults.inject({ fault, match: { resource: 'pods', verb: 'list' }, times: 5 })
    expect(await gateway.query('{ pods { totalCount } }')).toEqual({
      data: { pods: { totalCount: 0 } },
    })
    expect(gateway.log.join('\n')).toContain('one: Pod: list failed')
  })

  it('what is lasting is told at once: a resource that is no longer there', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      // Whoever waited for it would wait for longer than the test may take.
      limits: { syncDeadlineMs: 600_000 },
    })
    const match = { resource: 'pods', verb: 'list' } as const
    cluster.faults.inject({ fault: { type: 'status', code: 404 }, match, times: 1_000_000 })
    const { errors } = await gateway.query('{ pods { totalCount } }')
    expect(errors).toMatchObject([
      { path: ['pods'], extensions: { code: 'NOT_FOUND', cluster: 'one', type: 'Pod' } },
    ])
  })

  it('what passes not before the deadline is told as what it is', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      limits: { syncDeadlineMs: 200 },
    })
    const match = { resource: 'pods', verb: 'list' } as const
    cluster.faults.inject({ fault: { type: 'disconnect' }, match, times: 1_000_000 })
    const { errors } = await gateway.query('{ pods { totalCount } }')
    expect(errors).toMatchObject([
      { path: ['pods'], extensions: { code: 'CLUSTER_UNREACHABLE', cluster: 'one', type: 'Pod' } },
    ])
  })
})

describe('states tell the truth', () => {
  const statesOf = async (): Promise<readonly string[]> => {
    const { gatewayClusters } = await (gateway as ServedGateway).data(
      '{ gatewayClusters { resources(loaded: true) { state } } }',
    )
    return gatewayClusters[0].resources.map(({ state }: { state: string }) => state)
  }

  it('a kind is RECONNECTING only after a failure', async () => {
    // The first watch is answered late: until then the list is there, and nothing has failed.
    cluster.faults.inject({
      fault: { type: 'half-open', afterBytes: 0 },
      match: { resource: 'pods', verb: 'watch' },
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })
    const states = new Set<string>()
    const underWay = new Set([1])
    const query = gateway.data('{ pods { totalCount } }').finally(() => underWay.clear())
    while (underWay.size > 0) for (const state of await statesOf()) states.add(state)
    await query
    for (const state of await statesOf()) states.add(state)
    expect([...states]).toContain('SYNCED')
    expect([...states]).not.toContain('RECONNECTING')
    cluster.faults.inject({ fault: { type: 'refuse-connections', forMs: 1_000 } })
    await expect.poll(statesOf).toEqual(['RECONNECTING'])
    await expect.poll(statesOf).toEqual(['SYNCED'])
  })

  it('a kind that is refused again and again says why', async () => {
    const reader: TestUser = { token: 'reader-token', user: 'reader' }
    await using forbidding = await startSimulatedCluster({}, [reader])
    const selection = await forbidding.selectionFor(reader)
    gateway = await serveGateway({ clusters: [{ name: 'one', ...selection }] })
    await firstAnswer(gateway.connect(), 'subscription { secrets { synced } }')
    const { gatewayClusters } = await gateway.data(
      '{ gatewayClusters { resources(loaded: true) { state objects lastError } } }',
    )
    expect(gatewayClusters[0].resources).toEqual([
      {
        state: expect.stringMatching(/^(LISTING|WAITING)$/),
        objects: null,
        lastError: expect.stringContaining('forbidden'),
      },
    ])
  })
})
