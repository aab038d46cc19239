import { describe, expect, it } from 'vitest'
import { type KubernetesObject, resourceVersion, type SharedInformer } from 'informerql/informer'
import { foldingHandler, held, until } from '../support/informer.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { play, reach } from './played-informer.ts'
import { configMap } from './scripted-server.ts'

/** An index function that takes a millisecond: 200 objects stand for a big store. */
const slow = ({ metadata }: KubernetesObject): readonly string[] => {
  const end = performance.now() + 1
  while (performance.now() < end);
  return [metadata.resourceVersion ?? '']
}

const many = Array.from({ length: 200 }, (_, at) => configMap(`n${at}`, `${at + 1}`))

/** Looks at each turn of the event loop, until the work is done; returns what was seen. */
async function during<T>(work: Promise<unknown>, look: () => T): Promise<T[]> {
  const seen: T[] = []
  const progress = { done: false }
  const settle = () => void (progress.done = true)
  work.then(settle, settle)
  while (!progress.done) {
    seen.push(look())
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  await work
  return seen
}

const versionsIn = ({ store }: SharedInformer, index: string): string[] =>
  [...store.index(index).values()].toSorted()

describe('A back-fill of a big store', () => {
  it('[21] gives way to the event loop, and shows the index when it is complete and up to date', async () => {
    await using played = await play(many)
    const { informer, watch } = played
    const filling = informer.backfillIndexers({ slow })
    watch.send('DELETED', configMap('n0', '1001')).send('MODIFIED', configMap('n5', '1002'))
    watch.send('ADDED', configMap('new', '1003')).send('DELETED', configMap('n199', '1004'))
    const seen = await during(filling, () => informer.store.indexNames().includes('slow'))
    expect(seen.length).toBeGreaterThan(5)
    expect(seen).not.toContain(true)
    await reach(played, '1004')
    const expected = Array.from(informer.store.ids(), (id) =>
      String(informer.store.object(id).metadata.resourceVersion),
    )
    expect(versionsIn(informer, 'slow')).toEqual(expected.toSorted())
  })

  it(`[21] is what an index made at once is, however much changes between its slices, seed ${runSeed}`, async () => {
    const random = seededRandom(runSeed)
    await using played = await play(many)
    const { informer, watch } = played
    const filling = informer.backfillIndexers({ slow })
    let version = 1000
    const present = new Set(many.map((_, at) => `n${at}`))
    const seen = await during(filling, () => {
      for (let at = 0; at < 5; at += 1) {
        const name = `n${Math.floor(random() * 250)}`
        version += 1
        const type = !present.has(name) ? 'ADDED' : random() < 0.5 ? 'DELETED' : 'MODIFIED'
        if (type === 'DELETED') present.delete(name)
        else present.add(name)
        watch.send(type, configMap(name, `${version}`))
      }
      return informer.store.hasIndex('slow')
    })
    expect(seen.length).toBeGreaterThan(5)
    await reach(played, `${version}`)
    informer.addIndexers({ atOnce: slow })
    const shown = (name: string): unknown => {
      const index = informer.store.index(name)
      const keysOf = (value: string): readonly string[] =>
        [...(index.posting(value) ?? [])].map((id) => informer.store.keyOf(id)).toSorted()
      return [
        index.objectCount,
        [...index.values()].toSorted().map((value) => [value, keysOf(value)]),
        Array.from(informer.store.ids(), (id) => index.valuesOf(id)),
      ]
    }
    expect(shown('slow')).toEqual(shown('atOnce'))
    expect(informer.store.size).toBe(present.size)
  })

  it('[21] is complete also where a list takes the place of the store meanwhile', async () => {
    await using played = await play(many)
    const { informer, server, watch } = played
    watch.error(410)
    const list = await server.next('list')
    const filling = informer.backfillIndexers({ slow })
    list.list('2000', many.slice(100))
    await filling
    await reach(played, '2000')
    await server.next('watch')
    expect(versionsIn(informer, 'slow')).toHaveLength(100)
  })

  it('[21] takes its name at once, and is given up when the informer is stopped', async () => {
    await using played = await play(many)
    const { informer } = played
    const filling = informer.backfillIndexers({ slow })
    await expect(informer.backfillIndexers({ slow })).rejects.toMatchObject({
      code: 'DUPLICATE_INDEX',
    })
    await Promise.all([
      expect(filling).rejects.toMatchObject({ code: 'INFORMER_STOPPED' }),
      played.stop(),
    ])
    expect(informer.store.indexNames()).not.toContain('slow')
  })
})

describe('A relist of a big store', () => {
  it('[16] gives way to the event loop while it is compared, and shows nothing before all of it', async () => {
    await using played = await play(many)
    const { informer, server, watch } = played
    const handler = foldingHandler()
    informer.addEventHandler(handler)
    await until(() => handler.events.length === many.length, 'the snapshot')
    watch.error(410)
    const list = await server.next('list')
    // Added now, it has to be filled in what the list brings, which takes as long as a big comparison.
    let calls = 0
    const counted = (object: KubernetesObject) => {
      calls += 1
      return slow(object)
    }
    await informer.backfillIndexers({ counted })
    const before = [held(informer).join(), versionsIn(informer, 'counted').join()]
    const fresh = many.slice(1).map((_, at) => configMap(`n${at + 1}`, `${1000 + at}`))
    calls = 0
    list.list('5000', fresh)
    const reached = informer.store.waitForResourceVersion(resourceVersion('5000'), {
      deadlineMs: 10_000,
    })
    const seen = await during(reached, () => ({
      state: [held(informer).join(), versionsIn(informer, 'counted').join()],
      events: handler.events.length,
      calls,
    }))
    const midway = seen.filter((one) => one.calls > 0 && one.calls < fresh.length)
    expect(midway.length).toBeGreaterThan(5)
    for (const { state, events } of midway) {
      expect(state).toEqual(before)
      expect(events).toBe(many.length)
    }
    await until(() => handler.events.length === 2 * many.length, 'the differences')
    expect(handler.events[many.length]).toBe('VANISHED default/n0@1')
    expect(handler.events.slice(many.length + 1)).toEqual(
      fresh.map(
        (_, at) => `MODIFIED default/n${at + 1}@${at + 2} -> default/n${at + 1}@${1000 + at}`,
      ),
    )
  })

  it('[14] tells nothing when the informer is stopped in the middle of it', async () => {
    await using played = await play(many)
    const { informer, server, watch } = played
    watch.error(410)
    const list = await server.next('list')
    let calls = 0
    await informer.backfillIndexers({
      counted: (object) => {
        calls += 1
        return slow(object)
      },
    })
    calls = 0
    list.list('5000', many.slice(1))
    await until(() => calls > 0, 'the comparison')
    await played.stop()
    expect(informer.store.size).toBe(many.length)
    expect(informer.store.resourceVersion).toBe('10')
  })
})
