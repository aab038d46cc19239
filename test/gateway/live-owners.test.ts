import { describe, expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { freshForEachTest } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { type FollowedSubscription, followSynced } from './followed-subscription.ts'
import { resume } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const batch = '/apis/batch/v1/namespaces/default'
const ownedBy = (kind: string, apiVersion: string, { metadata }: Fields): object => ({
  ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }],
})
const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'x', image: 'example/x' }] },
}
const spec = { selector: { matchLabels: { app: 'x' } }, template }
const podOf = (name: string, owners: object): object => ({
  metadata: { name, ...owners },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})

describe('subscriptions to objects with their owners', () => {
  const served = freshForEachTest()

  const state = () => served.gateway.gateway.planned.liveState()
  const following = async (
    field: string,
    selection: string,
    mayBeginAnew = false,
  ): Promise<FollowedSubscription> =>
    followSynced(served.gateway.connect(), field, selection, mayBeginAnew)
  const patched = async (path: string, body: Fields): Promise<Fields> =>
    sent(served.cluster, 'PATCH', path, body)
  const touched = async (path: string, touch: string): Promise<Fields> =>
    patched(path, { metadata: { annotations: { touch } } })
  const rows = (live: FollowedSubscription): readonly Fields[] => [...live.fold.objects.values()]
  const rowOf = (live: FollowedSubscription, name: string): Fields =>
    rows(live).find(({ metadata }) => metadata.name === name)
  const typesSince = (live: FollowedSubscription, frames: number): readonly string[] =>
    live.frames.slice(frames).flatMap(({ changes }) => changes.map(({ type }) => type))
  const informers = async (): Promise<readonly string[]> => {
    const { data } = await served.gateway.query(
      '{ gatewayClusters { resources(loaded: true) { type } } }',
    )
    const resources: readonly Fields[] = data?.['gatewayClusters'][0]?.resources ?? []
    return resources.map(({ type }): string => type).toSorted()
  }

  /** A Deployment `web` with a ReplicaSet `web-1` with a pod `web-1-x`. */
  const web = async (): Promise<void> => {
    const deployment = await created(served.cluster, `${apps}/deployments`, {
      metadata: { name: 'web' },
      spec,
    })
    const owned = ownedBy('Deployment', 'apps/v1', deployment)
    const replicaSet = await created(served.cluster, `${apps}/replicasets`, {
      metadata: { name: 'web-1', ...owned },
      spec,
    })
    await created(
      served.cluster,
      `${core}/pods`,
      podOf('web-1-x', ownedBy('ReplicaSet', 'apps/v1', replicaSet)),
    )
  }
  const rootOwner =
    'metadata { name } rootOwner { kind name object { metadata { annotation(key: "touch") } } }'

  it('are one group, and hear of owners whose selected fields have changed, of no others', async () => {
    await web()
    const selection =
      'metadata { name } owners { kind metadata { annotation(key: "touch") } } ownerChain { kind name }'
    const live = await Promise.all(
      ['a', 'b'].map(async () => following('pods(coalesceMs: 0)', selection)),
    )
    expect(state()).toMatchObject({ groups: 1, members: 2 })
    const [one, other] = live as [FollowedSubscription, FollowedSubscription]
    expect(rows(one)).toMatchObject([
      {
        owners: [{ kind: 'ReplicaSet', metadata: { annotation: null } }],
        ownerChain: [
          { kind: 'ReplicaSet', name: 'web-1' },
          { kind: 'Deployment', name: 'web' },
        ],
      },
    ])
    const frames = one.frames.length
    // Nothing of it is selected, or only of others.
    await patched(`${apps}/replicasets/web-1`, { metadata: { labels: { of: 'no-matter' } } })
    await touched(`${apps}/deployments/web`, 'of no-matter')
    await created(served.cluster, `${apps}/replicasets`, { metadata: { name: 'other' }, spec })
    await touched(`${apps}/replicasets/web-1`, 'seen')
    for (const each of [one, other]) {
      await each.until('owner', () => rows(each)[0]?.owners[0].metadata.annotation === 'seen')
    }
    await sent(served.cluster, 'DELETE', `${apps}/replicasets/web-1?propagationPolicy=Orphan`)
    await one.until('end of the owner', () => rows(one)[0]?.owners.length === 0)
    expect(new Set(typesSince(one, frames))).toEqual(new Set(['MODIFIED']))
    expect([...one.problems, ...other.problems]).toEqual([])
    expect(state()).toMatchObject({ groups: 1, members: 2 })
  })

  it('go on where they stood before a row led to a further kind, and are told their rows anew', async () => {
    const bare = await created(served.cluster, `${core}/pods`, podOf('bare', {}))
    const gone = await created(served.cluster, `${core}/pods`, podOf('gone', {}))
    const asked = {
      field: 'pods(namespace: "default", coalesceMs: 0',
      selection: 'metadata { name uid } rootOwner { name object { metadata { name } } }',
    }
    const live = resume(served.gateway.connect(), asked)
    await live.until(({ size }) => size === 2)
    const from = live.seen.at(-1)
    live.leave()
    await expect.poll(state).toMatchObject({ groups: 0 })
    const owner = await created(served.cluster, `${apps}/deployments`, {
      metadata: { name: 'web' },
      spec,
    })
    await patched(`${core}/pods/bare`, { metadata: ownedBy('Deployment', 'apps/v1', owner) })
    await sent(served.cluster, 'DELETE', `${core}/pods/gone?gracePeriodSeconds=0`)
    const back = resume(served.gateway.connect(), asked, from)
    await back.until((held) => [...held.values()].every((one) => one.rootOwner !== null))
    expect(back.seen[0]?.frame.reset).toBe(false)
    expect([...back.held().values()]).toMatchObject([
      {
        metadata: { uid: bare.metadata.uid },
        rootOwner: { object: { metadata: { name: 'web' } } },
      },
    ])
    const removed = back.seen.flatMap(({ frame }) =>
      frame.changes.filter(({ type }: Fields) => type === 'REMOVED'),
    )
    expect(removed.map(({ objectId }) => from?.held.get(objectId).metadata.uid)).toEqual([
      gone.metadata.uid,
    ])
    back.leave()
  })

  it('hear of the topmost owner, and start nothing that no object names', async () => {
    await web()
    const live = await following('pods(coalesceMs: 0)', rootOwner)
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    expect(rows(live)[0]?.rootOwner).toEqual({
      kind: 'Deployment',
      name: 'web',
      object: { metadata: { annotation: null } },
    })
    await touched(`${apps}/deployments/web`, 'seen')
    await live.until('root', () => rows(live)[0]?.rootOwner.object.metadata.annotation === 'seen')
    expect(await informers()).toEqual(['Deployment', 'Pod', 'ReplicaSet'])
    expect(live.problems).toEqual([])
  })

  it('begin anew, once, in a group that follows further kinds, where an object names one for the first time', async () => {
    await web()
    const live = await following('pods(coalesceMs: 0)', rootOwner, true)
    const late = await following('pods(coalesceMs: 0)', rootOwner, true)
    const before = live.frames.length
    const job = await created(served.cluster, `${batch}/jobs`, {
      metadata: { name: 'once' },
      spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
    })
    await created(served.cluster, `${core}/pods`, podOf('once-x', ownedBy('Job', 'batch/v1', job)))
    for (const one of [live, late]) {
      await one.until('pod of the job', () => rowOf(one, 'once-x') !== undefined)
    }
    expect(rowOf(live, 'once-x')['rootOwner']).toMatchObject({ kind: 'Job', name: 'once' })
    await touched(`${batch}/jobs/once`, 'seen')
    await live.until(
      'job',
      () => rowOf(live, 'once-x')['rootOwner'].object.metadata.annotation === 'seen',
    )
    await touched(`${apps}/deployments/web`, 'seen')
    await live.until(
      'deployment',
      () => rowOf(live, 'web-1-x')['rootOwner'].object.metadata.annotation === 'seen',
    )
    expect(live.frames.slice(before).filter(({ reset }) => reset)).toHaveLength(1)
    expect(typesSince(live, before).slice(-2)).toEqual(['MODIFIED', 'MODIFIED'])
    await expect.poll(state).toMatchObject({ groups: 1, members: 2 })
    expect([...live.problems, ...late.problems]).toEqual([])
  })

  it('come back to where they stood, also at another gateway', async () => {
    await web()
    const asked = { field: 'pods(coalesceMs: 0', selection: rootOwner }
    const live = resume(served.gateway.connect(), asked)
    await live.until(({ size }) => size === 1)
    const from = live.seen.at(-1)
    live.leave()
    await expect.poll(state).toMatchObject({ groups: 0 })
    await touched(`${apps}/deployments/web`, 'missed')
    await using next = await serveGateway({
      clusters: [{ name: 'one', server: served.cluster.url }],
    })
    for (const at of [served.gateway, next]) {
      const resumed = resume(at.connect(), asked, from)
      await resumed.until((held) =>
        [...held.values()].every(({ rootOwner: { object } }) => object.metadata.annotation),
      )
      expect(resumed.seen[0]?.frame).toMatchObject({
        reset: false,
        changes: [{ type: 'MODIFIED', object: { rootOwner: { name: 'web' } } }],
      })
      resumed.leave()
    }
  })

  it('hear of what single objects, pages and events mean', async () => {
    await web()
    const of = 'owners { metadata { annotation(key: "touch") } }'
    const pod = await following('pod(namespace: "default", name: "web-1-x", coalesceMs: 0)', of)
    const page = served.gateway.connect().iterate<{ podsPage: Fields }>({
      query: `subscription { podsPage(first: 5, coalesceMs: 0) { changes { step object { ${of} } } } }`,
    })
    expect((await page.next()).value?.data?.podsPage.changes).toMatchObject([{ step: 'INSERT' }])
    const involvedObject = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1' }
    await created(served.cluster, `${core}/events`, {
      metadata: { name: 'scaled' },
      involvedObject: { ...involvedObject, namespace: 'default' },
    })
    const events = await following(
      'events(coalesceMs: 0)',
      'involved { name object { metadata { annotation(key: "touch") } } }',
    )
    expect(state()).toMatchObject({ groups: 3, members: 3 })
    await touched(`${apps}/replicasets/web-1`, 'seen')
    await pod.until('owner', () => rows(pod)[0]?.owners[0].metadata.annotation === 'seen')
    expect((await page.next()).value?.data?.podsPage.changes).toEqual([
      { step: 'UPDATE', object: { owners: [{ metadata: { annotation: 'seen' } }] } },
    ])
    await events.until(
      'involved object',
      () => rows(events)[0]?.involved.object.metadata.annotation === 'seen',
    )
    expect(state()).toMatchObject({ groups: 3, members: 3 })
    expect([...pod.problems, ...events.problems]).toEqual([])
    await page.return?.()
  })

  it('end when the kind of an owner comes to be served, and no others do', async () => {
    const reference = { apiVersion: 'new.example.com/v1', kind: 'Gear', name: 'gear', uid: 'gear' }
    await created(served.cluster, `${core}/configmaps`, {
      metadata: { name: 'owned', ownerReferences: [reference] },
    })
    await created(served.cluster, `${core}/secrets`, { metadata: { name: 'free' } })
    const [told, free, plain] = await Promise.all([
      following('configMaps(namespace: "default", coalesceMs: 0)', 'owners { kind }'),
      following('secrets(namespace: "default", coalesceMs: 0)', 'owners { kind }'),
      following('configMaps(namespace: "default", coalesceMs: 0)', 'metadata { name }'),
    ])
    const gear = definitionOf('Gear', 'new.example.com', [versionOf('v1', {})])
    await created(served.cluster, definitionsPath, gear)
    await told.until('the end', () => told.ended())
    expect(told.problems.join()).toContain('NewExampleComGear, which is served now')
    expect(free.ended()).toBe(false)
    // One of which it is heard only behind that.
    await created(served.cluster, `${core}/secrets`, {
      metadata: { name: 'later', ownerReferences: [reference] },
    })
    await free.until('the end', () => free.ended())
    expect(free.problems.join()).toContain('SCHEMA_CHANGED')
    expect(plain.ended()).toBe(false)
  })

  it('go on when the kind of an owner is no longer served', async () => {
    const version = versionOf('v1', { teeth: { type: 'integer' } })
    await created(
      served.cluster,
      definitionsPath,
      definitionOf('Gear', 'own.example.com', [version]),
    )
    const gears = async () => served.gateway.query('{ ownExampleComGears { totalCount } }')
    await expect.poll(async () => (await gears()).errors).toBeUndefined()
    const gear = await created(
      served.cluster,
      '/apis/own.example.com/v1/namespaces/default/gears',
      {
        metadata: { name: 'gear' },
      },
    )
    await created(served.cluster, `${core}/configmaps`, {
      metadata: { name: 'owned', ...ownedBy('Gear', 'own.example.com/v1', gear) },
    })
    const live = resume(served.gateway.connect(), {
      field: 'configMaps(namespace: "default", coalesceMs: 0',
      selection: 'owners { kind }',
    })
    const ownersIn = (held: ReadonlyMap<string, Fields>): number =>
      [...held.values()].flatMap(({ owners }): Fields[] => owners).length
    await live.until((held) => ownersIn(held) === 1)
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    await sent(served.cluster, 'DELETE', `${definitionsPath}/gears.own.example.com`)
    await live.until((held) => ownersIn(held) === 0)
    await expect.poll(async () => (await gears()).errors).toBeDefined()
    await created(served.cluster, `${core}/configmaps`, { metadata: { name: 'later' } })
    await live.until(({ size }) => size === 2)
    expect(live.seen.at(-1)?.frame.changes).toHaveLength(1)
    live.leave()
  })

  it('hear of an owner of their own kind that is not among what they follow', async () => {
    const owner = await created(served.cluster, `${core}/configmaps`, {
      metadata: { name: 'owner' },
    })
    await created(served.cluster, `${core}/configmaps`, {
      metadata: { name: 'owned', ...ownedBy('ConfigMap', 'v1', owner) },
    })
    const live = await following(
      'configMap(namespace: "default", name: "owned", coalesceMs: 0)',
      'owners { metadata { annotation(key: "touch") } }',
    )
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    await touched(`${core}/configmaps/owner`, 'seen')
    await live.until('owner', () => rows(live)[0]?.owners[0].metadata.annotation === 'seen')
    expect(live.problems).toEqual([])
  })
})
