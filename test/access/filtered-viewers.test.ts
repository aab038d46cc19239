import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { FilteredClient } from '../relations/filtered-client.ts'
import { followPage } from '../gateway/followed-page.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces'
const deadlineMs = 20_000

let world: SmallWorld
let served: ViewedGateway
let users = 0
beforeAll(async () => {
  world = await startSmallWorld()
  for (const namespace of ['one', 'two']) {
    await world.make(`/api/v1/namespaces/${namespace}/services`, {
      metadata: { name: 'idle' },
      spec: { selector: { app: 'nothing' }, ports: [{ port: 80 }] },
    })
  }
})
afterAll(async () => world[Symbol.asyncDispose]())
beforeEach(async () => {
  served = await serveViewers({ clusters: [world.selection] })
})
afterEach(async () => served[Symbol.asyncDispose]())

/** Somebody new, who may read Services and Pods in namespaces, by one role each. */
const reader = async (namespaces: readonly string[]): Promise<Caller> => {
  const who = caller(`filterer-${(users += 1)}`)
  for (const namespace of namespaces) {
    for (const resource of ['services', 'pods']) {
      await world.allow(namespace, `${who.username}-${resource}`, who.username, [
        reads('', resource),
      ])
    }
  }
  return who
}
const losesPods = async ({ username }: Caller, namespace: string): Promise<void> => {
  await world.remove(`${bindings}/${namespace}/rolebindings/${username}-pods`)
}
const regainsPods = async ({ username }: Caller, namespace: string): Promise<void> => {
  const group = 'rbac.authorization.k8s.io'
  await world.make(`${bindings}/${namespace}/rolebindings`, {
    metadata: { name: `${username}-pods` },
    roleRef: { apiGroup: group, kind: 'Role', name: `${username}-pods` },
    subjects: [{ apiGroup: group, kind: 'User', name: username }],
  })
}
const follow = (who: Caller, where: Fields): FilteredClient => {
  const client = new FilteredClient('Service', where)
  client.follow(served.connect(who))
  return client
}
const until = async (client: FilteredClient, holds: () => boolean): Promise<void> => {
  const endMs = performance.now() + deadlineMs
  while (!holds() && performance.now() < endMs) {
    await Promise.race([client.told(), sleep(50)])
  }
  expect(holds(), JSON.stringify([client.keys(), client.error])).toBe(true)
}
const holding = async (client: FilteredClient, ...wanted: readonly string[]): Promise<void> => {
  await until(client, () => client.keys().join() === wanted.join())
  expect(client.error).toBeUndefined()
}
const forbidden = [{ extensions: { code: 'FORBIDDEN', cluster: 'test', type: 'Pod' } }]

describe('Of a filter by objects that the viewer may see no more', () => {
  it.each([
    [{ pods: { none: {} } }, 'one/idle'],
    [{ not: { pods: { some: {} } } }, 'one/idle'],
    [{ pods: { every: { name: { eq: 'nobody' } } } }, 'one/idle'],
    [{ pods: { some: {} } }, 'one/shop'],
  ])('%j ends with FORBIDDEN, and nothing is told as matching for that', async (where, held) => {
    const who = await reader(['one'])
    const client = follow(who, where)
    await holding(client, held)
    expect(served.gateway.planned.liveState().groups).toBe(1)
    await losesPods(who, 'one')
    await until(client, () => client.error !== undefined)
    expect(client.error).toMatchObject(forbidden)
    expect([client.changes, client.keys(), client.problems]).toEqual([1, [held], []])
  })

  it('"none" of a live page ends with FORBIDDEN, its rows as they were', async () => {
    const who = await reader(['one'])
    const live = followPage(served.connect(who), {
      field: 'servicesPage(first: 5, where: { pods: { none: {} } }, coalesceMs: 5',
      selection: 'metadata { name }',
    })
    await live.until(({ rows }) => rows.length === 1)
    expect(served.gateway.planned.liveState().groups).toBe(1)
    await losesPods(who, 'one')
    await expect(live.until(() => false)).rejects.toThrow(/"FORBIDDEN".*"type":"Pod"/)
    expect(live.seen).toHaveLength(1)
  })

  it.each([{ pods: { none: {} } }, { not: { pods: { some: {} } } }])(
    '%j ends with FORBIDDEN where they are seen in other namespaces still',
    async (where) => {
      const who = await reader(['one', 'two'])
      const client = follow(who, where)
      await holding(client, 'one/idle', 'two/idle')
      await losesPods(who, 'two')
      await until(client, () => client.error !== undefined)
      expect(client.error).toMatchObject(forbidden)
      expect([client.changes, client.problems]).toEqual([2, []])
    },
  )

  it('"some" loses the rows that only they let in, and gets them back', async () => {
    const who = await reader(['one', 'two'])
    const client = follow(who, { pods: { some: {} } })
    await holding(client, 'one/shop', 'two/shop')
    await losesPods(who, 'two')
    await holding(client, 'one/shop')
    await regainsPods(who, 'two')
    await holding(client, 'one/shop', 'two/shop')
    // Each change of permissions begins anew.
    expect([client.resets, client.problems]).toEqual([3, []])
    client.leave()
  })
})

it('A query that is filtered by objects says that there are none only where all of them may be seen', async () => {
  const who = await reader(['one', 'two'])
  await losesPods(who, 'two')
  const found = async (where: Fields, more: object = {}): Promise<unknown> => {
    const { data, errors } = await served.query(
      who,
      'query ($where: ServiceWhere, $namespace: String) { services(where: $where, namespace: $namespace) { nodes { metadata { namespace name } } } }',
      { where, ...more },
    )
    if (errors !== undefined) return errors[0]?.extensions.code
    return data.services.nodes.map(
      ({ metadata }: Fields) => `${metadata.namespace}/${metadata.name}`,
    )
  }
  const one = { namespace: 'one' }
  await expect.poll(() => found({ pods: { some: {} } })).toEqual(['one/shop'])
  for (const where of [
    { pods: { none: {} } },
    { not: { pods: { some: {} } } },
    { pods: { every: { name: { eq: 'nobody' } } } },
  ]) {
    expect(await found(where, one), JSON.stringify(where)).toEqual(['one/idle'])
    expect(await found(where), JSON.stringify(where)).toBe('FORBIDDEN')
    expect(await found(where, { namespace: 'two' }), JSON.stringify(where)).toBe('FORBIDDEN')
  }
})
