import { fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { equalJson } from '../api/json.ts'
import { memberSchema } from '../api/schema.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import { type FieldProblem, invalidAt, requiredAt } from '../api/status-refusal.ts'
import {
  all,
  type AnyCheck,
  type Checks,
  immutable,
  invalidIf,
  named,
  oneOf,
  problemsOf,
  required,
} from '../schema/field-checks.ts'
import { structuralProblems } from '../schema/structural-check.ts'
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
      : [
          ...approvalProblems(definition),
          ...problemsOf(definition, definitionChecks, '', previous && { value: previous }),
          ...partProblems(specOf(definition).versions),
          ...crossFieldProblems(definition, previous),
        ],
}

function approvalProblems(definition: Unstructured): FieldProblem[] {
  const approval = approvalOf(definition)
  const field = `metadata.annotations[${approvalAnnotation}]`
  if (approval?.reason === 'MissingAnnotation') return [requiredAt(field, approval.message)]
  return approval?.reason === 'InvalidAnnotation'
    ? [invalidAt(field, definition.metadata.annotations?.[approvalAnnotation], approval.message)]
    : []
}

const labelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

const label = (name: string): string | undefined =>
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) ? undefined : labelRule

const resourceName: AnyCheck = [required(), named(label)]
const kindName: AnyCheck = [required(), named((name) => label(name.toLowerCase()))]

const definitionChecks: Checks = {
  'spec.group': all(
    [
      required(),
      invalidIf(
        (group) => !String(group).includes('.'),
        'should be a domain with at least one dot',
      ),
    ],
    immutable,
  ),
  'spec.scope': [required(), oneOf('Cluster', 'Namespaced')],
  'spec.names.plural': all(resourceName, immutable),
  'spec.names.singular': resourceName,
  'spec.names.kind': kindName,
  'spec.names.listKind': kindName,
  'spec.preserveUnknownFields': invalidIf(
    (value) => value === true,
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  ),
  'spec.conversion.strategy': oneOf('None', 'Webhook'),
  'spec.conversion': (value, path) => {
    const { strategy, webhook } = fieldsOf(value)
    const message = 'required when strategy is set to Webhook'
    return strategy === 'Webhook' && webhook === undefined
      ? [requiredAt(`${path}.webhookClientConfig`, message)]
      : []
  },
  'spec.versions': all(
    invalidIf((versions) => {
      const names = itemsOf(versions).map(({ name }) => name)
      return new Set(names).size < names.length
    }, 'must contain unique version names'),
    invalidIf(
      (versions) => itemsOf(versions).filter(({ storage }) => storage === true).length !== 1,
      'must have exactly one version marked as storage version',
    ),
  ),
  'spec.versions[].deprecationWarning': invalidIf(
    (warning, { deprecated }) => warning !== undefined && deprecated !== true,
    'can only be set for deprecated versions',
  ),
  'spec.versions[].schema.openAPIV3Schema': required(),
}

/** The problems that depend on the status and on several fields. */
function crossFieldProblems(
  definition: Unstructured,
  previous: Unstructured | undefined,
): FieldProblem[] {
  const { group, names, versions } = specOf(definition)
  const { name } = definition.metadata
  const isNamed = name === `${names.plural}.${group}`
  const message = 'must be spec.names.plural+"."+spec.group'
  const found = isNamed ? [] : [invalidAt('metadata.name', name, message)]
  if (previous === undefined) return found
  if (isEstablished(previous)) {
    const kept: Checks = { 'spec.scope': immutable, 'spec.names.kind': immutable }
    found.push(...problemsOf(definition, kept, '', { value: previous }))
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

function partProblems(versions: readonly DefinitionVersion[]): FieldProblem[] {
  const [first] = versions
  return parts.flatMap(({ keyword, shared, check }) =>
    first !== undefined && versions.every((one) => equalJson(one[keyword], first[keyword]))
      ? check(first, shared)
      : versions.flatMap((one, at) => check(one, `spec.versions[${at}].${keyword}`)),
  )
}

const isSimplePath = (path: unknown): boolean => /^\.[^.]/.test(String(path))
const notSimple = 'must be a simple json path starting with .'

const replicasPath = (root: string): AnyCheck => [
  required(),
  invalidIf((path) => !isSimplePath(path), notSimple),
  invalidIf((path) => !String(path).startsWith(`${root}.`), `should be a json path under ${root}`),
]

const scaleChecks: Checks = {
  'scale?.specReplicasPath': replicasPath('.spec'),
  'scale?.statusReplicasPath': replicasPath('.status'),
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
      .reduce((part, name) => memberSchema(part, name), schema?.openAPIV3Schema)
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
    check: ({ subresources }, field) => problemsOf(subresources, scaleChecks, field),
  },
  {
    keyword: 'additionalPrinterColumns',
    shared: 'spec.additionalPrinterColumns',
    check: columnProblems,
  },
  { keyword: 'selectableFields', shared: 'spec.selectableFields', check: selectableProblems },
]
