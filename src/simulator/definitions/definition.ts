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
  forbiddenAt,
  type Found,
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

/** The approval of a definition's API, as a condition; `undefined` for groups that need none. */
function approvalOf(definition: Unstructured): Outcome | undefined {
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(specOf(definition).group)) return undefined
  const given = definition.metadata.annotations?.[approvalAnnotation] ?? ''
  if (URL.canParse(given) && new URL(given).host !== '') {
    return { status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${given}` }
  }
  if (given.startsWith('unapproved')) {
    const message = `not approved: ${JSON.stringify(given)}`
    return { status: 'False', reason: 'UnapprovedAnnotation', message }
  }
  const reason = given === '' ? 'MissingAnnotation' : 'InvalidAnnotation'
  const message = `protected groups must have the annotation "${approvalAnnotation}" with a URL, or "unapproved"`
  return { status: 'False', reason, message }
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
  problems: (definition, previous, part) => {
    if (part === 'status') return []
    const { versions } = specOf(definition)
    const [first] = versions
    const ofVersions = parts.map(({ keyword, shared, check }) =>
      first !== undefined && versions.every((one) => equalJson(one[keyword], first[keyword]))
        ? check(first, shared)
        : versions.map((one, at) => check(one, `spec.versions[${at}].${keyword}`)),
    )
    return [
      kindProblems(definition, kind, previous),
      ofVersions,
      crossFieldProblems(definition, previous),
    ]
  },
})

const kept = (path: string, value: string, before: string): Found =>
  immutable({ value, path, parent: {}, previous: { value: before } })

/** The problems that depend on the status and on several fields. */
function crossFieldProblems(definition: Unstructured, previous: Unstructured | undefined): Found {
  const { group, names, scope, versions } = specOf(definition)
  const { name, annotations } = definition.metadata
  const approval = approvalOf(definition)
  const annotation = `metadata.annotations[${approvalAnnotation}]`
  const served = new Set(versions.map((version) => version.name))
  const lost = previous === undefined ? [] : (statusOf(previous).storedVersions ?? [])
  const before = previous && isEstablished(previous) && specOf(previous)
  return [
    name !== `${names.plural}.${group}` &&
      invalidAt('metadata.name', name, 'must be spec.names.plural+"."+spec.group'),
    approval?.reason === 'MissingAnnotation' && requiredAt(annotation, approval.message),
    approval?.reason === 'InvalidAnnotation' &&
      invalidAt(annotation, annotations?.[approvalAnnotation], approval.message),
    before && kept('spec.scope', scope, before.scope),
    before && kept('spec.names.kind', names.kind, before.names.kind),
    lost.map(
      (old, at) =>
        !served.has(old) &&
        invalidAt(`status.storedVersions[${at}]`, old, 'missing from spec.versions'),
    ),
  ]
}

interface VersionPart {
  readonly keyword: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'
  /** The path that a kube-apiserver names if all versions agree on the part. */
  readonly shared: string
  readonly check: (version: DefinitionVersion, field: string) => Found
}

const notSimple = 'must be a simple json path starting with .'
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const selectableTypes = ['string', 'boolean', 'integer']

const parts: readonly VersionPart[] = [
  {
    keyword: 'schema',
    shared: 'spec.validation',
    check: ({ schema: { openAPIV3Schema: schema } = {} }, field) =>
      schema && structuralProblems(schema, `${field}.openAPIV3Schema`),
  },
  {
    keyword: 'subresources',
    shared: 'spec.subresources',
    check: ({ subresources: { scale } = {} }, field) =>
      (['spec', 'status'] as const).map((root) => {
        const path = scale?.[`${root}ReplicasPath`]
        const at = `${field}.scale.${root}ReplicasPath`
        if (scale === undefined) return false
        if (path === undefined || isEmpty(path)) return requiredAt(at)
        if (!/^\.[^.]/.test(path)) return invalidAt(at, path, notSimple)
        return !path.startsWith(`.${root}.`) && invalidAt(at, path, `must be under .${root}`)
      }),
  },
  {
    keyword: 'additionalPrinterColumns',
    shared: 'spec.additionalPrinterColumns',
    check: ({ additionalPrinterColumns: columns = [] }, field) =>
      columns.map((column: Partial<(typeof columns)[number]>, index) => {
        const { name = '', type = '', jsonPath = '' } = column
        const at = `${field}[${index}]`
        const isTyped = columnTypes.includes(type)
        return [
          name === '' && requiredAt(`${at}.name`),
          !isTyped && invalidAt(`${at}.type`, type, `must be one of ${columnTypes.join()}`),
          !jsonPath.startsWith('.') && invalidAt(`${at}.JSONPath`, jsonPath, notSimple),
        ]
      }),
  },
  {
    keyword: 'selectableFields',
    shared: 'spec.selectableFields',
    check: ({ selectableFields = [], schema }, field) =>
      selectableFields.map(({ jsonPath }, at) => {
        const steps = jsonPath.replace(/^\./, '').split('.')
        const target = steps.reduce(memberSchema, schema?.openAPIV3Schema)
        const message = 'must point to a field of type string, boolean or integer'
        const isFit = selectableTypes.includes(target?.type ?? '')
        return !isFit && invalidAt(`${field}[${at}].jsonPath`, jsonPath, message)
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
function structuralProblems(schema: Schema, field: string): Found {
  const { properties = {}, type } = schema
  const at = `${field}.type`
  if (type !== undefined && type !== 'object') return invalidAt(at, type, 'must be object')
  const metadata = Object.keys(properties['metadata']?.properties ?? {})
  return [
    type === undefined && requiredAt(at, 'must not be empty at the root'),
    metadata.some((name) => name !== 'name' && name !== 'generateName') &&
      forbiddenAt(`${field}.properties[metadata]`, 'only name and generateName may be specified'),
    formProblems(schema, field),
  ]
}

/** A schema inside of another, and its path. */
type Part = readonly [schema: Schema, field: string]

const propertiesOf = ({ properties = {} }: Schema, field: string): Part[] =>
  Object.entries(properties).map(([name, part]) => [part, `${field}.properties[${name}]`])

const partAt = (part: boolean | Schema | undefined, field: string): Part[] =>
  typeof part === 'object' ? [[part, field]] : []

/** The problems of a schema's own keywords, then those of the schemas inside of it. */
function formProblems(schema: Schema, field: string): Found {
  const { $ref, additionalProperties, default: value, items, not, pattern, type } = schema
  const properties = propertiesOf(schema, field)
  const members = [
    ...properties,
    ...partAt(additionalProperties, `${field}.additionalProperties`),
    ...partAt(items, `${field}.items`),
  ]
  const isKeyed = schema['x-kubernetes-list-type'] === 'map'
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const alternatives = (['anyOf', 'allOf', 'oneOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).map((part, at): Part => [part, `${field}.${keyword}[${at}]`]),
  )
  return [
    $ref !== undefined && forbiddenAt(`${field}.$ref`, '$ref is not supported'),
    schema.uniqueItems === true && forbiddenAt(`${field}.uniqueItems`, 'cannot be set to true'),
    properties.length > 0 &&
      additionalProperties !== undefined &&
      forbiddenAt(`${field}.additionalProperties`, 'cannot be set beside properties'),
    !isExpression(pattern) &&
      invalidAt(`${field}.pattern`, pattern, 'must be a valid regular expression'),
    (value === undefined ? [] : schemaProblems(value, schema)).map(
      ({ reason, message, field: at }) => ({
        reason,
        message,
        field: [`${field}.default`, at].filter(Boolean).join('.'),
      }),
    ),
    members.map(([member, at]) => {
      const { type: own = '' } = member
      const isFree =
        member['x-kubernetes-int-or-string'] === true ||
        member['x-kubernetes-preserve-unknown-fields'] === true
      return [
        own !== '' && !types.includes(own) && unsupportedAt(`${at}.type`, own, types),
        own === '' && !isFree && requiredAt(`${at}.type`, 'must not be empty'),
        formProblems(member, at),
      ]
    }),
    items === undefined && type === 'array' && requiredAt(`${field}.items`, 'must be specified'),
    isKeyed && keys.length === 0 && requiredAt(`${field}.x-kubernetes-list-map-keys`),
    (isKeyed ? keys : []).map((key) => {
      const isGiven = items?.properties?.[key]?.default !== undefined
      const isRequired = items?.required?.includes(key) === true
      const at = `${field}.items.properties[${key}].default`
      return !isGiven && !isRequired && requiredAt(at, 'a key has a default or is required')
    }),
    [...alternatives, ...partAt(not, `${field}.not`)].map(nestedProblems),
  ]
}

function isExpression(pattern = ''): boolean {
  try {
    // Leading flags such as `(?i)` exist in Go only.
    return Boolean(RegExp(pattern.replace(/^\(\?[a-z]+\)/, '')))
  } catch {
    return false
  }
}

function nestedProblems([schema, field]: Part): Found {
  const inside = [...propertiesOf(schema, field), ...partAt(schema.items, `${field}.items`)]
  return [
    structureOnly.map(
      (keyword) =>
        schema[keyword] !== undefined &&
        forbiddenAt(`${field}.${keyword}`, 'must be empty to be structural'),
    ),
    inside.map(nestedProblems),
  ]
}
