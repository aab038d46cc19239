import {
  createController,
  createSharedInformer,
  type DeltaController,
  type DeltaControllerOptions,
  DeletedFinalStateUnknown,
  type KubernetesObject,
  type ListerWatcher,
  type RawDelta,
  resourceVersion,
} from 'informerql/informer'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { configMaps, connect, foldingHandler, held, shown, until } from '../support/informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

const write = ({ storage }: Simulator, name: string, data: object = {}): void => {
  const metadata = { name, namespace: 'default' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
  if (storage.get(configMaps, 'default', name) === undefined) storage.create(configMaps, object)
  else storage.update(configMaps, object)
}

/** `ADDED default/a@5`, `REPLACED default/a@5 default/b@6 vanished default/c@2`, `BOOKMARK 7`. */
const told = (delta: RawDelta): string => {
  switch (delta.type) {
    case 'REPLACED': {
      const vanished = delta.vanished.map((one) => {
        expect(one).toBeInstanceOf(DeletedFinalStateUnknown)
        return ` vanished ${shown(one.object)}`
      })
      return `REPLACED ${[...delta.objects()].map(shown).join(' ')}${vanished.join('')}`
    }
    case 'REFUSED':
      return `REFUSED ${delta.key}`
    case 'BOOKMARK':
      return `BOOKMARK ${delta.resourceVersion}`
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return `${delta.type} ${shown(delta.object)}`
  }
}

interface Running extends AsyncDisposable {
  readonly controller: DeltaController
}

const runController = (
  url: string,
  options: Partial<DeltaControllerOptions> & Pick<DeltaControllerOptions, 'process'>,
): Running => {
  const apiServer = connect(url)
  const stopping = new AbortController()
  const controller = createController({
    resource: configMaps,
    source: apiServer.resource(configMaps),
    namespace: 'default',
    knownObjects: 'none',
    ...options,
  })
  const running = controller.run(stopping.signal)
  return {
    controller,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await running
      await apiServer[Symbol.asyncDispose]()
    },
  }
}

describe('The deltas of a controller', () => {
  it('[17] come in batches of at most 1,000, each key once in each, the initial list alone', async () => {
    await using simulator = await startSimulator()
    for (const name of ['a', 'b', 'c']) write(simulator, name)
    const batches: (readonly RawDelta[])[] = []
    const release = Promise.withResolvers<void>()
    await using running = runController(simulator.url, {
      process: async (deltas) => {
        batches.push(deltas)
        // The first event alone holds up what follows it.
        if (batches.length === 2) await release.promise
      },
    })
    const { controller } = running
    await until(() => controller.hasSynced(), 'the first list')
    write(simulator, 'first')
    await until(() => batches.length === 2, 'the first event')
    for (let n = 0; n < 1200; n++) write(simulator, `n${n}`)
    for (let n = 0; n < 50; n++) write(simulator, 'n1199', { n: String(n) })
    await until(() => controller.queueLength >= 1250, 'events that wait')
    release.resolve()
    await until(() => controller.queueLength === 0 && batches.length > 50, 'the last event')
    expect(batches[0]?.map(({ type }) => type)).toEqual(['REPLACED'])
    const lengths = batches.map(({ length }) => length)
    expect(lengths.slice(1, 5)).toEqual([1, 1000, 200, 1])
    for (const batch of batches) {
      const keys = batch.map((delta) => ('key' in delta ? delta.key : delta.type))
      expect(new Set(keys).size).toBe(keys.length)
    }
    const versions = batches.slice(1).flatMap((batch) => batch.map((one) => one.resourceVersion))
    expect(versions).toEqual(versions.toSorted((a, b) => Number(a) - Number(b)))
    expect(versions).toHaveLength(1251)
    expect(controller.lastSyncResourceVersion).toBe(versions.at(-1))
  })

  it.each([1, 50])(
    '[17] hold the producer back when the queue is full, and lose nothing, in batches of %i',
    async (size) => {
      let taken = 0
      const total = 500
      const source: ListerWatcher = {
        list: async () => inMemoryList([], '1'),
        watch: async (_options, signal) =>
          (async function* () {
            while (taken < total) {
              const first = taken + 1
              taken += size
              yield Array.from({ length: size }, (_, at) =>
                frame('ADDED', configMap(`n${first + at}`, String(first + at + 1))),
              )
            }
            await aborted(signal)
          })(),
      }
      const release = Promise.withResolvers<void>()
      const seen: string[] = []
      const stopping = new AbortController()
      const controller = createController({
        resource: configMaps,
        source,
        queueLimit: 20,
        knownObjects: 'none',
        process: async (deltas) => {
          for (const delta of deltas) if ('object' in delta) seen.push(delta.key)
          if (seen.length > 0) await release.promise
        },
      })
      const running = controller.run(stopping.signal)
      await until(() => controller.queueLength >= 20, 'a full queue')
      for (let turn = 0; turn < 100; turn++) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(controller.queueLength).toBe(20)
      expect(taken).toBe(Math.ceil((seen.length + 20) / size) * size)
      release.resolve()
      await until(() => seen.length === total, 'all of them')
      expect(seen).toEqual(Array.from({ length: total }, (_, n) => `default/n${n + 1}`))
      stopping.abort()
      await running
    },
  )

  it('[36] tell of a whole list as one delta, with what the known objects have and it has not', async () => {
    const known = new Map<string, KubernetesObject>()
    const lines: string[] = []
    const process = (deltas: readonly RawDelta[]): void => {
      for (const delta of deltas) {
        lines.push(told(delta))
        if (delta.type === 'REPLACED') {
          for (const { key } of delta.vanished) known.delete(key)
          for (const object of delta.objects()) known.set(`default/${object.metadata.name}`, object)
        } else if (delta.type === 'DELETED') known.delete(delta.key)
        else if ('object' in delta) known.set(delta.key, delta.object)
      }
    }
    await using server = await ScriptedServer.start()
    await using running = runController(server.url, {
      backoff: { initialMs: 1, factor: 1, maxMs: 1, resetAfterMs: 1000 },
      knownObjects: { keys: () => known.keys(), getByKey: (key) => known.get(key) },
      transform: (object) => {
        if (object.metadata.labels?.['bad'] !== undefined) throw new Error('bad')
        return object
      },
      process,
    })
    const watch = await server.sync('10', [configMap('a', '1'), configMap('b', '2')])
    watch
      .send('MODIFIED', configMap('a', '11'))
      .send('DELETED', configMap('unknown', '12'))
      .send('MODIFIED', configMap('a', '13', { labels: { bad: '' } }))
      .bookmark('14')
      .error(410)
    ;(await server.next('list')).list('20', [configMap('c', '15')])
    await until(() => lines.length === 6, 'both lists')
    expect(lines).toEqual([
      'REPLACED default/a@1 default/b@2',
      'MODIFIED default/a@11',
      'DELETED default/unknown@12',
      'REFUSED default/a',
      'BOOKMARK 14',
      'REPLACED default/c@15 vanished default/a@11 vanished default/b@2',
    ])
    await until(() => running.controller.lastSyncResourceVersion === '20', 'the end of the list')
  })

  it('[36] are processed one batch after the other; what the process throws ends the controller', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const controller = createController({
      resource: configMaps,
      source: apiServer.resource(configMaps),
      knownObjects: 'none',
      process: async (deltas) => {
        if (deltas.some(({ type }) => type === 'ADDED')) throw new Error('out of ideas')
      },
    })
    const running = controller.run(new AbortController().signal)
    const watch = await server.sync('10', [])
    expect(controller.hasSynced()).toBe(true)
    watch.send('ADDED', configMap('a', '11'))
    await expect(running).rejects.toThrow('out of ideas')
    await until(() => watch.closed, 'the end of the watch')
  })

  it('[36] end when the process throws while the reflector waits for room in the queue', async () => {
    let version = 1
    const source: ListerWatcher = {
      list: async () => inMemoryList([], '1'),
      watch: async () =>
        (async function* () {
          while (true) {
            version += 1
            yield [frame('ADDED', configMap(`n${version}`, String(version)))]
          }
        })(),
    }
    const controller: DeltaController = createController({
      resource: configMaps,
      source,
      queueLimit: 1,
      knownObjects: 'none',
      process: async (deltas) => {
        if (deltas.some(({ type }) => type === 'REPLACED')) return
        await until(() => controller.queueLength === 1, 'a full queue')
        throw new Error('out of ideas')
      },
    })
    await expect(controller.run(new AbortController().signal)).rejects.toThrow('out of ideas')
  })
})

