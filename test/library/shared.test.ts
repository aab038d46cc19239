import {
  createSharedInformerFactory,
  InformerConflictError,
  resources,
  type SharedInformerFactory,
} from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { connect } from '../support/informer.ts'

const { configMaps, pods } = resources
const idle = (options: object = {}): SharedInformerFactory =>
  createSharedInformerFactory({ apiServer: connect('http://127.0.0.1:1'), ...options })

describe('Informers of one factory', () => {
  it('are one for two callers who write their indexers where they ask', () => {
    const factory = idle()
    const byNode = () =>
      factory.informer(pods, { indexers: { byNode: ({ spec }) => [spec?.nodeName ?? ''] } })
    const one = byNode()
    expect(byNode()).toBe(one)
    const other = factory.informer(pods, {
      indexers: { byImage: ({ spec }) => spec?.containers.map(({ image = '' }) => image) ?? [] },
    })
    expect(other).toBe(one)
    expect(one.store.indexNames()).toEqual(expect.arrayContaining(['byNode', 'byImage']))
    expect([...factory.informers()]).toHaveLength(1)
  })

  it('answer by an index that was added while they ran', async () => {
    await using simulator = await startSimulator()
    await using apiServer = connect(simulator.url)
    await using factory = createSharedInformerFactory({ apiServer })
    const client = apiServer.client(configMaps)
    await client.create({ metadata: { namespace: 'default', name: 'a' }, data: { team: 'blue' } })
    const informer = factory.informer(configMaps)
    factory.start()
    await factory.waitForCacheSync({ deadlineMs: 10_000 })
    factory.informer(configMaps, { indexers: { byTeam: ({ data }) => [data?.['team'] ?? ''] } })
    expect(informer.indexer().indexKeys('byTeam', 'blue')).toEqual(['default/a'])
  })

  it('are one where equal options are written twice', () => {
    const factory = idle({ pageSize: 100 })
    const ask = () =>
      factory.informer(configMaps, {
        labelSelector: 'a=b',
        watchTimeoutSeconds: { min: 5, max: 10 },
        backoff: { initialMs: 5 },
      })
    const one = ask()
    expect(ask()).toBe(one)
    // Who asks for less is content with what there is.
    expect(factory.informer({ ...configMaps }, { labelSelector: 'a=b', pageSize: 100 })).toBe(one)
    expect(factory.informer(configMaps, { labelSelector: 'a=b', resyncPeriodMs: 0 })).toBe(one)
  })

  it('are others where selection, transform or metadataOnly differ', () => {
    const factory = idle()
    const informers = [
      factory.informer(configMaps),
      factory.informer(configMaps, { namespace: 'a' }),
      factory.informer(configMaps, { labelSelector: 'a' }),
      factory.informer(configMaps, { fieldSelector: 'metadata.name=a' }),
      factory.informer(configMaps, { metadataOnly: true }),
      factory.informer(configMaps, { transform: (object) => object }),
      factory.informer(configMaps, { tweakListOptions: (options) => options }),
    ]
    expect(new Set<unknown>(informers).size).toBe(7)
    expect(factory.informer(configMaps, { metadataOnly: false })).toBe(informers[0])
  })

  it('say so where two callers cannot both have what they want', () => {
    const factory = idle()
    factory.informer(pods, { pageSize: 10, indexers: { byNode: () => [] } })
    const conflict = (options: object) => () => factory.informer(pods, options)
    expect(conflict({ pageSize: 20 })).toThrow(InformerConflictError)
    expect(conflict({ detectMutations: true })).toThrow(/pods .* another detectMutations/)
    expect(conflict({ indexers: { byNode: () => ['x'] } })).toThrow(/another indexers\.byNode/)
    expect(factory.informer(pods, { indexers: {} }).store.indexNames()).toContain('byNode')
  })

  it('get none of the indexers of a caller who is refused one', () => {
    const factory = idle()
    const informer = factory.informer(pods, { indexers: { a: () => [] } })
    const ask = () => factory.informer(pods, { indexers: { b: () => [], a: () => ['x'] } })
    expect(ask).toThrow(InformerConflictError)
    expect(informer.store.indexNames()).not.toContain('b')
  })
})

describe('The store of an informer', () => {
  it('is a view: nobody but the informer can write it', () => {
    const { store } = idle().informer(pods)
    for (const method of ['remove', 'put', 'swap', 'stage', 'advance', 'addIndexers']) {
      expect(method in store, method).toBe(false)
    }
  })
})
