import { describe, expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { freshForEachTest } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import { type FollowedSubscription, followSynced } from './followed-subscription.ts'
import { resume } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'x', image: 'example/x' }] },
}
const spec = { selector: { matchLabels: { app: 'x' } }, template }
const ownedBy = ({ metadata }: Fields): object => ({
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name, uid: metadata.uid },
  ],
})

describe('subscriptions to objects with those of several kinds that they lead to', () => {
  const served = freshForEachTest({ gateway: { commonKinds: [] } })

  const state = () => served.gateway.gateway.planned.liveState()
  const following = async (
    field: string,
    selection: string,
    mayBeginAnew = false,
  ): Promise<FollowedSubscription> =>
    followSynced(served.gateway.connect(), field, selection, mayBeginAnew)
  const only = (live: FollowedSubscription): Fields => [...live.fold.objects.values()][0]
  const namesIn = ({ nodes }: Fields): readonly string[] =>
    nodes.map(({ kind, metadata }: Fields) => `${kind} ${metadata.name}`)
  const web = async (): Promise<Fields> =>
    created(served.cluster, `${apps}/deployments`, { metadata: { name: 'web' }, spec })
  const configMap = async (name: string, metadata: Fields): Promise<Fields> =>
    created(served.cluster, `${core}/configmaps`, { metadata: { name, ...metadata } })
  const patched = async (path: string, body: Fields): Promise<Fields> =>
    sent(served.cluster, 'PATCH', path, body)
  const nodes = 'types totalCount nodes { kind metadata { name annotation(key: "touch") } }'

  it('are one group, and hear of what comes to be owned, changes, and is owned no more', async () => {
    const deployment = await web()
    const field = 'deployments(namespace: "default", coalesceMs: 0)'
    const selection = `owned(types: ["ConfigMap"]) { ${nodes} }`
    const [one, other] = (await Promise.all(
      ['a', 'b'].map(async () => following(field, selection)),
    )) as [FollowedSubscription, FollowedSubscription]
    expect(state()).toMatchObject({ groups: 1, members: 2 })
    expect(only(one)['owned']).toMatchObject({ totalCount: 0 })
    expect(only(one)['owned'].types).toContain('ConfigMap')
    await configMap('a', ownedBy(deployment))
    await one.until('the first', () => only(one)['owned'].totalCount === 1)
    await patched(`${core}/configmaps/a`, { metadata: { annotations: { touch: 'seen' } } })
    await one.until('change', () => only(one)['owned'].nodes[0]?.metadata.annotation === 'seen')
    await configMap('b', {})
    await patched(`${core}/configmaps/b`, { metadata: ownedBy(deployment) })
    await one.until('adopted', () => only(one)['owned'].totalCount === 2)
    await patched(`${core}/configmaps/a`, { metadata: { ownerReferences: null } })
    await one.until('let go', () => only(one)['owned'].totalCount === 1)
    await sent(served.cluster, 'DELETE', `${core}/configmaps/b`)
    for (const each of [one, other]) {
      await each.until('the last', () => only(each)['owned'].totalCount === 0)
    }
    expect([...one.problems, ...other.problems]).toEqual([])
    expect(state()).toMatchObject({ groups: 1, members: 2 })
  })

  it('begin anew, once, with a kind that comes to be in memory later', async () => {
    const deployment = await web()
    await configMap('late', ownedBy(deployment))
    const live = await following('deployments(coalesceMs: 0)', `owned { ${nodes} }`, true)
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    expect(only(live)['owned'].totalCount).toBe(0)
    await served.gateway.query('{ configMaps { totalCount } }')
    await live.until('the kind', () => only(live)['owned'].types.includes('ConfigMap'))
    expect(namesIn(only(live)['owned'])).toEqual(['ConfigMap late'])
    await patched(`${core}/configmaps/late`, { metadata: { annotations: { touch: 'seen' } } })
    await live.until('change', () => only(live)['owned'].nodes[0]?.metadata.annotation === 'seen')
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(2)
    expect(live.problems).toEqual([])
    await expect.poll(state).toMatchObject({ groups: 1, members: 1 })
  })

  it('show what is owned of a kind that comes to be in memory, where only common kinds were before', async () => {
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: served.cluster.url }],
      commonKinds: ['deployments'],
    })
    await configMap('late', ownedBy(await web()))
    const live = await followSynced(
      gateway.connect(),
      'deployments(coalesceMs: 0)',
      `owned { ${nodes} }`,
      true,
    )
    expect(namesIn(only(live)['owned'])).toEqual([])
    await gateway.query('{ configMaps { totalCount } }')
    await live.until('the kind', () => only(live)['owned'].types.includes('ConfigMap'))
    expect(namesIn(only(live)['owned'])).toEqual(['ConfigMap late'])
    expect(live.problems).toEqual([])
  })

  it('show no longer what was given to another owner and deleted before that was told', async () => {
    const deployment = await web()
    await configMap('a', ownedBy(deployment))
    // Both changes merge in the listener.
    const live = await following(
      'deployments(namespace: "default", coalesceMs: 1000)',
      `owned(types: ["ConfigMap"]) { ${nodes} }`,
    )
    expect(namesIn(only(live)['owned'])).toEqual(['ConfigMap a'])
    const other = { metadata: { name: 'other', uid: 'other' } }
    await patched(`${core}/configmaps/a`, { metadata: ownedBy(other) })
    await sent(served.cluster, 'DELETE', `${core}/configmaps/a`)
    await live.until('the deletion', () => only(live)['owned'].totalCount === 0)
    expect(live.problems).toEqual([])
  })

  it('come back to where they stood, and are told all rows anew where less is in memory', async () => {
    const deployment = await web()
    const asked = {
      field: 'deployments(namespace: "default", coalesceMs: 0',
      selection: `owned { ${nodes} }`,
    }
    await served.gateway.query('{ configMaps { totalCount } }')
    const live = resume(served.gateway.connect(), asked)
    await live.until(({ size }) => size === 1)
    const from = live.seen.at(-1)
    live.leave()
    await expect.poll(state).toMatchObject({ groups: 0 })
    await configMap('missed', ownedBy(deployment))
    const here = resume(served.gateway.connect(), asked, from)
    await here.until((held) => [...held.values()].every(({ owned }) => owned.totalCount === 1))
    expect(here.seen[0]?.frame).toMatchObject({ reset: false })
    here.leave()
    await using next = await serveGateway({
      clusters: [{ name: 'one', server: served.cluster.url }],
      commonKinds: [],
    })
    const there = resume(next.connect(), asked, here.seen.at(-1))
    await there.until((held) => [...held.values()].every(({ owned }) => owned.totalCount === 0))
    expect(there.seen[0]?.frame).toMatchObject({ reset: false })
    expect(there.seen[0]?.frame.changes).toMatchObject([{ type: 'MODIFIED' }])
    there.leave()
  })

  it('hear of those that share a label, and of kinds that are named', async () => {
    const labels = { 'app.kubernetes.io/instance': 'shop' }
    await created(served.cluster, `${core}/services`, {
      metadata: { name: 'app', labels },
      spec: { ports: [{ port: 80 }] },
    })
    const live = await following(
      'service(namespace: "default", name: "app", coalesceMs: 0)',
      `instanceObjects(types: ["ConfigMap"]) { ${nodes} }`,
    )
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    await configMap('a', { labels })
    await live.until('the first', () =>
      namesIn(only(live)['instanceObjects']).includes('ConfigMap a'),
    )
    await patched(`${core}/configmaps/a`, { metadata: { labels: null } })
    await live.until('none', () => !namesIn(only(live)['instanceObjects']).includes('ConfigMap a'))
    expect(live.problems).toEqual([])
    await expect.poll(state).toMatchObject({ groups: 1, members: 1 })
  })
})