const frame = (type: string, object: unknown): Uint8Array =>
  Buffer.from(JSON.stringify({ type, object }))

const inMemoryList = (
  items: readonly object[],
  version: string,
): Awaited<ReturnType<ListerWatcher['list']>> => ({
  async *[Symbol.asyncIterator]() {
    yield items.map((item) => Buffer.from(JSON.stringify(item)))
  },
  metadata: () => ({ resourceVersion: resourceVersion(version) }),
})

const aborted = async (signal: AbortSignal): Promise<void> => {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

describe('A source that is no API server', () => {
  it('[36] feeds an informer: async iterables of bytes are all that it takes', async () => {
    const asked: string[] = []
    const waiting: Uint8Array[] = []
    let wake: (() => void) | undefined
    const send = (type: string, object: unknown): void => {
      waiting.push(frame(type, object))
      wake?.()
    }
    const source: ListerWatcher = {
      list: async ({ resourceVersion: version, limit }) => {
        asked.push(`list at ${version}, ${limit} per page`)
        return inMemoryList([configMap('a', '1'), configMap('b', '2')], '2')
      },
      watch: async ({ resourceVersion: version }, signal) => {
        asked.push(`watch from ${version}`)
        signal.addEventListener('abort', () => wake?.(), { once: true })
        return (async function* () {
          while (!signal.aborted) {
            if (waiting.length > 0) yield waiting.splice(0)
            else await new Promise<void>((resolve) => (wake = resolve))
          }
        })()
      },
    }
    const informer = createSharedInformer({
      resource: configMaps,
      source,
      indexers: { byFirst: ({ metadata }) => [metadata.name.slice(0, 1)] },
    })
    const handler = foldingHandler()
    informer.addEventHandler(handler)
    const stopping = new AbortController()
    const running = informer.run(stopping.signal)
    await informer.waitForSync({ deadlineMs: 20_000 })
    send('MODIFIED', configMap('b', '3'))
    send('DELETED', configMap('a', '4'))
    send('ADDED', configMap('c', '5'))
    await informer.store.waitForResourceVersion(resourceVersion('5'), { deadlineMs: 20_000 })
    expect(held(informer)).toEqual(['default/b@3', 'default/c@5'])
    expect(informer.indexer().indexKeys('byFirst', 'c')).toEqual(['default/c'])
    await until(() => handler.events.length === 5, 'all events')
    expect(handler.events.slice(2)).toEqual([
      'MODIFIED default/b@2 -> default/b@3',
      'DELETED default/a@4',
      'ADDED default/c@5',
    ])
    expect(asked).toEqual(['list at 0, 500 per page', 'watch from 2'])
    stopping.abort()
    await running
    expect(informer.state).toBe('stopped')
  })
})
