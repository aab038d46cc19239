import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { findKubectl, kubectl } from '../support/kubectl.ts'
import { describeClusters, type Fields, must } from './test-cluster.ts'

/** What a pod counts: requests and limits of CPU in thousandths, and of memory in Mi; null where it has none. */
type Counted = readonly [
  cpuRequests: number | null,
  memoryRequests: number | null,
  cpuLimits: number | null,
  memoryLimits: number | null,
]

interface Shape {
  readonly node?: string
  readonly namespace?: 'shop' | 'jobs'
  readonly spec: Fields
  /** Written to `status` after the pod is bound. */
  readonly status?: Fields
  readonly counts: Counted
}

const resources = (requests: Fields, limits?: Fields): Fields => ({
  resources: { requests, ...(limits === undefined ? {} : { limits }) },
})
const container = (requests: Fields = {}, limits?: Fields): Fields => ({
  image: 'a',
  ...resources(requests, limits),
})
const sidecar = (...of: Parameters<typeof container>): Fields => ({
  ...container(...of),
  restartPolicy: 'Always',
})

const mainStatus = { name: 'main', image: 'a', imageID: 'a', ready: true, restartCount: 0 }

/** The figures are worked out by hand, from the rules of KEP-753, KEP-2837, KEP-688 and KEP-1287. */
const shapes: Readonly<Record<string, Shape>> = {
  plain: {
    spec: {
      containers: [
        container({ cpu: '100m', memory: '64Mi' }, { cpu: '1', memory: '256Mi' }),
        container({ cpu: '0.2', memory: '134217728' }, { memory: '256Mi' }),
      ],
    },
    counts: [300, 192, 1000, 512],
  },
  'best-effort': { spec: { containers: [container()] }, counts: [null, null, null, null] },
  'large-init': {
    namespace: 'jobs',
    spec: {
      initContainers: [
        container({ cpu: '1', memory: '32Mi' }, { cpu: '2', memory: '64Mi' }),
        container({ cpu: '500m', memory: '1Gi' }, { cpu: '500m', memory: '2Gi' }),
      ],
      containers: [container({ cpu: '100m', memory: '64Mi' }, { cpu: '100m', memory: '64Mi' })],
    },
    counts: [1000, 1024, 2000, 2048],
  },
  // 250m beside an init container of 600m is more than beside the container of 300m.
  'sidecar-before-init': {
    spec: {
      initContainers: [
        sidecar({ cpu: '250m', memory: '100Mi' }),
        container({ cpu: '600m', memory: '10Mi' }),
      ],
      containers: [container({ cpu: '300m', memory: '200Mi' })],
    },
    counts: [850, 300, null, null],
  },
  // The init container runs before the sidecars: 800m alone, then 700m together.
  'sidecars-after-init': {
    node: 'node-b',
    spec: {
      initContainers: [
        container({ cpu: '800m' }),
        sidecar({ cpu: '100m', memory: '16Mi' }, { memory: '32Mi' }),
        sidecar({ cpu: '100m', memory: '16Mi' }, { memory: '32Mi' }),
      ],
      containers: [container({ cpu: '500m', memory: '32Mi' }, { memory: '64Mi' })],
    },
    counts: [800, 64, null, 128],
  },
  overhead: {
    node: 'node-b',
    namespace: 'jobs',
    spec: {
      runtimeClassName: 'capacity',
      overhead: { cpu: '250m', memory: '120Mi' },
      containers: [container({ cpu: '100m', memory: '64Mi' }, { cpu: '500m' })],
    },
    counts: [350, 184, 750, null],
  },
  'overhead-only': {
    node: 'node-b',
    spec: {
      runtimeClassName: 'capacity',
      overhead: { cpu: '250m', memory: '120Mi' },
      containers: [container()],
    },
    counts: [250, 120, null, null],
  },
  succeeded: {
    namespace: 'jobs',
    spec: { restartPolicy: 'Never', containers: [container({ cpu: '4', memory: '4Gi' })] },
    status: { phase: 'Succeeded' },
    counts: [4000, 4096, null, null],
  },
  failed: {
    spec: { restartPolicy: 'Never', containers: [container({ cpu: '8', memory: '8Gi' })] },
    status: { phase: 'Failed' },
    counts: [8000, 8192, null, null],
  },
  unbound: {
    node: '',
    spec: { containers: [container({ cpu: '3', memory: '3Gi' })] },
    counts: [3000, 3072, null, null],
  },
  'of-the-pod': {
    node: 'node-c',
    spec: {
      ...resources({ cpu: '2', memory: '1Gi' }, { cpu: '4' }),
      initContainers: [container({ cpu: '1500m' })],
      containers: [container({ cpu: '100m', memory: '64Mi' }, { memory: '96Mi' })],
    },
    counts: [2000, 1024, 4000, 96],
  },
  'of-the-pod-with-overhead': {
    node: 'node-c',
    spec: {
      ...resources({ cpu: '1' }),
      runtimeClassName: 'capacity',
      overhead: { cpu: '250m', memory: '120Mi' },
      containers: [container({ memory: '64Mi' })],
    },
    counts: [1250, 184, null, null],
  },
  // It still has what it had, and wants less.
  shrinking: {
    node: 'node-d',
    spec: { containers: [{ ...container({ cpu: '100m', memory: '64Mi' }), name: 'main' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          ...mainStatus,
          allocatedResources: { cpu: '200m', memory: '64Mi' },
          ...resources({ cpu: '400m', memory: '64Mi' }),
        },
      ],
    },
    counts: [400, 64, null, null],
  },
  // It wants more than the node can ever give.
  infeasible: {
    node: 'node-d',
    spec: { containers: [{ ...container({ cpu: '64', memory: '64Mi' }), name: 'main' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
      containerStatuses: [
        {
          ...mainStatus,
          allocatedResources: { cpu: '300m', memory: '64Mi' },
          ...resources({ cpu: '300m', memory: '64Mi' }),
        },
      ],
    },
    counts: [300, 64, null, null],
  },
}

const nodes = ['node-a', 'node-b', 'node-c', 'node-d']
const summed = ['cpuRequests', 'memoryRequests', 'cpuLimits', 'memoryLimits'] as const
const sum = `[${summed.map((name) => `"${name}"`).join(', ')}]`
/** Those that `kubectl describe node` calls non-terminated. */
const current = 'where: { phase: { not: { in: ["Succeeded", "Failed"] } } }'

const isCurrent = ({ status }: Shape): boolean =>
  status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

function totalOf(some: readonly Shape[]): readonly { of: string; number: number; count: number }[] {
  return summed.map((of, at) => {
    const values = some.map(({ counts }) => counts[at] ?? null).filter((one) => one !== null)
    const units = values.reduce((total, value) => total + value, 0)
    const number = at % 2 === 0 ? units / 1000 : units * 2 ** 20
    return { of, number, count: values.length }
  })
}

const found = findKubectl()
/** The first kubectl that counts the resources of the pod itself. */
const podLevelMinor = 34

describeClusters('The capacity of nodes, with pods of all shapes', (cluster) => {
  let gateway: ServedGateway

  beforeAll(async () => {
    const core = '/api/v1'
    const make = (path: string, body: Fields): Promise<Fields> =>
      must(cluster(), path, { method: 'POST', body })
    const writeStatus = (path: string, status: Fields): Promise<Fields> =>
      must(cluster(), `${path}/status`, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { status },
      })
    await make('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'capacity' },
      handler: 'capacity',
      overhead: { podFixed: { cpu: '250m', memory: '120Mi' } },
    })
    for (const name of nodes) {
      await make(`${core}/nodes`, { metadata: { name } })
      await writeStatus(`${core}/nodes/${name}`, {
        capacity: { cpu: '8', memory: '16Gi', pods: '110' },
        allocatable: { cpu: '7800m', memory: '15Gi', pods: '110' },
      })
    }
    for (const namespace of ['shop', 'jobs']) {
      await make(`${core}/namespaces`, { metadata: { name: namespace } })
      await make(`${core}/namespaces/${namespace}/serviceaccounts`, {
        metadata: { name: 'default' },
      })
    }
    for (const [name, { node = 'node-a', namespace = 'shop', spec, status }] of Object.entries(
      shapes,
    )) {
      const named = (list: Fields[] = [], of: string): Fields[] =>
        list.map((one, at) => ({ name: `${of}-${at}`, ...one }))
      const { initContainers, containers, ...rest } = spec
      await make(`${core}/namespaces/${namespace}/pods`, {
        metadata: { name },
        spec: {
          ...rest,
          ...(node === '' ? {} : { nodeName: node }),
          initContainers: named(initContainers, 'init'),
          containers: named(containers, 'main'),
        },
      })
      if (status !== undefined) {
        await writeStatus(`${core}/namespaces/${namespace}/pods/${name}`, status)
      }
    }
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it.each(Object.entries(shapes))(
    'counts a pod "%s" as the scheduler does',
    async (name, shape) => {
      const { pods } = await gateway.data(
        `{ pods(where: { name: { eq: "${name}" } }) { sum(of: ${sum}) { of number count } } }`,
      )
      expect(pods.sum).toEqual(totalOf([shape]))
    },
  )

  it('adds up each node, each namespace and the cluster in one query', async () => {
    const { pods } = await gateway.data(`{ pods(first: 0, ${current}) {
      facets(by: ["nodeName", "namespace"], sum: ${sum}) { by missingCount values { value count sums { of number count } } }
      totalCount sum(of: ${sum}) { of value number count }
    } }`)
    const all = Object.values(shapes).filter(isCurrent)
    const [byNode, byNamespace] = pods.facets
    expect(byNode.missingCount).toBe(1)
    for (const node of nodes) {
      const on = all.filter((shape) => (shape.node ?? 'node-a') === node)
      expect(byNode.values.find(({ value }: Fields) => value === node)).toEqual({
        value: node,
        count: on.length,
        sums: totalOf(on),
      })
    }
    for (const namespace of ['shop', 'jobs']) {
      const there = all.filter((shape) => (shape.namespace ?? 'shop') === namespace)
      expect(byNamespace.values.find(({ value }: Fields) => value === namespace)).toEqual({
        value: namespace,
        count: there.length,
        sums: totalOf(there),
      })
    }
    expect(pods.totalCount).toBe(all.length)
    expect(pods.sum).toMatchObject(totalOf(all))
    expect(pods.sum.map(({ value }: Fields) => value)).toEqual([
      '10500m',
      '6292Mi',
      '7750m',
      '2784Mi',
    ])
  })

  it('has what the nodes have for pods', async () => {
    const { nodes: list } = await gateway.data(
      '{ nodes(first: 1) { sum(of: ["cpuAllocatable", "memoryAllocatable", "podsAllocatable"]) { value number count } nodes { name } } }',
    )
    expect(list.sum).toEqual([
      { value: '31200m', number: 31.2, count: 4 },
      { value: '60Gi', number: 60 * 2 ** 30, count: 4 },
      { value: '440', number: 440, count: 4 },
    ])
  })

  it('filters and orders by what pods count', async () => {
    const { large, none, ordered } = await gateway.data(`{
      large: pods(where: { memoryRequests: { gte: "3Gi" } }) { nodes { name } }
      none: pods(where: { cpuRequests: { exists: false } }) { nodes { name } }
      ordered: pods(first: 3, orderBy: [{ cpuRequests: DESC }]) { nodes { name } }
    }`)
    const namesIn = ({ nodes: some }: Fields): string[] => some.map(({ name }: Fields) => name)
    expect(namesIn(large).toSorted()).toEqual(['failed', 'succeeded', 'unbound'])
    expect(namesIn(none)).toEqual(['best-effort'])
    expect(namesIn(ordered)).toEqual(['failed', 'succeeded', 'unbound'])
  })

  it.each([
    ['facets(by: ["nodeName"], sum: ["phase"]) { by }', 'sum[0]', 'is not of numbers'],
    ['sum(of: ["cpuRequests", "cpu"]) { of }', 'of[1]', 'there is no index "cpu"'],
    ['sum(of: ["containerRestarts"]) { of }', 'of[0]', 'has several values of one object'],
    [`sum(of: [${'"restarts",'.repeat(21)}]) { of }`, 'of', 'names more than 20 indexes'],
  ])('refuses %s with the argument and what can be added up', async (field, argument, problem) => {
    const { data, errors } = await gateway.query(`{ pods(first: 0) { totalCount ${field} } }`)
    expect(data.pods.totalCount).toBe(Object.keys(shapes).length)
    expect(errors).toHaveLength(1)
    expect(errors?.[0]?.message).toContain(problem)
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument })
    const of =
      'restarts, cpuRequests, memoryRequests, cpuLimits, memoryLimits, usageCpu, usageMemory'
    const named = `${of} can be added up`
    expect(errors?.[0]?.extensions.hint).toBe(argument === 'of' ? undefined : named)
  })

  const title = 'equals the figures of kubectl describe node'
  const skipped = 'missing' in found ? `: skipped, ${found.missing}` : ''
  it(`${title}${skipped}`, { skip: 'missing' in found }, async ({ skip }) => {
    if ('missing' in found) return
    const { kubeconfig } = cluster().selection
    skip(cluster().isSimulated, 'kubectl sends no token without TLS')
    if (typeof kubeconfig !== 'string')
      throw new TypeError('the cluster is selected by a kubeconfig')
    const { pods } = await gateway.data(
      `{ pods(first: 0, ${current}) { facets(by: ["nodeName"], sum: ${sum}) { values { value count sums { number } } } } }`,
    )
    const [facet] = pods.facets
    // kubectl leaves out of the sums that a container is being resized.
    const compared = nodes
      .filter((node) => node !== 'node-d')
      .filter((node) => node !== 'node-c' || found.minor >= podLevelMinor)
    for (const node of compared) {
      const text = await kubectl(found.path, kubeconfig, ['describe', 'node', node])
      const { count, sums } = facet.values.find(({ value }: Fields) => value === node)
      expect(text).toContain(`(${count} in total)`)
      expect(allocatedIn(text)).toEqual(sums.map(({ number }: Fields) => number))
    }
  })
})

/** The sums that `kubectl describe node` writes, in the order of {@link summed}. */
function allocatedIn(text: string): readonly number[] {
  const [, allocated = ''] = text.split('Allocated resources:')
  const amounts = ['cpu', 'memory'].map((name) => {
    const [, requests = '', limits = ''] =
      new RegExp(`^ +${name} +(\\S+) \\(\\d+%\\) +(\\S+) \\(`, 'm').exec(allocated) ?? []
    return [requests, limits].map(amountOf)
  })
  return [amounts[0]?.[0], amounts[1]?.[0], amounts[0]?.[1], amounts[1]?.[1]].map(Number)
}

function amountOf(text: string): number {
  const [, digits = '', suffix = ''] = /^(\d+)(\D*)$/.exec(text) ?? []
  const unit = { '': 1, m: 1 / 1000, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }[suffix] ?? Number.NaN
  return suffix === 'm' ? Number(digits) / 1000 : Number(digits) * unit
}
