import type { Unstructured } from '../../kubernetes/object.ts'
import { type FieldProblem, invalidAt, requiredAt, unsupportedAt } from '../api/field-problem.ts'
import { equalJson } from '../api/json.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import { structuralProblems } from '../schema/structural-check.ts'
import { memberSchema, type StructuralSchema } from '../schema/structural-schema.ts'
import { approvalAnnotation, approvalOf, isEstablished } from './definition-status.ts'
import {
  completeNames,
  type DefinitionSpec,
  type DefinitionVersion,
  specOf,
  statusOf,
} from './definition.ts'

/** The rules of CustomResourceDefinitions. Source: apiextensions.k8s.io/v1 validation. */
export const definitionRules: ObjectRules = {
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
      : [...definitionProblems(definition), ...updateProblems(definition, previous)],
}

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const labelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

function definitionProblems(definition: Unstructured): FieldProblem[] {
  const { metadata } = definition
  const { group, names, scope, conversion, versions, preserveUnknownFields } = specOf(definition)
  const { plural, singular, kind, listKind } = names
  const found: FieldProblem[] = []
  if (metadata.name !== `${plural}.${group}`) {
    found.push(
      invalidAt('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'),
    )
  }
  const approval = approvalOf(definition)
  const approvalField = `metadata.annotations[${approvalAnnotation}]`
  if (approval?.state === 'missing') found.push(requiredAt(approvalField, approval.message))
  if (approval?.state === 'invalid') {
    found.push(
      invalidAt(approvalField, metadata.annotations?.[approvalAnnotation], approval.message),
    )
  }
  if (group === '') found.push(requiredAt('spec.group'))
  else if (!group.includes('.')) {
    found.push(invalidAt('spec.group', group, 'should be a domain with at least one dot'))
  }
  if (scope === '') {
    found.push(requiredAt('spec.scope'))
  } else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    found.push(unsupportedAt('spec.scope', scope, ['Cluster', 'Namespaced']))
  }
  for (const [name, value] of Object.entries({
    plural,
    singular: singular ?? '',
    kind,
    listKind: listKind ?? '',
  })) {
    const field = `spec.names.${name}`
    if (value === '') found.push(requiredAt(field))
    else if (!label.test(value.toLowerCase())) found.push(invalidAt(field, value, labelRule))
    else if ((name === 'plural' || name === 'singular') && !label.test(value)) {
      found.push(invalidAt(field, value, labelRule))
    }
  }
  if (preserveUnknownFields === true) {
    const message =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    found.push(invalidAt('spec.preserveUnknownFields', true, message))
  }
  const strategy = conversion?.strategy ?? 'None'
  if (strategy === 'Webhook' && conversion?.webhook === undefined) {
    const message = 'required when strategy is set to Webhook'
    found.push(requiredAt('spec.conversion.webhookClientConfig', message))
  } else if (strategy !== 'None' && strategy !== 'Webhook') {
    found.push(unsupportedAt('spec.conversion.strategy', strategy, ['None', 'Webhook']))
  }
  return [...found, ...versionProblems(versions)]
}

function updateProblems(
  definition: Unstructured,
  previous: Unstructured | undefined,
): FieldProblem[] {
  if (previous === undefined) return []
  const [before, after] = [specOf(previous), specOf(definition)]
  const found: FieldProblem[] = []
  const immutable = (field: string, old: unknown, value: unknown): void => {
    if (!equalJson(old, value)) found.push(invalidAt(field, value, 'field is immutable'))
  }
  if (isEstablished(previous)) {
    immutable('spec.scope', before.scope, after.scope)
    immutable('spec.names.kind', before.names.kind, after.names.kind)
  }
  immutable('spec.group', before.group, after.group)
  immutable('spec.names.plural', before.names.plural, after.names.plural)
  const names = new Set(after.versions.map(({ name }) => name))
  for (const [at, name] of (statusOf(previous).storedVersions ?? []).entries()) {
    if (names.has(name)) continue
    const message =
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a ` +
      `storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    found.push(invalidAt(`status.storedVersions[${at}]`, name, message))
  }
  return found
}

