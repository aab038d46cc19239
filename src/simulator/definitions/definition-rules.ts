import type { Unstructured } from '../../kubernetes/object.ts'
import type { KindSchema } from '../api/captured-api.ts'
import { equalJson } from '../api/json.ts'
import { memberSchema, type Schema } from '../api/schema.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import {
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import { kindProblems } from '../schema/built-in-rules.ts'
import { immutable, isEmpty } from '../schema/field-checks.ts'
import { schemaProblems } from '../schema/object-validation.ts'
import {
  approvalAnnotation,
  approvalOf,
  completeNames,
  type DefinitionSpec,
  type DefinitionVersion,
  isEstablished,
  specOf,
  statusOf,
} from './definition.ts'

/** The rules of CustomResourceDefinitions. Source: apiextensions.k8s.io/v1 validation. */
export const definitionRules = (kind: KindSchema): ObjectRules => ({
  settle: (definition) => {
    const spec = (definition['spec'] ?? {}) as Partial<DefinitionSpec>
    const names = completeNames(spec.names ?? { plural: '', kind: '' })
    const versions = spec.versions ?? []
    const conversion = spec.conversion ?? { strategy: 'None' }
    const { group = '', scope = '' } = spec
    return { ...definition, spec: { ...spec, group, scope, names, versions, conversion } }
  },
  problems: (definition, previous, part) =>
    part === 'status'
      ? []
      : [
          ...kindProblems(definition, kind, previous),
          ...parts.flatMap((one) => partProblems(one, specOf(definition).versions)),
          ...crossFieldProblems(definition, previous),
        ],
})

/** The problems that depend on the status and on several fields. */
function crossFieldProblems(
  definition: Unstructured,
  previous: Unstructured | undefined,
): FieldProblem[] {
  const { group, names, scope, versions } = specOf(definition)
  const { name } = definition.metadata
  const isNamed = name === `${names.plural}.${group}`
  const message = 'must be spec.names.plural+"."+spec.group'
  const found = isNamed ? [] : [invalidAt('metadata.name', name, message)]
  const approval = approvalOf(definition)
  const annotation = `metadata.annotations[${approvalAnnotation}]`
  if (approval?.reason === 'MissingAnnotation') found.push(requiredAt(annotation, approval.message))
  if (approval?.reason === 'InvalidAnnotation') {
    const given = definition.metadata.annotations?.[approvalAnnotation]
    found.push(invalidAt(annotation, given, approval.message))
  }
  if (previous === undefined) return found
  if (isEstablished(previous)) {
    const before = specOf(previous)
    found.push(
      ...immutable(scope, 'spec.scope', {}, { value: before.scope }),
      ...immutable(names.kind, 'spec.names.kind', {}, { value: before.names.kind }),
    )
  }
  const served = new Set(versions.map((version) => version.name))
  for (const [at, old] of (statusOf(previous).storedVersions ?? []).entries()) {
    if (served.has(old)) continue
    const missing =
      `missing from spec.versions; ${old} was previously a storage version, and must remain in spec.versions until a ` +
      `storage migration ensures no data remains persisted in ${old} and removes ${old} from status.storedVersions`
    found.push(invalidAt(`status.storedVersions[${at}]`, old, missing))
  }
  return found
}

interface VersionPart {
  readonly keyword: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'
  /** The path that a kube-apiserver names if all versions agree on the part. */
  readonly shared: string
  readonly check: (version: DefinitionVersion, field: string) => FieldProblem[]
}

function partProblems(
  { keyword, shared, check }: VersionPart,
  versions: readonly DefinitionVersion[],
): FieldProblem[] {
  const [first] = versions
  return first !== undefined && versions.every((one) => equalJson(one[keyword], first[keyword]))
    ? check(first, shared)
    : versions.flatMap((one, at) => check(one, `spec.versions[${at}].${keyword}`))
}

const isSimplePath = (path: unknown): boolean => /^\.[^.]/.test(String(path))
const notSimple = 'must be a simple json path starting with .'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const selectableTypes = ['string', 'boolean', 'integer']
const notSelectable =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'

const parts: readonly VersionPart[] = [
  {
    keyword: 'schema',
    shared: 'spec.validation',
    check: ({ schema }, field) =>
      schema?.openAPIV3Schema === undefined
        ? []
        : structuralProblems(schema.openAPIV3Schema, `${field}.openAPIV3Schema`),
  },
  {
    keyword: 'subresources',
    shared: 'spec.subresources',
    check: ({ subresources: { scale } = {} }, field) =>
      (['spec', 'status'] as const).flatMap((root): FieldProblem[] => {
        const path = scale?.[`${root}ReplicasPath`]
        const at = `${field}.scale.${root}ReplicasPath`
        if (scale === undefined) return []
        if (path === undefined || isEmpty(path)) return [requiredAt(at)]
        if (!isSimplePath(path)) return [invalidAt(at, path, notSimple)]
        const isBelow = path.startsWith(`.${root}.`)
        return isBelow ? [] : [invalidAt(at, path, `should be a json path under .${root}`)]
      }),
  },
  {
    keyword: 'additionalPrinterColumns',
    shared: 'spec.additionalPrinterColumns',
    check: ({ additionalPrinterColumns: columns = [] }, field) =>
      columns.flatMap((column: Partial<(typeof columns)[number]>, index) => {
        const { name = '', type = '', jsonPath = '' } = column
        const at = `${field}[${index}]`
        const message = `must be one of ${columnTypes.join(',')}`
        return [
          ...(name === '' ? [requiredAt(`${at}.name`)] : []),
          ...(columnTypes.includes(type) ? [] : [invalidAt(`${at}.type`, type, message)]),
          ...(jsonPath.startsWith('.') ? [] : [invalidAt(`${at}.JSONPath`, jsonPath, notSimple)]),
        ]
      }),
  },
  {
    keyword: 'selectableFields',
    shared: 'spec.selectableFields',
    check: ({ selectableFields = [], schema }, field) =>
      selectableFields.flatMap(({ jsonPath }, at) => {
        const steps = jsonPath.replace(/^\./, '').split('.')
        const target = steps.reduce(
          (part, name) => memberSchema(part, name),
          schema?.openAPIV3Schema,
        )
        const isFit = selectableTypes.includes(target?.type ?? '')
        const message =
          target === undefined
            ? 'is an invalid path: does not refer to a valid field'
            : notSelectable
        return isFit ? [] : [invalidAt(`${field}[${at}].jsonPath`, jsonPath, message)]
      }),
  },
]

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
function structuralProblems(schema: Schema, field: string): FieldProblem[] {
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

function memberProblems([schema, field]: Part): FieldProblem[] {
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
  const members = [
    ...propertiesOf(schema, field),
    ...partAt(additionalProperties, `${field}.additionalProperties`),
    ...partAt(items, `${field}.items`),
  ]
  const alternatives = (['anyOf', 'allOf', 'oneOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).map((part, at): Part => [part, `${field}.${keyword}[${at}]`]),
  )
  const lacksItems = items === undefined && type === 'array'
  return [
    ...members.flatMap(memberProblems),
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
  try {
    // Leading flags such as `(?i)` exist in Go only.
    RegExp(pattern?.replace(/^\(\?[a-z]+\)/, '') ?? '')
  } catch {
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
