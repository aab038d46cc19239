import type { CapturedApi, OpenApiDocument, Schema } from '../api/captured-api.ts'
import type { CustomKind } from './custom-kind.ts'

const schemaPrefix = '#/components/schemas/'
const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** `com.example.stable.v1.Widget`: a kind's name among the schemas. */
function schemaName({ group, version, kind }: CustomKind): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`
}

/** The OpenAPI document of one group and version of custom resources, with all schemas that it refers to. */
export function customOpenApi(
  captured: CapturedApi,
  kinds: readonly CustomKind[],
): OpenApiDocument {
  const builtIn = captured.openapi['apis/apps/v1']
  const known = builtIn?.components?.schemas ?? {}
  const schemas: Record<string, Schema> = {}
  const paths: Record<string, unknown> = {}
  for (const kind of kinds) {
    const name = schemaName(kind)
    schemas[name] = objectSchema(kind)
    schemas[`${name}List`] = listSchema(kind, `${schemaPrefix}${name}`)
    Object.assign(paths, pathsOf(kind))
  }
  for (const schema of Object.values(schemas)) addReferred(schema, known, schemas)
  return {
    openapi: '3.0.0',
    info: builtIn?.info ?? {},
    paths,
    components: { schemas },
  }
}

function groupVersionKind({ group, version, kind }: CustomKind, suffix = ''): object[] {
  return [{ group, kind: `${kind}${suffix}`, version }]
}

function objectSchema(kind: CustomKind): Schema {
  const { properties, ...schema } = kind.schema
  const fieldPaths = kind.selectableFields.map((fieldPath) => ({ fieldPath }))
  return {
    type: 'object',
    ...schema,
    properties: {
      ...properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `${schemaPrefix}${metaPrefix}ObjectMeta` }] },
    },
    'x-kubernetes-group-version-kind': groupVersionKind(kind),
    ...(fieldPaths.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fieldPaths }),
  }
}

function listSchema(kind: CustomKind, item: string): Schema {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: { $ref: item } },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `${schemaPrefix}${metaPrefix}ListMeta` }] },
    },
    'x-kubernetes-group-version-kind': groupVersionKind(kind, 'List'),
  }
}

/** The paths by which clients find where a kind is listed. */
function pathsOf(kind: CustomKind): Record<string, unknown> {
  const [id] = groupVersionKind(kind)
  const action = (name: string): object => ({
    'x-kubernetes-action': name,
    'x-kubernetes-group-version-kind': id,
  })
  const root = `/apis/${kind.group}/${kind.version}`
  const at = kind.namespaced
    ? `${root}/namespaces/{namespace}/${kind.plural}`
    : `${root}/${kind.plural}`
  return {
    ...(kind.namespaced ? { [`${root}/${kind.plural}`]: { get: action('list') } } : {}),
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
function addReferred(
  schema: unknown,
  known: Readonly<Record<string, Schema>>,
  into: Record<string, Schema>,
): void {
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
