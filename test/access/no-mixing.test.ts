import { afterAll, beforeAll, expect, it } from 'vitest'
import { firstAnswer } from '../support/gateway.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { describeSmallWorld, reads } from './small-world.ts'

/** Each sees the namespace of their own. */
const one = caller('one')
const two = caller('two')
/** In both clusters, which are one. */
const admin = { ...caller('admin', 'system:masters'), systemIdentityClusters: ['*'] }

const rows =
  '{ totalCount nodes { metadata { namespace } services { nodes { metadata { namespace } } } } }'
const placeOf = (pods: Fields): readonly string[] =>
  pods.nodes.flatMap((pod: Fields) => [
    pod.metadata.namespace,
    ...pod.services.nodes.map((service: Fields) => service.metadata.namespace),
  ])

describeSmallWorld('What is made for one user serves no other', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    await world().allow('one', 'one', 'one', [reads('', 'pods', 'services')])
    await world().allow('two', 'two', 'two', [reads('', 'pods', 'services')])
    const { selection } = world()
    served = await serveViewers({
      clusters: [selection, { name: 'other', kubeconfig: selection.kubeconfig }],
    })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  it('fragments and plans: the same query, one user after the other, until all is kept', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const [who, expected] of [
        [admin, ['one', 'one', 'two', 'two']],
        [one, ['one', 'one']],
        [two, ['two', 'two']],
      ] as const) {
        const answer = await served.query(who, `{ pods ${rows} }`)
        expect(placeOf(answer.data.pods), `${who.username} ${round}`).toEqual(expected)
      }
    }
  })

  it('answers at the same time', async () => {
    const asked = Array.from({ length: 30 }, (_, at) => [admin, one, two][at % 3] as Caller)
    const answers = await Promise.all(asked.map((who) => served.query(who, `{ pods ${rows} }`)))
    for (const [at, { data }] of answers.entries()) {
      const seen = new Set(placeOf(data.pods))
      const { username } = asked[at] as Caller
      expect(seen).toEqual(new Set(username === 'admin' ? ['one', 'two'] : [username]))
    }
  })

  const live =
    'subscription { pods { changes { object { metadata { namespace annotation(key: "touched") } } } } }'
  const frames =
    'subscription ($from: String) { pods(resumeFrom: $from) { reset synced resumeToken changes { objectId object { metadata { namespace } } } } }'

  it('groups of subscribers who ask the same', async () => {
    const first = async (who: Caller): Promise<readonly string[]> => {
      const { data } = await firstAnswer(served.connect(who), frames)
      return data.pods.changes.map(({ object }: Fields) => object.metadata.namespace).toSorted()
    }
    const seen = await Promise.all([admin, one, two, one, admin].map((who) => first(who)))
    expect(seen).toEqual([['one', 'two'], ['one'], ['two'], ['one'], ['one', 'two']])
  })

  it('live groups: those who are in one see the same, at the same time', async () => {
    const open = [admin, one, two, one, admin].map((who) => {
      return served.connect(who).iterate<Fields>({ query: live })
    })
    const told = async (): Promise<readonly string[]> => {
      const seen: string[] = []
      for (const subscribed of open) {
        const { value } = await subscribed.next()
        const changes: readonly Fields[] = value?.data?.['pods'].changes ?? []
        const places = changes.map(({ object }): string => object.metadata.namespace)
        seen.push(places.toSorted().join())
      }
      return seen
    }
    expect(await told()).toEqual(['one,two', 'one', 'two', 'one', 'one,two'])
    expect(served.gateway.planned.liveState()).toMatchObject({ groups: 3, members: 5 })
    for (const namespace of ['one', 'two']) {
      await world().patch(`/api/v1/namespaces/${namespace}/pods/shop-1-x`, {
        metadata: { annotations: { touched: 'live' } },
      })
    }
    const later = await told()
    expect(later.slice(1, 4)).toEqual(['one', 'two', 'one'])
    for (const subscribed of open) void subscribed.return?.()
    await expect.poll(() => served.gateway.planned.liveState().groups).toBe(0)
  })

  it('what depends on the viewer: of those who see the same each is told their own', async () => {
    const deletes = { apiGroups: [''], resources: ['pods'], verbs: ['delete'] }
    await world().allow('one', 'three', 'three', [reads('', 'pods'), deletes])
    const query = 'subscription { pods { changes { object { can(verb: "delete") } } } }'
    const both = await Promise.all(
      [one, caller('three')].map(async (who) => firstAnswer(served.connect(who), query)),
    )
    expect(both.map(({ data }) => data.pods.changes)).toEqual([
      [{ object: { can: false } }],
      [{ object: { can: true } }],
    ])
  })

  it('resume tokens: that of somebody who sees more begins anew, with what may be seen', async () => {
    const { data } = await firstAnswer(served.connect(admin), frames)
    const from = data.pods.resumeToken as string
    await world().patch('/api/v1/namespaces/two/pods/shop-1-x', {
      metadata: { annotations: { touched: 'since' } },
    })
    const resumed = await firstAnswer(served.connect(one), frames, { from })
    expect(resumed.data.pods.reset).toBe(true)
    const seen = resumed.data.pods.changes.map(({ object }: Fields) => object.metadata.namespace)
    expect(seen).toEqual(['one'])
  })

  it('forged resume tokens are refused or begin anew', async () => {
    const text = (parts: unknown): string =>
      Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const from of ['nonsense', text([1, 'test', {}]), text([9]), text(null)]) {
      const answer = await firstAnswer(served.connect(one), frames, { from })
      const { reset, changes = [] } = answer.data?.pods ?? { reset: true }
      const seen = changes.map(({ object }: Fields) => object.metadata.namespace)
      const code = answer.errors?.[0]?.extensions.code
      expect([['one'], []], from).toContainEqual(seen)
      expect([reset, code ?? 'BAD_USER_INPUT'], from).toEqual([true, 'BAD_USER_INPUT'])
    }
  })

  it('cursors: that of somebody who sees more leads to nothing more', async () => {
    const query =
      'query ($after: String) { pods(first: 1, after: $after) { nodes { metadata { namespace } } pageInfo { endCursor } } }'
    const { data } = await served.query(admin, query)
    const after = data.pods.pageInfo.endCursor as string
    const next = await served.query(one, query, { after })
    expect(next.data.pods.nodes).toEqual([])
    const start = await served.query(two, query, { after })
    expect(start.data.pods.nodes).toEqual([{ metadata: { namespace: 'two' } }])
    const forged = await served.query(one, query, {
      after: Buffer.from('["x"]').toString('base64url'),
    })
    expect(forged.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  it('ids of other clusters hold to what may be seen there', async () => {
    const ids =
      'query ($cluster: String) { pods(cluster: $cluster, namespace: "two") { nodes { id } } }'
    const { data } = await served.query(admin, ids, { cluster: 'other' })
    const [{ id }] = data.pods.nodes
    const object = 'query ($id: ID!) { object(id: $id) { clusterName metadata { namespace } } }'
    expect((await served.query(one, object, { id })).data.object).toBeNull()
    expect((await served.query(two, object, { id })).data.object).toEqual({
      clusterName: 'other',
      metadata: { namespace: 'two' },
    })
    const byIds = 'query ($id: ID!) { pods(cluster: "other", ids: [$id]) { totalCount } }'
    expect((await served.query(one, byIds, { id })).data.pods.totalCount).toBe(0)
  })

  it('filters by related objects tell nothing of those that may not be listed', async () => {
    const query = '{ pods(where: { node: { name: { eq: "worker" } } }) { totalCount } }'
    const answer = await served.query(one, query)
    expect(answer.errors?.[0]?.extensions.code).toMatch(/FORBIDDEN|BAD_USER_INPUT/)
  })
})
