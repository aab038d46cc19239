import { describe, expect, it } from 'vitest'
import { foldingHandler, held, runInformer, until } from '../support/informer.ts'
import { play } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

const painted = (name: string, version: string, colour: string): object => ({
  ...configMap(name, version),
  data: { colour },
})

describe('An informer that is to read its objects anew', () => {
  it('lists at once, and once more behind the watch that follows, and tells of what looks otherwise only', async () => {
    const items = [painted('a', '1', 'red'), painted('b', '2', 'red')]
    await using played = await play(items)
    const { informer, server, watch, failures } = played
    const handler = foldingHandler()
    informer.addEventHandler(handler)
    const kept = informer.store.idOf('default/b')
    const version = kept === undefined ? undefined : informer.store.held(kept)
    informer.reread()
    const list = await server.next('list')
    await until(() => watch.closed, 'the end of the watch')
    expect(list.query['resourceVersion']).toBe('10')
    list.list('11', [painted('a', '1', 'blue'), painted('b', '2', 'red')])
    const next = await server.next('watch')
    expect(next.query['resourceVersion']).toBe('11')
    next.send('ADDED', painted('c', '12', 'red'))
    await until(() => handler.events.length === 4, 'c')
    next.end()
    const last = await server.next('list')
    last.list('12', [
      painted('a', '1', 'blue'),
      painted('b', '2', 'red'),
      painted('c', '12', 'green'),
    ])
    const plain = await server.next('watch')
    await until(() => handler.events.length === 5, 'the green c')
    expect(handler.events).toEqual([
      'INITIAL default/a@1',
      'INITIAL default/b@2',
      'MODIFIED default/a@1 -> default/a@1',
      'ADDED default/c@12',
      'MODIFIED default/c@12 -> default/c@12',
    ])
    expect(handler.objects.get('default/c')).toMatchObject({ data: { colour: 'green' } })
    const now = informer.store.idOf('default/b')
    expect(now === undefined ? undefined : informer.store.held(now)).toBe(version)
    expect(failures).toEqual([])
    plain.send('ADDED', painted('d', '13', 'red')).end()
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '13' })
  })

  it('streams its list anew where it is streaming one, and reports no failure', async () => {
    await using server = await ScriptedServer.start()
    let opened = 0
    await using running = runInformer({
      server: server.url,
      initialList: 'watchlist',
      observer: { watching: () => void (opened += 1) },
    })
    const { informer } = running
    const first = await server.next('watch')
    first.send('ADDED', painted('a', '1', 'red'))
    await until(() => opened === 1, 'the stream')
    informer.reread()
    await until(() => first.closed, 'the end of the stream')
    const second = await server.next('watch')
    expect(second.query).toMatchObject({ sendInitialEvents: 'true' })
    second.send('ADDED', painted('a', '1', 'blue')).endInitialEvents('10')
    await informer.waitForSync({ deadlineMs: 20_000 })
    expect(held(informer)).toEqual(['default/a@1'])
    expect(informer.failures.size).toBe(0)
    expect(informer.lastError).toBeUndefined()
  })
})
