import { randomBytes } from 'node:crypto'
import { startSimulator, type Simulator } from 'informerql/simulator'
import type { GatewayOptions } from 'informerql'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startCountedServer } from '../access/counted-server.ts'
import { created } from './created.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { listsOf, startRequestProxy } from '../support/request-proxy.ts'

let cluster: Simulator
let gateway: ServedGateway
beforeAll(async () => {
  cluster = await startSimulator()
})
afterAll(async () => cluster[Symbol.asyncDispose]())
afterEach(async () => gateway[Symbol.asyncDispose]())

const serve = async (options: Partial<GatewayOptions>): Promise<ServedGateway> =>
  (gateway = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }], ...options }))

const cached = async (): Promise<readonly string[]> => {
  const { gatewayClusters } = await gateway.data(
    '{ gatewayClusters { resources(loaded: true) { type } } }',
  )
  return gatewayClusters[0].resources.map(({ type }: { type: string }) => type).toSorted()
}

const openSubscription = async (query: string): Promise<() => Promise<unknown>> => {
  const frames = gateway.connect().iterate({ query: `subscription { ${query} }` })
  expect((await frames.next()).value?.errors).toBeUndefined()
  return async () => frames.return?.()
}

describe('a kind that nobody needs', () => {
  it('is stopped after its idle time, and loaded anew when it is asked for', async () => {
    await serve({ commonKinds: [], problemKinds: [], cache: { idleStopMs: 50 } })
    await gateway.data('{ pods { totalCount } }')
    await expect.poll(cached).toEqual([])
    const again =
      '{ pods { totalCount } gatewayClusters { resources(loaded: true) { type state } } }'
    expect(await gateway.data(again)).toEqual({
      pods: { totalCount: 0 },
      gatewayClusters: [{ resources: [{ type: 'Pod', state: 'SYNCED' }] }],
    })
  })

  it('is kept while a subscription depends on it, by a relation too', async () => {
    await serve({ commonKinds: [], problemKinds: [], cache: { idleStopMs: 1 } })
    const leave = await openSubscription('nodes { changes { object { pods { totalCount } } } }')
    await gateway.data('{ services { totalCount } }')
    await expect.poll(cached).toEqual(['Node', 'Pod'])
    await leave()
    await expect.poll(cached).toEqual([])
  })

  it('is kept where it is preloaded', async () => {
    await serve({ commonKinds: [], problemKinds: [], cache: { idleStopMs: 1 }, preload: ['pods'] })
    await gateway.data('{ pods { totalCount } services { totalCount } }')
    await expect.poll(cached).toEqual(['Pod'])
  })

  it('is kept where it is a common kind', async () => {
    await serve({ commonKinds: ['pods'], problemKinds: [], cache: { idleStopMs: 1 } })
    await gateway.data('{ pods { totalCount } services { totalCount } }')
    await expect.poll(cached).toEqual(['Pod'])
  })
})

