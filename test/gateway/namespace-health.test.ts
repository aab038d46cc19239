import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { condition, notReady, ready } from './health-case.ts'
import type { Fields } from './test-cluster.ts'
import { follow } from './followed-subscription.ts'
import { sent } from './created.ts'

describe('the health of a Namespace', () => {
  let simulator: Simulator
  let gateway: ServedGateway

  const make = (
    resource: string,
    [group, version, kind]: readonly string[],
    object: Fields,
  ): void => {
    const apiVersion = group === '' ? version : `${group}/${version}`
    simulator.storage.create(
      { group: group ?? '', version: version ?? '', resource },
      { apiVersion, kind, ...object },
    )
  }
  const pod = (namespace: string, name: string, status: Fields, more: Fields = {}): void =>
    make('pods', ['', 'v1', 'Pod'], {
      metadata: { namespace, name, ...more },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
      status,
    })
  const running = { phase: 'Running', conditions: ready }
  const crashing = {
    phase: 'Running',
    conditions: notReady,
    containerStatuses: [{ name: 'web', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
  }

  beforeAll(async () => {
    simulator = await startSimulator()
    for (const name of ['broken', 'busy', 'calm', 'empty', 'past'])
      make('namespaces', ['', 'v1', 'Namespace'], {
        metadata: { name },
        status: { phase: 'Active' },
      })
    make('namespaces', ['', 'v1', 'Namespace'], {
      metadata: { name: 'going' },
      status: { phase: 'Terminating' },
    })
    pod('broken', 'web-1', crashing)
    pod('broken', 'web-0', crashing)
    pod('broken', 'fine', running)
    pod('calm', 'fine', running)
    pod('busy', 'starting', { phase: 'Running', conditions: notReady })
    pod('going', 'broken', crashing)
    const controller = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'once',
      uid: 'u',
      controller: true,
    }
    pod('past', 'attempt', { phase: 'Failed' }, { ownerReferences: [controller] })
    make('jobs', ['batch', 'v1', 'Job'], {
      metadata: {
        namespace: 'past',
        name: 'run-1',
        ownerReferences: [{ ...controller, kind: 'CronJob', name: 'run' }],
      },
      spec: {},
      status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded')] },
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const expected: Readonly<Record<string, string>> = {
    broken: 'DEGRADED',
    busy: 'PROGRESSING',
    calm: 'HEALTHY',
    empty: 'HEALTHY',
    going: 'TERMINATING',
    past: 'HEALTHY',
  }
  const made = Object.keys(expected).toSorted()

  it('is the worst of what is in it, in its row, in filters, orders and counts', async () => {
    const { namespaces, degraded, byHealth } = await gateway.data(`{
      namespaces(where: { name: { in: ${JSON.stringify(made)} } }) {
        nodes { name health { status reason message } }
        facets(by: "health") { values { value count } }
      }
      degraded: namespaces(where: { health: { eq: DEGRADED } }) { totalCount nodes { name } }
      byHealth: namespaces(orderBy: [{ health: ASC }], first: 3) { nodes { name health { status } } }
    }`)
    const rows = namespaces.nodes
    expect(Object.fromEntries(rows.map((one: Fields) => [one.name, one.health.status]))).toEqual(
      expected,
    )
    expect(rows.find(({ name }: Fields) => name === 'broken').health).toEqual({
      status: 'DEGRADED',
      reason: 'CrashLoopBackOff',
      message: 'Pod web-0 is degraded, with 1 more degraded: container web',
    })
    const counts = Object.groupBy(Object.values(expected), (status) => status)
    expect(
      Object.fromEntries(namespaces.facets[0].values.map((one: Fields) => [one.value, one.count])),
    ).toEqual(Object.fromEntries(Object.entries(counts).map(([key, of]) => [key, of?.length])))
    expect(degraded).toEqual({ totalCount: 1, nodes: [{ name: 'broken' }] })
    expect(byHealth.nodes.map(({ name }: Fields) => name)).toEqual(['broken', 'busy', 'going'])
  })

  it('is the same over kinds and through relations', async () => {
    const { kubernetesObjects, pods, gatewayClusters } = await gateway.data(`{
      kubernetesObjects(kinds: ["Namespace"], where: { health: { eq: DEGRADED } }) {
        nodes { name health { status } }
      }
      pods(where: { health: { eq: DEGRADED } }) { nodes { namespace } }
      gatewayClusters { resources { type facets(by: ["health"]) { values { value count } } } }
    }`)
    expect(kubernetesObjects.nodes).toEqual([{ name: 'broken', health: { status: 'DEGRADED' } }])
    expect(pods.nodes.length).toBeGreaterThan(0)
    const counted = gatewayClusters[0].resources.find(({ type }: Fields) => type === 'Namespace')
    expect(counted.facets[0].values).toContainEqual({ value: 'DEGRADED', count: 1 })
  })

  it('moves the rows of a live page, and of a filter through the namespace', async () => {
    const client = gateway.connect()
    const related = follow(
      client,
      'pods(where: { namespaceObject: { is: { health: { eq: DEGRADED } } } })',
      'name',
    )
    const page: string[] = []
    void (async () => {
      const query = `subscription {
        namespacesPage(first: 2, orderBy: [{ health: ASC }]) {
          changes { step object { name health { status } } }
        }
      }`
      for await (const { data } of client.iterate({ query }) as AsyncIterable<Fields>)
        page.push(JSON.stringify(data?.namespacesPage.changes ?? []))
    })()
    await related.until('the pods of the broken one', () => related.fold.objects.size === 3)
    await expect.poll(() => page.join()).toContain('"broken"')
    pod('calm', 'breaks', crashing)
    await related.until('those of the other, too', () => related.fold.objects.size === 5)
    await expect.poll(() => page.join()).toContain('{"name":"calm","health":{"status":"DEGRADED"}}')
    await sent(simulator, 'DELETE', '/api/v1/namespaces/calm/pods/breaks?gracePeriodSeconds=0')
    await related.until('the first again', () => related.fold.objects.size === 3)
    related.complete()
    expect(related.problems).toEqual([])
  })

  it('is followed: what changes in it moves it, in rows, filters, pages and counts', async () => {
    const fresh = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
    try {
      const client = fresh.connect()
      const rows = follow(client, 'namespaces', 'name health { status }')
      const filtered = follow(client, 'namespaces(where: { health: { eq: DEGRADED } })', 'name')
      await rows.until('all', () => rows.fold.synced)
      await filtered.until('the broken one', () => filtered.fold.objects.size === 1)
      const counts = fresh.connect()
      const facets: string[] = []
      void (async () => {
        const query =
          'subscription { namespaceFacets(by: ["health"]) { facets { values { value count } } } }'
        for await (const { data } of counts.iterate({ query }) as AsyncIterable<Fields>)
          facets.push(JSON.stringify(data?.namespaceFacets.facets[0].values ?? []))
      })()
      pod('empty', 'breaks', crashing)
      await filtered.until('both', () => filtered.fold.objects.size === 2)
      const statusOf = (name: string): string | undefined =>
        [...rows.fold.objects.values()].find((one: Fields) => one.name === name)?.health.status
      await rows.until('its row', () => statusOf('empty') === 'DEGRADED')
      await expect.poll(() => facets.at(-1) ?? '').toContain('{"value":"DEGRADED","count":2}')
      await sent(simulator, 'DELETE', '/api/v1/namespaces/empty/pods/breaks?gracePeriodSeconds=0')
      await filtered.until('one again', () => filtered.fold.objects.size === 1)
      await rows.until('its row again', () => statusOf('empty') === 'HEALTHY')
      await expect.poll(() => facets.at(-1) ?? '').toContain('{"value":"DEGRADED","count":1}')
    } finally {
      await fresh[Symbol.asyncDispose]()
    }
  })
})
