import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const wait = { timeout: 60_000, interval: 50 }

let worlds: readonly [SmallWorld, SmallWorld]
let served: ViewedGateway

beforeAll(async () => {
  worlds = [await startSmallWorld(), await startSmallWorld()]
  served = await serveViewers({
    clusters: worlds.map(({ selection }, at) => ({ ...selection, name: `c${at}` })),
  })
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  for (const world of worlds) {
    await world[Symbol.asyncDispose]()
  }
})

interface Followed {
  readonly shown: () => readonly string[]
  readonly gaps: () => readonly string[]
  readonly failure: () => unknown
  readonly resets: () => number
}

const followed = (who: Caller, field = 'pods(clusters: ["*"]'): Followed => {
  let held = new Map<string, string>()
  let gaps: readonly Fields[] = []
  let failure: unknown
  let resets = 0
  served.connect(who).subscribe<Fields>(
    {
      query: `subscription { frame: ${field}, coalesceMs: 0) {
        reset incomplete { cluster code }
        changes { type objectId object { clusterName namespace } }
      } }`,
    },
    {
      next: ({ data, errors }) => {
        if (data == null) {
          failure = errors
          return
        }
        const { reset, changes, incomplete } = data.frame
        if (reset === true) {
          held = new Map()
          resets += 1
        }
        gaps = incomplete
        for (const { type, objectId, object } of changes) {
          if (type === 'REMOVED') held.delete(objectId)
          else held.set(objectId, `${object.clusterName} ${object.namespace}`)
        }
      },
      error: (error) => {
        failure = error
      },
      complete: () => {},
    },
  )
  const sorted = (texts: Iterable<string>): readonly string[] =>
    [...new Set(texts)].toSorted((a, b) => (a < b ? -1 : 1))
  return {
    shown: () => sorted(held.values()),
    gaps: () => sorted(gaps.map(({ cluster, code }) => `${cluster} ${code}`)),
    failure: () => failure,
    resets: () => resets,
  }
}

/** What a viewer sees by a list of each cluster alone. */
const alone = async (who: Caller): Promise<readonly string[]> => {
  const lists = await Promise.all(
    ['c0', 'c1'].map(async (cluster) => {
      const { data } = await served.query(
        who,
        `{ pods(cluster: "${cluster}") { nodes { clusterName namespace } } }`,
      )
      return (data?.pods?.nodes ?? []).map(
        ({ clusterName, namespace }: Fields) => `${clusterName} ${namespace}`,
      )
    }),
  )
  return [...new Set<string>(lists.flat())].toSorted((a, b) => (a < b ? -1 : 1))
}

it('a list over clusters has of each what the viewer may list there, as it changes', async () => {
  const who = caller('vera')
  const [first, second] = worlds
  await first.allow('one', 'vera', 'vera', [reads('', 'pods')])
  await second.allow('two', 'vera', 'vera', [reads('', 'pods')])
  const live = followed(who)
  await expect.poll(live.shown, wait).toEqual(['c0 one', 'c1 two'])
  expect(await alone(who)).toEqual(live.shown())
  expect(live.gaps()).toEqual([])
  await first.allow('two', 'vera', 'vera', [reads('', 'pods')])
  await expect.poll(live.shown, wait).toEqual(['c0 one', 'c0 two', 'c1 two'])
  expect(await alone(who)).toEqual(live.shown())
  await first.remove(`${rbac}/namespaces/one/rolebindings/vera`)
  await expect.poll(live.shown, wait).toEqual(['c0 two', 'c1 two'])
  expect(await alone(who)).toEqual(live.shown())
})

const closable: Readonly<Record<string, string>> = {
  xenia: 'pods(clusters: ["*"]',
  wanda: 'pods(clusterSelector: ""',
  uma: 'kubernetesObjects(kinds: ["Pod"], clusters: ["*"]',
}

it.each(Object.entries(closable))(
  'a cluster that is closed to the viewer (%s) is a gap of %s until it is opened, and the last one ends it',
  async (name, field) => {
    const who = caller(name)
    const [first, second] = worlds
    await first.allow('one', name, name, [reads('', 'pods')])
    const live = followed(who, field)
    await expect.poll(live.gaps, wait).toEqual(['c1 FORBIDDEN'])
    expect(live.shown()).toEqual(['c0 one'])
    await second.allow('two', name, name, [reads('', 'pods')])
    await expect.poll(live.shown, wait).toEqual(['c0 one', 'c1 two'])
    expect(live.gaps()).toEqual([])
    await first.remove(`${rbac}/namespaces/one/rolebindings/${name}`)
    await expect.poll(live.shown, wait).toEqual(['c1 two'])
    expect(live.gaps()).toEqual(['c0 FORBIDDEN'])
    expect(live.failure()).toBeUndefined()
    await second.remove(`${rbac}/namespaces/two/rolebindings/${name}`)
    await expect
      .poll(live.failure, wait)
      .toMatchObject([{ extensions: { code: 'FORBIDDEN', type: 'Pod' } }])
  },
)

