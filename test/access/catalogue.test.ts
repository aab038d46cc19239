import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const ann = caller('ann')
const admin = caller('admin', 'system:masters')
const nobody = caller('nobody')
const namespaces = Array.from({ length: 40 }, (_, at) => `team-${at}`)

interface ListedKind {
  readonly type: string
  readonly objects: number | null
  readonly facets: readonly { readonly values: readonly { readonly count: number }[] }[] | null
}

describe('The kinds of a cluster', () => {
  let world: SmallWorld
  let served: ViewedGateway
  let counted: CountedServer
  beforeAll(async () => {
    world = await startSmallWorld(async (url) => {
      counted = await startCountedServer(url)
      return counted.url
    })
    for (const name of namespaces) {
      await world.make('/api/v1/namespaces', { metadata: { name } })
    }
    await world.allow('one', 'ann', 'ann', [
      reads('', 'pods', 'services'),
      reads('apps', 'deployments', 'daemonsets'),
    ])
    await world.allowEverywhere('ann', 'ann', [reads('storage.k8s.io', 'storageclasses')])
    served = await serveViewers({ clusters: [world.selection] })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await counted[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  const kinds = async (
    who: Parameters<ViewedGateway['query']>[0],
    args = '',
  ): Promise<readonly ListedKind[]> => {
    const { data, errors } = await served.query(
      who,
      `{ gatewayClusters { resources${args} { type objects facets(by: ["health"]) { values { count } } } } }`,
    )
    expect(errors).toBeUndefined()
    return data.gatewayClusters[0].resources
  }

  /** While permissions settle after a change, the gateway asks for answers again. */
  const settledPermissions = async (who: Parameters<ViewedGateway['query']>[0]): Promise<void> => {
    const state = async () =>
      (await served.query(who, '{ gatewayClusters { permissions { state } } }')).data
        .gatewayClusters[0].permissions.state
    await expect.poll(state).toBe('FOLLOWING')
    await served.query(who, '{ viewer { namespaces } }')
  }

  it('are those that the viewer may list anywhere, loaded or not', async () => {
    const types = ['DaemonSet', 'Deployment', 'Pod', 'Service', 'StorageClass']
    expect((await kinds(ann)).map(({ type }) => type).toSorted()).toEqual(types)
    expect(await kinds(nobody)).toEqual([])
    expect((await kinds(admin)).length).toBeGreaterThan(40)
  })

  it('take two reviews at most for each, once the namespaces of the viewer are known', async () => {
    const ben = caller('ben')
    await world.allow('two', 'ben', 'ben', [reads('', 'pods')])
    const settled = async () =>
      (await served.query(ben, '{ viewer { namespaces } }')).data.viewer.namespaces
    await expect.poll(settled).toEqual(['two'])
    await settledPermissions(ben)
    const before = counted.count('/subjectaccessreviews')
    expect((await kinds(ben)).map(({ type }) => type)).toEqual(['Pod'])
    const all = (await kinds(admin)).length
    expect(counted.count('/subjectaccessreviews') - before).toBeLessThanOrEqual(3 * all)
  })

  it('take reviews in every namespace for the common kinds only, if the viewer may list one everywhere', async () => {
    const dan = caller('dan')
    await world.allowEverywhere('dan', 'dan', [reads('', 'pods')])
    await world.allow('two', 'dan', 'dan', [reads('', 'services', 'configmaps')])
    const settled = async () =>
      (await served.query(dan, '{ viewer { namespaces } }')).data.viewer.namespaces
    await expect.poll(settled).toBeNull()
    await settledPermissions(dan)
    const all = (await kinds(admin)).length
    const before = counted.count('/subjectaccessreviews')
    expect((await kinds(dan)).map(({ type }) => type).toSorted()).toEqual([
      'ConfigMap',
      'Pod',
      'Service',
    ])
    const commonKinds = 20
    const most = commonKinds * namespaces.length + 3 * all
    expect(counted.count('/subjectaccessreviews') - before).toBeLessThanOrEqual(most)
  })

  it('leave the lists of the viewer whole, in whichever namespaces', async () => {
    const cid = caller('cid')
    for (const namespace of ['one', 'two']) {
      await world.allow(namespace, 'cid', 'cid', [reads('', 'pods', 'configmaps')])
    }
    const settled = async () =>
      (await served.query(cid, '{ viewer { namespaces } }')).data.viewer.namespaces
    await expect.poll(settled).toEqual(['one', 'two'])
    expect((await kinds(cid)).map(({ type }) => type).toSorted()).toEqual(['ConfigMap', 'Pod'])
    const list = 'configMaps(namespaces: ["one", "two"]) { nodes { metadata { namespace } } }'
    const { data, errors } = await served.query(cid, `{ ${list} }`)
    expect(errors).toBeUndefined()
    expect(data.configMaps.nodes).toHaveLength(2)
  })

  it('have the counts of what the viewer may list', async () => {
    expect((await served.query(admin, '{ pods { totalCount } }')).data.pods.totalCount).toBe(2)
    const podsOf = (all: readonly ListedKind[]) => all.find(({ type }) => type === 'Pod')
    expect(podsOf(await kinds(admin))).toMatchObject({
      objects: 2,
      facets: [{ values: [{ count: 2 }] }],
    })
    expect(podsOf(await kinds(ann))).toMatchObject({
      objects: 1,
      facets: [{ values: [{ count: 1 }] }],
    })
    expect(podsOf(await kinds(ann, '(namespaces: ["one"])'))).toMatchObject({ objects: 1 })
    // The other pod is in a namespace that ann may not see.
    for (const namespace of ['two', 'team-1']) {
      const hidden = podsOf(await kinds(ann, `(namespaces: ["${namespace}"])`))
      expect(hidden).toMatchObject({ objects: 0, facets: [{ values: [] }] })
    }
    expect(podsOf(await kinds(admin, '(namespaces: ["one"])'))).toMatchObject({ objects: 1 })
  })
})
