import { describe, expect, it } from 'vitest'
import {
  IncomparableResourceVersionError,
  type Unstructured,
  resourceVersion,
  type SharedInformer,
} from 'informerql/informer'
import { foldingHandler, held, runInformer, shown, until } from '../support/informer.ts'
import { play, reach } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

const objects = [
  configMap('a', '1', { labels: { app: 'web', tier: 'x' } }),
  configMap('b', '2', { labels: { app: 'web' } }),
  configMap('c', '3', { labels: { app: 'db', tier: 'x' } }),
]
const byLabelValue = ({ metadata }: Unstructured): readonly string[] =>
  Object.values(metadata.labels ?? {})

const found = ({ store }: SharedInformer, index: string, value: string): string[] =>
  [...(store.index(index).posting(value) ?? [])].map((id) => store.keyOf(id)).toSorted()

describe('A store', () => {
  it('[15] applies events in the order of their arrival across keys, and tells of deletions of unknown objects', async () => {
    await using played = await play([])
    const handler = foldingHandler()
    played.informer.addEventHandler(handler)
    const { watch } = played
    watch.send('ADDED', configMap('b', '11')).send('ADDED', configMap('a', '12'))
    watch.send('MODIFIED', configMap('b', '13')).send('DELETED', configMap('unknown', '14'))
    watch.send('DELETED', configMap('a', '15')).send('ADDED', configMap('c', '16'))
    await until(() => handler.events.length === 6, 'the events')
    expect(handler.events).toEqual([
      'ADDED default/b@11',
      'ADDED default/a@12',
      'MODIFIED default/b@11 -> default/b@13',
      'DELETED default/unknown@14',
      'DELETED default/a@15',
      'ADDED default/c@16',
    ])
  })

  it('[16] is replaced by a list in one step: deletions first, with a tombstone, then the rest in list order', async () => {
    await using played = await play([configMap('a', '1'), configMap('b', '2'), configMap('d', '3')])
    const { informer, server, watch } = played
    const handler = foldingHandler()
    informer.addEventHandler(handler)
    watch.error(500)
    const list = await server.next('list')
    const before = ['default/a@1', 'default/b@2', 'default/d@3']
    const after = ['default/a@1', 'default/b@12', 'default/c@11', 'default/z@13']
    const seen = new Set<string>()
    const look = setInterval(() => seen.add(held(informer).join()), 0)
    const body = JSON.stringify({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '20' },
      items: [
        configMap('z', '13'),
        configMap('a', '1'),
        configMap('c', '11'),
        configMap('b', '12'),
      ],
    })
    for (let at = 0; at < body.length; at += 40) {
      list.write(body.slice(at, at + 40))
      await new Promise((resolve) => setImmediate(resolve))
    }
    list.end()
    await reach(played, '20')
    clearInterval(look)
    expect([...seen].filter((one) => ![before.join(), after.join()].includes(one))).toEqual([])
    expect(held(informer)).toEqual(after)
    await until(() => handler.events.length === 7, 'the events')
    expect(handler.events.slice(3)).toEqual([
      'VANISHED default/d@3',
      'ADDED default/z@13',
      'ADDED default/c@11',
      'MODIFIED default/b@2 -> default/b@12',
    ])
  })

  it('[16] [29] is what the list says, indices included, when the first handler hears of the difference', async () => {
    await using played = await play(objects, { indexers: { label: byLabelValue } })
    const { informer, server, watch } = played
    const seen: unknown[] = []
    informer.addEventHandler({
      onDelete: () => void seen.push([held(informer), found(informer, 'label', 'web')]),
    })
    watch.error(500)
    ;(await server.next('list')).list('20', [
      configMap('b', '12', { labels: { app: 'db' } }),
      configMap('d', '13', { labels: { app: 'web' } }),
    ])
    await until(() => seen.length === 2, 'the deletions')
    const state = [['default/b@12', 'default/d@13'], ['default/d']]
    expect(seen).toEqual([state, state])
  })

  it('[18] has synced once the first list is in it and not before, also when the list is empty', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const { informer } = running
    const registration = informer.addEventHandler({})
    const list = await server.next('list')
    expect(informer.hasSynced()).toBe(false)
    expect(registration.hasSynced()).toBe(false)
    await expect(informer.waitForSync({ deadlineMs: 20 })).rejects.toThrow(/longer than 20 ms/)
    list.list('10', [])
    await informer.waitForSync({ deadlineMs: 20_000 })
    expect(informer.hasSynced()).toBe(true)
    expect(informer.store.resourceVersion).toBe('10')
    await until(() => registration.hasSynced(), 'the sync of the handler')
    const late = informer.addEventHandler({})
    await until(() => late.hasSynced(), 'the sync of the late handler')
  })

  it('[18] has a handler synced only when the handler has been told of everything', async () => {
    await using played = await play(objects)
    const gate = Promise.withResolvers<void>()
    const handler = foldingHandler((event) => (event.includes('/c@') ? gate.promise : undefined))
    const registration = played.informer.addEventHandler(handler)
    await until(() => handler.events.length === 3, 'the last object')
    expect(registration.hasSynced()).toBe(false)
    gate.resolve()
    await until(() => registration.hasSynced(), 'the sync')
  })

  it('[20] indexes an object under several values, moves it with them, and forgets empty ones', async () => {
    await using played = await play(objects, { indexers: { label: byLabelValue } })
    const { informer, watch } = played
    const index = (): Record<string, string[]> =>
      Object.fromEntries(
        informer
          .indexer()
          .listIndexFuncValues('label')
          .toSorted()
          .map((value) => [value, found(informer, 'label', value)]),
      )
    expect(index()).toEqual({
      db: ['default/c'],
      web: ['default/a', 'default/b'],
      x: ['default/a', 'default/c'],
    })
    watch.send('MODIFIED', configMap('c', '11', { labels: { app: 'web', new: 'y' } }))
    watch.send('DELETED', configMap('a', '12'))
    await reach(played, '12')
    expect(index()).toEqual({ web: ['default/b', 'default/c'], y: ['default/c'] })
    expect(informer.store.index('label').posting('db')).toBeUndefined()
  })

  it('[20] is read by index under the names of client-go', async () => {
    await using played = await play(objects, { indexers: { label: byLabelValue } })
    const indexer = played.informer.indexer()
    expect(indexer.byIndex('label', 'web').map(shown).toSorted()).toEqual([
      'default/a@1',
      'default/b@2',
    ])
    expect(indexer.byIndex('label', 'nobody')).toEqual([])
    expect(indexer.indexKeys('label', 'x').toSorted()).toEqual(['default/a', 'default/c'])
    expect(indexer.listIndexFuncValues('label').toSorted()).toEqual(['db', 'web', 'x'])
    // The union over all values that the function finds in an object, be it stored or not.
    const like = configMap('none', '', { labels: { one: 'db', two: 'web' } }) as Unstructured
    expect(indexer.index('label', like).map(shown).toSorted()).toEqual([
      'default/a@1',
      'default/b@2',
      'default/c@3',
    ])
  })

  it('[20] answers an unknown index with an error that names it', async () => {
    await using played = await play(objects)
    const { informer } = played
    const indexer = informer.indexer()
    const error = expect.objectContaining({ code: 'UNKNOWN_INDEX', value: 'nope' })
    expect(() => informer.store.index('nope')).toThrow(error)
    expect(() => indexer.byIndex('nope', 'x')).toThrow(error)
    expect(() => indexer.indexKeys('nope', 'x')).toThrow(error)
    expect(() => indexer.listIndexFuncValues('nope')).toThrow(error)
    expect(() => indexer.index('nope', configMap('a', '1') as Unstructured)).toThrow(error)
  })

  it('[21] fills an index that is added later at once, and keeps it', async () => {
    await using played = await play(objects)
    const { informer, server, watch } = played
    informer.addIndexers({ label: byLabelValue })
    expect(found(informer, 'label', 'web')).toEqual(['default/a', 'default/b'])
    watch.error(500)
    const list = await server.next('list')
    list.list('20', [configMap('a', '12', { labels: { app: 'web' } })])
    await reach(played, '20')
    expect(found(informer, 'label', 'web')).toEqual(['default/a'])
  })

  it('[21] fills an index that is added while a list is on its way', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    ;(await server.next('list')).list('10', objects, { continue: 'more' })
    const second = await server.next('list')
    running.informer.addIndexers({ label: byLabelValue })
    second.list('10', [configMap('d', '4', { labels: { app: 'web' } })])
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(found(running.informer, 'label', 'web')).toEqual(['default/a', 'default/b', 'default/d'])
  })

  it('[21] refuses an index whose name is taken, and then adds none', async () => {
    await using played = await play(objects)
    const { informer } = played
    const none = (): readonly string[] => []
    expect(() => informer.addIndexers({ other: none, namespace: none })).toThrow(
      expect.objectContaining({ code: 'DUPLICATE_INDEX', value: 'namespace' }),
    )
    expect(informer.store.indexNames()).not.toContain('other')
    informer.addIndexers({ constructor: byLabelValue, toString: byLabelValue })
    expect(found(informer, 'toString', 'db')).toEqual(['default/c'])
    expect(() => informer.addIndexers({ toString: none })).toThrow(/already has an index/)
  })

  it('[21] stores an object whose index function throws, and counts the failure with its names', async () => {
    const choosy = ({ metadata }: Unstructured): readonly string[] => {
      if (metadata.name === 'b') throw new TypeError('no b please')
      return ['all']
    }
    await using played = await play(objects, { indexers: { choosy, label: byLabelValue } })
    const { informer, failures, watch } = played
    expect(held(informer)).toHaveLength(3)
    expect(found(informer, 'choosy', 'all')).toEqual(['default/a', 'default/c'])
    expect(found(informer, 'label', 'web')).toEqual(['default/a', 'default/b'])
    expect(informer.failures.get('index')).toBe(1)
    expect(failures[0]?.error).toMatchObject({
      code: 'INDEX_FUNCTION',
      value: 'choosy',
      key: 'default/b',
    })
    watch.send('MODIFIED', configMap('b', '11', { labels: { app: 'db' } }))
    await reach(played, '11')
    expect(found(informer, 'label', 'db')).toEqual(['default/b', 'default/c'])
    informer.addIndexers({ late: choosy })
    expect(found(informer, 'late', 'all')).toEqual(['default/a', 'default/c'])
    expect(informer.failures.get('index')).toBe(3)
  })

  it('[22] lets one wait for a resource version: by list, event and bookmark, and for one that is past', async () => {
    await using played = await play([])
    const { watch, informer } = played
    await reach(played, '10')
    await reach(played, '9')
    const event = reach(played, '11')
    const bookmark = reach(played, '20')
    watch.send('ADDED', configMap('a', '11'))
    await event
    expect(held(informer)).toEqual(['default/a@11'])
    watch.bookmark('100')
    await bookmark
    expect(informer.store.resourceVersion).toBe('100')
  })

  it('[22] ends such a wait at its deadline, with its signal, and at once where there is no order', async () => {
    await using played = await play([])
    const { store } = played.informer
    const wait = (version: string, more: { signal?: AbortSignal } = {}): Promise<void> =>
      store.waitForResourceVersion(resourceVersion(version), { deadlineMs: 30, ...more })
    await expect(wait('11')).rejects.toMatchObject({ code: 'DEADLINE' })
    const reason = new Error('no longer wanted')
    await expect(wait('11', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    for (const version of ['', '0', '011', 'abc', '1e3', '-1']) {
      await expect(wait(version)).rejects.toBeInstanceOf(IncomparableResourceVersionError)
    }
    await using older = await play([], { resourceVersionsComparable: false })
    const olderStore = older.informer.store
    await olderStore.waitForResourceVersion(resourceVersion('10'), { deadlineMs: 30 })
    await expect(
      olderStore.waitForResourceVersion(resourceVersion('9'), { deadlineMs: 30 }),
    ).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  })

  it('[22] ends such a wait when the informer is stopped', async () => {
    await using played = await play([])
    const { store } = played.informer
    const failed = store.waitForResourceVersion(resourceVersion('11')).catch((error) => error)
    await played.stop()
    expect(await failed).toMatchObject({ code: 'INFORMER_STOPPED' })
    await expect(store.waitForResourceVersion(resourceVersion('11'))).rejects.toMatchObject({
      code: 'INFORMER_STOPPED',
    })
    await store.waitForResourceVersion(resourceVersion('9'))
  })

  it('[22] [33] knows of itself whether its server promises an order, which is asked for once, when it matters', async () => {
    for (const [gitVersion, code] of [
      ['v1.34.9', 'UNSUPPORTED'],
      ['v1.35.0', 'DEADLINE'],
      [undefined, 'DEADLINE'],
    ] as const) {
      await using played = await play([])
      const { informer, server } = played
      server.gitVersion = gitVersion
      await informer.store.waitForResourceVersion(resourceVersion('10'))
      expect(server.versionRequests).toBe(0)
      for (let time = 0; time < 2; time++) {
        const wanted = informer.store.waitForResourceVersion(resourceVersion('11'), {
          deadlineMs: 200,
        })
        await expect(wanted).rejects.toMatchObject({ code })
      }
      expect(server.versionRequests).toBe(gitVersion === undefined ? 2 : 1)
    }
    await using forced = await play([], { resourceVersionsComparable: true })
    forced.server.gitVersion = 'v1.34.9'
    await reach(forced, '9')
  })

  it('[22] [33] compares resource versions as numbers of any length, never as doubles', async () => {
    await using played = await play([])
    played.watch.bookmark('9007199254740993')
    await reach(played, '9007199254740992')
    await reach(played, '9007199254740993')
    await expect(
      played.informer.store.waitForResourceVersion(resourceVersion('9007199254740994'), {
        deadlineMs: 20,
      }),
    ).rejects.toMatchObject({ code: 'DEADLINE' })
  })

  it('[19] [22] skips an object whose transform throws: counted, not in the store, and the position moves on', async () => {
    const transform = (object: Unstructured): Unstructured => {
      if (object['bad'] === true) throw new Error('never seen such a thing')
      return { ...object, touched: true }
    }
    await using played = await play([configMap('a', '1'), { ...configMap('b', '2'), bad: true }], {
      transform,
    })
    const { informer, watch } = played
    const handler = foldingHandler()
    informer.addEventHandler(handler)
    expect(held(informer)).toEqual(['default/a@1'])
    watch.send('ADDED', { ...configMap('c', '11'), bad: true })
    await reach(played, '11')
    watch.send('MODIFIED', { ...configMap('a', '12'), bad: true })
    await reach(played, '12')
    expect(held(informer)).toEqual([])
    watch.send('MODIFIED', configMap('a', '13'))
    await reach(played, '13')
    watch.send('DELETED', { ...configMap('a', '14'), bad: true })
    await reach(played, '14')
    expect(held(informer)).toEqual([])
    expect(informer.failures.get('transform')).toBe(4)
    await until(() => handler.events.length === 4, 'the events')
    expect(handler.events).toEqual([
      'INITIAL default/a@1',
      'VANISHED default/a@1',
      'ADDED default/a@13',
      'VANISHED default/a@13',
    ])
  })
})
