import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import {
  type Frame,
  FrameFold,
  liveCollection,
  type LiveCollection,
  livePage,
  type LivePage,
  type LiveTransport,
  WebSocketClient,
  type WebSocketConstructor,
} from 'informerql/client'
import { type SimulatorOptions, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { nginx, startServiceProxy } from '../support/service-proxy.ts'
import { post } from './small-api.ts'

const namespace = 'shop'

interface Row {
  readonly metadata: { readonly name: string }
  readonly data: { readonly n: string }
}

const subscription = `subscription Shop($resumeFrom: String) {
  configMaps(namespace: "${namespace}", resumeFrom: $resumeFrom) {
    reset synced resumeToken changes { type removal objectId object { metadata { name } data } }
  }
}`
const pageSubscription = `subscription Page($resumeFrom: String) {
  configMapsPage(namespace: "${namespace}", orderBy: [{ name: ASC }], first: 50, resumeFrom: $resumeFrom) {
    reset synced totalCount resumeToken
    changes { step index from objectId object { metadata { name } data } }
  }
}`
const query = `{ configMaps(namespace: "${namespace}") { totalCount nodes { metadata { name } } } }`

/** ConfigMaps that change all the time: each has a number that grows, and some come and go. */
class Writer {
  /** The numbers of those there are. */
  readonly numbers = new Map<string, number>()
  readonly #url: string
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(url: string) {
    this.#url = url
  }

  async start(): Promise<void> {
    await this.#send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    for (let at = 0; at < 10; at++) await this.#create(`stays-${at}`)
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    for (let turn = 0; !this.#stop.signal.aborted; turn++) {
      const name = `stays-${turn % 10}`
      const n = (this.numbers.get(name) ?? 0) + 1
      await this.#send('PATCH', `${this.#place}/${name}`, { data: { n: String(n) } })
      this.numbers.set(name, n)
      if (turn % 5 === 0) await this.#create(`goes-${turn}`)
      if (turn % 5 === 3) {
        await this.#send('DELETE', `${this.#place}/goes-${turn - 3}`)
        this.numbers.delete(`goes-${turn - 3}`)
      }
      await sleep(50)
    }
  }

  get #place(): string {
    return `/api/v1/namespaces/${namespace}/configmaps`
  }

  async #create(name: string): Promise<void> {
    await this.#send('POST', this.#place, { metadata: { name }, data: { n: '0' } })
    this.numbers.set(name, 0)
  }

  async #send(method: string, path: string, body?: object): Promise<void> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(this.#url + path, {
      method,
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

/** What all clients have seen. */
class Seen {
  readonly failures: string[] = []
  /** The close codes of WebSockets. */
  readonly closings = new Map<number, number>()
  queries = 0
  /** The longest wait for an answer. Measured, not asserted: it depends on the machine. */
  longestWaitMs = 0
  eventStreams = 0
  /** What each follower holds. */
  readonly held: (() => Iterable<Row>)[] = []
  readonly #followers: { resets: number }[] = []

  /** Notes the frames of a follower; `rows` is what it holds. */
  follow(rows: () => ReadonlyMap<string, Row>): (frame: Frame<Row>) => void {
    this.held.push(() => rows().values())
    const follower = { resets: 0 }
    this.#followers.push(follower)
    const numbers = new Map<string, number>()
    return ({ reset, changes }) => {
      if (reset) follower.resets += 1
      for (const { type, objectId, object } of changes) {
        const before = numbers.get(objectId) ?? -1
        const now = type === 'REMOVED' ? Infinity : Number(object?.data.n)
        // The latest state may come twice, if it changed while its frame was written (docs/subscriptions.md).
        if (now < before) this.failures.push(`${now} after ${before}`)
        numbers.set(objectId, now)
      }
    }
  }

  closed(code: number): void {
    this.closings.set(code, (this.closings.get(code) ?? 0) + 1)
  }