it('viewers with the same permissions in each cluster share a group, and other ones do not', async () => {
  const [first, second] = worlds
  for (const name of ['yan', 'yuri', 'yves']) {
    await first.allow('one', name, name, [reads('', 'pods')])
    await second.allow(name === 'yves' ? 'one' : 'two', name, name, [reads('', 'pods')])
  }
  const before = served.gateway.planned.liveState().groups
  const lives = ['yan', 'yuri', 'yves'].map((name) =>
    followed(caller(name), 'pods(clusters: ["c1", "c0"]'),
  )
  await expect
    .poll(() => lives.map(({ shown }) => shown()), wait)
    .toEqual([
      ['c0 one', 'c1 two'],
      ['c0 one', 'c1 two'],
      ['c0 one', 'c1 one'],
    ])
  expect(served.gateway.planned.liveState().groups).toBe(before + 2)
})

it('a cluster that joins adds to each viewer what that viewer may see of it, and follows its permissions', async () => {
  const [first, second] = worlds
  const selections = worlds.map(({ selection }, at) => ({ ...selection, name: `c${at}` }))
  const configure = (count: number): Promise<void> =>
    served.gateway.configureClusters(selections.slice(0, count))
  const names = ['zara', 'zeno', 'zoe', 'zed']
  for (const name of names) {
    await first.allow('one', name, name, [reads('', 'pods')])
    if (name === 'zed') continue
    await second.allow(name === 'zoe' ? 'two' : 'one', name, name, [reads('', 'pods')])
  }
  await configure(1)
  const lives = names.map((name) => followed(caller(name)))
  await expect
    .poll(() => lives.map(({ shown }) => shown()), wait)
    .toEqual(names.map(() => ['c0 one']))
  await configure(2)
  await expect
    .poll(() => lives.map(({ shown }) => shown()), wait)
    .toEqual([['c0 one', 'c1 one'], ['c0 one', 'c1 one'], ['c0 one', 'c1 two'], ['c0 one']])
  await expect.poll(() => lives.map(({ gaps }) => gaps().length), wait).toEqual([0, 0, 0, 1])
  // Most of them may see the same of it, and keep their rows.
  expect(lives.slice(0, 2).map(({ resets }) => resets())).toEqual([1, 1])
  await second.remove(`${rbac}/namespaces/one/rolebindings/zeno`)
  await expect
    .poll(() => lives.map(({ shown }) => shown()), wait)
    .toEqual([['c0 one', 'c1 one'], ['c0 one'], ['c0 one', 'c1 two'], ['c0 one']])
  await configure(1)
  await expect
    .poll(() => lives.map(({ shown }) => shown()), wait)
    .toEqual(names.map(() => ['c0 one']))
  await configure(2)
  await expect
    .poll(() => lives.map(({ shown }) => shown()), wait)
    .toEqual([['c0 one', 'c1 one'], ['c0 one'], ['c0 one', 'c1 two'], ['c0 one']])
  expect(lives.map(({ failure }) => failure())).toEqual(names.map(() => undefined))
})

it('a cluster of which the viewer may list nothing is one gap of what looks into all kinds', async () => {
  const opal = caller('opal')
  await worlds[0].allow('one', 'opal', 'opal', [reads('', 'pods')])
  const missing = 'notLookedAt incomplete { cluster type code }'
  const { data, errors } = await served.query(
    opal,
    `{
      problems(clusters: ["*"]) { ${missing} }
      search(text: "shop", clusters: ["*"]) { ${missing} }
      complete(text: "shop", clusters: ["*"]) { ${missing} }
      kubernetesObjects(kinds: ["*"], clusters: ["*"]) { ${missing} }
    }`,
  )
  expect(errors).toBeUndefined()
  for (const field of ['problems', 'search', 'complete', 'kubernetesObjects']) {
    const { incomplete, notLookedAt } = data[field]
    expect(incomplete, field).toEqual([{ cluster: 'c1', type: null, code: 'FORBIDDEN' }])
    expect(notLookedAt, field).toContain('Node')
  }
})
