import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayOptions } from 'informerql'
import { resume, type Resumed } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'
import { hasHeard } from './followed-rbac.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const wait = { timeout: 60_000 }

let world: SmallWorld
let counted: CountedServer
/** What reviews about the node `worker` wait for. */
let unanswered = Promise.withResolvers<void>()
unanswered.resolve()
/** All that has been asked. */
const asked: string[] = []
const timesAsked = (about: string): number => asked.filter((body) => body.includes(about)).length
const opened: ViewedGateway[] = []
let users = 0

beforeAll(async () => {
  world = await startSmallWorld(async (url) => {
    counted = await startCountedServer(url, (_, body) => {
      asked.push(body)
      return body.includes('"name":"worker"') ? unanswered.promise : undefined
    })
    return counted.url
  })
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})
afterAll(async () => {
  await counted[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const serve = async (options: Omit<GatewayOptions, 'clusters'>): Promise<ViewedGateway> => {
  const served = await serveViewers({ clusters: [world.selection], ...options })
  opened.push(served)
  return served
}
const person = (): Caller => caller(`reviewed-${(users += 1)}`)

/** Follows pods. The codes of the errors in each frame, and of the errors that end it. */
const codesOf = (served: ViewedGateway, who: Caller, selection: string): readonly string[] => {
  const codes: string[] = []
  const note = (errors: readonly Fields[] = []): void => {
    codes.push(errors.map(({ extensions }): string => extensions.code).join())
  }
  const query = `subscription { pods(coalesceMs: 10) { changes { object { ${selection} } } } }`
  served.connect(who).subscribe(
    { query },
    {
      next: ({ errors }) => note(errors),
      error: (errors) => note(errors as Fields[]),
      complete() {},
    },
  )
  return codes
}

describe('Subscribers whose related objects are refused', () => {
  it('get the reason that is true now, also where it was another one for those who came before', async () => {
    const [ann, ben] = [person(), person()]
    for (const { username } of [ann, ben]) {
      await world.allowEverywhere(username, username, [reads('', 'pods')])
    }
    const served = await serve({ access: { maxNamespaces: 8 } })
    const selection = 'services { totalCount }'
    const early = codesOf(served, ann, selection)
    await expect.poll(() => early, wait).toEqual(['FORBIDDEN,FORBIDDEN'])
    let version = ''
    for (let at = 0; at < 8; at += 1) {
      const { metadata } = await world.make('/api/v1/namespaces', { metadata: { name: `n-${at}` } })
      version = metadata.resourceVersion
    }
    await hasHeard(served, new Map([['namespaces', version]]))
    const late = codesOf(served, ben, selection)
    const both = 'RBAC_BUDGET_EXCEEDED,RBAC_BUDGET_EXCEEDED'
    await expect.poll(() => late, wait).toEqual([both])
    await expect.poll(() => early, wait).toEqual(['FORBIDDEN,FORBIDDEN', both])
    expect(served.gateway.planned.liveState()).toMatchObject({ groups: 1, members: 2 })
  })
})

describe('Subscribers whose permissions cannot be reviewed', () => {
  const selection = 'metadata { namespace } node { metadata { name } }'
  const field = { field: 'pods(coalesceMs: 10', selection }
  let served: ViewedGateway
  let ann: Caller
  beforeEach(async () => {
    ann = person()
    await world.allow('one', ann.username, ann.username, [reads('', 'pods')])
    served = await serve({ access: { reviewDeadlineMs: 1_000 } })
    await hasHeard(served, new Map())
  })
  afterEach(() => unanswered.resolve())

  it('are told so where they are new', async () => {
    unanswered = Promise.withResolvers()
    const codes = codesOf(served, ann, selection)
    await expect.poll(() => codes, wait).toEqual(['CLUSTER_UNREACHABLE'])
  })

  it('wait where they are to see more, and see it when the reviews are answered', async () => {
    const live = resume(served.connect(ann), field)
    await live.until((held) => held.size === 1)
    unanswered = Promise.withResolvers()
    const before = timesAsked('"worker"')
    await world.allowEverywhere(ann.username, ann.username, [reads('', 'pods')])
    await expect.poll(() => timesAsked('"worker"'), wait).toBeGreaterThan(before + 1)
    expect(live.held().size).toBe(1)
    unanswered.resolve()
    await live.until((held) => held.size === 2)
    live.leave()
  })
})

it('Nothing is asked about a subscriber who has left, also where they left while they were about to see more', async () => {
  const [ann, ben] = [person(), person()]
  const names = [ann.username, ben.username]
  const role = (name: string): string => `${rbac}/clusterroles/${name}`
  for (const name of names) await world.allow('one', name, name, [reads('', 'pods')])
  const shared = `${ann.username}-shared`
  await world.allowEverywhere(shared, ann.username, [reads('', 'events')])
  await world.patch(`${rbac}/clusterrolebindings/${shared}`, {
    subjects: names.map((name) => ({ apiGroup: group, kind: 'User', name })),
  })
  const served = await serve({})
  const selection = 'metadata { namespace } node { metadata { name } }'
  const [leaving, staying] = [ann, ben].map((who) =>
    resume(served.connect(who), { field: 'pods(coalesceMs: 10', selection }),
  ) as [Resumed, Resumed]
  for (const one of [leaving, staying]) await one.until((held) => held.size === 1)
  const members = () => served.gateway.planned.liveState().members
  counted.hold('/api/v1/nodes')
  const more = `${ann.username}-more`
  await world.allowEverywhere(more, ann.username, [reads('', 'nodes')])
  await expect.poll(counted.held, wait).toBe(1)
  const { metadata } = await world.patch(role(more), { rules: [] })
  await hasHeard(served, new Map([[`clusterroles.${group}`, metadata.resourceVersion]]))
  leaving.leave()
  await expect.poll(members, wait).toBe(1)
  counted.release()
  const askedAfterChange = async (): Promise<number> => {
    const [before, others] = names.map(timesAsked) as [number, number]
    const { metadata: changed } = await world.patch(role(shared), {
      metadata: { annotations: { asked: String(asked.length) } },
    })
    await hasHeard(served, new Map([[`clusterroles.${group}`, changed.resourceVersion]]))
    await expect.poll(() => timesAsked(ben.username), wait).toBeGreaterThan(others)
    return timesAsked(ann.username) - before
  }
  // The last of what was asked for the one who left may come after the first change.
  await expect.poll(askedAfterChange, wait).toBe(0)
  staying.leave()
})

it('What is allowed stays known as long as its answer, also where a list without a watch allows it', async () => {
  const [ann, ben] = [person(), person()]
  const listed = { ...reads('', 'pods'), verbs: ['list'] }
  const services = reads('', 'services')
  await world.allow('one', ann.username, ann.username, [services, reads('', 'pods')])
  await world.allow('two', ann.username, ann.username, [services, listed])
  await world.allow('one', ben.username, ben.username, [reads('', 'pods')])
  const served = await serve({ access: { allowMs: 3_600_000, denyMs: 500 } })
  // Another gateway tells the time: it asks about ben whenever a second has passed.
  const clock = await serve({ access: { allowMs: 500, denyMs: 500 } })
  await hasHeard(served, new Map())
  const field = 'services(where: { pods: { some: {} } }, coalesceMs: 10'
  const selection = 'metadata { namespace } pods { nodes { metadata { name } } }'
  const live = resume(served.connect(ann), { field, selection })
  await live.until((held) => held.size > 0)
  const ticking = codesOf(clock, ben, 'metadata { name }')
  await expect.poll(() => ticking, wait).not.toEqual([])
  const [before, ticks] = [timesAsked(ann.username), timesAsked(ben.username)]
  // List and watch, everywhere and in one namespace, three times.
  await expect.poll(() => timesAsked(ben.username), wait).toBeGreaterThanOrEqual(ticks + 3 * 4)
  expect(timesAsked(ann.username) - before).toBe(0)
  live.leave()
})
