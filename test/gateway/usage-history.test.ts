import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onPath, Prometheus } from '../monitoring/prometheus.ts'
import { FakePrometheus } from '../support/fake-prometheus.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { sameForAllTests } from '../support/served-simulator.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import type { Fields } from './test-cluster.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const nodesOf = { group: '', version: 'v1', resource: 'nodes' } as const
const servicesOf = { group: '', version: 'v1', resource: 'services' } as const

const pod = (name: string, usage: string, namespace = 'shop'): Fields => ({
  metadata: {
    name,
    namespace,
    labels: { app: 'web' },
    annotations: { 'simulator.informerql/usage': usage },
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'a' }] },
  status: { phase: 'Running' },
})

const populate: (storage: Simulator['storage']) => void = (storage) => {
  storage.create(nodesOf, { metadata: { name: 'node-1' } } as Fields)
  storage.create(podsOf, pod('web-0', '100m 32Mi'))
  storage.create(podsOf, pod('web.1', '1500m 1Gi'))
  storage.create(podsOf, pod('web-0', '250m 128Mi', 'jobs'))
  storage.create(servicesOf, {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { selector: { app: 'web' } },
  } as Fields)
}

const history = 'usageHistory { times stepSeconds cpu memory counts since source }'
const ofPod = (name: string, fields = history): string =>
  `{ pod(namespace: "shop", name: "${name}") { ${fields} } }`

const last = (values: readonly (number | null)[]): number | null | undefined =>
  values.findLast((value) => value !== null)
const codes = ({ errors = [] }: { readonly errors?: readonly Fields[] | undefined }) =>
  errors.map(({ extensions }: Fields) => extensions.code as string)

