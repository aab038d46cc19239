import { describe, expect, it } from 'vitest'
import { endlessBackoff, foldingHandler, held, runInformer, until } from '../support/informer.ts'
import { configMap, ScriptedServer, tooLargeStatuses } from './scripted-server.ts'

const selection = { namespace: 'default', labelSelector: 'a=b', fieldSelector: 'metadata.name!=z' }
const selected = { labelSelector: 'a=b', fieldSelector: 'metadata.name!=z' }

/** With a limit alone, a real server would list exactly that position for as long as it has it: no watch may begin there. */
const notOlder = { resourceVersion: '10', resourceVersionMatch: 'NotOlderThan' }

describe('An informer lists', () => {
  it('[1] at "0" first, and later at the last resource version that it has seen', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, ...selection })
    const first = await server.next('list')
    expect(first.query).toEqual({ ...selected, resourceVersion: '0', limit: '500' })
    first.list('10', [configMap('a', '5')])
    ;(await server.next('watch')).send('ADDED', configMap('b', '11')).error(500)
    const second = await server.next('list')
    expect(second.query).toEqual({ ...selected, resourceVersion: '11' })
    second.list('20', [configMap('a', '5')])
    ;(await server.next('watch')).bookmark('25').error(500)
    const third = await server.next('list')
    expect(third.query).toEqual({ ...selected, resourceVersion: '25' })
    expect(running.informer.store.resourceVersion).toBe('25')
  })

  it.each<readonly [string, number, object]>([
    ['an expired resource version', 410, {}],
    ...Object.entries(tooLargeStatuses).map(([name, status]) => [name, 504, status] as const),
  ])(
    '[1] [3] at "" at once, and once, when the last position is not to be had: %s',
    async (_, code, status) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url, backoff: endlessBackoff })
      // A first list at "0" is refused: no back-off before the next one.
      ;(await server.next('list')).refuse(code, status)
      const second = await server.next('list')
      expect(second.query).toEqual({ limit: '500' })
      second.list('20', [configMap('a', '5')])
      const watch = await server.next('watch')
      expect(watch.query).toMatchObject({ resourceVersion: '20' })
      await running.informer.waitForSync({ deadlineMs: 20_000 })
      expect(running.failures.map(({ failure }) => failure)).toEqual(['list'])
    },
  )

  it('[1] [3] at "" until that has succeeded, then at the last position again', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url })
    ;(await server.sync('10', [])).error(500)
    const relist = await server.next('list')
    expect(relist.query).toEqual({ resourceVersion: '10' })
    relist.refuse(410)
    const latest = await server.next('list')
    expect(latest.query).toEqual({ limit: '500' })
    latest.refuse(500)
    const again = await server.next('list')
    expect(again.query).toEqual({ limit: '500' })
    again.list('30', [])
    ;(await server.next('watch')).error(500)
    expect((await server.next('list')).query).toEqual({ resourceVersion: '30' })
  })

  it('[2] continue pages that carry neither a resource version nor a match; the version is the first page’s', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, ...selection })
    ;(await server.next('list')).list('10', [configMap('a', '1')], { continue: 'to-b' })
    const second = await server.next('list')
    expect(second.query).toEqual({ ...selected, limit: '500', continue: 'to-b' })
    expect(running.informer.hasSynced()).toBe(false)
    expect(running.informer.store.size).toBe(0)
    second.list('11', [configMap('b', '2')], { continue: 'to-c' })
    ;(await server.next('list')).list('12', [configMap('c', '3')])
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '10' })
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(held(running.informer)).toEqual(['default/a@1', 'default/b@2', 'default/c@3'])
  })

  it('[2] relists in pages once the list at "0" came in pages', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url })
    ;(await server.next('list')).list('10', [], { continue: 'more' })
    ;(await server.next('list')).list('10', [])
    ;(await server.next('watch')).error(500)
    expect((await server.next('list')).query).toEqual({ ...notOlder, limit: '500' })
  })

  it('[2] always with a page size that was configured', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url, pageSize: 7 })
    const first = await server.next('list')
    expect(first.query).toEqual({ resourceVersion: '0', limit: '7' })
    first.list('10', [])
    ;(await server.next('watch')).error(500)
    const second = await server.next('list')
    expect(second.query).toEqual({ ...notOlder, limit: '7' })
    second.list('10', [], { continue: 'more' })
    expect((await server.next('list')).query).toEqual({ continue: 'more', limit: '7' })
  })

  it.each([
    ['429', 429, { 'retry-after': '0' }],
    ['503 with Retry-After', 503, { 'retry-after': '0' }],
  ])(
    '[2] a page again that was refused with %s, and not the whole list',
    async (_, code, headers) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      ;(await server.next('list')).list('10', [configMap('a', '1')], { continue: 'more' })
      ;(await server.next('list')).refuse(code, {}, headers)
      const again = await server.next('list')
      expect(again.query).toEqual({ continue: 'more', limit: '500' })
      again.list('10', [configMap('b', '2')])
      await server.next('watch')
      await running.informer.waitForSync({ deadlineMs: 20_000 })
      expect(held(running.informer)).toEqual(['default/a@1', 'default/b@2'])
      expect(running.failures).toHaveLength(1)
    },
  )

  it('[2] item by item: a list whose connection breaks leaves no trace, and is asked for again', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    const first = await server.next('list')
    const text = JSON.stringify({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '10' },
      items: [configMap('a', '1'), configMap('b', '2')],
    })
    await first.write(text.slice(0, -20)).cut()
    const second = await server.next('list')
    expect(second.query).toEqual({ resourceVersion: '0', limit: '500' })
    expect(running.informer.store.size).toBe(0)
    second.list('11', [configMap('c', '3')])
    await server.next('watch')
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    await until(() => handler.events.length > 0, 'an event')
    expect(handler.events).toEqual(['INITIAL default/c@3'])
  })

  it('[3] once and unpaged at the original position when a later page has expired', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff, pageSize: 2 })
    ;(await server.next('list')).list('10', [configMap('a', '1'), configMap('gone', '2')], {
      continue: 'more',
    })
    ;(await server.next('list')).refuse(410)
    const whole = await server.next('list')
    expect(whole.query).toEqual({ resourceVersion: '0' })
    whole.list('20', [configMap('a', '1'), configMap('b', '11')])
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '20' })
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(held(running.informer)).toEqual(['default/a@1', 'default/b@11'])
  })

  it('[3] at "" when the whole list at the original position is not to be had either', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, pageSize: 2 })
    ;(await server.sync('10', [])).error(500)
    const relist = await server.next('list')
    expect(relist.query).toEqual({ ...notOlder, limit: '2' })
    relist.list('10', [configMap('a', '1')], { continue: 'more' })
    ;(await server.next('list')).refuse(410)
    const whole = await server.next('list')
    expect(whole.query).toEqual({ resourceVersion: '10' })
    whole.refuse(410)
    const latest = await server.next('list')
    expect(latest.query).toEqual({ limit: '2' })
    latest.list('30', [configMap('b', '29')])
    await server.next('watch')
    await until(() => running.informer.store.resourceVersion === '30', 'the relist')
    expect(held(running.informer)).toEqual(['default/b@29'])
  })

  it.each([
    ['401', 401],
    ['403', 403],
    ['500', 500],
  ])(
    '[9] again and again, with back-off, while it is refused with %s, and says so',
    async (_, code) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      for (let time = 0; time < 5; time++) {
        const list = await server.next('list')
        expect(list.query).toEqual({ resourceVersion: '0', limit: '500' })
        list.refuse(code)
        await until(
          () => running.informer.failures.get('list') === time + 1,
          'the report of the refusal',
        )
        expect(running.informer.lastError).toMatchObject({ httpStatus: code })
      }
      ;(await server.next('list')).list('10', [])
      await server.next('watch')
      await running.informer.waitForSync({ deadlineMs: 20_000 })
      expect(running.informer.lastError).toBeUndefined()
      expect(running.informer.failures.get('list')).toBe(5)
    },
  )

  it('[9] [11] after a back-off when it is refused', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff })
    ;(await server.next('list')).refuse(403)
    await until(() => running.informer.state === 'waiting', 'the back-off')
    expect(running.informer.lastError).toMatchObject({ httpStatus: 403 })
  })

  it('[9] [11] after the time that Retry-After asks for, instead of the back-off', async () => {
    await using server = await ScriptedServer.start()
    await using _running = runInformer({ server: server.url, backoff: endlessBackoff })
    ;(await server.next('list')).refuse(429, {}, { 'retry-after': '1' })
    expect((await server.next('list')).query).toEqual({ resourceVersion: '0', limit: '500' })
  })

  it('[9] [11] not later than maxRetryAfterMs, and not at once for a Retry-After of 0', async () => {
    await using server = await ScriptedServer.start()
    const options = { server: server.url, backoff: endlessBackoff, maxRetryAfterMs: 20 }
    await using running = runInformer(options)
    ;(await server.next('list')).refuse(429, {}, { 'retry-after': '99999999' })
    ;(await server.next('list')).refuse(429, {}, { 'retry-after': '0' })
    await until(() => running.informer.state === 'waiting', 'the back-off')
    expect(running.informer.failures.get('list')).toBe(2)
  })

  it('[12] a Table, a Status or a page of HTML as a failure, not as an empty list', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    ;(await server.sync('10', [configMap('a', '1')])).error(500)
    const kinds = [
      { kind: 'Table', columnDefinitions: [], rows: [], metadata: { resourceVersion: '99' } },
      { kind: 'Status', status: 'Success', metadata: {} },
    ]
    for (const answer of kinds) (await server.next('list')).json(answer)
    const page = await server.next('list')
    page.write('<html>sign in</html>').end()
    await server.next('list')
    expect(held(running.informer)).toEqual(['default/a@1'])
    expect(running.informer.failures.get('list')).toBe(3)
  })
})
