import type { JsonObject, OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { isRecord } from '../../lib/json.ts'
import { hexDigest, uidDigest } from './random.ts'

/** A resource by group, version and name. */
export interface GroupVersionResource {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** The plural of the path, `pods`. */
  readonly resource: string
}

/** A resource of the population, with the `apiVersion` and `kind` of its objects. */
export interface PopulationResource extends GroupVersionResource {
  readonly kind: string
  readonly apiVersion: string
}

/** One object of the population, and its resource. */
export interface PopulationItem {
  readonly resource: PopulationResource
  readonly object: Unstructured
}

const controlled = {
  nodes: ['v1', 'nodes', 'Node'],
  pods: ['v1', 'pods', 'Pod'],
  services: ['v1', 'services', 'Service'],
  events: ['v1', 'events', 'Event'],
  claims: ['v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'],
  deployments: ['apps/v1', 'deployments', 'Deployment'],
  replicaSets: ['apps/v1', 'replicasets', 'ReplicaSet'],
  statefulSets: ['apps/v1', 'statefulsets', 'StatefulSet'],
  daemonSets: ['apps/v1', 'daemonsets', 'DaemonSet'],
  controllerRevisions: ['apps/v1', 'controllerrevisions', 'ControllerRevision'],
  jobs: ['batch/v1', 'jobs', 'Job'],
  cronJobs: ['batch/v1', 'cronjobs', 'CronJob'],
  endpointSlices: ['discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'],
  disruptionBudgets: ['policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'],
  autoscalers: ['autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'],
  leases: ['coordination.k8s.io/v1', 'leases', 'Lease'],
  priorityClasses: ['scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass'],
} as const

/** The resources that controllers, the scheduler and kubelets write. The scenario's manifests name all others. */
export const resources: Readonly<Record<keyof typeof controlled, PopulationResource>> =
  Object.fromEntries(
    Object.entries(controlled).map(([name, [apiVersion, resource, kind]]) => {
      const [version = '', group = ''] = apiVersion.split('/').toReversed()
      return [name, { group, version, resource, kind, apiVersion }]
    }),
  ) as Record<keyof typeof controlled, PopulationResource>

/** A field manager and its kind of write. */
export interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource?: string
}

/** The managers of controllers. Manifests name others under `metadata.managedFields`. */
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

/** An object of a manifest or a controller, before it has an identity. */
export interface Written {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly generateName?: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    /** Manifests omit the `uid`, which follows from the name. */
    readonly ownerReferences?: readonly (Omit<OwnerReference, 'uid'> & { readonly uid?: string })[]
    readonly finalizers?: readonly string[]
    /** The managers of the object and of its status. Defaults: the deployer and the controller manager. */
    readonly managedFields?: readonly FieldManager[]
  }
  readonly status?: unknown
  readonly [field: string]: unknown
}

/** The identity and the times of an object. */
export interface Identity {
  readonly uid: string
  readonly createdAtMs: number
  /** The time of the last status write. Default: its creation. */
  readonly updatedAtMs?: number
  /** Finds the UID of an owner whose reference lacks it. */
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
  const ownMetadata = owners === undefined ? described : { ...described, ownerReferences: owners }
  const { status, ...rest } = body
  const writer = managedFields?.find(({ subresource }) => subresource === undefined)
  const fields = ownedFields({ metadata: ownMetadata, ...rest })
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
    ...ownMetadata,
    managedFields: entries,
  } as Unstructured['metadata']
  return { resource, object: { apiVersion, kind, metadata, ...body } }
}

/** The UID of an object of the first population. It follows from the seed and the object's name. */
export function firstUid(
  seed: string,
  { group, resource }: GroupVersionResource,
  namespace: string,
  name: string,
): string {
  return uidDigest(`${seed}/${group}/${resource}/${namespace}/${name}`)
}

/** The reference from a controlled object to its controller. */
export function ownerReference({ apiVersion, kind, metadata }: Unstructured): OwnerReference {
  const { name, uid = '' } = metadata
  return { apiVersion, blockOwnerDeletion: true, controller: true, kind, name, uid }
}

/** A component's report about an object. */
export interface EventReport {
  readonly regarding: Unstructured
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** `kubelet`, `deployment-controller`, … */
  readonly component: string
  readonly host?: string
  /** The part of the object: `spec.containers{app}`. */
  readonly fieldPath?: string
  readonly firstAtMs: number
  readonly lastAtMs: number
  readonly count: number
}

/** A core Event. Its name and UID follow from its object, reason, message and first time. */
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

/** An entry of `managedFields`. Objects may share `fieldsV1`, the result of {@link ownedFields}. */
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

/** The keys of lists that merge by item. Other lists are owned as a whole. */
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

/** Metadata of the API server, without owners. */
const unowned = new Set(['name', 'namespace', 'uid', 'creationTimestamp'])

/** Structs in Go: managers own their fields, but not the struct itself. */
const structs = new Set(['spec', 'template', 'metadata', 'state', 'lastState', 'resources'])

/**
 * The fields of an object as FieldsV1 of structured-merge-diff: `f:` before a field, `k:` before the key of a list
 * item, `.` for the value itself. Walks the whole object, so call it once per template.
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
