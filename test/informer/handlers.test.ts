import { describe, expect, it } from 'vitest'
import {
  type HandlerRegistration,
  InformerStoppedError,
  type KubernetesObject,
  type ListenerBatch,
} from 'informerql/informer'
import {
  foldingHandler,
  held,
  runInformer,
  shown,
  testInformer,
  until,
} from '../support/informer.ts'
import { play, reach } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

const abc = [configMap('a', '1'), configMap('b', '2'), configMap('c', '3')]

/** A promise, and the functions that settle it. */
const newGate = (): PromiseWithResolvers<void> => Promise.withResolvers<void>()

const shownBatch = ({ reset, changes, synced }: ListenerBatch): string =>
  [
    ...(reset ? ['RESET'] : []),
    ...changes.map(({ type, object }) => `${type} ${shown(object)}`),
    ...(synced ? ['SYNCED'] : []),
  ].join(', ')

describe('A handler', () => {
  it('[23] is not told again of what a relist or a repeated event found unchanged', async () => {
    await using played = await play(abc)
    const handler = foldingHandler()
    played.informer.addEventHandler(handler)
    played.watch.send('MODIFIED', configMap('a', '1')).send('ADDED', configMap('b', '2'))
    played.watch.error(500)
    ;(await played.server.next('list')).list('20', [...abc, configMap('d', '12')])
    await until(() => handler.events.length >= 4, 'the new object')
    expect(handler.events).toEqual([
      'INITIAL default/a@1',
      'INITIAL default/b@2',
      'INITIAL default/c@3',
      'ADDED default/d@12',
    ])
  })

  it('[23] is told of what is repeated unchanged, as of a resync, where it asked for one', async () => {
    await using played = await play(abc)
    const [plain, resynced] = [foldingHandler(), foldingHandler()]
    played.informer.addEventHandler(plain)
    played.informer.addEventHandler(resynced, { resyncPeriodMs: 3_600_000 })
    const ofOne = { route: { keys: ['default/b'] }, resyncPeriodMs: 3_600_000 }
    const routed = foldingHandler()
    played.informer.addEventHandler(routed, ofOne)
    await until(() => resynced.events.length === 3, 'the list')
    played.watch.send('MODIFIED', configMap('a', '1')).send('ADDED', configMap('b', '2'))
    await until(() => resynced.events.length === 5, 'the events')
    played.watch.error(500)
    ;(await played.server.next('list')).list('20', [...abc.slice(0, 2), configMap('c', '12')])
    await until(() => resynced.events.length === 8, 'the list')
    expect(resynced.events.slice(3)).toEqual([
      'MODIFIED default/a@1 -> default/a@1',
      'MODIFIED default/b@2 -> default/b@2',
      'MODIFIED default/c@3 -> default/c@12',
      'MODIFIED default/a@1 -> default/a@1',
      'MODIFIED default/b@2 -> default/b@2',
    ])
    expect(plain.events.slice(3)).toEqual(['MODIFIED default/c@3 -> default/c@12'])
    expect(routed.events.slice(1)).toEqual([
      'MODIFIED default/b@2 -> default/b@2',
      'MODIFIED default/b@2 -> default/b@2',
    ])
  })

  it('[23] is told again of objects without a resource version: nothing says that they are the same', async () => {
    const bare = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', uid: 'a' } }
    await using played = await play([bare])
    const handler = foldingHandler()
    played.informer.addEventHandler(handler)
    await until(() => handler.events.length === 1, 'the object')
    played.watch.error(500)
    ;(await played.server.next('list')).list('20', [bare])
    await until(() => handler.events.length === 2, 'the object again')
    expect(handler.events).toEqual(['INITIAL a@', 'MODIFIED a@ -> a@'])
  })

  it.each([
    ['in a list', true],
    ['in an event', false],
  ])(
    '[24] is told of a deletion and an addition when an object was recreated unseen, found %s',
    async (_, byList) => {
      await using played = await play([configMap('a', '1'), configMap('b', '2')])
      const handler = foldingHandler()
      played.informer.addEventHandler(handler)
      const recreated = configMap('a', '15', { uid: 'another' })
      if (byList) {
        played.watch.error(410)
        ;(await played.server.next('list')).list('20', [recreated, configMap('b', '2')])
      } else played.watch.send('MODIFIED', recreated)
      await until(() => handler.events.length >= 4, 'the events')
      expect(handler.events.slice(2)).toEqual(['VANISHED default/a@1', 'ADDED default/a@15'])
      expect(played.informer.indexer().byIndex('uid', 'another').map(shown)).toEqual([
        'default/a@15',
      ])
      expect(played.informer.indexer().byIndex('uid', 'uid-of-a')).toEqual([])
    },
  )

  it('[25] that was added late is told of everything present, then of what follows, without a gap', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const late: ReturnType<typeof foldingHandler>[] = []
    // Added between two events of one batch, and between the store's change and its delivery.
    informer.addEventHandler({
      onUpdate: () => {
        const handler = foldingHandler()
        late.push(handler)
        informer.addEventHandler(handler)
      },
    })
    const changes = Array.from({ length: 20 }, (_, at) =>
      JSON.stringify({ type: 'MODIFIED', object: configMap('a', String(11 + at)) }),
    )
    watch.write(`${changes.join('\n')}\n`)
    await until(() => late.length === 20, 'the late handlers')
    watch.send('DELETED', configMap('b', '50'))
    await until(() => late.every(({ objects }) => objects.size === 2), 'the deletion')
    for (const { events, objects } of late) {
      expect([...objects.values()].map(shown).toSorted()).toEqual(held(informer))
      const initial = events.filter((event) => event.startsWith('INITIAL'))
      expect(initial).toHaveLength(3)
      expect(events.slice(0, 3)).toEqual(initial)
      const versions = events.map((event) => Number(/a@(\d+)$/.exec(event)?.[1] ?? 0))
      const ofA = versions.filter((version) => version > 0)
      expect(ofA).toEqual(Array.from(ofA, (_, at) => 31 - ofA.length + at))
    }
  })

  it('[27] is removed as often as one likes, and only by its own informer', async () => {
    await using played = await play(abc)
    await using other = await play(abc)
    const handler = foldingHandler()
    const registration = played.informer.addEventHandler(handler)
    other.informer.removeEventHandler(registration)
    other.informer.removeEventHandler({} as HandlerRegistration)
    played.watch.send('ADDED', configMap('d', '11'))
    await until(() => handler.events.length === 4, 'the event')
    played.informer.removeEventHandler(registration)
    played.informer.removeEventHandler(registration)
    registration.remove()
    await registration[Symbol.asyncDispose]()
    expect(played.informer.listeners).toBe(0)
    played.watch.send('ADDED', configMap('e', '12'))
    await reach(played, '12')
    expect(handler.events).toHaveLength(4)
  })

  it('[27] that removes itself hears nothing more, not even of the same batch', async () => {
    await using played = await play(abc)
    const handler = foldingHandler(() => registration.remove())
    const registration = played.informer.addEventHandler(handler)
    await until(() => played.informer.listeners === 0, 'the removal')
    played.watch.send('ADDED', configMap('d', '11'))
    await reach(played, '11')
    expect(handler.events).toEqual(['INITIAL default/a@1'])
  })

  it('[28] is told of an object anew of which only the deletion waited, when it comes back', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const gate = newGate()
    const handler = foldingHandler((event) =>
      event === 'INITIAL default/a@1' ? gate.promise : undefined,
    )
    informer.addEventHandler(handler, { bufferLimit: 0 })
    await until(() => handler.events.length === 1, 'the first event')
    // Into the selection, out of it, and in again; and once more.
    for (const version of ['11', '13', '15']) {
      watch.send('ADDED', configMap('x', version))
      watch.send('DELETED', configMap('x', String(Number(version) + 1)))
    }
    watch.send('ADDED', configMap('x', '17'))
    await reach(played, '17')
    gate.resolve()
    await until(() => handler.events.length >= 4, 'the events')
    expect(handler.events.slice(3)).toEqual(['ADDED default/x@17'])
  })

  it('[27] cannot be added once the informer has stopped, which runs once', async () => {
    await using played = await play(abc)
    await played.stop()
    expect(() => played.informer.addEventHandler({})).toThrow(InformerStoppedError)
    expect(() => played.informer.listen()).toThrow(InformerStoppedError)
    await expect(played.informer.run(new AbortController().signal)).rejects.toThrow(
      InformerStoppedError,
    )
  })

  it.each<[string, (event: string) => void | Promise<void>]>([
    [
      'throws',
      () => {
        throw new Error('handler')
      },
    ],
    ['rejects', () => Promise.reject(new Error('handler'))],
  ])(
    '[27] that %s loses that one item, is counted, and syncs; others lose nothing',
    async (_, fail) => {
      await using played = await play(abc)
      const { informer, failures } = played
      const failing = foldingHandler((event) => (event.includes('/b@') ? fail(event) : undefined))
      const sound = foldingHandler()
      const registration = informer.addEventHandler(failing)
      informer.addEventHandler(sound)
      await until(() => registration.hasSynced(), 'the sync')
      played.watch.send('DELETED', configMap('b', '11')).send('ADDED', configMap('d', '12'))
      await until(() => failing.events.length === 5 && sound.events.length === 5, 'the events')
      expect(failing.events).toEqual(sound.events)
      expect(informer.failures.get('handler')).toBe(2)
      expect(failures.map(({ error }) => error)).toMatchObject([
        { code: 'HANDLER', key: 'default/b' },
        { code: 'HANDLER', key: 'default/b' },
      ])
    },
  )

  it('[28] with "coalesce" is told the latest state of what it missed; a deletion survives', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const gate = newGate()
    const handler = foldingHandler((event) =>
      event === 'INITIAL default/a@1' ? gate.promise : undefined,
    )
    informer.addEventHandler(handler, { bufferLimit: 2, overflow: 'coalesce' })
    await until(() => handler.events.length === 1, 'the first event')
    for (let version = 11; version < 20; version++)
      watch.send('MODIFIED', configMap('a', String(version)))
    watch.send('DELETED', configMap('b', '20')).send('ADDED', configMap('b', '21', { uid: 'new' }))
    watch.send('ADDED', configMap('x', '22')).send('DELETED', configMap('x', '23'))
    watch.send('ADDED', configMap('y', '24')).send('MODIFIED', configMap('y', '25'))
    watch.send('MODIFIED', configMap('c', '26')).send('DELETED', configMap('c', '27'))
    // It left the selection and came back.
    watch.send('DELETED', configMap('a', '28')).send('ADDED', configMap('a', '29'))
    await reach(played, '29')
    gate.resolve()
    await until(() => handler.events.length >= 9, 'the events')
    expect(handler.events.slice(3)).toEqual([
      'MODIFIED default/a@1 -> default/a@29',
      'DELETED default/b@20',
      'ADDED default/b@21',
      // Whoever reads the lister may have met it.
      'DELETED default/x@23',
      'ADDED default/y@25',
      'DELETED default/c@27',
    ])
    expect([...handler.objects.values()].map(shown).toSorted()).toEqual(held(informer))
  })

  it('[28] with "reset" is told to forget what it holds, and then of everything there is', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const gate = newGate()
    const handler = foldingHandler((event) =>
      event === 'ADDED default/d@11' ? gate.promise : undefined,
    )
    const registration = informer.addEventHandler(
      {
        ...handler,
        onReset: () => {
          handler.events.push('RESET')
          handler.objects.clear()
        },
      },
      { bufferLimit: 2, overflow: 'reset' },
    )
    await until(() => registration.hasSynced(), 'the sync')
    watch.send('ADDED', configMap('d', '11'))
    await until(() => handler.events.length === 4, 'the event')
    watch.send('DELETED', configMap('a', '12')).send('MODIFIED', configMap('b', '13'))
    watch.send('DELETED', configMap('d', '14')).send('ADDED', configMap('e', '15'))
    await reach(played, '15')
    gate.resolve()
    await until(() => handler.events.length >= 8, 'the events')
    expect(handler.events.slice(4)).toEqual([
      'RESET',
      'INITIAL default/b@13',
      'INITIAL default/c@3',
      'INITIAL default/e@15',
    ])
    expect([...handler.objects.values()].map(shown).toSorted()).toEqual(held(informer))
    watch.send('DELETED', configMap('e', '16'))
    await until(() => handler.objects.size === 2, 'what follows')
  })

  it('[28] cannot choose "reset" when it cannot be told to forget', async () => {
    await using played = await play(abc)
    expect(() => played.informer.addEventHandler({}, { overflow: 'reset' })).toThrow(
      expect.objectContaining({ code: 'MISSING_ON_RESET' }),
    )
    expect(played.informer.listeners).toBe(0)
  })

  it('[28] with "disconnect" is removed when it has fallen behind, which is reported; others go on', async () => {
    await using played = await play(abc)
    const { informer, watch, failures } = played
    const gate = newGate()
    const slow = foldingHandler((event) => (event.includes('/c@') ? gate.promise : undefined))
    const sound = foldingHandler()
    informer.addEventHandler(slow, { bufferLimit: 2, overflow: 'disconnect' })
    informer.addEventHandler(sound)
    await until(() => slow.events.length === 3, 'the first events')
    for (let version = 11; version < 15; version++)
      watch.send('ADDED', configMap(`n${version}`, String(version)))
    await until(() => sound.events.length === 7, 'the events of the other')
    gate.resolve()
    await until(() => failures.length === 1, 'the report')
    expect(failures).toMatchObject([
      { failure: 'handler', error: { code: 'LISTENER_OVERFLOW', value: 2 } },
    ])
    expect(slow.events).toHaveLength(3)
    expect(informer.listeners).toBe(1)
  })

  it('[28] is never dropped for the snapshot that it begins with, however small its buffer', async () => {
    await using server = await ScriptedServer.start()
    await using waiting = testInformer({ server: server.url })
    const { informer } = waiting
    const handlers = (['coalesce', 'disconnect', 'reset'] as const).map((overflow) => {
      const handler = foldingHandler()
      informer.addEventHandler({ ...handler, onReset: () => {} }, { bufferLimit: 1, overflow })
      return handler
    })
    waiting.run()
    await server.sync('10', abc)
    await until(() => handlers.every(({ events }) => events.length === 3), 'the snapshots')
    expect(informer.failures.size).toBe(0)
  })

  it('[28] has the same as batches: a listener with each policy', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const listeners = (['coalesce', 'reset', 'disconnect'] as const).map((overflow) =>
      informer.listen({ bufferLimit: 1, overflow }),
    )
    const readers = listeners.map((listener) => listener[Symbol.asyncIterator]())
    const next = async (): Promise<string[]> =>
      Promise.all(
        readers.map(async (reader) =>
          reader.next().then(
            ({ value }) => (value === undefined ? 'END' : shownBatch(value)),
            (error: unknown) => (error as { code: string }).code,
          ),
        ),
      )
    const all = 'ADDED default/a@1, ADDED default/b@2, ADDED default/c@3, SYNCED'
    expect(await next()).toEqual([all, all, all])
    watch.send('MODIFIED', configMap('a', '11')).send('MODIFIED', configMap('a', '12'))
    watch.send('DELETED', configMap('b', '13')).send('DELETED', configMap('c', '14'))
    await reach(played, '14')
    expect(listeners.map(({ closed }) => closed)).toEqual([false, false, true])
    expect(await next()).toEqual([
      'MODIFIED default/a@12, DELETED default/b@13, DELETED default/c@14',
      'RESET, ADDED default/a@12',
      'LISTENER_OVERFLOW',
    ])
  })

  it('hears of a deletion whose addition still waits only where its reader looks at the store', async () => {
    await using played = await play([])
    const { informer, watch } = played
    const readers = [true, false].map((readsStore) =>
      informer.listen({ bufferLimit: 0, replay: false, readsStore })[Symbol.asyncIterator](),
    )
    const next = async (): Promise<string[]> =>
      Promise.all(
        readers.map(async (reader) => {
          const { value } = await reader.next()
          return value === undefined ? 'END' : shownBatch(value)
        }),
      )
    expect(await next()).toEqual(['SYNCED', 'SYNCED'])
    watch.send('ADDED', configMap('a', '11')).send('DELETED', configMap('a', '12'))
    watch.send('ADDED', configMap('b', '13'))
    await reach(played, '13')
    expect(await next()).toEqual(['DELETED default/a@12, ADDED default/b@13', 'ADDED default/b@13'])
  })

  it('[29] finds store and indices up to date, and hears of each object in the server’s order', async () => {
    const byRevision = ({ metadata }: KubernetesObject): readonly string[] => [
      metadata.resourceVersion ?? '',
    ]
    await using played = await play([], { indexers: { byRevision } })
    const { informer, watch } = played
    const behind: string[] = []
    const check = ({ metadata }: KubernetesObject): void => {
      const { resourceVersion: version = '', name } = metadata
      const key = `default/${name}`
      const id = informer.store.idOf(key)
      const stored = id === undefined ? undefined : informer.store.object(id)
      const at = stored?.metadata.resourceVersion ?? 'none'
      if (stored !== undefined && Number(at) < Number(version))
        behind.push(`${key}: ${at} < ${version}`)
      if (stored !== undefined && informer.indexer().indexKeys('byRevision', at)[0] !== key) {
        behind.push(`${key}: index`)
      }
      if (Number(informer.store.resourceVersion) < Number(version)) behind.push(`${key}: position`)
    }
    const handler = foldingHandler()
    informer.addEventHandler({ onAdd: check, onUpdate: (_, object) => check(object) })
    informer.addEventHandler(handler)
    const lines: string[] = []
    for (let version = 11; version < 211; version++) {
      const type = version < 16 ? 'ADDED' : 'MODIFIED'
      lines.push(JSON.stringify({ type, object: configMap(`n${version % 5}`, String(version)) }))
    }
    watch.write(`${lines.join('\n')}\n`)
    await until(() => handler.events.length === 200, 'the events')
    expect(behind).toEqual([])
    const last = new Map<string, number>()
    for (const event of handler.events) {
      const [, key = '', version = ''] = /default\/(n\d)@(\d+)$/.exec(event) ?? []
      expect(Number(version)).toBe((last.get(key) ?? Number(version) - 5) + 5)
      last.set(key, Number(version))
    }
  })

  it('[29] is not left waiting for ever when its informer breaks: that is told, and it begins again with a list', async () => {
    await using server = await ScriptedServer.start()
    const told: unknown[] = []
    await using running = runInformer({
      server: server.url,
      indexers: {
        broken: ({ metadata }) => {
          if (metadata.name === 'x') throw new Error('index')
          return []
        },
      },
      plainObserver: {
        failed: (failure, error) => {
          told.push([failure, error.message])
          throw new Error('an observer that must not throw')
        },
      },
    })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    const watch = await server.sync('10', abc)
    await until(() => handler.events.length === 3, 'the initial list')
    watch.send('ADDED', configMap('x', '11'))
    const again = await server.next('list')
    await until(() => watch.closed, 'the end of the watch')
    expect(told.at(-1)).toEqual(['loop', 'an observer that must not throw'])
    expect(running.informer.lastError?.message).toBe('an observer that must not throw')
    again.list('20', [...abc, configMap('y', '12')])
    await until(() => handler.events.includes('ADDED default/y@12'), 'the second list')
    await until(() => running.informer.state === 'synced', 'the state')
    expect(running.informer.lastError).toBeUndefined()
  })

  it('is observed by any observer, also by an instance of a class', async () => {
    class Observer {
      readonly #seen: string[] = []
      get seen(): readonly string[] {
        return this.#seen
      }
      listed({ items }: { readonly items: number }): void {
        this.#seen.push(`listed ${items}`)
      }
      watching(version: string): void {
        this.#seen.push(`watching ${version}`)
      }
      watched({ events }: { readonly events: number }): void {
        this.#seen.push(`watched ${events}`)
      }
      failed(failure: string): void {
        this.#seen.push(`failed ${failure}`)
      }
    }
    const observer = new Observer()
    await using server = await ScriptedServer.start()
    await using waiting = testInformer({ server: server.url, plainObserver: observer })
    waiting.run()
    ;(await server.sync('10', abc)).send('ADDED', configMap('d', '11')).error(429)
    await server.next('watch')
    expect(observer.seen).toEqual(['listed 3', 'watching 10', 'watched 2', 'failed watch'])
  })
})
