import { describe, expect, it } from 'vitest'
import type { KubernetesObject, Listener, ListenerRoute, SharedInformer } from 'informerql/informer'
import { foldingHandler, shown, until } from '../support/informer.ts'
import { play, reach } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'
import { testInformer } from '../support/informer.ts'

const abc = ['a', 'b', 'c'].map((name, at) =>
  configMap(name, `${at + 1}`, { labels: { team: name === 'c' ? 'blue' : 'red' } }),
)
const indexers = {
  team: ({ metadata }: KubernetesObject) => Object.values(metadata.labels ?? {}),
}

/** Everything that a listener is given until `store` is what it has been told of: `ADDED default/a@1`. */
async function told(listener: Listener, batches: number): Promise<string[]> {
  const seen: string[] = []
  let left = batches
  for await (const { changes } of listener) {
    seen.push(...changes.map(({ type, object }) => `${type} ${shown(object)}`))
    left -= 1
    if (left === 0) break
  }
  return seen
}

const listen = (informer: SharedInformer, route: ListenerRoute): Listener =>
  informer.listen({ route })

describe('A listener with a route', () => {
  it('is given the objects under its keys, and what happens to them, and nothing else', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const listener = listen(informer, { keys: ['default/a', 'default/z', 'default/none'] })
    watch.send('MODIFIED', configMap('a', '11')).send('MODIFIED', configMap('b', '12'))
    watch.send('ADDED', configMap('z', '13')).send('DELETED', configMap('a', '14'))
    watch.send('DELETED', configMap('c', '15'))
    await reach(played, '15')
    expect(listener.pending).toBe(4)
    expect(await told(listener, 2)).toEqual([
      'ADDED default/a@1',
      'MODIFIED default/a@11',
      'ADDED default/z@13',
      'DELETED default/a@14',
    ])
  })

  it('by an index is given what has one of its values, what comes to have it, and what has it no more, once', async () => {
    await using played = await play(abc, { indexers })
    const { informer, watch } = played
    const listener = listen(informer, { index: 'team', values: ['red', 'green'] })
    const labels = (first: string, second?: string) => ({ labels: { first, second } })
    watch.send('MODIFIED', configMap('a', '11', labels('red', 'green')))
    watch.send('MODIFIED', configMap('b', '12', labels('blue')))
    watch.send('MODIFIED', configMap('b', '13', labels('white')))
    watch.send('MODIFIED', configMap('c', '14', labels('green')))
    watch.send('ADDED', configMap('d', '15', labels('blue')))
    watch.send('ADDED', configMap('e', '16', labels('red')))
    watch.send('DELETED', configMap('e', '17'))
    watch.send('DELETED', configMap('d', '18'))
    await reach(played, '18')
    const seen = await told(listener, 2)
    expect(seen.slice(0, 2).toSorted()).toEqual(['ADDED default/a@1', 'ADDED default/b@2'])
    expect(seen.slice(2)).toEqual([
      'MODIFIED default/a@11',
      'MODIFIED default/b@12',
      'MODIFIED default/c@14',
      'ADDED default/e@16',
      'DELETED default/e@17',
    ])
  })

  it('by an index of every store, and after a relist, is given the difference on its route', async () => {
    await using played = await play(abc)
    const { informer, server, watch } = played
    const byNamespace = listen(informer, { index: 'namespace', values: ['default'] })
    const byUid = listen(informer, { index: 'uid', values: ['uid-of-b', 'uid-of-d'] })
    expect([byNamespace.pending, byUid.pending]).toEqual([3, 1])
    watch.error(410)
    const other = configMap('x', '13', { namespace: 'other' })
    ;(await server.next('list')).list('20', [abc[0] ?? {}, configMap('d', '12'), other])
    await reach(played, '20')
    expect((await told(byNamespace, 2)).slice(3)).toEqual([
      'DELETED default/b@2',
      'DELETED default/c@3',
      'ADDED default/d@12',
    ])
    expect(await told(byUid, 2)).toEqual([
      'ADDED default/b@2',
      'DELETED default/b@2',
      'ADDED default/d@12',
    ])
  })

  it('is synced with the first list, and given its part of it', async () => {
    await using server = await ScriptedServer.start()
    await using waiting = testInformer({ server: server.url, indexers })
    const routes = [{ keys: ['default/b'] }, { index: 'team', values: ['blue'] }, { keys: [] }]
    const readers = routes.map((route) => listen(waiting.informer, route)[Symbol.asyncIterator]())
    waiting.run()
    await server.sync('10', abc)
    const first = await Promise.all(readers.map(async (reader) => (await reader.next()).value))
    expect(first.map((batch) => [batch?.synced, batch?.changes.map(({ key }) => key)])).toEqual([
      [true, ['default/b']],
      [true, ['default/c']],
      [true, []],
    ])
  })

  it('is resynced and reset with what is on its route', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const route = { keys: ['default/a', 'default/d'] }
    const listener = informer.listen({ route, bufferLimit: 1, overflow: 'reset' })
    watch.send('ADDED', configMap('d', '11')).send('MODIFIED', configMap('d', '12'))
    await reach(played, '12')
    expect(await told(listener, 1)).toEqual(['ADDED default/a@1', 'ADDED default/d@12'])
    const handler = foldingHandler()
    await using _ = informer.addEventHandler(handler, { route, resyncPeriodMs: 1 })
    await until(() => handler.events.length === 4, 'the resync')
    expect(handler.events.slice(2)).toEqual([
      'MODIFIED default/a@1 -> default/a@1',
      'MODIFIED default/d@12 -> default/d@12',
    ])
  })

  it('by an index that the store does not have is refused, and not added', async () => {
    await using played = await play(abc)
    expect(() => listen(played.informer, { index: 'team', values: ['red'] })).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_INDEX', value: 'team' }),
    )
    expect(played.informer.listeners).toBe(0)
  })

  it('costs the others nothing: of thousands only those concerned are touched by a change', async () => {
    await using played = await play(abc, { indexers })
    const { informer, watch } = played
    let looks = 0
    const keyed = (name: string): ListenerRoute => ({
      get keys() {
        looks += 1
        return [`default/${name}`]
      },
    })
    const listeners = Array.from({ length: 5000 }, (_, at) => [
      informer.listen({ route: keyed(`n${at}`) }),
      informer.listen({ route: { index: 'team', values: [`t${at}`] } }),
    ]).flat()
    let woken = 0
    for (const listener of listeners) {
      const reader = listener[Symbol.asyncIterator]()
      // The snapshot, which is empty, then the first change.
      await reader.next()
      void reader.next().then(() => (woken += 1))
    }
    const before = looks
    watch.send('ADDED', configMap('n7', '11', { labels: { team: 't9' } }))
    watch.send('ADDED', configMap('unheard', '12'))
    await until(() => woken > 0, 'the change')
    await reach(played, '12')
    expect([woken, looks - before]).toEqual([2, 0])
    for (const listener of listeners) listener.close()
    expect(informer.listeners).toBe(0)
  })
})
