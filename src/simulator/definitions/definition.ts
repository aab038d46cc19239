/*
 * What a CustomResourceDefinition must satisfy, and its status: accepted names, conditions, stored versions. A schema
 * has to be structural; it is walked once, each part after its parent.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type {
  CustomResourceDefinitionNames as DefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
} from '../../kubernetes/wire/apiextensions-v1.ts'
import { type KindSchema, memberSchema, type Schema } from '../api/captured-api.ts'
import { equalJson } from '../api/json.ts'
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
import { schemaProblems } from '../schema/structural-schema.ts'

/** A version of a definition, with its structural schema. */
export interface DefinitionVersion extends Omit<CustomResourceDefinitionVersion, 'schema'> {
  readonly schema?: { readonly openAPIV3Schema?: Schema }
}

export interface DefinitionSpec extends Omit<CustomResourceDefinitionSpec, 'versions'> {
  readonly versions: readonly DefinitionVersion[]
}

/** A name that another definition has is not accepted. */
interface DefinitionStatus extends Omit<CustomResourceDefinitionStatus, 'acceptedNames'> {
  readonly acceptedNames?: Partial<DefinitionNames>
}

export const specOf = (definition: Unstructured): DefinitionSpec =>
  definition['spec'] as DefinitionSpec

export const statusOf = (definition: Unstructured): DefinitionStatus => definition['status'] ?? {}

/** Fills in the singular and the list kind from the kind. */
export function completeNames(
  names: DefinitionNames,
): Required<Pick<DefinitionNames, 'plural' | 'singular' | 'kind' | 'listKind'>> & DefinitionNames {
  const { kind = '', plural = '' } = names as Partial<DefinitionNames>
  const { singular = '', listKind = '' } = names
  return {
    ...names,
    plural,
    kind,
    singular: singular === '' ? kind.toLowerCase() : singular,
    listKind: listKind === '' && kind !== '' ? `${kind}List` : listKind,
  }
}

/** Whether a definition is served. */
export function isEstablished(definition: Unstructured): boolean {
  return (
    statusOf(definition).conditions?.some(
      ({ type, status }) => type === 'Established' && status === 'True',
    ) === true
  )
}

/** The status of a definition. `others` are the other definitions of the group, whose names are taken. */
export function nextStatus(
  definition: Unstructured,
  others: readonly Unstructured[],
): DefinitionStatus {
  const { names, versions } = specOf(definition)
  const { acceptedNames, conditions, storedVersions } = statusOf(definition)
  const { accepted, conflict } = acceptNames(completeNames(names), others.map(statusOf))
  // An established kind stays established, under its accepted names.
  const established = isEstablished(definition)
  const approval = approvalOf(definition)
  const outcomes: Record<string, Outcome> = {
    NamesAccepted:
      conflict === undefined
        ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { status: 'False', ...conflict },
    Established:
      conflict === undefined || established
        ? {
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ...(approval === undefined ? {} : { KubernetesAPIApprovalPolicyConformant: approval }),
  }
  // Replaces conditions in place and appends new ones. Keeps the conditions of other writers.
  const next = new Map((conditions ?? []).map((one) => [one.type, one]))
  for (const [type, outcome] of Object.entries(outcomes)) {
    const old = next.get(type)
    const since = old?.status === outcome.status ? old.lastTransitionTime : undefined
    next.set(type, { type, lastTransitionTime: since ?? timestamp(Date.now()), ...outcome })
  }
  const storage = versions.filter((one) => one.storage).map(({ name }) => name)
  return {
    conditions: [...next.values()],
    acceptedNames: conflict !== undefined && established ? (acceptedNames ?? accepted) : accepted,
    storedVersions: [...new Set([...(storedVersions ?? []), ...storage])],
  }
}

/** A condition without its type and time. */
type Outcome = Record<'status' | 'reason' | 'message', string>

type Conflict = Omit<Outcome, 'status'>

/** Accepts each free name on its own. Reports the last conflict, as a kube-apiserver does. */
function acceptNames(
  names: ReturnType<typeof completeNames>,
  others: readonly DefinitionStatus[],
): { readonly accepted: Partial<DefinitionNames>; readonly conflict: Conflict | undefined } {
  const taken = others.map(({ acceptedNames = {} }) => acceptedNames)
  const resources = new Set(
    taken.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]),
  )
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]))
  let conflict: Conflict | undefined
  const free = (name: string, among: ReadonlySet<string | undefined>, reason: string): boolean => {
    if (name === '' || !among.has(name)) return true
    conflict = { reason, message: `${JSON.stringify(name)} is already in use` }
    return false
  }
  const { plural, singular, kind, listKind, shortNames = [], categories } = names
  const accepted = {
    plural: free(plural, resources, 'PluralConflict') ? plural : '',
    ...(free(singular, resources, 'SingularConflict') ? { singular } : {}),
    ...(shortNames.length > 0 &&
    shortNames.every((name) => free(name, resources, 'ShortNamesConflict'))
      ? { shortNames }
      : {}),
    kind: free(kind, kinds, 'KindConflict') ? kind : '',
    ...(free(listKind, kinds, 'ListKindConflict') ? { listKind } : {}),
    ...(categories === undefined ? {} : { categories }),
  }
  return { accepted, conflict }
}

