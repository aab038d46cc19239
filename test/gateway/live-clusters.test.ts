import { FrameFold } from 'informerql/client'
import { afterEach, describe, expect, it } from 'vitest'
import { type GatewayCaller, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { created } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { FleetCluster, path } from './fleet-cluster.ts'
import { appliedSteps, type HeldPage } from './followed-page.ts'
import type { Fields } from './test-cluster.ts'

const wait = { timeout: 60_000, interval: 50 }
const shown = 'id clusterName name json(path: "data.value")'

interface Live {
  readonly frames: Fields[]
  readonly errors: Fields[]
  readonly fold: FrameFold<Fields>
  /** `CLUSTER CODE` of the present gaps, sorted. */
  readonly gaps: () => readonly string[]
  readonly rows: () => readonly string[]
  readonly ended: () => unknown
  readonly leave: () => void
}

const rowText = ({ clusterName, name, json }: Fields): string => `${clusterName}/${name}=${json}`

const sorted = (texts: Iterable<string>): readonly string[] =>
  [...texts].toSorted((a, b) => (a < b ? -1 : 1))

/** Follows `configMaps` with these arguments. */
const followed = (
  caller: GatewayCaller,
  args: string,
  {
    resumeFrom,
    fold = new FrameFold<Fields>(),
  }: { resumeFrom?: string; fold?: FrameFold<Fields> } = {},
): Live => {
  const frames: Fields[] = []
  const errors: Fields[] = []
  let ended: unknown
  const query = `subscription ($resumeFrom: String) {
    configMaps(${args}, namespace: "default", coalesceMs: 10, resumeFrom: $resumeFrom) {
      reset synced resumeToken
      incomplete { cluster type code message since }
      changes { type removal objectId object { ${shown} } }
    }
  }`
  const leave = caller.connect().subscribe<Fields>(
    { query, variables: { resumeFrom } },
    {
      next: ({ data, errors: ofFrame }) => {
        errors.push(...((ofFrame as Fields[] | undefined) ?? []))
        if (data == null) return
        frames.push(data.configMaps)
        fold.apply(data.configMaps)
      },
      error: (error) => {
        ended = error
      },
      complete: () => {
        ended ??= 'completed'
      },
    },
  )
  return {
    frames,
    errors,
    fold,
    leave,
    gaps: () =>
      sorted(
        (frames.at(-1)?.incomplete ?? []).map(({ cluster, code }: Fields) => `${cluster} ${code}`),
      ),
    rows: () => sorted(Array.from(fold.objects.values(), rowText)),
    ended: () => ended,
  }
}

describe('a subscription over clusters', () => {
  const clusters: FleetCluster[] = []
  let gateway: ServedGateway
  const at = (position: number): FleetCluster => {
    const found = clusters[position]
    if (found === undefined) throw new Error(`there is no cluster ${position}`)
    return found
  }
  const serve = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number += 1) {
      clusters.push(await FleetCluster.start(`c${number}`, { tier: number < 2 ? 'gold' : 'iron' }))
    }
    gateway = await serveGateway({
      clusters: clusters.map(({ selection }) => selection),
      retryMs: 200,
      limits: { syncDeadlineMs: 3_000 },
    })
  }
  const configure = (kept: readonly FleetCluster[]): Promise<void> =>
    gateway.gateway.configureClusters(kept.map(({ selection }) => selection))
  const fresh = async (args: string): Promise<readonly string[]> => {
    const { data } = await gateway.query(
      `{ configMaps(${args}, namespace: "default", first: 500) { nodes { ${shown} } } }`,
    )
    return sorted(data.configMaps.nodes.map(rowText))
  }

  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const cluster of clusters.splice(0)) {
      await cluster[Symbol.asyncDispose]()
    }
  })

  it('brings the objects of all in one snapshot, then their changes, to all who ask the same', async () => {
    await serve(3)
    for (const cluster of clusters) await cluster.make('one')
    const all = followed(gateway, 'clusters: ["*"]')
    const same = followed(gateway, 'clusters: ["*"]')
    const some = followed(gateway, 'clusterSelector: "tier=gold"')
    await expect
      .poll(() => all.fold.synced && same.fold.synced && some.fold.synced, wait)
      .toBe(true)
    expect(all.rows()).toEqual(['c0/one=new', 'c1/one=new', 'c2/one=new'])
    expect(some.rows()).toEqual(['c0/one=new', 'c1/one=new'])
    expect(all.gaps()).toEqual([])
    expect(gateway.gateway.planned.liveState()).toMatchObject({ groups: 2, members: 3 })
    await at(2).change('one', 'changed')
    await at(0).remove('one')
    await expect.poll(all.rows, wait).toEqual(['c1/one=new', 'c2/one=changed'])
    await expect.poll(some.rows, wait).toEqual(['c1/one=new'])
    expect(all.errors).toEqual([])
  })

  it('says which cluster cannot be reached, keeps its rows, goes on with the others, and takes the gap back', async () => {
    await serve(3)
    for (const cluster of clusters) await cluster.make('one')
    const live = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => live.fold.synced, wait).toBe(true)
    await at(1).proxy.refuse()
    await expect.poll(live.gaps, wait).toEqual(['c1 CLUSTER_UNREACHABLE'])
    expect(live.errors).toMatchObject([
      { path: ['configMaps'], extensions: { code: 'CLUSTER_UNREACHABLE', cluster: 'c1' } },
    ])
    await at(1).change('one', 'meanwhile')
    await at(0).change('one', 'seen')
    await at(2).make('two')
    await expect
      .poll(live.rows, wait)
      .toEqual(['c0/one=seen', 'c1/one=new', 'c2/one=new', 'c2/two=new'])
    const late = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => late.fold.synced, wait).toBe(true)
    expect(late.rows()).toEqual(live.rows())
    expect(late.gaps()).toEqual(['c1 CLUSTER_UNREACHABLE'])
    expect(late.errors).toHaveLength(1)
    await at(1).proxy.listen()
    await expect.poll(live.gaps, wait).toEqual([])
    await expect.poll(live.rows, wait).toContain('c1/one=meanwhile')
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    expect(live.errors).toHaveLength(1)
  })

  it('begins without a cluster that cannot be reached, and adds its rows when it can', async () => {
    await serve(2)
    await at(0).make('one')
    await at(1).make('one')
    await at(1).proxy.refuse()
    await expect
      .poll(async () => (await gateway.query('{ gatewayClusters { name state } }')).data, wait)
      .toBeTruthy()
    const live = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => live.fold.synced, wait).toBe(true)
    expect(live.rows()).toEqual(['c0/one=new'])
    expect(live.gaps()).toHaveLength(1)
    await at(1).proxy.listen()
    await expect.poll(live.rows, wait).toEqual(['c0/one=new', 'c1/one=new'])
    await expect.poll(live.gaps, wait).toEqual([])
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
  })

  it('names the clusters that do not serve the kind, without an error', async () => {
    await serve(2)
    const gears = definitionOf('Gear', 'live.example.com', [
      versionOf('v1', { teeth: { type: 'integer' } }),
    ])
    await created(at(0).simulator, definitionsPath, gears)
    await expect
      .poll(
        async () => (await gateway.query('{ liveExampleComGears { totalCount } }')).errors,
        wait,
      )
      .toBeUndefined()
    const frames: Fields[] = []
    gateway.connect().subscribe<Fields>(
      {
        query: `subscription { gears: liveExampleComGears(clusters: ["*"], coalesceMs: 0) {
          synced incomplete { cluster type code since } changes { object { clusterName name } }
        } }`,
      },
      { next: (frame) => void frames.push(frame), error: () => {}, complete: () => {} },
    )
    await expect.poll(() => frames.at(-1)?.data?.gears.synced, wait).toBe(true)
    expect(frames.at(-1)).toEqual({
      data: {
        gears: {
          synced: true,
          incomplete: [
            { cluster: 'c1', type: 'LiveExampleComGear', code: 'NOT_SERVED', since: null },
          ],
          changes: [],
        },
      },
    })
  })

  it('replaces the rows of a cluster that is made anew, and no other ones', async () => {
    await serve(2)
    await at(0).make('one')
    await at(1).make('old')
    const live = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => live.fold.synced, wait).toBe(true)
    await at(1).makeAnew()
    await at(1).make('other')
    await expect.poll(live.rows, wait).toEqual(['c0/one=new', 'c1/other=new'])
    await expect.poll(live.gaps, wait).toEqual([])
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    expect(
      live.frames
        .flatMap(({ changes }) => changes)
        .filter(({ objectId, type }) => type === 'REMOVED' && objectId),
    ).toHaveLength(1)
    await at(1).change('other', 'changed')
    await expect.poll(live.rows, wait).toEqual(['c0/one=new', 'c1/other=changed'])
  })

  it('removes the rows of a cluster that leaves the fleet as CLUSTER_REMOVED, and adds those of one that joins', async () => {
    await serve(3)
    for (const cluster of clusters) await cluster.make('one')
    const live = followed(gateway, 'clusters: ["*"]')
    const gold = followed(gateway, 'clusterSelector: "tier=gold"')
    await expect.poll(() => live.fold.synced && gold.fold.synced, wait).toBe(true)
    await configure([at(0), at(1)])
    await expect.poll(live.rows, wait).toEqual(['c0/one=new', 'c1/one=new'])
    expect(live.frames.at(-1)?.changes).toMatchObject([
      { type: 'REMOVED', removal: 'CLUSTER_REMOVED', object: { clusterName: 'c2' } },
    ])
    expect(live.gaps()).toEqual([])
    await at(0).change('one', 'after')
    await expect.poll(live.rows, wait).toEqual(['c0/one=after', 'c1/one=new'])
    const joining = await FleetCluster.start('c9', { tier: 'gold' })
    clusters.push(joining)
    await joining.make('one')
    await configure([at(0), at(1), joining])
    await expect.poll(live.rows, wait).toEqual(['c0/one=after', 'c1/one=new', 'c9/one=new'])
    await expect.poll(gold.rows, wait).toEqual(['c0/one=after', 'c1/one=new', 'c9/one=new'])
    // Another frame says that the gap is gone.
    expect(live.frames.findLast(({ changes }) => changes.length > 0)?.changes).toMatchObject([
      { type: 'ADDED', object: { clusterName: 'c9' } },
    ])
    const late = followed(gateway, 'clusters: ["*"]')
    await expect.poll(late.rows, wait).toEqual(live.rows())
    late.leave()
    for (const one of [live, gold]) {
      expect(one.frames.filter(({ reset }) => reset)).toHaveLength(1)
    }
    await expect.poll(() => [live.gaps(), gold.gaps()], wait).toEqual([[], []])
    await configure([joining])
    await expect.poll(live.rows, wait).toEqual(['c9/one=new'])
    await joining.change('one', 'alone')
    await expect.poll(gold.rows, wait).toEqual(['c9/one=alone'])
    expect([live.ended(), gold.ended()]).toEqual([undefined, undefined])
  })

  it('tells of a cluster that joins and cannot be reached yet, then adds its rows, and goes on by its token', async () => {
    await serve(2)
    for (const cluster of clusters) await cluster.make('one')
    const live = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => live.fold.synced, wait).toBe(true)
    // Before the others in the order of the names.
    const joining = await FleetCluster.start('a0')
    clusters.push(joining)
    await joining.make('one')
    await joining.proxy.refuse()
    await configure([at(0), at(1), joining])
    await expect.poll(live.gaps, wait).toEqual(['a0 CLUSTER_UNREACHABLE'])
    await at(0).change('one', 'meanwhile')
    await expect.poll(live.rows, wait).toEqual(['c0/one=meanwhile', 'c1/one=new'])
    await joining.proxy.listen()
    await expect.poll(live.rows, wait).toEqual(['a0/one=new', 'c0/one=meanwhile', 'c1/one=new'])
    await expect.poll(live.gaps, wait).toEqual([])
    live.leave()
    await at(1).change('one', 'missed')
    const again = followed(gateway, 'clusters: ["*"]', {
      fold: live.fold,
      resumeFrom: live.frames.at(-1)?.resumeToken,
    })
    await expect.poll(again.rows, wait).toEqual(['a0/one=new', 'c0/one=meanwhile', 'c1/one=missed'])
    expect(again.frames.some(({ reset }) => reset)).toBe(false)
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    await configure([at(1), joining])
    await expect.poll(again.rows, wait).toEqual(['a0/one=new', 'c1/one=missed'])
    again.leave()
    await joining.change('one', 'later')
    const third = followed(gateway, 'clusters: ["*"]', {
      fold: again.fold,
      resumeFrom: again.frames.at(-1)?.resumeToken,
    })
    await expect.poll(third.rows, wait).toEqual(['a0/one=later', 'c1/one=missed'])
    expect(third.frames.some(({ reset }) => reset)).toBe(false)
  })

  it(`is a fresh list whenever it is quiet, whatever happens to one of five (SEED=${runSeed})`, async () => {
    await serve(5)
    const random = seededRandom(runSeed)
    const args = 'clusters: ["*"]'
    const objects = new Map<FleetCluster, Set<string>>(clusters.map((one) => [one, new Set()]))
    let writes = 0
    const write = async (cluster: FleetCluster): Promise<void> => {
      const held = objects.get(cluster) ?? new Set()
      const names = [...held]
      const some = names[Math.floor(random() * names.length)]
      writes += 1
      if (some === undefined || random() < 0.4) {
        await cluster.make(`m${writes}`, `v${writes}`)
        held.add(`m${writes}`)
      } else if (random() < 0.7) await cluster.change(some, `v${writes}`)
      else {
        await cluster.remove(some)
        held.delete(some)
      }
    }
    const burst = async (count: number): Promise<void> => {
      for (let number = 0; number < count; number += 1) {
        const cluster = at(Math.floor(random() * clusters.length))
        await write(cluster)
      }
    }
    await burst(60)
    const live = followed(gateway, args)
    await expect.poll(() => live.fold.synced, wait).toBe(true)
    const isQuiet = async (): Promise<void> => {
      await expect
        .poll(async () => String(live.rows()) === String(await fresh(args)), wait)
        .toBe(true)
    }
    const whole = (): readonly string[] =>
      sorted([...objects].flatMap(([{ name }, held]) => [...held].map((one) => `${name}/${one}`)))
    const names = (): readonly string[] => sorted(live.rows().map((row) => row.split('=')[0] ?? ''))
    await isQuiet()
    const faults: readonly ((victim: FleetCluster) => Promise<void>)[] = [
      async (victim) => {
        await victim.proxy.refuse()
        await burst(20)
        await expect.poll(live.gaps, wait).toEqual([`${victim.name} CLUSTER_UNREACHABLE`])
        await isQuiet()
        await victim.proxy.listen()
      },
      async (victim) => {
        victim.proxy.cut()
        await burst(20)
      },
      async (victim) => {
        victim.proxy.hang()
        await burst(20)
        victim.proxy.flow()
      },
      async (victim) => {
        await burst(10)
        await victim.makeAnew()
        objects.set(victim, new Set())
        await burst(10)
      },
      async (victim) => {
        await configure(clusters.filter((one) => one !== victim))
        await burst(10)
        const others = (): readonly string[] =>
          whole().filter((name) => !name.startsWith(`${victim.name}/`))
        await expect.poll(names, wait).toEqual(others())
        await configure(clusters)
        await burst(10)
      },
    ]
    for (const fault of [...faults, ...faults].toSorted(() => random() - 0.5)) {
      const victim = at(Math.floor(random() * clusters.length))
      await fault(victim)
      await expect.poll(names, wait).toEqual(whole())
      await expect.poll(live.gaps, wait).toEqual([])
      await isQuiet()
      expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    }
    await configure(clusters.slice(0, 4))
    objects.delete(at(4))
    await expect.poll(names, wait).toEqual(whole())
    await isQuiet()
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    expect(live.ended()).toBeUndefined()
  })

  it('goes on by its token, also while a cluster is away, and begins anew where one was made anew', async () => {
    await serve(3)
    for (const cluster of clusters) await cluster.make('one')
    const first = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => first.fold.synced, wait).toBe(true)
    first.leave()
    await at(0).change('one', 'missed')
    await at(2).remove('one')
    const second = followed(gateway, 'clusters: ["*"]', {
      fold: first.fold,
      resumeFrom: first.frames.at(-1)?.resumeToken,
    })
    await expect.poll(second.rows, wait).toEqual(['c0/one=missed', 'c1/one=new'])
    expect(second.frames.some(({ reset }) => reset)).toBe(false)
    await at(1).proxy.refuse()
    await expect.poll(second.gaps, wait).toEqual(['c1 CLUSTER_UNREACHABLE'])
    second.leave()
    await at(0).change('one', 'again')
    const third = followed(gateway, 'clusters: ["*"]', {
      fold: second.fold,
      resumeFrom: second.frames.at(-1)?.resumeToken,
    })
    await expect.poll(third.rows, wait).toEqual(['c0/one=again', 'c1/one=new'])
    expect(third.frames.some(({ reset }) => reset)).toBe(false)
    await expect.poll(third.gaps, wait).toEqual(['c1 CLUSTER_UNREACHABLE'])
    third.leave()
    await at(1).proxy.listen()
    await at(1).makeAnew()
    await at(1).make('other')
    await expect
      .poll(() => fresh('clusters: ["*"]'), wait)
      .toEqual(['c0/one=again', 'c1/other=new'])
    const fourth = followed(gateway, 'clusters: ["*"]', {
      fold: third.fold,
      resumeFrom: third.frames.at(-1)?.resumeToken,
    })
    await expect.poll(fourth.rows, wait).toEqual(['c0/one=again', 'c1/other=new'])
    expect(fourth.frames[0]?.reset).toBe(true)
  })

  it('begins anew where a cluster that was made anew has reached the same version, while its identity is not known yet', async () => {
    await serve(2)
    await at(1).make('one')
    const first = followed(gateway, 'clusters: ["*"]')
    await expect.poll(() => first.fold.synced, wait).toBe(true)
    first.leave()
    await at(1).makeAnew(async (simulator) => {
      await created(simulator, path, { metadata: { name: 'other' }, data: { value: 'new' } })
      simulator.faults.inject({
        fault: { type: 'status', code: 503 },
        match: { resource: 'namespaces', verb: 'get' },
        times: 3,
      })
    })
    await expect.poll(() => fresh('clusters: ["*"]'), wait).toEqual(['c1/other=new'])
    const again = followed(gateway, 'clusters: ["*"]', {
      fold: first.fold,
      resumeFrom: first.frames.at(-1)?.resumeToken,
    })
    await expect.poll(again.rows, wait).toEqual(['c1/other=new'])
    expect(again.frames[0]?.reset).toBe(true)
  })

  it('follows none where no cluster is selected, until one is', async () => {
    await serve(1)
    await at(0).make('one')
    const live = followed(gateway, 'clusterSelector: "tier=platinum"')
    await expect.poll(() => live.fold.synced, wait).toBe(true)
    expect(live.rows()).toEqual([])
    const joining = await FleetCluster.start('c9', { tier: 'platinum' })
    clusters.push(joining)
    await joining.make('one')
    await configure([at(0), joining])
    await expect.poll(live.rows, wait).toEqual(['c9/one=new'])
  })

  it('is a page of all clusters, in order, with ties by cluster, whatever happens to one', async () => {
    await serve(3)
    const random = seededRandom(runSeed)
    for (const cluster of clusters) {
      for (let number = 0; number < 12; number += 1) {
        await cluster.make(`m${number}`, `v${number}`)
      }
    }
    const field =
      'configMapsPage(clusters: ["*"], namespace: "default", first: 10, orderBy: [{ name: DESC }]'
    let held: HeldPage = { rows: [], totalCount: -1 }
    const problems: string[] = []
    const frames: Fields[] = []
    gateway.connect().subscribe<Fields>(
      {
        query: `subscription { page: ${field}, coalesceMs: 0) {
          reset synced totalCount incomplete { cluster code }
          changes { step index from objectId object { ${shown} } }
        } }`,
      },
      {
        next: ({ data }) => {
          if (data == null) return
          frames.push(data.page)
          held = appliedSteps(held, data.page, (text) => problems.push(text))
        },
        error: (error) => void problems.push(JSON.stringify(error)),
        complete: () => void problems.push('completed'),
      },
    )
    const freshPage = async (): Promise<string> => {
      const { data } = await gateway.query(
        `{ configMaps(clusters: ["*"], namespace: "default", first: 10, orderBy: [{ name: DESC }]) { totalCount nodes { ${shown} } } }`,
      )
      return JSON.stringify([data.configMaps.totalCount, data.configMaps.nodes.map(rowText)])
    }
    const heldPage = (): string => JSON.stringify([held.totalCount, held.rows.map(rowText)])
    const isQuiet = async (): Promise<void> => {
      await expect
        .poll(async () => [heldPage(), await freshPage()], wait)
        .toSatisfy(([live, queried]) => live === queried)
    }
    await isQuiet()
    const write = async (): Promise<void> => {
      const cluster = at(Math.floor(random() * clusters.length))
      const name = `m${Math.floor(random() * 12)}`
      const { status } = await fetch(new URL(`${path}/${name}`, cluster.simulator.url))
      if (status === 404) await cluster.make(name, 'again')
      else if (random() < 0.5) await cluster.remove(name)
      else await cluster.change(name, `r${Math.floor(random() * 1_000)}`)
    }
    const burst = async (): Promise<void> => {
      for (let count = 0; count < 25; count += 1) {
        await write()
      }
      await isQuiet()
    }
    await burst()
    await at(1).proxy.refuse()
    await expect.poll(() => frames.at(-1)?.incomplete, wait).toMatchObject([{ cluster: 'c1' }])
    await burst()
    await at(1).proxy.listen()
    await expect.poll(() => frames.at(-1)?.incomplete, wait).toEqual([])
    await at(1).makeAnew()
    await at(1).make('m99')
    await expect.poll(() => held.rows[0]?.name, wait).toBe('m99')
    await burst()
    await isQuiet()
    await configure([at(0), at(2)])
    await isQuiet()
    expect(held.rows.some(({ clusterName }) => clusterName === 'c1')).toBe(false)
    await configure(clusters)
    await isQuiet()
    await burst()
    expect(held.rows.some(({ clusterName }) => clusterName === 'c1')).toBe(true)
    expect(problems).toEqual([])
    expect(frames.filter(({ reset }) => reset)).toHaveLength(1)
  })
})
