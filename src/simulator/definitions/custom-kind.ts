import type { Unstructured } from '../../kubernetes/object.ts'
import type { Schema } from '../api/captured-api.ts'
import type { PrinterColumn, ScalePaths, ServedResource } from '../api/served-resource.ts'
import { customSelectableFields } from '../api/selectable-fields.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { customRules } from './custom-rules.ts'
import {
  compareVersions,
  completeNames,
  type DefinitionSpec,
  type DefinitionVersion,
} from './definition.ts'

/** One version of a CustomResourceDefinition. */
export interface CustomKind {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly hasStatus: boolean
  readonly scale: ScalePaths | undefined
  readonly schema: StructuralSchema
  /** Dotted paths, `spec.color`. */
  readonly selectableFields: readonly string[]
  readonly columns: readonly PrinterColumn[] | undefined
  readonly deprecation: string | undefined
}

const dotted = (jsonPath: string): string => jsonPath.replace(/^\./, '')

/** All versions of a CustomResourceDefinition, served or not. */
export function customKinds(spec: DefinitionSpec): CustomKind[] {
  const { group, scope, versions } = spec
  const names = completeNames(spec.names)
  return versions.map((version) => ({
    group,
    version: version.name,
    plural: names.plural,
    singular: names.singular,
    kind: names.kind,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    hasStatus: version.subresources?.status !== undefined,
    scale: scaleOf(version),
    schema: version.schema?.openAPIV3Schema ?? {},
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => dotted(jsonPath)),
    columns: version.additionalPrinterColumns?.map((column) => ({
      name: '',
      type: '',
      jsonPath: '',
      format: '',
      description: '',
      priority: 0,
      ...column,
    })),
    deprecation: deprecationOf(spec, version),
  }))
}

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

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const partVerbs = ['get', 'patch', 'update']

/** The versions of a custom kind as resources of the registry. All are stored in `storageVersion`. */
export function customResources(
  kinds: readonly CustomKind[],
  storageVersion: string,
): ServedResource[] {
  const [held] = kinds.filter(({ version }) => version === storageVersion)
  if (held === undefined) return []
  const { group, plural: resource, namespaced, kind } = held
  const rules = new Map(
    kinds.map(({ version, schema, scale }) => [`${group}/${version}`, customRules(schema, scale)]),
  )
  const stored = {
    group,
    resource,
    groupResource: `${resource}.${group}`,
    kind,
    apiVersion: `${group}/${storageVersion}`,
    namespaced,
    fields: customSelectableFields(held.selectableFields),
    hasGeneration: true,
    hasStatusSubresource: held.hasStatus,
    custom: true,
    convert: (object: Unstructured, apiVersion: string): Unstructured => {
      if (object.apiVersion === apiVersion) return object
      const renamed = { ...object, apiVersion }
      return rules.get(apiVersion)?.settle(renamed, []) ?? renamed
    },
  }
  return kinds.map(({ version, hasStatus, scale, schema, columns, deprecation }) => ({
    group,
    version,
    resource,
    kind,
    apiVersion: `${group}/${version}`,
    namespaced,
    verbs: new Set(verbs),
    subresources: new Map(
      [...(hasStatus ? ['status'] : []), ...(scale === undefined ? [] : ['scale'])].map((part) => [
        part,
        new Set(partVerbs),
      ]),
    ),
    stored,
    rules: rules.get(`${group}/${version}`),
    schema: schema as Schema,
    scale,
    columns,
    deprecation,
  }))
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const

/** The entries of a custom kind in an APIResourceList: the kind and its subresources. */
export function discoveredKind(kind: CustomKind): object[] {
  const { plural: name, namespaced, shortNames, categories } = kind
  const part = (subresource: string, more: object): object => ({
    name: `${name}/${subresource}`,
    singularName: '',
    namespaced,
    ...more,
    verbs: partVerbs,
  })
  return [
    {
      name,
      singularName: kind.singular,
      namespaced,
      kind: kind.kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...(kind.hasStatus ? [part('status', { kind: kind.kind })] : []),
    ...(kind.scale === undefined ? [] : [part('scale', scaleKind)]),
  ]
}

/** A custom kind in aggregated discovery. */
export function aggregatedKind(kind: CustomKind): object {
  const { group, version, shortNames, categories } = kind
  const responseKind = { group, version, kind: kind.kind }
  const subresources = [
    ...(kind.hasStatus ? [{ subresource: 'status', responseKind, verbs: partVerbs }] : []),
    ...(kind.scale === undefined
      ? []
      : [{ subresource: 'scale', responseKind: scaleKind, verbs: partVerbs }]),
  ]
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
