import { gzipSync } from 'node:zlib'
import { resources, type Unstructured } from 'informerql/kubernetes'
import { expect, vi } from 'vitest'
import type { ServedPortal } from './portal-page.ts'

const longAgo = '2026-01-01T00:00:00Z'
const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}
const applications = { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' }
const kustomizations = {
  group: 'kustomize.toolkit.fluxcd.io',
  version: 'v1',
  resource: 'kustomizations',
}

/** Where it is delivered. */
type Served = Pick<ServedPortal, 'cluster'>

function define(
  { cluster }: Served,
  kind: string,
  { group, version, resource }: typeof definitions,
): void {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  }
  const names = { kind, plural: resource, singular: kind.toLowerCase(), listKind: `${kind}List` }
  const versions = [{ name: version, served: true, storage: true, schema }]
  cluster.storage.create(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions },
    status: {
      acceptedNames: names,
      storedVersions: [version],
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  } as Unstructured)
}

/** Gives the object that a tracking id of Argo CD names this id. */
export function track({ cluster }: Served, resource: typeof definitions, id: string): void {
  const [namespace = '', name = ''] = id.split(':').at(-1)?.split('/') ?? []
  const object = cluster.storage.get(resource, namespace, name)
  if (object === undefined) throw new Error(`nothing is there for ${id}`)
  const { annotations, ...metadata } = object.metadata
  const tracked = { ...annotations, 'argocd.argoproj.io/tracking-id': id }
  cluster.storage.update(resource, { ...object, metadata: { ...metadata, annotations: tracked } })
}

/** Makes a revision of the release `redis`. */
export function release({ cluster }: Served, revision: number, status: string): void {
  const content = {
    name: 'redis',
    info: { description: 'Upgrade complete' },
    chart: { metadata: { name: 'redis', version: '18.4.0', appVersion: '7.2.3' } },
    config: { auth: { password: 'of-the-release' }, replicas: revision },
  }
  const packed = gzipSync(JSON.stringify(content)).toString('base64')
  cluster.storage.create(resources.secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: {
      name: `sh.helm.release.v1.redis.v${revision}`,
      namespace: 'storefront',
      labels: {
        owner: 'helm',
        name: 'redis',
        status,
        version: String(revision),
        modifiedAt: '1767225600',
      },
    },
    data: { release: Buffer.from(packed).toString('base64') },
  } as Unstructured)
}

/** Makes an Application, a Kustomization and a release of Helm, with an object of each, in `storefront`. */
export async function deliver(portal: ServedPortal, token?: string): Promise<void> {
  deliverByArgo(portal)
  deliverByFlux(portal)
  deliverByHelm(portal)
  const gateway = token === undefined ? portal.gateway() : portal.gateway().as(token)
  const counted = '{ argoApplications { totalCount } fluxKustomizeKustomizations { totalCount } }'
  await vi.waitFor(
    async () => {
      const { data } = await gateway.query(counted)
      expect(data).toEqual({
        argoApplications: { totalCount: 1 },
        fluxKustomizeKustomizations: { totalCount: 1 },
      })
    },
    { timeout: 60_000, interval: 200 },
  )
}

function deliverByArgo(served: Served): void {
  const { storage } = served.cluster
  define(served, 'Application', applications)
  storage.create(applications, {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'storefront', namespace: 'storefront', creationTimestamp: longAgo },
    spec: {
      source: { repoURL: 'https://git.example/shop', path: 'deploy', targetRevision: 'main' },
    },
    status: {
      sync: { status: 'OutOfSync', revision: '0123456789abcdef0123456789abcdef01234567' },
      health: { status: 'Healthy' },
      operationState: { phase: 'Succeeded', finishedAt: longAgo },
      resources: [
        {
          version: 'v1',
          kind: 'Service',
          namespace: 'storefront',
          name: 'shop-web',
          status: 'Synced',
        },
        {
          group: 'apps',
          version: 'v1',
          kind: 'Deployment',
          namespace: 'storefront',
          name: 'shop-web',
          status: 'OutOfSync',
        },
        {
          version: 'v1',
          kind: 'ConfigMap',
          namespace: 'storefront',
          name: 'shop-flags',
          status: 'OutOfSync',
          health: { status: 'Missing' },
        },
        {
          // Without its health, as Argo CD 3 writes it.
          version: 'v1',
          kind: 'ConfigMap',
          namespace: 'storefront',
          name: 'shop-theme',
          status: 'OutOfSync',
        },
      ],
    },
  } as Unstructured)
  track(served, resources.deployments, 'storefront:apps/Deployment:storefront/shop-web')
}

/** Makes a Kustomization that fails, and a ConfigMap of it. */
export function deliverByFlux(served: Served): void {
  const { storage } = served.cluster
  define(served, 'Kustomization', kustomizations)
  storage.create(kustomizations, {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'infra', namespace: 'storefront', creationTimestamp: longAgo },
    spec: { sourceRef: { kind: 'GitRepository', name: 'fleet' }, path: './infra' },
    status: {
      lastAppliedRevision: 'main@sha1:0123456789abcdef0123456789abcdef01234567',
      inventory: { entries: [{ id: 'storefront_flux-config__ConfigMap', v: 'v1' }] },
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'BuildFailed',
          message: 'stat /tmp/fleet/infra: no such file or directory',
        },
      ],
    },
  } as Unstructured)
  storage.create(resources.configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'flux-config',
      namespace: 'storefront',
      labels: {
        'kustomize.toolkit.fluxcd.io/name': 'infra',
        'kustomize.toolkit.fluxcd.io/namespace': 'storefront',
      },
    },
  } as Unstructured)
}

/** Makes two revisions of the release `redis`, and a ConfigMap of it. */
export function deliverByHelm(served: Served): void {
  const { storage } = served.cluster
  storage.create(resources.configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'helm-config',
      namespace: 'storefront',
      labels: { 'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': 'redis-18.4.0' },
      annotations: {
        'meta.helm.sh/release-name': 'redis',
        'meta.helm.sh/release-namespace': 'storefront',
      },
    },
  } as Unstructured)
  release(served, 1, 'superseded')
  release(served, 2, 'deployed')
}
