import { createClient } from 'graphql-ws'
import {
  type Frame,
  type LiveCollection,
  liveCollection,
  type LiveTransport,
  WebSocketClient,
} from 'informerql/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { podNames, shop, shopForTests } from './shop.ts'

interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> }
}

const query = `subscription ($resumeFrom: String, $selector: String) {
  pods(namespace: "${shop}", labelSelector: $selector, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced resumeToken
    changes { type removal objectId object { id metadata { name labels } } }
  }
}`
const options = {
  query,
  variables: {},
  compare: (a: Pod, b: Pod) => (a.metadata.name < b.metadata.name ? -1 : 1),
}

const names = ({ rows }: { readonly rows: readonly Pod[] }): readonly string[] =>
  rows.map(({ metadata }) => metadata.name)

const waitMs = { timeout: 60_000 }

/** The variables of the subscriptions that were sent through it. */
const sent: { resumeFrom?: string }[] = []

class HeardWebSocket extends WebSocket {
  override send(data: string): void {
    const { type, payload } = JSON.parse(data) as {
      readonly type: string
      readonly payload?: { readonly variables: { resumeFrom?: string } }
    }
    if (type === 'subscribe' && payload !== undefined) sent.push(payload.variables)
    super.send(data)
  }
}

const open = shopForTests()
const stack: (Disposable | AsyncDisposable)[] = []
afterEach(async () => {
  for (const part of stack.splice(0).toReversed()) {
    if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]()
    else part[Symbol.dispose]()
  }
  sent.length = 0
})

const proxied = async (): Promise<CutProxy> => {
  const proxy = await startCutProxy(Number(new URL(open().gateway.url).port))
  stack.push(proxy)
  return proxy
}

const collect = (client: LiveTransport): LiveCollection<Pod> => {
  const collection = liveCollection<unknown, object, Pod>({ client, ...options })
  stack.push(collection)
  return collection
}

const transports: Readonly<Record<string, (port: number) => LiveTransport>> = {
  'its own client': (port) =>
    new WebSocketClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocket: HeardWebSocket }),
  'the client of graphql-ws': (port) =>
    createClient({
      url: `ws://127.0.0.1:${port}/graphql`,
      webSocketImpl: HeardWebSocket,
      retryAttempts: Infinity,
      retryWait: () => new Promise((resolve) => void setTimeout(resolve, 50)),
      shouldRetry: () => true,
    }),
  'a client of graphql-ws that does not come back by itself': (port) =>
    createClient({
      url: `ws://127.0.0.1:${port}/graphql`,
      webSocketImpl: HeardWebSocket,
      retryAttempts: 0,
    }),
}

describe.each(Object.entries(transports))('liveCollection with %s', (_, transport) => {
  it('shows what the subscription is about, in order, and follows it', async () => {
    const { addPod, labelPod, deletePod } = open()
    const proxy = await proxied()
    const pods = collect(transport(proxy.port))
    expect(pods.getSnapshot()).toEqual({
      rows: [],
      status: 'loading',
      error: undefined,
      staleSince: null,
      incomplete: [],
    })
    await pods.synced
    expect(pods.getSnapshot()).toMatchObject({ status: 'live', error: undefined })
    expect(names(pods.getSnapshot())).toEqual(podNames)
    expect(pods.getSnapshot()).toBe(pods.getSnapshot())
    const before = pods.getSnapshot()
    const told = vi.fn<() => void>()
    const changes: string[] = []
    pods.subscribe(told)
    pods.onChanges((all) =>
      changes.push(
        ...all.map((change) =>
          change.type === 'REMOVED'
            ? `${change.type} ${change.removal} ${change.previous.metadata.name}`
            : `${change.type} ${change.row.metadata.name}`,
        ),
      ),
    )
    using others = pods.view({ filter: ({ metadata }) => metadata.labels['app'] !== 'web' })
    await addPod('web-bb')
    await labelPod('web-bb', 'other')
    await vi.waitFor(() => expect(names(others.getSnapshot())).toEqual(['web-bb']), waitMs)
    expect(names(pods.getSnapshot())).toEqual([...podNames, 'web-bb'].toSorted())
    expect(told).toHaveBeenCalled()
    await deletePod('web-bb')
    await vi.waitFor(() => expect(names(pods.getSnapshot())).toEqual(podNames), waitMs)
    expect(others.getSnapshot().rows).toEqual([])
    expect(changes.at(-1)).toBe('REMOVED DELETED web-bb')
    expect(names(before)).toEqual(podNames)
  })

  it('keeps its rows through a lost connection, comes back, and asks to go on where it was', async () => {
    const { addPod, deletePod } = open()
    const proxy = await proxied()
    const pods = collect(transport(proxy.port))
    await pods.synced
    const statuses: string[] = []
    const fewest: number[] = []
    pods.subscribe(() => {
      statuses.push(pods.status)
      fewest.push(pods.getSnapshot().rows.length)
    })
    const { target } = proxy
    proxy.target = undefined
    proxy.cut()
    await vi.waitFor(() => expect(pods.status).toBe('reconnecting'), waitMs)
    expect(names(pods.getSnapshot())).toEqual(podNames)
    await addPod('web-new')
    proxy.target = target
    const expected = [...podNames, 'web-new']
    await vi.waitFor(() => expect(names(pods.getSnapshot())).toEqual(expected), waitMs)
    expect(pods.status).toBe('live')
    expect(statuses[0]).toBe('reconnecting')
    expect(Math.min(...fewest)).toBe(podNames.length)
    expect(sent[0]).toEqual({})
    expect(sent.at(-1)?.resumeFrom).toEqual(expect.any(String))
    await deletePod('web-new')
    await vi.waitFor(() => expect(names(pods.getSnapshot())).toEqual(podNames), waitMs)
  })

  it('fails at once where asking again would not help', async () => {
    const proxy = await proxied()
    const client = transport(proxy.port)
    using pods = liveCollection({ client, query: 'subscription { nothing { reset } }' })
    await expect(pods.synced).rejects.toThrow('nothing')
    expect(pods.status).toBe('failed')
    expect(pods.getSnapshot().error?.message).toContain('nothing')
  })
})