describe('The history of usage', () => {
  const same = sameForAllTests({
    simulator: { metrics: true, populate },
    gateway: { cache: { usageIntervalMs: 1_000 } },
  })

  it('is what the gateway has measured: of a pod, a node, and of the pods of anything that has some', async () => {
    // What was measured in the minute before an object was created counts for an earlier one.
    const isMeasured = async (): Promise<boolean> => {
      const { pods, nodes } = await same.gateway.data(
        '{ pods { nodes { usageHistory { cpu } } } nodes { nodes { usageHistory { cpu } } } }',
      )
      return [...pods.nodes, ...nodes.nodes].every(
        ({ usageHistory }: Fields) => last(usageHistory.cpu) !== undefined,
      )
    }
    await expect.poll(isMeasured).toBe(true)
    const { web, node, service, namespace } = await same.gateway.data(`{
      web: pod(namespace: "shop", name: "web.1") { usage { cpu } ${history} }
      node(name: "node-1") { ${history} }
      service(namespace: "shop", name: "web") { ${history} }
      namespace: pod(namespace: "jobs", name: "web-0") { ${history} }
    }`)
    const { times, cpu, memory, counts, since, source, stepSeconds } = web.usageHistory
    expect({ source, stepSeconds, points: times.length }).toEqual({
      source: 'MEASURED',
      stepSeconds: 60,
      points: 60,
    })
    for (const values of [cpu, memory, counts]) expect(values).toHaveLength(60)
    expect(Date.parse(times.at(-1)) - Date.parse(times[0])).toBe(59 * 60_000)
    expect(Date.parse(since)).toBeGreaterThan(0)
    expect(last(cpu)).toBe(1.5)
    expect(last(memory)).toBe(2 ** 30)
    expect(cpu[0]).toBeNull()
    expect(counts[0]).toBe(0)
    expect(last(node.usageHistory.memory)).toBeGreaterThan(0)
    expect(last(service.usageHistory.cpu)).toBeCloseTo(1.6, 5)
    expect(Math.max(...service.usageHistory.counts)).toBe(2)
    expect(last(namespace.usageHistory.cpu)).toBe(0.25)
  })

  it('takes at most a day, in at most 60 steps', async () => {
    const { pod: found } = await same.gateway.data(
      ofPod('web-0', 'usageHistory(minutes: 1440) { times stepSeconds cpu }'),
    )
    expect(found.usageHistory.stepSeconds).toBe(1_440)
    expect(found.usageHistory.times).toHaveLength(60)
    expect(last(found.usageHistory.cpu)).toBeCloseTo(0.1, 5)
    for (const minutes of [0, -1, 1_441, 2_147_483_647]) {
      const answer = await same.gateway.query(
        ofPod('web-0', `usageHistory(minutes: ${minutes}) { times }`),
      )
      expect(answer.errors).toMatchObject([
        { extensions: { code: 'BAD_USER_INPUT', argument: 'minutes' } },
      ])
    }
  })

  it('is not in subscriptions, which say so', async () => {
    const answer = await firstAnswer(
      same.gateway.connect(),
      'subscription { pods { changes { object { name usageHistory { times } } } } }',
    )
    expect(codes(answer)).toContain('UNSUPPORTED')
  })

  it('costs what a list costs', async () => {
    const fields = Array.from({ length: 200 }, (_, at) => `u${at}: usageHistory { times }`)
    const answer = await same.gateway.query(`{ pods { nodes { ${fields.join(' ')} } } }`)
    expect(codes(answer)).toContain('QUERY_TOO_COSTLY')
  })

  it('of a pod ends with the pod', async () => {
    const { cluster } = same
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      cache: { usageIntervalMs: 1_000 },
    })
    cluster.storage.create(podsOf, pod('short', '700m 1Gi'))
    const read = async (): Promise<unknown> => {
      const { pod: found } = await gateway.data(ofPod('short', 'usageHistory { cpu }'))
      return found === null ? null : last(found.usageHistory.cpu)
    }
    await expect.poll(read).toBeCloseTo(0.7, 5)
    cluster.storage.delete(podsOf, 'shop', 'short')
    await expect.poll(read).toBeNull()
    await gateway.data('{ pods { nodes { usage { cpu } } } }')
    cluster.storage.create(podsOf, {
      ...pod('short', '700m 1Gi'),
      status: { phase: 'Pending' },
    })
    await expect.poll(read).toBeUndefined()
  })

  it('says where the memory for it is used up', async () => {
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: same.cluster.url }],
      cache: { maxUsageHistoryBytes: 0 },
    })
    const answer = await gateway.query(ofPod('web-0'))
    expect(codes(answer)).toEqual(['CACHE_FULL'])
    expect(last(answer.data.pod.usageHistory.cpu)).toBeUndefined()
  })

  it('says that a cluster measures nothing', async () => {
    await using cluster = await startSimulator({ populate })
    await using gateway = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })
    const answer = await gateway.query(ofPod('web-0'))
    expect(codes(answer)).toEqual(['NOT_FOUND'])
    expect(answer.data.pod.usageHistory).toBeNull()
  })
})

