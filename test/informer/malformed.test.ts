import { describe, expect, it } from 'vitest'
import { foldingHandler, held, runInformer, until } from '../support/informer.ts'
import { play, reach } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

/** What stands where the object of an event should be. */
const malformed: Readonly<Record<string, string>> = {
  'broken JSON': '{broken}',
  'JSON that ends too early':
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","uid":}}',
  'bytes that are lost': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b" "uid":"x"}}',
  'a string': '"b"',
  'a number': '5',
  'a list': '[{"metadata":{"name":"b"}}]',
}

describe('Malformed input is never a deletion', () => {
  it.each(Object.entries(malformed))(
    'on a watch: %s fails it as a malformed frame does, and a list follows',
    async (_, text) => {
      await using played = await play([configMap('a', '1'), configMap('b', '2')])
      const { informer, server, watch, failures } = played
      const handler = foldingHandler()
      informer.addEventHandler(handler)
      watch.write(`{"type":"MODIFIED","object":${text}}\n`)
      const list = await server.next('list')
      expect(list.query).toMatchObject({ resourceVersion: '10' })
      expect(failures).toMatchObject([{ failure: 'watch', error: { code: 'MALFORMED_OBJECT' } }])
      expect(held(informer)).toEqual(['default/a@1', 'default/b@2'])
      list.list('20', [configMap('a', '1'), configMap('b', '12')])
      await reach(played, '20')
      await until(() => handler.events.length === 3, 'the difference')
      expect(handler.events.at(-1)).toBe('MODIFIED default/b@2 -> default/b@12')
    },
  )

  it.each(Object.entries(malformed).filter(([, text]) => text.startsWith('{')))(
    'in a list: %s fails it, and it is asked for again',
    async (_, text) => {
      await using played = await play([configMap('a', '1'), configMap('b', '2')])
      const { informer, server, watch, failures } = played
      const handler = foldingHandler()
      informer.addEventHandler(handler)
      watch.error(500)
      const metadata = '{"resourceVersion":"20"}'
      const items = `${JSON.stringify(configMap('a', '1'))},${text}`
      ;(await server.next('list'))
        .write(
          `{"kind":"ConfigMapList","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`,
        )
        .end()
      const again = await server.next('list')
      expect(failures.slice(1)).toMatchObject([
        { failure: 'list', error: { code: expect.stringMatching(/^MALFORMED_/) as string } },
      ])
      expect(held(informer)).toEqual(['default/a@1', 'default/b@2'])
      again.list('21', [configMap('a', '1'), configMap('b', '2'), configMap('c', '15')])
      await until(() => handler.events.length === 3, 'the difference')
      expect(handler.events.at(-1)).toBe('ADDED default/c@15')
    },
  )

  it('in a streaming list: the list is asked for as a LIST', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, initialList: 'watchlist' })
    ;(await server.next('watch'))
      .write('{"type":"ADDED","object":{broken}}\n')
      .endInitialEvents('9')
    ;(await server.next('list')).list('10', [configMap('a', '1')])
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(running.failures).toMatchObject([
      { failure: 'list', error: { code: 'MALFORMED_OBJECT' } },
    ])
  })

  it.each(['5', '{}', '["10"]', 'true'])(
    'in the position of a list, or in the way to its next page: %s fails it',
    async (text) => {
      await using server = await ScriptedServer.start()
      await using running = runInformer({ server: server.url })
      for (const member of ['resourceVersion', 'continue']) {
        ;(await server.next('list'))
          .write(
            `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"${member}":${text}},"items":[]}`,
          )
          .end()
      }
      ;(await server.next('list')).list('10', [])
      await running.informer.waitForSync({ deadlineMs: 20_000 })
      expect(running.failures.map(({ error }) => error)).toMatchObject([
        { code: 'MALFORMED_LIST' },
        { code: 'MALFORMED_LIST' },
      ])
    },
  )
})

describe('An object that is held and comes as one of another kind', () => {
  it('[12] stays as it was where that is an event', async () => {
    await using played = await play([configMap('a', '1')])
    const { informer, watch } = played
    for (const type of ['MODIFIED', 'DELETED']) {
      watch.send(type, { ...configMap('a', '11'), kind: 'Secret' })
    }
    watch.bookmark('12')
    await reach(played, '12')
    expect(held(informer)).toEqual(['default/a@1'])
    expect(informer.failures.get('object')).toBe(2)
  })

  it('[12] is gone where that is a list: the list has not got it', async () => {
    await using played = await play([configMap('a', '1'), configMap('b', '2')])
    const { informer, server, watch } = played
    const handler = foldingHandler()
    informer.addEventHandler(handler)
    watch.error(500)
    ;(await server.next('list')).json({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '20' },
      items: [{ ...configMap('a', '1'), kind: 'Secret' }, configMap('b', '2')],
    })
    await reach(played, '20')
    await until(() => handler.events.length === 3, 'the deletion')
    expect(handler.events.at(-1)).toBe('VANISHED default/a@1')
    expect(informer.failures.get('object')).toBe(1)
  })
})
