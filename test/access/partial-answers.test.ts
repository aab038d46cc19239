import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstAnswer } from '../support/gateway.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { describeSmallWorld, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const root = caller('root', 'system:masters')
const ann = caller('ann')

describeSmallWorld('A cache that leaves a namespace out', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    const cache = { excludeNamespaces: ['two'] }
    served = await serveViewers({ clusters: [{ ...world().selection, cache }] })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  it('is searched and completed in all others', async () => {
    const { data } = await served.query(
      root,
      `{ search(text: "shop-1-x", types: ["Pod"]) { totalCount }
        complete(text: "shop-1-", types: ["Pod"]) { completions { text count } }
        namespaces: complete(text: "ns:", types: ["Pod"]) { completions { text } } }`,
    )
    expect(data).toEqual({
      search: { totalCount: 1 },
      complete: { completions: [{ text: 'shop-1-x', count: 1 }] },
      namespaces: { completions: [{ text: 'one' }] },
    })
  })
})

describeSmallWorld('A cache of some namespaces', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    await world().allow('one', 'ann', 'ann', [reads('', 'pods')])
    const cache = { namespaces: ['one', 'two'] }
    served = await serveViewers({ clusters: [{ ...world().selection, cache }] })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  it('tells a caller nothing of which other namespaces there are', async () => {
    const asked = async (other: string): Promise<unknown> => {
      const within = `namespaces: ["one", "${other}"]`
      return served.query(
        ann,
        `{ pods(${within}) { totalCount incomplete { message } }
          kubernetesObjects(kinds: ["Pod"], ${within}) { totalCount incomplete { message } }
          search(text: "shop", types: ["Pod"], ${within}) { totalCount incomplete { message } }
          complete(text: "shop", types: ["Pod"], ${within}) { completions { text } incomplete { message } } }`,
      )
    }
    const cached = await asked('two')
    expect(cached).toMatchObject({ data: { pods: { totalCount: 1, incomplete: [] } } })
    expect(cached).not.toHaveProperty('errors')
    expect(await asked('nowhere')).toEqual(cached)
  })

  it('tells a subscriber nothing of them, either', async () => {
    const first = async (other: string): Promise<readonly unknown[]> => {
      const client = served.connect(ann)
      const frames = ['pods', 'podsPage', 'podFacets'].map(async (field) => {
        const more = field === 'podFacets' ? 'by: ["phase"]' : 'first: 5'
        const args = `namespaces: ["one", "${other}"], ${field === 'pods' ? '' : more}`
        const rows = field === 'podFacets' ? 'totalCount' : 'changes { objectId }'
        const { data, errors } = await firstAnswer(
          client,
          `subscription { ${field}(${args}) { ${rows} } }`,
        )
        return { data, codes: errors?.map(({ extensions }) => extensions.code) }
      })
      return await Promise.all(frames)
    }
    const cached = await first('two')
    expect(cached).toMatchObject([
      { data: { pods: { changes: [{}] } } },
      { data: { podsPage: { changes: [{}] } } },
      { data: { podFacets: { totalCount: 1 } } },
    ])
    expect(await first('nowhere')).toEqual(cached)
  })
})

describe('A search over clusters', () => {
  const worlds: SmallWorld[] = []
  let served: ViewedGateway
  beforeAll(async () => {
    for (const name of ['a', 'b']) {
      const world = await startSmallWorld()
      worlds.push(world)
      if (name === 'a') await world.allowEverywhere('ann', 'ann', [reads('', 'pods')])
    }
    const clusters = worlds.map(({ selection }, at) => ({ ...selection, name: 'ab'[at] ?? '' }))
    served = await serveViewers({ clusters })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    for (const world of worlds) await world[Symbol.asyncDispose]()
  })

  it('names the types that it could look into in some of them only', async () => {
    const { data } = await served.query(
      ann,
      `{ search(text: "shop", clusters: ["*"]) { totalCount types notLookedAt }
          complete(text: "shop", clusters: ["*"]) { types notLookedAt }
          kubernetesObjects(kinds: ["*"], clusters: ["*"]) { types notLookedAt } }`,
    )
    expect(data.search.totalCount).toBe(2)
    for (const { types, notLookedAt } of Object.values<typeof data.search>(data)) {
      expect(types).toEqual(['Pod'])
      expect(notLookedAt).toContain('Pod')
    }
  })

  it('says which of them lacks a type that is still loading', async () => {
    const [, world] = worlds
    if (world === undefined) throw new Error('there is no second world')
    await world.allowEverywhere('ann', 'ann', [reads('', 'pods')])
    const { kubeconfig } = world.selection
    const { clusters } = JSON.parse(await readFile(kubeconfig, 'utf8'))
    await fetch(new URL('/simulator/faults', clusters[0].cluster.server), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer admin-token' },
      body: JSON.stringify({
        fault: { type: 'status', status: 500 },
        match: { resource: 'pods' },
        times: 1_000,
      }),
    })
    const fleet = worlds.map(({ selection }, at) => ({ ...selection, name: 'ab'[at] ?? '' }))
    await using loading = await serveViewers({ clusters: fleet, limits: { syncDeadlineMs: 500 } })
    const gap = { cluster: 'b', type: 'Pod', code: 'NOT_SYNCED' }
    const { data } = await loading.query(
      ann,
      `{ search(text: "shop", clusters: ["*"]) { totalCount incomplete { cluster type code } }
        complete(text: "shop", clusters: ["*"]) { incomplete { cluster type code } }
        kubernetesObjects(kinds: ["*"], clusters: ["*"]) { incomplete { cluster type code } } }`,
    )
    expect(data).toEqual({
      search: { totalCount: 2, incomplete: [gap] },
      complete: { incomplete: [gap] },
      kubernetesObjects: { incomplete: [gap] },
    })
  })
})
