import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { follow } from '../gateway/followed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const worstFirst = ['DEGRADED', 'UNKNOWN', 'PROGRESSING', 'TERMINATING', 'SUSPENDED', 'HEALTHY']
const condition = (type: string, status: string, reason: string): Fields => ({
  type,
  status,
  reason,
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const counts = { observedGeneration: 1, replicas: 2, readyReplicas: 2, updatedReplicas: 2 }

/** The states that objects of a kind go through, each with the path of its list. */
const kinds: Readonly<
  Record<
    string,
    { readonly path: string; readonly spec: Fields; readonly states: readonly Fields[] }
  >
> = {
  pods: {
    path: '/api/v1/namespaces/NAMESPACE/pods',
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
    states: [
      { phase: 'Running', conditions: [condition('Ready', 'True', '')] },
      { phase: 'Running', conditions: [condition('Ready', 'False', 'ContainersNotReady')] },
      { phase: 'Running', conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] },
      { phase: 'Failed', reason: 'Evicted', conditions: [] },
      {
        phase: 'Running',
        conditions: [condition('Ready', 'False', 'ContainersNotReady')],
        containerStatuses: [
          { name: 'web', state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 1 },
        ],
      },
    ],
  },
  deployments: {
    path: '/apis/apps/v1/namespaces/NAMESPACE/deployments',
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'x' } },
      template: {
        metadata: { labels: { app: 'x' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
    states: [
      { ...counts, availableReplicas: 2, conditions: [] },
      { ...counts, availableReplicas: 1, conditions: [] },
      {
        ...counts,
        updatedReplicas: 1,
        conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')],
      },
    ],
  },
  persistentVolumeClaims: {
    path: '/api/v1/namespaces/NAMESPACE/persistentvolumeclaims',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    states: [{ phase: 'Bound' }, { phase: 'Pending' }, { phase: 'Lost' }],
  },
  configMaps: { path: '/api/v1/namespaces/NAMESPACE/configmaps', spec: {}, states: [] },
  nodes: {
    path: '/api/v1/nodes',
    spec: {},
    states: ['True', 'False', 'Unknown'].map((ready) => ({
      conditions: [condition('Ready', ready, 'Kubelet')],
    })),
  },
  namespaces: { path: '', spec: {}, states: [] },
}
const inNamespaces = ['pods', 'deployments', 'persistentVolumeClaims']

const listText = (list: string): string => {
  const by = worstFirst.map(
    (status) => `${list}${status}: ${list}(clusters: ["*"], where: { health: { eq: ${status} } }) {
      totalCount nodes { id }
    }`,
  )
  return `${list}(clusters: ["*"], orderBy: [{ health: ASC }]) {
    totalCount visible
    nodes { id clusterName namespace name health { status } ${list === 'pods' ? 'owners { id health { status } }' : ''} }
    facets(by: "health") { values { value count } missingCount }
  }
  ${list}None: ${list}(clusters: ["*"], where: { health: { exists: false } }) { totalCount }
  ${by.join('\n')}`
}

/** One moment of all of it. */
const everything = `{
  ${Object.keys(kinds).map(listText).join('\n')}
  problems(clusters: ["*"], first: 200) {
    visible
    nodes {
      cluster severity
      object { id namespace kind object { ... on KubernetesObject { health { status } } } }
      objects(first: 100) { id namespace kind object { ... on KubernetesObject { health { status } } } }
    }
  }
}`

describe(`one truth for health, seed ${runSeed}`, () => {
  const random = seededRandom(runSeed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const worlds: SmallWorld[] = []
  let served: ViewedGateway

  const change = async ({ patch }: SmallWorld, list: string, path: string): Promise<void> => {
    const state = pick(kinds[list]?.states ?? [])
    await patch(`${path}/status`, { status: state })
  }

  beforeAll(async () => {
    for (let cluster = 0; cluster < 2; cluster++) {
      worlds.push(await startSmallWorld())
    }
    const all = reads('', 'pods', 'persistentvolumeclaims', 'configmaps')
    for (const world of worlds) {
      const everywhere = [reads('', 'namespaces')]
      await world.allowEverywhere('ann-sees', 'ann', everywhere)
      await world.allowEverywhere('ben-sees', 'ben', everywhere)
      await world.allow('one', 'ann', 'ann', [all, reads('apps', 'deployments', 'replicasets')])
      await world.allow('one', 'ben', 'ben', [reads('', 'pods')])
      await world.allow('two', 'ben', 'ben', [reads('apps', 'deployments')])
      await world.allowEverywhere('root-sees', 'root', [reads('*', '*')])
      for (const [list, { path, spec, states }] of Object.entries(kinds)) {
        if (path === '') continue
        for (let number = 0; number < 4; number++) {
          const namespace = pick(['one', 'two'])
          const at = path.replace('NAMESPACE', namespace)
          const name = `${list.toLowerCase()}-${number}`
          await world.make(at, { metadata: { name }, ...(states.length > 0 ? { spec } : {}) })
          if (states.length > 0) await change(world, list, `${at}/${name}`)
        }
      }
    }
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

  /** What was seen of all, so that a check of nothing fails. */
  const seen = new Set<string>()
  const statusOf = (row: Fields): string | undefined => row.health?.status

  const checkList = (data: Fields, list: string): void => {
    const { nodes, facets, totalCount } = data[list]
    expect(nodes).toHaveLength(totalCount)
    const byStatus = Map.groupBy(nodes as Fields[], statusOf)
    const counted = new Map(facets[0].values.map((one: Fields) => [one.value, one.count]))
    const order = (nodes as Fields[]).map((row) => worstFirst.indexOf(statusOf(row) ?? ''))
    const known = order.filter((at) => at >= 0)
    expect([...known, ...order.filter((at) => at < 0)], list).toEqual(order)
    expect(known).toEqual(known.toSorted((a, b) => a - b))
    for (const status of worstFirst) {
      const ids = (byStatus.get(status) ?? []).map(({ id }) => String(id)).toSorted()
      const filtered = data[`${list}${status}`]
      expect(filtered.nodes.map(({ id }: Fields) => id).toSorted(), `${list} ${status}`).toEqual(
        ids,
      )
      expect([counted.get(status) ?? 0, filtered.totalCount]).toEqual([ids.length, ids.length])
    }
    const none = byStatus.get(undefined)?.length ?? 0
    expect([facets[0].missingCount, data[`${list}None`].totalCount]).toEqual([none, none])
  }

  const check = async (user: string): Promise<void> => {
    const { data, errors } = await served.query(caller(user), everything)
    const lists = Object.keys(kinds).filter((list) => data?.[list] !== null)
    const refused = (errors ?? []).map((error) => error.extensions?.['code'])
    expect(new Set(refused).isSubsetOf(new Set(['FORBIDDEN'])), JSON.stringify(errors)).toBe(true)
    const all: Fields = data
    for (const list of lists) checkList(all, list)
    const rows: Fields[] = lists.flatMap((list) => all[list].nodes)
    const byId = new Map(rows.map((row) => [row['id'], row]))
    for (const { owners } of all['pods'].nodes) {
      for (const owner of owners ?? []) {
        const row = byId.get(owner.id)
        if (row !== undefined) expect(owner.health).toEqual(row['health'])
      }
    }
    const places = new Set<string>()
    for (const { cluster, object, objects } of all['problems'].nodes) {
      for (const one of [object, ...objects]) {
        if (one.namespace !== null) places.add(`${cluster}/${one.namespace}`)
        const row = byId.get(one.id)
        if (row !== undefined) expect(one.object.health).toEqual(row['health'])
      }
      const worst = objects.map((one: Fields) => statusOf(one.object ?? {}))
      expect(worst, 'a problem of what is healthy').not.toContain('HEALTHY')
    }
    for (const row of rows) seen.add(`${user} ${statusOf(row)}`)
    const contents = lists.filter((list) => inNamespaces.includes(list))
    for (const { clusterName, name, health } of all['namespaces'].nodes) {
      const inside: Fields[] = contents
        .flatMap((list) => all[list].nodes as Fields[])
        .filter((row) => row['clusterName'] === clusterName && row['namespace'] === name)
      const ranks = inside
        .map((row) => worstFirst.indexOf(statusOf(row) ?? 'HEALTHY'))
        .filter((rank) => rank < 3)
      const expected = ranks.length === 0 ? 'HEALTHY' : worstFirst[Math.min(...ranks)]
      expect(health.status, `${user}: ${clusterName}/${name}`).toBe(expected)
      expect(health.status === 'DEGRADED' && !places.has(`${clusterName}/${name}`)).toBe(false)
    }
  }

  it('is the same in rows, counts, filters, orders, problems, owners and namespaces, for each viewer', async () => {
    for (let round = 0; round < 12; round++) {
      for (const user of ['root', 'ann', 'ben']) await check(user)
      expect([...seen].toSorted()).toContain('root DEGRADED')
      const world = pick(worlds)
      const list = pick(inNamespaces)
      const path = kinds[list]?.path ?? ''
      const name = `${list.toLowerCase()}-${Math.floor(random() * 4)}`
      for (const namespace of ['one', 'two']) {
        await change(world, list, `${path.replace('NAMESPACE', namespace)}/${name}`).catch(() => {})
      }
      await change(world, 'nodes', `/api/v1/nodes/nodes-${round % 4}`)
    }
  })

  it('is followed as each viewer sees it', async () => {
    const broken = { status: kinds['pods']?.states[4] }
    const query = '{ namespaces(where: { health: { eq: DEGRADED } }) { nodes { name } } }'
    const [world] = worlds
    await world?.make('/api/v1/namespaces/two/pods', {
      metadata: { name: 'breaks' },
      spec: kinds['pods']?.spec,
    })
    await world?.patch('/api/v1/namespaces/two/pods/breaks/status', broken)
    const asked = async (user: string): Promise<readonly string[]> => {
      const { data } = await served.query(caller(user), query)
      return data.namespaces.nodes.map(({ name }: Fields) => String(name))
    }
    await expect.poll(async () => asked('root')).toContain('two')
    expect(await asked('ann')).not.toContain('two')
    for (const user of ['root', 'ann']) {
      const live = follow(
        served.connect(caller(user)),
        'namespaces(where: { health: { eq: DEGRADED } })',
        'name',
      )
      await live.until('all', () => live.fold.synced)
      const names = [...live.fold.objects.values()].map(({ name }) => String(name))
      expect(names.toSorted()).toEqual((await asked(user)).toSorted())
      expect(live.problems).toEqual([])
      live.complete()
    }
  })

  it('says of whom the sums are: of all, of some namespaces, and of what a namespace holds', async () => {
    const query = `{
      pods { visible }
      one: pods(namespace: "one") { visible }
      over: pods(clusters: ["*"]) { visible totalCount }
      deployments { nodes { pods { visible } } }
      kubernetesObjects(kinds: ["Pod", "Deployment"]) { visible }
    }`
    const of = async (user: string): Promise<Fields> => {
      const { data } = await served.query(caller(user), query)
      return data
    }
    const root = await of('root')
    expect([root['pods'], root['one'], root['over'].visible]).toEqual([
      { visible: 'ALL' },
      { visible: 'ALL' },
      'ALL',
    ])
    const ann = await of('ann')
    expect([ann['pods'], ann['one'], ann['over'].visible]).toEqual([
      { visible: 'NAMESPACES' },
      { visible: 'ALL' },
      'NAMESPACES',
    ])
    expect(ann['kubernetesObjects']).toEqual({ visible: 'NAMESPACES' })
    // A workload's pods are in its namespace, and that she sees whole.
    expect(new Set(ann['deployments'].nodes.map((one: Fields) => one['pods'].visible))).toEqual(
      new Set(['ALL']),
    )
  })
})
