import { isJsonObject } from '../../lib/json.ts'
import type { KindSchema } from '../api/captured-api.ts'
import { cloneJson } from '../api/json.ts'
import { memberSchema, type Path, pathText, resolvedSchema, type Schema } from '../api/schema.ts'
import { serverMetadata } from './metadata-rules.ts'

/** The members of ObjectMeta. Others are dropped. */
const metadataFields = new Set([
  ...serverMetadata,
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
])

/** Drops the fields that the schema does not declare. Adds the paths of dropped fields to `unknown`. */
export function prunedObject<T extends object>(object: T, schema: Schema, unknown: string[]): T {
  const root = { ...schema, 'x-kubernetes-embedded-resource': true }
  return pruned(object, root, [], unknown) as T
}

function pruned(value: unknown, schema: Schema, path: Path, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    return value.map((item, at) => pruned(item, items, [...path, at], unknown))
  }
  if (!isJsonObject(value)) return value
  const kept: [string, unknown][] = []
  for (const [name, part] of Object.entries(value)) {
    const at = [...path, name]
    const member = memberSchema(schema, name)
    if (schema['x-kubernetes-embedded-resource'] === true && typeFields.has(name)) {
      const fields = name === 'metadata' && isJsonObject(part) ? Object.entries(part) : []
      const dropped = fields.filter(([field]) => !metadataFields.has(field))
      unknown.push(...dropped.map(([field]) => pathText([...at, field])))
      const rest = fields.filter(([field]) => metadataFields.has(field))
      kept.push([name, dropped.length === 0 ? part : Object.fromEntries(rest)])
    } else if (member !== undefined) kept.push([name, pruned(part, member, at, unknown)])
    else if (keepsUnknown(schema)) kept.push([name, part])
    else unknown.push(pathText(at))
  }
  return Object.fromEntries(kept)
}

const typeFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

function keepsUnknown(schema: Schema): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
  )
}

/**
 * Fills in the defaults of the schema for absent members, and for `null` members that are not nullable. Drops such a
 * `null` if it has no default.
 */
export function defaulted(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((item) => defaulted(item, items))
  }
  if (!isJsonObject(value)) return value
  const filled: [string, unknown][] = []
  for (const [name, part] of Object.entries(value)) {
    const member = memberSchema(schema, name)
    if (member === undefined) filled.push([name, part])
    else if (part !== null || member.nullable === true) filled.push([name, defaulted(part, member)])
    else if (member.default !== undefined) filled.push([name, fromDefault(member)])
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (member.default !== undefined && !Object.hasOwn(value, name)) {
      filled.push([name, fromDefault(member)])
    }
  }
  return Object.fromEntries(filled)
}

const fromDefault = (schema: Schema): unknown => defaulted(cloneJson(schema.default), schema)

/** The paths of the fields that the schema of a kind does not declare. */
export function unknownFields(object: object, { root, schemas }: KindSchema): readonly string[] {
  const unknown: string[] = []
  const look = (value: unknown, schema: Schema | undefined, path: Path): void => {
    if (schema === undefined) return
    const of = resolvedSchema(schema, schemas)
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) look(item, of.items, [...path, at])
      return
    }
    // A schema without members is any JSON.
    const isAny = of.properties === undefined && typeof of.additionalProperties !== 'object'
    if (isAny || !isJsonObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      const at = [...path, name]
      const declared = memberSchema(of, name)
      if (declared !== undefined) look(member, declared, at)
      else if (!keepsUnknown(of)) unknown.push(pathText(at))
    }
  }
  look(object, root, [])
  return unknown
}
