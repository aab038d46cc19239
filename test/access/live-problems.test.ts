import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const wait = { timeout: 60_000, interval: 20 }
const alice = caller('alice')

it('an Event with the UID of an object that its readers may not list tells them nothing of it', async () => {
  await using world = await startSmallWorld()
  const pods = ['one', 'two'].map((namespace) => `/api/v1/namespaces/${namespace}/pods/shop-1-x`)
  const [, hidden] = await Promise.all(pods.map(async (path) => world.patch(path, {})))
  await world.make('/api/v1/namespaces/one/events', {
    metadata: { name: 'forged' },
    type: 'Warning',
    reason: 'Forged',
    count: 100,
    lastTimestamp: new Date().toISOString(),
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'one',
      name: 'shop-1-x',
      uid: hidden?.['metadata'].uid,
    },
  })
  await world.allow('one', 'alice', 'alice', [reads('', 'pods', 'events')])
  await using served = await serveViewers({ clusters: [world.selection] })
  const { data } = await served.query(alice, '{ problems { nodes { object { name namespace } } } }')
  expect(data.problems.nodes).toEqual([])
})

describe('a live list of problems', () => {
  let world: SmallWorld
  let served: ViewedGateway
  beforeAll(async () => {
    world = await startSmallWorld()
    for (const namespace of ['one', 'two']) {
      await world.patch(`/api/v1/namespaces/${namespace}/pods/shop-1-x/status`, {
        status: {
          phase: 'Pending',
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
        },
      })
    }
    await world.allow('one', 'alice', 'alice', [reads('', 'pods')])
    served = await serveViewers({ clusters: [world.selection] })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  it('shows what its viewer may see, also after that has changed', async () => {
    const client = served.connect(alice)
    const frames = client.iterate<Fields>({
      query: `subscription { problems(coalesceMs: 0) { reset notLookedAt
        changes { type object { kind object { namespace name } objects { name } } } } }`,
    })
    const shown = new Set<string>()
    const take = async (): Promise<Fields> => {
      const { value } = await frames.next()
      const { problems } = value?.data ?? {}
      if (problems.reset) shown.clear()
      for (const { type, object } of problems.changes) {
        const name = `${object.kind} ${object.object.namespace}/${object.object.name}`
        if (type === 'REMOVED') shown.delete(name)
        else shown.add(name)
      }
      return problems
    }
    const first = await take()
    expect(first.notLookedAt).toContain('Node')
    // The ReplicaSet is known by the pod's reference alone.
    expect([...shown]).toEqual(['ReplicaSet one/shop-1'])

    const next = async (expected: readonly string[]): Promise<void> => {
      await expect
        .poll(async () => {
          await take()
          return [...shown].toSorted()
        }, wait)
        .toEqual(expected)
    }
    await world.allow('two', 'alice', 'alice', [reads('', 'pods')])
    await next(['ReplicaSet one/shop-1', 'ReplicaSet two/shop-1'])
    await world.remove('/apis/rbac.authorization.k8s.io/v1/namespaces/one/rolebindings/alice')
    await next(['ReplicaSet two/shop-1'])
    await frames.return?.()
    await client.dispose()
  })
})