/** Names the approval of an API. Definitions in groups of Kubernetes must have it. */
const approvalAnnotation = 'api-approved.kubernetes.io'

const required = `protected groups must have approval annotation "${approvalAnnotation}"`
const see = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** The approval of a definition's API, as a condition; `undefined` for groups that need none. */
function approvalOf(definition: Unstructured): Outcome | undefined {
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(specOf(definition).group)) return undefined
  const given = definition.metadata.annotations?.[approvalAnnotation] ?? ''
  if (given === '') {
    return { status: 'False', reason: 'MissingAnnotation', message: `${required}, ${see}` }
  }
  if (URL.canParse(given) && new URL(given).host !== '') {
    return { status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${given}` }
  }
  if (given.startsWith('unapproved')) {
    const message = `not approved: ${JSON.stringify(given)}`
    return { status: 'False', reason: 'UnapprovedAnnotation', message }
  }
  const message = `${required} with either a URL or a reason starting with "unapproved", ${see}`
  return { status: 'False', reason: 'InvalidAnnotation', message }
}

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
          ...parts.flatMap(({ keyword, shared, check }) => {
            const { versions } = specOf(definition)
            const [first] = versions
            return first !== undefined &&
              versions.every((one) => equalJson(one[keyword], first[keyword]))
              ? check(first, shared)
              : versions.flatMap((one, at) => check(one, `spec.versions[${at}].${keyword}`))
          }),
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
  return [...found, ...formProblems(schema, field)]
}

/** A schema inside of another, and its path. */
type Part = readonly [schema: Schema, field: string]

const propertiesOf = ({ properties = {} }: Schema, field: string): Part[] =>
  Object.entries(properties).map(([name, part]) => [part, `${field}.properties[${name}]`])

const partAt = (part: boolean | Schema | undefined, field: string): Part[] =>
  typeof part === 'object' ? [[part, field]] : []

/** The problems of a schema's own keywords, then those of the schemas inside of it. */
function formProblems(schema: Schema, field: string): FieldProblem[] {
  const { $ref, additionalProperties, default: value, items, not, pattern, type } = schema
  const found: FieldProblem[] = []
  if ($ref !== undefined) found.push(forbiddenAt(`${field}.$ref`, '$ref is not supported'))
  if (schema.uniqueItems === true) {
    const message =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    found.push(forbiddenAt(`${field}.uniqueItems`, message))
  }
  const properties = propertiesOf(schema, field)
  if (properties.length > 0 && additionalProperties !== undefined) {
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
  for (const problem of value === undefined ? [] : schemaProblems(value, schema)) {
    const { reason, message, field: at } = problem
    found.push({ reason, message, field: [`${field}.default`, at].filter(Boolean).join('.') })
  }
  const members = [
    ...properties,
    ...partAt(additionalProperties, `${field}.additionalProperties`),
    ...partAt(items, `${field}.items`),
  ]
  for (const [member, at] of members) {
    const { type: own = '' } = member
    const isFree =
      member['x-kubernetes-int-or-string'] === true ||
      member['x-kubernetes-preserve-unknown-fields'] === true
    if (own !== '' && !types.includes(own)) found.push(unsupportedAt(`${at}.type`, own, types))
    if (own === '' && !isFree) {
      found.push(requiredAt(`${at}.type`, 'must not be empty for specified object fields'))
    }
    found.push(...formProblems(member, at))
  }
  if (items === undefined && type === 'array') {
    found.push(requiredAt(`${field}.items`, 'must be specified'))
  }
  if (schema['x-kubernetes-list-type'] === 'map') {
    const keys = schema['x-kubernetes-list-map-keys'] ?? []
    if (keys.length === 0) {
      const message = 'must not be empty if x-kubernetes-list-type is map'
      found.push(requiredAt(`${field}.x-kubernetes-list-map-keys`, message))
    }
    for (const key of keys) {
      const hasDefault = items?.properties?.[key]?.default !== undefined
      if (hasDefault || items?.required?.includes(key) === true) continue
      const message =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      found.push(requiredAt(`${field}.items.properties[${key}].default`, message))
    }
  }
  const alternatives = (['anyOf', 'allOf', 'oneOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).map((part, at): Part => [part, `${field}.${keyword}[${at}]`]),
  )
  return [...found, ...[...alternatives, ...partAt(not, `${field}.not`)].flatMap(nestedProblems)]
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
