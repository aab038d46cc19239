import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { followFacets } from '../gateway/followed-facets.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const field =
  'podFacets(by: ["namespace"], coalesceMs: 10) { totalCount facets { values { value } } }'

describe('Live counts of callers who are asked who they are', () => {
  let world: SmallWorld
  let served: ViewedGateway
  beforeAll(async () => {
    world = await startSmallWorld()
  })
  afterAll(async () => world[Symbol.asyncDispose]())
  beforeEach(async () => {
    served = await serveViewers({ clusters: [world.selection] })
  })
  afterEach(async () => served[Symbol.asyncDispose]())

  const counting = (wanted: string) => (frame: Fields) =>
    frame.facets[0].values.map(({ value }: Fields) => value as string).join() === wanted &&
    frame.totalCount === wanted.split(',').length

  it('count what each may see, and follow what that is', async () => {
    for (const [user, namespaces] of [
      ['ann', ['one']],
      ['ben', ['one', 'two']],
    ] as const) {
      for (const namespace of namespaces)
        await world.allow(namespace, user, user, [reads('', 'pods')])
    }
    const ann = followFacets(served.connect(caller('ann')), field)
    const ben = followFacets(served.connect(caller('ben')), field)
    await ann.until(counting('one'))
    await ben.until(counting('one,two'))
    await world.remove(`${rbac}/namespaces/two/rolebindings/ben`)
    await ben.until(counting('one'))
    await expect
      .poll(() => served.gateway.planned.liveState())
      .toMatchObject({ groups: 1, members: 2 })
    await world.allow('two', 'ann', 'ann', [reads('', 'pods')])
    await ann.until(counting('one,two'))
    expect([...ann.problems, ...ben.problems]).toEqual([])
    expect(ben.frames.at(-1)).toMatchObject({ totalCount: 1 })
  })
})
