import { differences, editableOf, type Difference } from '../edit/editable.ts'
import { listAt, textAt, valueAt } from '../object/json.ts'

type Members = Readonly<Record<string, unknown>>

/** What the differences of two objects are about, what matters first. */
const groups = ['image', 'replicas', 'env', 'resources', 'other', 'metadata'] as const

export type DifferenceGroup = (typeof groups)[number]

/** The fields that differ between two objects, in groups. */
export function compared(
  left: unknown,
  right: unknown,
): readonly { readonly group: DifferenceGroup; readonly fields: readonly Difference[] }[] {
  const byGroup = Map.groupBy(differences(comparableOf(left), comparableOf(right)), groupOf)
  return groups.flatMap((group) => {
    const fields = byGroup.get(group)
    return fields === undefined ? [] : [{ group, fields }]
  })
}

function groupOf({ path }: Difference): DifferenceGroup {
  if (/\/metadata(?:\/|$)/.test(path)) return 'metadata'
  if (path.endsWith('/image')) return 'image'
  if (path === '/spec/replicas') return 'replicas'
  if (/\/env(?:From)?(?:\/|$)/.test(path)) return 'env'
  if (/\/resources(?:\/|$)/.test(path)) return 'resources'
  return 'other'
}

/** Labels and annotations that controllers write. */
const ofControllers: ReadonlySet<string> = new Set([
  'deployment.kubernetes.io/revision',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.daemonset.template.generation',
  'pod-template-hash',
  'controller-revision-hash',
  'controller-uid',
  'batch.kubernetes.io/controller-uid',
])

/** What a cluster assigns to the objects of a kind, in `spec`. */
const assigned: Readonly<Record<string, readonly string[]>> = {
  Service: ['clusterIP', 'clusterIPs', 'healthCheckNodePort'],
  Pod: ['nodeName'],
  PersistentVolumeClaim: ['volumeName'],
  Node: ['podCIDR', 'podCIDRs', 'providerID'],
  Namespace: ['finalizers'],
}

/** What two objects are compared by: what people write, without the names that tell them apart. */
export function comparableOf(json: unknown): Members {
  const { metadata, spec, ...rest } = editableOf(json)
  const { labels, annotations, ownerReferences } = membersOf(metadata)
  const owners = listAt({ ownerReferences }, 'ownerReferences').map((owner) => ({
    kind: textAt(owner, 'kind'),
    name: textAt(owner, 'name'),
  }))
  const own = {
    ...filled('labels', without(labels, ofControllers)),
    ...filled('annotations', without(annotations, ofControllers)),
    ...(owners.length === 0 ? {} : { ownerReferences: owners }),
  }
  const isMap = typeof spec === 'object' && spec !== null && !Array.isArray(spec)
  const ofCluster = new Set(assigned[textAt(json, 'kind') ?? ''] ?? [])
  const written = isMap ? withPorts(without(spec, ofCluster)) : spec
  return {
    ...rest,
    ...(Object.keys(own).length === 0 ? {} : { metadata: own }),
    ...(written === undefined ? {} : { spec: written }),
  }
}

/** Node ports are assigned, too. */
function withPorts(spec: Members): Members {
  const ports = valueAt(spec, 'ports')
  if (!Array.isArray(ports)) return spec
  return { ...spec, ports: ports.map((port: unknown) => without(port, new Set(['nodePort']))) }
}

function filled(name: string, members: Members): Members {
  return Object.keys(members).length === 0 ? {} : { [name]: members }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : {}
}

function without(value: unknown, names: ReadonlySet<string>): Members {
  return Object.fromEntries(Object.entries(membersOf(value)).filter(([name]) => !names.has(name)))
}
