import { isJsonObject, isRawJson } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import { memberSchema, type Path, pathText, type StructuralSchema } from './structural-schema.ts'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import {
  duplicateAt,
  type FieldProblem,
  requiredAt,
  tooLongAt,
  unsupportedAt,
} from '../api/field-problem.ts'

/** A value that breaks its schema. */
export interface SchemaProblem extends FieldProblem {
  /** The path of the value. An update is not refused for a value that it leaves unchanged. */
  readonly node: Path
}

/**
 * The problems of a value by its structural schema, in the words of a kube-apiserver. Rules in CEL are not evaluated.
 * Source: the OpenAPI 3.0 subset of apiextensions.k8s.io/v1.
 */
export function schemaProblems(value: unknown, schema: StructuralSchema): readonly SchemaProblem[] {
  const problems = new SchemaProblems()
  check(value, schema, [], problems)
  return problems.found
}

/** Collects problems, in the words of a kube-apiserver. */
class SchemaProblems {
  readonly found: SchemaProblem[] = []

  add(node: Path, problem: FieldProblem): void {
    this.found.push({ ...problem, node })
  }

  invalid(node: Path, value: unknown, what: string): void {
    const field = pathText(node)
    const message = `Invalid value: ${JSON.stringify(value)}: ${field} in body ${what}`
    this.add(node, { reason: 'FieldValueInvalid', message, field })
  }

  ofType(node: Path, actual: string, wanted: string): void {
    const field = pathText(node)
    const type = JSON.stringify(actual)
    const message = `Invalid value: ${type}: ${field} in body must be of type ${wanted}: ${type}`
    this.add(node, { reason: 'FieldValueTypeInvalid', message, field })
  }

  /** Adds a problem that a kube-apiserver reports without a field. */
  nowhere(node: Path, what: string): void {
    const message = `Invalid value: "": ${what}`
    this.add(node, { reason: 'FieldValueInvalid', message, field: '<nil>' })
  }

  tooMany(node: Path, count: number, most: number): void {
    const message = `Too many: ${count}: must have at most ${most} items`
    this.add(node, { reason: 'FieldValueTooMany', message, field: pathText(node) })
  }
}

/** The type of a JSON value as messages name it. */
function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isRawJson(value)) return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function check(value: unknown, schema: StructuralSchema, path: Path, into: SchemaProblems): void {
  if (value === null && schema.nullable === true) return
  const actual = typeOf(value)
  const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type
  if (wanted !== undefined && !isOneOf(actual, wanted)) {
    into.ofType(path, actual, wanted)
    if (wanted === 'integer' && actual === 'number') {
      const what = 'Checked value must be of type integer (default format)'
      into.nowhere(path, `${what} in ${pathText(path)}`)
    }
    return
  }
  if (wanted === 'integer' && isBeyondInt64(value)) {
    into.ofType(path, 'float64', schema.format ?? 'integer')
    return
  }
  checkAlternatives(value, schema, path, into)
  if (typeof value === 'string') checkString(value, schema, path, into)
  else if (typeof value === 'number' || isRawJson(value)) checkNumber(value, schema, path, into)
  else if (Array.isArray(value)) checkList(value, schema, path, into)
  if (schema.enum !== undefined && !schema.enum.some((one) => equalJson(one, value))) {
    into.add(path, unsupportedAt(pathText(path), value, schema.enum))
  }
  if (isJsonObject(value)) checkMembers(value, schema, path, into)
}

/** Integers beyond 64 bits have become doubles; smaller integers keep their digits. */
const isBeyondInt64 = (value: unknown): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value)

function isOneOf(actual: string, wanted: string): boolean {
  return wanted
    .split(',')
    .some((type) => type === actual || (type === 'number' && actual === 'integer'))
}

function checkAlternatives(
  value: unknown,
  schema: StructuralSchema,
  path: Path,
  into: SchemaProblems,
): void {
  const problemsOf = (one: StructuralSchema): readonly SchemaProblem[] => {
    const own = new SchemaProblems()
    check(value, one, path, own)
    return own.found
  }
  const name = JSON.stringify(pathText(path))
  const any = schema.anyOf?.map(problemsOf)
  if (any !== undefined && any.every(({ length }) => length > 0)) {
    into.nowhere(path, `${name} must validate at least one schema (anyOf)`)
    into.found.push(...(any[0] ?? []))
  }
  const one = schema.oneOf?.map(problemsOf)
  const valid = one?.filter(({ length }) => length === 0).length
  if (one !== undefined && valid !== 1) {
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    into.nowhere(path, `${name} must validate one and only one schema (oneOf). ${found}`)
    if (valid === 0) into.found.push(...(one[0] ?? []))
  }
  const all = schema.allOf?.flatMap(problemsOf) ?? []
  if (all.length > 0) {
    into.found.push(...all)
    into.nowhere(path, `${name} must validate all the schemas (allOf)`)
  }
  if (schema.not !== undefined && problemsOf(schema.not).length === 0) {
    into.nowhere(path, `${name} must not validate the schema (not)`)
  }
}

