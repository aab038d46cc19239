import type { ReflectorOptions, Selection } from 'informerql/informer'

/** A kind of which the soak writes objects. */
export interface SoakKind {
  readonly group: string
  readonly version: string
  readonly resource: string
  /** Everything but `metadata`. */
  readonly body: object
}

const containers = [{ name: 'main', image: 'example.com/image:1' }]
const template = { metadata: { labels: { app: 'soak' } }, spec: { containers } }

/** Kinds that nothing but the soak's own writes changes where only an API server runs. */
export const soakKinds: readonly SoakKind[] = [
  core('configmaps', { data: { text: 'x'.repeat(500) } }),
  core('secrets', { stringData: { text: 'x'.repeat(200) } }),
  core('serviceaccounts', {}),
  core('services', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
  core('pods', { spec: { containers } }),
  core('podtemplates', { template }),
  core('endpoints', { subsets: [{ addresses: [{ ip: '10.1.0.1' }], ports: [{ port: 80 }] }] }),
  {
    group: 'coordination.k8s.io',
    version: 'v1',
    resource: 'leases',
    body: { spec: { holderIdentity: 'nobody' } },
  },
  {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    body: { spec: { selector: { matchLabels: { app: 'soak' } }, template } },
  },
  {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    resource: 'roles',
    body: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  },
]

function core(resource: string, body: object): SoakKind {
  return { group: '', version: 'v1', resource, body }
}

export const soakNamespaces = ['soak-a', 'soak-b'] as const

/** One of the fifty informers. */
export interface FleetMember {
  readonly name: string
  readonly kind: SoakKind
  readonly selection: Selection
  readonly metadataOnly: boolean
  readonly initialList: NonNullable<ReflectorOptions['initialList']>
}

const modes: Readonly<Record<string, Omit<FleetMember, 'name' | 'kind'>>> = {
  everywhere: { selection: {}, metadataOnly: false, initialList: 'list' },
  'of one namespace, by stream': {
    selection: { namespace: soakNamespaces[0] },
    metadataOnly: false,
    initialList: 'watchlist',
  },
  'with a label selector': {
    selection: { labelSelector: 'on=yes' },
    metadataOnly: false,
    initialList: 'list',
  },
  'with a field selector': {
    selection: { namespace: soakNamespaces[1], fieldSelector: 'metadata.name!=n1' },
    metadataOnly: false,
    initialList: 'list',
  },
  'metadata only, by stream': { selection: {}, metadataOnly: true, initialList: 'watchlist' },
}

/** Five informers of each kind. */
export const fleetMembers: readonly FleetMember[] = soakKinds.flatMap((kind) =>
  Object.entries(modes).map(([mode, options]) => ({
    ...options,
    kind,
    name: `${kind.resource} ${mode}`,
  })),
)

/** `/api/v1/namespaces/soak-a/pods`. */
export function collectionPath({ group, version, resource }: SoakKind, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${resource}`
}

/** The path of the LIST that a member's store has to be equal to. */
export function memberListPath({ kind, selection }: FleetMember): string {
  const { namespace, labelSelector, fieldSelector } = selection
  const query = new URLSearchParams()
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  return `${collectionPath(kind, namespace)}?${query}`
}