describe('The history of usage in Prometheus', () => {
  const prometheus = new FakePrometheus()
  let cluster: Simulator
  let url: string
  let gateway: ServedGateway

  beforeAll(async () => {
    url = await prometheus.listen()
    cluster = await startSimulator({ metrics: true, populate })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      prometheus: { url: `${url}/select/{cluster}/`, headers: { authorization: 'Basic eA==' } },
    })
    prometheus.series.push(
      { metric: { namespace: 'shop', pod: 'web-0' }, cpu: 2 },
      { metric: { namespace: 'shop', pod: 'web.1' }, cpu: 3 },
      // What was not asked about: it would be another cluster's, or another pod's.
      { metric: { namespace: 'jobs', pod: 'web-0' }, cpu: 100 },
      { metric: { namespace: 'shop', pod: 'webx1' }, cpu: 100 },
      { metric: { node: 'node-1' }, cpu: 4 },
    )
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
    await prometheus[Symbol.asyncDispose]()
  })

  it('is read by fixed queries, whose labels are the escaped names of the objects', async () => {
    prometheus.asked.length = 0
    const { pod: web } = await gateway.data(ofPod('web.1'))
    const { source, since } = web.usageHistory
    expect({ source, since }).toEqual({ source: 'PROMETHEUS', since: null })
    // The pod is younger than the first steps.
    expect(last(web.usageHistory.cpu)).toBe(3)
    expect(web.usageHistory.cpu[0]).toBeNull()
    expect(last(web.usageHistory.memory)).toBe(3 * 2 ** 30)
    const selector = String.raw`{namespace=~"shop",pod=~"web\\.1",container!="",container!="POD"}`
    expect(prometheus.asked.map(({ query }) => query)).toEqual([
      `sum by (namespace,pod) (rate(container_cpu_usage_seconds_total${selector}[300s]))`,
      `sum by (namespace,pod) (container_memory_working_set_bytes${selector})`,
    ])
    for (const { end, start, step, path, authorization } of prometheus.asked) {
      expect(end - start).toBe(59 * 60)
      expect({ step, path, authorization }).toEqual({
        step: 60,
        path: '/select/one/api/v1/query_range',
        authorization: 'Basic eA==',
      })
    }
  })

  it('is there where the cluster has no metrics-server', async () => {
    await using plain = await startSimulator({ populate })
    await using served = await serveGateway({
      clusters: [{ name: 'one', server: plain.url }],
      prometheus: { url },
    })
    const { web, node } = await served.data(
      `{ web: pod(namespace: "shop", name: "web.1") { ${history} } node(name: "node-1") { ${history} } }`,
    )
    expect([web, node].map(({ usageHistory }: Fields) => usageHistory.source)).toEqual([
      'PROMETHEUS',
      'PROMETHEUS',
    ])
    expect(last(web.usageHistory.cpu)).toBe(3)
    expect(last(node.usageHistory.cpu)).toBe(4)
    // What an object uses at present is measured, not asked for there.
    const answer = await served.query(ofPod('web.1', 'usage { cpu }'))
    expect(codes(answer)).toEqual(['NOT_FOUND'])
  })

  it('adds up exactly the pods that were asked about', async () => {
    prometheus.asked.length = 0
    const { service, node } = await gateway.data(
      `{ service(namespace: "shop", name: "web") { ${history} } node(name: "node-1") { ${history} } }`,
    )
    expect(last(service.usageHistory.cpu)).toBe(5)
    expect(Math.max(...service.usageHistory.counts)).toBe(2)
    expect(last(node.usageHistory.cpu)).toBe(4)
    expect(prometheus.asked.map(({ query }) => query).join('\n')).toContain(
      '{node=~"node-1",id="/"}',
    )
  })

  it('takes no name for a part of the query', async () => {
    const evil = 'x"} or vector(1) or {a="\\'
    cluster.storage.create(podsOf, pod(evil, '1 1Gi', 'evil'))
    prometheus.asked.length = 0
    await gateway.data(`{ pods(namespace: "evil") { nodes { ${history} } } }`)
    const [{ query } = { query: '' }] = prometheus.asked
    const strings = [...query.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => text)
    expect(strings).toHaveLength(4)
    // Outside of the strings, there is nothing but the fixed query.
    expect(query.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')).toBe(
      'sum by (namespace,pod) (rate(container_cpu_usage_seconds_total{namespace=~"",pod=~"",container!="",container!=""}[300s]))',
    )
    const pattern = JSON.parse(strings[1] ?? '') as string
    expect(new RegExp(`^(?:${pattern})$`).test(evil)).toBe(true)
    cluster.storage.delete(podsOf, 'evil', evil)
  })

  it.each(['fails', 'nonsense', 'floods'] as const)(
    'is what the gateway has measured where Prometheus %s, with an error beside it',
    async (behaviour) => {
      await using own = await serveGateway({
        clusters: [{ name: 'one', server: cluster.url }],
        prometheus: { url },
      })
      prometheus.behaviour = behaviour
      const answer = await own.query(ofPod('web-0'))
      prometheus.behaviour = 'answers'
      expect(answer.errors).toMatchObject([
        { extensions: { code: 'METRICS_UNREACHABLE', cluster: 'one', retryAfterMs: 5_000 } },
      ])
      expect(JSON.stringify(answer)).not.toContain(url)
      const { source, cpu } = answer.data.pod.usageHistory
      expect(source).toBe('MEASURED')
      expect(last(cpu)).toBeCloseTo(0.1, 5)
    },
  )

  it('is not asked again at once after a failure, and then answers', async () => {
    await using away = new FakePrometheus()
    await using own = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      prometheus: { url: await away.listen() },
    })
    away.behaviour = 'fails'
    const codesNow = async () => codes(await own.query(ofPod('web-0')))
    expect(await codesNow()).toEqual(['METRICS_UNREACHABLE'])
    const asked = away.asked.length
    await Promise.all(Array.from({ length: 50 }, codesNow))
    // Two requests of each of the few that were sent when the time of rest was over, not of 50.
    expect(away.asked.length - asked).toBeLessThan(50)
    away.behaviour = 'answers'
    await expect.poll(codesNow).toEqual([])
  })

  it('is not asked about one of several clusters that it cannot tell apart', async () => {
    await using second = await startSimulator({ metrics: true, populate })
    const clusters = [
      { name: 'one', server: cluster.url },
      { name: 'two', server: second.url },
    ]
    await using mixed = await serveGateway({ clusters, prometheus: { url } })
    prometheus.asked.length = 0
    const two = `{ pod(cluster: "two", namespace: "shop", name: "web-0") { usageHistory { source } } }`
    expect((await mixed.data(two)).pod.usageHistory.source).toBe('MEASURED')
    expect(prometheus.asked).toEqual([])
    await using named = await serveGateway({
      clusters,
      prometheus: { url, clusterLabel: 'site' },
    })
    expect((await named.data(two)).pod.usageHistory.source).toBe('PROMETHEUS')
    expect(prometheus.asked[0]?.query).toContain('{site="two",namespace=~"shop"')
  })
})

