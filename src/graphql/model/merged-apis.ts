/*
 * The APIs of several clusters as the APIs of one. Each kind has the first version that all clusters with the kind serve.
 * Its schema has the properties of every cluster, and is open where their types differ.
 */

import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import {
  definitionNameOf,
  type OpenApiDocument,
  type OpenApiDocuments,
  type OpenApiSchema,
} from '../../kubernetes/open-api.ts'
import { isRecord } from '../../lib/json.ts'
import { scalarFormOf } from './scalar-form.ts'

export interface ServedApis {
  /** All versions; the server's preferred version of a kind comes first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  /** CustomResourceDefinitions, as the API server lists them. */
  readonly crds?: readonly unknown[]
}

/** The APIs of several clusters as the APIs of one. */
export function mergedApis(clusters: readonly ServedApis[]): ServedApis {
  const [only] = clusters
  if (only !== undefined && clusters.length === 1) return only
  const paths = new Set(clusters.flatMap(({ openapi }) => Object.keys(openapi)))
  return {
    resources: mergedResources(clusters.map(({ resources }) => resources)),
    openapi: Object.fromEntries(
      Array.from(paths, (path) => [
        path,
        mergedDocument(clusters.flatMap(({ openapi }) => openapi[path] ?? [])),
      ]),
    ),
    crds: clusters.flatMap(({ crds = [] }) => crds),
  }
}

function mergedResources(clusters: readonly (readonly ApiResource[])[]): readonly ApiResource[] {
  const perCluster = clusters.map((resources) => Map.groupBy(resources, groupResourceOf))
  const names = new Set(perCluster.flatMap((byName) => [...byName.keys()]))
  return [...names].flatMap((name) => {
    const having = perCluster.flatMap((byName) => byName.get(name) ?? [])
    const versions = Map.groupBy(having, ({ version }) => version)
    const count = perCluster.filter((byName) => byName.has(name)).length
    // Each version has one entry per cluster. The sort is stable, so the preferred version stays first among equals.
    const isCommon = (all: readonly ApiResource[]): number => Number(all.length >= count)
    return [...versions.values()]
      .toSorted((a, b) => isCommon(b) - isCommon(a))
      .flatMap(([first]) => first ?? [])
  })
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

/** Deeper schemas are refused: see `schemaBounds`. */
const maxDepth = 200

/** One schema for two: the properties of both, and an open schema where their types differ. */
function mergedSchema(a: OpenApiSchema, b: OpenApiSchema, depth = 0): OpenApiSchema {
  if (a === b || depth > maxDepth || ![a, b].every(isRecord)) return a
  const [left, right] = [definitionNameOf(a), definitionNameOf(b)]
  if (left !== undefined || right !== undefined) return left === right ? a : anything(a)
  const [one, other] = [scalarFormOf(a), scalarFormOf(b)]
  if (one !== undefined || other !== undefined) {
    if (one === other) return a
    // The wider integer holds both.
    if (one === 'int64' && other === 'int') return a
    return one === 'int' && other === 'int64' ? b : anything(a)
  }
  if (a.type !== b.type || isOpen(a) !== isOpen(b)) return anything(a)
  const both = (first?: OpenApiSchema, second?: OpenApiSchema): OpenApiSchema | undefined =>
    first === undefined || second === undefined
      ? (first ?? second)
      : mergedSchema(first, second, depth + 1)
  const required = a.required?.filter((name) => b.required?.includes(name) === true)
  const items = both(a.items, b.items)
  const [mine, theirs] = [a.additionalProperties, b.additionalProperties]
  const areSchemas = typeof mine === 'object' && typeof theirs === 'object'
  const values = areSchemas ? both(mine, theirs) : (mine ?? theirs)
  const properties = new Map(Object.entries(a.properties ?? {}))
  for (const [name, schema] of Object.entries(b.properties ?? {})) {
    properties.set(name, both(properties.get(name), schema) ?? schema)
  }
  const hasProperties = a.properties !== undefined || b.properties !== undefined
  return {
    ...a,
    ...(required === undefined ? {} : { required }),
    ...(items !== undefined && { items }),
    ...(values !== undefined && { additionalProperties: values }),
    ...(hasProperties && { properties: Object.fromEntries(properties) }),
  }
}

function anything({ description }: OpenApiSchema): OpenApiSchema {
  return {
    ...(description === undefined ? {} : { description }),
    'x-kubernetes-preserve-unknown-fields': true,
  }
}

/** Whether a schema describes neither properties nor items. */
function isOpen(schema: OpenApiSchema): boolean {
  return schema.properties === undefined && schema.items === undefined
}
