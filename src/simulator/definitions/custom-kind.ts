import type { Unstructured } from '../../kubernetes/object.ts'
import type { Schema } from '../api/captured-api.ts'
import { customSelectableFields } from '../api/selectable-fields.ts'
import type { ServedResource } from '../api/served-resource.ts'

/** One version of a CustomResourceDefinition, as it is served. */
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
  readonly schema: Schema
  /** Dotted paths, `spec.color`. */
  readonly selectableFields: readonly string[]
  /** The version in which its objects are stored. */
  readonly storageVersion: string
}

/** The parts of a CustomResourceDefinition's `spec` that count here. */
interface DefinitionSpec {
  readonly group: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly names: {
    readonly plural: string
    readonly singular?: string
    readonly kind: string
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
  }
  readonly versions: readonly {
    readonly name: string
    readonly served: boolean
    readonly storage: boolean
    readonly schema?: { readonly openAPIV3Schema?: Schema }
    readonly subresources?: { readonly status?: object }
    readonly selectableFields?: readonly { readonly jsonPath: string }[]
  }[]
}

/** The versions that a CustomResourceDefinition serves. */
export function customKinds(definition: Unstructured): CustomKind[] {
  const { group, names, scope, versions } = definition['spec'] as DefinitionSpec
  const storageVersion = versions.find(({ storage }) => storage)?.name ?? versions[0]?.name ?? ''
  return versions
    .filter(({ served }) => served)
    .map((version) => ({
      group,
      version: version.name,
      plural: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      kind: names.kind,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: scope === 'Namespaced',
      hasStatus: version.subresources?.status !== undefined,
      schema: version.schema?.openAPIV3Schema ?? {},
      selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) =>
        jsonPath.replace(/^\./, ''),
      ),
      storageVersion,
    }))
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const statusVerbs = ['get', 'patch', 'update']

/** A custom kind as a resource of the registry. */
export function customResource(kind: CustomKind): ServedResource {
  const { group, version, plural: resource, namespaced } = kind
  return {
    group,
    version,
    resource,
    kind: kind.kind,
    apiVersion: `${group}/${version}`,
    namespaced,
    verbs: new Set(verbs),
    subresources: new Map(kind.hasStatus ? [['status', new Set(statusVerbs)]] : []),
    stored: {
      group,
      resource,
      groupResource: `${resource}.${group}`,
      kind: kind.kind,
      apiVersion: `${group}/${kind.storageVersion}`,
      namespaced,
      fields: customSelectableFields(kind.selectableFields),
      counted: true,
      statusApart: kind.hasStatus,
      custom: true,
    },
  }
}

/** A custom kind in an APIResourceList: itself, and its status. */
export function discoveredKind(kind: CustomKind): object[] {
  const { plural: name, namespaced, shortNames, categories } = kind
  const status = {
    name: `${name}/status`,
    singularName: '',
    namespaced,
    kind: kind.kind,
    verbs: statusVerbs,
  }
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
    ...(kind.hasStatus ? [status] : []),
  ]
}

/** A custom kind in aggregated discovery. */
export function aggregatedKind(kind: CustomKind): object {
  const { group, version, shortNames, categories } = kind
  const responseKind = { group, version, kind: kind.kind }
  const status = { subresource: 'status', responseKind, verbs: statusVerbs }
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(kind.hasStatus ? { subresources: [status] } : {}),
  }
}
