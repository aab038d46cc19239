import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import {
  changePod,
  namespace,
  putNodes,
  putPod,
  removePod,
  type Run,
  running,
} from '../logs/small-town.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { needsPostgres, startPostgres } from '../support/postgres.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { areSame, type Followed, followedBeside, type FollowedBeside } from './followed-beside.ts'
import { agreedHolders, heldAt } from './settled-holders.ts'
import { freePort, holdersBy, type SharingProgram, startSharingProgram } from './shared-gateways.ts'

const wait = { timeout: 90_000, interval: 200 }
const names = Array.from({ length: 8 }, (_, at) => `c-${at}`)

const done: Run = {
  state: {
    terminated: {
      exitCode: 0,
      reason: 'Completed',
      startedAt: '2026-01-01T00:00:00Z',
      finishedAt: '2026-01-01T00:00:05Z',
    },
  },
}
const failing: Run = {
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
  restartCount: 4,
}

describe(
  `subscriptions over clusters that gateways share, beside one that holds all, seed ${runSeed}`,
  needsPostgres,
  () => {
    const stack = new AsyncDisposableStack()
    const simulators: Simulator[] = []
    const gateways: ServedGateway[] = []
    let whole: ServedGateway
    let serve: () => Promise<ServedGateway>
    let startProgram: () => Promise<SharingProgram>
    const random = seededRandom(runSeed)

    beforeAll(async () => {
      for (const name of names) {
        const simulator = stack.use(await startSimulator({ populate: putNodes }))
        putPod(simulator.storage, 'stays', running(0), { linesPerSecond: 2, uid: `stays-${name}` })
        putPod(simulator.storage, 'done', done, { uid: `done-${name}`, labels: { is: 'done' } })
        simulators.push(simulator)
      }
      const postgres = stack.use(await startPostgres())
      const kinds = ['pods', 'nodes']
      const options = {
        clusters: names.map((name, at) => ({ name, server: simulators[at]?.url ?? '' })),
        preload: kinds,
        commonKinds: kinds,
        problemKinds: kinds,
      }
      const archiveOf = async () => ({ url: await postgres.database(), kinds: ['pods'] })
      whole = stack.use(await serveGateway({ ...options, archive: await archiveOf() }))
      const archive = await archiveOf()
      serve = async () => {
        const port = await freePort()
        const share = { address: `http://127.0.0.1:${port}` }
        return stack.use(await serveGateway({ ...options, archive, share }, { port }))
      }
      startProgram = async () => stack.use(await startSharingProgram({ ...options, archive }))
      for (let at = 0; at < 3; at++) gateways.push(await serve())
    }, 240_000)

    afterAll(() => stack.disposeAsync())

    const present = new Set<string>()
    let made = 0

    /** Pods are made, changed and removed in all clusters. */
    const write = (count: number): void => {
      for (let at = 0; at < count; at++) {
        const which = Math.floor(random() * simulators.length)
        const { storage } = simulators[which]!
        const name = `p-${Math.floor(random() * 6)}`
        const run = random() < 0.4 ? failing : running(0)
        const place = `${which}/${name}`
        if (!present.has(place)) {
          present.add(place)
          putPod(storage, name, run, { uid: `${name}-${(made += 1)}` })
        } else if (random() < 0.6) changePod(storage, name, run)
        else {
          present.delete(place)
          removePod(storage, name)
        }
      }
    }

    const row = 'object { id clusterName name json(path: "status.containerStatuses") }'
    const gaps = 'incomplete { cluster type code }'

    it('lead to the same, while gateways leave, come and are killed', async () => {
      const [asked, ...others] = gateways
      let last: ServedGateway | undefined
      await expect
        .poll(async () => {
          const holders = Object.values(await holdersBy(asked!))
          last = others.find(({ url }) => holders.includes(new URL(url).origin))
          return last !== undefined && !holders.includes(null)
        }, wait)
        .toBe(true)
      const ids = names.map((name) => `${name}/Pod/${namespace}/stays`)
      ids.push(...names.map((name) => `${name}/Pod/${namespace}/p-1`), 'c-0/Node//up')
      const both = { shared: asked!, whole }
      const lives = Object.fromEntries(
        Object.entries({
          objects: `objects(ids: ${JSON.stringify(ids)}) { reset synced ${gaps} changes { type objectId ${row} } }`,
          list: `kubernetesObjects(kinds: ["Pod", "Node"], clusters: ["*"]) { reset synced ${gaps} changes { type objectId object { id clusterName name kind } } }`,
          filtered: `pods(clusters: ["*"], where: { restarts: { gt: 0 } }) { reset synced changes { type objectId ${row} } }`,
          page: `kubernetesObjectsPage(kinds: ["Pod"], clusters: ["*"], first: 12) { reset synced totalCount changes { step index from objectId object { id name kind } } }`,
          named: `objectListPage(kind: "Pod", clusters: ["*"], first: 9, orderBy: [{ name: "DESC" }]) { reset synced totalCount changes { step index from objectId object { id name } } }`,
          facets: `objectListFacets(kind: "Pod", clusters: ["*"], by: ["health", "cluster"]) { totalCount facets { by distinctCount values { value count } } }`,
          // Last: what differs in the lists, differs here, too.
          problems: `problems(clusters: ["*"], first: 6, orderBy: [{ count: DESC }]) { reset synced totalCount complete lookedAt counts { severity type kind count } ${gaps} changes { type objectId object { id reason cluster severity count object { name } } } }`,
        }).map(([name, text]) => [
          name,
          followedBeside(both, text.replace('(', '(coalesceMs: 10, ')),
        ]),
      )
      const refused = followedBeside(
        both,
        'objects(ids: ["c-0/Node//up", "c-1/Pod/what"]) { reset synced changes { objectId } }',
      )
      await areSame(refused, ({ ended }) => ended?.[0] === 'BAD_USER_INPUT')
      const past = followedBeside(
        both,
        `changes(clusters: ["*"], first: 500, coalesceMs: 10) { reset synced ${gaps} changes { id type object { id } resourceVersion } }`,
      )
      const logs = followedBeside(
        both,
        `podLogs(clusters: ["*"], where: { name: { eq: "stays" } }, tailLines: 60) { lines { cluster pod container time text } streams { cluster pod container state } skipped notFollowed ${gaps} }`,
      )
      const check = async (): Promise<void> => {
        for (const live of Object.values(lives)) await areSame(live)
        await expect
          .poll(() => {
            const [merged, expected] = [toldBy(past.shared), toldBy(past.whole)]
            return {
              lacking: expected.filter((one) => !merged.includes(one)),
              further: merged.filter((one) => !expected.includes(one)),
            }
          }, wait)
          .toEqual({ lacking: [], further: [] })
        await areSameLines(logs)
      }
      await check()
      // What changes before an archive has its first list is no change to it.
      await expect
        .poll(() => {
          for (const [at, { storage }] of simulators.entries()) {
            const labels = { is: 'done', change: String((made += 1)) }
            changePod(storage, 'done', done, { uid: `done-${names[at]}`, labels })
          }
          return [past.shared, past.whole].map(
            (one) => new Set(changesOf(one).map(({ object }) => object.id)).size,
          )
        }, wait)
        .toEqual([names.length, names.length])
      write(40)
      await check()
      const leaving = last![Symbol.asyncDispose]()
      write(30)
      await leaving
      write(10)
      await check()
      await serve()
      for (let at = 0; at < 20; at++) {
        write(2)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      await check()
      let killed = await startProgram()
      const here = { ...asked!, address: new URL(asked!.url).origin }
      // Hashing may give it nothing: then another one is started, at another address.
      while (heldAt(killed, await agreedHolders([here, killed])).length === 0) {
        await killed[Symbol.asyncDispose]()
        killed = await startProgram()
      }
      await check()
      killed.program.signal('SIGKILL')
      write(30)
      await check()
      for (const live of Object.values(lives)) {
        expect(live.shared.frames.filter(({ reset }) => reset).length).toBeLessThan(2)
      }
      const changes = changesOf(past.shared)
      expect(new Set(changes.map(({ id }: Fields) => id)).size).toBe(changes.length)
      for (const live of [...Object.values(lives), past, logs]) live.leave()
      await expect.poll(() => asked!.gateway.planned.liveState().heldBytes, wait).toBe(0)
    }, 600_000)

    it('a page of logs has the same lines', async () => {
      const query = `{ podLogs(clusters: ["*"], labelSelector: "is=done", tailLines: 7) {
        lines { cluster namespace pod container time text truncated fields }
        streams { cluster pod container state reason message } skipped notFollowed ${gaps} } }`
      const [asked] = gateways
      const expected = await whole.data(query)
      expect(expected.podLogs.lines).toHaveLength(7 * names.length)
      const { podLogs } = await asked!.data(query)
      const byText = (rows: readonly Fields[]): readonly string[] =>
        rows.map((one) => JSON.stringify(one)).toSorted()
      expect(byText(podLogs.lines)).toEqual(byText(expected.podLogs.lines))
      expect(podLogs.lines.map(({ time }: Fields) => time)).toEqual(
        expected.podLogs.lines.map(({ time }: Fields) => time),
      )
      expect({ ...podLogs, lines: [], streams: byText(podLogs.streams) }).toEqual({
        ...expected.podLogs,
        lines: [],
        streams: byText(expected.podLogs.streams),
      })
    })
  },
)

const changesOf = ({ frames }: Followed): readonly Fields[] =>
  frames.slice(frames.findLastIndex(({ reset }) => reset)).flatMap(({ changes }) => changes)

/** The newest change of each object. Of several within a moment, or while a cluster moves, an archive may have the last one only. */
const toldBy = (followed: Followed): readonly string[] => {
  const byObject = Map.groupBy(changesOf(followed), ({ object }) => object.id)
  const last = Array.from(byObject.values(), (all) => {
    const [newest] = all.toSorted((a, b) => b.resourceVersion - a.resourceVersion)
    return `${newest.object.id} ${newest.resourceVersion} ${newest.type}`
  })
  return [...last, ...(followed.ended() ?? [])]
}

/** Waits until a stream has, between its first and last lines, each line of the other one, once. */
const areSameLines = async ({ shared, whole }: FollowedBeside): Promise<void> => {
  const linesOf = (frames: readonly Fields[]): ReadonlyMap<string, readonly string[]> =>
    new Map(
      [
        ...Map.groupBy(
          frames.flatMap(({ lines }) => lines),
          ({ cluster, pod, container }: Fields) => `${cluster}/${pod}/${container}`,
        ),
      ].map(([name, lines]) => [name, lines.map(({ time, text }) => `${time} ${text}`)]),
    )
  const begun = new Date().toISOString()
  await expect
    .poll(() => {
      const [one, other] = [linesOf(shared.frames), linesOf(whole.frames)]
      return names.flatMap((name) => {
        const [a = [], b = []] = [one.get(`${name}/stays/app`), other.get(`${name}/stays/app`)]
        const [from = '', to = ''] = [
          [a[0] ?? '', b[0] ?? ''].toSorted().at(-1),
          [a.at(-1) ?? '', b.at(-1) ?? ''].toSorted()[0],
        ]
        if (to < begun) return [`${name}: no lines since ${begun}`]
        const within = (lines: readonly string[]): string =>
          lines.filter((line) => line >= from && line <= to).join('\n')
        return within(a) === within(b) ? [] : [`${name}: ${a.length} of ${b.length} lines`]
      })
    }, wait)
    .toEqual([])
}
