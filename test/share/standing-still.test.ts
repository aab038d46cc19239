import { setTimeout as sleep } from 'node:timers/promises'
import type { Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { heldAt, sharedBetween } from './settled-holders.ts'
import {
  behind,
  freePort,
  holdersBy,
  SharedGateways,
  type SharingGateway,
} from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 200 }
/** Longer than the tests: what waits for it fails. */
const limits = { operationDeadlineMs: 600_000 }
const count = 12
const all = '{ pods(clusters: ["*"]) { totalCount incomplete { cluster code } } }'
const whole = { pods: { totalCount: count, incomplete: [] } }

/** The clusters that an answer lacks. */
const missing = ({ data }: GraphQLAnswer): readonly string[] =>
  data.pods.incomplete.map(({ cluster, code }: { cluster: string; code: string }) => {
    expect(code).toBe('CLUSTER_UNREACHABLE')
    return cluster
  })

describe('a gateway that says no more, but that it lives', needsPostgres, () => {
  let shared: SharedGateways
  let here: SharingGateway
  let there: SharingGateway
  /** Between them. */
  let proxy: CutProxy
  let far: readonly string[] = []

  const serveThere = async (): Promise<SharingGateway> => {
    const port = await freePort()
    const between = await startCutProxy(port)
    proxy = between
    const address = `http://127.0.0.1:${between.port}`
    const options = { ...shared.options, share: { address }, limits }
    return behind(await serveGateway(options, { port }), between)
  }

  beforeAll(async () => {
    shared = await SharedGateways.start(count)
    here = await shared.serve({ limits })
    const between = await sharedBetween(here, serveThere)
    there = between.there
    far = heldAt(there, between.held)
  }, 240_000)

  afterAll(async () => {
    proxy.flow()
    await there[Symbol.asyncDispose]()
    await shared[Symbol.asyncDispose]()
  })

  it('costs a question over all clusters its clusters, not its deadline, and so those that follow', async () => {
    await expect.poll(() => here.query(all), patience).toEqual({ data: whole })
    proxy.hang()
    expect(missing(await here.query(all)).toSorted()).toEqual(far.toSorted())
    for (let times = 0; times < 20; times += 1) {
      expect(missing(await here.query(all)).toSorted()).toEqual(far.toSorted())
    }
    const one = await here.query(`{ pods(cluster: "${far[0]}") { totalCount } }`)
    expect(one.errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
    proxy.cut()
    proxy.flow()
    await expect.poll(() => here.query(all), patience).toEqual({ data: whole })
  })

  it('costs a live list its clusters, which come back', async () => {
    const frames: GraphQLAnswer[] = []
    const query = 'subscription { pods(clusters: ["*"]) { synced incomplete { cluster code } } }'
    const leave = here.connect().subscribe(
      { query },
      {
        next: (frame) => void frames.push(frame as GraphQLAnswer),
        error() {},
        complete() {},
      },
    )
    await expect.poll(() => frames.at(-1)?.data.pods.synced, patience).toBe(true)
    const gaps = (): number | undefined => frames.at(-1)?.data.pods.incomplete.length
    expect(gaps()).toBe(0)
    proxy.hang()
    await expect.poll(gaps, patience).toBe(far.length)
    proxy.cut()
    proxy.flow()
    await expect.poll(gaps, patience).toBe(0)
    leave()
  })

  it('sends a live page several changes in one moment, of which the first shows nothing', async () => {
    const coalesceMs = 400
    const [near = '', distant = ''] = [shared.names.find((one) => !far.includes(one)), far[0]]
    const simulatorOf = (name: string): Simulator => shared.simulators[shared.names.indexOf(name)]!
    const label = (cluster: string, pod: string, tier: string): Promise<unknown> =>
      sent(simulatorOf(cluster), 'PATCH', `${podsPath}/${pod}`, { metadata: { labels: { tier } } })
    await created(simulatorOf(near), podsPath, podOf('a-shown'))
    for (const name of ['b-first', 'c-last']) {
      await created(simulatorOf(distant), podsPath, podOf(name))
    }
    const frames: Fields[] = []
    const query = `subscription { objectListPage(kind: "Pod", clusters: ["${near}", "${distant}"],
      first: 1, orderBy: [{ name: "ASC" }], coalesceMs: ${coalesceMs}) {
        totalCount changes { step object { name json(path: "metadata.labels") } } } }`
    const leave = here.connect().subscribe<Fields>(
      { query },
      {
        next: ({ data }) => void frames.push(data?.objectListPage),
        error() {},
        complete() {},
      },
    )
    const last = () => frames.at(-1)?.totalCount
    await expect.poll(last, patience).toBe(5)
    proxy.hang()
    // The first change is of the first row of its holder, which is not the first of all.
    await label(distant, 'b-first', 'changed')
    await sleep(2 * coalesceMs)
    await created(simulatorOf(distant), podsPath, podOf('d-more'))
    await sleep(coalesceMs)
    // Both arrive while the next frame waits for its time.
    const before = frames.length
    await label(near, 'a-shown', 'changed')
    await expect.poll(() => frames.length, { interval: 1 }).toBe(before + 1)
    proxy.flow()
    // Without it, the second one waits for whatever comes next: for the sign of life of its holder, after 12 seconds.
    await expect.poll(last, { timeout: 8_000 }).toBe(6)
    leave()
  })
})

describe('a gateway that is stopped as a process', needsPostgres, () => {
  it('costs the questions that wait for it its clusters, until the others hold them', async () => {
    await using shared = await SharedGateways.start(count)
    const here = await shared.serve({ limits })
    const { program, address } = await shared.program()
    const held = async (): Promise<readonly string[]> => heldAt({ address }, await holdersBy(here))
    await expect.poll(held, patience).not.toEqual([])
    await expect.poll(() => here.query(all), patience).toEqual({ data: whole })
    program.signal('SIGSTOP')
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => here.query(all)))
      for (const answer of answers) {
        const { totalCount } = answer.data.pods
        expect(totalCount + missing(answer).length).toBe(count)
      }
      await expect.poll(() => here.query(all), patience).toEqual({ data: whole })
    } finally {
      program.signal('SIGCONT')
    }
  }, 180_000)
})
