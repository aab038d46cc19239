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
  type Found,
  invalidAt,
  problemsIn,
  requiredAt,
  tooLongAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import { serverMetadata } from './field-checks.ts'

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
export function schemaProblems(
  value: unknown,
  schema: Schema,
  path: Path = [],
): readonly SchemaProblem[] {
  return problemsIn(valueProblems(value, schema, path))
}

type Problems = Found<SchemaProblem>

function valueProblems(value: unknown, schema: Schema, path: Path): Problems {
  if (value === null && schema.nullable === true) return []
  let actual: string = typeof value
  if (value === null) actual = 'null'
  else if (Array.isArray(value)) actual = 'array'
  else if (isRawJson(value) || Number.isInteger(value)) actual = 'integer'
  const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type
  if (wanted !== undefined && !isOneOf(actual, wanted)) {
    const isFraction = wanted === 'integer' && actual === 'number'
    const what = `Checked value must be of type integer (default format) in ${pathText(path)}`
    return [ofType(path, actual, wanted), isFraction && nowhere(path, what)]
  }
  if (wanted === 'integer' && isBeyondInt64(value)) {
    return ofType(path, 'float64', schema.format ?? 'integer')
  }
  const { enum: supported } = schema
  return [
    alternativeProblems(value, schema, path),
    typeof value === 'string' && stringProblems(value, schema, path),
    (typeof value === 'number' || isRawJson(value)) && numberProblems(value, schema, path),
    Array.isArray(value) && listProblems(value, schema, path),
    supported !== undefined &&
      !supported.some((one) => equalJson(one, value)) && {
        ...unsupportedAt(pathText(path), value, supported),
        node: path,
      },
    isJsonObject(value) && memberProblems(value, schema, path),
  ]
}

const invalid = (node: Path, value: unknown, what: string): SchemaProblem => {
  const field = pathText(node)
  return { ...invalidAt(field, value, `${field} in body ${what}`), node }
}

function ofType(node: Path, actual: string, wanted: string): SchemaProblem {
  const what = `must be of type ${wanted}: ${JSON.stringify(actual)}`
  return { ...invalid(node, actual, what), reason: 'FieldValueTypeInvalid' }
}

/** A problem that a kube-apiserver reports without a field. */
const nowhere = (node: Path, what: string): SchemaProblem => ({
  ...invalidAt('<nil>', '', what),
  node,
})

const tooMany = (node: Path, count: number, most = Infinity): Problems => {
  const message = `Too many: ${count}: must have at most ${most} items`
  return count > most && { reason: 'FieldValueTooMany', message, field: pathText(node), node }
}

/** Integers beyond 64 bits have become doubles; smaller integers keep their digits. */
const isBeyondInt64 = (value: unknown): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value)

const isOneOf = (actual: string, wanted: string): boolean =>
  wanted.split(',').some((type) => type === actual || (type === 'number' && actual === 'integer'))

function alternativeProblems(value: unknown, schema: Schema, path: Path): Problems {
  const problemsOf = (one: Schema): readonly SchemaProblem[] => schemaProblems(value, one, path)
  const name = JSON.stringify(pathText(path))
  const any = schema.anyOf?.map(problemsOf)
  const one = schema.oneOf?.map(problemsOf)
  const all = schema.allOf?.flatMap(problemsOf) ?? []
  const valid = one?.filter(({ length }) => length === 0).length
  const count = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
  const only = `${name} must validate one and only one schema (oneOf). ${count}`
  return [
    any?.every(({ length }) => length > 0) === true && [
      nowhere(path, `${name} must validate at least one schema (anyOf)`),
      any[0],
    ],
    one !== undefined && valid !== 1 && [nowhere(path, only), valid === 0 && one[0]],
    all.length > 0 && [all, nowhere(path, `${name} must validate all the schemas (allOf)`)],
    schema.not !== undefined &&
      problemsOf(schema.not).length === 0 &&
      nowhere(path, `${name} must not validate the schema (not)`),
  ]
}

function stringProblems(value: string, schema: Schema, path: Path): Problems {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema
  const { length } = Array.from(value)
  const misses = pattern !== undefined && !regularExpression(pattern).test(value)
  const isFit = format === undefined || (formats[format]?.(value) ?? true)
  let first: Problems
  // Only the first of these problems is reported.
  if (length > maxLength) first = { ...tooLongAt(pathText(path), maxLength), node: path }
  else if (length < minLength)
    first = invalid(path, value, `should be at least ${minLength} chars long`)
  else if (misses) first = invalid(path, value, `should match '${pattern}'`)
  return [first, !isFit && ofType(path, value, format)]
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

function numberProblems(value: unknown, schema: Schema, path: Path): Problems {
  const number = Number(typeof value === 'number' ? value : JSON.stringify(value))
  const { minimum = -Infinity, maximum = Infinity, multipleOf = 0, format } = schema
  const { exclusiveMinimum: isOver = false, exclusiveMaximum: isUnder = false } = schema
  const broken: (string | false)[] = [
    (isOver ? number <= minimum : number < minimum) &&
      `greater than ${isOver ? '' : 'or equal to '}${minimum}`,
    (isUnder ? number >= maximum : number > maximum) &&
      `less than ${isUnder ? '' : 'or equal to '}${maximum}`,
    multipleOf > 0 && !Number.isInteger(number / multipleOf) && `a multiple of ${multipleOf}`,
  ]
  const isBeyondInt32 = number < -(2 ** 31) || number > 2 ** 31 - 1
  const what = `Checked value must be of type integer with format int32 in ${pathText(path)}`
  return [
    broken.map((bound) => bound !== false && invalid(path, value, `should be ${bound}`)),
    format === 'int32' && isBeyondInt32 && nowhere(path, what),
  ]
}

/** The problems of the items, and repeated items of sets and repeated keys of maps. */
function listProblems(value: readonly unknown[], schema: Schema, path: Path): Problems {
  const { items, minItems = 0, maxItems, 'x-kubernetes-list-map-keys': keys = [] } = schema
  const type = schema['x-kubernetes-list-type'] ?? 'atomic'
  const { length } = value
  const seen = new Set<string>()
  return [
    items !== undefined && value.map((item, at) => valueProblems(item, items, [...path, at])),
    length < minItems && invalid(path, length, `should have at least ${minItems} items`),
    tooMany(path, length, maxItems),
    type !== 'atomic' &&
      value.map((item, at) => {
        const fields = isJsonObject(item) ? keys.map((key) => [key, item[key]]) : []
        const member = type === 'set' ? item : Object.fromEntries(fields)
        const isNew = seen.size < seen.add(JSON.stringify(member)).size
        return !isNew && { ...duplicateAt(pathText([...path, at]), member), node: path }
      }),
  ]
}

function memberProblems(value: Record<string, unknown>, schema: Schema, path: Path): Problems {
  const { required = [], minProperties = 0, maxProperties } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const needed = [...required, ...(isEmbedded ? ['apiVersion', 'kind'] : [])]
  const missing = needed.filter((name) => !Object.hasOwn(value, name))
  const { length: count } = Object.keys(value)
  const few = `should have at least ${minProperties} properties`
  return [
    missing.map((name) => ({ ...requiredAt(pathText([...path, name])), node: path })),
    Object.entries(value).map(([name, part]) => {
      const member = memberSchema(schema, name)
      return member !== undefined && valueProblems(part, member, [...path, name])
    }),
    count < minProperties && invalid(path, count, few),
    tooMany(path, count, maxProperties),
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
