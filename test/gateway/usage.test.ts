import { type SimulatorOptions, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { firstAnswer, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { sameForAllTests, serveSimulator } from '../support/served-simulator.ts'
import { followFacets } from './followed-facets.ts'
import { followPage } from './followed-page.ts'
import { describeClusters, type Fields, must } from './test-cluster.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const nodesOf = { group: '', version: 'v1', resource: 'nodes' } as const

const pod = (name: string, usage: string, namespace = 'shop'): Fields => ({
  metadata: { name, namespace, annotations: { 'simulator.informerql/usage': usage } },
  spec: {
    nodeName: 'node-1',
    containers: [
      { name: 'main', image: 'a', resources: { requests: { cpu: '500m', memory: '64Mi' } } },
      { name: 'side', image: 'a' },
    ],
  },
  status: { phase: 'Running' },
})

describe('Usage', () => {
  const same = sameForAllTests({
    simulator: {
      metrics: true,
      populate: (storage) => {
        storage.create(nodesOf, { metadata: { name: 'node-1' } } as Fields)
        storage.create(podsOf, pod('small', '100m 32Mi'))
        storage.create(podsOf, pod('large', '1500m 1Gi'))
        storage.create(podsOf, pod('middle', '250m 128Mi', 'jobs'))
        storage.create(podsOf, {
          ...pod('waiting', '250m 128Mi', 'jobs'),
          status: { phase: 'Pending' },
        })
      },
    },
    gateway: { cache: { usageIntervalMs: 100 } },
  })
  const names = ({ nodes }: Fields): readonly string[] => nodes.map(({ name }: Fields) => name)

  it('is on pods, their containers and nodes, as metrics-server measured it', async () => {
    const { pods, nodes } = await same.gateway.data(`{
      pods {
        nodes {
          name
          requests { cpu memory }
          limits { cpu memory }
          usage { cpu memory at window containers { name cpu memory } }
        }
      }
      nodes { nodes { usage { cpu memory at window containers { name } } } }
    }`)
    for (const { requests, limits } of pods.nodes) {
      expect(requests).toEqual({ cpu: '500m', memory: '64Mi' })
      expect(limits).toEqual({ cpu: null, memory: null })
    }
    const of = Object.fromEntries(pods.nodes.map(({ name, usage }: Fields) => [name, usage]))
    expect(of.large).toMatchObject({ cpu: '1500m', memory: '1Gi' })
    expect(of.large.containers).toEqual([
      { name: 'main', cpu: '1500000000n', memory: '1048576Ki' },
      { name: 'side', cpu: '0n', memory: '0Ki' },
    ])
    expect(Date.parse(of.large.at)).toBeGreaterThan(0)
    expect(of.large.window).toMatch(/^[0-9.]+s$/)
    expect(of.waiting).toBeNull()
    expect(nodes.nodes[0].usage).toMatchObject({ containers: null })
    expect(nodes.nodes[0].usage.cpu).toMatch(/^[0-9]+n$|m$/)
  })

  it('orders, filters, adds up and counts, within one query', async () => {
    const { most, busy, all, related } = await same.gateway.data(`{
      most: pods(orderBy: [{ usageCpu: DESC }], first: 2) { nodes { name } }
      busy: pods(where: { usageMemory: { gte: "128Mi" } }, orderBy: [{ usageMemory: ASC }]) {
        totalCount nodes { name }
      }
      all: pods {
        sum(of: ["cpuRequests", "usageCpu", "usageMemory"]) { of value count }
        facets(by: ["namespace"], sum: ["usageCpu"]) { values { value sums { value } } }
      }
      related: nodes(where: { pods: { some: { usageCpu: { gt: "1" } } } }) { nodes { name } }
    }`)
    expect(names(most)).toEqual(['large', 'middle'])
    expect(busy.totalCount).toBe(2)
    expect(names(busy)).toEqual(['middle', 'large'])
    expect(all.sum).toEqual([
      { of: 'cpuRequests', value: '2', count: 4 },
      { of: 'usageCpu', value: '1850m', count: 3 },
      { of: 'usageMemory', value: '1184Mi', count: 3 },
    ])
    expect(all.facets[0].values).toEqual([
      { value: 'jobs', sums: [{ value: '250m' }] },
      { value: 'shop', sums: [{ value: '1600m' }] },
    ])
    expect(names(related)).toEqual(['node-1'])
  })

  it('is live at its interval: rows, pages and sums follow, and lists without usage do not', async () => {
    const { gateway, cluster } = same
    const page = followPage(gateway.connect(), {
      field: 'podsPage(orderBy: [{ usageCpu: DESC }], first: 2, coalesceMs: 0',
      selection: 'name usage { cpu }',
    })
    const sums = followFacets(
      gateway.connect(),
      'podFacets(by: [], sum: ["usageCpu"], coalesceMs: 0) { sums { value } }',
    )
    const busy = followPage(gateway.connect(), {
      field: 'podsPage(where: { usageCpu: { gt: "1" } }, first: 5, coalesceMs: 0',
      selection: 'name',
    })
    const quiet = followPage(gateway.connect(), {
      field: 'podsPage(first: 5, coalesceMs: 0',
      selection: 'name',
    })
    const rows = ({ rows: held }: { readonly rows: readonly Fields[] }): string =>
      held.map(({ name, usage }) => `${name} ${usage?.cpu ?? ''}`.trim()).join()
    await page.until((held) => rows(held) === 'large 1500m,middle 250m')
    await busy.until((held) => rows(held) === 'large')
    await sums.until((frame) => frame.sums[0].value === '1850m')
    await quiet.until(({ totalCount }) => totalCount === 4)
    const before = quiet.seen.length
    // The annotation alone: what the pods use changes, and no field that anything else selects.
    const change = (name: string, namespace: string, usage: string): void => {
      const found = cluster.storage.get(podsOf, namespace, name) as Fields
      const annotations = { 'simulator.informerql/usage': usage }
      cluster.storage.update(podsOf, {
        ...found,
        metadata: { ...found.metadata, annotations },
      })
    }
    change('small', 'shop', '2 32Mi')
    await page.until((held) => rows(held) === 'small 2,large 1500m')
    await busy.until((held) => rows(held) === 'large,small')
    await sums.until((frame) => frame.sums[0].value === '3750m')
    change('small', 'shop', '100m 32Mi')
    await page.until((held) => rows(held) === 'large 1500m,middle 250m')
    await busy.until((held) => rows(held) === 'large')
    cluster.storage.delete(podsOf, 'shop', 'large')
    await page.until((held) => rows(held) === 'middle 250m,small 100m')
    cluster.storage.create(podsOf, pod('large', '1500m 1Gi'))
    await page.until((held) => rows(held) === 'large 1500m,middle 250m')
    const further = quiet.seen.slice(before).flatMap(({ frame }) => frame.changes)
    expect(further.map(({ step }: Fields) => step)).toEqual(['REMOVE', 'INSERT'])
    for (const one of [page, busy, quiet, sums]) one.leave()
  })

  it('is read once for all who ask, and no longer once nobody does', async () => {
    const counted = async (usageIntervalMs: number): Promise<Counted> => {
      const own = await serveSimulator({
        simulator: {
          metrics: true,
          populate: (storage) => void storage.create(podsOf, pod('a', '1 1Gi')),
        },
        gateway: { cache: { usageIntervalMs } },
      })
      const { faults } = own.cluster
      faults.inject({ fault: { type: 'none' }, match: { group: 'metrics.k8s.io' }, times: most })
      return {
        ask: () => own.gateway.data('{ pods { nodes { usage { cpu } } } }'),
        requests: () => most - (faults.pending()[0]?.remaining ?? most),
        [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
      }
    }
    await using rare = await counted(3_600_000)
    await Promise.all(Array.from({ length: 20 }, () => rare.ask()))
    await rare.ask()
    expect(rare.requests()).toBe(1)
    await using often = await counted(50)
    await often.ask()
    let before = -1
    // Some intervals after the last answer, there are no further requests.
    while (often.requests() !== before) {
      before = often.requests()
      await new Promise((resolve) => void setTimeout(resolve, 1_000))
    }
    expect(before).toBeGreaterThan(1)
  })
})

/** A gateway whose requests for measurements are counted. */
interface Counted extends AsyncDisposable {
  readonly ask: () => Promise<unknown>
  readonly requests: () => number
}

const most = 10_000

const rules = [
  { apiGroups: [''], resources: ['pods', 'nodes', 'namespaces'], verbs: ['get', 'list', 'watch'] },
]
const usageRules = [{ apiGroups: ['metrics.k8s.io'], resources: ['pods'], verbs: ['get', 'list'] }]

describe('Usage and permissions', () => {
  it('is for those who may list it, where they may, and its order and sums tell others nothing', async () => {
    const group = 'rbac.authorization.k8s.io'
    await using cluster = await startSimulator({
      metrics: true,
      authorization: 'rbac',
      users: [{ token: 'gateway', user: 'gateway', groups: ['system:masters'] }],
      populate: (storage) => {
        for (const [name, namespace] of [
          ['large', 'shop'],
          ['middle', 'jobs'],
        ] as const) {
          storage.create(podsOf, pod(name, '250m 64Mi', namespace))
        }
        const role = { group, version: 'v1', resource: 'clusterroles' }
        storage.create(role, { metadata: { name: 'reader' }, rules } as Fields)
        storage.create(role, { metadata: { name: 'usage' }, rules: usageRules } as Fields)
        const subjects = (name: string): object => ({
          subjects: [{ apiGroup: group, kind: 'User', name }],
        })
        const bind = (name: string, to: string, namespace?: string): void =>
          void storage.create(
            {
              group,
              version: 'v1',
              resource: namespace === undefined ? 'clusterrolebindings' : 'rolebindings',
            },
            {
              metadata: { name: `${name}-${to}`, namespace },
              roleRef: { apiGroup: group, kind: 'ClusterRole', name: to },
              ...subjects(name),
            } as never,
          )
        storage.create(nodesOf, { metadata: { name: 'node-1' } } as Fields)
        const pods = { apiGroups: [''], verbs: ['list', 'watch'], resources: ['pods'] }
        const node = { ...pods, verbs: ['get'], resources: ['nodes'], resourceNames: ['node-1'] }
        storage.create(role, { metadata: { name: 'named' }, rules: [pods, node] } as Fields)
        for (const name of ['sees', 'blind', 'some']) bind(name, 'reader')
        bind('named', 'named')
        for (const name of ['sees', 'named']) bind(name, 'usage')
        bind('some', 'usage', 'shop')
      },
    })
    const headers = { authorization: 'Bearer gateway' }
    const expireHistory = (): Promise<void> => Promise.resolve()
    await using config = await writeKubeconfig({ url: cluster.url, headers, expireHistory })
    await using gateway = await serveViewers({
      clusters: [{ name: 'one', kubeconfig: config.path }],
    })
    const rows = '{ pods { nodes { name usage { cpu } } } }'
    const ordered = '{ pods(orderBy: [{ usageCpu: DESC }]) { nodes { name } } }'
    const summed = '{ pods { sum(of: ["usageCpu"]) { value } } }'
    const filtered = '{ pods(where: { usageCpu: { gt: "0" } }) { totalCount } }'
    const within = '{ pods(namespace: "shop", orderBy: [{ usageCpu: DESC }]) { nodes { name } } }'
    const codes = ({
      errors = [],
    }: {
      readonly errors?: readonly Fields[] | undefined
    }): readonly string[] => errors.map(({ extensions }) => extensions.code)
    const all = await gateway.query(caller('sees'), rows)
    expect(all.errors).toBeUndefined()
    expect(all.data.pods.nodes).toEqual([
      { name: 'middle', usage: { cpu: '250m' } },
      { name: 'large', usage: { cpu: '250m' } },
    ])
    const none = await gateway.query(caller('blind'), rows)
    expect(codes(none)).toEqual(['FORBIDDEN'])
    expect(none.data.pods.nodes.map(({ usage }: Fields) => usage)).toEqual([null, null])
    const part = await gateway.query(caller('some'), rows)
    expect(codes(part)).toEqual(['FORBIDDEN'])
    expect(part.data.pods.nodes.map(({ usage }: Fields) => usage)).toEqual([null, { cpu: '250m' }])
    for (const query of [ordered, summed, filtered]) {
      expect(codes(await gateway.query(caller('sees'), query))).toEqual([])
      expect(codes(await gateway.query(caller('blind'), query))).toEqual(['FORBIDDEN'])
      expect(codes(await gateway.query(caller('some'), query))).toEqual(['FORBIDDEN'])
    }
    expect((await gateway.query(caller('some'), within)).data.pods.nodes).toEqual([
      { name: 'large' },
    ])
    const followed = 'subscription { pods { changes { object { name usage { cpu } } } } }'
    for (const [name, usages] of [
      ['sees', { large: { cpu: '250m' }, middle: { cpu: '250m' } }],
      ['blind', { large: null, middle: null }],
      ['some', { large: { cpu: '250m' }, middle: null }],
    ] as const) {
      const { data, errors } = await firstAnswer(gateway.connect(caller(name)), followed)
      const seen = data.pods.changes.map(({ object }: Fields) => [object.name, object.usage])
      expect(Object.fromEntries(seen), name).toEqual(usages)
      const hidden = Object.values(usages).filter((one) => one === null)
      expect(codes({ errors }), name).toEqual(hidden.map(() => 'FORBIDDEN'))
    }
    const live = 'subscription { podsPage(orderBy: [{ usageCpu: DESC }]) { totalCount } }'
    const first = (name: string) => firstAnswer(gateway.connect(caller(name)), live)
    expect((await first('sees')).data.podsPage.totalCount).toBe(2)
    expect(codes(await first('blind'))).toEqual(['FORBIDDEN'])
    expect(codes(await first('some'))).toEqual(['FORBIDDEN'])
    // The order, sums and filters of running subscriptions end with the right to the usage. One viewer alone: the rows
    // show a node that they may get by its name.
    const fields = [
      'podsPage(orderBy: [{ usageCpu: DESC }]) { totalCount }',
      'podsPage(orderBy: [{ usageCpu: DESC }]) { changes { object { name node { name } } } }',
      'podFacets(by: [], sum: ["usageCpu"]) { sums { value } }',
      'podsPage(where: { usageCpu: { gt: "0" } }) { totalCount }',
      'pods(where: { usageCpu: { gt: "0" } }) { synced }',
    ]
    const running = ['sees', 'named'].flatMap((name) =>
      fields.map((field) => followFacets(gateway.connect(caller(name)), field)),
    )
    await Promise.all(running.map(({ until }) => until(() => true)))
    const ofNode = running[fields.length + 1]
    const isNamed = ({ changes }: Fields): boolean =>
      changes.some(({ object }: Fields) => object?.node?.name === 'node-1')
    await ofNode?.until(() => ofNode.frames.some(isNamed))
    for (const name of ['sees', 'named']) {
      const bindings = { group, version: 'v1', resource: 'clusterrolebindings' }
      cluster.storage.delete(bindings, '', `${name}-usage`)
    }
    await Promise.all(running.map(({ ended }) => ended()))
    for (const { problems } of running) expect(codes({ errors: problems })).toEqual(['FORBIDDEN'])
  })
})

describeClusters('Usage of a cluster without metrics-server', (cluster) => {
  it('is null, and one error says what is missing', async () => {
    for (const name of ['usage-a', 'usage-b']) {
      const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
      await must(cluster(), '/api/v1/nodes', { method: 'POST', body })
    }
    await using gateway = await serveGateway({
      clusters: [{ name: 'test', ...cluster().selection }],
    })
    const named = 'where: { name: { startsWith: "usage-" } }'
    const rows = await gateway.query(`{ nodes(${named}) { nodes { name usage { cpu } } } }`)
    expect(rows.data.nodes.nodes).toEqual([
      { name: 'usage-a', usage: null },
      { name: 'usage-b', usage: null },
    ])
    expect(rows.errors).toMatchObject([
      {
        extensions: { code: 'NOT_FOUND', type: 'NodeMetrics' },
        path: ['nodes', 'nodes', 0, 'usage'],
      },
    ])
    expect(rows.errors?.[0]?.extensions.hint).toContain('metrics-server')
    const ordered = `nodes(orderBy: [{ usageCpu: ASC }]) { totalCount }`
    const summed = 'nodes { sum(of: ["usageCpu"]) { value } }'
    for (const query of [ordered, summed]) {
      const { errors } = await gateway.query(`{ ${query} }`)
      expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }])
    }
    const live = 'subscription { nodesPage(orderBy: [{ usageCpu: ASC }]) { totalCount } }'
    const { errors } = await firstAnswer(gateway.connect(), live)
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }])
  })
})

