import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created, sent } from './created.ts'
import { customHealthCases } from './custom-health-cases.ts'
import { definitionOf, versionOf } from './definitions.ts'
import { follow } from './followed-subscription.ts'
import type { HealthCase } from './health-case.ts'
import { kindHealthCases } from './kind-health-cases.ts'
import { podHealthCases } from './pod-health-cases.ts'
import type { Fields } from './test-cluster.ts'

const group = 'health.example.com'
const gear = 'healthExampleComGears'
const cases: Readonly<Record<string, readonly HealthCase[]>> = {
  'v1 Pod': podHealthCases,
  ...kindHealthCases,
  [`${group}/v1 Gear`]: customHealthCases,
}

/** The lists of the kinds, in the order of the cases. */
const lists: Readonly<Record<string, string>> = {
  'v1 Pod': 'pods',
  'apps/v1 Deployment': 'deployments',
  'apps/v1 ReplicaSet': 'replicaSets',
  'apps/v1 StatefulSet': 'statefulSets',
  'apps/v1 DaemonSet': 'daemonSets',
  'batch/v1 Job': 'jobs',
  'batch/v1 CronJob': 'cronJobs',
  'v1 Service': 'services',
  'v1 PersistentVolumeClaim': 'persistentVolumeClaims',
  'v1 PersistentVolume': 'persistentVolumes',
  'v1 Node': 'nodes',
  'v1 Namespace': 'namespaces',
  'autoscaling/v2 HorizontalPodAutoscaler': 'horizontalPodAutoscalers',
  'policy/v1 PodDisruptionBudget': 'podDisruptionBudgets',
  'networking.k8s.io/v1 Ingress': 'ingresses',
  'storage.k8s.io/v1 VolumeAttachment': 'volumeAttachments',
  'apiregistration.k8s.io/v1 APIService': 'apiServices',
  'certificates.k8s.io/v1 CertificateSigningRequest': 'certificateSigningRequests',
  'v1 ConfigMap': 'configMaps',
  [`${group}/v1 Gear`]: gear,
}

const clusterScoped = new Set([
  'PersistentVolume',
  'Node',
  'Namespace',
  'VolumeAttachment',
  'APIService',
  'CertificateSigningRequest',
])

const nameOf = (says: string): string => says.replaceAll(' ', '-').toLowerCase()

