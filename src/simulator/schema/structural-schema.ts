/*
 * Objects by the structural schema of their definition: unknown fields are dropped, defaults filled in, values checked
 * in the words of a kube-apiserver. Rules in CEL are not evaluated.
 */

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { isJsonObject, isRawJson } from '../../lib/json.ts'
import {
  type KindSchema,
  memberSchema,
  type Path,
  pathText,
  resolvedSchema,
  type Schema,
  type Schemas,
} from '../api/captured-api.ts'
import { cloneJson, equalJson } from '../api/json.ts'
import {
  duplicateAt,
  type FieldProblem,
  invalidAt,
  requiredAt,
  tooLongAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
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

/** Drops the fields that a structural schema does not declare. Adds the paths of dropped fields to `unknown`. */
export function prunedObject<T extends object>(object: T, schema: Schema, unknown: string[]): T {
  const root = { ...schema, 'x-kubernetes-embedded-resource': true }
  return pruned(object, root, [], { schemas: {}, isAny: () => false, unknown }) as T
}

/** The paths of the fields that the schema of a kind does not declare. */
export function unknownFields(object: object, { root, schemas }: KindSchema): readonly string[] {
  const unknown: string[] = []
  pruned(object, root, [], { schemas, isAny, unknown })
  return unknown
}

/** A schema without members is any JSON. */
const isAny = ({ properties, additionalProperties }: Schema): boolean =>
  properties === undefined && typeof additionalProperties !== 'object'

interface Pruning {
  readonly schemas: Schemas
  readonly isAny: (schema: Schema) => boolean
  readonly unknown: string[]
}

function pruned(value: unknown, given: Schema | undefined, path: Path, how: Pruning): unknown {
  if (given === undefined) return value
  const schema = resolvedSchema(given, how.schemas)
  if (Array.isArray(value)) {
    return value.map((item, at) => pruned(item, schema.items, [...path, at], how))
  }
  if (!isJsonObject(value) || how.isAny(schema)) return value
  const kept: [string, unknown][] = []
  for (const [name, part] of Object.entries(value)) {
    const at = [...path, name]
    const member = memberSchema(schema, name)
    if (schema['x-kubernetes-embedded-resource'] === true && typeFields.has(name)) {
      const fields = name === 'metadata' && isJsonObject(part) ? Object.entries(part) : []
      const dropped = fields.filter(([field]) => !metadataFields.has(field))
      how.unknown.push(...dropped.map(([field]) => pathText([...at, field])))
      const rest = fields.filter(([field]) => metadataFields.has(field))
      kept.push([name, dropped.length === 0 ? part : Object.fromEntries(rest)])
    } else if (member !== undefined) kept.push([name, pruned(part, member, at, how)])
    else if (
      schema['x-kubernetes-preserve-unknown-fields'] === true ||
      schema.additionalProperties === true
    ) {
      kept.push([name, part])
    } else how.unknown.push(pathText(at))
  }
  return Object.fromEntries(kept)
}

const typeFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

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

interface SchemaProblem extends FieldProblem {
  /** The path of the value. An update is not refused for a value that it leaves unchanged. */
  readonly node: Path
}

/**
 * The problems of a value by its structural schema, in the words of a kube-apiserver. Rules in CEL are not evaluated.
 * Source: the OpenAPI 3.0 subset of apiextensions.k8s.io/v1.
 */
export function schemaProblems(value: unknown, schema: Schema, path: Path = []): SchemaProblem[] {
  if (value === null && schema.nullable === true) return []
  let actual: string = typeof value
  if (value === null) actual = 'null'
  else if (Array.isArray(value)) actual = 'array'
  else if (isRawJson(value) || Number.isInteger(value)) actual = 'integer'
  const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type
  if (wanted !== undefined && !isOneOf(actual, wanted)) {
    const isFraction = wanted === 'integer' && actual === 'number'
    const what = `Checked value must be of type integer (default format) in ${pathText(path)}`
    return [ofType(path, actual, wanted), ...(isFraction ? [nowhere(path, what)] : [])]
  }
  if (wanted === 'integer' && isBeyondInt64(value)) {
    return [ofType(path, 'float64', schema.format ?? 'integer')]
  }
  const found = alternativeProblems(value, schema, path)
  if (typeof value === 'string') found.push(...stringProblems(value, schema, path))
  else if (typeof value === 'number' || isRawJson(value)) {
    found.push(...numberProblems(value, schema, path))
  } else if (Array.isArray(value)) {
    const { items, minItems = 0, maxItems = Infinity } = schema
    const { length } = value
    if (items !== undefined) {
      found.push(...value.flatMap((item, at) => schemaProblems(item, items, [...path, at])))
    }
    if (length < minItems)
      found.push(invalid(path, length, `should have at least ${minItems} items`))
    found.push(...tooMany(path, length, maxItems), ...duplicateProblems(value, schema, path))
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => equalJson(one, value))) {
    found.push({ ...unsupportedAt(pathText(path), value, schema.enum), node: path })
  }
  if (isJsonObject(value)) found.push(...memberProblems(value, schema, path))
  return found
}

