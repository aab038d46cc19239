import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { follow, type FollowedSubscription } from './followed-subscription.ts'
import { inParallel, startSimulatedCluster, type TestCluster } from './test-cluster.ts'

const atOnce = 100

describe('subscriptions that are completed while they are quiet', () => {
  let cluster: TestCluster
  let gateway: ServedGateway

  beforeAll(async () => {
    cluster = await startSimulatedCluster()
    gateway = await serveGateway(
      { clusters: [{ name: 'one', ...cluster.selection }] },
      { maxOperationsPerSocket: atOnce },
    )
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  it(`make room for others: 1,000 on one WebSocket that allows ${atOnce}`, async () => {
    const client = gateway.connect()
    await inParallel(
      Array.from({ length: 1000 }).keys(),
      async () => {
        const live = follow(client, 'configMaps(namespace: "kube-system")', '')
        await live.until('snapshot', () => live.fold.synced)
        live.complete()
        expect(live.problems).toEqual([])
      },
      atOnce - 1,
    )
  })

  it('can be replaced all at once, again and again', async () => {
    const client = gateway.connect()
    const openAll = (): readonly FollowedSubscription[] =>
      Array.from({ length: atOnce }, () => follow(client, 'namespaces', ''))
    let open = openAll()
    for (let round = 0; round < 5; round++) {
      await Promise.all(open.map(async (live) => live.until('snapshot', () => live.fold.synced)))
      for (const live of open) live.complete()
      // Those that nobody waits for, as when a page is left as soon as it is there.
      for (const live of openAll()) live.complete()
      open = openAll()
    }
    await Promise.all(open.map(async (live) => live.until('snapshot', () => live.fold.synced)))
    expect(open.flatMap(({ problems }) => problems)).toEqual([])
  })

  it('are refused beyond the bound, by an error that leaves the others as they are', async () => {
    const client = gateway.connect()
    const open = Array.from({ length: atOnce }, () => follow(client, 'namespaces', ''))
    await Promise.all(open.map(async (live) => live.until('snapshot', () => live.fold.synced)))
    const refused = follow(client, 'namespaces', '')
    await expect(refused.until('snapshot', () => true)).rejects.toThrow('TOO_MANY_OPERATIONS')
    expect(open.map((live) => live.ended())).toEqual(open.map(() => false))
    open[0]?.complete()
    const next = follow(client, 'namespaces', '')
    await next.until('snapshot', () => next.fold.synced)
  })

  it('do not hold up the end of the gateway, nor do those that are open', async () => {
    const another = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    const live = follow(another.connect(), 'namespaces', '')
    await live.until('snapshot', () => live.fold.synced)
    await another[Symbol.asyncDispose]()
    await expect.poll(() => live.ended()).toBe(true)
  })
})
