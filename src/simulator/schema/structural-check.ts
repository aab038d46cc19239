import {
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../api/field-problem.ts'
import { schemaProblems } from './object-validation.ts'
import type { StructuralSchema } from './structural-schema.ts'

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Keywords of the structure. They may not occur inside `anyOf`, `allOf`, `oneOf` and `not`. */
const structureOnly = [
  'type',
  'default',
  'nullable',
  'description',
  'additionalProperties',
] as const

/**
 * The problems that keep a schema from being structural. Paths start at `field`. Source: "Specifying a structural
 * schema" in the CustomResourceDefinition guide, and apiextensions.k8s.io/v1 validation.
 */
export function structuralProblems(schema: StructuralSchema, field: string): FieldProblem[] {
  const found: FieldProblem[] = []
  if (schema.type !== undefined && schema.type !== 'object') {
    found.push(invalidAt(`${field}.type`, schema.type, 'must be object at the root'))
    return found
  }
  const metadata = Object.keys(schema.properties?.['metadata']?.properties ?? {})
  if (metadata.some((name) => name !== 'name' && name !== 'generateName')) {
    const message =
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    found.push(forbiddenAt(`${field}.properties[metadata]`, message))
  }
  if (schema.type === undefined)
    found.push(requiredAt(`${field}.type`, 'must not be empty at the root'))
  checkKeywords(schema, field, found)
  checkParts(schema, field, found)
  return found
}

function checkPart(schema: StructuralSchema, field: string, into: FieldProblem[]): void {
  const free =
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true
  if (schema.type === undefined || schema.type === '') {
    if (!free)
      into.push(requiredAt(`${field}.type`, 'must not be empty for specified object fields'))
  } else if (!types.includes(schema.type)) {
    into.push(unsupportedAt(`${field}.type`, schema.type, types))
  }
  checkKeywords(schema, field, into)
  checkParts(schema, field, into)
}

function checkParts(schema: StructuralSchema, field: string, into: FieldProblem[]): void {
  const { properties = {}, additionalProperties, items } = schema
  for (const [name, part] of Object.entries(properties)) {
    checkPart(part, `${field}.properties[${name}]`, into)
  }
  if (typeof additionalProperties === 'object') {
    checkPart(additionalProperties, `${field}.additionalProperties`, into)
  }
  if (items !== undefined) checkPart(items, `${field}.items`, into)
  else if (schema.type === 'array') into.push(requiredAt(`${field}.items`, 'must be specified'))
  checkListMap(schema, field, into)
  for (const keyword of ['anyOf', 'allOf', 'oneOf'] as const) {
    for (const [at, part] of (schema[keyword] ?? []).entries()) {
      checkNested(part, `${field}.${keyword}[${at}]`, into)
    }
  }
  if (schema.not !== undefined) checkNested(schema.not, `${field}.not`, into)
}

function checkNested(schema: StructuralSchema, field: string, into: FieldProblem[]): void {
  for (const keyword of structureOnly) {
    if ((schema as Record<string, unknown>)[keyword] !== undefined) {
      into.push(forbiddenAt(`${field}.${keyword}`, 'must be empty to be structural'))
    }
  }
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    checkNested(part, `${field}.properties[${name}]`, into)
  }
  if (schema.items !== undefined) checkNested(schema.items, `${field}.items`, into)
}

function checkKeywords(schema: StructuralSchema, field: string, into: FieldProblem[]): void {
  const keywords = schema as Record<string, unknown>
  if (keywords['$ref'] !== undefined) {
    into.push(forbiddenAt(`${field}.$ref`, '$ref is not supported'))
  }
  if (keywords['uniqueItems'] === true) {
    const message =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    into.push(forbiddenAt(`${field}.uniqueItems`, message))
  }
  const listed = Object.keys(schema.properties ?? {}).length > 0
  if (listed && schema.additionalProperties !== undefined) {
    const message = 'additionalProperties and properties are mutual exclusive'
    into.push(forbiddenAt(`${field}.additionalProperties`, message))
  }
  if (schema.pattern !== undefined && !isExpression(schema.pattern)) {
    const message = "must be a valid regular expression, but isn't"
    into.push(invalidAt(`${field}.pattern`, schema.pattern, message))
  }
  if (schema.default !== undefined) {
    for (const problem of schemaProblems(schema.default, schema)) {
      const { reason, message } = problem
      into.push({
        reason,
        message,
        field: [`${field}.default`, problem.field].filter(Boolean).join('.'),
      })
    }
  }
}

function isExpression(pattern: string): boolean {
  try {
    // Leading flags such as `(?i)` exist in Go only.
    return new RegExp(pattern.replace(/^\(\?[a-z]+\)/, '')) instanceof RegExp
  } catch {
    return false
  }
}

function checkListMap(schema: StructuralSchema, field: string, into: FieldProblem[]): void {
  if (schema['x-kubernetes-list-type'] !== 'map') return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  if (keys.length === 0) {
    const message = 'must not be empty if x-kubernetes-list-type is map'
    into.push(requiredAt(`${field}.x-kubernetes-list-map-keys`, message))
  }
  for (const key of keys) {
    const property = schema.items?.properties?.[key]
    if (property?.default !== undefined || schema.items?.required?.includes(key) === true) continue
    const message =
      'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
    into.push(requiredAt(`${field}.items.properties[${key}].default`, message))
  }
}
