import { describe, expect, it } from 'vitest'
import { freshForEachTest } from '../support/served-simulator.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { sent } from './created.ts'
import { followFacets } from './followed-facets.ts'
import type { Fields } from './test-cluster.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const nodesOf = { group: '', version: 'v1', resource: 'nodes' } as const
const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, phase = 'Running', cpu = '100m'): Fields => ({
  metadata: { name, namespace: 'default' },
  spec: {
    nodeName: 'node-1',
    containers: [{ name: 'main', image: 'nginx:1', resources: { requests: { cpu } } }],
  },
  status: { phase },
})
const fields =
  'totalCount sums { of value number count } facets { by distinctCount missingCount values { value count sums { value number } } }'

describe(`Live counts, seed ${runSeed}`, () => {
  const fresh = freshForEachTest()
  const random = seededRandom(runSeed)

  const put = (...all: Fields[]): void => {
    for (const one of all) fresh.cluster.storage.create(podsOf, one)
  }
  const facets = (args: string, more = 'coalesceMs: 0') =>
    followFacets(fresh.gateway.connect(), `podFacets(${args}, ${more}) { ${fields} }`)
  const state = () => fresh.gateway.gateway.planned.liveState()

  it('are what a query counts and adds up, after any changes', async () => {
    put(...Array.from({ length: 30 }, (_, at) => pod(`pod-${at}`)))
    const args = 'by: ["phase", "nodeName"], top: 2, sum: ["cpuRequests", "restarts"]'
    const live = facets(args, 'namespace: "default", coalesceMs: 10')
    await live.until(({ totalCount }) => totalCount === 30)
    for (let round = 0; round < 8; round += 1) {
      for (let change = 0; change < 20; change += 1) {
        const name = `pod-${Math.floor(random() * 60)}`
        const known = fresh.cluster.storage.get(podsOf, 'default', name)
        const phase = ['Pending', 'Running', 'Failed'][Math.floor(random() * 3)]
        const cpu = `${Math.floor(random() * 10) * 50}m`
        if (known !== undefined && random() < 0.5) {
          fresh.cluster.storage.delete(podsOf, 'default', name)
        } else if (known === undefined) put(pod(name, phase, cpu))
        else fresh.cluster.storage.update(podsOf, { ...known, status: { phase } })
      }
      put(pod(`mark-${round}`, `Running`, '1n'))
      const names = [...fresh.cluster.storage.list(podsOf)].length
      await live.until(
        ({ totalCount, sums }) =>
          totalCount === names && String(sums[0].value).endsWith(`${round + 1}n`),
      )
      const { list } = await fresh.gateway.data(
        `{ list: pods(namespace: "default") { totalCount sum(of: ["cpuRequests", "restarts"]) { of value number count } facets(${args}) { by distinctCount missingCount values { value count sums { value number } } } } }`,
      )
      const { totalCount, sum: sums, facets: expected } = list
      expect(live.frames.at(-1)).toEqual({ totalCount, sums, facets: expected })
    }
    expect(live.problems).toEqual([])
  })

  it('come when they change, and not for other changes of the objects', async () => {
    put(pod('a'), pod('b'))
    const live = facets('by: ["phase"]')
    await live.until(({ totalCount }) => totalCount === 2)
    await sent(fresh.cluster, 'PATCH', `${pods}/a`, { metadata: { annotations: { seen: 'yes' } } })
    await sent(fresh.cluster, 'PATCH', `${pods}/b`, { metadata: { labels: { app: 'b' } } })
    put(pod('c', 'Pending'))
    await live.until(({ totalCount }) => totalCount === 3)
    expect(live.frames.map(({ totalCount }) => totalCount)).toEqual([2, 3])
    expect(live.frames[1].facets[0].values).toEqual([
      { value: 'Running', count: 2, sums: [] },
      { value: 'Pending', count: 1, sums: [] },
    ])
  })

  it('are one group for all who ask the same, and end with the last of them', async () => {
    put(pod('a'))
    const all = Array.from({ length: 10 }, () => facets('by: ["health"]'))
    await Promise.all(all.map(async (one) => one.until(({ totalCount }) => totalCount === 1)))
    const other = facets('by: ["phase"]')
    await other.until(({ totalCount }) => totalCount === 1)
    expect(state()).toMatchObject({ groups: 2, members: 11 })
    put(pod('b'))
    await Promise.all(all.map(async (one) => one.until(({ totalCount }) => totalCount === 2)))
    for (const one of [...all, other]) one.leave()
    await expect.poll(state).toMatchObject({ groups: 0, members: 0, heldBytes: 0 })
  })

  it('follow the objects that a filter reads', async () => {
    const node = (name: string, ready: string): Fields => ({
      metadata: { name },
      status: { conditions: [{ type: 'Ready', status: ready }] },
    })
    fresh.cluster.storage.create(nodesOf, node('node-1', 'True'))
    put(pod('a'), pod('b'))
    const live = facets(
      'by: [], sum: ["cpuRequests"]',
      'where: { node: { is: { ready: { eq: "True" } } } }, coalesceMs: 0',
    )
    await live.until(({ totalCount }) => totalCount === 2)
    expect(live.frames.at(-1)).toMatchObject({ sums: [{ value: '200m', count: 2 }], facets: [] })
    await sent(fresh.cluster, 'PATCH', '/api/v1/nodes/node-1/status', {
      status: { conditions: [{ type: 'Ready', status: 'False' }] },
    })
    await live.until(({ totalCount }) => totalCount === 0)
    expect(live.frames.at(-1)).toMatchObject({ sums: [{ value: '0', count: 0 }] })
  })

  it('are asked for any kind by its name', async () => {
    put(pod('a'), pod('b', 'Failed'))
    const live = followFacets(
      fresh.gateway.connect(),
      'objectListFacets(kind: "Pod", by: ["phase"], where: { phase: { eq: "Failed" } }, coalesceMs: 0) { __typename n: totalCount a: facets { values { value } } b: facets { by } staleSince resourceVersion }',
    )
    await live.until(({ n }) => n === 1)
    expect(live.frames.at(-1)).toMatchObject({
      __typename: 'FacetsFrame',
      a: [{ values: [{ value: 'Failed' }] }],
      b: [{ by: 'phase' }],
      staleSince: null,
      resourceVersion: expect.stringMatching(/^\d+$/),
    })
  })

  it.each([
    ['by: ["color"]', 'by[0]', 'there is no index "color"'],
    ['sum: ["phase"]', 'sum[0]', 'is not of numbers'],
    ['by: ["phase"], top: 5000', 'top', 'must be from 0 to 1000'],
  ])('refuse %s at once, and name the argument', async (args, argument, problem) => {
    const live = facets(args)
    await live.ended()
    expect(live.frames).toEqual([])
    expect(live.problems).toMatchObject([
      {
        message: expect.stringContaining(problem),
        extensions: { code: 'BAD_USER_INPUT', argument },
      },
    ])
  })
})
