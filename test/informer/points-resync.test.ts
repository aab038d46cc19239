import {
  createSharedInformer,
  type InformerObserver,
  type KubernetesObject,
  type ListerWatcher,
  type ListStages,
} from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import {
  configMaps,
  connect,
  foldingHandler,
  runInformer,
  shown,
  until,
} from '../support/informer.ts'
import { play, reach } from './played-informer.ts'
import { configMap, ScriptedServer } from './scripted-server.ts'

const abc = [configMap('a', '1'), configMap('b', '2'), configMap('c', '3')]

/** The same source, whose requests are written down. */
const noted = (source: ListerWatcher, requests: string[]): ListerWatcher => ({
  list: (options, signal) => {
    requests.push('list')
    return source.list(options, signal)
  },
  watch: (options, signal) => {
    requests.push('watch')
    return source.watch(options, signal)
  },
})

describe('A resync', () => {
  it('[26] [35] comes to each handler in its own period, a second at least, from the store: nothing is listed', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const requests: string[] = []
    const informer = createSharedInformer({
      resource: configMaps,
      source: noted(apiServer.resource(configMaps), requests),
    })
    const stopping = new AbortController()
    const running = informer.run(stopping.signal)
    await server.sync('10', abc)
    await informer.waitForSync({ deadlineMs: 20_000 })
    const handlers = {
      none: foldingHandler(),
      zero: foldingHandler(),
      often: foldingHandler(),
      secondly: foldingHandler(),
      seldom: foldingHandler(),
    }
    informer.addEventHandler(handlers.none)
    informer.addEventHandler(handlers.zero, { resyncPeriodMs: 0 })
    informer.addEventHandler(
      {
        ...handlers.often,
        onUpdate: (previous, object) => {
          // That is how it is told from a change.
          expect(previous.metadata.resourceVersion).toBe(object.metadata.resourceVersion)
          return handlers.often.onUpdate?.(previous, object)
        },
      },
      { resyncPeriodMs: 1 },
    )
    informer.addEventHandler(handlers.secondly, { resyncPeriodMs: 1000 })
    informer.addEventHandler(handlers.seldom, { resyncPeriodMs: 1500 })
    const resync = abc.map((object) => {
      const name = shown(object as KubernetesObject)
      return `MODIFIED ${name} -> ${name}`
    })
    await until(() => handlers.often.events.length >= 9, 'two resyncs')
    await until(() => handlers.seldom.events.length >= 6, 'one resync')
    expect(handlers.often.events.slice(3, 9)).toEqual([...resync, ...resync])
    expect(handlers.seldom.events.slice(3, 6)).toEqual(resync)
    // Whoever asks for less than a second is told with who asks for a second.
    await until(() => handlers.secondly.events.length >= 9, 'two resyncs')
    expect(handlers.often.events.length).toBeLessThanOrEqual(handlers.secondly.events.length + 3)
    expect(handlers.none.events).toHaveLength(3)
    expect(handlers.zero.events).toHaveLength(3)
    expect(informer.failures.size).toBe(0)
    expect(requests).toEqual(['list', 'watch'])
    stopping.abort()
    await running
  })

  it('[26] comes in the period of the informer to handlers that do not say their own', async () => {
    await using played = await play([configMap('a', '1')], { resyncPeriodMs: 1000 })
    const handlers = [foldingHandler(), foldingHandler(), foldingHandler()] as const
    played.informer.addEventHandler(handlers[0])
    played.informer.addEventHandler(handlers[1], { resyncPeriodMs: 0 })
    const removed = played.informer.addEventHandler(handlers[2])
    removed.remove()
    await until(() => handlers[0].events.length >= 2, 'a resync')
    expect(handlers[0].events[1]).toBe('MODIFIED default/a@1 -> default/a@1')
    expect(handlers[1].events).toEqual(['INITIAL default/a@1'])
    expect(handlers[2].events).toEqual([])
  })

  it('[26] shows a handler the store as it is, behind every change before it', async () => {
    await using played = await play([configMap('a', '1')])
    const handler = foldingHandler()
    played.informer.addEventHandler(handler, { resyncPeriodMs: 1000 })
    played.watch.send('MODIFIED', configMap('a', '11')).send('ADDED', configMap('b', '12'))
    await reach(played, '12')
    const last = 'MODIFIED default/b@12 -> default/b@12'
    await until(() => handler.events.includes(last), 'a resync')
    const { events } = handler
    const changed = events.indexOf('MODIFIED default/a@1 -> default/a@11')
    expect(changed).toBeGreaterThan(0)
    expect(events.slice(changed + 1, events.indexOf(last) + 1)).toEqual([
      'ADDED default/b@12',
      'MODIFIED default/a@11 -> default/a@11',
      last,
    ])
  })
})

