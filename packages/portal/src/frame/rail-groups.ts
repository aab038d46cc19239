/** A kind, as far as its place in the rail depends on it. */
interface RailKind {
  readonly path: string
  readonly resource: string
  readonly group: string
  readonly kind: string
  readonly type: string
}

/** The groups of the rail, in their order. Kinds of other API groups follow, each under its group's name. */
export const railGroups = [
  'workloads',
  'network',
  'config',
  'storage',
  'access',
  'nodes',
  'cluster',
] as const

export type RailGroup = (typeof railGroups)[number]

/**
 * The kinds that each group begins with, in this order, by `resource.group`. They are shown even where the gateway has
 * not read them yet, as people look for them.
 */
const usual: Readonly<Record<RailGroup, readonly string[]>> = {
  workloads: [
    'pods',
    'deployments.apps',
    'statefulsets.apps',
    'daemonsets.apps',
    'jobs.batch',
    'cronjobs.batch',
  ],
  network: ['services', 'ingresses.networking.k8s.io', 'networkpolicies.networking.k8s.io'],
  config: ['configmaps', 'secrets', 'horizontalpodautoscalers.autoscaling'],
  storage: ['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io'],
  access: [
    'serviceaccounts',
    'roles.rbac.authorization.k8s.io',
    'rolebindings.rbac.authorization.k8s.io',
  ],
  nodes: ['nodes', 'namespaces', 'events'],
  cluster: [],
}

/** Where the other kinds that Kubernetes itself serves belong, by their API group. The core group is split by kind. */
const byApiGroup: Readonly<Record<string, RailGroup>> = {
  apps: 'workloads',
  batch: 'workloads',
  policy: 'config',
  autoscaling: 'config',
  'networking.k8s.io': 'network',
  'gateway.networking.k8s.io': 'network',
  'discovery.k8s.io': 'network',
  'storage.k8s.io': 'storage',
  'snapshot.storage.k8s.io': 'storage',
  'rbac.authorization.k8s.io': 'access',
  'certificates.k8s.io': 'access',
  'node.k8s.io': 'nodes',
  'metrics.k8s.io': 'nodes',
  'resource.k8s.io': 'nodes',
  'scheduling.k8s.io': 'config',
  'coordination.k8s.io': 'cluster',
  'events.k8s.io': 'cluster',
  'admissionregistration.k8s.io': 'cluster',
  'apiextensions.k8s.io': 'cluster',
  'apiregistration.k8s.io': 'cluster',
  'flowcontrol.apiserver.k8s.io': 'cluster',
  'internal.apiserver.k8s.io': 'cluster',
  'storagemigration.k8s.io': 'cluster',
}

const ofCore: Readonly<Record<string, RailGroup>> = {
  replicationcontrollers: 'workloads',
  podtemplates: 'workloads',
  endpoints: 'network',
  resourcequotas: 'config',
  limitranges: 'config',
}

/** A heading of the rail with its kinds. */
export interface RailSection<Kind = RailKind> {
  /** One of the rail's own groups, or the name of an API group. */
  readonly name: RailGroup | (string & {})
  /** Those that are always in sight. */
  readonly kinds: readonly Kind[]
  /** Those without objects, and those that the gateway has not read: folded away. */
  readonly quiet: readonly Kind[]
}

const isOwn = (name: string): name is RailGroup => (railGroups as readonly string[]).includes(name)

/** The group of a kind: the rail's own, or else its API group. */
export function groupOf({ path, resource, group }: RailKind): RailSection['name'] {
  const own = railGroups.find((name) => usual[name].includes(path))
  if (own !== undefined) return own
  return group === '' ? (ofCore[resource] ?? 'cluster') : (byApiGroup[group] ?? group)
}

/** The kinds by their groups. */
export function railSections<Kind extends RailKind>(
  kinds: readonly Kind[],
  counts: ReadonlyMap<string, { readonly objects: number | null }>,
): readonly RailSection<Kind>[] {
  const groups = Map.groupBy(kinds, groupOf)
  const custom = [...groups.keys()].filter((name) => !isOwn(name)).toSorted()
  return [...railGroups, ...custom].flatMap((name) => {
    const all = groups.get(name) ?? []
    if (all.length === 0) return []
    const first = isOwn(name) ? usual[name] : []
    const rank = (kind: Kind): number => {
      const place = first.indexOf(kind.path)
      return place < 0 ? first.length : place
    }
    const sorted = all.toSorted((a, b) => rank(a) - rank(b) || a.kind.localeCompare(b.kind))
    const isShown = (kind: Kind): boolean => {
      const objects = counts.get(kind.type)?.objects ?? null
      return objects === null ? rank(kind) < first.length : objects > 0
    }
    return [{ name, kinds: sorted.filter(isShown), quiet: sorted.filter((kind) => !isShown(kind)) }]
  })
}
