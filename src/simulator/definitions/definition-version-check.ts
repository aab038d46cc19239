import { equalJson } from '../api/json.ts'
import { type FieldProblem, invalidAt, requiredAt } from '../api/field-problem.ts'
import { structuralProblems } from '../schema/structural-check.ts'
import { memberSchema, type StructuralSchema } from '../schema/structural-schema.ts'
import type { DefinitionVersion } from './definition.ts'

/** What is wrong with the versions of a definition. */
export function versionProblems(versions: readonly DefinitionVersion[]): FieldProblem[] {
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
  /** Its place where all versions agree on it, which a kube-apiserver names instead of each version's own. */
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
