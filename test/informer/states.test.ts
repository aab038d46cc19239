import { describe, expect, it } from 'vitest'
import { endlessBackoff, runInformer, until } from '../support/informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

describe('The state of an informer tells the truth', () => {
  it('is synced from its first list on, before its first watch is answered', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const { informer } = running
    expect(informer.state).toBe('listing')
    ;(await server.next('list')).list('10', [])
    await server.next('watch')
    await informer.waitForSync({ deadlineMs: 20_000 })
    expect(informer.state).toBe('synced')
    expect(informer.lastError).toBeUndefined()
  })

  it('stays synced while one watch that ended in order follows another', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      watchTimeoutSeconds: { min: 1, max: 1 },
    })
    const watch = await server.sync('10', [])
    watch.send('ADDED', configMap('a', '11')).end()
    await server.next('watch')
    expect(running.informer.state).toBe('synced')
    expect(running.informer.lastError).toBeUndefined()
  })

  it('is reconnecting from a failure until the next success', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const { informer } = running
    const watch = await server.sync('10', [])
    await watch.send('ADDED', configMap('a', '11')).cut()
    const probe = await server.next('list')
    expect(informer.state).toBe('reconnecting')
    expect(informer.lastError).toMatchObject({ code: 'CONNECTION_RESET' })
    probe.list('11', [])
    const again = await server.next('watch')
    expect(informer.state).toBe('reconnecting')
    again.open()
    await until(() => informer.state === 'synced', 'the watch')
    expect(informer.lastError).toBeUndefined()
  })

  it('is waiting, with the reason, where its own loop has failed, until that begins again', async () => {
    await using server = await ScriptedServer.start()
    const observer = {
      slowList: (): void => {
        throw new Error('an observer that must not throw')
      },
    }
    await using running = runInformer({
      server: server.url,
      slowListMs: 0,
      backoff: endlessBackoff,
      observer,
    })
    const { informer } = running
    ;(await server.next('list')).list('10', [configMap('a', '1')])
    await until(() => informer.state === 'waiting', 'the back-off')
    expect(informer.lastError?.message).toBe('an observer that must not throw')
    expect(running.failures).toMatchObject([{ failure: 'loop', error: informer.lastError }])
    expect(informer.failures.get('loop')).toBe(1)
    await running.stop()
    expect(informer.state).toBe('stopped')
  })
})
