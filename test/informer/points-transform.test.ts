import {
  type InformerFailure,
  type Unstructured,
  ObjectNotFoundError,
  TransformError,
} from 'informerql/informer'
import type { Pod } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import {
  configMaps,
  foldingHandler,
  runInformer,
  syncedInformer,
  type TestInformer,
  until,
} from '../support/informer.ts'

const startWith = async (...names: readonly string[]): Promise<Simulator> => {
  const simulator = await startSimulator()
  for (const name of names) write(simulator, name)
  return simulator
}

const write = ({ storage }: Simulator, name: string, data: object = {}): void => {
  const metadata = { name, namespace: 'default', labels: { app: name } }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
  if (storage.get(configMaps, 'default', name) === undefined) storage.create(configMaps, object)
  else storage.update(configMaps, object)
}

const names = ({ informer }: TestInformer): string[] =>
  informer
    .lister()
    .list()
    .map(({ metadata }) => metadata.name)

const counted = ({ failures }: TestInformer): (readonly [InformerFailure, unknown])[] =>
  failures.map(({ failure, error }) => [failure, 'key' in error ? error.key : error.message])

/** Whatever a careless user might do to an object. */
const modify = (object: Unstructured): void => {
  ;(object.metadata as { name: string }).name = 'changed'
}

describe('A transform', () => {
  it.for(['list', 'watchlist'] as const)(
    '[19] runs once per object, before anyone sees it; one that throws is skipped, and the sync completes: %s',
    async (initialList) => {
      await using simulator = await startWith('a', 'bad', 'c')
      const runs: string[] = []
      const handler = foldingHandler()
      await using running = runInformer({
        server: simulator.url,
        initialList,
        namespace: 'default',
        indexers: { byData: ({ data }) => Object.keys((data as object | undefined) ?? {}) },
        transform: (object) => {
          const { name } = object.metadata
          runs.push(name)
          if (name === 'bad') throw new Error('I do not like it')
          return { ...object, data: { transformed: 'yes' } }
        },
      })
      const { informer } = running
      const registration = informer.addEventHandler(handler)
      await informer.waitForSync({ deadlineMs: 20_000 })
      expect(runs).toEqual(['a', 'bad', 'c'])
      expect(names(running)).toEqual(['a', 'c'])
      expect(informer.indexer().indexKeys('byData', 'transformed').toSorted()).toEqual([
        'default/a',
        'default/c',
      ])
      expect(counted(running)).toEqual([['transform', 'default/bad']])
      expect(informer.failures.get('transform')).toBe(1)
      expect(running.failures[0]?.error).toBeInstanceOf(TransformError)
      await until(() => registration.hasSynced(), 'the sync of the handler')
      expect(
        [...handler.objects.values()].map((object) => (object as Unstructured)['data']),
      ).toEqual([{ transformed: 'yes' }, { transformed: 'yes' }])
      // The stream lives.
      write(simulator, 'bad', { again: 'bad' })
      write(simulator, 'd')
      await until(() => names(running).includes('d'), 'what comes after')
      expect(runs.slice(3)).toEqual(['bad', 'd'])
      expect(names(running)).toEqual(['a', 'c', 'd'])
      expect(informer.failures.get('transform')).toBe(2)
      expect(informer.state).toBe('synced')
    },
  )

  it('[19] may return anything, but what is no object is skipped and counted like one that throws', async () => {
    await using simulator = await startWith('a', 'b')
    await using running = await syncedInformer({
      server: simulator.url,
      namespace: 'default',
      transform: (object) =>
        object.metadata.name === 'a' ? object : (undefined as unknown as Unstructured),
    })
    expect(names(running)).toEqual(['a'])
    expect(counted(running)).toEqual([['transform', 'default/b']])
    expect(() => running.informer.lister().namespaced('default').get('b')).toThrow(
      ObjectNotFoundError,
    )
  })
})

