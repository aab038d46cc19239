import { FrameFold } from 'informerql/client'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const wait = { timeout: 60_000, interval: 20 }

const problem =
  'id cluster kind reason severity count object { namespace name } lastEvent { reason }'
const pods = '/api/v1/namespaces/live/pods'

const broken = (reason: string): Fields => ({
  phase: 'Pending',
  conditions: [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Ready', status: 'False', lastTransitionTime: new Date().toISOString() },
  ],
  containerStatuses: [
    {
      name: 'main',
      image: 'a',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason } },
    },
  ],
})

const running = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: null,
}

/** Folds a subscription to problems, as clients do. */
class Follower {
  readonly fold: FrameFold<Fields> = new FrameFold<Fields>()
  readonly frames: Fields[] = []
  readonly errors: string[] = []
  readonly leave: () => Promise<void>

  constructor(gateway: Pick<ServedGateway, 'connect'>, args: string) {
    const client = gateway.connect()
    const stream = client.iterate<Fields>({
      query: `subscription { problems(${args}) { reset synced totalCount counts { count }
        incomplete { cluster code } changes { type removal objectId object { ${problem} } } } }`,
    })
    this.leave = async () => {
      await stream.return?.()
      await client.dispose()
    }
    void (async () => {
      for await (const { data, errors } of stream) {
        for (const { extensions } of errors ?? []) this.errors.push(String(extensions?.['code']))
        if (data?.['problems'] === undefined) continue
        this.frames.push(data['problems'])
        this.fold.apply(data['problems'])
      }
    })().catch((error: unknown) => this.errors.push(String(error)))
  }

