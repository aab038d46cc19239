import { FrameFold } from 'informerql/client'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import type { Fields } from './test-cluster.ts'

const names = ['one', 'three', 'two'] as const
const wait = { timeout: 60_000, interval: 50 }
const every = 'clusters: ["*"]'
const gaps = 'incomplete { cluster code }'

/**
 * The second of three clusters accepts connections and answers nothing. Its code is NOT_SYNCED: the answer comes before the
 * gateway has found out that the cluster cannot be reached, which would be CLUSTER_UNREACHABLE.
 */
describe('a cluster that hangs', () => {
  let simulators: readonly Simulator[]
  let proxies: readonly CutProxy[]
  let gateway: ServedGateway
  const hanging = (): CutProxy => proxies[1] as CutProxy
  beforeEach(async () => {
    simulators = await Promise.all(names.map(() => startSimulator({})))
    for (const simulator of simulators) {
      for (const resource of ['configmaps', 'secrets', 'endpoints']) {
        const path = `/api/v1/namespaces/default/${resource}`
        await created(simulator, path, { metadata: { name: 'thing' } })
      }
    }
    proxies = await Promise.all(
      simulators.map(({ url }) => startCutProxy(Number(new URL(url).port))),
    )
    gateway = await serveGateway({
      clusters: names.map((name, at) => ({
        name,
        server: `http://127.0.0.1:${proxies[at]?.port}`,
      })),
      preload: [],
    })
    await gateway.data(`{ namespaces(${every}) { totalCount } }`)
    hanging().hang()
  })
  afterEach(async () => {
    hanging().flow()
    await gateway[Symbol.asyncDispose]()
    for (const one of [...proxies, ...simulators]) await one[Symbol.asyncDispose]()
  })

  const gap = { cluster: 'three', code: 'NOT_SYNCED' }

  it.each([
    ['a list', `configMaps(${every}) { totalCount ${gaps} }`, 2],
    ['a list of a named kind', `objectList(${every}, kind: "Endpoints") { totalCount ${gaps} }`, 2],
    [
      'a list of several kinds',
      `kubernetesObjects(${every}, kinds: ["Secret"]) { totalCount ${gaps} }`,
      2,
    ],
    [
      'a page with facets',
      `secrets(${every}, first: 1) { totalCount facets(by: ["namespace"]) { values { value } } ${gaps} }`,
      2,
    ],
    ['a search', `search(text: "thing", ${every}, types: ["ConfigMap"]) { totalCount ${gaps} }`, 2],
    ['problems', `problems(${every}, types: ["Deployment"]) { totalCount ${gaps} }`, 0],
  ])('keeps %s of the others waiting only for a moment', async (_, field, totalCount) => {
    const { data, errors } = await gateway.query(`{ found: ${field} }`)
    expect(data.found).toMatchObject({ totalCount, incomplete: expect.arrayContaining([gap]) })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'NOT_SYNCED', cluster: 'three' })
    // The silence is known by now.
    expect((await gateway.query(`{ found: ${field} }`)).data.found.totalCount).toBe(totalCount)
    hanging().flow()
    await expect
      .poll(async () => (await gateway.query(`{ found: ${field} }`)).data.found.incomplete, wait)
      .toEqual([])
  })

  it('is a gap of a live list, and its rows are ADDED when they come, before the gap goes', async () => {
    const fold = new FrameFold<Fields>()
    const frames: Fields[] = []
    const rows = (): readonly string[] =>
      [...fold.objects.values()].map(({ clusterName }) => clusterName as string).toSorted()
    const query = `subscription { configMaps(${every}, coalesceMs: 10) {
      reset synced ${gaps} changes { type objectId object { clusterName } } } }`
    /** The rows after each frame that claims to be whole. */
    const whole: (readonly string[])[] = []
    const leave = gateway.connect().subscribe<Fields>(
      { query },
      {
        next: ({ data }) => {
          const frame = data?.['configMaps']
          frames.push(frame)
          fold.apply(frame)
          if (frame.synced && frame.incomplete.length === 0) whole.push(rows())
        },
        error: () => {},
        complete: () => {},
      },
    )
    await expect.poll(() => fold.synced, wait).toBe(true)
    expect(rows()).toEqual(['one', 'two'])
    expect(frames.at(-1)?.['incomplete']).toEqual([gap])
    hanging().flow()
    await expect.poll(() => whole.length, wait).toBeGreaterThan(0)
    for (const one of whole) expect(one).toEqual(['one', 'three', 'two'])
    expect(frames.filter(({ reset }) => reset)).toHaveLength(1)
    leave()
  })

  it.each([
    ['a live page', `secretsPage(${every}, orderBy: [{ name: ASC }], first: 5, coalesceMs: 10)`, 3],
    ['live counts', `endpointsFacets(${every}, by: ["namespace"], coalesceMs: 10)`, 3],
  ])('never makes %s claim to be whole without its rows', async (_, field, all) => {
    const frames: Fields[] = []
    const leave = gateway.connect().subscribe<Fields>(
      { query: `subscription { found: ${field} { totalCount ${gaps} } }` },
      {
        next: ({ data }) => void frames.push(data?.['found']),
        error: () => {},
        complete: () => {},
      },
    )
    await expect.poll(() => frames[0], wait).toEqual({ totalCount: 2, incomplete: [gap] })
    hanging().flow()
    await expect.poll(() => frames.at(-1), wait).toEqual({ totalCount: all, incomplete: [] })
    const whole = frames.filter(({ incomplete }) => incomplete.length === 0)
    expect(new Set(whole.map(({ totalCount }) => totalCount))).toEqual(new Set([all]))
    leave()
  })

  it('leaves live counts of nothing else at nothing, each facet and sum by its name', async () => {
    const query = `subscription { found: podFacets(clusters: ["three"], by: ["phase", "cluster"], sum: ["cpuRequests"], coalesceMs: 10) {
      totalCount sums { of value count } facets { by distinctCount values { count } } incomplete { cluster } } }`
    const frames: Fields[] = []
    const leave = gateway.connect().subscribe<Fields>(
      { query },
      {
        next: ({ data }) => void frames.push(data?.['found']),
        error: () => {},
        complete: () => {},
      },
    )
    await expect
      .poll(() => frames[0], wait)
      .toEqual({
        totalCount: 0,
        sums: [{ of: 'cpuRequests', value: '0', count: 0 }],
        facets: ['phase', 'cluster'].map((by) => ({ by, distinctCount: 0, values: [] })),
        incomplete: [{ cluster: 'three' }],
      })
    leave()
  })
})

