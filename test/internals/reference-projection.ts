// Imports internals: the second reading that the projection is compared with.
import { GraphQLBoolean, GraphQLInt, type GraphQLScalarType, GraphQLString } from 'graphql'
import { GraphQLExactFloat, GraphQLInt64 } from '../../src/graphql/schema/scalars.ts'
import {
  type LeafWriter,
  type ObjectSelection,
  type SelectedValue,
  writeBoolean,
  writeFloat,
  writeInt,
  writeInt64,
  writeJson,
  writeString,
} from '../../src/informer/codec/projection.ts'
import { isRawJson } from '../../src/lib/json.ts'

/** A writer that makes something else of a value than its text: how long `JSON.stringify` makes it. */
export const writeLength: LeafWriter = (json) => String(writeJson(json)?.length)

/** The same of an object that is decoded for it. */
export const makeLength = (object: object): string => String(JSON.stringify(object).length)

/** What GraphQL itself does with the values that a writer is for. Values of other types are left to the slow way. */
const scalars = new Map<LeafWriter, readonly [GraphQLScalarType, (value: unknown) => boolean]>([
  [writeString, [GraphQLString, (value) => typeof value === 'string']],
  [writeBoolean, [GraphQLBoolean, (value) => typeof value === 'boolean']],
  [writeInt, [GraphQLInt, (value) => typeof value === 'number']],
  [writeInt64, [GraphQLInt64, isNumber]],
  [writeFloat, [GraphQLExactFloat, isNumber]],
])

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isRawJson(value)
}

/** Thrown where the slow way must do. */
class NotWritten extends Error {}

/** What must be written for an object, by the plainest means: pick a value for each member, then `JSON.stringify`. */
export function referenceProjection(
  object: unknown,
  selection: ObjectSelection,
): string | undefined {
  try {
    return JSON.stringify(picked(object, { form: 'object', selection, required: true }))
  } catch (error) {
    if (error instanceof NotWritten) return undefined
    throw error
  }
}

function picked(value: unknown, selected: SelectedValue): unknown {
  if (selected.form === 'text') return JSON.parse(selected.text)
  if (selected.form === 'leaf') return pickedLeaf(value, selected.write)
  if (selected.form === 'made') {
    if (selected.make !== makeLength) throw new TypeError('only lengths are made here')
    return JSON.stringify(recordOf(value)).length
  }
  if (value === undefined || value === null) {
    if (selected.required) throw new NotWritten()
    return null
  }
  if (selected.form === 'list') {
    if (!Array.isArray(value)) throw new NotWritten()
    return value.map((element) => picked(element, selected.of))
  }
  const object = recordOf(value)
  if (selected.form === 'object') {
    return memberwise(selected.selection.fields, ({ path, value: inner }) =>
      picked(valueAt(object, path), inner),
    )
  }
  return Object.entries(object).map(([name, inner]) =>
    memberwise(selected.fields, (field) =>
      field.value === 'key' ? name : picked(inner, field.value),
    ),
  )
}

function memberwise<T extends { readonly key: string }>(
  fields: readonly T[],
  valueOf: (field: T) => unknown,
): object {
  return Object.fromEntries(fields.map((field) => [field.key, valueOf(field)]))
}

function pickedLeaf(value: unknown, write: LeafWriter): unknown {
  if (write === writeLength) return JSON.stringify(value ?? null).length
  if (value === undefined || value === null) return null
  if (write === writeJson) return value
  const [scalar, accepts] = scalars.get(write) ?? []
  if (scalar === undefined || accepts?.(value) !== true) throw new NotWritten()
  try {
    return scalar.coerceOutputValue(value)
  } catch {
    throw new NotWritten()
  }
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object
  for (const property of path) {
    if (value === undefined || value === null) return undefined
    const record = recordOf(value)
    value = Object.hasOwn(record, property) ? record[property] : undefined
  }
  return value
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawJson(value)) {
    throw new NotWritten()
  }
  return value as Readonly<Record<string, unknown>>
}
