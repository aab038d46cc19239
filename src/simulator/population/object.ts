import type { JsonObject, OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { isRecord } from '../../lib/json.ts'
import { hexDigest, uidDigest } from './random.ts'

/** A resource by its place in the API, without what discovery says about it. */
export interface GroupVersionResource {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** The plural of the path, `pods`. */
  readonly resource: string
}

/** A resource of the population, with what its objects carry in `apiVersion` and `kind`. */
export interface PopulationResource extends GroupVersionResource {
  readonly kind: string
  readonly apiVersion: string
}

/** One object of the population and where it belongs. */
export interface PopulationItem {
  readonly resource: PopulationResource
  readonly object: Unstructured
}

function named(apiVersion: string, resource: string, kind: string): PopulationResource {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  return { group, version, resource, kind, apiVersion }
}

/** The resources that controllers, the scheduler and kubelets write: all others are known from manifests alone. */
class ControlledResources {
  readonly nodes: PopulationResource = named('v1', 'nodes', 'Node')
  readonly pods: PopulationResource = named('v1', 'pods', 'Pod')
  readonly services: PopulationResource = named('v1', 'services', 'Service')
  readonly events: PopulationResource = named('v1', 'events', 'Event')
  readonly claims: PopulationResource = named(
    'v1',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
  )
  readonly deployments: PopulationResource = named('apps/v1', 'deployments', 'Deployment')
  readonly replicaSets: PopulationResource = named('apps/v1', 'replicasets', 'ReplicaSet')
  readonly statefulSets: PopulationResource = named('apps/v1', 'statefulsets', 'StatefulSet')
  readonly daemonSets: PopulationResource = named('apps/v1', 'daemonsets', 'DaemonSet')
  readonly controllerRevisions: PopulationResource = named(
    'apps/v1',
    'controllerrevisions',
    'ControllerRevision',
  )
  readonly jobs: PopulationResource = named('batch/v1', 'jobs', 'Job')
  readonly cronJobs: PopulationResource = named('batch/v1', 'cronjobs', 'CronJob')
  readonly endpointSlices: PopulationResource = named(
    'discovery.k8s.io/v1',
    'endpointslices',
    'EndpointSlice',
  )
  readonly disruptionBudgets: PopulationResource = named(
    'policy/v1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
  )
  readonly autoscalers: PopulationResource = named(
    'autoscaling/v2',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
  )
  readonly leases: PopulationResource = named('coordination.k8s.io/v1', 'leases', 'Lease')
  readonly priorityClasses: PopulationResource = named(
    'scheduling.k8s.io/v1',
    'priorityclasses',
    'PriorityClass',
  )
}

export const resources: ControlledResources = new ControlledResources()

/** The writer of some fields, and the kind of write. */
export interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource?: string
}

/** The managers that code writes for; manifests name others under `metadata.managedFields`. */
export const managers: Readonly<
  Record<
    'deployer' | 'controller' | 'controllerStatus' | 'kubeletStatus' | 'scheduler',
    FieldManager
  >
> = {
  deployer: { manager: 'argocd-controller', operation: 'Apply' },
  controller: { manager: 'kube-controller-manager', operation: 'Update' },
  controllerStatus: {
    manager: 'kube-controller-manager',
    operation: 'Update',
    subresource: 'status',
  },
  kubeletStatus: { manager: 'kubelet', operation: 'Update', subresource: 'status' },
  scheduler: { manager: 'kube-scheduler', operation: 'Update', subresource: 'status' },
}

/** An object as a manifest or a controller writes it, before it has an identity. */
export interface Written {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly generateName?: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    /** Without `uid` in manifests: it follows from the name. */
    readonly ownerReferences?: readonly (Omit<OwnerReference, 'uid'> & { readonly uid?: string })[]
    readonly finalizers?: readonly string[]
    /** The writers of the object and of its status. Defaults: the deployer and the controller manager. */
    readonly managedFields?: readonly FieldManager[]
  }
  readonly status?: unknown
  readonly [field: string]: unknown
}

/** The identity of an object, and when it was written. */
export interface Identity {
  readonly uid: string
  readonly createdAtMs: number
  /** When its status was last written; default: at its creation. */
  readonly updatedAtMs?: number
  /** The UID of an owner whose reference has none. */
  readonly ownerUid?: (owner: Omit<OwnerReference, 'uid'>) => string
}

/** Gives an object its identity and its managed fields. */
export function identified(
  resource: PopulationResource,
  { metadata: given, apiVersion: _version, kind: _kind, ...body }: Written,
  { uid, createdAtMs, updatedAtMs = createdAtMs, ownerUid }: Identity,
): PopulationItem {
  const { apiVersion, kind } = resource
  const { name, namespace, generateName, generation, managedFields, ...described } = given
  const owners = given.ownerReferences?.map((owner) => ({
    ...owner,
    uid: owner.uid ?? ownerUid?.(owner) ?? '',
  }))
  const told = owners === undefined ? described : { ...described, ownerReferences: owners }
  const { status, ...rest } = body
  const writer = managedFields?.find(({ subresource }) => subresource === undefined)
  const fields = ownedFields({ metadata: told, ...rest })
  const entries = [managedBy(writer ?? managers.deployer, apiVersion, createdAtMs, fields)]
  if (status !== undefined) {
    const reporter = managedFields?.find(({ subresource }) => subresource === 'status')
    const by = reporter ?? managers.controllerStatus
    entries.push(managedBy(by, apiVersion, updatedAtMs, ownedFields({ status })))
  }
  const metadata = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    creationTimestamp: timestamp(createdAtMs),
    ...(generation === undefined ? {} : { generation }),
    ...told,
    managedFields: entries,
  } as Unstructured['metadata']
  return { resource, object: { apiVersion, kind, metadata, ...body } }
}

