/*
 * How population and controllers make an object: identity, owner, and the managed fields of its writers. `ownedFields`
 * knows the few lists of such objects by heart and shares its results, because there are millions; `writes/managed-
 * fields.ts` does it by schema, for what clients write.
 */

import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { JsonObject, OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import type { ResourceName } from '../storage/storage.ts'

/** A resource of the population, with the `apiVersion` and `kind` of its objects. */
export interface PopulationResource extends ResourceName {
  readonly kind: string
  readonly apiVersion: string
}

/** One object of the population, and its resource. */
export interface PopulationItem {
  readonly resource: PopulationResource
  readonly object: Unstructured
}

/** Durations in milliseconds. */
export const second = 1000
export const minute: number = 60 * second
export const hour: number = 60 * minute
export const day: number = 24 * hour

/** A field manager and its kind of write. */
interface FieldManager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource?: string
}

export type Labels = Readonly<Record<string, string>>

/** An object of a manifest or a controller, before it has an identity. */
export interface Written {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly generateName?: string
    readonly generation?: number
    readonly labels?: Labels
    readonly annotations?: Labels
    readonly ownerReferences?: readonly OwnerReference[]
    readonly finalizers?: readonly string[]
    /** The managers of the object and of its status. Default: the controller manager. */
    readonly managedFields?: readonly FieldManager[]
  }
  readonly status?: unknown
  readonly [field: string]: unknown
}

/** Gives an object its identity and its managed fields. */
export function identified(
  resource: Pick<ApiResource, 'group' | 'version' | 'kind'>,
  { metadata: given, apiVersion: _version, kind: _kind, ...body }: Written,
  { uid, createdAtMs }: { readonly uid: string; readonly createdAtMs: number },
): Unstructured {
  const apiVersion = apiVersionOf(resource)
  const { name, namespace, generateName, generation, managedFields = [], ...described } = given
  const { status, ...rest } = body
  const writer = managedFields.find(({ subresource }) => subresource === undefined)
  const fields = ownedFields({ metadata: described, ...rest })
  const entries = [managedBy(writer ?? controllerManager, apiVersion, createdAtMs, fields)]
  if (status !== undefined) {
    const reporter = managedFields.find(({ subresource }) => subresource === 'status')
    const by = reporter ?? statusOf(controllerManager)
    entries.push(managedBy(by, apiVersion, createdAtMs, ownedFields({ status })))
  }
  const metadata = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    creationTimestamp: timestamp(createdAtMs),
    ...(generation === undefined ? {} : { generation }),
    ...described,
    managedFields: entries,
  } as Unstructured['metadata']
  return { apiVersion, kind: resource.kind, metadata, ...body }
}

/** The reference from a controlled object to its controller. */
export function ownerReference({ apiVersion, kind, metadata }: Unstructured): OwnerReference {
  const { name, uid = '' } = metadata
  return { apiVersion, blockOwnerDeletion: true, controller: true, kind, name, uid }
}

export const controllerManager: FieldManager = {
  manager: 'kube-controller-manager',
  operation: 'Update',
}

/** The same manager, as the writer of the status. */
export const statusOf = (manager: FieldManager): FieldManager => ({
  ...manager,
  subresource: 'status',
})

/** An object with the status that a manager reports. `fields` are those of the status, as FieldsV1. */
export function withReport<T extends Unstructured>(
  object: T,
  status: unknown,
  { by, atMs, fields }: { by: FieldManager; atMs: number; fields: JsonObject },
): T {
  const { metadata, apiVersion } = object
  const { managedFields = [] } = metadata as { managedFields?: readonly FieldManager[] }
  const others = managedFields.filter(({ subresource }) => subresource !== 'status')
  const reported = managedBy(by, apiVersion, atMs, fields)
  return { ...object, metadata: { ...metadata, managedFields: [...others, reported] }, status }
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

/** Structs in Go: managers own their fields, but not the struct itself. */
const structs = new Set([
  'spec',
  'status',
  'template',
  'metadata',
  'state',
  'lastState',
  'resources',
])

/**
 * The fields of an object as FieldsV1 of structured-merge-diff: `f:` before a field, `k:` before the key of a list
 * item, `.` for the value itself.
 */
export function ownedFields(value: unknown, withSelf = false): JsonObject {
  if (!isRecord(value)) return none
  const fields: Record<string, JsonObject> = withSelf ? { '.': none } : {}
  for (const key in value) {
    const part = value[key]
    if (part === undefined) continue
    if (typeof part !== 'object') fields[`f:${key}`] = none
    else if (Array.isArray(part)) fields[`f:${key}`] = itemFields(listKeys[key] ?? [], part)
    else if (key === 'spec' && part !== null) {
      const known = getOrInsert(knownSpecs, part, () => ownedFields(part))
      fields['f:spec'] = known
    } else fields[`f:${key}`] = ownedFields(part, !structs.has(key))
  }
  return fields
}

const none: JsonObject = {}

/** The fields of each `spec`. A workload, its ReplicaSets and its pods share that of their template. */
const knownSpecs = new WeakMap<object, JsonObject>()

function itemFields(keys: readonly string[], list: readonly unknown[]): JsonObject {
  if (keys.length === 0) return none
  const fields: Record<string, JsonObject> = { '.': none }
  for (const item of list) {
    if (!isRecord(item)) return none
    const key: Record<string, unknown> = {}
    for (const one of keys) if (one in item) key[one] = item[one]
    fields[`k:${JSON.stringify(key)}`] = ownedFields(item, true)
  }
  return fields
}
