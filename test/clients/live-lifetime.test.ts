import {
  liveCollection,
  type LiveCollectionOptions,
  livePage,
  type LiveTransport,
  WebSocketClient,
} from 'informerql/client'
import { describe, expect, it, vi } from 'vitest'
import { startScriptedGateway } from './scripted-gateway.ts'
import { podNames, shop, shopForTests } from './shop.ts'

interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string }
}

const waitMs = { timeout: 60_000 }
const open = shopForTests()

/** A client of the gateway that notes each subscription's `resumeFrom`, and how many are open. */
function counted(url = open().gateway.url.replace('http', 'ws')) {
  const client = new WebSocketClient({ url })
  const sent: unknown[] = []
  let subscriptions = 0
  const transport: LiveTransport = {
    subscribe(request, sink) {
      sent.push(request.variables['resumeFrom'])
      subscriptions++
      const unsubscribe = client.subscribe(request, sink)
      return () => {
        subscriptions--
        unsubscribe()
      }
    },
    on: (event, listener) => client.on(event, listener),
  }
  return { transport, sent, subscriptions: () => subscriptions }
}

type Counted = ReturnType<typeof counted>

const list: Omit<LiveCollectionOptions<unknown, object, Pod>, 'client'> = {
  query: `subscription ($resumeFrom: String) {
    pods(namespace: "${shop}", resumeFrom: $resumeFrom, coalesceMs: 0) {
      reset synced resumeToken
      changes { type removal objectId object { id metadata { name } } }
    }
  }`,
  compare: (a, b) => (a.metadata.name < b.metadata.name ? -1 : 1),
}
const page = `subscription ($resumeFrom: String) {
  podsPage(namespace: "${shop}", first: 20, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced totalCount resumeToken
    changes { step index from objectId object { id metadata { name } } }
  }
}`

const kinds = {
  liveCollection: ({ transport }: Counted) =>
    liveCollection<unknown, object, Pod>({ client: transport, ...list }),
  livePage: ({ transport }: Counted) =>
    livePage<unknown, object, Pod>({ client: transport, query: page }),
}

const names = (live: { readonly getSnapshot: () => { readonly rows: readonly Pod[] } }) =>
  live.getSnapshot().rows.map(({ metadata }) => metadata.name)

describe.each(Object.entries(kinds))('a %s', (_, make) => {
  it('connects with its first subscriber, and leaves after the last one', async () => {
    const client = counted()
    using pods = make(client)
    expect(pods.getSnapshot()).toMatchObject({ rows: [], status: 'loading' })
    expect(client.sent).toEqual([])
    const listener = vi.fn<() => void>()
    const leave = [pods.subscribe(listener), pods.subscribe(listener)]
    await vi.waitFor(() => expect(pods.status).toBe('live'), waitMs)
    expect(client.sent).toHaveLength(1)
    leave[0]?.()
    leave[0]?.()
    listener.mockClear()
    await open().addPod('web-h')
    await vi.waitFor(() => expect(names(pods)).toContain('web-h'), waitMs)
    expect(listener).toHaveBeenCalled()
    leave[1]?.()
    await vi.waitFor(() => expect(client.subscriptions()).toBe(0), waitMs)
    await open().deletePod('web-h')
    expect(names(pods)).toContain('web-h')
  })

  it('stays connected when its only subscriber leaves and comes back, as under StrictMode', async () => {
    const client = counted()
    using pods = make(client)
    pods.subscribe(() => {})()
    pods.subscribe(() => {})
    await pods.synced
    expect(client.sent).toHaveLength(1)
    expect(pods.status).toBe('live')
  })

  it('shows its old rows to the next subscriber, and goes on where it was', async () => {
    const client = counted()
    using pods = make(client)
    const leave = pods.subscribe(() => {})
    await vi.waitFor(() => expect(pods.status).toBe('live'), waitMs)
    leave()
    await vi.waitFor(() => expect(client.subscriptions()).toBe(0), waitMs)
    expect(pods.getSnapshot()).toMatchObject({ status: 'reconnecting', error: undefined })
    expect(names(pods)).toEqual(podNames)
    await open().addPod('web-i')
    pods.subscribe(() => {})
    await vi.waitFor(() => expect(names(pods)).toEqual([...podNames, 'web-i']), waitMs)
    expect(pods.status).toBe('live')
    expect(client.sent).toEqual([undefined, expect.any(String)])
    await open().deletePod('web-i')
  })

  it('connects for those who wait for its first snapshot, until it is closed for good', async () => {
    const client = counted()
    const pods = make(client)
    await pods.synced
    expect(names(pods)).toEqual(podNames)
    pods.subscribe(() => {})()
    expect(client.subscriptions()).toBe(1)
    pods.close()
    expect(client.subscriptions()).toBe(0)
    pods.subscribe(() => {})
    expect(pods.status).toBe('closed')
    expect(client.sent).toHaveLength(1)
  })
})

describe('a collection', () => {
  it('counts the listeners of changes and of views as subscribers', async () => {
    const client = counted()
    using pods = kinds.liveCollection(client)
    const view = pods.view({ filter: ({ metadata }) => metadata.name === 'web-a' })
    expect(client.sent).toEqual([])
    const changed = vi.fn<() => void>()
    const leave = pods.onChanges(changed)
    await vi.waitFor(() => expect(changed).toHaveBeenCalled(), waitMs)
    view.subscribe(() => {})
    leave()
    await vi.waitFor(() => expect(pods.status).toBe('live'), waitMs)
    expect(names(view)).toEqual(['web-a'])
    view.close()
    await vi.waitFor(() => expect(client.subscriptions()).toBe(0), waitMs)
    expect(client.sent).toHaveLength(1)
  })

  it('that failed asks again when all subscribers have left and one comes', async () => {
    const frame = { reset: true, synced: true, changes: [] }
    await using gateway = await startScriptedGateway([
      { form: 'error', code: 'FORBIDDEN' },
      { form: 'frame', frame },
    ])
    using pods = kinds.liveCollection(counted(gateway.url))
    const leave = pods.subscribe(() => {})
    await vi.waitFor(() => expect(pods.status).toBe('failed'), waitMs)
    expect(pods.getSnapshot().error?.message).toContain('FORBIDDEN')
    leave()
    await vi.waitFor(() => expect(pods.status).toBe('loading'), waitMs)
    pods.subscribe(() => {})
    await pods.synced
    expect(pods.getSnapshot()).toMatchObject({ status: 'live', error: undefined })
  })
})