function checkString(
  value: string,
  schema: StructuralSchema,
  path: Path,
  into: SchemaProblems,
): void {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema
  const length = Array.from(value).length
  // Only the first of these problems is reported.
  if (length > maxLength) {
    into.add(path, tooLongAt(pathText(path), maxLength))
  } else if (length < minLength) {
    into.invalid(path, value, `should be at least ${minLength} chars long`)
  } else if (pattern !== undefined && !regularExpression(pattern).test(value)) {
    into.invalid(path, value, `should match '${pattern}'`)
  }
  if (format !== undefined && !hasFormat(value, format)) into.ofType(path, value, format)
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

function checkNumber(
  value: unknown,
  schema: StructuralSchema,
  path: Path,
  into: SchemaProblems,
): void {
  const number = Number(typeof value === 'number' ? value : JSON.stringify(value))
  const { minimum = -Infinity, maximum = Infinity, multipleOf, format } = schema
  if (schema.exclusiveMinimum === true ? number <= minimum : number < minimum) {
    const than = schema.exclusiveMinimum === true ? 'greater than' : 'greater than or equal to'
    into.invalid(path, value, `should be ${than} ${minimum}`)
  }
  if (schema.exclusiveMaximum === true ? number >= maximum : number > maximum) {
    const than = schema.exclusiveMaximum === true ? 'less than' : 'less than or equal to'
    into.invalid(path, value, `should be ${than} ${maximum}`)
  }
  if (multipleOf !== undefined && !Number.isInteger(number / multipleOf)) {
    into.invalid(path, value, `should be a multiple of ${multipleOf}`)
  }
  if (format === 'int32' && (number < -(2 ** 31) || number > 2 ** 31 - 1)) {
    const what = 'Checked value must be of type integer with format int32'
    into.nowhere(path, `${what} in ${pathText(path)}`)
  }
}

function checkList(
  value: readonly unknown[],
  schema: StructuralSchema,
  path: Path,
  into: SchemaProblems,
): void {
  const { items, minItems = 0, maxItems = Infinity } = schema
  if (items !== undefined) {
    for (const [at, item] of value.entries()) check(item, items, [...path, at], into)
  }
  if (value.length < minItems) {
    into.invalid(path, value.length, `should have at least ${minItems} items`)
  }
  if (value.length > maxItems) into.tooMany(path, value.length, maxItems)
  checkUnique(value, schema, path, into)
}

/** Reports repeated items of sets and repeated keys of maps. */
function checkUnique(
  value: readonly unknown[],
  schema: StructuralSchema,
  path: Path,
  into: SchemaProblems,
): void {
  const type = schema['x-kubernetes-list-type'] ?? 'atomic'
  if (type === 'atomic') return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const seen = new Set<string>()
  for (const [at, item] of value.entries()) {
    const fields = isJsonObject(item) ? keys.map((key) => [key, item[key]]) : []
    const member = type === 'set' ? item : Object.fromEntries(fields)
    const key = JSON.stringify(member)
    if (seen.has(key)) into.add(path, duplicateAt(pathText([...path, at]), member))
    seen.add(key)
  }
}

function checkMembers(
  value: Record<string, unknown>,
  schema: StructuralSchema,
  path: Path,
  into: SchemaProblems,
): void {
  const { required = [], minProperties = 0, maxProperties = Infinity } = schema
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  for (const name of embedded ? [...required, 'apiVersion', 'kind'] : required) {
    if (!Object.hasOwn(value, name)) {
      into.add(path, requiredAt(pathText([...path, name])))
    }
  }
  for (const [name, part] of Object.entries(value)) {
    const member = memberSchema(schema, name)
    if (member !== undefined) check(part, member, [...path, name], into)
  }
  const { length: count } = Object.keys(value)
  if (count < minProperties) {
    into.invalid(path, count, `should have at least ${minProperties} properties`)
  }
  if (count > maxProperties) into.tooMany(path, count, maxProperties)
}

const isoDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
const isoTime =
  /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/
const base64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const goDuration =
  /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w)(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))*$/
const label = '[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?'

function isNetwork(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/')
  const version = isIP(address)
  const fits = /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128)
  return version !== 0 && fits && more.length === 0
}

/** The string formats that a kube-apiserver checks in custom resources. Other formats accept any text. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => isoDate.test(text),
  'date-time': (text) => isoTime.test(text),
  datetime: (text) => isoTime.test(text),
  duration: (text) => text === '0' || goDuration.test(text),
  byte: (text) => base64.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isNetwork,
  mac: (text) => /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  hostname: (text) => text.length < 254 && new RegExp(`^${label}(\\.${label})*$`).test(text),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  uri: (text) => text.startsWith('/') || URL.canParse(text),
}

function hasFormat(text: string, format: string): boolean {
  return formats[format]?.(text) ?? true
}
