import { describe, expect, it } from 'vitest'
import type { Change, KubernetesObject, StoreView } from 'informerql/informer'
import { configMap } from './scripted-server.ts'
import { play, reach } from './played-informer.ts'

const abc = [configMap('a', '1'), configMap('b', '2'), configMap('c', '3')]

const idOf = (store: StoreView, key: string): number => store.idOf(key) ?? -1

describe('The version of an object', () => {
  it('is the identity of its held form: another one after each change, and no other', async () => {
    await using played = await play(abc)
    const { store } = played.informer
    const a = store.held(idOf(store, 'default/a'))
    const b = store.held(idOf(store, 'default/b'))
    played.watch.send('MODIFIED', configMap('a', '11')).send('MODIFIED', configMap('b', '2'))
    await reach(played, '11')
    expect(store.held(idOf(store, 'default/a'))).not.toBe(a)
    expect(store.held(idOf(store, 'default/b'))).toBe(b)
  })

  it('is kept over a relist that finds the object unchanged, also when nobody listens', async () => {
    await using played = await play([...abc, configMap('old', '4')])
    const { store } = played.informer
    const before = new Map(Array.from(store.ids(), (id) => [store.keyOf(id), store.held(id)]))
    played.watch.error(410)
    const list = await played.server.next('list')
    list.list('20', [
      configMap('c', '3'),
      configMap('b', '12'),
      configMap('a', '1', { uid: 'new' }),
    ])
    await reach(played, '20')
    const kept = Array.from(store.ids(), (id) => [
      store.keyOf(id),
      store.held(id) === before.get(store.keyOf(id)),
    ])
    expect(kept).toEqual([
      ['default/a', false],
      ['default/b', false],
      ['default/c', true],
    ])
  })

  it('is on every change: of its object, and of the state before', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const { store } = informer
    const before = store.held(idOf(store, 'default/a'))
    const seen: Change[] = []
    const listener = informer.listen({ replay: false })
    watch.send('MODIFIED', configMap('a', '11')).send('DELETED', configMap('b', '12'))
    await reach(played, '12')
    for await (const { changes } of listener) if (seen.push(...changes) >= 2) break
    expect(seen.map(({ type, previousHeld }) => [type, previousHeld === before])).toEqual([
      ['MODIFIED', true],
      ['DELETED', false],
    ])
    expect(seen[0]?.held).toBe(store.held(idOf(store, 'default/a')))
  })

  it('is that of the state before also on a deletion that stands for modifications before it', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const before = informer.store.held(idOf(informer.store, 'default/a'))
    const listener = informer.listen({ replay: false, bufferLimit: 0 })
    watch.send('MODIFIED', configMap('a', '11')).send('DELETED', configMap('a', '12'))
    await reach(played, '12')
    for await (const { changes } of listener) {
      if (changes.length === 0) continue
      expect(changes).toHaveLength(1)
      expect(changes[0]).toMatchObject({ type: 'DELETED', previousHeld: before })
      expect(changes[0]?.object.metadata.resourceVersion).toBe('12')
      expect(changes[0]?.previous?.metadata.resourceVersion).toBe('1')
      break
    }
  })

  it('is decoded once by a change, whoever asks for it and however many changes it was made of', async () => {
    await using played = await play(abc)
    const { informer, watch } = played
    const listeners = [0, 10].map((bufferLimit) => informer.listen({ replay: false, bufferLimit }))
    watch.send('MODIFIED', configMap('a', '11')).send('MODIFIED', configMap('a', '12'))
    await reach(played, '12')
    const last = await Promise.all(
      listeners.map(async (listener) => {
        for await (const { changes } of listener) if (changes.length > 0) return changes.at(-1)
        throw new Error('the listener has ended')
      }),
    )
    for (const change of last) {
      expect(change?.object).toBe(change?.object)
      expect(change?.previous).toBe(change?.previous)
      expect(change?.previous?.metadata.name).toBe('a')
    }
    expect(last[0]?.object).toBe(last[1]?.object)
  })

  it('is found by key and by UID, and its UID and key by its id', async () => {
    await using played = await play(abc)
    const { store } = played.informer
    const id = idOf(store, 'default/b')
    expect([store.idOfUid('uid-of-b'), store.uidOf(id), store.keyOf(id)]).toEqual([
      id,
      'uid-of-b',
      'default/b',
    ])
    expect(store.idOfUid('uid-of-nobody')).toBeUndefined()
    expect(store.idOfUid('')).toBeUndefined()
    played.watch.send('DELETED', configMap('b', '11'))
    played.watch.send('ADDED', configMap('b', '12', { uid: 'another' }))
    await reach(played, '12')
    expect(store.idOfUid('uid-of-b')).toBeUndefined()
    expect(store.keyOf(store.idOfUid('another') ?? -1)).toBe('default/b')
    expect(() => store.held(99)).toThrow(RangeError)
  })
})

const shapes: readonly unknown[] = [null, 0, true, 'text', [], [null], {}, { a: null }, { a: {} }]

describe('A store survives any JSON', () => {
  it.each(['labels', 'annotations', 'ownerReferences', 'uid', 'finalizers', 'creationTimestamp'])(
    'as %s: the object is stored, and the others are found by their indexes',
    async (member) => {
      await using played = await play(abc)
      const { informer, watch, failures } = played
      const strange = (at: number, shape: unknown) => configMap('a', `${at}`, { [member]: shape })
      shapes.forEach((shape, at) => watch.send('MODIFIED', strange(11 + at, shape)))
      watch.send('MODIFIED', configMap('b', '99', { labels: { app: 'web' } }))
      await reach(played, '99')
      expect(informer.store.size).toBe(3)
      expect([...(informer.store.label('app')?.posting('web') ?? [])]).toHaveLength(1)
      expect(failures).toEqual([])
    },
  )

  it('as labels: those that are strings are labels, whatever they are called', async () => {
    const labels = JSON.parse(
      '{"app":"web","n":1,"x":null,"__proto__":"p","a,b":"1","a":"2","b":"3"}',
    )
    await using played = await play([
      configMap('a', '1', { labels }),
      configMap('b', '2', { labels }),
    ])
    const { store } = played.informer
    const valuesOf = (key: string) => [...(store.label(key)?.values() ?? [])]
    expect(['app', 'n', 'x', '__proto__', 'a,b', 'a', 'b'].map(valuesOf)).toEqual([
      ['web'],
      [],
      [],
      ['p'],
      ['1'],
      ['2'],
      ['3'],
    ])
  })

  it('from an index function that returns no strings: reported, and not in that index', async () => {
    const broken = () => [5, undefined] as unknown as readonly string[]
    const nothing = () => undefined as unknown as readonly string[]
    const fine = ({ metadata }: KubernetesObject) => [metadata.name]
    await using played = await play(abc, { indexers: { broken, nothing, fine } })
    const { store } = played.informer
    expect([...store.index('broken').values()]).toEqual([])
    expect([...store.index('fine').values()]).toEqual(['a', 'b', 'c'])
    expect(played.informer.failures.get('index')).toBe(6)
  })
})