describe('the kinds that are kept of many clusters', () => {
  const names = Array.from({ length: 12 }, (_, at) => `cluster-${at}`)

  it('are loaded kind by kind in all clusters, those of preload first; a kind that hangs holds none of them up', async () => {
    await using proxy = await startRequestProxy(cluster.url)
    const hangs = new Promise<void>(() => {})
    proxy.held = (request) => (request.includes('/api/v1/nodes?') ? hangs : undefined)
    await serve({
      clusters: names.map((name) => ({ name, server: proxy.url })),
      preload: ['nodes', 'configMaps'],
      preloadDeadlineMs: 1,
      commonKinds: ['pods', 'services', 'deployments', 'jobs', 'events', 'persistentVolumes'],
      problemKinds: [],
      archive: { url: 'memory:' },
    })
    await expect
      .poll(() => listsOf(proxy, '/api/v1/persistentvolumes').length)
      .toBeGreaterThanOrEqual(names.length)
    const lists = proxy.requests.filter((one) => one.includes('sendInitialEvents'))
    const kinds = lists.map((one) => new URL(one.slice(4), 'http://host').pathname)
    const lastOfPreload = kinds.lastIndexOf('/api/v1/configmaps')
    expect(kinds.slice(0, lastOfPreload)).not.toContain('/apis/batch/v1/jobs')
    const whole =
      '{ configMaps(clusters: ["*"]) { incomplete { cluster } } pods(clusters: ["*"]) { incomplete { cluster } } }'
    await expect
      .poll(async () => (await gateway.query(whole)).data)
      .toEqual({ configMaps: { incomplete: [] }, pods: { incomplete: [] } })
  })

  it('are loaded after those of preload of clusters that connect one after another', async () => {
    await using quick = await startRequestProxy(cluster.url)
    await using slow = await startRequestProxy(cluster.url)
    const connects = Promise.withResolvers<void>()
    slow.held = (request) => (request === 'GET /version' ? connects.promise : undefined)
    await serve({
      preload: ['configMaps'],
      commonKinds: ['jobs'],
      problemKinds: [],
      archive: { url: 'memory:' },
    })
    const configured = gateway.gateway.configureClusters([
      { name: 'one', server: cluster.url },
      { name: 'quick', server: quick.url },
      { name: 'slow', server: slow.url },
    ])
    const jobs = '/apis/batch/v1/jobs'
    await expect.poll(() => listsOf(quick, '/api/v1/configmaps').length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(listsOf(quick, jobs)).toEqual([])
    connects.resolve()
    await configured
    await expect.poll(() => listsOf(slow, jobs).length).toBe(1)
    const all = slow.requests.filter((one) => /configmaps|jobs/.test(one))
    expect(all[0]).toContain('configmaps')
    expect(listsOf(quick, jobs)).toHaveLength(1)
  })
})

describe('a subscription to the clusters that follows what their caches hold', () => {
  const counts = `resources(loaded: true) { type objects facets(by: ["name"]) { values { value } } }`

  it('has the numbers again when they change, and the kinds that are loaded, and keeps none of them loaded', async () => {
    await serve({ commonKinds: ['pods'], problemKinds: [], cache: { idleStopMs: 1 } })
    await gateway.data('{ pods { totalCount } }')
    const frames: unknown[] = []
    const leave = gateway.connect().subscribe(
      {
        query: `subscription { gatewayClusters(coalesceMs: 10, resourcesEveryMs: 500) { ${counts} } }`,
      },
      {
        next: ({ data }) => frames.push(JSON.stringify(data)),
        error: (error) => frames.push(error),
        complete: () => {},
      },
    )
    const last = (): string => String(frames.at(-1))
    await expect.poll(last).toContain('"type":"Pod"')
    const name = `made-${randomBytes(4).toString('hex')}`
    const pods = { group: '', version: 'v1', resource: 'pods' }
    cluster.storage.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
    })
    await expect.poll(last).toContain(name)
    await gateway.data('{ services { totalCount } }')
    await expect.poll(cached).toEqual(['Pod'])
    await expect.poll(last).not.toContain('Service')
    for (const [at, frame] of frames.entries()) expect(frame).not.toBe(frames[at - 1])
    leave()
    cluster.storage.delete(pods, 'default', name)
  })

  it.each([0, 499, 60_001])('refuses to look every %d ms', async (everyMs) => {
    await serve({})
    const frames = gateway.connect().iterate({
      query: `subscription { gatewayClusters(resourcesEveryMs: ${everyMs}) { name } }`,
    })
    expect((await frames.next()).value?.errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', argument: 'resourcesEveryMs', value: everyMs } },
    ])
    await frames.return?.()
  })
})

it('an operation pays once for the state of a cluster, however many rows show it', async () => {
  await serve({ limits: { work: { fields: 25 } } })
  const states = Array.from(
    { length: 50 },
    (_, at) => `c${at}: cluster { resources(loaded: true) { type } }`,
  )
  const { namespaces } = await gateway.data(`{ namespaces { nodes { ${states.join(' ')} } } }`)
  expect(namespaces.nodes[0].c49).toEqual({ resources: [{ type: 'Namespace' }] })
})