const invalid = (node: Path, value: unknown, what: string): SchemaProblem => {
  const field = pathText(node)
  return { ...invalidAt(field, value, `${field} in body ${what}`), node }
}

/** Reports the conditions that a value breaks. */
const invalidIf = (
  node: Path,
  value: unknown,
  conditions: readonly (readonly [isBroken: boolean, what: string])[],
): SchemaProblem[] =>
  conditions.filter(([isBroken]) => isBroken).map(([, what]) => invalid(node, value, what))

function ofType(node: Path, actual: string, wanted: string): SchemaProblem {
  const what = `must be of type ${wanted}: ${JSON.stringify(actual)}`
  return { ...invalid(node, actual, what), reason: 'FieldValueTypeInvalid' }
}

/** A problem that a kube-apiserver reports without a field. */
const nowhere = (node: Path, what: string): SchemaProblem => ({
  ...invalidAt('<nil>', '', what),
  node,
})

const tooMany = (node: Path, count: number, most: number): SchemaProblem[] => {
  const message = `Too many: ${count}: must have at most ${most} items`
  return count > most ? [{ reason: 'FieldValueTooMany', message, field: pathText(node), node }] : []
}

/** Integers beyond 64 bits have become doubles; smaller integers keep their digits. */
const isBeyondInt64 = (value: unknown): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value)

const isOneOf = (actual: string, wanted: string): boolean =>
  wanted.split(',').some((type) => type === actual || (type === 'number' && actual === 'integer'))

function alternativeProblems(value: unknown, schema: Schema, path: Path): SchemaProblem[] {
  const problemsOf = (one: Schema): SchemaProblem[] => schemaProblems(value, one, path)
  const name = JSON.stringify(pathText(path))
  const found: SchemaProblem[] = []
  const any = schema.anyOf?.map(problemsOf)
  if (any !== undefined && any.every(({ length }) => length > 0)) {
    const what = `${name} must validate at least one schema (anyOf)`
    found.push(nowhere(path, what), ...(any[0] ?? []))
  }
  const one = schema.oneOf?.map(problemsOf)
  const valid = one?.filter(({ length }) => length === 0).length
  if (one !== undefined && valid !== 1) {
    const count = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    const what = `${name} must validate one and only one schema (oneOf). ${count}`
    found.push(nowhere(path, what), ...(valid === 0 ? (one[0] ?? []) : []))
  }
  const all = schema.allOf?.flatMap(problemsOf) ?? []
  if (all.length > 0) {
    found.push(...all, nowhere(path, `${name} must validate all the schemas (allOf)`))
  }
  if (schema.not !== undefined && problemsOf(schema.not).length === 0) {
    found.push(nowhere(path, `${name} must not validate the schema (not)`))
  }
  return found
}

function stringProblems(value: string, schema: Schema, path: Path): SchemaProblem[] {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema
  const length = Array.from(value).length
  const misses = pattern !== undefined && !regularExpression(pattern).test(value)
  const conditions = invalidIf(path, value, [
    [length < minLength, `should be at least ${minLength} chars long`],
    [misses, `should match '${pattern}'`],
  ])
  const tooLong = { ...tooLongAt(pathText(path), maxLength), node: path }
  const hasFormat = format === undefined || (formats[format]?.(value) ?? true)
  return [
    // Only the first of these problems is reported.
    ...(length > maxLength ? [tooLong] : conditions.slice(0, 1)),
    ...(hasFormat ? [] : [ofType(path, value, format)]),
  ]
}

