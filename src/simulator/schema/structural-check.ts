import type { Schema } from '../api/schema.ts'
import {
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import { schemaProblems } from './object-validation.ts'

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
export function structuralProblems(schema: Schema, field: string): FieldProblem[] {
  const { properties = {}, type } = schema
  const at = `${field}.type`
  if (type !== undefined && type !== 'object') {
    return [invalidAt(at, type, 'must be object at the root')]
  }
  const found = type === undefined ? [requiredAt(at, 'must not be empty at the root')] : []
  const metadata = Object.keys(properties['metadata']?.properties ?? {})
  if (metadata.some((name) => name !== 'name' && name !== 'generateName')) {
    const message =
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    found.push(forbiddenAt(`${field}.properties[metadata]`, message))
  }
  return [...found, ...keywordProblems(schema, field), ...belowProblems(schema, field)]
}

function partProblems([schema, field]: Part): FieldProblem[] {
  const { type = '' } = schema
  const isFree =
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true
  const at = `${field}.type`
  const found: FieldProblem[] = []
  if (type !== '' && !types.includes(type)) found.push(unsupportedAt(at, type, types))
  if (type === '' && !isFree) {
    found.push(requiredAt(at, 'must not be empty for specified object fields'))
  }
  return [...found, ...keywordProblems(schema, field), ...belowProblems(schema, field)]
}

/** A schema inside of another, and its path. */
type Part = readonly [schema: Schema, field: string]

const propertiesOf = ({ properties = {} }: Schema, field: string): Part[] =>
  Object.entries(properties).map(([name, part]) => [part, `${field}.properties[${name}]`])

const partAt = (part: boolean | Schema | undefined, field: string): Part[] =>
  typeof part === 'object' ? [[part, field]] : []

function belowProblems(schema: Schema, field: string): FieldProblem[] {
  const { additionalProperties, items, not, type } = schema
  const parts = [
    ...propertiesOf(schema, field),
    ...partAt(additionalProperties, `${field}.additionalProperties`),
    ...partAt(items, `${field}.items`),
  ]
  const alternatives = (['anyOf', 'allOf', 'oneOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).map((part, at): Part => [part, `${field}.${keyword}[${at}]`]),
  )
  const lacksItems = items === undefined && type === 'array'
  return [
    ...parts.flatMap(partProblems),
    ...(lacksItems ? [requiredAt(`${field}.items`, 'must be specified')] : []),
    ...listMapProblems(schema, field),
    ...[...alternatives, ...partAt(not, `${field}.not`)].flatMap(nestedProblems),
  ]
}

function nestedProblems([schema, field]: Part): FieldProblem[] {
  return [
    ...structureOnly
      .filter((keyword) => schema[keyword] !== undefined)
      .map((keyword) => forbiddenAt(`${field}.${keyword}`, 'must be empty to be structural')),
    ...[...propertiesOf(schema, field), ...partAt(schema.items, `${field}.items`)].flatMap(
      nestedProblems,
    ),
  ]
}

function keywordProblems(schema: Schema, field: string): FieldProblem[] {
  const { $ref, additionalProperties, default: value, pattern, properties = {} } = schema
  const found: FieldProblem[] = []
  if ($ref !== undefined) found.push(forbiddenAt(`${field}.$ref`, '$ref is not supported'))
  if (schema.uniqueItems === true) {
    const message =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    found.push(forbiddenAt(`${field}.uniqueItems`, message))
  }
  if (Object.keys(properties).length > 0 && additionalProperties !== undefined) {
    const message = 'additionalProperties and properties are mutual exclusive'
    found.push(forbiddenAt(`${field}.additionalProperties`, message))
  }
  if (pattern !== undefined && !isExpression(pattern)) {
    const message = "must be a valid regular expression, but isn't"
    found.push(invalidAt(`${field}.pattern`, pattern, message))
  }
  const problems = value === undefined ? [] : schemaProblems(value, schema)
  return [
    ...found,
    ...problems.map(({ reason, message, field: at }) => ({
      reason,
      message,
      field: [`${field}.default`, at].filter(Boolean).join('.'),
    })),
  ]
}

function isExpression(pattern: string): boolean {
  try {
    // Leading flags such as `(?i)` exist in Go only.
    return new RegExp(pattern.replace(/^\(\?[a-z]+\)/, '')) instanceof RegExp
  } catch {
    return false
  }
}

function listMapProblems({ items, ...schema }: Schema, field: string): FieldProblem[] {
  if (schema['x-kubernetes-list-type'] !== 'map') return []
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const none = 'must not be empty if x-kubernetes-list-type is map'
  const message =
    'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
  return [
    ...(keys.length === 0 ? [requiredAt(`${field}.x-kubernetes-list-map-keys`, none)] : []),
    ...keys
      .filter((key) => {
        const hasDefault = items?.properties?.[key]?.default !== undefined
        return !hasDefault && items?.required?.includes(key) !== true
      })
      .map((key) => requiredAt(`${field}.items.properties[${key}].default`, message)),
  ]
}
