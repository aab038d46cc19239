import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { followPage } from './followed-page.ts'
import { PageReader } from './page-reader.ts'
import type { Fields } from './test-cluster.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const selection =
  'metadata { name namespace resourceVersion } status { phase } node { spec { unschedulable } }'
const waitMs = { timeout: 60_000 }
const pod = (name: string, restartCount: number): Fields => ({
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
  status: { containerStatuses: [{ name: 'main', restartCount }] },
})

describe('readers of live pages', () => {
  let cluster: Simulator
  let gateway: ServedGateway
  let proxy: CutProxy
  const readers: PageReader[] = []
  const served = async (): Promise<ServedGateway> =>
    serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      live: { maxFrames: 16, maxBytes: 1 << 20 },
    })
  beforeEach(async () => {
    cluster = await startSimulator()
    gateway = await served()
    proxy = await startCutProxy(Number(new URL(gateway.url).port))
  })
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.leave()
    await proxy[Symbol.asyncDispose]()
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const opened = (args: string, selected = selection, from = gateway.url): PageReader => {
    const reader = new PageReader(from, `podsPage(${args}, coalesceMs: 0`, selected)
    readers.push(reader)
    return reader
  }

  const restarted = (name: string, restartCount: number): void => {
    const { storage } = cluster
    const now = storage.get(podsOf, 'default', name) as Fields
    storage.update(podsOf, { ...now, status: pod(name, restartCount)['status'] })
  }

  it(`hold the first of the list, whatever happens to it, to them and to gateways (SEED=${runSeed})`, async () => {
    const random = seededRandom(runSeed)
    const upTo = (count: number): number => Math.floor(random() * count)
    const pick = <T>(all: readonly [T, ...T[]]): T => all[upTo(all.length)] ?? all[0]
    const { storage } = cluster
    for (const name of ['node-0', 'node-1']) {
      storage.create({ group: '', version: 'v1', resource: 'nodes' }, {
        metadata: { name },
      } as Fields)
    }
    const change = (): void => {
      const [name, namespace] = [`pod-${upTo(30)}`, pick(['default', 'other'])]
      const before = storage.get(podsOf, namespace, name) as Fields
      const status = {
        phase: pick(['Running', 'Failed', 'Pending']),
        containerStatuses: [{ name: 'main', restartCount: upTo(4) }],
      }
      if (before === undefined) {
        const metadata = { name, namespace, labels: { tier: pick(['a', 'b']) } }
        const spec = {
          nodeName: `node-${upTo(3)}`,
          containers: [{ name: 'main', image: 'nginx:1' }],
        }
        storage.create(podsOf, { metadata, spec, status } as Fields)
      } else if (random() < 0.25) storage.delete(podsOf, namespace, name)
      else storage.update(podsOf, { ...before, status })
    }
    storage.create({ group: '', version: 'v1', resource: 'namespaces' }, {
      metadata: { name: 'other' },
    } as Fields)
    for (let count = 0; count < 60; count += 1) change()
    const orders = [
      '[]',
      '[{ restarts: DESC }, { name: ASC }]',
      '[{ phase: ASC }, { restarts: ASC }]',
      '[{ nodeName: DESC }]',
      '[{ creationTimestamp: DESC }]',
    ] as const
    const filters = [
      '',
      ', where: { phase: { in: ["Running", "Failed"] } }',
      ', labelSelector: "tier=a"',
      ', namespace: "other"',
      ', where: { or: [{ restarts: { gt: 1 } }, { nodeName: { eq: "node-1" } }] }',
    ] as const
    const pages = Array.from(
      { length: 4 },
      () => `first: ${pick([1, 3, 7, 20, 100])}, orderBy: ${pick(orders)}${pick(filters)}`,
    )
    const all = pages.flatMap((args) =>
      [0, 1, 2].map(() => ({
        args,
        reader: opened(args, selection, `http://127.0.0.1:${proxy.port}/graphql`),
      })),
    )
    for (let round = 0; round < 15; round += 1) {
      for (let count = 0; count < 12; count += 1) {
        change()
        const { reader } = all[upTo(all.length)] ?? { reader: undefined }
        pick([() => {}, () => reader?.cut(), () => reader?.pause(), () => reader?.resume()])()
        if (random() < 0.3) await new Promise((resolve) => void setTimeout(resolve, upTo(30)))
      }
      if (round % 5 === 4) {
        const next = await served()
        proxy.target = Number(new URL(next.url).port)
        await gateway[Symbol.asyncDispose]()
        gateway = next
        for (const { reader } of all) reader.cut()
      }
      for (const { reader } of all) reader.resume()
      for (const { args, reader } of all) {
        const query = `{ pods(${args}) { totalCount nodes { id ${selection} } } }`
        const { pods } = await gateway.data(query)
        await expect
          .poll(() => (reader.problems.length > 0 ? reader.problems : reader.held), waitMs)
          .toEqual({ rows: pods.nodes, totalCount: pods.totalCount })
      }
    }
    const tried = all.reduce((sum, { reader }) => sum + reader.returns.tried, 0)
    const honoured = all.reduce((sum, { reader }) => sum + reader.returns.honoured, 0)
    console.log(`live pages: ${honoured} of ${tried} resumes were honoured`)
    expect(honoured).toBeGreaterThan(0)
    // Those that were cut last hold what is right already, and may be on their way back.
    await expect.poll(() => gateway.gateway.planned.liveState().members, waitMs).toBe(all.length)
  }, 240_000)

  it('that stop reading begin anew when they read again, and cost the others nothing', async () => {
    const { storage } = cluster
    const big = (name: string, round: number): Fields => ({
      metadata: {
        name,
        namespace: 'default',
        annotations: { text: `${round} ${'x'.repeat(200_000)}` },
      },
      spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
      status: { containerStatuses: [{ name: 'main', restartCount: round % 7 }] },
    })
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) storage.create(podsOf, big(name, 0))
    const args = 'first: 4, orderBy: [{ restarts: DESC }]'
    const selected = 'metadata { name annotations }'
    const stopped = opened(args, selected)
    const other = opened(args, selected)
    await expect.poll(() => [stopped, other].map(({ held }) => held.rows.length)).toEqual([4, 4])
    stopped.pause()
    for (let round = 1; round <= 25; round += 1) {
      const { frames } = other
      for (const [at, name] of names.entries()) {
        const before = storage.get(podsOf, 'default', name) as Fields
        const { metadata, status } = big(name, round + at)
        storage.update(podsOf, {
          ...before,
          metadata: { ...before['metadata'], ...metadata },
          status,
        })
      }
      await expect.poll(() => other.frames, { ...waitMs, interval: 2 }).toBeGreaterThan(frames)
    }
    const { pods } = await gateway.data(`{ pods(${args}) { totalCount nodes { id ${selected} } } }`)
    const last = { rows: pods.nodes, totalCount: pods.totalCount }
    await expect.poll(() => other.held, waitMs).toEqual(last)
    expect(stopped.frames).toBeLessThan(other.frames)
    stopped.resume()
    await expect.poll(() => stopped.held, waitMs).toEqual(last)
    expect([...stopped.problems, ...other.problems]).toEqual([])
    expect(stopped.resets).toBe(2)
    expect(gateway.gateway.planned.liveState().resets).toBe(1)
  })

  it('begin anew after something has changed, also at another gateway, and go on where nothing has', async () => {
    const { storage } = cluster
    for (const [at, name] of ['a', 'b', 'c', 'd', 'e'].entries())
      storage.create(podsOf, pod(name, at))
    const args = 'first: 3, orderBy: [{ restarts: DESC }], coalesceMs: 0'
    const rows = 'metadata { name }'
    await using another = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })
    const page = { field: `podsPage(${args}`, selection: rows }
    const before = followPage(gateway.connect(), page)
    await before.until(({ rows: held }) => held.length === 3)
    before.leave()
    const elsewhere = followPage(another.connect(), { ...page, selection: 'id' })
    await elsewhere.until(({ rows: held }) => held.length === 3)
    elsewhere.leave()
    restarted('a', 9)
    storage.delete(podsOf, 'default', 'd')
    storage.create(podsOf, pod('f', 3))
    for (const client of [gateway.connect(), another.connect()]) {
      const after = followPage(client, page, before.seen.at(-1))
      await after.until(
        ({ rows: held }) => held.map(({ metadata }) => metadata.name).join() === 'a,e,f',
      )
      expect(after.seen[0]?.frame.reset).toBe(true)
      after.leave()
      const again = followPage(client, page, after.seen.at(-1))
      await again.until(() => again.seen.length > 0)
      expect(again.seen[0]?.frame).toMatchObject({ reset: false, changes: [] })
      again.leave()
    }
  })

  it('begin anew after a restart of the gateway where something has happened meanwhile, else go on', async () => {
    const { storage } = cluster
    for (const [at, name] of ['a', 'b', 'c', 'd', 'e'].entries())
      storage.create(podsOf, pod(name, at))
    const server = { clusters: [{ name: 'one', server: cluster.url }] }
    const page = {
      field: 'podsPage(first: 3, orderBy: [{ restarts: DESC }], coalesceMs: 0',
      selection: 'metadata { name } restarts: status { containerStatuses { restartCount } }',
    }
    const stopped = await serveGateway(server)
    const before = followPage(stopped.connect(), page)
    await before.until(({ rows }) => rows.length === 3)
    before.leave()
    await stopped[Symbol.asyncDispose]()
    // On the page: one stays and is another, one goes down, one is made again under its name; behind it: one comes in.
    restarted('e', 7)
    restarted('c', 0)
    storage.delete(podsOf, 'default', 'd')
    storage.create(podsOf, pod('d', 6))
    restarted('a', 9)
    await using begun = await serveGateway(server)
    const after = followPage(begun.connect(), page, before.seen.at(-1))
    await after.until(({ rows }) => rows.map(({ metadata }) => metadata.name).join() === 'a,e,d')
    expect(after.seen[0]?.frame.reset).toBe(true)
    after.leave()
    await using next = await serveGateway(server)
    const again = followPage(next.connect(), page, after.seen.at(-1))
    await again.until(() => again.seen.length > 0)
    expect(again.seen[0]?.frame).toMatchObject({ reset: false, changes: [] })
    expect(next.gateway.planned.liveState()).toMatchObject({ resumed: 1, notResumed: 0 })
    again.leave()
  })

  it('begin anew with the token of another page, and of one that was not complete', async () => {
    cluster.storage.create(podsOf, {
      metadata: { name: 'a', namespace: 'default' },
      spec: {},
    } as Fields)
    const first = followPage(gateway.connect(), {
      field: 'podsPage(first: 3',
      selection: 'metadata { name }',
    })
    await first.until(({ rows }) => rows.length === 1)
    const other = followPage(
      gateway.connect(),
      { field: 'podsPage(first: 4', selection: 'metadata { name }' },
      first.seen[0],
    )
    await other.until(({ rows }) => rows.length === 1)
    expect(other.seen[0]?.frame.reset).toBe(true)
    first.leave()
    other.leave()
    const answers = gateway
      .connect()
      .iterate({ query: 'subscription { podsPage(resumeFrom: "?") { totalCount } }' })
    const { value } = await answers.next()
    expect(value?.errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', argument: 'resumeFrom' } },
    ])
  })
})
