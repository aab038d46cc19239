import { describe, expect, it } from 'vitest'
import { endlessBackoff, held, runInformer, until } from '../support/informer.ts'
import { configMap, ScriptedServer, tooLargeStatuses } from './scripted-server.ts'

describe('An informer whose watch the server ended in order watches', () => {
  it('[8] again at once, without even a question, after a clean end', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff })
    let watch = await server.sync('10', [])
    for (const version of ['11', '12', '13']) {
      watch.send('ADDED', configMap('a', version)).end()
      watch = await server.next('watch')
      expect(watch.query).toMatchObject({ resourceVersion: version })
    }
    expect(running.informer.failures.size).toBe(0)
  })

  it('[8] again at once after a clean end without an event, also where a proxy held back the headers', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      backoff: endlessBackoff,
      shortWatchMs: 20,
    })
    const watch = await server.sync('10', [])
    const asked = performance.now()
    await until(() => performance.now() - asked > 20, 'a watch that is no longer short')
    watch.open().end()
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '10' })
    expect(running.informer.failures.size).toBe(0)
  })

  it('[8] and asks, once the watch behind a clean end stays silent, whether the server knows the position', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    ;(await server.sync('100', [configMap('lost', '95')]))
      .send('ADDED', configMap('b', '101'))
      .end()
    const silent = (await server.next('watch')).open()
    const [overloaded, behind] = [await server.next('list'), server.next('list')]
    expect(overloaded.query).toEqual({
      resourceVersion: '101',
      resourceVersionMatch: 'NotOlderThan',
      limit: '1',
    })
    // That says nothing, so it is asked again; the watch goes on meanwhile.
    overloaded.refuse(500)
    ;(await behind).refuse(504, tooLargeStatuses['the message'])
    const latest = await server.next('list')
    expect(latest.query).toEqual({ limit: '500' })
    expect(silent.closed).toBe(true)
    latest.list('60', [configMap('a', '50')])
    expect((await server.next('watch')).query).toMatchObject({ resourceVersion: '60' })
    expect(held(running.informer)).toEqual(['default/a@50'])
  })

  it('[8] [9] and asks whether the server knows the position after one at which nobody listened', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const first = await server.sync('10', [])
    // Ended in order, and the next one is refused.
    const gone = server.refuseNew()
    first.open({ connection: 'close' }).send('ADDED', configMap('a', '11')).end()
    await until(() => running.informer.lastError !== undefined, 'a refusal')
    await gone
    await server.listen()
    expect((await server.next('list')).query).toMatchObject({ limit: '1', resourceVersion: '11' })
  })
})