describe('Objects that must not be modified', () => {
  it('[34] are read-only by their types', () => {
    // These hold when they compile: `npm run typecheck`.
    const careless = (pod: Pod, object: Unstructured): void => {
      // @ts-expect-error -- read-only
      pod.kind = 'Job'
      // @ts-expect-error -- read-only, at any depth
      pod.metadata.labels!['app'] = 'x'
      // @ts-expect-error -- no list of it can be changed
      pod.spec!.containers.push({ name: 'x' })
      // @ts-expect-error -- nor an element of one
      pod.spec!.containers[0]!.image = 'x'
      // @ts-expect-error -- the same for an object of any kind
      object.metadata.finalizers?.push('x')
      // @ts-expect-error -- read-only
      object['spec'] = {}
    }
    expect(careless).toBeTypeOf('function')
  })

  const server = async (): Promise<Simulator> => startWith('a', 'b')

  it('[34] with detectMutations stop the handler that modifies one, which is counted', async () => {
    await using simulator = await server()
    await using running = runInformer({
      server: simulator.url,
      namespace: 'default',
      detectMutations: true,
    })
    running.informer.addEventHandler({ onAdd: modify, onUpdate: (previous) => modify(previous) })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    await until(() => handler.events.length === 2, 'the list')
    write(simulator, 'a', { n: '1' })
    await until(() => handler.events.length === 3, 'the update')
    await until(() => running.informer.failures.get('handler') === 3, 'the failures')
    expect(counted(running).map(([failure]) => failure)).toEqual(['handler', 'handler', 'handler'])
    expect(running.failures[0]?.error).toMatchObject({
      code: 'HANDLER',
      cause: expect.any(TypeError),
    })
    expect(names(running)).toEqual(['a', 'b'])
  })

  it('[34] with detectMutations stop an index function and a transform that modify one', async () => {
    await using simulator = await server()
    await using indexed = await syncedInformer({
      server: simulator.url,
      namespace: 'default',
      detectMutations: true,
      indexers: {
        careless: (object) => {
          modify(object)
          return []
        },
      },
    })
    expect(counted(indexed)).toEqual([
      ['index', 'default/a'],
      ['index', 'default/b'],
    ])
    expect(names(indexed)).toEqual(['a', 'b'])
    await using transformed = await syncedInformer({
      server: simulator.url,
      namespace: 'default',
      detectMutations: true,
      transform: (object) => {
        modify(object)
        return object
      },
    })
    expect(counted(transformed)).toEqual([
      ['transform', 'default/a'],
      ['transform', 'default/b'],
    ])
    expect(names(transformed)).toEqual([])
  })

  it('[34] with detectMutations are guarded as well when a transform has made them', async () => {
    await using simulator = await server()
    await using running = runInformer({
      server: simulator.url,
      namespace: 'default',
      detectMutations: true,
      transform: (object) => ({ ...object, metadata: { ...object.metadata } }),
    })
    const handler = foldingHandler(() => {})
    running.informer.addEventHandler({ onAdd: modify })
    running.informer.addEventHandler(handler)
    await until(() => handler.events.length === 2, 'the list')
    write(simulator, 'c')
    await until(() => handler.events.length === 3, 'the addition')
    await until(() => running.informer.failures.get('handler') === 3, 'the failures')
    expect(handler.events.join()).not.toContain('changed')
  })

  it('[34] come out of every door frozen: store, lister, indexer, listener', async () => {
    await using simulator = await server()
    await using running = await syncedInformer({
      server: simulator.url,
      namespace: 'default',
      detectMutations: true,
    })
    const { informer } = running
    const doors = [
      informer.store.object(informer.store.idOf('default/a') ?? -1),
      informer.lister().list('app=a')[0],
      informer.indexer().byIndex('namespace', 'default')[0],
      informer.indexer().getByKey('default/b'),
    ]
    for await (const { changes } of informer.listen()) {
      doors.push(...changes.map(({ object }) => object))
      break
    }
    expect(doors).toHaveLength(6)
    for (const object of doors) {
      expect(Object.isFrozen(object?.metadata.labels)).toBe(true)
    }
  })
})