describe('the bound on informers', () => {
  it('stops the kind that has been idle for the longest time', async () => {
    await serve({ cache: { maxInformers: 2 } })
    for (const field of ['pods', 'services', 'pods', 'nodes']) {
      await gateway.data(`{ ${field} { totalCount } }`)
    }
    expect(await cached()).toEqual(['Node', 'Pod'])
  })

  it('is answered CACHE_FULL where all are in use, and what is cached goes on', async () => {
    await serve({ cache: { maxInformers: 2 } })
    const leave = await openSubscription('pods { synced }')
    const { data, errors } = await gateway.query(
      '{ pods { totalCount } services { totalCount } nodes { totalCount } }',
    )
    expect(data).toEqual({ pods: { totalCount: 0 }, services: { totalCount: 0 }, nodes: null })
    expect(errors).toMatchObject([
      {
        path: ['nodes'],
        message: expect.stringContaining('2 of 2 informers'),
        extensions: {
          code: 'CACHE_FULL',
          cluster: 'one',
          type: 'Node',
          hint: expect.stringContaining('maxInformers'),
        },
      },
    ])
    // The services have a lease no more.
    expect(await gateway.query('{ nodes { totalCount } }')).toEqual({
      data: { nodes: { totalCount: 0 } },
    })
    await leave()
  })

  it('holds over all clusters together', async () => {
    gateway = await serveGateway({
      clusters: [
        { name: 'one', server: cluster.url },
        { name: 'two', server: cluster.url },
      ],
      cache: { maxInformers: 1 },
    })
    const leave = await openSubscription('pods(cluster: "two") { synced }')
    const { errors } = await gateway.query('{ pods { totalCount } }')
    expect(errors).toMatchObject([{ extensions: { code: 'CACHE_FULL', cluster: 'one' } }])
    await leave()
  })
})

describe('the bound on held bytes', () => {
  const path = '/api/v1/namespaces/default/configmaps'
  beforeAll(async () => {
    const text = randomBytes(500_000).toString('base64')
    for (const name of ['a', 'b']) {
      await created(cluster, path, { metadata: { name }, data: { [name]: `${name}${text}` } })
    }
  })
  const maxHeldBytes = 800_000

  it('stops idle kinds before it refuses one', async () => {
    await serve({ cache: { maxHeldBytes: 1_800_000 } })
    await gateway.data('{ configMaps { totalCount } }')
    await gateway.data('{ pods { totalCount } }')
    expect(await cached()).toEqual(['ConfigMap', 'Pod'])
    await gateway[Symbol.asyncDispose]()
    await serve({ cache: { maxHeldBytes } })
    await gateway.data('{ pods { totalCount } }')
    const { errors } = await gateway.query('{ configMaps { totalCount } }')
    expect(errors).toMatchObject([
      {
        path: ['configMaps'],
        message: expect.stringMatching(/ of 800000 bytes are held, and it would take \d+ more/),
        extensions: { code: 'CACHE_FULL', hint: expect.stringContaining('maxHeldBytes') },
      },
    ])
    expect(await cached()).toEqual([])
  })

  it('holds for a kind whose list completes after every wait for it has ended', async () => {
    cluster.faults.inject({
      match: { verb: 'list', resource: 'configmaps' },
      fault: { type: 'slow', bytesPerSecond: 1_000_000 },
    })
    await serve({ cache: { maxHeldBytes }, limits: { syncDeadlineMs: 1 } })
    const late = await gateway.query('{ configMaps { totalCount } }')
    expect(late.errors).toMatchObject([{ extensions: { code: 'NOT_SYNCED' } }])
    await expect.poll(cached).toEqual([])
    const { errors } = await gateway.query('{ configMaps { totalCount } }')
    expect(errors).toMatchObject([{ extensions: { code: 'CACHE_FULL', type: 'ConfigMap' } }])
  })

  it('does not list again what it had no room for, until there is room', async () => {
    await using counted = await startCountedServer(cluster.url)
    await serve({ cache: { maxHeldBytes }, clusters: [{ name: 'one', server: counted.url }] })
    for (const _ of [1, 2, 3]) {
      const { errors } = await gateway.query('{ configMaps { totalCount } }')
      expect(errors).toMatchObject([{ extensions: { code: 'CACHE_FULL', type: 'ConfigMap' } }])
    }
    expect(counted.counted(/configmaps\?/)).toBe(1)
    await gateway.data('{ services { totalCount } }')
  })
})
