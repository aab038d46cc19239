import type { ObjectMeta, Unstructured } from '../../../kubernetes/object.ts'
import { timestamp } from '../../../kubernetes/timestamp.ts'
import { isJsonObject } from '../../../lib/json.ts'
import type { ServedResource } from '../../api/served-resource.ts'
import {
  difference,
  type FieldSet,
  isEmpty,
  noFields,
  readFields,
  union,
  within,
  without,
  writeFields,
} from './field-set.ts'
import type { FieldShape } from './field-shape.ts'
import { allFields, fieldChanges } from './object-fields.ts'

/** The manager of a write, and the kind and subresource that it writes. */
export interface Writer {
  readonly served: ServedResource
  readonly shape: FieldShape
  readonly manager: string
  /** `''`, or `status`. */
  readonly subresource: string
}

/** Metadata without owners. */
const serverMetadata = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]

/** The fields of a set that a write to this subresource can own. */
export function ownable(set: FieldSet, { served, subresource }: Writer): FieldSet {
  if (subresource === 'status') return within(set, ['status'])
  // Custom kinds may have their replicas anywhere, so their scaling owns no field.
  if (subresource === 'scale' && served.stored.custom) return noFields
  const members = ['apiVersion', 'kind', ...(served.stored.hasStatusSubresource ? ['status'] : [])]
  const own = without(set, members, serverMetadata)
  return served.stored.custom ? own : withoutRoots(own)
}

/** Built-in kinds always have a `spec`, so no manager owns the member itself. */
function withoutRoots({ owned, parts }: FieldSet): FieldSet {
  const spec = parts.get('f:spec')
  if (spec === undefined || spec.parts.size === 0) return { owned, parts }
  return { owned, parts: new Map(parts).set('f:spec', { ...spec, owned: false }) }
}

/** A writer as a manager that owns nothing yet. */
export function managerOf(writer: Writer, operation: Manager['operation']): Manager {
  const { manager: name, served, subresource } = writer
  const { apiVersion } = served
  return { name, operation, apiVersion, subresource, fields: noFields, time: undefined }
}

/** Updates the managers after a create or an update: the writer owns the fields that it sets, and others lose them. */
export function withOwners(
  previous: Unstructured | undefined,
  next: Unstructured,
  writer: Writer,
): Unstructured {
  const managers = previous === undefined ? [] : readManagers(previous)
  const changes = fieldChanges(previous ?? {}, next, writer.shape)
  const set = ownable(changes.set, writer)
  const self = managerOf(writer, 'Update')
  const old = managers.find((one) => isSameManager(one, self)) ?? self
  const mine = { ...self, fields: union(difference(old.fields, changes.removed), set) }
  const others = managers
    .filter((one) => one !== old)
    .map((one) => managerWithout(one, union(set, changes.removed)))
  return withManagers(next, [...others, mine])
}

/** A manager without some fields. */
export function managerWithout(manager: Manager, fields: FieldSet): Manager {
  return { ...manager, fields: difference(manager.fields, fields) }
}

/** The managers before an apply. The manager `before-first-apply` owns all fields of an object without managers. */
export function ownersBeforeApply(current: Unstructured, writer: Writer): Manager[] {
  const managers = readManagers(current)
  if (managers.length > 0) return managers
  const before = managerOf({ ...writer, manager: 'before-first-apply', subresource: '' }, 'Update')
  const all = allFields(current, writer.shape)
  const fields = without({ ...all, owned: false }, ['apiVersion', 'kind'], serverMetadata)
  return [{ ...before, fields }]
}

/** A writer, its kind of write, and the fields that it owns. */
export interface Manager {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly fields: FieldSet
  /** The time of the last change of its fields; `undefined` for now. */
  readonly time: string | undefined
}

export const isSameManager = (a: Manager, b: Manager): boolean =>
  a.name === b.name &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The managers of an object, from its `metadata.managedFields`. */
export function readManagers({ metadata }: Unstructured): Manager[] {
  const { managedFields } = metadata as ObjectMeta & { readonly managedFields?: unknown }
  if (!Array.isArray(managedFields)) return []
  return managedFields.filter(isJsonObject).map((entry) => ({
    name: textOf(entry['manager']),
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textOf(entry['apiVersion']),
    subresource: textOf(entry['subresource']),
    fields: readFields(entry['fieldsV1']),
    time: typeof entry['time'] === 'string' ? entry['time'] : undefined,
  }))
}

/** Writes the managers into an object: appliers first, then the others by time. Drops managers without fields. */
export function withManagers(object: Unstructured, managers: readonly Manager[]): Unstructured {
  const now = timestamp(Date.now())
  const entries = managers
    .filter(({ fields }) => !isEmpty(fields))
    .map((manager) => ({ ...manager, time: manager.time ?? now }))
    .toSorted(byOperationAndTime)
    .map(({ name, operation, apiVersion, subresource, fields, time }) => ({
      manager: name,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: writeFields(fields),
      ...(subresource === '' ? {} : { subresource }),
    }))
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & {
    readonly managedFields?: unknown
  }
  const own = entries.length === 0 ? {} : { managedFields: entries }
  return { ...object, metadata: { ...metadata, ...own } }
}

function byOperationAndTime(a: Manager, b: Manager): number {
  if (a.operation !== b.operation) return a.operation === 'Apply' ? -1 : 1
  const [one = '', other = ''] = [a.time, b.time]
  if (one !== other) return one < other ? -1 : 1
  return a.name < b.name ? -1 : 1
}