/** The problems of a definition's versions. */
function versionProblems(versions: readonly DefinitionVersion[]): FieldProblem[] {
  const found: FieldProblem[] = []
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    found.push(invalidAt('spec.versions', versions, 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const message = 'must have exactly one version marked as storage version'
    found.push(invalidAt('spec.versions', versions, message))
  }
  for (const [at, version] of versions.entries()) {
    if (version.deprecationWarning !== undefined && version.deprecated !== true) {
      const field = `spec.versions[${at}].deprecationWarning`
      const message = 'can only be set for deprecated versions'
      found.push(invalidAt(field, version.deprecationWarning, message))
    }
    if (version.schema?.openAPIV3Schema === undefined) {
      found.push(requiredAt(`spec.versions[${at}].schema.openAPIV3Schema`))
    }
  }
  return [...found, ...partProblems(versions)]
}

interface VersionPart {
  readonly keyword: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'
  /** The path that a kube-apiserver names if all versions agree on the part. */
  readonly shared: string
  readonly check: (version: DefinitionVersion, field: string) => FieldProblem[]
}

const parts: readonly VersionPart[] = [
  {
    keyword: 'schema',
    shared: 'spec.validation',
    check: ({ schema }, field) =>
      schema?.openAPIV3Schema === undefined
        ? []
        : structuralProblems(schema.openAPIV3Schema, `${field}.openAPIV3Schema`),
  },
  { keyword: 'subresources', shared: 'spec.subresources', check: scaleProblems },
  {
    keyword: 'additionalPrinterColumns',
    shared: 'spec.additionalPrinterColumns',
    check: columnProblems,
  },
  { keyword: 'selectableFields', shared: 'spec.selectableFields', check: selectableProblems },
]

function partProblems(versions: readonly DefinitionVersion[]): FieldProblem[] {
  const [first] = versions
  return parts.flatMap(({ keyword, shared, check }) =>
    first !== undefined && versions.every((one) => equalJson(one[keyword], first[keyword]))
      ? check(first, shared)
      : versions.flatMap((one, at) => check(one, `spec.versions[${at}].${keyword}`)),
  )
}

const isSimplePath = (path: string): boolean => /^\.[^.]/.test(path)
const notSimple = 'must be a simple json path starting with .'

function scaleProblems({ subresources }: DefinitionVersion, field: string): FieldProblem[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  const check = (name: string, path: string | undefined, root: string): FieldProblem[] => {
    const at = `${field}.scale.${name}`
    if (path === undefined || path === '') return [requiredAt(at)]
    if (!isSimplePath(path)) return [invalidAt(at, path, notSimple)]
    return path.startsWith(`${root}.`)
      ? []
      : [invalidAt(at, path, `should be a json path under ${root}`)]
  }
  return [
    ...check('specReplicasPath', scale.specReplicasPath, '.spec'),
    ...check('statusReplicasPath', scale.statusReplicasPath, '.status'),
  ]
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']

function columnProblems(
  { additionalPrinterColumns = [] }: DefinitionVersion,
  field: string,
): FieldProblem[] {
  return additionalPrinterColumns.flatMap(({ name = '', type = '', jsonPath = '' }, at) => [
    ...(name === '' ? [requiredAt(`${field}[${at}].name`)] : []),
    ...(columnTypes.includes(type)
      ? []
      : [invalidAt(`${field}[${at}].type`, type, `must be one of ${columnTypes.join(',')}`)]),
    ...(isSimplePath(jsonPath) || jsonPath.startsWith('.')
      ? []
      : [invalidAt(`${field}[${at}].JSONPath`, jsonPath, notSimple)]),
  ])
}

function selectableProblems(
  { selectableFields = [], schema }: DefinitionVersion,
  field: string,
): FieldProblem[] {
  return selectableFields.flatMap(({ jsonPath }, at) => {
    const place = `${field}[${at}].jsonPath`
    const target = jsonPath
      .replace(/^\./, '')
      .split('.')
      .reduce<StructuralSchema | undefined>(
        (part, name) => (part === undefined ? undefined : memberSchema(part, name)),
        schema?.openAPIV3Schema,
      )
    if (target === undefined) {
      return [invalidAt(place, jsonPath, 'is an invalid path: does not refer to a valid field')]
    }
    return ['string', 'boolean', 'integer'].includes(target.type ?? '')
      ? []
      : [invalidAt(place, jsonPath, notSelectable)]
  })
}

const notSelectable =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
