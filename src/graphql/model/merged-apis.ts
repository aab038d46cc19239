import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { OpenApiDocument, OpenApiDocuments, OpenApiSchema } from '../../kubernetes/open-api.ts'
import { mergedSchema } from './merged-schema.ts'

/** What one cluster serves. */
export interface ServedApis {
  /** All versions; of one kind the server's preferred one comes first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  /** CustomResourceDefinitions, as the API server lists them. */
  readonly crds?: readonly unknown[]
}

/**
 * What several clusters serve as if it were one: of each kind the first version that all of them have which have the kind;
 * properties that any of them has, and JSON where they differ in type. Of one cluster nothing changes.
 */
export function mergedApis(clusters: readonly ServedApis[]): ServedApis {
  const [only] = clusters
  if (only !== undefined && clusters.length === 1) return only
  return {
    resources: mergedResources(clusters.map(({ resources }) => resources)),
    openapi: mergedDocuments(clusters.map(({ openapi }) => openapi)),
    crds: clusters.flatMap(({ crds = [] }) => crds),
  }
}

function mergedResources(clusters: readonly (readonly ApiResource[])[]): readonly ApiResource[] {
  const perCluster = clusters.map((resources) => Map.groupBy(resources, groupResourceOf))
  const names = new Set(perCluster.flatMap((byName) => [...byName.keys()]))
  return [...names].flatMap((name) => {
    const having = perCluster.flatMap((byName) => byName.get(name) ?? [])
    const versions = new Map<string, ApiResource[]>()
    for (const resource of having) {
      const same = versions.get(resource.version)
      if (same === undefined) versions.set(resource.version, [resource])
      else same.push(resource)
    }
    const count = perCluster.filter((byName) => byName.has(name)).length
    // One entry per cluster that has the version; the sort is stable, so preference decides among equals.
    const isCommon = (all: readonly ApiResource[]): number => Number(all.length >= count)
    return [...versions.values()]
      .toSorted((a, b) => isCommon(b) - isCommon(a))
      .flatMap(([first]) => first ?? [])
  })
}

function mergedDocuments(clusters: readonly OpenApiDocuments[]): OpenApiDocuments {
  const paths = new Set(clusters.flatMap((documents) => Object.keys(documents)))
  return Object.fromEntries(
    [...paths].map((path) => [path, mergedDocument(clusters.flatMap((one) => one[path] ?? []))]),
  )
}

function mergedDocument(documents: readonly OpenApiDocument[]): OpenApiDocument {
  const [only] = documents
  if (only !== undefined && documents.length === 1) return only
  const schemas = new Map<string, OpenApiSchema>()
  for (const { components } of documents) {
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      const known = schemas.get(name)
      schemas.set(name, known === undefined ? schema : mergedSchema(known, schema))
    }
  }
  return { components: { schemas: Object.fromEntries(schemas) } }
}