describe('liveCollection', () => {
  it('sends nothing and shows what it had when it is closed', async () => {
    const proxy = await proxied()
    const client = new WebSocketClient({
      url: `ws://127.0.0.1:${proxy.port}/graphql`,
      webSocket: HeardWebSocket,
    })
    const closed = vi.fn<() => void>()
    client.on('closed', closed)
    const pods = collect(client)
    await pods.synced
    pods.close()
    pods.close()
    expect(pods.getSnapshot().status).toBe('closed')
    await open().addPod('web-late')
    expect(names(pods.getSnapshot())).toEqual(podNames)
    await open().deletePod('web-late')
    expect(sent).toHaveLength(1)
    expect(closed).not.toHaveBeenCalled()
  })

  it('goes on where a listener throws, and tells of it', async () => {
    const proxy = await proxied()
    const failures: unknown[] = []
    using pods = liveCollection<unknown, object, Pod>({
      client: new WebSocketClient({
        url: `ws://127.0.0.1:${proxy.port}/graphql`,
        webSocket: WebSocket,
      }),
      ...options,
      listenerFailed: (error) => failures.push(error),
    })
    pods.subscribe(() => {
      throw new Error('of a listener')
    })
    const told = vi.fn<() => void>()
    pods.subscribe(told)
    await pods.synced
    expect(told).toHaveBeenCalled()
    expect(failures[0]).toEqual(new Error('of a listener'))
  })

  it('shows the old rows until a new snapshot is complete', () => {
    const { frame, pods } = played()
    frame({ reset: true, synced: false, changes: [added('a')] })
    expect(names(pods.getSnapshot())).toEqual(['a'])
    frame({ reset: false, synced: true, changes: [added('b')] })
    frame({ reset: true, synced: false, changes: [added('c')] })
    expect(names(pods.getSnapshot())).toEqual(['a', 'b'])
    expect(pods.status).toBe('reconnecting')
    frame({ reset: true, synced: false, changes: [added('b')] })
    const changes: unknown[] = []
    pods.onChanges((all) => changes.push(...all.map(({ type, id }) => `${type} ${id}`)))
    frame({ reset: false, synced: true, changes: [added('d')] })
    expect(names(pods.getSnapshot())).toEqual(['b', 'd'])
    expect(pods.status).toBe('live')
    expect(changes).toEqual(['REMOVED a', 'MODIFIED b', 'ADDED d'])
  })

  it('shows a frame as a whole to every listener', () => {
    const { frame, pods } = played()
    using backwards = pods.view({ compare: (a, b) => (a.metadata.name < b.metadata.name ? 1 : -1) })
    const seen: (readonly string[])[] = []
    const look = (): void => {
      seen.push([...names(pods.getSnapshot()), ...names(backwards.getSnapshot())])
    }
    frame({ reset: true, synced: true, changes: [added('a')] })
    pods.onChanges(look)
    backwards.subscribe(look)
    pods.subscribe(look)
    frame({ reset: false, synced: true, changes: [added('b')] })
    const removed = { type: 'REMOVED', objectId: 'a', removal: 'DELETED' } as const
    frame({ reset: false, synced: true, changes: [removed] })
    const both = ['a', 'b', 'b', 'a']
    expect(seen).toEqual([both, both, both, ['b', 'b'], ['b', 'b'], ['b', 'b']])
  })

  it('forgets a first snapshot that was cut off', () => {
    const { frame, pods } = played()
    frame({ reset: true, synced: false, changes: [added('a')] })
    frame({ reset: true, synced: true, changes: [added('b')] })
    expect(names(pods.getSnapshot())).toEqual(['b'])
  })

  it('keeps an order under random changes', () => {
    const { frame, pods } = played()
    frame({ reset: true, synced: true, changes: [] })
    using backwards = pods.view({ compare: (a, b) => (a.metadata.name < b.metadata.name ? 1 : -1) })
    const model = new Map<string, string>()
    let seed = 7
    const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let round = 0; round < 300; round++) {
      const changes = Array.from({ length: 1 + next(5) }, () => {
        const id = `id-${next(30)}`
        if (next(3) === 0) {
          model.delete(id)
          return { type: 'REMOVED', objectId: id, removal: 'DELETED' } as const
        }
        const name = `name-${next(1000)}-${id}`
        model.set(id, name)
        return { ...added(name), objectId: id }
      })
      frame({ reset: false, synced: true, changes })
      const sorted = [...model.values()].toSorted()
      expect(names(pods.getSnapshot())).toEqual(sorted)
      expect(names(backwards.getSnapshot())).toEqual(sorted.toReversed())
    }
  })
})

const added = (name: string) =>
  ({ type: 'ADDED', objectId: name, object: { id: name, metadata: { name, labels: {} } } }) as const

/** A collection whose frames the test brings. */
function played() {
  let next: ((frame: Frame<Pod>) => void) | undefined
  const client: LiveTransport = {
    subscribe(_, sink) {
      next = (pods) => sink.next({ data: { pods } })
      return () => {}
    },
  }
  const pods = collect(client)
  pods.subscribe(() => {})
  return { pods, frame: (frame: Frame<Pod>) => next?.(frame) }
}
