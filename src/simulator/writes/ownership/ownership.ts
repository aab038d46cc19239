import type { ObjectMeta, Unstructured } from '../../../kubernetes/object.ts'
import { timestamp } from '../../../kubernetes/timestamp.ts'
import { isJsonObject } from '../../../lib/json-object.ts'
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

/** Who writes, and to which part of which kind. */
export interface Writer {
  readonly served: ServedResource
  readonly shape: FieldShape
  readonly manager: string
  /** `''`, or `status`. */
  readonly subresource: string
}

/** Metadata that belongs to nobody. */
const serversMetadata = [
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

/** The fields of a set that a write to this part of an object can own. */
export function ownable(set: FieldSet, { served, subresource }: Writer): FieldSet {
  if (subresource === 'status') return within(set, ['status'])
  // The replicas of custom kinds stand anywhere: their scaling is nobody's.
  if (subresource === 'scale' && served.stored.custom) return noFields
  const members = ['apiVersion', 'kind', ...(served.stored.statusApart ? ['status'] : [])]
  const own = without(set, members, serversMetadata)
  return served.stored.custom ? own : withoutRoots(own)
}

/** Built-in kinds always have a `spec`: nobody owns it as such. */
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

/** An object as a create or an update leaves it, with its managers: who sets a field owns it, and nobody else does. */
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
    .map((one) => losing(one, union(set, changes.removed)))
  return withManagers(next, [...others, mine])
}

/** A manager without some fields. */
export function losing(manager: Manager, fields: FieldSet): Manager {
  return { ...manager, fields: difference(manager.fields, fields) }
}

/** Whoever wrote an object that names no managers: its fields are owned before the first apply. */
export function ownersBeforeApply(current: Unstructured, writer: Writer): Manager[] {
  const managers = readManagers(current)
  if (managers.length > 0) return managers
  const before = managerOf({ ...writer, manager: 'before-first-apply', subresource: '' }, 'Update')
  const all = allFields(current, writer.shape)
  const fields = without({ ...all, owned: false }, ['apiVersion', 'kind'], serversMetadata)
  return [{ ...before, fields }]
}

/** Who has set fields, by which kind of write. */
export interface Manager {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly fields: FieldSet
  /** When its fields last changed; `undefined` where that is now. */
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

/** The object with these managers: those who apply first, then the others by their times; who has no fields is dropped. */
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
