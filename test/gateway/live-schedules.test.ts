import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { WebSocket } from 'ws'
import { afterAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { applied, type Held } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const schedules = Number(process.env['SCHEDULES'] ?? 30)
const pods = { group: '', version: 'v1', resource: 'pods' } as const
const own = 'metadata { name uid resourceVersion }'
/** The last one is answered by graphql-js, one by one. */
const ways = [
  { extra: '', selection: `${own} node { metadata { name } spec { unschedulable } }` },
  { extra: '', selection: own },
  { extra: 'previous(path: "spec")', selection: own },
] as const
type Way = (typeof ways)[number]
const fields = [
  'pods(coalesceMs: 0',
  'pods(labelSelector: "tier=x", coalesceMs: 20',
  'pods(where: { phase: { eq: "Running" } }, coalesceMs: 5',
] as const
/** One port before gateways that come and go, with sockets that can be cut and held up. */
class Door implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  port = 0

  private constructor() {
    this.#server = createServer((inner) => {
      const outer = connect(this.port, '127.0.0.1')
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.#sockets.add(from)
        from.pipe(to)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          this.#sockets.delete(from)
          to.destroy()
        })
      }
    })
  }

  static async open(): Promise<Door> {
    const door = new Door()
    door.#server.listen(0, '127.0.0.1')
    await once(door.#server, 'listening')
    return door
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/graphql`
  }

  cut(random: () => number): void {
    for (const socket of this.#sockets) if (random() < 0.5) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** A client that comes back whenever it is cut off, with the last token that it has. */
class Client {
  readonly problems: string[] = []
  held: Held = new Map()
  resumed = 0
  begunAnew = 0
  readonly #url: string
  readonly #query: string
  #token: string | undefined
  #synced = false
  #socket: WebSocket | undefined
  #isOver = false

  constructor(url: string, field: string, { extra, selection }: Way) {
    this.#url = url
    this.#query = `subscription ($from: String) {
      frame: ${field}, resumeFrom: $from) {
        reset synced resumeToken resourceVersion
        changes { type removal objectId ${extra} object { id ${selection} } }
      }
    }`
    this.#connect()
  }

  pause(): void {
    this.#socket?.pause()
  }

  go(): void {
    this.#socket?.resume()
  }

  leave(): void {
    this.#isOver = true
    this.#socket?.terminate()
  }

  #connect(): void {
    if (this.#isOver) return
    const socket = (this.#socket = new WebSocket(this.#url, 'graphql-transport-ws'))
    const from = this.#token
    let isFirst = true
    socket.on('error', () => {})
    socket.on('open', () => socket.send('{"type":"connection_init"}'))
    socket.on('close', () => void sleep(20).then(() => this.#connect()))
    socket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString())
      if (type === 'connection_ack') {
        const asked = { query: this.#query, variables: { from } }
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: asked }))
      } else if (type === 'next' && payload.data?.frame !== undefined) {
        this.#take(payload.data.frame, isFirst, from !== undefined)
        isFirst = false
      } else socket.terminate()
    })
  }

  #take(frame: Fields, isFirst: boolean, hasToken: boolean): void {
    if (isFirst && hasToken) {
      if (frame.reset === true) this.begunAnew += 1
      else this.resumed += 1
    }
    if (isFirst && !hasToken && frame.reset !== true) this.problems.push('no reset at first')
    if (this.#synced && !frame.synced && !frame.reset) this.problems.push('no longer synced')
    this.#synced = frame.synced
    for (const { type, objectId, object } of frame.reset === true ? [] : frame.changes) {
      const before = this.held.get(objectId)?.metadata
      const isBack = Number(before?.resourceVersion) > Number(object?.metadata.resourceVersion)
      if (type !== 'REMOVED' && before !== undefined && isBack)
        this.problems.push(`${before.name} went back`)
    }
    this.held = applied(this.held, frame)
    this.#token = frame.resumeToken
  }
}

/** What happens in one step. */
const happen = async (world: World, random: () => number): Promise<void> => {
  const { cluster, door, clients } = world
  const dice = random()
  if (dice < 0.08) door.cut(random)
  else if (dice < 0.1) await world.restart()
  else if (dice < 0.12) {
    cluster.faults.inject({ fault: { type: 'refuse-connections', forMs: 50 } })
  } else if (dice < 0.13) cluster.faults.inject({ fault: { type: 'compact-history' } })
  else if (dice < 0.2) {
    const client = clients[Math.floor(random() * clients.length)]
    client?.pause()
    void sleep(random() * 150).then(() => client?.go())
  } else write(cluster, random)
  if (random() < 0.3) await sleep(random() * 20)
}

const write = ({ storage }: Simulator, random: () => number): void => {
  const name = `pod-${Math.floor(random() * 12)}`
  const before = storage.get(pods, 'default', name) as Fields
  const labels = { tier: random() < 0.7 ? 'x' : 'y' }
  const status = { phase: random() < 0.7 ? 'Running' : 'Pending' }
  const nodes = { group: '', version: 'v1', resource: 'nodes' }
  const dice = random()
  if (dice < 0.1) {
    const node = storage.get(nodes, '', 'node-1') as Fields
    const spec = { unschedulable: random() < 0.5 }
    if (node === undefined) storage.create(nodes, { metadata: { name: 'node-1' }, spec } as Fields)
    else if (random() < 0.3) storage.delete(nodes, '', 'node-1')
    else storage.update(nodes, { ...node, spec })
  } else if (before === undefined) {
    const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] }
    storage.create(pods, {
      metadata: { name, namespace: 'default', labels },
      spec,
      status,
    } as Fields)
  } else if (dice < 0.3) storage.delete(pods, 'default', name)
  else {
    const metadata = { ...before.metadata, labels }
    storage.update(pods, { ...before, metadata, status })
  }
}

interface World {
  readonly cluster: Simulator
  readonly door: Door
  readonly clients: readonly Client[]
  restart(): Promise<void>
}

const shares = { resumed: 0, begunAnew: 0 }

/** What is wrong at the end of one schedule, in words. */
const problemsOf = async (seed: number): Promise<readonly string[]> => {
  const random = seededRandom(seed)
  await using cluster = await startSimulator()
  await using door = await Door.open()
  const serve = async (): Promise<ServedGateway> => {
    const served = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      limits: { maxFrameObjects: 3 },
      live: { maxFrames: 8 },
    })
    door.port = Number(new URL(served.url).port)
    return served
  }
  let gateway = await serve()
  const clients = fields.flatMap((field) => ways.map((way) => new Client(door.url, field, way)))
  const restart = async (): Promise<void> => {
    await gateway[Symbol.asyncDispose]()
    // The API server may be away.
    gateway = await serve().catch(async () => sleep(100).then(serve))
  }
  const world: World = { cluster, door, clients, restart }
  for (let step = 0; step < 80; step += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
    await happen(world, random)
  }
  for (const client of clients) client.go()
  const problems: string[] = []
  for (const [at, client] of clients.entries()) {
    const field = fields[Math.floor(at / ways.length)] ?? ''
    const { selection = '', extra = '' } = ways[at % ways.length] ?? {}
    const list = `${field.replace(/, coalesceMs.*|\(coalesceMs.*/, '')}${field.startsWith('pods(c') ? '' : ')'}`
    const answered = async (): Promise<string> => {
      const { data } = await gateway.query(`{ pods: ${list} { nodes { id ${selection} } } }`)
      return textOf(new Map(data?.pods?.nodes.map((one: Fields) => [one.id, one])))
    }
    const deadlineMs = performance.now() + 15_000
    let expected = ''
    do {
      // oxlint-disable-next-line no-await-in-loop -- until it is quiet
      await sleep(25)
      // oxlint-disable-next-line no-await-in-loop -- as above
      expected = await answered().catch(() => 'no answer')
    } while (textOf(client.held) !== expected && performance.now() < deadlineMs)
    if (textOf(client.held) !== expected)
      problems.push(`${field} ${extra}: ${textOf(client.held)} instead of ${expected}`)
    problems.push(...client.problems)
    shares.resumed += client.resumed
    shares.begunAnew += client.begunAnew
    client.leave()
  }
  await gateway[Symbol.asyncDispose]()
  return problems
}

const textOf = (held: Held): string =>
  JSON.stringify([...held.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)))

describe('what clients hold after sockets were cut, gateways restarted, API servers lost, histories compacted and readers held up', () => {
  afterAll(() => {
    const all = shares.resumed + shares.begunAnew
    console.log(`resumed: ${shares.resumed} of ${all} subscriptions that came back`)
  })
  it.each(Array.from({ length: schedules }, (_, at) => runSeed + at))(
    'equals what a query answers (SEED=%s)',
    async (seed) => {
      expect(await problemsOf(seed)).toEqual([])
    },
    60_000,
  )
})