describe('the health of an object', () => {
  let simulator: Simulator
  let gateway: ServedGateway

  beforeAll(async () => {
    simulator = await startSimulator()
    await created(
      simulator,
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      definitionOf('Gear', group, [
        versionOf(
          'v1',
          { suspend: { type: 'boolean' } },
          {
            additionalPrinterColumns: [
              { name: 'Health', type: 'string', jsonPath: '.status.phase' },
            ],
          },
        ),
      ]),
    )
    for (const [type, all] of Object.entries(cases)) {
      const [apiVersion = '', kind = ''] = type.split(' ')
      const [version = '', of = ''] = apiVersion.split('/').toReversed()
      const resource = lists[type]?.toLowerCase().replace(gear.toLowerCase(), 'gears') ?? ''
      for (const [says, spec, status] of all) {
        const namespace = clusterScoped.has(kind) ? {} : { namespace: 'default' }
        const metadata = { name: nameOf(says), generation: 1, ...namespace }
        simulator.storage.create(
          { group: of, version, resource },
          { apiVersion, kind, metadata, spec, status },
        )
      }
    }
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  describe.each(Object.entries(cases))('of a %s', (type, all) => {
    const query = `{ ${lists[type]}(first: 200) { nodes { metadata { name } health { status reason message } } } }`

    it.each(all)('that %s', async (says, _spec, _status, status, reason = null, message = '') => {
      const data = await gateway.data(query)
      const found = data[lists[type] ?? ''].nodes.find(
        (node: Fields) => node.metadata.name === nameOf(says),
      )
      const { health } = found
      expect(health === null ? { status: '', reason: null } : health).toMatchObject({
        status,
        reason,
      })
      expect(health?.message ?? '').toContain(message)
    })
  })

  const names = async (where: string): Promise<readonly string[]> => {
    const { pods } = await gateway.data(`{ pods(where: ${where}) { nodes { metadata { name } } } }`)
    return pods.nodes.map(({ metadata }: Fields) => metadata.name)
  }

  it('is an index of where, of orders and of facets', async () => {
    const expected = podHealthCases
      .filter(([, , , status]) => status === 'SUSPENDED' || status === 'UNKNOWN')
      .map(([says]) => nameOf(says))
    expect(await names('{ health: { in: [SUSPENDED, UNKNOWN] } }')).toEqual(expected.toSorted())
    const { pods } = await gateway.data(`{
      pods(orderBy: [{ health: ASC }], first: 1) {
        nodes { health { status } }
        facets(by: "health") { values { value count } missingCount }
      }
    }`)
    expect(pods.nodes).toEqual([{ health: { status: 'DEGRADED' } }])
    const [facet] = pods.facets
    expect(facet.missingCount).toBe(0)
    const counts = Object.groupBy(podHealthCases, ([, , , status]) => status)
    expect(Object.fromEntries(facet.values.map((one: Fields) => [one.value, one.count]))).toEqual(
      Object.fromEntries(Object.entries(counts).map(([status, of]) => [status, of?.length])),
    )
  })

  it('is no index until somebody asks for it', async () => {
    const fresh = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
    try {
      const degraded = kindHealthCases['apps/v1 Deployment']?.filter(
        ([, , , is]) => is === 'DEGRADED',
      )
      const query = `{ deployments(where: { health: { eq: DEGRADED } }) { totalCount } }`
      const many = await Promise.all(Array.from({ length: 5 }, () => fresh.data(query)))
      expect(new Set(many.map(({ deployments }) => deployments.totalCount))).toEqual(
        new Set([degraded?.length]),
      )
      expect(await fresh.data(query)).toEqual(many[0])
    } finally {
      await fresh[Symbol.asyncDispose]()
    }
  })

  it('can be only what it can be', async () => {
    const { errors } = await gateway.query(
      `{ pods(where: { health: { eq: "Degraded" } }) { totalCount } }`,
    )
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'where.health.eq',
    })
    expect(errors?.[0]?.message).toMatch(/"HealthStatus".*Degraded/)
    const query =
      'query ($in: [HealthStatus!]) { pods(where: { health: { in: $in } }) { totalCount } }'
    const answer = await gateway.query(query, { in: ['RUNNING'] })
    expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    expect(answer.errors?.[0]?.message).toContain('RUNNING')
  })

  it('orders by severity, the worst first', async () => {
    const worstFirst = ['DEGRADED', 'UNKNOWN', 'PROGRESSING', 'TERMINATING', 'SUSPENDED', 'HEALTHY']
    const severity = ([, , , status]: (typeof podHealthCases)[number]): number =>
      worstFirst.indexOf(status)
    const expected = podHealthCases.map(severity).toSorted((a, b) => a - b)
    const inOrder = async (direction: string): Promise<readonly number[]> => {
      const { pods } = await gateway.data(
        `{ pods(orderBy: [{ health: ${direction} }], first: 500) { nodes { health { status } } } }`,
      )
      return pods.nodes.map(({ health }: Fields) => worstFirst.indexOf(health.status))
    }
    expect(await inOrder('ASC')).toEqual(expected)
    expect(await inOrder('DESC')).toEqual(expected.toReversed())
  })

  it('of a custom kind is its own, whatever its printer columns are called', async () => {
    const data = await gateway.data(
      `{ ${gear}(where: { health: { eq: DEGRADED } }) { totalCount } }`,
    )
    const degraded = customHealthCases.filter(([, , , status]) => status === 'DEGRADED')
    expect(data[gear].totalCount).toBe(degraded.length)
  })

  it('is followed by subscriptions, by nobody asked for before', async () => {
    const fresh = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
    try {
      const live = follow(fresh.connect(), 'jobs(where: { health: { eq: DEGRADED } })', 'id')
      await live.until('the one that has failed', () => live.fold.objects.size === 1)
      await sent(simulator, 'PATCH', '/apis/batch/v1/namespaces/default/jobs/runs/status', {
        status: { conditions: [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }] },
      })
      await live.until('both', () => live.fold.objects.size === 2)
      expect(live.fold.synced).toBe(true)
    } finally {
      await fresh[Symbol.asyncDispose]()
    }
  })

  it('of a definition that is served is what its conditions say', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const query = `{ customResourceDefinition(name: "nuts.${group}") { health { status reason } } }`
    const health = async () => (await gateway.data(query)).customResourceDefinition?.health
    await created(simulator, path, definitionOf('Nut', group, [versionOf('v1', {})]))
    const wait = { timeout: 60_000 }
    await expect.poll(health, wait).toEqual({ status: 'HEALTHY', reason: null })
  })

  it('tells what is being deleted', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    await created(simulator, path, {
      metadata: { name: 'going', finalizers: ['example.com/wait'] },
    })
    await sent(simulator, 'DELETE', `${path}/going`)
    const query =
      '{ configMap(namespace: "default", name: "going", live: true) { health { status reason } } }'
    const { configMap } = await gateway.data(query)
    expect(configMap.health).toEqual({ status: 'TERMINATING', reason: 'Deleted' })
  })
})
