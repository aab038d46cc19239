import { describe, expect, it } from 'vitest'
import { startSimulator } from 'informerql/simulator'
import {
  configMaps,
  foldingHandler,
  held,
  runInformer,
  shown,
  syncedInformer,
  until,
} from '../support/informer.ts'
import { play, reach } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

/** What careless readers of lines and of UTF-8 stumble over. */
const texts = ['\u2028\u2029\u0085', 'line\nfeed\r\n', '😀é\u0000', '}{"type":"ADDED"\\', '"]},[{']
const full = (name: string, version: string): object => ({
  ...configMap(name, version, { annotations: Object.fromEntries(texts.entries()) }),
  data: Object.fromEntries(texts.map((text) => [text, text])),
})

describe('The bytes of an informer', () => {
  it('arrive whole, whatever a string holds', async () => {
    await using played = await play([full('a', '1')])
    played.watch.send('ADDED', full('b', '11'))
    await reach(played, '11')
    const { store } = played.informer
    for (const [key, version] of [
      ['default/a', '1'],
      ['default/b', '11'],
    ] as const) {
      expect(store.object(store.idOf(key) ?? -1)).toEqual(full(key.slice(-1), version))
    }
    expect(played.failures).toEqual([])
  })

  it('[8] may be cut at every position: events arrive once, and none is lost', async () => {
    const frame = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: full('b', '12') })}\n`)
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url })
    const handler = foldingHandler()
    running.informer.addEventHandler(handler)
    let watch = await server.sync('10', [])
    for (let at = 0; at < frame.length; at++) {
      // The first event keeps the watch from being a very short one.
      watch.send('MODIFIED', configMap('a', String(100 + at))).write(frame.subarray(0, at))
      await (at % 2 === 0 ? watch.cut() : watch.end())
      ;(await server.next('list')).list('10', [])
      watch = await server.next('watch')
      expect(watch.query).toMatchObject({ resourceVersion: String(100 + at) })
    }
    expect(running.informer.store.size).toBe(1)
    watch.write(frame)
    await until(() => running.informer.store.size === 2, 'the event')
    expect(handler.events).toHaveLength(frame.length + 1)
    expect(handler.events.at(-1)).toBe('ADDED default/b@12')
  })

  it('may come in pieces that end at every position', async () => {
    const events = ['b', 'c'].map((name, at) =>
      JSON.stringify({ type: 'ADDED', object: full(name, String(11 + at)) }),
    )
    const body = Buffer.from(`${events.join('\n')}\n`)
    const steps = [1, 2, 3, 5, 7, 64, 129]
    await using server = await ScriptedServer.start()
    for (const step of steps) {
      await using running = runInformer({ server: server.url })
      const list = await server.next('list')
      const whole = JSON.stringify({
        items: [full('a', '1')],
        metadata: { resourceVersion: '10' },
        kind: 'ConfigMapList',
        apiVersion: 'v1',
      })
      await inPieces(Buffer.from(whole), step, (piece) => void list.write(piece))
      list.end()
      const watch = await server.next('watch')
      await inPieces(body, step, (piece) => void watch.write(piece))
      await until(() => running.informer.store.size === 3, 'the events')
      expect(held(running.informer)).toEqual(['default/a@1', 'default/b@11', 'default/c@12'])
      expect(running.failures).toEqual([])
    }
  })

  it('may come byte by byte from the simulator, for list, stream and watch', async () => {
    await using simulator = await startSimulator()
    const write = (name: string): void => {
      simulator.storage.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name },
        data: { text: texts.join('') },
      })
    }
    write('a')
    for (const initialList of ['list', 'watchlist'] as const) {
      simulator.faults.inject({ fault: { type: 'split', everyBytes: 7 }, times: 2 })
      await using running = await syncedInformer({ server: simulator.url, initialList })
      simulator.faults.clear()
      write(initialList)
      const { store } = running.informer
      await until(() => store.idOf(`default/${initialList}`) !== undefined, 'the event')
      const objects = Array.from(store.ids(), (id) => store.object(id))
      expect(objects.map((object) => object['data'])).toEqual(
        objects.map(() => ({ text: texts.join('') })),
      )
      expect(objects.map(shown)).toHaveLength(initialList === 'list' ? 2 : 3)
      expect(running.failures).toEqual([])
    }
  })
})

/** Writes the bytes so that pieces do not run together on their way. */
async function inPieces(
  bytes: Buffer,
  step: number,
  write: (piece: Buffer) => void,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += step) {
    write(bytes.subarray(at, at + step))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
