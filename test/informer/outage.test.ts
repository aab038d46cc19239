import { createSharedInformerFactory, resources } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { connect, endlessBackoff, runInformer, until } from '../support/informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

const observer = { failed: () => {} }

describe('When a server that was away is back', () => {
  it('one answer wakes all informers of its connection, however long they back off', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    await using factory = createSharedInformerFactory({
      apiServer,
      observer,
      backoff: endlessBackoff,
    })
    const informers = ['a', 'b', 'c', 'd', 'e', 'f'].map((app) =>
      factory.informer(resources.configMaps, { labelSelector: `app=${app}` }),
    )
    factory.start()
    /** A list each, or the question whether the server knows the position, and a watch each. */
    const answerAll = async (): Promise<void> => {
      for (let asked = 0; asked < 2 * informers.length; asked += 1) {
        const request = await server.any()
        if (request.verb === 'list') request.list('10', [])
        else request.open().bookmark('11')
      }
    }
    await answerAll()
    const areAt11 = () => informers.every(({ store }) => store.resourceVersion === '11')
    await until(areAt11, 'the first watches')
    await server.refuse()
    await until(() => informers.every(({ state }) => state === 'waiting'), 'the back-off of all')
    await server.listen()
    await answerAll()
    await expect
      .poll(() => informers.map(({ state }) => state))
      .toEqual(informers.map(() => 'synced'))
  })

  it('an informer whose position it has forgotten lists at once: a 410 shows that it is there', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff })
    ;(await server.sync('10', [])).open().bookmark('11')
    await until(() => running.informer.store.resourceVersion === '11', 'the position')
    await server.refuse()
    await until(() => running.informer.state === 'waiting', 'the back-off')
    await server.listen()
    ;(await server.next('list')).list('11', [])
    ;(await server.next('watch')).error(410)
    const list = await server.next('list')
    expect(list.query).toMatchObject({ resourceVersion: '11' })
    list.list('50', [configMap('a', '40')])
    await until(() => running.informer.store.size === 1, 'the list')
  })

  it('one that is refused by itself is not woken by the answers that others get', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, backoff: endlessBackoff })
    await using apiServer = connect(server.url)
    ;(await server.next('list')).refuse(503)
    await until(() => running.informer.state === 'waiting', 'the back-off')
    await until(() => server.versionRequests > 0, 'the question whether it is there')
    for (let times = 0; times < 3; times += 1) await apiServer.version()
    expect(running.informer.state).toBe('waiting')
    expect(running.informer.failures.get('list')).toBe(1)
  })
})
