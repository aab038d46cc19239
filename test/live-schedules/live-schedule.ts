import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import type { Held } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { seededRandom } from '../support/random.ts'
import { Door } from './door.ts'
import { type Followed, LiveClient, type Stand, type Truth } from './live-client.ts'
import type { ScheduledCluster } from './scheduled-cluster.ts'

const own = 'metadata { name uid resourceVersion }'
/** The last one is answered by graphql-js, one by one. */
const ways = [
  { extra: '', selection: `${own} node { metadata { name } spec { unschedulable } }` },
  { extra: '', selection: own },
  { extra: 'previous(path: "spec")', selection: own },
] as const
const lists = [
  { field: 'pods(coalesceMs: 0', matches: () => true },
  {
    field: 'pods(labelSelector: "tier=x", coalesceMs: 20',
    matches: ({ metadata }: Fields) => metadata.labels.tier === 'x',
  },
  {
    field: 'pods(where: { phase: { eq: "Running" } }, coalesceMs: 5',
    matches: ({ status }: Fields) => status.phase === 'Running',
  },
] as const
const followed: readonly Followed[] = lists.flatMap((list) =>
  ways.map((way) => ({ ...list, ...way })),
)

const steps = 80
const quietMs = 30_000
const backMs = 5_000
const hourMs = 3_600_000

/** What was written, whoever knows of it. */
class Ledger {
  readonly #states = new Map<string, Fields[]>()
  readonly #deleted = new Set<string>()
  /** What is there, by kind and name. */
  readonly present = new Map<string, Fields>()

  put(object: Fields): void {
    const { uid } = object.metadata
    this.present.set(`${object.kind} ${object.metadata.name}`, object)
    this.#states.set(uid, [...(this.#states.get(uid) ?? []), object])
  }

  delete(object: Fields): void {
    this.present.delete(`${object.kind} ${object.metadata.name}`)
    this.#deleted.add(object.metadata.uid)
  }

  wasDeleted(uid: string): boolean {
    return this.#deleted.has(uid)
  }

  wasUnmatched(uid: string, matches: Followed['matches']): boolean {
    return this.#states.get(uid)?.every(matches) === false
  }
}

/** One schedule: what is random is the seed's, but for the moments at which things happen. */
export class LiveSchedule implements AsyncDisposable {
  readonly clients: readonly LiveClient[]
  readonly #cluster: ScheduledCluster
  readonly #door: Door
  readonly #random: () => number
  readonly #ledger = new Ledger()
  readonly #truth: Truth
  #gateway: ServedGateway
  #epoch = 0

