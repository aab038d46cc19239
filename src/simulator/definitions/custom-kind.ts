import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { compareVersions } from '../../kubernetes/version-priority.ts'
import type { DiscoveredResource } from '../api/captured-api.ts'
import { equalJson, valueAt } from '../api/json.ts'
import type { Path, Schema } from '../api/schema.ts'
import { customSelectableFields } from '../api/kind-traits.ts'
import {
  type ObjectRules,
  type ScalePaths,
  type ServedResource,
  servedResources,
} from '../api/served-resource.ts'
import { type FieldProblem, invalidAt } from '../api/status-refusal.ts'
import { schemaProblems } from '../schema/object-validation.ts'
import { defaulted, prunedObject } from '../schema/pruning-and-defaulting.ts'
import { completeNames, type DefinitionSpec, type DefinitionVersion } from './definition.ts'

/** One version of a CustomResourceDefinition, served or not. */
export interface CustomKind {
  readonly version: DefinitionVersion
  readonly resource: ServedResource
  /** The entries in an APIResourceList: the kind and its subresources. */
  readonly discovered: readonly DiscoveredResource[]
}

const dotted = (jsonPath: string): string => jsonPath.replace(/^\./, '')

/** The dotted paths, `spec.color`, of the fields that a field selector may name. */
export const selectablePaths = ({ selectableFields = [] }: DefinitionVersion): string[] =>
  selectableFields.map(({ jsonPath }) => dotted(jsonPath))

/** All versions of a CustomResourceDefinition. All are stored in one of them. */
export function customKinds(spec: DefinitionSpec): CustomKind[] {
  const { group, versions } = spec
  const held = versions.find(({ storage }) => storage)
  if (held === undefined) return []
  const kinds = versions.flatMap((version) => {
    const discovered = discoveredResources(spec, version)
    const [resource] = servedResources(discovered, group, version.name, held.name)
    return resource === undefined ? [] : [{ version, discovered, resource }]
  })
  const rules = new Map(
    versions.map((version) => {
      const schema = version.schema?.openAPIV3Schema ?? {}
      return [apiVersionOf({ group, version: version.name }), customRules(schema, scaleOf(version))]
    }),
  )
  const base = kinds.find(({ version }) => version === held)?.resource.stored
  if (base === undefined) return []
  const stored = {
    ...base,
    fields: customSelectableFields(selectablePaths(held)),
    hasGeneration: true,
    custom: true,
    convert: (object: Unstructured, apiVersion: string): Unstructured => {
      if (object.apiVersion === apiVersion) return object
      const renamed = { ...object, apiVersion }
      return rules.get(apiVersion)?.settle(renamed, []) ?? renamed
    },
  }
  return kinds.map(({ version, discovered, resource }) => ({
    version,
    discovered,
    resource: {
      ...resource,
      stored,
      rules: rules.get(resource.apiVersion),
      schema: version.schema?.openAPIV3Schema ?? {},
      scale: scaleOf(version),
      columns: version.additionalPrinterColumns?.map((column) => ({
        format: '',
        description: '',
        priority: 0,
        ...column,
      })),
      deprecation: deprecationOf(spec, version),
    },
  }))
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const partVerbs = ['get', 'patch', 'update']

function discoveredResources(
  { names, scope }: DefinitionSpec,
  { subresources }: DefinitionVersion,
): DiscoveredResource[] {
  const { plural, singular, kind, shortNames = [], categories = [] } = completeNames(names)
  const namespaced = scope === 'Namespaced'
  const part = (name: string, of: { readonly kind: string }): DiscoveredResource => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...of,
    verbs: partVerbs,
  })
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...(subresources?.status === undefined ? [] : [part('status', { kind })]),
    ...(subresources?.scale === undefined ? [] : [part('scale', scaleKind)]),
  ]
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const

function scaleOf({ subresources }: DefinitionVersion): ScalePaths | undefined {
  const scale = subresources?.scale
  if (scale === undefined) return undefined
  return {
    specReplicas: dotted(scale.specReplicasPath),
    statusReplicas: dotted(scale.statusReplicasPath),
    selector: scale.labelSelectorPath === undefined ? undefined : dotted(scale.labelSelectorPath),
  }
}

function deprecationOf(
  { group, names, versions }: DefinitionSpec,
  { name, deprecated, deprecationWarning }: DefinitionVersion,
): string | undefined {
  if (deprecated !== true) return undefined
  if (deprecationWarning !== undefined) return deprecationWarning
  const [newer] = versions
    .filter((other) => other.served && other.deprecated !== true)
    .map((other) => other.name)
    .filter((other) => compareVersions(other, name) < 0)
    .toSorted(compareVersions)
  const sentence = `${group}/${name} ${names.kind} is deprecated`
  return newer === undefined ? sentence : `${sentence}; use ${group}/${newer} ${names.kind}`
}

/** The rules of one version of a custom kind: its schema and its replica counts. */
function customRules(schema: Schema, scale: ScalePaths | undefined): ObjectRules {
  return {
    settle: (object, unknown) =>
      defaulted(prunedObject(object, schema, unknown), schema) as Unstructured,
    problems: (object, previous, part) => {
      // A write to the status checks the status alone.
      const isOfStatus = part === 'status'
      const checked = isOfStatus ? schema.properties?.['status'] : schema
      const value = isOfStatus ? object['status'] : object
      const isNone = checked === undefined || value === undefined
      const found = isNone ? [] : schemaProblems(value, checked)
      const prefix = isOfStatus ? ['status'] : []
      return [
        ...found
          .filter(({ node }) => !isUnchanged([...prefix, ...node], object, previous))
          .map(({ reason, message, field }) => ({
            reason,
            message,
            field: isOfStatus && field !== '<nil>' ? `status.${field}` : field,
          })),
        ...[scale?.specReplicas, scale?.statusReplicas].flatMap((path = ''): FieldProblem[] => {
          const replicas = valueAt(object, path)
          const isWrong = typeof replicas === 'number' && replicas < 0
          const message = 'should be a non-negative integer'
          return isWrong ? [invalidAt(`.${path}`, replicas, message)] : []
        }),
      ]
    },
  }
}

/**
 * Whether a value was already wrong before the update, which is then not refused. A change in a list counts for all its
 * items.
 */
function isUnchanged(
  node: Path,
  object: Unstructured,
  previous: Unstructured | undefined,
): boolean {
  if (previous === undefined) return false
  const list = node.findIndex((step) => typeof step === 'number')
  const path = list < 0 ? node : node.slice(0, list)
  const before = valueAt(previous, path)
  return before !== undefined && path.length > 0 && equalJson(before, valueAt(object, path))
}
