// Imports internals: only an observer that throws makes an index fail while its kind is in memory.
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it, vi } from 'vitest'
import { CacheBounds } from '../../src/cache/cache-bounds.ts'
import { retryAfterMs } from '../../src/cache/cache-errors.ts'
import { ClusterCache, servedResources } from '../../src/cache/cluster-cache.ts'
import { DirectApi } from '../../src/cache/direct-api.ts'
import { configMaps, connect } from '../support/informer.ts'

describe('an index that cannot be made while its kind is in memory', () => {
  it('is told of, fails those who need it and nobody else, and is tried again after a moment', async () => {
    await using simulator = await startSimulator({
      populate(storage) {
        for (const name of ['one', 'two']) {
          const metadata = { name, namespace: 'default' }
          storage.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
        }
      },
    })
    await using apiServer = connect(simulator.url)
    const reports: string[] = []
    let isFull = true
    const cache = new ClusterCache(
      {
        state: 'connected',
        source: (resource, how) => apiServer.resource(resource, how),
        version: 'v1.36.0',
        resourceVersionsComparable: true,
        direct: new DirectApi(apiServer),
        as: () => {
          throw new Error('nobody reads live')
        },
      },
      {
        name: 'one',
        bounds: new CacheBounds(),
        reflector: {},
        observer: () => ({
          failed(failure, { message }) {
            if (isFull && message.includes('no length')) throw new Error('the log is full')
            reports.push(`${failure}: ${message}`)
          },
        }),
      },
    )
    await using _cache = cache
    cache.serve(
      servedResources([
        {
          resource: configMaps,
          metadataOnly: false,
          indexers: {},
          lazyIndexers: {
            length({ metadata }) {
              if (metadata.name === 'two') throw new Error('no length')
              return [String(metadata.name.length)]
            },
          },
        },
      ]),
    )
    const deadlineMs = 20_000
    using bystander = cache.acquire(configMaps)
    await bystander.ready(deadlineMs)

    using lease = cache.acquire(configMaps)
    lease.want({ needed: ['length'] })
    await expect(lease.ready(deadlineMs)).rejects.toMatchObject({
      code: 'NOT_SYNCED',
      message: 'configmaps could not be indexed by length: the log is full',
      retryAfterMs,
    })
    expect(reports).toEqual(['index: the log is full'])
    expect(cache.states()).toMatchObject([{ state: 'SYNCED', lastError: 'the log is full' }])
    expect(bystander.unreadable()).toBeUndefined()

    isFull = false
    await vi.waitFor(() => lease.ready(deadlineMs), deadlineMs)
    const index = lease.informer.store.index('length')
    expect([...index.values()]).toEqual(['3'])
    expect(index.objectCount).toBe(1)
    expect(cache.states()).toMatchObject([{ state: 'SYNCED', lastError: null }])
    expect(reports).toHaveLength(2)
  })
})
