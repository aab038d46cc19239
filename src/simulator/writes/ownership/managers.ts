import type { Unstructured, ObjectMeta } from '../../../kubernetes/object.ts'
import { timestamp } from '../../../kubernetes/timestamp.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { type FieldSet, isEmpty, readFields, writeFields } from './field-set.ts'

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
