import { isJsonObject } from '../../lib/json.ts'
import type { CapturedApi, Schema } from './captured-api.ts'
import type { ServedResource } from './served-resource.ts'

/** The OpenAPI schema of a built-in kind, and the schemas that it refers to. */
export interface KindSchema {
  readonly root: Schema | undefined
  readonly schemas: Readonly<Record<string, Schema>>
}

const known = new WeakMap<ServedResource, KindSchema>()

/** The schema of a resource's kind; `root` is `undefined` for custom resources. */
export function kindSchema(captured: CapturedApi, served: ServedResource): KindSchema {
  let found = known.get(served)
  if (found === undefined) {
    found = findSchema(captured, served)
    known.set(served, found)
  }
  return found
}

function findSchema(captured: CapturedApi, served: ServedResource): KindSchema {
  const path = served.group === '' ? `api/${served.version}` : `apis/${served.apiVersion}`
  const schemas = captured.openapi[path]?.components?.schemas ?? {}
  return { root: Object.values(schemas).find((schema) => isOfKind(schema, served)), schemas }
}

function isOfKind(schema: Schema, { group, version, kind }: ServedResource): boolean {
  const kinds = schema['x-kubernetes-group-version-kind']
  return (
    Array.isArray(kinds) &&
    kinds.length === 1 &&
    kinds.some(
      (one: unknown) =>
        isJsonObject(one) &&
        one['group'] === group &&
        one['version'] === version &&
        one['kind'] === kind,
    )
  )
}

/** The schema of `metadata`, the same for all kinds. */
export function metadataSchema(captured: CapturedApi): KindSchema {
  const schemas = captured.openapi['api/v1']?.components?.schemas ?? {}
  return { root: schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'], schemas }
}

/** Follows `$ref`, and `allOf` with one element: the two forms in which Kubernetes refers to a schema. */
export function resolvedSchema(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const [first] = (schema['allOf'] as Schema[] | undefined) ?? []
  const reference = schema['$ref'] ?? first?.['$ref']
  if (typeof reference !== 'string') return schema
  return schemas[reference.slice(reference.lastIndexOf('/') + 1)] ?? schema
}
