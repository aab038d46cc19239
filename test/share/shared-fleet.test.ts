import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import type { GraphQLAnswer } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { type Question, randomQuestions } from './random-questions.ts'
import {
  type GatewayProcess,
  type SharedGateways,
  startSharedGateways,
  type User,
} from './fleet-processes.ts'

const count = 8
const waiting = { timeout: 60_000, interval: 200 }
const everything: User = 'root'

/** Root may read everything; ann all of the odd clusters and a namespace of the even ones; ben some of three clusters. */
const rights = (user: User, cluster: number): string | undefined => {
  if (user === everything) return '*'
  if (user === 'ann') return cluster % 2 === 1 ? '*' : 'payments'
  return cluster % 3 === 0 ? 'storefront' : undefined
}

/** What an answer says. Errors: where, which, and about which cluster; which field made a root field null is not compared. */
const said = ({ data, errors = [] }: GraphQLAnswer): object => ({
  data,
  errors: errors
    .map(({ path = [], extensions: { code, cluster } }) => {
      const [root = ''] = path
      return JSON.stringify([data?.[root] === null ? [root] : path, code, cluster])
    })
    .toSorted(),
})

function nextPage(question: Question, { data }: GraphQLAnswer): Question | undefined {
  if (question.pages === undefined) return undefined
  const { hasNextPage = false, endCursor: after } = data?.[question.pages]?.pageInfo ?? {}
  return hasNextPage === true ? { ...question, variables: { after } } : undefined
}

describe(`Gateways that share clusters, SEED=${runSeed}`, needsPostgres, () => {
  let fleet: SharedGateways
  /** Holds everything, and shares with none. */
  let alone: GatewayProcess
  let gateways: GatewayProcess[]
  const random = seededRandom(runSeed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

  beforeAll(async () => {
    fleet = await startSharedGateways(count, rights)
    const started = await Promise.all(
      [false, true, true, true].map((shares) => fleet.start(shares)),
    )
    alone = started[0] as GatewayProcess
    gateways = started.slice(1)
    await allHeld()
  }, 180_000)
  afterAll(() => fleet[Symbol.asyncDispose]())

  /** Asks again, for a while, where a cluster is said to be unreachable: on a busy machine, a review of access comes too late. */
  const ask = async (
    gateway: GatewayProcess,
    { query, variables }: Question,
    user: User,
  ): Promise<GraphQLAnswer> => {
    for (let times = 1; ; times += 1) {
      const answer = await gateway.ask(query, variables, user)
      if (times === 20 || !JSON.stringify(answer).includes('CLUSTER_UNREACHABLE')) return answer
      await sleep(500)
    }
  }

  /** Who holds each cluster, as a gateway says. */
  const holders = async (gateway: GatewayProcess): Promise<ReadonlyMap<string, string | null>> => {
    const { data } = await gateway.ask('{ gatewayClusters { name state holder } }')
    return new Map(data.gatewayClusters.map(({ name, holder }: Fields) => [name, holder]))
  }

  /** Resolves once every gateway answers for all clusters. */
  const allHeld = async (): Promise<void> => {
    const whole = `{ pods(clusters: ["*"], first: 0) { totalCount incomplete { cluster code } } }`
    const { data } = await alone.ask(whole)
    for (const gateway of gateways) {
      await vi.waitFor(async () => expect((await gateway.ask(whole)).data).toEqual(data), waiting)
    }
  }

  /** Each answer at a random gateway is that of the one alone, page by page, each page at another gateway. Returns the number of pages. */
  const compare = async (asked: number, user: User = everything): Promise<number> => {
    let pages = 0
    const questions = randomQuestions(fleet.clusters, random)
    for (let at = 0; at < asked; at += 1) {
      let question: Question | undefined = questions.next().value
      for (let page = 0; question !== undefined && page < 4; page += 1) {
        pages += 1
        const wanted = await ask(alone, question, user)
        const found = await ask(pick(gateways), question, user)
        expect(JSON.stringify(wanted), question.query).not.toContain('BAD_USER_INPUT')
        expect(
          said(found),
          `${user}: ${question.query} ${JSON.stringify(question.variables)}`,
        ).toEqual(said(wanted))
        question = nextPage(question, wanted)
      }
    }
    return pages
  }

  it('each holds some clusters, and all of them say the same of who holds which', async () => {
    const [first, ...others] = await Promise.all(gateways.map(holders))
    expect([...(first?.keys() ?? [])]).toEqual(fleet.clusters)
    for (const other of others) {
      // What each holds itself, like the one that reviews tokens, is its own.
      for (const cluster of fleet.clusters.slice(1)) {
        expect(other.get(cluster), cluster).toBe(first?.get(cluster))
      }
    }
    const addresses = gateways.map(({ address }) => address)
    for (const holder of first?.values() ?? []) expect(addresses).toContain(holder)
    expect(new Set(first?.values()).size).toBeGreaterThan(1)
  })

  it('answer random questions over clusters as one process does that holds everything', async () => {
    expect(await compare(60)).toBeGreaterThanOrEqual(60)
  }, 180_000)

  it('show a user no more through one gateway than through another', async () => {
    expect(await compare(25, 'ann')).toBeGreaterThanOrEqual(25)
    expect(await compare(25, 'ben')).toBeGreaterThanOrEqual(25)
  }, 180_000)

  it('answer with what is missing while one of them is gone, and whole again once its clusters are taken over', async () => {
    const [gone] = gateways.splice(0, 1)
    await gone?.kill()
    await neverWrong()
    await allHeld()
    const held = new Set((await holders(pick(gateways))).values())
    expect(held).not.toContain(gone?.address)
    expect(await compare(15)).toBeGreaterThanOrEqual(15)
    gateways.push(await fleet.start())
    await allHeld()
    // It may be that hashing gives it nothing.
    await vi.waitFor(async () => {
      const told = await Promise.all(gateways.map(holders))
      const shared = told.map((one) => fleet.clusters.slice(1).map((name) => one.get(name)))
      for (const one of shared) expect(one).toEqual(shared[0])
    }, waiting)
    await allHeld()
    expect(await compare(15)).toBeGreaterThanOrEqual(15)
  }, 180_000)

  it('go on while Postgres is away, and are whole once it is back', async () => {
    await fleet.postgres.stop()
    const until = performance.now() + 20_000
    while (performance.now() < until) {
      await neverWrong(3)
      await sleep(500)
    }
    await fleet.postgres.start()
    await allHeld()
    expect(await compare(15)).toBeGreaterThanOrEqual(15)
  }, 180_000)

  /** For a while: an answer over all clusters has no row that is not there, and lacks none without naming its cluster. */
  const neverWrong = async (times = 20): Promise<void> => {
    const query =
      '{ pods(clusters: ["*"], first: 500) { totalCount nodes { id clusterName } incomplete { cluster } } }'
    const { pods: whole } = (await alone.ask(query)).data
    for (let at = 0; at < times; at += 1) {
      const { data } = await pick(gateways).ask(query)
      const missing = new Set((data?.pods?.incomplete ?? []).map(({ cluster }: Fields) => cluster))
      const shown = whole.nodes.filter(({ clusterName }: Fields) => !missing.has(clusterName))
      const present = (data?.pods?.nodes ?? []).filter(
        ({ clusterName }: Fields) => !missing.has(clusterName),
      )
      // A cluster that is named may have rows, as old as `staleSince` says.
      expect(present).toEqual(shown)
      for (const node of data?.pods?.nodes ?? []) expect(whole.nodes).toContainEqual(node)
    }
  }
})
