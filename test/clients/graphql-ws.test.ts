import { once } from 'node:events'
import { type Client, type ClientOptions, CloseCode, createClient } from 'graphql-ws'
import { type Frame, FrameFold } from 'informerql/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { podNames, shop, shopForTests } from './shop.ts'

interface Pod {
  readonly metadata: { readonly name: string }
}

const open = shopForTests()
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const proxied = async (): Promise<CutProxy> => {
  const proxy = await startCutProxy(Number(new URL(open().gateway.url).port))
  ends.push(async () => {
    await proxy[Symbol.asyncDispose]()
  })
  return proxy
}

/** What has happened to a client's sockets, in order. */
interface Watched {
  readonly client: Client
  readonly events: string[]
}

const connect = (port: number, options: Partial<ClientOptions> = {}): Watched => {
  const events: string[] = []
  const client = createClient({
    url: `ws://127.0.0.1:${port}/graphql`,
    webSocketImpl: WebSocket,
    retryWait: () => new Promise((resolve) => void setTimeout(resolve, 20)),
    ...options,
  })
  client.on('connected', () => events.push('connected'))
  client.on('closed', (event) => events.push(`closed ${(event as CloseEvent).code}`))
  client.on('ping', (received) => events.push(received ? 'pinged' : 'ping'))
  client.on('pong', (received) => events.push(received ? 'pong' : 'ponged'))
  ends.push(async () => {
    await client.dispose()
  })
  return { client, events }
}

interface Following {
  readonly fold: FrameFold<Pod>
  readonly resets: () => number
  readonly ended: Promise<unknown>
  readonly leave: () => void
}

const follow = (client: Client): Following => {
  const fold = new FrameFold<Pod>()
  let resets = 0
  const ended = Promise.withResolvers<unknown>()
  const leave = client.subscribe<{ pods: Frame<Pod> }>(
    {
      query: `subscription { pods(namespace: "${shop}", coalesceMs: 0) {
        reset synced changes { type removal objectId object { metadata { name } } } } }`,
    },
    {
      next: ({ data }) => {
        if (data === undefined || data === null) return
        resets += Number(data.pods.reset)
        fold.apply(data.pods)
      },
      error: (error) => ended.resolve(error),
      complete: () => ended.resolve('completed'),
    },
  )
  return { fold, resets: () => resets, ended: ended.promise, leave }
}

const names = ({ fold }: Following): readonly string[] =>
  [...fold.objects.values()].map(({ metadata }) => metadata.name).toSorted()

const wait = { timeout: 60_000 }

describe('The client of graphql-ws', () => {
  it('connects for its first operation and closes after its last', async () => {
    const proxy = await proxied()
    const { client, events } = connect(proxy.port)
    expect(events).toEqual([])
    const [first, second] = [follow(client), follow(client)]
    await vi.waitFor(() => expect(names(first)).toEqual(podNames), wait)
    await vi.waitFor(() => expect(names(second)).toEqual(podNames), wait)
    expect(events).toEqual(['connected'])
    first.leave()
    await open().addPod('web-x')
    await vi.waitFor(() => expect(names(second)).toContain('web-x'), wait)
    expect(names(first)).toEqual(podNames)
    await open().deletePod('web-x')
    second.leave()
    await vi.waitFor(() => expect(events).toEqual(['connected', 'closed 1000']), wait)
  })

  it('comes back after a cut, and is told to begin anew', async () => {
    const proxy = await proxied()
    const { client, events } = connect(proxy.port)
    const following = follow(client)
    await vi.waitFor(() => expect(names(following)).toEqual(podNames), wait)
    proxy.cut()
    await open().addPod('web-x')
    await vi.waitFor(() => expect(names(following)).toContain('web-x'), wait)
    expect(following.resets()).toBe(2)
    expect(events).toEqual(['connected', 'closed 1006', 'connected'])
    await open().deletePod('web-x')
    await vi.waitFor(() => expect(names(following)).toEqual(podNames), wait)
  })

  it('is answered when it pings', async () => {
    const proxy = await proxied()
    const { client, events } = connect(proxy.port, { keepAlive: 50 })
    const following = follow(client)
    await vi.waitFor(() => expect(events.filter((event) => event === 'pong').length).toBe(2), wait)
    expect(events).not.toContain('closed')
    following.leave()
  })

  it('answers a socket that says nothing first with its end, and tries again', async () => {
    const proxy = await proxied()
    // A client that takes longer to say who it is than the gateway waits.
    let attempts = 0
    const { client, events }: Watched = connect(proxy.port, {
      connectionParams: async () => {
        attempts += 1
        if (attempts === 1) await vi.waitUntil(() => events.length > 0, wait)
        return {}
      },
    })
    const following = follow(client)
    await vi.waitFor(() => expect(names(following)).toEqual(podNames), wait)
    expect(events).toEqual([`closed ${CloseCode.ConnectionInitialisationTimeout}`, 'connected'])
  })

  it.for<[string, number, (socket: WebSocket) => void]>([
    [
      'a subscription before connection_init',
      CloseCode.Unauthorized,
      (socket) => say(socket, { type: 'subscribe', id: '1', payload: { query: '{ __typename }' } }),
    ],
    [
      'two subscriptions of one id',
      CloseCode.SubscriberAlreadyExists,
      (socket) => {
        say(socket, { type: 'connection_init' })
        const payload = { query: `subscription { pods(namespace: "${shop}") { reset } }` }
        say(socket, { type: 'subscribe', id: 'same', payload })
        say(socket, { type: 'subscribe', id: 'same', payload })
      },
    ],
    [
      'two times connection_init',
      CloseCode.TooManyInitialisationRequests,
      (socket) => {
        say(socket, { type: 'connection_init' })
        say(socket, { type: 'connection_init' })
      },
    ],
    [
      'a message of no known type',
      CloseCode.BadRequest,
      (socket) => say(socket, { type: 'hello' }),
    ],
    ['what is no JSON', CloseCode.BadRequest, (socket) => socket.send('{')],
  ])('would be closed for %s with %i', async ([, code, act]) => {
    const url = open().gateway.url.replace('http', 'ws')
    const socket = new WebSocket(url, 'graphql-transport-ws')
    await once(socket, 'open')
    act(socket)
    const [closed] = (await once(socket, 'close')) as [number]
    expect(closed).toBe(code)
  })

  it('goes through the stop of a gateway', async () => {
    const proxy = await proxied()
    const { client, events } = connect(proxy.port, { retryAttempts: 0 })
    const following = follow(client)
    await vi.waitFor(() => expect(names(following)).toEqual(podNames), wait)
    proxy.target = undefined
    proxy.cut()
    expect(await following.ended).toMatchObject({ code: 1006 })
    expect(events).toEqual(['connected', 'closed 1006'])
  })
})

const say = (socket: WebSocket, message: object): void => socket.send(JSON.stringify(message))