it('Sums of usage beneath the rows of a subscription are no fault that the log tells', async () => {
  await using simulator = await startSimulator({
    metrics: true,
    populate(storage) {
      storage.create(nodesOf, { metadata: { name: 'node-1' } } as Fields)
      storage.create(podsOf, pod('small', '100m 32Mi'))
    },
  })
  await using gateway = await serveGateway({
    clusters: [{ name: 'test', server: simulator.url }],
  })
  const query =
    'subscription { nodes { synced changes { object { name pods { sum(of: ["usageCpu"]) { number } } } } } }'
  const { data } = await firstAnswer(gateway.connect(), query)
  expect(data.nodes.changes).toEqual([
    { object: { name: 'node-1', pods: { sum: [{ number: 0.1 }] } } },
  ])
  expect(gateway.log.filter((line) => line.includes('unexpectedly'))).toEqual([])
})

describe('Usage over clusters', () => {
  it('is of those that measure it, and what the others lack is named', async () => {
    const populate: SimulatorOptions['populate'] = (storage) => {
      storage.create(podsOf, pod('a', '1 1Gi'))
      storage.create(podsOf, pod('b', '2 1Gi'))
    }
    await using measured = await startSimulator({ metrics: true, populate })
    await using without = await startSimulator({ populate })
    await using gateway = await serveGateway({
      clusters: [
        { name: 'with', server: measured.url },
        { name: 'without', server: without.url },
      ],
      cache: { usageIntervalMs: 100 },
    })
    const over = 'clusters: ["with", "without"]'
    const { data } = await gateway.query(
      `{ pods(${over}, orderBy: [{ usageCpu: DESC }]) { nodes { clusterName name } incomplete { cluster code } } }`,
    )
    expect(data.pods.incomplete).toEqual([{ cluster: 'without', code: 'NOT_FOUND' }])
    expect(data.pods.nodes).toEqual([
      { clusterName: 'with', name: 'b' },
      { clusterName: 'with', name: 'a' },
    ])
    const rows = await gateway.query(
      `{ pods(${over}) { nodes { clusterName name usage { cpu } } } }`,
    )
    expect(rows.data.pods.nodes.map(({ usage }: Fields) => usage?.cpu ?? null)).toEqual([
      '1',
      '2',
      null,
      null,
    ])
    expect(rows.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND', cluster: 'without' } }])
    const page = followPage(gateway.connect(), {
      field: `podsPage(${over}, orderBy: [{ usageCpu: DESC }], first: 5, coalesceMs: 0`,
      selection: 'name',
    })
    await page.until((held) => held.rows.map(({ name }) => name).join() === 'b,a')
    page.leave()
  })
})

describe('Usage while metrics-server fails', () => {
  it('is null with one error, holds nothing up, and comes back', async () => {
    await using own = await serveSimulator({
      simulator: {
        metrics: true,
        populate: (storage) => void storage.create(podsOf, pod('a', '1 1Gi')),
      },
      gateway: { cache: { usageIntervalMs: 100 } },
    })
    const { faults } = own.cluster
    const match = { group: 'metrics.k8s.io' }
    faults.inject({ fault: { type: 'status', code: 503 }, match, times: most })
    const rows = '{ pods { nodes { name usage { cpu } } } }'
    const { data, errors } = await own.gateway.query(rows)
    expect(data).toEqual({ pods: { nodes: [{ name: 'a', usage: null }] } })
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_SYNCED', type: 'PodMetrics' } }])
    faults.clear()
    await expect
      .poll(() => own.gateway.query(rows))
      .toEqual({ data: { pods: { nodes: [{ name: 'a', usage: { cpu: '1' } }] } } })
  })

  it('is of the namespaces that the gateway caches', async () => {
    await using own = await serveSimulator({
      simulator: {
        metrics: true,
        populate: (storage) => {
          for (const namespace of ['shop', 'jobs']) {
            storage.create(podsOf, pod('a', '1 1Gi', namespace))
          }
        },
      },
      gateway: { cache: { namespaces: ['shop'], usageIntervalMs: 100 } },
    })
    const { data, errors } = await own.gateway.query(
      '{ pods(orderBy: [{ usageCpu: DESC }]) { nodes { namespace usage { cpu } } } }',
    )
    expect(errors).toBeUndefined()
    expect(data.pods.nodes).toEqual([{ namespace: 'shop', usage: { cpu: '1' } }])
  })
})
