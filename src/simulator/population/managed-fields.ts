import type { JsonObject } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { isRecord } from '../../lib/json-object.ts'

/** One entry of `metadata.managedFields`: who set which fields, and when. */
export interface ManagedFieldsEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time: string
  readonly fieldsType: 'FieldsV1'
  readonly fieldsV1: JsonObject
  readonly subresource?: string
}

/** Who sets fields, and how. */
export interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource?: string
}

/** The managers that a cluster's objects name most. */
export const managers: Readonly<
  Record<
    | 'controller'
    | 'controllerStatus'
    | 'kubelet'
    | 'kubeletStatus'
    | 'scheduler'
    | 'apiServer'
    | 'deployer',
    FieldManager
  >
> = {
  controller: { manager: 'kube-controller-manager', operation: 'Update' },
  controllerStatus: {
    manager: 'kube-controller-manager',
    operation: 'Update',
    subresource: 'status',
  },
  kubelet: { manager: 'kubelet', operation: 'Update' },
  kubeletStatus: { manager: 'kubelet', operation: 'Update', subresource: 'status' },
  scheduler: { manager: 'kube-scheduler', operation: 'Update', subresource: 'status' },
  apiServer: { manager: 'kube-apiserver', operation: 'Update' },
  deployer: { manager: 'argocd-controller', operation: 'Apply' },
}

/** An entry of `managedFields`. `fields` comes from {@link ownedFields} and may be shared between objects. */
export function managedBy(
  { manager, operation, subresource }: FieldManager,
  apiVersion: string,
  atMs: number,
  fields: JsonObject,
): ManagedFieldsEntry {
  return {
    manager,
    operation,
    apiVersion,
    time: timestamp(atMs),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource === undefined ? {} : { subresource }),
  }
}

/** The keys of the lists that are merged item by item; all other lists are owned as a whole. */
const listKeys: Readonly<Record<string, readonly string[]>> = {
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  hostIPs: [],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  podIPs: ['ip'],
  ports: ['containerPort', 'protocol'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
}

/** What the API server knows by itself and gives nobody the ownership of. */
const unowned = new Set(['apiVersion', 'kind', 'name', 'namespace', 'uid', 'creationTimestamp'])

/**
 * The set of fields that an object has, in the form of structured-merge-diff's FieldsV1: `f:` before a field, `k:` before
 * a list item's key, `.` for the thing itself. Costs a walk through the object, so derive it once per template.
 */
export function ownedFields(object: Readonly<Record<string, unknown>>): JsonObject {
  const fields: Record<string, JsonObject> = {}
  for (const [name, value] of Object.entries(object)) {
    if (name === 'apiVersion' || name === 'kind' || value === undefined) continue
    const part = name === 'metadata' ? withoutUnowned(value as Record<string, unknown>) : value
    fields[`f:${name}`] = fieldsOf(name, part, false)
  }
  return fields
}

function withoutUnowned(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !unowned.has(name)))
}

function fieldsOf(name: string, value: unknown, withSelf: boolean): JsonObject {
  if (Array.isArray(value)) return itemFieldsOf(name, value)
  if (typeof value !== 'object' || value === null) return {}
  const fields: Record<string, JsonObject> = withSelf ? { '.': {} } : {}
  for (const [key, nested] of Object.entries(value)) {
    if (nested !== undefined)
      fields[`f:${key}`] = fieldsOf(key, nested, !structs.has(key) && isRecord(nested))
  }
  return fields
}

/** Parts of objects that are values in Go rather than pointers or maps: they have fields but no existence of their own. */
const structs = new Set(['spec', 'template', 'metadata', 'state', 'lastState', 'resources'])

function itemFieldsOf(name: string, list: readonly unknown[]): JsonObject {
  const keys = listKeys[name]
  if (keys === undefined || keys.length === 0) return {}
  const fields: Record<string, JsonObject> = { '.': {} }
  for (const item of list) {
    const record = item as Record<string, unknown>
    const parts = keys.filter((key) => key in record).map((key) => [key, record[key]])
    // Services key their ports by `port`, pods by `containerPort`.
    if ('port' in record && !('containerPort' in record)) parts.unshift(['port', record['port']])
    fields[`k:${JSON.stringify(Object.fromEntries(parts))}`] = fieldsOf('', item, true)
  }
  return fields
}
