/*
 * Who owns which fields of an object (`metadata.managedFields`). Fields are paths of named steps, as sets: a write adds
 * what it sets to its manager and takes it from the others.
 */

import { fieldsOf } from '../../kubernetes/fields.ts'
import type { ObjectMeta, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { isJsonObject } from '../../lib/json.ts'
import { type KindSchema, memberSchema, resolvedSchema } from '../api/captured-api.ts'
import { equalJson } from '../api/json.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { serverMetadata } from '../schema/field-checks.ts'

/** A set of fields: their paths, each the names of its steps in `fieldsV1`, joined by {@link separator}. */
export type FieldSet = ReadonlySet<string>

export const separator = '\0'

export const stepOf = (path: string, name: string): string =>
  path === '' ? name : `${path}${separator}${name}`

export const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}${separator}`)

/** A part of a value that managers own on its own, with its schema. */
interface Part {
  readonly value: unknown
  readonly schema: KindSchema
}

/**
 * The parts of a value that are owned one by one, by their names in `fieldsV1`: `f:name` is a member of a map, `k:{…}`
 * an item by its keys, `v:…` a value of a set. `undefined` for a value owned as a whole: a scalar, an atomic list or an
 * atomic map. Where there is no schema, maps are owned by member and lists as a whole. Source: structured-merge-diff,
 * and "Merge strategy" in the documentation of server-side apply.
 */
export function partsOf(
  value: unknown,
  { root, schemas }: KindSchema,
): Map<string, Part> | undefined {
  const schema = root === undefined ? {} : resolvedSchema(root, schemas)
  if (isJsonObject(value)) {
    if (schema['x-kubernetes-map-type'] === 'atomic') return undefined
    return new Map(
      Object.entries(value).map(([name, part]) => [
        `f:${name}`,
        { value: part, schema: { root: memberSchema(schema, name), schemas } },
      ]),
    )
  }
  const type = schema['x-kubernetes-list-type'] ?? 'atomic'
  if (!Array.isArray(value) || type === 'atomic') return undefined
  const item = { root: schema.items, schemas }
  if (type === 'set') {
    return new Map(value.map((one) => [`v:${JSON.stringify(one)}`, { value: one, schema: item }]))
  }
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).toSorted()
  const { properties = {} } = resolvedSchema(schema.items ?? {}, schemas)
  return new Map(
    value.map((one) => {
      const fields = fieldsOf(one)
      const key = Object.fromEntries(
        keys.map((name) => [name, fields[name] ?? properties[name]?.default]),
      )
      return [`k:${JSON.stringify(key)}`, { value: one, schema: item }]
    }),
  )
}

/** Stands for the value of a map or list whose parts are owned one by one. */
const inParts = Symbol('in parts')

interface Field {
  readonly path: string
  readonly value: unknown
  readonly hasParts: boolean
}

/** The fields below a value, including maps, lists and their items. */
export function fieldsBelow(value: unknown, schema: KindSchema, path = ''): Field[] {
  return [...(partsOf(value, schema) ?? [])].flatMap(([name, part]) => {
    const at = stepOf(path, name)
    const parts = partsOf(part.value, part.schema)
    const own = parts === undefined ? part.value : inParts
    const field = { path: at, value: own, hasParts: parts !== undefined && parts.size > 0 }
    return [field, ...fieldsBelow(part.value, part.schema, at)]
  })
}

export const isItem = (path: string): boolean =>
  path.startsWith('k:', path.lastIndexOf(separator) + 1)

/** How one version of an object differs from another. */
export interface FieldChanges {
  /** Set for the first time, or to another value. */
  readonly set: FieldSet
  readonly removed: FieldSet
}

export function fieldChanges(before: unknown, after: unknown, schema: KindSchema): FieldChanges {
  const old = new Map(fieldsBelow(before, schema).map(({ path, value }) => [path, value]))
  const fresh = new Map(fieldsBelow(after, schema).map(({ path, value }) => [path, value]))
  const set = [...fresh].filter(
    ([path, value]) => !old.has(path) || !equalJson(old.get(path), value),
  )
  const removed = [...old.keys()].filter((path) => !fresh.has(path))
  return { set: new Set(set.map(([path]) => path)), removed: new Set(removed) }
}

/** The paths of a set in the notation of messages: `.spec.containers[name="a"].image`. */
export function fieldPaths(set: FieldSet): string[] {
  const paths = [...set].map((path) => path.split(separator))
  // Fields of one level come before deeper fields, as in a kube-apiserver.
  const ordered = paths.toSorted((a, b) => {
    const at = a.findIndex((step, index) => step !== b[index])
    if (at < 0) return -1
    const [one = '', other] = [a[at], b[at]]
    if (other === undefined) return 1
    const isDeeper = a.length > at + 1
    if (isDeeper !== b.length > at + 1) return isDeeper ? 1 : -1
    return one < other ? -1 : 1
  })
  return ordered.map((steps) =>
    steps
      .map((name) => {
        const value = name.slice(2)
        if (name.startsWith('f:')) return `.${value}`
        if (name.startsWith('v:')) return `[=${value}]`
        const keys = Object.entries(JSON.parse(value) as object)
        return `[${keys.map(([key, one]) => `${key}=${JSON.stringify(one)}`).join(',')}]`
      })
      .join(''),
  )
}

function readFields(fields: unknown, path = ''): string[] {
  if (!isJsonObject(fields)) return path === '' ? [] : [path]
  const names = Object.keys(fields)
  const isOwned = path !== '' && (names.length === 0 || names.includes('.'))
  const parts = names.filter((name) => name !== '.')
  return [
    ...(isOwned ? [path] : []),
    ...parts.flatMap((name) => readFields(fields[name], stepOf(path, name))),
  ]
}

interface FieldsV1 {
  [name: string]: FieldsV1
}

function writeFields(set: FieldSet): FieldsV1 {
  const root: FieldsV1 = {}
  const paths = [...set].toSorted()
  for (const [at, path] of paths.entries()) {
    let node = root
    for (const name of path.split(separator)) node = node[name] ??= {}
    // The fields below a field follow it.
    if (paths[at + 1]?.startsWith(`${path}${separator}`) === true) node['.'] = {}
  }
  return root
}

/** The manager of a write, and the kind and subresource that it writes. */
export interface Writer {
  readonly served: ServedResource
  readonly schema: KindSchema
  readonly manager: string
  /** `''`, or `status`. */
  readonly subresource: string
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

export function managerOf(
  { manager: name, served: { apiVersion }, subresource }: Writer,
  operation: Manager['operation'],
  fields: FieldSet,
): Manager {
  return { name, operation, apiVersion, subresource, fields, time: undefined }
}

export const isSameManager = (a: Manager, b: Manager): boolean =>
  a.name === b.name &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

const unowned = [
  'f:apiVersion',
  'f:kind',
  ...['name', 'namespace', ...serverMetadata].map((name) => `f:metadata\0f:${name}`),
]

/** Drops the fields that no manager can own, and `more`. */
export const withoutUnowned = (set: FieldSet, ...more: readonly string[]): FieldSet =>
  new Set(
    [...set].filter(
      (path) =>
        path !== 'f:metadata' && ![...unowned, ...more].some((field) => isWithin(path, field)),
    ),
  )

/** The fields of a set that a write to this subresource can own. */
export function ownable(set: FieldSet, { served: { stored }, subresource }: Writer): FieldSet {
  if (subresource === 'status')
    return new Set([...set].filter((path) => isWithin(path, 'f:status')))
  // Custom kinds may have their replicas anywhere, so their scaling owns no field.
  if (subresource === 'scale' && stored.custom) return new Set()
  const own = withoutUnowned(set, ...(stored.hasStatusSubresource ? ['f:status'] : []))
  // Built-in kinds always have a `spec`, so no manager owns the member itself.
  const hasSpec = [...own].some((path) => path !== 'f:spec' && isWithin(path, 'f:spec'))
  return stored.custom || !hasSpec ? own : own.difference(new Set(['f:spec']))
}

/** All managers but one, without some fields. */
export const managersWithout = (
  managers: readonly Manager[],
  other: Manager | undefined,
  fields: FieldSet,
): Manager[] =>
  managers
    .filter((one) => one !== other)
    .map((one) => ({ ...one, fields: one.fields.difference(fields) }))

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
    fields: new Set(readFields(entry['fieldsV1'])),
    time: typeof entry['time'] === 'string' ? entry['time'] : undefined,
  }))
}

/** Writes the managers into an object: appliers first, then the others by time. Drops managers without fields. */
export function withManagers(object: Unstructured, managers: readonly Manager[]): Unstructured {
  const now = timestamp(Date.now())
  const entries = managers
    .filter(({ fields }) => fields.size > 0)
    .map((manager) => ({ ...manager, time: manager.time ?? now }))
    .toSorted((a, b) => {
      if (a.operation !== b.operation) return a.operation === 'Apply' ? -1 : 1
      if (a.time !== b.time) return a.time < b.time ? -1 : 1
      return a.name < b.name ? -1 : 1
    })
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