  /** The number of snapshots of each follower. */
  get resets(): ReadonlySet<number> {
    return new Set(this.#followers.map(({ resets }) => resets))
  }

  /** How many followers do not hold exactly these. */
  behind(numbers: ReadonlyMap<string, number>): number {
    const expected = [...numbers]
      .map(([name, n]) => `${name} ${n}`)
      .toSorted()
      .join()
    return this.held.filter((rows) => {
      const held = [...rows()].map(({ metadata, data }) => `${metadata.name} ${data.n}`)
      return held.toSorted().join() !== expected
    }).length
  }
}

/** Tells of the frames that pass. */
const watched = (client: LiveTransport, received: (frame: Frame<Row>) => void): LiveTransport => ({
  subscribe: (request, sink) =>
    client.subscribe(request, {
      next: (result) => {
        const frame = (result.data as { configMaps?: Frame<Row> } | null | undefined)?.configMaps
        if (frame !== undefined) received(frame)
        sink.next(result)
      },
      error: (error) => sink.error(error),
      complete: () => sink.complete(),
    }),
})

const webSocket = WebSocket as unknown as WebSocketConstructor

/** 200 clients of every kind, which begin with `start` and end with `stop`. */
class Clients {
  readonly seen = new Seen()
  readonly #url: string
  readonly #stop = new AbortController()
  readonly #live: (LiveCollection<Row> | LivePage<Row>)[] = []
  readonly #sockets: Client[] = []
  readonly #loops: Promise<void>[] = []

  constructor(url: string) {
    this.#url = url
  }

  async start(): Promise<void> {
    for (let at = 0; at < 70; at++) this.#collect(this.#ownClient())
    for (let at = 0; at < 10; at++) this.#page(this.#ownClient())
    for (let at = 0; at < 70; at++) this.#collect(this.#graphqlWs())
    for (let at = 0; at < 10; at++) this.#loops.push(this.#readEvents())
    for (let at = 0; at < 20; at++) this.#loops.push(this.#askByHttp())
    for (let at = 0; at < 20; at++) this.#loops.push(this.#askBySocket(this.#graphqlWs()))
    await Promise.all(this.#live.map(({ synced }) => synced))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const one of this.#live) one.close()
    await Promise.all(this.#loops)
    await Promise.all(this.#sockets.map(async (client) => client.dispose()))
  }

  get #socketUrl(): string {
    return this.#url.replace('http', 'ws')
  }

  #ownClient(): LiveTransport {
    const client = new WebSocketClient({ url: this.#socketUrl, webSocket })
    client.on('closed', (reason) => this.#closed(reason))
    return client
  }

  #graphqlWs(): Client {
    const client = createClient({
      url: this.#socketUrl,
      webSocketImpl: WebSocket,
      // By default it waits for half a minute in five attempts: as long as it takes here, in shorter ones.
      retryWait: () => sleep(Math.random() * 500),
      retryAttempts: 120,
      // In a browser a refused upgrade is a CloseEvent, which is retried; of `ws` it is an Error.
      shouldRetry: () => true,
      lazyCloseTimeout: 600_000,
    })
    client.on('closed', (reason) => this.#closed(reason))
    this.#sockets.push(client)
    return client
  }

  #closed(reason: unknown): void {
    if (!this.#stop.signal.aborted) this.seen.closed((reason as { readonly code: number }).code)
  }

  #collect(client: LiveTransport): void {
    const seen = this.seen.follow(() => collection.objects)
    const transport = { ...watched(client, seen), on: client.on?.bind(client) }
    const collection: LiveCollection<Row> = liveCollection<unknown, object, Row>({
      client: transport as LiveTransport,
      query: subscription,
    })
    this.#live.push(collection)
  }

  #page(client: LiveTransport): void {
    const page: LivePage<Row> = livePage<unknown, object, Row>({ client, query: pageSubscription })
    this.seen.held.push(() => page.getSnapshot().rows)
    this.#live.push(page)
  }

  async #askByHttp(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const sinceMs = performance.now()
        const response = await post(this.#url, { query })
        this.#answered(response.status, await response.json(), sinceMs)
      } catch (error) {
        this.seen.failures.push(
          `a query by HTTP: ${String(error)} ${String((error as Error).cause)}`,
        )
      }
      await sleep(100)
    }
  }

