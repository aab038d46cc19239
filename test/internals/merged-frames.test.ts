import { setTimeout as sleep } from 'node:timers/promises'
import { FrameFold, PageFold } from 'informerql/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sent } from '../gateway/created.ts'
import { FleetCluster, path } from '../gateway/fleet-cluster.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { putNodes, putPod, running } from '../logs/small-town.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { HeldClusters, type Merged } from './held-clusters.ts'

const wait = { timeout: 60_000, interval: 50 }
const names = ['a', 'b', 'c', 'd', 'e']

const foldOf = ({ frames }: Merged): FrameFold<Fields> => {
  const fold = new FrameFold<Fields>()
  for (const frame of frames) fold.apply(frame as never)
  return fold
}

const rowText = ({ clusterName, name, json }: Fields): string => `${clusterName}/${name}=${json}`

const listQuery = `subscription ($from: String) {
  configMaps(clusters: ["*"], namespace: "default", coalesceMs: 10, resumeFrom: $from) {
    reset synced resumeToken staleSince visible
    incomplete { cluster code }
    changes { type removal objectId object { id clusterName name json(path: "data.value") } }
  }
}`

const listNow = `{ configMaps(clusters: ["*"], namespace: "default", first: 500) { nodes { id clusterName name json(path: "data.value") } } }`

