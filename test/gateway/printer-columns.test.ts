import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { define, definitionOf, versionOf } from './definitions.ts'
import { manifests } from './manifests.ts'
import { printedNamespace, printedWorkloads } from './printed-objects.ts'
import { printedParts } from './printed-parts.ts'
import { makeNamespaces } from './random-writes.ts'
import { describeClusters, type Fields, must, type TestCluster } from './test-cluster.ts'

const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const group = 'printed.example.com'

/** The lists whose columns are made of what is cached, with their paths. */
const computed: readonly (readonly [list: string, path: string])[] = [
  ['pods', '/api/v1/pods'],
  ['replicationControllers', '/api/v1/replicationcontrollers'],
  ['services', '/api/v1/services'],
  ['configMaps', '/api/v1/configmaps'],
  ['serviceAccounts', '/api/v1/serviceaccounts'],
  ['namespaces', '/api/v1/namespaces'],
  ['nodes', '/api/v1/nodes'],
  ['persistentVolumes', '/api/v1/persistentvolumes'],
  ['persistentVolumeClaims', '/api/v1/persistentvolumeclaims'],
  ['resourceQuotas', '/api/v1/resourcequotas'],
  ['limitRanges', '/api/v1/limitranges'],
  ['events', '/api/v1/events'],
  ['deployments', '/apis/apps/v1/deployments'],
  ['replicaSets', '/apis/apps/v1/replicasets'],
  ['statefulSets', '/apis/apps/v1/statefulsets'],
  ['daemonSets', '/apis/apps/v1/daemonsets'],
  ['jobs', '/apis/batch/v1/jobs'],
  ['cronJobs', '/apis/batch/v1/cronjobs'],
  ['horizontalPodAutoscalers', '/apis/autoscaling/v2/horizontalpodautoscalers'],
  ['podDisruptionBudgets', '/apis/policy/v1/poddisruptionbudgets'],
  ['ingresses', '/apis/networking.k8s.io/v1/ingresses'],
  ['ingressClasses', '/apis/networking.k8s.io/v1/ingressclasses'],
  ['networkPolicies', '/apis/networking.k8s.io/v1/networkpolicies'],
  ['endpointSlices', '/apis/discovery.k8s.io/v1/endpointslices'],
  ['storageClasses', '/apis/storage.k8s.io/v1/storageclasses'],
  ['roles', '/apis/rbac.authorization.k8s.io/v1/roles'],
  ['clusterRoles', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
  ['roleBindings', '/apis/rbac.authorization.k8s.io/v1/rolebindings'],
  ['clusterRoleBindings', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'],
  ['leases', '/apis/coordination.k8s.io/v1/leases'],
  ['priorityClasses', '/apis/scheduling.k8s.io/v1/priorityclasses'],
  ['customResourceDefinitions', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
  [
    'validatingWebhookConfigurations',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  ],
  ['printedExampleComGears', `/apis/${group}/v1/gears`],
]

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
}

/** The least and the greatest length of time that kubectl shows as this: `5m3s`, `12d`. */
function lengthsOf(span: string): readonly [leastMs: number, mostMs: number] {
  if (span === '<invalid>') return [-Infinity, 0]
  const parts = Array.from(span.matchAll(/(\d+)([smhdy])/g), ([, count, unit = '']) => ({
    ms: Number(count) * (unitMs[unit] ?? NaN),
    unit,
  }))
  if (parts.length === 0) return [NaN, NaN]
  const leastMs = parts.reduce((sum, { ms }) => sum + ms, 0)
  return [leastMs, leastMs + (unitMs[parts.at(-1)?.unit ?? ''] ?? NaN)]
}

function isCell(shown: unknown, cell: Fields, fromMs: number): boolean {
  const absent = cell.type === 'date' && cell.value === null
  if (absent) return shown === null || shown === '<none>' || shown === '<unknown>'
  if (shown === cell.value) return true
  if (cell.since === null) return false
  const isAge = cell.type === 'date' || cell.value === null
  const span = isAge ? String(shown) : String(shown).split(`${cell.value} (`)[1]
  if (span === undefined || span.endsWith(' ago)') === isAge) return false
  const [leastMs, mostMs] = lengthsOf(span)
  const ageMs = fromMs - Date.parse(cell.since)
  return leastMs <= ageMs + 10_000 && ageMs - 2_000 <= mostMs
}

const keyOf = ({ metadata }: Fields): string => `${metadata.namespace ?? ''}/${metadata.name}`

describeClusters('the columns of kubectl get', (cluster) => {
  let gateway: ServedGateway

  beforeAll(async () => {
    await makeNamespaces(cluster(), [printedNamespace])
    await create(cluster())
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it.each(computed)('of %s are those of the server', async (list, path) => {
    const query = `{ ${list}(first: 500) { nodes {
      metadata { namespace name resourceVersion }
      printerColumns(wide: true) { name type format priority value since }
    } } }`
    const data = await gateway.data(query)
    const text = await gateway.gateway.planned.answer({ query })
    expect(JSON.parse(text ?? '{}').data, 'answered by a plan').toEqual(data)
    const fromMs = Date.now()
    const printed = await must(cluster(), `${path}?limit=500`, { accept: table })
    const rows = new Map<string, Fields>(
      printed.rows.map((row: Fields) => [keyOf(row.object), row]),
    )
    const { nodes } = data[list]
    expect(nodes.length).toBeGreaterThan(0)
    let compared = 0
    const unlike: object[] = []
    for (const node of nodes) {
      const row = rows.get(keyOf(node))
      if (row?.object.metadata.resourceVersion !== node.metadata.resourceVersion) continue
      compared += 1
      const columns: readonly Fields[] = node.printerColumns
      expect(columns.map(({ name, priority, format }) => ({ name, priority, format }))).toEqual(
        printed.columnDefinitions.map(({ name, priority, format }: Fields) => ({
          name,
          priority,
          format,
        })),
      )
      for (const [at, column] of columns.entries()) {
        const { type } = printed.columnDefinitions[at]
        const about = `${list} ${keyOf(node)} ${column.name}: ${JSON.stringify(column)}`
        expect(column.type === 'date' ? ['string', 'date'] : [column.type], about).toContain(type)
        const shown = row.cells[at]
        if (!isCell(shown, column, fromMs)) unlike.push({ about, shown })
      }
    }
    expect(unlike).toEqual([])
    expect(compared).toBeGreaterThan(nodes.length / 2)
  })

  it('show as many restarts of a pod as filters and orders count', async () => {
    const columns = 'metadata { name } printerColumns { name value }'
    const shownOf = ({ printerColumns }: Fields): number =>
      Number(printerColumns.find(({ name }: Fields) => name === 'Restarts').value)
    const { pods } = await gateway.data(
      `{ pods(first: 500, orderBy: [{ restarts: DESC }]) { nodes { ${columns} } } }`,
    )
    const shown: readonly number[] = pods.nodes.map(shownOf)
    expect(shown).toEqual(shown.toSorted((a, b) => b - a))
    expect(new Set(shown).size).toBeGreaterThan(3)
    for (const restarts of new Set(shown)) {
      const found = await gateway.data(
        `query ($restarts: Int64) { pods(where: { restarts: { eq: $restarts } }) { totalCount } }`,
        { restarts },
      )
      expect(found.pods.totalCount, String(restarts)).toBe(
        shown.filter((one) => one === restarts).length,
      )
    }
  })

  describe('that only the server knows', () => {
    const query = (args: string): string => `{ podTemplates(namespace: "kinds"${args}) { nodes {
      metadata { name } printerColumns { name type format value since }
    } } }`

    it('are read from it, of one object or of many', async () => {
      for (const args of ['', ', first: 1']) {
        const { podTemplates } = await gateway.data(query(args))
        const printed = await must(cluster(), '/api/v1/namespaces/kinds/podtemplates', {
          accept: table,
        })
        const [node] = podTemplates.nodes
        const names = printed.columnDefinitions.flatMap(({ name, priority }: Fields) =>
          priority === 0 ? [name] : [],
        )
        expect(node.printerColumns.map(({ name }: Fields) => name)).toEqual(names)
        const row = printed.rows.find(
          ({ object }: Fields) => object.metadata.name === node.metadata.name,
        )
        expect(node.printerColumns[0].value).toBe(row.cells[0])
      }
    })
  })

  it('are not the wide ones unless they are asked for', async () => {
    const { pods } = await gateway.data('{ pods(first: 1) { nodes { printerColumns { name } } } }')
    expect(pods.nodes[0].printerColumns.map(({ name }: Fields) => name)).toEqual([
      'Name',
      'Ready',
      'Status',
      'Restarts',
      'Age',
    ])
  })

  it('of Secrets are those of their metadata, as the gateway holds no more of them', async () => {
    const { secrets, gatewayClusters } = await gateway.data(
      `{
        secrets(namespace: "kinds") { nodes { printerColumns { name value } } }
        gatewayClusters { resources { type columns { name } } }
      }`,
    )
    expect(secrets.nodes[0].printerColumns).toMatchObject([
      { name: 'Name', value: 'sample' },
      { name: 'Age' },
    ])
    const { columns } = gatewayClusters[0].resources.find(({ type }: Fields) => type === 'Secret')
    expect(columns).toEqual([{ name: 'Name' }, { name: 'Age' }])
  })
})

/** Objects of all kinds and in many states. */
async function create(cluster: TestCluster): Promise<void> {
  const columns = [
    { name: 'Colour', type: 'string', jsonPath: '.spec.colour' },
    { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
    { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
    { name: 'All', type: 'string', jsonPath: '.spec.list[*]' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Spec', type: 'string', jsonPath: '.spec.nested' },
    { name: 'Made', type: 'date', jsonPath: '.spec.made' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ]
  const properties = {
    colour: { type: 'string' },
    size: { type: 'integer' },
    list: { type: 'array', items: { type: 'string' } },
    nested: { type: 'object', properties: { deep: { type: 'string' } } },
    made: { type: 'string' },
  }
  await define(
    cluster,
    definitionOf('Gear', group, [
      versionOf('v1', properties, { additionalPrinterColumns: columns }),
    ]),
  )
  for (const [path, object] of manifests)
    await must(cluster, path, { method: 'POST', body: object })
  for (const [path, object, status] of [...printedWorkloads, ...printedParts]) {
    await must(cluster, path, { method: 'POST', body: object })
    if (status === undefined) continue
    await must(cluster, `${path}/${object.metadata.name}/status`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { status },
    })
  }
  const gears = `/apis/${group}/v1/namespaces/${printedNamespace}/gears`
  const spec = {
    colour: 'red',
    size: 3,
    list: ['x', 'y'],
    nested: { deep: 'a' },
    made: '2026-01-01T00:00:00Z',
  }
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  for (const [name, fields] of Object.entries({ full: { spec, status }, none: {} })) {
    await must(cluster, gears, {
      method: 'POST',
      body: { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name }, ...fields },
    })
  }
}
