import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { followPage, type FollowedPage, type PageBehind } from '../gateway/followed-page.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const page = {
  field: 'podsPage(first: 5, orderBy: [{ namespace: DESC }], coalesceMs: 10',
  selection: 'metadata { namespace }',
}

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

const reader = async (username: string, namespaces: readonly string[]): Promise<Caller> => {
  for (const namespace of namespaces) {
    await world.allow(namespace, username, username, [reads('', 'pods')])
  }
  return caller(username)
}
const follow = (who: Caller, from?: PageBehind): FollowedPage =>
  followPage(served.connect(who), page, from)
const showing = async (live: FollowedPage, wanted: string): Promise<void> =>
  live.until(
    ({ rows, totalCount }) =>
      rows.map(({ metadata }) => metadata.namespace as string).join() === wanted &&
      totalCount === rows.length,
  )
const steps = ({ seen }: FollowedPage, from: number): readonly Fields[] =>
  seen.slice(from).flatMap(({ frame }) => frame.changes)
const state = () => served.gateway.planned.liveState()

describe('Live pages of callers who are asked who they are', () => {
  it('have what each may see, and are one group for those who see the same', async () => {
    const [ann, ben] = [await reader('ann', ['one']), await reader('ben', ['one'])]
    const both = await reader('both', ['one', 'two'])
    const live = [follow(ann), follow(ben), follow(both)]
    for (const [at, wanted] of ['one', 'one', 'two,one'].entries()) {
      await showing(live[at] as FollowedPage, wanted)
    }
    expect(state()).toMatchObject({ groups: 2, members: 3 })
    const before = live[2]?.seen.at(-1)
    for (const one of live) one.leave()
    const resumed = follow(both, before)
    await showing(resumed, 'two,one')
    expect(resumed.seen[0]?.frame).toMatchObject({ reset: false, changes: [] })
    const other = follow(ann, before)
    await showing(other, 'one')
    expect(other.seen[0]?.frame.reset).toBe(true)
  })

  it('lose the rows that may not be seen any more, and get them back: each time the page begins anew', async () => {
    const [kim, lee] = [await reader('kim', ['one', 'two']), await reader('lee', ['one', 'two'])]
    const [live, other] = [follow(kim), follow(lee)]
    await showing(live, 'two,one')
    await showing(other, 'two,one')
    const frames = live.seen.length
    await world.remove(`${rbac}/namespaces/two/rolebindings/kim`)
    await showing(live, 'one')
    expect(steps(live, frames)).toMatchObject([
      { step: 'INSERT', index: 0, object: { metadata: { namespace: 'one' } } },
    ])
    await world.make(`${rbac}/namespaces/two/rolebindings`, {
      metadata: { name: 'kim' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kim' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'kim' }],
    })
    await showing(live, 'two,one')
    expect(live.seen.map(({ frame }) => frame.reset)).toEqual([true, true, true])
    expect([...live.problems, ...other.problems]).toEqual([])
    expect(other.seen).toHaveLength(1)
    await expect.poll(state).toMatchObject({ groups: 1, members: 2 })
  })
})