describe('a list over clusters of several gateways', () => {
  const stack = new AsyncDisposableStack()
  let held: HeldClusters
  beforeAll(async () => {
    const clusters = await Promise.all(
      names.map(async (name) => stack.use(await FleetCluster.start(name))),
    )
    held = stack.use(await HeldClusters.start(clusters))
    await held.share({ one: ['a', 'b'], two: ['c', 'd'], three: ['e'] })
  }, 60_000)
  afterAll(() => stack.disposeAsync())

  const truth = async (): Promise<readonly string[]> => {
    const { configMaps } = await held.whole.data(listNow)
    return configMaps.nodes.map(rowText).toSorted()
  }
  const equal = async (live: Merged): Promise<void> => {
    await expect
      .poll(async () => {
        const rows = [...foldOf(live).objects.values()].map(rowText).toSorted()
        return JSON.stringify([rows, live.ended()])
      }, wait)
      .toBe(JSON.stringify([await truth(), undefined]))
  }

  const writes = async (random: () => number, count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) {
      const cluster = held.clusters[Math.floor(random() * names.length)]!
      const name = `m${Math.floor(random() * 12)}`
      const kind = random()
      if (kind < 0.5) await cluster.make(name, String(at)).catch(() => {})
      else if (kind < 0.8) await cluster.change(name, String(at)).catch(() => {})
      else await cluster.remove(name).catch(() => {})
      if (random() < 0.2) await sleep(15)
    }
  }

  it('is what one gateway lists, after random changes', async () => {
    const random = seededRandom(runSeed)
    await writes(random, 40)
    const live = held.follow(listQuery)
    await writes(random, 60)
    await equal(live)
    expect(live.frames[0]?.reset).toBe(true)
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    expect(live.frames.at(-1)?.incomplete).toEqual([])
    live.leave()
  }, 60_000)

  it('goes on when clusters move and gateways die', async () => {
    const random = seededRandom(runSeed + 1)
    const live = held.follow(listQuery)
    const slow = held.follow(listQuery, {}, { pace: () => sleep(100) })
    await writes(random, 30)
    await held.kill('two')
    await writes(random, 20)
    await expect
      .poll(() => live.frames.at(-1)?.incomplete.map((one: Fields) => one.cluster), wait)
      .toEqual(['c', 'd'])
    expect(live.frames.at(-1)?.staleSince).not.toBeNull()
    await held.share({ one: ['a', 'b'], three: ['e'] })
    await writes(random, 20)
    await held.share({ one: ['a', 'b', 'c'], three: ['e', 'd'] })
    await writes(random, 20)
    await equal(live)
    await equal(slow)
    await held.share({ one: ['a', 'c'], three: ['e', 'd'], four: ['b'] })
    await writes(random, 30)
    await equal(live)
    await equal(slow)
    await expect.poll(() => live.frames.at(-1)?.incomplete, wait).toEqual([])
    for (const one of [live, slow]) {
      expect(one.frames.filter(({ reset }) => reset)).toHaveLength(1)
      one.leave()
    }
    const token = live.frames.at(-1)?.resumeToken
    await writes(random, 20)
    const again = held.follow(listQuery, { from: token })
    await expect.poll(() => again.frames.length, wait).toBeGreaterThan(0)
    expect(again.frames[0]).toMatchObject({ reset: false, synced: true })
    const all: Merged = {
      ...again,
      get frames() {
        return [...live.frames, ...again.frames]
      },
    }
    await expect.poll(() => again.frames.at(-1)?.incomplete, wait).toEqual([])
    await equal(all)
    await held.share({ one: ['a', 'b', 'c'], three: ['e', 'd'] })
    await writes(random, 20)
    await equal(all)
    again.leave()
  }, 120_000)

  it('misses no removal in a cluster that its holder lets go before anyone takes it', async () => {
    await held.share({ one: ['a', 'b', 'c'], three: ['d', 'e'] })
    const [, , , cluster] = held.clusters
    await cluster!.make('goes')
    const live = held.follow(listQuery)
    await equal(live)
    await held.leave('three', ['e'])
    // The last frame of the holder is about both clusters.
    await held.clusters[4]!.make('marks')
    await equal(live)
    await cluster!.remove('goes')
    await held.share({ one: ['a', 'b', 'c'], five: ['d', 'e'] })
    await equal(live)
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    live.leave()
  }, 60_000)

  it.each([
    ['moves as a whole', { whole: names }, ['DELETED', 'UNMATCHED']],
    ['is divided', { half: ['a', 'b'], rest: ['c', 'd', 'e'] }, ['UNMATCHED', 'UNMATCHED']],
  ])(
    'says why rows are gone when it %s',
    async (_title, moved, reasons) => {
      await held.share({ one: names })
      const [cluster] = held.clusters
      const label = async (name: string, is: string): Promise<unknown> =>
        sent(cluster!.simulator, 'PATCH', `${path}/${name}`, { metadata: { labels: { is } } })
      for (const name of ['goes', 'changes']) {
        await cluster!.make(name)
        await label(name, 'shown')
      }
      const all = held.follow(listQuery)
      const some = held.follow(
        listQuery.replace('clusters:', 'labelSelector: "is=shown", clusters:'),
      )
      await expect.poll(() => foldOf(some).objects.size, wait).toBe(2)
      await equal(all)
      await held.kill('one')
      await expect.poll(() => all.frames.at(-1)?.incomplete.length, wait).toBe(names.length)
      await cluster!.remove('goes')
      await label('changes', 'hidden')
      await held.share(moved)
      await equal(all)
      const removals = ({ frames }: Merged): readonly string[] =>
        frames.flatMap(({ changes }) => changes.flatMap(({ removal }: Fields) => removal ?? []))
      expect(removals(all)).toEqual(['DELETED'])
      await expect.poll(() => removals(some).toSorted(), wait).toEqual(reasons)
      for (const one of [all, some]) one.leave()
      await cluster!.remove('changes')
    },
    60_000,
  )

  it('is refused if there is no room for what it keeps', async () => {
    const live = held.follow(listQuery, {}, { maxHeldBytes: 30_100 })
    await expect
      .poll(live.ended, wait)
      .toMatchObject({ form: 'failed', errors: [{ code: 'QUERY_TOO_COSTLY' }] })
  }, 60_000)

  it('pages, counts and describes as one gateway does', async () => {
    const random = seededRandom(runSeed + 2)
    await held.share({ one: ['a', 'b'], three: ['c'], four: ['d', 'e'] })
    const page = held.follow(`subscription {
      configMapsPage(clusters: ["*"], namespace: "default", coalesceMs: 10, first: 5, orderBy: [{ name: DESC }]) {
        reset synced totalCount changes { step index from objectId object { id clusterName name json(path: "data.value") } }
      }
    }`)
    const facets = held.follow(`subscription {
      configMapFacets(clusters: ["*"], namespace: "default", coalesceMs: 10, by: ["name", "cluster"], top: 3) {
        totalCount facets { by distinctCount missingCount values { value count } }
      }
    }`)
    const clusters = held.follow(`subscription { gatewayClusters { name state } }`)
    const pageNow = `{ configMaps(clusters: ["*"], namespace: "default", first: 5, orderBy: [{ name: DESC }]) {
      totalCount nodes { id clusterName name json(path: "data.value") } facets(by: ["name", "cluster"], top: 3) { by distinctCount missingCount values { value count } } } }`
    const check = async (): Promise<void> => {
      const { configMaps } = await held.whole.data(pageNow)
      await expect
        .poll(() => {
          const fold = new PageFold<Fields>()
          for (const frame of page.frames) fold.apply(frame as never)
          return { nodes: fold.rows, totalCount: fold.totalCount, ...facets.frames.at(-1) }
        }, wait)
        .toEqual({ ...configMaps })
    }
    await writes(random, 30)
    await check()
    await held.share({ one: ['a'], three: ['c', 'b'], four: ['d', 'e'] })
    await writes(random, 30)
    await check()
    await held.share({ one: ['a', 'e'], three: ['c', 'b', 'd'] })
    await writes(random, 30)
    await check()
    await expect
      .poll(() => clusters.frames.at(-1), wait)
      .toEqual(names.map((name) => ({ name, state: 'CONNECTED' })))
    for (const one of [page, facets, clusters]) one.leave()
  }, 120_000)

  it('goes on with the lines of logs where it was, however many were written meanwhile', async () => {
    await held.share({ one: ['a', 'b', 'c', 'd'], three: ['e'] })
    const { simulator } = held.clusters[4]!
    putNodes(simulator.storage)
    putPod(simulator.storage, 'talks', running(0), { linesPerSecond: 10 })
    const pods = 'clusters: ["*"], where: { name: { eq: "talks" } }'
    const live = held.follow(`subscription { podLogs(${pods}, tailLines: 3) { lines { time } } }`)
    const times = (): readonly string[] =>
      live.frames.flatMap(({ lines }) => lines.map(({ time }: Fields) => time))
    await expect.poll(() => times().length, wait).toBeGreaterThan(5)
    await held.kill('three')
    await sleep(2_000)
    const begun = new Date().toISOString()
    await held.share({ one: names })
    await expect.poll(() => times().some((time) => time > begun), wait).toBe(true)
    live.leave()
    const [from = ''] = times()
    const { podLogs } = await held.whole.data(
      `{ podLogs(${pods}, since: "${from}") { lines { time } } }`,
    )
    const written = podLogs.lines.map(({ time }: Fields) => time)
    expect(written.slice(0, times().length)).toEqual(times())
  }, 60_000)
})
