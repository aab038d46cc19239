import { describe, expect, it } from 'vitest'
import {
  endlessBackoff,
  foldingHandler,
  held,
  runInformer,
  shortBackoff,
  type TestInformer,
  until,
} from '../support/informer.ts'
import {
  configMap,
  type ScriptedRequest,
  ScriptedServer,
  tooLargeStatuses,
} from './scripted-server.ts'

describe('An informer watches', () => {
  it('[6] [7] from the list’s resource version, with bookmarks, for a time in [300, 600] seconds', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({
      server: server.url,
      namespace: 'default',
      labelSelector: 'a=b',
    })
    const times = new Set<number>()
    let watch = await server.sync('10', [])
    for (let time = 0; time < 40; time++) {
      const { timeoutSeconds = '', ...rest } = watch.query
      expect(rest).toEqual({
        labelSelector: 'a=b',
        resourceVersion: '10',
        allowWatchBookmarks: 'true',
      })
      expect(timeoutSeconds).toMatch(/^[3-6]\d\d$/)
      expect(Number(timeoutSeconds)).toBeGreaterThanOrEqual(300)
      expect(Number(timeoutSeconds)).toBeLessThanOrEqual(600)
      times.add(Number(timeoutSeconds))
      watch.refuse(429, {}, { 'retry-after': '0' })
      watch = await server.next('watch')
    }
    expect(times.size).toBeGreaterThan(10)
  })

  it('[7] and takes nothing but the resource version from a bookmark', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    const watch = await server.sync('10', [configMap('a', '5')])
    watch.bookmark('15')
    await until(() => running.informer.store.resourceVersion === '15', 'the bookmark')
    watch.send('BOOKMARK', configMap('a', '17'))
    await until(() => running.informer.store.resourceVersion === '17', 'the second bookmark')
    expect(held(running.informer)).toEqual(['default/a@5'])
    expect(handler.events).toEqual(['INITIAL default/a@5'])
    watch.error(429, { details: { retryAfterSeconds: 0 } })
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '17' })
  })

  it('[7] and stays put at an event: its resource version is the next start', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url })
    ;(await server.sync('10', []))
      .send('ADDED', configMap('a', '11'))
      .send('DELETED', configMap('a', '12'))
      .error(429)
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '12' })
  })

  it.each<[string, End]>([
    ['an end in the middle of a frame', (watch) => watch.write('{"type":"ADDED","obj').end()],
    ['a broken connection', (watch) => watch.cut()],
    ['a connection broken in a frame', (watch) => watch.write('{"type":"ADD').cut()],
  ])('[8] again at once at the last resource version, without a list, after %s', async (_, end) => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff })
    const watch = await server.sync('10', [])
    watch.send('ADDED', configMap('a', '11'))
    await until(() => running.informer.store.size === 1, 'the event')
    await end(watch)
    const probe = await server.next('list')
    expect(probe.query).toEqual({
      resourceVersion: '11',
      resourceVersionMatch: 'NotOlderThan',
      limit: '1',
    })
    probe.list('12', [configMap('a', '11')], { continue: 'more' })
    const again = await server.next('watch')
    expect(again.query).toMatchObject({ resourceVersion: '11', allowWatchBookmarks: 'true' })
    again.send('ADDED', configMap('b', '12'))
    await until(() => running.informer.store.size === 2, 'the event after it')
    expect(running.informer.failures.get('list')).toBeUndefined()
  })

  it('[8] again at once, without even a question, after the time that it asked for', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({
      server: server.url,
      backoff: endlessBackoff,
      watchTimeoutSeconds: { min: 1, max: 1 },
    })
    ;(await server.sync('10', [])).send('ADDED', configMap('a', '11')).end()
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '11' })
  })

  it('[8] [13] again when the connection is silent past the time that it asked for', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      backoff: endlessBackoff,
      watchTimeoutSeconds: { min: 1, max: 1 },
      limits: { watchGraceMs: 50 },
    })
    ;(await server.sync('10', [])).send('ADDED', configMap('a', '11'))
    ;(await server.next('list')).list('11', [configMap('a', '11')])
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '11' })
    expect(running.failures.map(({ error }) => error)).toMatchObject([
      { code: 'CONNECTION_TIMEOUT' },
    ])
  })

  it.each<[string, End]>([
    ['ended', (watch) => watch.open().end()],
    ['broken', (watch) => watch.open().cut()],
  ])(
    '[8] and lists after a back-off when a watch was %s at once without an event',
    async (_, end) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      await end(await server.sync('10', []))
      expect((await server.next('list')).query).toEqual({ resourceVersion: '10' })
      const short = running.failures.filter(
        ({ error }) => 'code' in error && error.code === 'VERY_SHORT_WATCH',
      )
      expect(short).toHaveLength(1)
    },
  )

  it.each(Object.entries(tooLargeStatuses))(
    '[8] and lists at "" when the server has gone back in time: it says so by %s',
    async (_, status) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      const watch = await server.sync('100', [configMap('a', '90'), configMap('lost', '95')])
      watch.send('ADDED', configMap('b', '101'))
      await until(() => running.informer.store.size === 3, 'the event')
      await watch.cut()
      ;(await server.next('list')).refuse(504, status)
      const latest = await server.next('list')
      expect(latest.query).toEqual({ limit: '500' })
      latest.list('60', [configMap('a', '50')])
      expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '60' })
      expect(held(running.informer)).toEqual(['default/a@50'])
      expect(running.informer.store.resourceVersion).toBe('60')
    },
  )

  it('[8] and asks nothing of a server that gives no resource versions', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url, backoff: endlessBackoff })
    ;(await server.sync('', [])).send('ADDED', configMap('a', '')).end()
    const again = await server.next('watch')
    expect(again.query).not.toHaveProperty('resourceVersion')
  })

  it('[9] again at the same position, and lists nothing, while connections are refused', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const watch = await server.sync('10', [])
    watch.send('ADDED', configMap('a', '11'))
    await until(() => running.informer.store.size === 1, 'the event')
    await server.refuse()
    await until(() => (running.informer.failures.get('watch') ?? 0) > 5, 'some attempts')
    expect(running.informer.lastError).toMatchObject({ code: 'CONNECTION_REFUSED' })
    await server.listen()
    const probe = await server.next('list')
    expect(probe.query).toMatchObject({ limit: '1', resourceVersion: '11' })
    probe.list('11', [])
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '11' })
    expect(held(running.informer)).toEqual(['default/a@11'])
    expect(running.informer.failures.get('list')).toBeUndefined()
  })

  it.each([
    ['429', 429, {}],
    ['429 with Retry-After', 429, { 'retry-after': '0' }],
    ['503 with Retry-After', 503, { 'retry-after': '0' }],
  ])('[9] again at the same position, and lists nothing, after %s', async (_, code, headers) => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    let watch = await server.sync('10', [])
    for (let time = 0; time < 3; time++) {
      watch.refuse(code, {}, headers)
      watch = await server.next('watch')
      expect(watch.query).toMatchObject({ resourceVersion: '10' })
    }
    watch.open()
    await until(() => running.informer.lastError === undefined, 'the watch')
    expect(running.informer.state).toBe('synced')
  })

  it('[9] again after the time that Retry-After asks for, instead of the back-off', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url, backoff: endlessBackoff })
    ;(await server.sync('10', [])).refuse(429, {}, { 'retry-after': '1' })
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '10' })
  })

  it.each([
    ['401', 401],
    ['403', 403],
    ['404', 404],
    ['410', 410],
    ['500', 500],
  ] as const)(
    '[9] and, refused with %s, tells the error handler, backs off and lists at the last position',
    async (_, code) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      ;(await server.sync('10', [])).refuse(code)
      expect((await server.next('list')).query).toEqual({ resourceVersion: '10' })
      expect(running.failures).toMatchObject([{ failure: 'watch', error: { httpStatus: code } }])
      expect(running.informer.lastError).toMatchObject({ httpStatus: code })
    },
  )

  it('[9] and lists, after a back-off, when connections break before the answer', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const watch = (await server.sync('10', [])).send('ADDED', configMap('a', '11'))
    await until(() => running.informer.store.size === 1, 'the event')
    server.break(true)
    watch.end()
    await until(() => (running.informer.failures.get('list') ?? 0) > 3, 'some attempts')
    expect(running.informer.failures.get('watch')).toBe(2)
    server.break(false)
    expect((await server.next('list')).query).toEqual({ resourceVersion: '11' })
  })

  it.each<[string, End]>([
    ['a refusal with 429', (watch) => watch.refuse(429)],
    ['a refusal with 403', (watch) => watch.refuse(403)],
    ['an ERROR event of 410', (watch) => void watch.error(410)],
    ['an ERROR event of 429', (watch) => void watch.error(429)],
    ['an ERROR event of 500', (watch) => void watch.error(500)],
    ['a malformed frame', (watch) => void watch.write('{"type":\n')],
    ['a very short watch', (watch) => watch.open().end()],
  ])('[9] [10] [11] and backs off after %s', async (_, fail) => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff })
    await fail(await server.sync('10', []))
    await until(() => running.informer.state === 'waiting', 'the back-off')
    expect(running.informer.failures.get('watch')).toBe(1)
  })

  it.each<[string, (watch: Watch) => unknown, object]>([
    ['410', (watch) => watch.error(410), { httpStatus: 410 }],
    ['500', (watch) => watch.error(500), { httpStatus: 500 }],
    ['no Status', (watch) => watch.send('ERROR', null), { code: 'MALFORMED_FRAME' }],
    ['no JSON', (watch) => watch.write('{"type":"ADDED","object":\n'), { code: 'MALFORMED_FRAME' }],
    ['no type', (watch) => watch.write('{"object":{}}\n'), { code: 'MALFORMED_FRAME' }],
    ['an unknown type', (watch) => watch.send('RENAMED', {}), { code: 'MALFORMED_FRAME' }],
    ['no object', (watch) => watch.send('BOOKMARK', null), { code: 'MALFORMED_FRAME' }],
  ])(
    '[10] and lists at the last position, not at "", after an event of %s, of which it tells',
    async (_, fail, error) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      const watch = await server.sync('10', [])
      fail(watch.send('ADDED', configMap('a', '11')))
      expect((await server.next('list')).query).toEqual({ resourceVersion: '11' })
      expect(running.failures).toMatchObject([{ failure: 'watch', error }])
      expect(held(running.informer)).toEqual(['default/a@11'])
    },
  )

  it('[10] again at the last position after an ERROR event of 429', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    ;(await server.sync('10', [])).send('ADDED', configMap('a', '11')).error(429)
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '11' })
    expect(running.failures).toMatchObject([{ failure: 'watch', error: { httpStatus: 429 } }])
  })

  it.each<[string, object]>([
    ['of another kind', { ...configMap('x', '99'), kind: 'Secret' }],
    ['of another group', { ...configMap('x', '99'), apiVersion: 'example.com/v1' }],
    [
      'that is a Table',
      {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        rows: [],
        metadata: { resourceVersion: '99' },
      },
    ],
    ['without metadata', { kind: 'ConfigMap', apiVersion: 'v1' }],
    [
      'without a name',
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '99' } },
    ],
    ['that is null', JSON.parse('null') as object],
  ])('[12] and drops, and counts, an object %s', async (_, object) => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    const watch = await server.sync('10', [])
    for (const type of ['ADDED', 'MODIFIED', 'DELETED']) watch.send(type, object)
    watch.error(429)
    const again = await server.next('watch')
    expect(again.query).toMatchObject({ resourceVersion: '10' })
    again.send('ADDED', configMap('a', '11'))
    await until(() => handler.events.length > 0, 'the next event')
    expect(handler.events).toEqual(['ADDED default/a@11'])
    expect(held(running.informer)).toEqual(['default/a@11'])
    expect(running.informer.failures.get('object')).toBe(3)
  })

  it.each<[string, object]>([
    ['of another kind', { kind: 'Secret', apiVersion: 'v1', metadata: { resourceVersion: '99' } }],
    ['without metadata', { kind: 'ConfigMap', apiVersion: 'v1' }],
    ['without a resource version', { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }],
    ['without anything', {}],
  ])('[7] [12] and drops, and counts, a bookmark %s', async (_, object) => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const watch = await server.sync('10', [])
    watch.send('BOOKMARK', object).send('ADDED', configMap('a', '11')).error(429)
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '11' })
    expect(held(running.informer)).toEqual(['default/a@11'])
    expect(running.informer.failures.get('object')).toBe(1)
  })

  it('[12] and drops, and counts, such an object in a list', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    ;(await server.next('list')).json({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '10' },
      items: [{ ...configMap('x', '9'), kind: 'Secret' }, {}, configMap('a', '5')],
    })
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '10' })
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(held(running.informer)).toEqual(['default/a@5'])
    expect(running.informer.failures.get('object')).toBe(2)
  })

  it('[12] and keeps its position when an object has no resource version', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const watch = await server.sync('10', [])
    watch.send('ADDED', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } })
    await until(() => running.informer.store.size === 1, 'the object')
    expect(running.informer.store.resourceVersion).toBe('10')
    watch.error(429)
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '10' })
  })

  it('[13] again when the process has stood still', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      backoff: endlessBackoff,
      suspendGapMs: 1000,
    })
    const watch = await server.sync('10', [])
    watch.send('ADDED', configMap('a', '11'))
    await until(() => running.informer.store.size === 1, 'the event')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
    ;(await server.next('list')).list('11', [])
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '11' })
    expect(running.failures).toMatchObject([{ error: { code: 'SUSPENDED' } }])
  })

  it('[14] until it is stopped: list, watch, back-off and question end, and nothing more is told', async () => {
    await using server = await ScriptedServer.start()
    for (const at of ['list', 'watch', 'back-off', 'question'] as const) {
      const running = runInformer({
        server: server.url,
        backoff: at === 'back-off' ? endlessBackoff : shortBackoff,
      })
      const handler = foldingHandler()
      running.informer.addEventHandler(handler)
      const list = await server.next('list')
      if (at === 'back-off') {
        list.refuse(500)
        await until(() => running.informer.state === 'waiting', 'the back-off')
      }
      let open = list
      if (at === 'watch' || at === 'question') {
        list.list('10', [])
        open = (await server.next('watch')).open()
        await until(() => running.informer.state === 'synced', 'the watch')
      }
      if (at === 'question') {
        open.send('ADDED', configMap('a', '11'))
        await until(() => running.informer.store.size === 1, 'the event')
        await open.cut()
        open = await server.next('list')
      }
      const before = handler.events.length
      await running.stop()
      expect(running.informer.state).toBe('stopped')
      await until(() => open.closed, 'the end of the request')
      expect(handler.events).toHaveLength(before)
      await running[Symbol.asyncDispose]()
    }
  })

  it('[14] and tells nobody of anything once its signal is aborted, not even of what has arrived', async () => {
    await using server = await ScriptedServer.start()
    await using running = await withWatch(server)
    const stopped: Promise<void>[] = []
    const handler = foldingHandler((event) => {
      if (event.startsWith('ADDED')) stopped.push(running.stop())
    })
    running.informer.addEventHandler(handler)
    const frames = ['b', 'c', 'd'].map((name, at) =>
      JSON.stringify({ type: 'ADDED', object: configMap(name, String(11 + at)) }),
    )
    running.watch.write(`${frames.join('\n')}\n`)
    await until(() => stopped.length > 0, 'the first event')
    await Promise.all(stopped)
    expect(handler.events).toEqual(['INITIAL default/a@5', 'ADDED default/b@11'])
    expect(() => running.informer.addEventHandler({})).toThrow(/has been stopped/)
  })
})

type Watch = ScriptedRequest
type End = (watch: Watch) => void | Promise<void>

async function withWatch(
  server: ScriptedServer,
): Promise<TestInformer & { readonly watch: Watch }> {
  const running = runInformer({ server: server.url })
  const watch = await server.sync('10', [configMap('a', '5')])
  await running.informer.waitForSync({ deadlineMs: 20_000 })
  return { ...running, watch }
}
