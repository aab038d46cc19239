import { type CapturedApi, customSchema, type OpenApiDocument } from '../api/captured-api.ts'
import type { Schema, Schemas } from '../api/schema.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { type CustomKind, selectablePaths } from './custom-kind.ts'

const schemaPrefix = '#/components/schemas/'
const metaPrefix = `${schemaPrefix}io.k8s.apimachinery.pkg.apis.meta.v1.`
const text = { type: 'string' }

/** The OpenAPI document of one group and version of custom resources, with all schemas that it refers to. */
export function customOpenApi(
  captured: CapturedApi,
  kinds: readonly CustomKind[],
): OpenApiDocument {
  const builtIn = captured.openapi['apis/apps/v1']
  const schemas: Record<string, Schema> = {}
  const paths: Record<string, unknown> = {}
  for (const kind of kinds) {
    const { group, version, kind: name } = kind.resource
    // `com.example.stable.v1.Widget`
    const fullName = `${group.split('.').toReversed().join('.')}.${version}.${name}`
    schemas[fullName] = objectSchema(kind)
    schemas[`${fullName}List`] = listSchema(kind.resource, `${schemaPrefix}${fullName}`)
    Object.assign(paths, pathsOf(kind.resource))
  }
  const known = builtIn?.components?.schemas ?? {}
  for (const schema of Object.values(schemas)) addReferred(schema, known, schemas)
  return { openapi: '3.0.0', info: builtIn?.info ?? {}, paths, components: { schemas } }
}

const kindOf = (
  { group, version, kind }: ServedResource,
  suffix = '',
): { group: string; kind: string; version: string } => ({
  group,
  kind: `${kind}${suffix}`,
  version,
})

function objectSchema({ resource, version }: CustomKind): Schema {
  const fieldPaths = selectablePaths(version).map((fieldPath) => ({ fieldPath }))
  return {
    ...customSchema(resource.schema ?? {}),
    'x-kubernetes-group-version-kind': [kindOf(resource)],
    ...(fieldPaths.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fieldPaths }),
  }
}

const listSchema = (resource: ServedResource, item: string): Schema => ({
  type: 'object',
  required: ['items'],
  properties: {
    apiVersion: text,
    items: { type: 'array', items: { $ref: item } },
    kind: text,
    metadata: { allOf: [{ $ref: `${metaPrefix}ListMeta` }] },
  },
  'x-kubernetes-group-version-kind': [kindOf(resource, 'List')],
})

/** The paths by which clients find where a kind is listed. */
function pathsOf(served: ServedResource): Record<string, unknown> {
  const { apiVersion, namespaced, resource } = served
  const action = (name: string): object => ({
    'x-kubernetes-action': name,
    'x-kubernetes-group-version-kind': kindOf(served),
  })
  const everywhere = `/apis/${apiVersion}/${resource}`
  const at = namespaced ? `/apis/${apiVersion}/namespaces/{namespace}/${resource}` : everywhere
  return {
    ...(namespaced ? { [everywhere]: { get: action('list') } } : {}),
    [at]: { get: action('list'), post: action('post'), delete: action('deletecollection') },
    [`${at}/{name}`]: {
      get: action('get'),
      put: action('put'),
      patch: action('patch'),
      delete: action('delete'),
    },
  }
}

/** Copies the schemas that a schema refers to, directly and indirectly. */
function addReferred(schema: unknown, known: Schemas, into: Record<string, Schema>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [name, value] of Object.entries(schema)) {
    if (name !== '$ref' || typeof value !== 'string') {
      addReferred(value, known, into)
      continue
    }
    const referred = value.slice(schemaPrefix.length)
    const found = known[referred]
    if (found === undefined || into[referred] !== undefined) continue
    into[referred] = found
    addReferred(found, known, into)
  }
}
