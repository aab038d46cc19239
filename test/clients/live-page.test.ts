import { createClient } from 'graphql-ws'
import {
  livePage,
  type LivePage,
  type LivePageSnapshot,
  type LiveTransport,
  type PageFrame,
  type PageStep,
  WebSocketClient,
} from 'informerql/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { podNames, shop, shopForTests } from './shop.ts'

interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> }
}

const query = `subscription ($resumeFrom: String, $first: Int) {
  podsPage(namespace: "${shop}", first: $first, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced totalCount resumeToken
    changes { step index from objectId object { id metadata { name labels } } }
  }
}`
const waitMs = { timeout: 60_000 }

const shown = ({ rows, totalCount, status }: LivePageSnapshot<Pod>) =>
  [rows.map(({ metadata }) => metadata.name).join(), totalCount, status] as const

const open = shopForTests()
const stack: (Disposable | AsyncDisposable)[] = []
afterEach(async () => {
  for (const part of stack.splice(0).toReversed()) {
    if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]()
    else part[Symbol.dispose]()
  }
})

const proxied = async (): Promise<CutProxy> => {
  const proxy = await startCutProxy(Number(new URL(open().gateway.url).port))
  stack.push(proxy)
  return proxy
}

const follow = (client: LiveTransport): LivePage<Pod> => {
  const page = livePage<unknown, { first: number; resumeFrom?: string }, Pod>({
    client,
    query,
    variables: { first: 3 },
  })
  stack.push(page)
  return page
}

const transports: Readonly<Record<string, (port: number) => LiveTransport>> = {
  'its own client': (port) => new WebSocketClient({ url: `ws://127.0.0.1:${port}/graphql` }),
  'the client of graphql-ws': (port) =>
    createClient({
      url: `ws://127.0.0.1:${port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: Infinity,
      retryWait: () => new Promise((resolve) => void setTimeout(resolve, 50)),
      shouldRetry: () => true,
    }),
}

describe.each(Object.entries(transports))('livePage with %s', (_, transport) => {
  it('shows the first of a list in its order, and how many there are', async () => {
    const { addPod, labelPod, deletePod } = open()
    const page = follow(transport((await proxied()).port))
    expect(page.getSnapshot()).toEqual({
      rows: [],
      totalCount: undefined,
      status: 'loading',
      error: undefined,
      staleSince: null,
      incomplete: [],
    })
    await page.synced
    const first = page.getSnapshot()
    expect(shown(first)).toEqual(['web-a,web-b,web-c', podNames.length, 'live'])
    expect(page.getSnapshot()).toBe(first)
    const told = vi.fn<() => void>()
    page.subscribe(told)
    await addPod('web-aa')
    const more = podNames.length + 1
    await vi.waitFor(
      () => expect(shown(page.getSnapshot())).toEqual(['web-a,web-aa,web-b', more, 'live']),
      waitMs,
    )
    await labelPod('web-aa', 'other')
    await vi.waitFor(
      () => expect(page.getSnapshot().rows[1]?.metadata.labels?.['app']).toBe('other'),
      waitMs,
    )
    await deletePod('web-aa')
    await vi.waitFor(() => expect(shown(page.getSnapshot())).toEqual(shown(first)), waitMs)
    expect(told).toHaveBeenCalled()
    expect(first.rows).toHaveLength(3)
  })

  it('keeps its rows through a lost connection, and until it has a new page', async () => {
    const { addPod, deletePod, gateway } = open()
    const proxy = await proxied()
    const page = follow(transport(proxy.port))
    await page.synced
    const fewest: number[] = []
    page.subscribe(() => fewest.push(page.getSnapshot().rows.length))
    const { notResumed } = gateway.gateway.planned.liveState()
    const { target } = proxy
    proxy.target = undefined
    proxy.cut()
    await vi.waitFor(() => expect(page.status).toBe('reconnecting'), waitMs)
    expect(shown(page.getSnapshot())[0]).toBe('web-a,web-b,web-c')
    await addPod('web-0')
    proxy.target = target
    await vi.waitFor(
      () => expect(shown(page.getSnapshot())).toEqual(['web-0,web-a,web-b', 8, 'live']),
      waitMs,
    )
    expect(gateway.gateway.planned.liveState().notResumed).toBe(notResumed + 1)
    expect(Math.min(...fewest)).toBe(3)
    await deletePod('web-0')
    await vi.waitFor(
      () => expect(shown(page.getSnapshot())).toEqual(['web-a,web-b,web-c', 7, 'live']),
      waitMs,
    )
  })
})

describe('livePage', () => {
  const insert = (index: number, name: string): PageStep<Pod> => ({
    step: 'INSERT',
    index,
    objectId: name,
    object: { id: name, metadata: { name } },
  })

  /** A page whose frames the test brings. */
  function played() {
    const subscribed: unknown[] = []
    let next: ((frame: PageFrame<Pod>) => void) | undefined
    const client: LiveTransport = {
      subscribe({ variables }, sink) {
        subscribed.push(variables['resumeFrom'])
        next = (podsPage) => sink.next({ data: { podsPage } })
        return () => {}
      },
    }
    const page = follow(client)
    page.subscribe(() => {})
    return { page, subscribed, frame: (frame: PageFrame<Pod>) => next?.(frame) }
  }

  it('shows the old rows until a new page is complete', () => {
    const { frame, page } = played()
    frame({ reset: true, synced: false, totalCount: 2, changes: [insert(0, 'a')] })
    expect(shown(page.getSnapshot())).toEqual(['', undefined, 'loading'])
    frame({ reset: false, synced: true, totalCount: 2, changes: [insert(1, 'b')] })
    frame({ reset: true, synced: false, totalCount: 3, changes: [insert(0, 'c')] })
    expect(shown(page.getSnapshot())).toEqual(['a,b', 2, 'reconnecting'])
    const snapshots: unknown[] = []
    page.subscribe(() => snapshots.push(shown(page.getSnapshot())))
    frame({ reset: false, synced: true, totalCount: 3, changes: [insert(0, 'd')] })
    expect(snapshots).toEqual([['d,c', 3, 'live']])
  })

  it.each<[string, PageStep<Pod>]>([
    ['takes out another row', { step: 'REMOVE', index: 0, objectId: 'b' }],
    ['takes out what is not there', { step: 'REMOVE', index: 2, objectId: 'c' }],
    ['moves another row', { step: 'MOVE', from: 1, index: 0, objectId: 'a' }],
    ['moves out of the page', { step: 'MOVE', from: 0, index: 2, objectId: 'a' }],
    ['leaves a gap', insert(3, 'c')],
    ['brings no object', { step: 'UPDATE', index: 0, objectId: 'a', object: null }],
  ])('begins anew where a step does not fit: it %s', async (_, step) => {
    const { frame, page, subscribed } = played()
    const both = [insert(0, 'a'), insert(1, 'b')]
    frame({ reset: true, synced: true, totalCount: 2, changes: both, resumeToken: 'one' })
    frame({ reset: false, synced: true, totalCount: 2, changes: [step], resumeToken: 'two' })
    expect(shown(page.getSnapshot())).toEqual(['a,b', 2, 'reconnecting'])
    await vi.waitFor(() => expect(subscribed).toEqual([undefined, undefined]), waitMs)
    frame({ reset: true, synced: true, totalCount: 1, changes: [insert(0, 'b')] })
    expect(shown(page.getSnapshot())).toEqual(['b', 1, 'live'])
  })
})
