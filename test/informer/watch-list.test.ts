import { describe, expect, it } from 'vitest'
import { createSharedInformerFactory, type ListerWatcher } from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import {
  configMaps,
  connect,
  endlessBackoff,
  foldingHandler,
  held,
  type InformerSetting,
  runInformer,
  type TestInformer,
  until,
} from '../support/informer.ts'
import {
  configMap,
  type ScriptedRequest,
  ScriptedServer,
  tooLargeStatuses,
} from './scripted-server.ts'

const run = (server: ScriptedServer, options: Partial<InformerSetting> = {}): TestInformer =>
  runInformer({ server: server.url, initialList: 'watchlist', ...options })

describe('An informer that was told to stream its initial list', () => {
  it('[4] opens one watch for list and changes; readers see the list when it is whole', async () => {
    await using server = await ScriptedServer.start()
    await using running = run(server, { namespace: 'default', labelSelector: 'a=b' })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    const watch = await server.next('watch')
    const { timeoutSeconds, ...query } = watch.query
    expect(Number(timeoutSeconds)).toBeGreaterThanOrEqual(300)
    expect(query).toEqual({
      labelSelector: 'a=b',
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
    })
    watch.send('ADDED', configMap('b', '7')).send('ADDED', configMap('a', '5'))
    watch.send('ADDED', configMap('c', '6')).send('DELETED', configMap('c', '8')).bookmark('8')
    watch.write(`{"type":"ADDED","object":${JSON.stringify(configMap('d', '9'))}}`)
    await until(() => running.informer.state === 'listing', 'the list')
    expect(running.informer.hasSynced()).toBe(false)
    expect(running.informer.store.size).toBe(0)
    expect(running.informer.store.resourceVersion).toBe('')
    watch.write('\n').endInitialEvents('10').send('MODIFIED', configMap('a', '11'))
    await until(() => handler.events.length === 4, 'the events')
    expect(handler.events).toEqual([
      'INITIAL default/b@7',
      'INITIAL default/a@5',
      'INITIAL default/d@9',
      'MODIFIED default/a@5 -> default/a@11',
    ])
    watch.send('DELETED', configMap('b', '12'))
    await until(() => running.informer.store.resourceVersion === '12', 'the deletion')
    expect(held(running.informer)).toEqual(['default/a@11', 'default/d@9'])
  })

  it('[4] takes no position from the initial events: a stream that broke is asked for from the last one', async () => {
    await using server = await ScriptedServer.start()
    await using _running = run(server)
    ;(await server.next('watch')).endInitialEvents('10').error(500)
    const second = await server.next('watch')
    expect(second.query).toMatchObject({ resourceVersion: '10', sendInitialEvents: 'true' })
    second.send('ADDED', configMap('a', '15')).end()
    // Over before its end: a LIST for this cycle.
    expect((await server.next('list')).query).toEqual({ resourceVersion: '10' })
  })

  it('[4] lists with a stream again when it has to list again', async () => {
    await using server = await ScriptedServer.start()
    await using running = run(server)
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    ;(await server.next('watch'))
      .send('ADDED', configMap('a', '5'))
      .send('ADDED', configMap('b', '6'))
      .endInitialEvents('10')
      .error(410)
    const again = await server.next('watch')
    again.send('ADDED', configMap('a', '12')).send('ADDED', configMap('c', '11'))
    again.endInitialEvents('20')
    await until(() => handler.events.length === 5, 'the events')
    expect(handler.events.slice(2)).toEqual([
      'VANISHED default/b@6',
      'MODIFIED default/a@5 -> default/a@12',
      'ADDED default/c@11',
    ])
  })

  it('[5] asks again at the same position where connections are refused', async () => {
    await using server = await ScriptedServer.start()
    await server.refuse()
    await using running = run(server)
    await until(() => (running.informer.failures.get('list') ?? 0) > 3, 'some attempts')
    await server.listen()
    expect((await server.next('watch')).query).toMatchObject({ sendInitialEvents: 'true' })
  })

  it.each<[string, (watch: ScriptedRequest) => void]>([
    ['a refusal', (watch) => watch.refuse(429)],
    ['an ERROR event', (watch) => void watch.send('ADDED', configMap('x', '1')).error(429)],
  ])('[5] asks again after %s of 429', async (_, fail) => {
    await using server = await ScriptedServer.start()
    await using running = run(server)
    fail(await server.next('watch'))
    const again = await server.next('watch')
    expect(again.query).toMatchObject({ sendInitialEvents: 'true' })
    again.endInitialEvents('10')
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(held(running.informer)).toEqual([])
    expect(running.failures).toMatchObject([{ failure: 'list', error: { httpStatus: 429 } }])
  })

  it.each<[string, (watch: ScriptedRequest) => void]>([
    ['410', (watch) => watch.refuse(410)],
    ['an ERROR event of 410', (watch) => void watch.error(410)],
    ...Object.entries(tooLargeStatuses).map(
      ([name, status]): [string, (watch: ScriptedRequest) => void] => [
        `too large, by ${name}`,
        (watch) => watch.refuse(504, status),
      ],
    ),
  ])('[5] asks at "" at once after %s', async (_, fail) => {
    await using server = await ScriptedServer.start()
    await using running = run(server, {
      // Short for the way to the second list, endless from there on.
      backoff: { initialMs: 1, factor: 1e9, maxMs: endlessBackoff.maxMs, resetAfterMs: 1e9 },
    })
    ;(await server.next('watch')).endInitialEvents('10').error(500)
    const second = await server.next('watch')
    expect(second.query).toMatchObject({ resourceVersion: '10', sendInitialEvents: 'true' })
    fail(second)
    const third = await server.next('watch')
    expect(third.query).toMatchObject({ sendInitialEvents: 'true' })
    expect(third.query).not.toHaveProperty('resourceVersion')
    third.send('ADDED', configMap('a', '15')).endInitialEvents('20')
    await until(() => running.informer.store.size === 1, 'the list')
    expect(held(running.informer)).toEqual(['default/a@15'])
  })

  it('[5] asks at "" at once where even the first list at "" is refused with 410, and then for a LIST', async () => {
    await using server = await ScriptedServer.start()
    await using _running = run(server, { backoff: endlessBackoff })
    for (let attempt = 0; attempt < 2; attempt++) {
      const watch = await server.next('watch')
      expect(watch.query).toMatchObject({ sendInitialEvents: 'true' })
      expect(watch.query).not.toHaveProperty('resourceVersion')
      watch.refuse(410)
    }
    expect((await server.next('list')).query).toEqual({ limit: '500' })
  })

  it('[5] asks at "" also where the list was at "0"', async () => {
    await using server = await ScriptedServer.start()
    await using _running = run(server)
    ;(await server.next('watch')).endInitialEvents('0').error(500)
    const again = await server.next('watch')
    expect(again.query).toMatchObject({ sendInitialEvents: 'true' })
    expect(again.query).not.toHaveProperty('resourceVersion')
  })

  it.each<[string, (watch: ScriptedRequest) => void | Promise<void>]>([
    ['a stream that is broken at once', (watch) => watch.open().cut()],
    ['500', (watch) => watch.refuse(500)],
    ['403', (watch) => watch.refuse(403)],
    ['an ERROR event of 500', (watch) => void watch.error(500)],
    ['a malformed frame', (watch) => void watch.write('{"type"\n')],
    ['an early end', (watch) => watch.send('ADDED', configMap('x', '1')).end()],
    ['a very short stream', (watch) => watch.open().end()],
  ])('[5] falls back to a LIST after %s, for this cycle only', async (_, fail) => {
    await using server = await ScriptedServer.start()
    await using running = run(server)
    await fail(await server.next('watch'))
    const list = await server.next('list')
    expect(list.query).toEqual({ resourceVersion: '0', limit: '500' })
    expect(running.informer.failures.get('list')).toBe(1)
    list.list('10', [configMap('a', '5')])
    const watch = await server.next('watch')
    expect(watch.query).not.toHaveProperty('sendInitialEvents')
    watch.error(500)
    expect((await server.next('watch')).query).toMatchObject({ sendInitialEvents: 'true' })
    expect(held(running.informer)).toEqual(['default/a@5'])
  })

  it.each<[string, (watch: ScriptedRequest) => void]>([
    ['422', (watch) => watch.refuse(422)],
    ['400', (watch) => watch.refuse(400)],
    ['silence', (watch) => void watch.open()],
  ])('[5] falls back to LISTs for good after %s', async (_, fail) => {
    await using server = await ScriptedServer.start()
    await using running = run(server, { watchListSilenceMs: 50 })
    const refused = await server.next('watch')
    fail(refused)
    ;(await server.next('list')).list('10', [])
    await until(() => refused.closed, 'the end of the stream')
    ;(await server.next('watch')).error(500)
    expect((await server.next('list')).query).toEqual({ resourceVersion: '10' })
    expect(running.informer.hasSynced()).toBe(true)
  })

  it('[5] syncs with a server that never ends the initial events, and asks it no more for any kind', async () => {
    await using simulator = await startSimulator()
    simulator.storage.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'a' },
    })
    const match = { verb: 'watch' } as const
    simulator.faults.inject({ fault: { type: 'no-initial-events-end' }, match, times: 1000 })
    await using connection = connect(simulator.url)
    await using factory = createSharedInformerFactory({
      initialList: 'watchlist',
      watchListSilenceMs: 100,
      source: (resource) => connection.resource(resource),
    })
    const first = factory.informer(configMaps)
    factory.start()
    await first.waitForSync({ deadlineMs: 20_000 })
    expect(held(first)).toHaveLength(1)
    expect(first.failures.get('list')).toBe(1)
    const second = factory.informer({ ...configMaps, resource: 'pods', kind: 'Pod' })
    factory.start()
    await second.waitForSync({ deadlineMs: 20_000 })
    expect(second.failures.get('list')).toBeUndefined()
  })

  it('[5] remembers a refusal for all informers of a factory', async () => {
    await using server = await ScriptedServer.start()
    await using connection = connect(server.url)
    await using factory = createSharedInformerFactory({
      initialList: 'watchlist',
      source: (resource) => connection.resource(resource),
    })
    factory.informer(configMaps)
    factory.start()
    ;(await server.next('watch')).refuse(422)
    await server.sync('10', [])
    factory.informer({ ...configMaps, resource: 'pods', kind: 'Pod' })
    factory.start()
    expect((await server.next('list')).query).toEqual({ resourceVersion: '0', limit: '500' })
  })

  it.each<[string, (watch: ScriptedRequest) => Promise<void> | void]>([
    ['the connection', (watch) => watch.send('ADDED', configMap('x', '1')).cut()],
    ['a frame', (watch) => watch.send('ADDED', configMap('x', '1')).write('{"type":').end()],
  ])('tries the streaming list once more after %s was cut, then a LIST', async (_, cut) => {
    await using server = await ScriptedServer.start()
    await using running = run(server)
    for (let round = 0; round < 2; round++) {
      for (let attempt = 0; attempt < 2; attempt++) {
        const watch = await server.next('watch')
        expect(watch.query).toMatchObject({ sendInitialEvents: 'true' })
        await cut(watch)
      }
      ;(await server.next('list')).list('10', [configMap('a', '5')])
      ;(await server.next('watch')).error(500)
    }
    // And another list, which is cut once only.
    await cut(await server.next('watch'))
    ;(await server.next('watch')).send('ADDED', configMap('b', '20')).endInitialEvents('21')
    await until(() => running.informer.store.resourceVersion === '21', 'the list')
    expect(held(running.informer)).toEqual(['default/b@20'])
  })

  it('falls back to LISTs for good where events never stop coming and their end never comes', async () => {
    await using server = await ScriptedServer.start()
    await using connection = connect(server.url)
    const source = (): ListerWatcher => connection.resource(configMaps)
    await using running = run(server, { watchListDeadlineMs: 100, source: source() })
    const watch = await server.next('watch')
    for (let version = 1; !watch.closed; version++) {
      watch.send('MODIFIED', configMap('a', String(version)))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    ;(await server.next('list')).list('10000', [configMap('a', '9999')])
    ;(await server.next('watch')).error(500)
    ;(await server.next('list')).list('10001', [configMap('a', '9999')])
    expect(held(running.informer)).toEqual(['default/a@9999'])
    expect(running.failures[0]).toMatchObject({ error: { code: 'WATCH_LIST_REFUSED' } })
    await server.next('watch')
    await using _other = run(server, { source: source() })
    expect((await server.next('list')).query).toEqual({ resourceVersion: '0', limit: '500' })
  })

  it.each([
    ['1.32', 'watch', 'v1.32.0-gke.1'],
    ['1.31', 'list', 'v1.31.9'],
    ['a version that cannot be read', 'list', 'latest'],
  ] as const)('begins, with a server of %s, with a %s', async (_, verb, gitVersion) => {
    await using server = await ScriptedServer.start()
    server.gitVersion = gitVersion
    await using running = run(server)
    await server.next(verb)
    expect(server.versionRequests).toBe(1)
    expect(running.informer.failures.size).toBe(gitVersion === 'latest' ? 1 : 0)
  })

  it('asks for the version once, for all informers of a connection, and not at all where no list is streamed', async () => {
    await using server = await ScriptedServer.start()
    await using connection = connect(server.url)
    await using factory = createSharedInformerFactory({
      source: (resource) => connection.resource(resource),
    })
    factory.informer(configMaps)
    factory.start()
    await server.sync('10', [])
    expect(server.versionRequests).toBe(0)
    for (const namespace of ['a', 'b', 'c']) {
      factory.informer(configMaps, { namespace, initialList: 'watchlist' })
    }
    factory.start()
    for (let streamed = 0; streamed < 3; streamed++) await server.next('watch')
    expect(server.versionRequests).toBe(1)
  })

  it('[5] hears of what follows the initial events in the same batch as of any other event', async () => {
    await using server = await ScriptedServer.start()
    await using running = run(server)
    const watch = await server.next('watch')
    const lines = [
      { type: 'ADDED', object: configMap('a', '5') },
      {
        type: 'BOOKMARK',
        object: {
          metadata: { resourceVersion: '10', annotations: { 'k8s.io/initial-events-end': 'true' } },
        },
      },
      { type: 'ADDED', object: configMap('b', '11') },
      { type: 'ERROR', object: { kind: 'Status', code: 429, message: 'wait' } },
    ]
    watch.write(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
    const again = await server.next('watch')
    expect(again.query).toMatchObject({ resourceVersion: '11' })
    expect(again.query).not.toHaveProperty('sendInitialEvents')
    expect(held(running.informer)).toEqual(['default/a@5', 'default/b@11'])
  })
})
