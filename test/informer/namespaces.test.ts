import { describe, expect, it } from 'vitest'
import {
  createSharedInformer,
  DeadlineError,
  resources,
  type Unstructured,
} from 'informerql/informer'
import { connect, endlessBackoff, runInformer, until } from '../support/informer.ts'
import { configMap, type ScriptedRequest, ScriptedServer } from './scripted-server.ts'

const inA = (name: string, version: string): object => configMap(name, version, { namespace: 'a' })
const inB = (name: string, version: string): object => configMap(name, version, { namespace: 'b' })

interface Followed {
  readonly a: ScriptedRequest
  readonly b: ScriptedRequest
}

/** Answers the first lists of `a` and `b`, and returns their watches. */
async function listBoth(server: ScriptedServer): Promise<Followed> {
  ;(await server.in('a', 'list')).list('10', [inA('one', '5'), inA('two', '6')])
  const a = await server.in('a', 'watch')
  ;(await server.in('b', 'list')).list('12', [inB('one', '11')])
  const b = await server.in('b', 'watch')
  return { a, b }
}

type Running = ReturnType<typeof runInformer>

const keysOf = ({ informer: { store } }: Running): readonly string[] =>
  Array.from(store.ids(), (id) => store.keyOf(id))

/** What a handler is told, as short texts. */
function follow({ informer }: Running): string[] {
  const told: string[] = []
  const keyOf = ({ metadata }: Unstructured): string => `${metadata.namespace}/${metadata.name}`
  informer.addEventHandler({
    onAdd: (object) => void told.push(`+${keyOf(object)}`),
    onUpdate: (_, object) => void told.push(`~${keyOf(object)}`),
    onDelete: (object) => void told.push(`-${keyOf(object)}`),
  })
  return told
}

const low = (position: string): string => position.split('.')[0] ?? ''

