import type { Unstructured } from '../../kubernetes/object.ts'
import type { KindSchema } from '../api/captured-api.ts'
import { equalJson } from '../api/json.ts'
import { memberSchema } from '../api/schema.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import { type FieldProblem, invalidAt, requiredAt } from '../api/status-refusal.ts'
import { kindProblems } from '../schema/built-in-rules.ts'
import { immutable, isEmpty } from '../schema/field-checks.ts'
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
          ...approvalProblems(definition),
          ...kindProblems(definition, kind, previous),
          ...partProblems(specOf(definition).versions),
          ...crossFieldProblems(definition, previous),
        ],
})

function approvalProblems(definition: Unstructured): FieldProblem[] {
  const approval = approvalOf(definition)
  const field = `metadata.annotations[${approvalAnnotation}]`
  if (approval?.reason === 'MissingAnnotation') return [requiredAt(field, approval.message)]
  return approval?.reason === 'InvalidAnnotation'
    ? [invalidAt(field, definition.metadata.annotations?.[approvalAnnotation], approval.message)]
    : []
}

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

function scaleProblems({ subresources }: DefinitionVersion, field: string): FieldProblem[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  return (['spec', 'status'] as const).flatMap((root): FieldProblem[] => {
    const path = scale[`${root}ReplicasPath`]
    const at = `${field}.scale.${root}ReplicasPath`
    if (isEmpty(path)) return [requiredAt(at)]
    if (!isSimplePath(path)) return [invalidAt(at, path, notSimple)]
    const isBelow = path.startsWith(`.${root}.`)
    return isBelow ? [] : [invalidAt(at, path, `should be a json path under .${root}`)]
  })
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
    check: scaleProblems,
  },
  {
    keyword: 'additionalPrinterColumns',
    shared: 'spec.additionalPrinterColumns',
    check: columnProblems,
  },
  { keyword: 'selectableFields', shared: 'spec.selectableFields', check: selectableProblems },
]
