import { setTimeout as sleep } from 'node:timers/promises'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, describe, expect, it } from 'vitest'
import { resume, type Resumed } from '../gateway/resumed-subscription.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, scheduleSeeds, seededRandom } from '../support/random.ts'
import { oneOf, OwnerWorld } from './owner-world.ts'

const seeds = scheduleSeeds(1)
const steps = 60
const standsPerFollower = 3
const quietMs = 30_000

const object = 'kind metadata { name label(key: "tier") annotation(key: "touch") }'
const owned = `totalCount types nodes { ${object} }`
const asks = [
  {
    list: 'deployments',
    where: '',
    selection: `metadata { name } owned(types: ["ConfigMap"]) { ${owned} }`,
  },
  {
    list: 'replicaSets',
    where: 'labelSelector: "tier=x"',
    selection: `metadata { name } owners { ${object} } owned { ${owned} } rootOwner { kind name object { ${object} } }`,
  },
  {
    list: 'configMaps',
    where: '',
    selection: `metadata { name } ownerChain { kind name } usedBy(types: ["Pod"]) { totalCount nodes { paths object { name object { ${object} } } } }`,
  },
  {
    list: 'pods',
    where: '',
    selection: `metadata { name } instanceObjects { ${owned} } owned { totalCount }`,
  },
] as const
type Ask = (typeof asks)[number]

/** One who follows, and comes back to where it stood. */
class Follower {
  readonly ask: Ask
  readonly stands: Resumed['seen'][number][] = []
  live: Resumed | undefined
  resumed = 0
  cameBack = 0
  #from: Resumed['seen'][number] | undefined

  constructor(ask: Ask) {
    this.ask = ask
  }

  follow(gateway: ServedGateway, from = this.stands.at(-1)): void {
    const { list, where, selection } = this.ask
    this.#from = from
    this.live = resume(
      gateway.connect(),
      { field: `${list}(coalesceMs: 10 ${where}`, selection },
      from,
    )
  }

  leave(): void {
    const { live } = this
    if (live === undefined) return
    live.leave()
    this.live = undefined
    this.stands.push(...live.seen)
    const [first] = live.seen
    if (first === undefined || this.#from === undefined) return
    this.cameBack += 1
    if (first.frame['reset'] === false) this.resumed += 1
  }
}

const textOf = (held: ReadonlyMap<string, unknown>): string =>
  JSON.stringify(
    [...held].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    undefined,
    1,
  )

const listed = async (gateway: ServedGateway, { list, where, selection }: Ask): Promise<string> => {
  const { data, errors } = await gateway.query(
    `{ ${list}(first: 100 ${where}) { nodes { id ${selection} } } }`,
  )
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  const nodes: readonly { readonly id: string }[] = data?.[list].nodes
  return textOf(new Map(nodes.map((one) => [one.id, one])))
}

/** What is wrong with what one holds when all is quiet, in words. */
const problemsOf = async (
  { ask, live }: Follower,
  gateway: ServedGateway,
): Promise<readonly string[]> => {
  await live?.until(() => true)
  const deadlineMs = performance.now() + quietMs
  for (;;) {
    const held = textOf(live?.held() ?? new Map())
    const wanted = await listed(gateway, ask)
    if (held === wanted) return []
    if (performance.now() > deadlineMs) return [`${ask.list}: ${held} instead of ${wanted}`]
    await sleep(20)
  }
}

/** One schedule: what is random is the seed's, but for the moments at which things happen. */
class OwnerSchedule implements AsyncDisposable {
  readonly followers: readonly Follower[] = asks.flatMap((ask) => [
    new Follower(ask),
    new Follower(ask),
  ])
  readonly #cluster: Simulator
  readonly #random: () => number
  readonly #world: OwnerWorld
  #gateway: ServedGateway

  private constructor(cluster: Simulator, gateway: ServedGateway, seed: number) {
    this.#cluster = cluster
    this.#gateway = gateway
    this.#random = seededRandom(seed)
    this.#world = new OwnerWorld(cluster, this.#random)
  }

  static async begin(cluster: Simulator, seed: number): Promise<OwnerSchedule> {
    return new OwnerSchedule(cluster, await serve(cluster), seed)
  }

  /** Runs it; what is wrong in the end. */
  async problems(): Promise<readonly string[]> {
    for (const one of this.followers) one.follow(this.#gateway)
    for (let step = 0; step < steps; step += 1) await this.#happen()
    const problems: string[] = []
    for (const one of this.followers) problems.push(...(await problemsOf(one, this.#gateway)))
    const { members } = this.#gateway.gateway.planned.liveState()
    if (members !== this.followers.length) problems.push(`${members} are in groups`)
    for (const one of this.followers) {
      one.leave()
      for (let back = 0; back < standsPerFollower; back += 1) {
        one.follow(this.#gateway, oneOf(one.stands, this.#random))
        problems.push(...(await problemsOf(one, this.#gateway)))
        one.leave()
      }
    }
    return problems
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.followers) one.leave()
    await this.#gateway[Symbol.asyncDispose]()
  }

  async #happen(): Promise<void> {
    const random = this.#random
    const dice = random()
    const some = oneOf(this.followers, random)
    if (dice < 0.12) {
      some.leave()
      if (random() < 0.5) await this.#world.write()
      some.follow(this.#gateway)
    } else if (dice < 0.14) {
      // A further kind comes to be in memory.
      await this.#gateway.query('{ secrets { totalCount } }')
    } else if (dice < 0.15) {
      for (const one of this.followers) one.leave()
      await this.#gateway[Symbol.asyncDispose]()
      await this.#world.write()
      this.#gateway = await serve(this.#cluster)
      for (const one of this.followers) one.follow(this.#gateway)
    } else await this.#world.write()
    if (random() < 0.3) await sleep(random() * 40)
  }
}

const serve = async (cluster: Simulator): Promise<ServedGateway> =>
  serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })

let resumed = 0
let cameBack = 0
afterAll(() =>
  console.log(
    `${seeds.length} schedules from SEED=${runSeed}; ${resumed} of ${cameBack} subscriptions went on where they stood`,
  ),
)

describe('objects that own each other, made, taken away, given to others and labelled anew at random', () => {
  const promise =
    'are held by all who follow them as a query tells, from wherever they come back to'
  it.each(seeds)(
    `${promise} (SEED=%s)`,
    async (seed) => {
      await using cluster = await startSimulator()
      await using schedule = await OwnerSchedule.begin(cluster, seed)
      expect(await schedule.problems()).toEqual([])
      for (const one of schedule.followers) {
        resumed += one.resumed
        cameBack += one.cameBack
      }
    },
    120_000,
  )
})
