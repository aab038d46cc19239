import { createGateway, type Gateway, type GatewayOptions } from 'informerql'
import { createApiServer } from 'informerql/cluster'
import {
  createSharedInformerFactory,
  resources,
  type SharedInformerFactory,
} from 'informerql/informer'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CountedServer, startCountedServer } from '../access/counted-server.ts'
import { created, sent } from '../gateway/created.ts'

const spec = { containers: [{ name: 'a', image: 'example/a' }] }
const podsQuery =
  '{ pods(namespace: "default", where: { image: { eq: "example/a" } }) { totalCount } }'

describe('A gateway with the informers of a controller', () => {
  let simulator: Simulator
  let server: CountedServer
  let stack: AsyncDisposableStack
  let factory: SharedInformerFactory

  beforeAll(async () => {
    simulator = await startSimulator()
    for (const name of ['one', 'two']) {
      await created(simulator, '/api/v1/namespaces/default/pods', { metadata: { name }, spec })
    }
  })
  afterAll(async () => simulator[Symbol.asyncDispose]())
  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    server = stack.use(await startCountedServer(simulator.url))
    const apiServer = stack.use(createApiServer({ server: server.url }))
    factory = stack.use(createSharedInformerFactory({ apiServer }))
  })
  afterEach(async () => stack.disposeAsync())

  const gatewayWith = async (more: Partial<GatewayOptions> = {}): Promise<Gateway> =>
    stack.use(
      await createGateway({
        clusters: [{ name: 'a', server: server.url }],
        informers: factory,
        ...more,
      }),
    )
  /** The lists and watches of pods so far, by their requests. */
  const watches = (): number => server.counted(/^\/api\/v1\/pods\?.*watch=(true|1)/)
  const lists = (): number => server.counted(/^\/api\/v1\/pods(\?(?!.*watch=)|$)/)
  const count = async (gateway: Gateway): Promise<unknown> => {
    const answer = await gateway.execute({ query: podsQuery })
    return 'data' in answer ? answer.data : answer
  }
  const pods = (totalCount: number): object => ({ pods: { totalCount } })

  it('watches a kind once, and answers from it with its own indexes', async () => {
    const informer = factory.informer(resources.pods, {
      indexers: { mine: ({ metadata }) => [metadata.name ?? ''] },
    })
    factory.start()
    await factory.waitForCacheSync({ deadlineMs: 10_000 })
    const gateway = await gatewayWith()
    expect(await count(gateway)).toEqual(pods(2))
    const frames = await gateway.execute({
      query: 'subscription { pods { synced changes { object { metadata { name } } } } }',
    })
    if (!(Symbol.asyncIterator in frames)) throw new Error(JSON.stringify(frames))
    expect((await frames.next()).value).toMatchObject({ data: { pods: { synced: true } } })
    await created(simulator, '/api/v1/namespaces/default/pods', { metadata: { name: 'new' }, spec })
    expect((await frames.next()).value).toMatchObject({
      data: { pods: { changes: [{ object: { metadata: { name: 'new' } } }] } },
    })
    expect(await count(gateway)).toEqual(pods(3))
    await sent(simulator, 'DELETE', '/api/v1/namespaces/default/pods/new?gracePeriodSeconds=0')
    await expect.poll(() => count(gateway)).toEqual(pods(2))
    expect([lists(), watches()]).toEqual([1, 1])
    // Another kind is the gateway's own.
    await gateway.execute({ query: '{ configMaps { totalCount } }' })
    expect(server.counted(/^\/api\/v1\/configmaps\?/)).toBeGreaterThan(0)
    await frames.return()
    await gateway[Symbol.asyncDispose]()
    expect(informer.state).toBe('synced')
    expect(informer.store.indexNames()).toContain('mine')
    expect(informer.store.indexNames()).not.toContain('image')
  })

  it('answers once an informer that starts after it has synced', async () => {
    factory.informer(resources.pods)
    const gateway = await gatewayWith()
    const answering = count(gateway)
    factory.start()
    expect(await answering).toEqual(pods(2))
    expect(lists()).toBe(1)
  })

  it.each([
    ['a selection', { labelSelector: 'app=shop' }],
    ['a namespace', { namespace: 'other' }],
    ['a transform', { transform: (pod: object) => pod }],
    ['metadata only', { metadataOnly: true as const }],
  ])('has an informer of its own beside one with %s', async (_, options) => {
    factory.informer(resources.pods, options as object)
    factory.start()
    await factory.waitForCacheSync({ deadlineMs: 10_000 })
    const before = lists()
    const gateway = await gatewayWith()
    expect(await count(gateway)).toEqual(pods(2))
    expect(lists()).toBe(before + 1)
  })

  it('has an informer of its own beside one with an index of its name, or where it caches some namespaces', async () => {
    factory.informer(resources.pods, { indexers: { image: () => ['no image'] } })
    factory.start()
    await factory.waitForCacheSync({ deadlineMs: 10_000 })
    expect(await count(await gatewayWith())).toEqual(pods(2))
    const narrow = await gatewayWith({ cache: { namespaces: ['default'] } })
    expect(await count(narrow)).toEqual(pods(2))
    expect(server.counted(/^\/api\/v1\/namespaces\/default\/pods\?/)).toBeGreaterThan(0)
  })

  it('goes on with an informer of its own when the factory stops, or limits its namespaces', async () => {
    factory.informer(resources.pods)
    factory.start()
    const gateway = await gatewayWith({ informers: { a: factory } })
    expect(await count(gateway)).toEqual(pods(2))
    factory.setNamespaces(['other'])
    await expect.poll(() => count(gateway)).toEqual(pods(2))
    await factory.shutdown()
    await expect.poll(() => count(gateway)).toEqual(pods(2))
  })

  it.each([
    ['takes the first place', 'b'],
    ['takes the name of its cluster', 'a'],
  ])('is not read for another cluster that %s', async (_, name) => {
    const other = stack.use(await startSimulator())
    await created(other, '/api/v1/namespaces/default/pods', { metadata: { name: 'other' }, spec })
    factory.informer(resources.pods)
    factory.start()
    await factory.waitForCacheSync({ deadlineMs: 10_000 })
    const gateway = await gatewayWith()
    expect(await count(gateway)).toEqual(pods(2))
    const was = { name: 'a', server: server.url }
    await gateway.configureClusters([{ name, server: other.url }, ...(name === 'a' ? [] : [was])])
    await expect.poll(() => count(gateway)).toEqual(pods(1))
  })
})