interface SlowList {
  readonly items: number
  readonly durationMs: number
  readonly stages: ListStages
}

/** Writes down what an observer is told. */
const noting = (lines: string[], slow: SlowList[] = []): InformerObserver => ({
  listing: () => lines.push('listing'),
  listed: ({ items }) => lines.push(`listed ${items}`),
  slowList: (list) => {
    lines.push(`slow list of ${list.items}`)
    slow.push(list)
  },
  watching: (version) => lines.push(`watching ${version}`),
  watched: ({ events, isShort }) => lines.push(`watched ${events}${isShort ? ', short' : ''}`),
  failed: (failure) => lines.push(`failed ${failure}`),
})

describe('An observer', () => {
  it.for(['list', 'watchlist'] as const)(
    '[35] is told of a slow list with its stages, once it has been applied: %s',
    async (initialList) => {
      await using simulator = await startSimulator()
      for (let n = 0; n < 20; n++) {
        const metadata = { name: `n${n}`, namespace: 'default' }
        const data = { text: 'x'.repeat(500) }
        simulator.storage.create(configMaps, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata,
          data,
        })
      }
      const rate = { type: 'slow', bytesPerSecond: 100_000 } as const
      simulator.faults.inject({ fault: rate, match: { resource: 'configmaps' } })
      const slow: SlowList[] = []
      const lines: string[] = []
      await using running = runInformer({
        server: simulator.url,
        namespace: 'default',
        initialList,
        slowListMs: 20,
        plainObserver: noting(lines, slow),
      })
      await running.informer.waitForSync({ deadlineMs: 10_000 })
      await until(() => slow.length > 0, 'the report')
      const [list] = slow
      const { firstByteMs = 0, receivingMs = 0, applyingMs = 0 } = list?.stages ?? {}
      expect(list?.items).toBe(20)
      expect(list?.durationMs).toBeGreaterThan(20)
      expect(firstByteMs).toBeGreaterThan(0)
      expect(receivingMs).toBeGreaterThan(0)
      expect(applyingMs).toBeGreaterThanOrEqual(0)
      // They leave out nothing of what it took.
      expect(firstByteMs + receivingMs + applyingMs).toBeCloseTo(list?.durationMs ?? 0, 3)
      expect(lines.filter((line) => line.startsWith('list'))).toEqual(['listing', 'listed 20'])
    },
  )

  it('[35] is not told of a list that was fast enough', async () => {
    const lines: string[] = []
    await using played = await play(abc, { plainObserver: noting(lines) })
    played.watch.send('ADDED', configMap('d', '11'))
    await reach(played, '11')
    expect(lines).toEqual(['listing', 'listed 3', 'watching 10'])
  })

  it('[35] can count lists, watches, short watches and failures', async () => {
    const lines: string[] = []
    await using server = await ScriptedServer.start()
    await using running = runInformer({ server: server.url, plainObserver: noting(lines) })
    ;(await server.next('list')).refuse(500)
    const watch = await server.sync('10', abc)
    watch.open().end()
    ;(await server.next('list')).list('20', [])
    const again = await server.next('watch')
    again.send('ADDED', configMap('d', '21')).end()
    await server.next('watch')
    expect(lines).toEqual([
      'listing',
      'failed list',
      'listing',
      'listed 3',
      'watching 10',
      'watched 0, short',
      'failed watch',
      'listing',
      'listed 0',
      'watching 20',
      'watched 1',
    ])
    expect(running.informer.failures).toEqual(
      new Map([
        ['list', 1],
        ['watch', 1],
      ]),
    )
    expect(running.informer.queueLength).toBe(0)
  })
})