  async #askBySocket(client: Client): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const sinceMs = performance.now()
        for await (const answer of client.iterate({ query })) this.#answered(200, answer, sinceMs)
      } catch (error) {
        this.seen.failures.push(`a query by WebSocket: ${closingOf(error)}`)
      }
      await sleep(100)
    }
  }

  #answered(status: number, answer: object, sinceMs: number): void {
    this.seen.queries += 1
    this.seen.longestWaitMs = Math.max(this.seen.longestWaitMs, performance.now() - sinceMs)
    if (status !== 200 || 'errors' in answer)
      this.seen.failures.push(`${status}: ${JSON.stringify(answer)}`)
  }

  async #readEvents(): Promise<void> {
    const fold = new FrameFold<Row>()
    const seen = this.seen.follow(() => fold.objects)
    let resumeFrom: string | undefined
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        const response = await fetch(this.#url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
          body: JSON.stringify({ query: subscription, variables: { resumeFrom } }),
          signal,
        })
        this.seen.eventStreams += 1
        let text = ''
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += chunk
          for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
            const [, json] = /^event: next\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
            text = text.slice(end + 2)
            if (json === undefined) continue
            const { configMaps } = JSON.parse(json).data as { configMaps: Frame<Row> }
            seen(configMaps)
            fold.apply(configMaps)
            resumeFrom = configMaps.resumeToken ?? resumeFrom
          }
        }
        if (text.includes('complete')) this.seen.failures.push('an event stream was complete')
      } catch (error) {
        if (!signal.aborted) this.seen.failures.push(`an event stream: ${String(error)}`)
      }
    }
  }
}

/** What makes a replica load for seconds: 30,000 objects that nobody asks for. */
const withArchive: SimulatorOptions['populate'] = (storage) => {
  const resource = { group: '', version: 'v1', resource: 'configmaps' }
  for (let at = 0; at < 30_000; at++) {
    const metadata = { name: `page-${at}`, namespace: 'archive' }
    storage.create(resource, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { n: `${at}` },
    })
  }
}

const replica = (server: string): ExampleProcess =>
  startProgram(
    process.execPath,
    `src/main.ts serve --server ${server} --port 0 --drain-delay 3000 --preload configMaps`.split(
      ' ',
    ),
    { timeout: 175_000 },
  )

const portOf = async (gateway: ExampleProcess): Promise<number> => {
  await gateway.printed('informerql answers at')
  return Number(/answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.lines.join('\n'))?.[1])
}

const why = nginx === undefined ? ': skipped, no nginx on the path' : ''

describe.skipIf(nginx === undefined)(`a rolling update behind nginx${why}`, () => {
  it('fails and loses nothing, lets no client begin anew, and gives no query to a replica that is still loading: 200 that ask and follow in a cluster of 30,000 objects, while some change', async () => {
    await using simulator = await startSimulator({ populate: withArchive })
    const writer = new Writer(simulator.url)
    await writer.start()
    await using stack = new AsyncDisposableStack()
    const start = (): ExampleProcess => stack.use(replica(simulator.url))
    const before = [start(), start()]
    const service = stack.use(await startServiceProxy([]))
    await Promise.all(before.map(async (gateway) => service.add(await portOf(gateway))))
    const clients = new Clients(`${service.url}/graphql`)
    stack.defer(() => clients.stop())
    stack.defer(() => writer.stop())
    await clients.start()

    for (const gateway of before) {
      await service.add(await portOf(start()))
      expect(await gateway.interrupt('SIGTERM')).toBe(0)
    }
    await writer.stop()
    const { seen } = clients
    await expect.poll(() => seen.behind(writer.numbers), { timeout: 60_000 }).toBe(0)
    const asked = seen.queries
    await expect.poll(() => seen.queries).toBeGreaterThan(asked)

    console.info(`${seen.queries} queries, the slowest took ${Math.round(seen.longestWaitMs)} ms`)
    expect(seen.failures).toEqual([])
    // Each went on where it was, by its token.
    expect(seen.resets).toEqual(new Set([1]))
    expect([...seen.closings.keys()]).toEqual([1012])
    // Both old replicas had some, and those of the first may have met the second.
    expect(seen.closings.get(1012)).toBeGreaterThanOrEqual(150)
    expect(seen.eventStreams).toBeGreaterThanOrEqual(20)
  })
})

/** An error, or the event of a WebSocket that has closed. */
function closingOf(error: unknown): string {
  const { code, reason, message } = error as { code?: number; reason?: string; message?: string }
  return [code, reason, message].filter(Boolean).join(' ') || String(error)
}