/** A genuine Prometheus, where the machine has one. */
const binary = onPath('prometheus')

describe.skipIf(binary === undefined)('The history of usage in a genuine Prometheus', () => {
  it('is what it has scraped of exactly the pod and the node', async () => {
    await using parts = new AsyncDisposableStack()
    const startMs = Date.now()
    const line = (metric: string, labels: string, value: number): string =>
      `${metric}{${labels}} ${value}`
    const exporter = createServer((_, response) => {
      const seconds = (Date.now() - startMs) / 1_000
      const pods = [
        ['namespace="shop",pod="web.1",container="main"', 1],
        ['namespace="shop",pod="webx1",container="main"', 50],
        ['namespace="shop",pod="web.1",container=""', 50],
        ['id="/",node="node-1"', 3],
      ] as const
      const lines = pods.flatMap(([labels, cores]) => [
        line('container_cpu_usage_seconds_total', labels, cores * seconds),
        line('container_memory_working_set_bytes', labels, cores * 2 ** 20),
      ])
      response.end(`${lines.join('\n')}\n`)
    })
    exporter.listen(0, '127.0.0.1')
    await once(exporter, 'listening')
    parts.defer(() => void exporter.close())
    const target = `127.0.0.1:${(exporter.address() as AddressInfo).port}`
    const { url } = parts.use(await Prometheus.start(binary ?? '', { target, job: 'kubelet' }))
    const cluster = parts.use(await startSimulator({ metrics: true, populate }))
    const gateway = parts.use(
      await serveGateway({
        clusters: [{ name: 'one', server: cluster.url }],
        prometheus: { url },
      }),
    )
    const read = async (): Promise<Fields> => {
      const query = `{ pod(namespace: "shop", name: "web.1") { ${history} } node(name: "node-1") { ${history} } }`
      const { data } = await gateway.query(query)
      return [data.pod, data.node].map(({ usageHistory }: Fields) => ({
        source: usageHistory.source,
        memory: last(usageHistory.memory),
        // A rate over five minutes of a counter that is some seconds old is less than its slope.
        isUsed: (last(usageHistory.cpu) ?? 0) > 0 && (last(usageHistory.cpu) ?? 0) < 4,
      }))
    }
    await expect.poll(read, { interval: 500, timeout: 60_000 }).toEqual([
      { source: 'PROMETHEUS', memory: 2 ** 20, isUsed: true },
      { source: 'PROMETHEUS', memory: 3 * 2 ** 20, isUsed: true },
    ])
  })
})