/** The first list of the clusters takes these times; nothing comes before its end. */
describe('a cluster that is slow, and sends nothing meanwhile', () => {
  let open = new AsyncDisposableStack()
  afterEach(async () => {
    await open[Symbol.asyncDispose]()
    open = new AsyncDisposableStack()
  })

  const served = async (
    delays: Readonly<Record<string, number>>,
    silenceMs?: number,
  ): Promise<ServedGateway> => {
    const clusters: { name: string; server: string }[] = []
    for (const [name, delayMs] of Object.entries(delays)) {
      const simulator = open.use(await startSimulator({}))
      const path = '/api/v1/namespaces/default/configmaps'
      await created(simulator, path, { metadata: { name: 'thing' } })
      const match = { resource: 'configmaps' }
      simulator.faults.inject({ fault: { type: 'delay', forMs: delayMs }, match })
      clusters.push({ name, server: simulator.url })
    }
    const limits = silenceMs === undefined ? {} : { silenceMs }
    return open.use(await serveGateway({ clusters, limits, preload: [] }))
  }
  const list = (clusters: string): string => `{ configMaps(${clusters}) { totalCount ${gaps} } }`

  it('is waited for as long as the others take, and some times longer', async () => {
    const gateway = await served({ one: 1_000, two: 1_000, three: 1_500 }, 100)
    const whole = { configMaps: { totalCount: 3, incomplete: [] } }
    expect(await gateway.data(list(every))).toEqual(whole)
  })

  it('is waited for where nothing else is asked, as one cluster always is', async () => {
    const gateway = await served({ one: 0, three: 1_500 }, 100)
    const whole = { configMaps: { totalCount: 1, incomplete: [] } }
    expect(await gateway.data(list('clusters: ["three"]'))).toEqual(whole)
  })

  it('is waited for as long as silenceMs says', async () => {
    const gateway = await served({ one: 0, two: 0, three: 1_500 }, 60_000)
    const whole = { configMaps: { totalCount: 3, incomplete: [] } }
    expect(await gateway.data(list(every))).toEqual(whole)
  })

  it('is a gap for those who do not wait, until it has answered', async () => {
    const gateway = await served({ one: 0, two: 0, three: 5_000 }, 50)
    const { data } = await gateway.query(list(every))
    const gap = { cluster: 'three', code: 'NOT_SYNCED' }
    expect(data.configMaps).toEqual({ totalCount: 2, incomplete: [gap] })
    await expect
      .poll(async () => (await gateway.query(list(every))).data.configMaps, wait)
      .toEqual({ totalCount: 3, incomplete: [] })
  })
})