const expressions = new Map<string, RegExp>()

/** Compiles a pattern of Go's dialect. A pattern that JavaScript cannot compile matches anything. */
function regularExpression(pattern: string): RegExp {
  let expression = expressions.get(pattern)
  if (expression === undefined) {
    try {
      expression = new RegExp(pattern, 'u')
    } catch {
      expression = /(?:)/
    }
    if (expressions.size >= 1000) expressions.clear()
    expressions.set(pattern, expression)
  }
  return expression
}

function numberProblems(value: unknown, schema: Schema, path: Path): SchemaProblem[] {
  const number = Number(typeof value === 'number' ? value : JSON.stringify(value))
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = schema
  const { exclusiveMinimum = false, exclusiveMaximum = false, format } = schema
  const isBeyondInt32 = number < -(2 ** 31) || number > 2 ** 31 - 1
  const what = `Checked value must be of type integer with format int32 in ${pathText(path)}`
  return [
    ...invalidIf(path, value, [
      [exclusiveMinimum && number <= minimum, `should be greater than ${minimum}`],
      [!exclusiveMinimum && number < minimum, `should be greater than or equal to ${minimum}`],
      [exclusiveMaximum && number >= maximum, `should be less than ${maximum}`],
      [!exclusiveMaximum && number > maximum, `should be less than or equal to ${maximum}`],
      [
        multipleOf !== undefined && !Number.isInteger(number / multipleOf),
        `should be a multiple of ${multipleOf}`,
      ],
    ]),
    ...(format === 'int32' && isBeyondInt32 ? [nowhere(path, what)] : []),
  ]
}

/** Reports repeated items of sets and repeated keys of maps. */
function duplicateProblems(value: readonly unknown[], schema: Schema, path: Path): SchemaProblem[] {
  const type = schema['x-kubernetes-list-type'] ?? 'atomic'
  if (type === 'atomic') return []
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const seen = new Set<string>()
  return value.flatMap((item, at) => {
    const fields = isJsonObject(item) ? keys.map((key) => [key, item[key]]) : []
    const member = type === 'set' ? item : Object.fromEntries(fields)
    const key = JSON.stringify(member)
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew ? [] : [{ ...duplicateAt(pathText([...path, at]), member), node: path }]
  })
}

function memberProblems(
  value: Record<string, unknown>,
  schema: Schema,
  path: Path,
): SchemaProblem[] {
  const { required = [], minProperties = 0, maxProperties = Infinity } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const missing = [...required, ...(isEmbedded ? ['apiVersion', 'kind'] : [])].filter(
    (name) => !Object.hasOwn(value, name),
  )
  const { length: count } = Object.keys(value)
  return [
    ...missing.map((name) => ({ ...requiredAt(pathText([...path, name])), node: path })),
    ...Object.entries(value).flatMap(([name, part]) => {
      const member = memberSchema(schema, name)
      return member === undefined ? [] : schemaProblems(part, member, [...path, name])
    }),
    ...invalidIf(path, count, [
      [count < minProperties, `should have at least ${minProperties} properties`],
    ]),
    ...tooMany(path, count, maxProperties),
  ]
}

const isoDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
const isoTime =
  /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/
const base64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const goDuration =
  /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w)(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))*$/
const label = '[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?'

/** The string formats that a kube-apiserver checks in custom resources. Other formats accept any text. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => isoDate.test(text),
  'date-time': (text) => isoTime.test(text),
  datetime: (text) => isoTime.test(text),
  duration: (text) => text === '0' || goDuration.test(text),
  byte: (text) => base64.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => {
    const [address = '', length = '', ...more] = text.split('/')
    const version = isIP(address)
    const fits = /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128)
    return version !== 0 && fits && more.length === 0
  },
  mac: (text) => /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  hostname: (text) => text.length < 254 && new RegExp(`^${label}(\\.${label})*$`).test(text),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  uri: (text) => text.startsWith('/') || URL.canParse(text),
}
