/**
 * What the tasks of the portal are done in: the fleet of the scenario behind a gateway that serves everything (writes, shells, what
 * Secrets hold, an archive in memory, a Prometheus that plays its part), and a few objects that the scenario lacks. The company stands still, so that a task takes
 * the same steps each time.
 */
import {
  createGateway,
  defaultAuthenticationOptions,
  defaultServerOptions,
  portalFolder,
  startGraphQLServer,
} from '../../src/index.ts'
import type { Unstructured } from '../../src/kubernetes.ts'
import { type SimulatedFleetCluster, startSimulatedFleet } from '../../src/simulator.ts'
import { createCertificateAuthority } from '../../test/api-server/certificates.ts'
import { FakePrometheus } from '../../test/support/fake-prometheus.ts'

/** A gateway with its portal. */
export interface TaskWorld extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/`. */
  readonly url: string
  readonly clusters: readonly SimulatedFleetCluster[]
}

type Storage = SimulatedFleetCluster['simulator']['storage']

/** Starts it. `pods` are those of all clusters together. */
export async function startTaskWorld(pods = 180): Promise<TaskWorld> {
  await using stack = new AsyncDisposableStack()
  const { clusters } = stack.use(
    await startSimulatedFleet({ population: { pods }, churn: { eventsPerSecond: 0 } }),
  )
  const [first, second] = clusters
  if (first === undefined || second === undefined) throw new Error('the scenario has clusters')
  await addCertificates(first.simulator.storage)
  addDrift(first.simulator.storage)
  addContestedWorkload(first.simulator.storage)
  first.simulator.storage.create(deployments, workload('shop-admin', 'registry.example/admin:1'))
  for (const [{ simulator }, image] of [
    [first, 'registry.example/compared:1.4.0'],
    [second, 'registry.example/compared:1.3.2'],
  ] as const) {
    addCompared(simulator.storage, image)
  }
  addRole(first.simulator.storage)
  const prometheus = stack.use(new FakePrometheus())
  for (const { metadata } of first.simulator.storage.list({ ...core, resource: 'pods' })) {
    const { name, namespace = '' } = metadata
    if (namespace !== 'payments') continue
    prometheus.series.push({
      metric: { cluster: first.name, namespace, pod: name },
      cpu: (step) => 0.03 + 0.02 * Math.sin(step / 6) ** 2 + (step > 40 ? 0.02 : 0),
    })
  }
  const log = { info() {}, warn() {}, error: console.error }
  const gateway = stack.use(
    await createGateway({
      clusters: clusters.map(({ name, simulator }) => ({ name, server: simulator.url })),
      allowWrites: true,
      secretData: true,
      archive: { url: 'memory:' },
      prometheus: { url: await prometheus.listen(), clusterLabel: 'cluster' },
      log,
    }),
  )
  const server = stack.use(
    await startGraphQLServer({
      server: { ...defaultServerOptions(), port: 0 },
      plugins: [gateway.plugin],
      planned: gateway.planned,
      authenticator: gateway.authenticator(defaultAuthenticationOptions()),
      portalFolder,
      exec: { shells: gateway.shells },
      log,
      readiness: gateway.readiness,
    }),
  )
  const started = stack.move()
  return {
    url: new URL('/', server.url).href,
    clusters,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const core = { group: '', version: 'v1' }
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }
const day = 86_400_000
const inDays = (days: number): Date => new Date(Date.now() + days * day)

/** A certificate that ends in three days, and one that ends later. */
async function addCertificates(storage: Storage): Promise<void> {
  await using authority = await createCertificateAuthority()
  for (const [name, days] of [
    ['front-door-tls', 3.5],
    ['back-office-tls', 40.5],
  ] as const) {
    const order = { name, hosts: [`${name}.example.com`], from: inDays(-50), to: inDays(days) }
    const { cert, key } = await authority.issue(order)
    storage.create(
      { ...core, resource: 'secrets' },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'storefront' },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': btoa(cert), 'tls.key': btoa(key) },
      },
    )
  }
}

/** An Application of Argo CD of which one Deployment is not as its source says. */
function addDrift(storage: Storage): void {
  const names = {
    kind: 'Application',
    plural: 'applications',
    singular: 'application',
    listKind: 'ApplicationList',
  }
  const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: loose, status: loose } },
  }
  storage.create(
    { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'applications.argoproj.io' },
      spec: {
        group: 'argoproj.io',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
      },
      status: {
        acceptedNames: names,
        storedVersions: ['v1alpha1'],
        conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
      },
    },
  )
  const resource = { version: 'v1', namespace: 'storefront' }
  storage.create(
    { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' },
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name: 'storefront', namespace: 'storefront' },
      spec: { source: { repoURL: 'https://git.example/shop', path: 'deploy' } },
      status: {
        sync: { status: 'OutOfSync', revision: '0123456789abcdef0123456789abcdef01234567' },
        health: { status: 'Healthy' },
        resources: [
          { ...resource, kind: 'Service', name: 'shop-web', status: 'Synced' },
          {
            ...resource,
            group: 'apps',
            kind: 'Deployment',
            name: 'shop-web',
            status: 'OutOfSync',
          },
        ],
      },
    },
  )
}

function workload(name: string, image: string, metadata: object = {}): Unstructured {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'storefront', labels, ...metadata },
    spec: {
      replicas: 2,
      paused: true,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  }
}

/** A Deployment whose number of replicas another manager has set. */
function addContestedWorkload(storage: Storage): void {
  const managedFields = [
    {
      manager: 'deployer',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    },
  ]
  storage.create(deployments, workload('contested', 'registry.example/web:1', { managedFields }))
}

/** A Deployment that each of two clusters has with another image. */
function addCompared(storage: Storage, image: string): void {
  storage.create(deployments, workload('compared', image))
}

/** Lets the group `oncall` delete pods of `payments`. */
function addRole(storage: Storage): void {
  const group = 'rbac.authorization.k8s.io'
  const rbac = { group, version: 'v1' }
  const apiVersion = `${group}/v1`
  const at = { namespace: 'payments' }
  storage.create(
    { ...rbac, resource: 'roles' },
    {
      apiVersion,
      kind: 'Role',
      metadata: { ...at, name: 'pod-killer' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }],
    },
  )
  storage.create(
    { ...rbac, resource: 'rolebindings' },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { ...at, name: 'oncall-kills' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'pod-killer' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'oncall' }],
    },
  )
}