/** The UID of an object of the first population: it follows from the object's place. */
export function firstUid(
  seed: string,
  { group, resource }: GroupVersionResource,
  namespace: string,
  name: string,
): string {
  return uidDigest(`${seed}/${group}/${resource}/${namespace}/${name}`)
}

/** The reference by which `owner` owns what its controller makes. */
export function ownerReference({ apiVersion, kind, metadata }: Unstructured): OwnerReference {
  const { name, uid = '' } = metadata
  return { apiVersion, blockOwnerDeletion: true, controller: true, kind, name, uid }
}

/** What a component reports about an object. */
export interface EventReport {
  readonly regarding: Unstructured
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** `kubelet`, `deployment-controller`, … */
  readonly component: string
  readonly host?: string
  /** The part of the object that it is about: `spec.containers{app}`. */
  readonly fieldPath?: string
  readonly firstAtMs: number
  readonly lastAtMs: number
  readonly count: number
}

/** A core Event. Its name and UID follow from what it is about and from when it first happened. */
export function eventItem(report: EventReport): PopulationItem {
  const { regarding, component, host, fieldPath, type, reason, message, count } = report
  const { name, namespace, uid = '', resourceVersion } = regarding.metadata
  const place = `${uid}/${reason}/${message}/${report.firstAtMs}`
  const byController = component.endsWith('-controller')
  const manager = byController ? 'kube-controller-manager' : component
  const metadata = {
    name: `${name}.${hexDigest(place, 16)}`,
    namespace: namespace ?? 'default',
    managedFields: [{ manager, operation: 'Update' as const }],
  }
  const involvedObject = {
    apiVersion: regarding.apiVersion,
    ...(fieldPath === undefined ? {} : { fieldPath }),
    kind: regarding.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    uid,
  }
  const event = {
    metadata,
    count,
    eventTime: null,
    firstTimestamp: timestamp(report.firstAtMs),
    involvedObject,
    lastTimestamp: timestamp(report.lastAtMs),
    message,
    reason,
    reportingComponent: component,
    reportingInstance: host ?? '',
    source: { component, ...(host === undefined ? {} : { host }) },
    type,
  }
  const identity = { uid: uidDigest(`${place}/event`), createdAtMs: report.firstAtMs }
  return identified(resources.events, event, identity)
}

/** An entry of `managedFields`. `fieldsV1` comes from {@link ownedFields} and may be shared between objects. */
export function managedBy(
  { manager, operation, subresource }: FieldManager,
  apiVersion: string,
  atMs: number,
  fieldsV1: JsonObject,
): JsonObject {
  return {
    manager,
    operation,
    apiVersion,
    time: timestamp(atMs),
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource === undefined ? {} : { subresource }),
  }
}

/** The keys of the lists that are merged item by item; all other lists are owned as a whole. */
const listKeys: Readonly<Record<string, readonly string[]>> = {
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  podIPs: ['ip'],
  ports: ['containerPort', 'port', 'protocol'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
}

/** Fields that the API server sets: no manager owns them. */
const unowned = new Set(['name', 'namespace', 'uid', 'creationTimestamp'])

/** Parts of objects that are values in Go rather than pointers or maps: they have fields but no existence of their own. */
const structs = new Set(['spec', 'template', 'metadata', 'state', 'lastState', 'resources'])

/**
 * The set of fields that an object has, in the form of structured-merge-diff's FieldsV1: `f:` before a field, `k:` before
 * a list item's key, `.` for the thing itself. Costs a walk through the object, so derive it once per template.
 */
export function ownedFields(object: Readonly<Record<string, unknown>>): JsonObject {
  const fields: Record<string, JsonObject> = {}
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    const part =
      name === 'metadata'
        ? Object.fromEntries(Object.entries(value as object).filter(([key]) => !unowned.has(key)))
        : value
    fields[`f:${name}`] = fieldsOf(name, part, false)
  }
  return fields
}

function fieldsOf(name: string, value: unknown, withSelf: boolean): JsonObject {
  if (Array.isArray(value)) return itemFieldsOf(listKeys[name] ?? [], value)
  if (!isRecord(value)) return {}
  const fields: Record<string, JsonObject> = withSelf ? { '.': {} } : {}
  for (const key in value) {
    const nested = value[key]
    if (nested !== undefined)
      fields[`f:${key}`] = fieldsOf(key, nested, !structs.has(key) && isRecord(nested))
  }
  return fields
}

function itemFieldsOf(keys: readonly string[], list: readonly unknown[]): JsonObject {
  if (keys.length === 0) return {}
  const fields: Record<string, JsonObject> = { '.': {} }
  for (const item of list) {
    if (!isRecord(item)) return {}
    const key: Record<string, unknown> = {}
    for (const one of keys) if (one in item) key[one] = item[one]
    fields[`k:${JSON.stringify(key)}`] = fieldsOf('', item, true)
  }
  return fields
}