describe('An informer of several namespaces', () => {
  it('lists and watches each of them alone, and has one store with one set of indexes', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const { informer } = running
    await listBoth(server)
    await informer.waitForSync({ deadlineMs: 20_000 })
    expect(keysOf(running)).toEqual(['a/one', 'a/two', 'b/one'])
    expect([...(informer.store.index('name').posting('one') ?? [])]).toHaveLength(2)
    expect(informer.lister().namespaced('b').list()).toHaveLength(1)
    expect(server.waiting).toEqual([])
    expect(informer.state).toBe('synced')
  })

  it('is synced when all namespaces are, and its handlers hear of nothing before', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const told = follow(running)
    ;(await server.in('a', 'list')).list('10', [inA('one', '5')])
    const a = await server.in('a', 'watch')
    a.send('ADDED', inA('two', '11'))
    await until(() => running.informer.store.size === 2, 'the event')
    expect(running.informer.hasSynced()).toBe(false)
    expect(told).toEqual([])
    ;(await server.in('b', 'list')).list('12', [inB('one', '11')])
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    await until(() => told.length === 3, 'the first list')
    expect(told.toSorted()).toEqual(['+a/one', '+a/two', '+b/one'])
  })

  it('says the position that every namespace has reached, so that a reader may resume from it', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const { store } = running.informer
    const { a, b } = await listBoth(server)
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(low(store.resourceVersion)).toBe('10')
    b.send('ADDED', inB('two', '20'))
    await until(() => store.size === 4, 'the addition')
    expect(low(store.resourceVersion)).toBe('10')
    a.bookmark('15')
    await until(() => low(store.resourceVersion) === '15', 'the bookmark of the quiet namespace')
    a.bookmark('30')
    await until(() => low(store.resourceVersion) === '20', 'the other one to be the last')
  })

  it('has another position after each change, though the least version stays', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const { store } = running.informer
    const { b } = await listBoth(server)
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    const before = store.resourceVersion
    b.send('ADDED', inB('two', '20'))
    await until(() => store.size === 4, 'the addition')
    expect(store.resourceVersion).not.toBe(before)
  })

  it('waits for a version until every namespace has reached it', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const { store } = running.informer
    const { a, b } = await listBoth(server)
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    let isReached = false
    const reached = store
      .waitForResourceVersion('14' as typeof store.resourceVersion, { deadlineMs: 20_000 })
      .then(() => (isReached = true))
    b.bookmark('14')
    await until(() => running.informer.namespaces?.get('b')?.lastContactMs !== undefined, 'b')
    b.send('ADDED', inB('two', '16'))
    await until(() => store.size === 4, 'the addition')
    expect(isReached).toBe(false)
    a.bookmark('14')
    await reached
  })

  it('waits for the version of a write until the namespace of the object has reached it', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const { store } = running.informer
    const { b } = await listBoth(server)
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    b.send('ADDED', inB('two', '16'))
    const version = '16' as typeof store.resourceVersion
    await store.waitForResourceVersion(version, { namespace: 'b', deadlineMs: 20_000 })
    expect(store.idOf('b/two')).toBeDefined()
    for (const namespace of ['a', 'nowhere']) {
      const wait = store.waitForResourceVersion(version, { namespace, deadlineMs: 10 })
      await expect(wait).rejects.toThrow(DeadlineError)
    }
  })

  it('relists a namespace after a 410, and deletes only what that namespace has lost', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const told = follow(running)
    const { a, b } = await listBoth(server)
    await until(() => told.length === 3, 'the first list')
    const kept = running.informer.store.held(running.informer.store.idOf('a/two') ?? -1)
    told.length = 0
    a.error(410)
    ;(await server.in('a', 'list')).list('30', [inA('two', '6'), inA('three', '29')])
    await server.in('a', 'watch')
    await until(() => told.length === 2, 'the differences')
    expect(told).toEqual(['-a/one', '+a/three'])
    expect(keysOf(running)).toEqual(['a/three', 'a/two', 'b/one'])
    expect(running.informer.store.held(running.informer.store.idOf('a/two') ?? -1)).toBe(kept)
    expect(b.closed).toBe(false)
    expect(server.waiting).toEqual([])
  })

  it('takes an object that was made anew during a relist as a deletion and an addition', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const told = follow(running)
    const { a } = await listBoth(server)
    await until(() => told.length === 3, 'the first list')
    told.length = 0
    a.error(410)
    const again = configMap('one', '28', { namespace: 'a', uid: 'another' })
    ;(await server.in('a', 'list')).list('30', [again, inA('two', '6')])
    await until(() => told.length === 2, 'the differences')
    expect(told).toEqual(['-a/one', '+a/one'])
  })

  it('goes on with the others while the watch of one namespace is cut and its list fails', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      namespaces: ['a', 'b'],
      backoff: endlessBackoff,
    })
    const { informer } = running
    const { a, b } = await listBoth(server)
    await informer.waitForSync({ deadlineMs: 20_000 })
    await a.send('ADDED', inA('three', '13')).cut()
    ;(await server.in('a', 'list')).refuse(500)
    await until(() => informer.namespaces?.get('a')?.lastError !== undefined, 'the failure')
    b.send('ADDED', inB('two', '20'))
    await until(() => informer.store.size === 5, 'the addition')
    expect(informer.namespaces?.get('a')).toMatchObject({ state: 'waiting', isListed: true })
    expect(informer.namespaces?.get('b')).toMatchObject({ state: 'watching', isListed: true })
    expect(informer.namespaces?.get('b')?.lastError).toBeUndefined()
    expect(informer.lastError).toMatchObject({ httpStatus: 500 })
    expect(keysOf(running)).toEqual(['a/one', 'a/three', 'a/two', 'b/one', 'b/two'])
  })

  it('tells its observer of which namespace a failure is', async () => {
    const failures: (string | undefined)[] = []
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      namespaces: ['a', 'b'],
      backoff: endlessBackoff,
      plainObserver: { failed: (_, __, ___, namespace) => void failures.push(namespace) },
    })
    ;(await server.in('b', 'list')).refuse(403)
    await until(() => failures.length > 0, 'the failure')
    expect(failures).toEqual(['b'])
    expect(running.informer.hasSynced()).toBe(false)
  })

  it('adds a namespace while it runs, and leaves the watches of the others alone', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const told = follow(running)
    const { a, b } = await listBoth(server)
    await until(() => told.length === 3, 'the first list')
    told.length = 0
    running.informer.setNamespaces(['a', 'b', 'c'])
    const list = await server.in('c', 'list')
    expect(list.query).toMatchObject({ resourceVersion: '10' })
    expect(running.informer.namespaces?.get('c')?.isListed).toBe(false)
    list.list('40', [configMap('one', '39', { namespace: 'c' })])
    await server.in('c', 'watch')
    await until(() => told.length === 1, 'the addition')
    expect(told).toEqual(['+c/one'])
    expect(running.informer.hasSynced()).toBe(true)
    expect([a.closed, b.closed]).toEqual([false, false])
  })

  it('takes a namespace away: its watch ends, and its objects leave as deletions', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const told = follow(running)
    const { a, b } = await listBoth(server)
    await until(() => told.length === 3, 'the first list')
    told.length = 0
    running.informer.setNamespaces(['b'])
    await until(() => told.length === 2, 'the deletions')
    expect(told.toSorted()).toEqual(['-a/one', '-a/two'])
    expect(keysOf(running)).toEqual(['b/one'])
    await until(() => a.closed, 'the watch of a')
    b.send('ADDED', inB('two', '50'))
    await until(() => running.informer.store.size === 2, 'the addition')
    expect(low(running.informer.store.resourceVersion)).toBe('50')
  })

  it('is synced when the namespace that held it up is taken away', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({
      server: server.url,
      namespaces: ['a', 'b'],
      backoff: endlessBackoff,
    })
    ;(await server.in('a', 'list')).list('10', [inA('one', '5')])
    ;(await server.in('b', 'list')).refuse(403)
    await until(() => running.failures.length > 0, 'the refusal')
    running.informer.setNamespaces(['a'])
    await running.informer.waitForSync({ deadlineMs: 20_000 })
    expect(keysOf(running)).toEqual(['a/one'])
    expect(running.informer.state).toBe('synced')
  })

  it('goes from one list of all to lists by namespaces, and back', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const told = follow(running)
    await server.sync('10', [inA('one', '5'), inB('one', '6')])
    await until(() => told.length === 2, 'the first list')
    expect(running.informer.namespaces).toBeUndefined()
    told.length = 0
    running.informer.setNamespaces(['b'])
    ;(await server.in('b', 'list')).list('20', [inB('one', '6'), inB('two', '19')])
    await server.in('b', 'watch')
    await until(() => told.length === 2, 'the differences')
    expect(told).toEqual(['-a/one', '+b/two'])
    running.informer.setNamespaces(undefined)
    await server.sync('30', [inA('one', '25'), inB('one', '6'), inB('two', '19')])
    await until(() => told.length === 3, 'the addition')
    expect(told[2]).toBe('+a/one')
    expect(running.informer.store.resourceVersion).toBe('30')
  })

  it('compares whole objects of each namespace when it rereads', async () => {
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, namespaces: ['a', 'b'] })
    const told = follow(running)
    await listBoth(server)
    await until(() => told.length === 3, 'the first list')
    told.length = 0
    running.informer.reread()
    const now = { ...inA('one', '5'), data: { key: 'value' } }
    ;(await server.in('a', 'list')).list('10', [now, inA('two', '6')])
    ;(await server.in('b', 'list')).list('12', [inB('one', '11')])
    await until(() => told.length === 1, 'the difference')
    expect(told).toEqual(['~a/one'])
  })

  it('refuses what makes no sense, by name', () => {
    const apiServer = connect('http://127.0.0.1:1')
    const of = (
      resource: (typeof resources)[keyof typeof resources],
      more: object,
    ): (() => void) => {
      return () => void createSharedInformer({ apiServer, resource, ...more } as never)
    }
    expect(of(resources.nodes, { namespaces: ['a'] })).toThrow(/nodes has no namespaces/)
    expect(of(resources.pods, { namespaces: [''] })).toThrow(/not a name/)
    expect(of(resources.pods, { namespaces: 'a' })).toThrow(/namespaces/)
    expect(of(resources.pods, { namespaces: ['a'], namespace: 'b' })).toThrow(/cannot be combined/)
  })
})
