import { describe, expect, it } from 'vitest'
import type { SharedInformer } from 'informerql/informer'
import { type InformerSetting, runInformer, until } from '../support/informer.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { anyObject, anyStatus, nobodysObject } from './any-json.ts'
import { configMap, type ScriptedRequest, ScriptedServer } from './scripted-server.ts'

const settings: Record<string, Partial<InformerSetting>> = {
  'as it comes': {},
  'by a streaming list': { initialList: 'watchlist' },
  'metadata only': { metadataOnly: true },
  'with index functions that trust it': {
    indexers: {
      trusting: ({ metadata }) => Object.values(metadata.labels ?? {}),
      finalizer: ({ metadata }) => [...(metadata.finalizers ?? [])],
    },
  },
  'with a transform': { transform: (object) => ({ ...object, data: { x: 'y' } }) },
  'with mutations detected': { detectMutations: true },
}

const objects = 25
const names = Array.from({ length: objects }, (_, n) => `n${n}`)
const event = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`

describe(`An informer survives any object that JSON allows, seed ${runSeed} (SEED=${runSeed} repeats it)`, () => {
  it.each(Object.entries(settings))('%s', async (_, setting) => {
    const random = seededRandom(runSeed)
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, ...setting })
    const { informer } = running
    const told = new Set<string>()
    informer.addEventHandler({
      onAdd: ({ metadata }) => void told.add(`ADDED ${metadata.name}`),
      onUpdate: (_before, { metadata }) => void told.add(`MODIFIED ${metadata.name}`),
    })
    const initial = names.map((name) => anyObject(name, random))
    const good = JSON.stringify(configMap('listed', '9'))
    let watch = await list(server, [...initial, nobodysObject(random), good])
    await informer.waitForSync({ deadlineMs: 20_000 })
    expectHeld(informer, [...names, 'listed'])
    let version = 100
    const follow = async (): Promise<void> => {
      const marker = `marker-${++version}`
      watch.write(event('ADDED', JSON.stringify(configMap(marker, String(version)))))
      await until(() => told.has(`ADDED ${marker}`), marker)
    }
    for (const name of names) {
      watch.write(event('MODIFIED', anyObject(name, random)))
      watch.write(event(random() < 0.5 ? 'ADDED' : 'DELETED', nobodysObject(random)))
    }
    await follow()
    expectHeld(informer, names)
    const failed = informer.failures.get('list') ?? 0
    for (let round = 0; round < 5; round++) {
      watch.write(event('ERROR', anyStatus(random)))
      const next = await server.any()
      watch = next.verb === 'watch' ? next.open() : await answer(next, server, initial)
      if (next.query['sendInitialEvents'] !== undefined) next.endInitialEvents('50')
      await follow()
    }
    expect(informer.failures.get('list') ?? 0).toBe(failed)
    for (const name of names) watch.write(event('DELETED', anyObject(name, random)))
    await follow()
    for (const name of names) expect(informer.store.idOf(`default/${name}`)).toBeUndefined()
    expectOnlyMarkers(informer)
    expect(informer.failures.get('loop')).toBeUndefined()
    await running.stop()
    expect(informer.state).toBe('stopped')
  })
})

async function list(server: ScriptedServer, items: readonly string[]): Promise<ScriptedRequest> {
  return await answer(await server.any(), server, items)
}

/** Answers a list, streaming or not; the watch that follows. */
async function answer(
  request: ScriptedRequest,
  server: ScriptedServer,
  items: readonly string[],
): Promise<ScriptedRequest> {
  if (request.verb === 'watch') {
    for (const item of items) request.write(event('ADDED', item))
    return request.endInitialEvents('10')
  }
  const kind = request.isPartial ? 'PartialObjectMetadataList' : 'ConfigMapList'
  request.write(
    `{"kind":"${kind}","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[${items.join()}]}`,
  )
  request.end()
  return (await server.next('watch')).open()
}

function expectHeld({ store }: SharedInformer, expected: readonly string[]): void {
  for (const name of expected) {
    const id = store.idOf(`default/${name}`)
    expect(id, name).toBeDefined()
    expect(store.object(id ?? -1).metadata.name).toBe(name)
  }
}

/** Nothing of what was deleted has stayed behind in any index. */
function expectOnlyMarkers({ store }: SharedInformer): void {
  const ids = new Set(store.ids())
  for (const name of store.indexNames()) {
    const index = store.index(name)
    for (const value of index.values()) {
      const posting = [...(index.posting(value) ?? [])]
      expect(posting.length, `${name} ${value.slice(0, 50)}`).toBeGreaterThan(0)
      for (const id of posting) expect(ids).toContain(id)
    }
  }
  for (const label of ['a', 'b', 'e', 'k', 'a,b', '__proto__', 'constructor', '']) {
    expect(store.label(label), label).toBeUndefined()
  }
}