  get rows(): readonly Fields[] {
    return [...this.fold.objects.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

describe('a live list of problems', () => {
  let simulators: readonly [Simulator, Simulator]
  let gateway: ServedGateway

  const asked = async (args: string): Promise<readonly Fields[]> => {
    const { problems } = await gateway.data(`{ problems(${args}) { nodes { ${problem} } } }`)
    return problems.nodes.toSorted((a: Fields, b: Fields) => (a.id < b.id ? -1 : 1))
  }

  beforeAll(async () => {
    const start = (seed: string): Promise<Simulator> =>
      startSimulator({ bookmarkIntervalMs: 0, populate: company({ pods: 60, seed }) })
    simulators = [await start('live one'), await start('live two')]
    for (const one of simulators)
      await created(one, '/api/v1/namespaces', { metadata: { name: 'live' } })
    gateway = await serveGateway({
      clusters: simulators.map(({ url }, at) => ({ name: at === 0 ? 'one' : 'two', server: url })),
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const one of simulators) await one[Symbol.asyncDispose]()
  })

  const container = { name: 'main', image: 'a' }
  const make = (name: string, at = 0): Promise<Fields> =>
    created(simulators[at] as Simulator, pods, {
      metadata: { name },
      spec: { containers: [container] },
    })
  const tell = (name: string, status: Fields, at = 0): Promise<Fields> =>
    sent(simulators[at] as Simulator, 'PATCH', `${pods}/${name}/status`, { status })
  const drop = (name: string, at = 0): Promise<Fields> =>
    sent(simulators[at] as Simulator, 'DELETE', `${pods}/${name}`)

  it('has what the query has, then each problem as it comes, changes and goes', async () => {
    const args = 'clusters: ["*"], first: 500, coalesceMs: 0'
    // Once all kinds are there, the first frame has all.
    const gaps = async (): Promise<unknown> => {
      const { problems } = await gateway.data(
        '{ problems(clusters: ["*"]) { incomplete { cluster type code } } }',
      )
      return problems.incomplete
    }
    await expect.poll(gaps, wait).toEqual([])
    const follower = new Follower(gateway, args)
    await expect.poll(() => follower.fold.synced, wait).toBe(true)
    expect(follower.rows).toEqual(await asked('clusters: ["*"], first: 500'))
    expect(follower.frames).toHaveLength(1)
    expect(follower.frames[0]).toMatchObject({ reset: true, incomplete: [] })

    await make('sick')
    await tell('sick', broken('ImagePullBackOff'))
    const sick = (): Fields => follower.rows.find(({ object }) => object.name === 'sick')
    await expect.poll(sick, wait).toMatchObject({ cluster: 'one', reason: 'ImagePullBackOff' })
    await tell('sick', broken('ErrImageNeverPull'))
    await expect.poll(() => sick()?.['reason'], wait).toBe('ErrImageNeverPull')
    await tell('sick', running)
    await expect.poll(sick, wait).toBeUndefined()
    await make('other', 1)
    await tell('other', broken('ImagePullBackOff'), 1)
    await expect
      .poll(() => follower.rows.find(({ object }) => object.name === 'other')?.['cluster'], wait)
      .toBe('two')
    await drop('other', 1)
    await drop('sick')
    await expect
      .poll(() => follower.rows.some(({ object }) => object.namespace === 'live'), wait)
      .toBe(false)
    expect(follower.rows).toEqual(await asked('clusters: ["*"], first: 500'))
    expect(follower.frames.filter(({ reset }) => reset)).toHaveLength(1)
    expect(follower.errors).toEqual([])
    await follower.leave()
  })

  it('does not send a frame for changes that are no problem', async () => {
    const follower = new Follower(gateway, 'namespace: "live", coalesceMs: 0')
    await expect.poll(() => follower.fold.synced, wait).toBe(true)
    await make('fine')
    await tell('fine', running)
    await make('marker')
    await tell('marker', broken('InvalidImageName'))
    await expect.poll(() => follower.rows.length, wait).toBe(1)
    expect(follower.frames).toHaveLength(2)
    await drop('fine')
    await drop('marker')
    await expect.poll(() => follower.rows.length, wait).toBe(0)
    await follower.leave()
  })

  it('keeps the first ones in the order, and counts all', async () => {
    const args = 'orderBy: [{ count: DESC }], first: 2'
    const follower = new Follower(gateway, args)
    await expect.poll(() => follower.fold.synced, wait).toBe(true)
    expect(follower.rows).toEqual(await asked(args))
    const { problems } = await gateway.data('{ problems(first: 0) { totalCount } }')
    expect(follower.frames[0].totalCount).toBe(problems.totalCount)
    await follower.leave()
  })

  it('tells of a cluster that cannot be reached, keeps its problems, and takes it back', async () => {
    const follower = new Follower(gateway, 'clusters: ["*"], first: 500')
    await expect.poll(() => follower.fold.synced, wait).toBe(true)
    const before = follower.rows
    const [, two] = simulators
    two.faults.inject({ fault: { type: 'refuse-connections', forMs: 4_000 } })
    two.faults.inject({ fault: { type: 'drop-connections' } })
    const gaps = (): readonly string[] => [
      ...new Set<string>(
        follower.frames.at(-1)?.incomplete.map(({ cluster, code }: Fields) => `${cluster} ${code}`),
      ),
    ]
    await expect.poll(gaps, wait).toEqual(['two CLUSTER_UNREACHABLE'])
    const lost = (): readonly Fields[] => follower.rows.filter(({ kind }) => kind === 'Cluster')
    await expect
      .poll(lost, wait)
      .toMatchObject([{ cluster: 'two', reason: 'ClusterUnreachable', object: { name: 'two' } }])
    const others = follower.rows.filter(({ kind }) => kind !== 'Cluster')
    expect(others.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    await expect.poll(gaps, wait).toEqual([])
    await expect.poll(lost, wait).toEqual([])
    await follower.leave()
  })

  it('becomes a problem when its time has come, without a change', async () => {
    const server = simulators[0].url
    await using soon = await serveGateway({
      clusters: [{ name: 'one', server }],
      limits: { problemAfterMs: 3_000 },
    })
    const follower = new Follower(soon, 'namespace: "live"')
    await expect.poll(() => follower.fold.synced, wait).toBe(true)
    await make('slow')
    await tell('slow', {
      phase: 'Running',
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'ContainersNotReady',
          lastTransitionTime: new Date().toISOString(),
        },
      ],
    })
    await expect.poll(() => follower.rows[0]?.['reason'], wait).toBe('ContainersNotReady')
    await drop('slow')
    await expect.poll(() => follower.rows, wait).toEqual([])
    await follower.leave()
  })

  it.each([
    ['first: 501', 'first'],
    ['types: ["Nothing"]', 'types'],
    ['clusters: ["nowhere"]', 'clusters'],
    ['coalesceMs: -1', 'coalesceMs'],
  ])('refuses what is wrong by name: %s', async (args, argument) => {
    const follower = new Follower(gateway, args)
    await expect.poll(() => follower.errors.length, wait).toBe(1)
    expect(follower.errors[0]).toContain('BAD_USER_INPUT')
    expect(follower.frames).toEqual([])
    expect(argument).toBeDefined()
    await follower.leave()
  })
})