  private constructor(cluster: ScheduledCluster, door: Door, gateway: ServedGateway, seed: number) {
    this.#cluster = cluster
    this.#door = door
    this.#gateway = gateway
    this.#random = seededRandom(seed)
    const ledger = this.#ledger
    this.#truth = {
      url: door.url,
      epoch: () => this.#epoch,
      wasDeleted: (uid) => ledger.wasDeleted(uid),
      wasUnmatched: (uid, matches) => ledger.wasUnmatched(uid, matches),
    }
    this.clients = followed.map((one) => new LiveClient(this.#truth, one))
  }

  static async begin(cluster: ScheduledCluster, seed: number): Promise<LiveSchedule> {
    const door = await Door.open()
    return new LiveSchedule(cluster, door, await serve(cluster, door), seed)
  }

  /** Runs it; what is wrong in the end, in words. So many of the places where each client stood are come back to then. */
  async problems(standsPerClient: number): Promise<readonly string[]> {
    const clock = vi.spyOn(Date, 'now')
    await this.#allThere()
    try {
      for (let step = 0; step < steps; step += 1) {
        await this.#happen(clock)
      }
    } finally {
      clock.mockRestore()
    }
    for (const client of this.clients) client.go()
    const expected = await this.#expected()
    const problems = await Promise.all(
      this.clients.map(async (client) => this.#problemsOf(client, expected, 'the end')),
    )
    for (const { stands, followed: list } of this.clients) {
      const some = this.#some(stands, standsPerClient)
      problems.push(
        ...(await Promise.all(some.map(async (stand) => this.#resumed(stand, list, expected)))),
      )
    }
    return problems.flat()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) client.leave()
    await this.#gateway[Symbol.asyncDispose]()
    await this.#door[Symbol.asyncDispose]()
  }

  async #happen(clock: { mockImplementation: (now: () => number) => unknown }): Promise<void> {
    const random = this.#random
    const dice = random()
    if (dice < 0.08) this.#door.cut(random)
    else if (dice < 0.1) await this.#restart()
    else if (dice < 0.12) {
      await this.#cluster.disturb(random, () => void (this.#epoch += 1))
    } else if (dice < 0.13) {
      this.#epoch += 1
      await this.#cluster.forget()
    } else if (dice < 0.19) {
      const client = this.clients[Math.floor(random() * this.clients.length)]
      client?.pause()
      const forMs = random() * (random() < 0.2 ? 1_500 : 150)
      void sleep(forMs).then(() => client?.go())
    } else if (dice < 0.2) {
      const jumpMs = (random() - 0.5) * 2 * hourMs
      const { timeOrigin } = performance
      clock.mockImplementation(() => Math.round(timeOrigin + performance.now() + jumpMs))
    } else await this.#write()
    // Else what happens next happens while they are coming back.
    if (dice < 0.12 && random() < 0.5) await this.#allThere()
    if (random() < 0.3) await sleep(random() * 20)
  }

  /** Until all clients are back, or some of them are held up for a long time. */
  async #allThere(): Promise<void> {
    const deadlineMs = performance.now() + backMs
    while (!this.clients.every(({ isThere }) => isThere) && performance.now() < deadlineMs) {
      await sleep(5)
    }
  }

  async #restart(): Promise<void> {
    // The port may be somebody else's before there is a gateway again: that of another schedule, which takes the same tokens.
    this.#door.port = undefined
    await this.#gateway[Symbol.asyncDispose]()
    this.#gateway = await serve(this.#cluster, this.#door)
  }

  async #write(): Promise<void> {
    const random = this.#random
    const dice = random()
    if (dice < 0.1) {
      const before = this.#ledger.present.get('Node node-1')
      if (before !== undefined && random() < 0.3) return await this.#delete(before)
      const spec = { unschedulable: random() < 0.5 }
      return await this.#put(before, { apiVersion: 'v1', kind: 'Node', spec }, { name: 'node-1' })
    }
    const name = `pod-${Math.floor(random() * 12)}`
    const before = this.#ledger.present.get(`Pod ${name}`)
    const labels = { tier: random() < 0.7 ? 'x' : 'y' }
    const status = { phase: random() < 0.7 ? 'Running' : 'Pending' }
    if (before !== undefined && dice < 0.3) return await this.#delete(before)
    const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] }
    const pod = { apiVersion: 'v1', kind: 'Pod', spec, status }
    return await this.#put(before, pod, { name, namespace: 'default', labels })
  }

  async #put(before: Fields, object: Fields, metadata: Fields): Promise<void> {
    const uid = before?.metadata.uid ?? randomUUID()
    const creationTimestamp = before?.metadata.creationTimestamp ?? '2026-01-01T00:00:00Z'
    const put = { ...object, metadata: { ...metadata, uid, creationTimestamp } }
    this.#ledger.put(put)
    await this.#cluster.put(put)
  }

  async #delete(object: Fields): Promise<void> {
    this.#ledger.delete(object)
    await this.#cluster.delete(object)
  }

  /** What each client has to hold in the end, as the API server has it. */
  async #expected(): Promise<(one: Followed) => string> {
    const pods = await this.#cluster.list('Pod')
    const nodes = await this.#cluster.list('Node')
    return ({ matches, selection }) => {
      const withNode = selection.includes('node')
      const lines = pods
        .filter(matches)
        .map((pod) => [pod, nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName)])
        .map(([pod, node]) => lineOf(pod.metadata, withNode ? node : undefined))
      return lines.toSorted().join('\n')
    }
  }

  async #problemsOf(
    client: LiveClient,
    expected: (one: Followed) => string,
    where: string,
  ): Promise<readonly string[]> {
    const { field, extra, selection } = client.followed
    const wanted = expected(client.followed)
    const deadlineMs = performance.now() + quietMs
    while (textOf(client.held) !== wanted && performance.now() < deadlineMs) {
      await sleep(10)
    }
    const place = `${where}, ${field} ${extra} ${selection}: `
    const held = textOf(client.held)
    return [
      ...client.problems.map((problem) => place + problem),
      ...(held === wanted ? [] : [`${place}${held} instead of ${wanted}`]),
    ]
  }

  /** Comes back once more to where a client stood. */
  async #resumed(
    stand: Stand,
    list: Followed,
    expected: (one: Followed) => string,
  ): Promise<readonly string[]> {
    const client = new LiveClient(this.#truth, list, stand)
    try {
      return await this.#problemsOf(client, expected, `from ${stand.token}`)
    } finally {
      client.leave()
    }
  }

  #some(stands: readonly Stand[], count: number): readonly Stand[] {
    if (stands.length <= count) return stands
    return Array.from({ length: count }, () => {
      const at = Math.floor(this.#random() * stands.length)
      return stands[at] as Stand
    })
  }
}

/** The API server may be away. */
const serve = async (cluster: ScheduledCluster, door: Door): Promise<ServedGateway> => {
  const deadlineMs = performance.now() + quietMs
  while (true) {
    try {
      const served = await serveGateway({
        clusters: [{ name: 'one', ...cluster.selection }],
        limits: { maxFrameObjects: 3 },
        live: { maxFrames: 8 },
      })
      door.port = Number(new URL(served.url).port)
      return served
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await sleep(50)
    }
  }
}

const lineOf = ({ name, uid, resourceVersion }: Fields, node: Fields): string =>
  `${name} ${uid} ${resourceVersion} ${node == null ? '' : (node.spec?.unschedulable ?? false)}`

const textOf = (held: Held): string =>
  Array.from(held.values(), ({ metadata, node }) => lineOf(metadata, node))
    .toSorted()
    .join('\n')