const rules = [
  {
    apiGroups: [''],
    resources: ['pods', 'services', 'namespaces'],
    verbs: ['get', 'list', 'watch'],
  },
]
const usageRules = [{ apiGroups: ['metrics.k8s.io'], resources: ['pods'], verbs: ['get', 'list'] }]
const group = 'rbac.authorization.k8s.io'

describe.each(['measured', 'in Prometheus'])(
  'The history of usage, %s, and permissions',
  (form) => {
    const prometheus = new FakePrometheus()
    const parts = new AsyncDisposableStack()
    let gateway: ViewedGateway

    beforeAll(async () => {
      parts.use(prometheus)
      const url = await prometheus.listen()
      prometheus.series.push({ metric: { namespace: 'shop', pod: 'web-0' }, cpu: 2 })
      const cluster = parts.use(
        await startSimulator({
          metrics: true,
          authorization: 'rbac',
          users: [{ token: 'gateway', user: 'gateway', groups: ['system:masters'] }],
          populate: (storage) => {
            populate(storage)
            storage.create(servicesOf, {
              metadata: { name: 'web', namespace: 'jobs' },
              spec: { selector: { app: 'web' } },
            } as Fields)
            const role = { group, version: 'v1', resource: 'clusterroles' }
            storage.create(role, { metadata: { name: 'reader' }, rules } as Fields)
            storage.create(role, { metadata: { name: 'usage' }, rules: usageRules } as Fields)
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
                  subjects: [{ apiGroup: group, kind: 'User', name }],
                } as never,
              )
            for (const name of ['sees', 'blind', 'some']) bind(name, 'reader')
            bind('sees', 'usage')
            bind('some', 'usage', 'shop')
          },
        }),
      )
      const headers = { authorization: 'Bearer gateway' }
      const expireHistory = (): Promise<void> => Promise.resolve()
      const config = parts.use(await writeKubeconfig({ url: cluster.url, headers, expireHistory }))
      gateway = parts.use(
        await serveViewers({
          clusters: [{ name: 'one', kubeconfig: config.path }],
          ...(form === 'measured' ? {} : { prometheus: { url } }),
        }),
      )
    })
    afterAll(() => parts.disposeAsync())

    it('are those of usage, and nothing of others is asked for or answered', async () => {
      const of = (name: string, query: string) => gateway.query(caller(name), query)
      const service = (namespace: string): string =>
        `{ service(namespace: "${namespace}", name: "web") { usageHistory { cpu } } }`
      expect(last((await of('sees', ofPod('web-0'))).data.pod.usageHistory.cpu)).toBeGreaterThan(0)
      prometheus.asked.length = 0
      for (const query of [ofPod('web-0'), service('shop'), service('jobs')]) {
        const answer = await of('blind', query)
        expect(codes(answer)).toEqual(['FORBIDDEN'])
        expect(Object.values(answer.data)).toEqual([{ usageHistory: null }])
      }
      expect(prometheus.asked).toEqual([])
      expect(codes(await of('some', service('shop')))).toEqual([])
      expect(codes(await of('some', service('jobs')))).toEqual(['FORBIDDEN'])
    })
  },
)
