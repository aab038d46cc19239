import { isJsonObject } from '../../../lib/json.ts'
import type { CapturedApi, Schema } from '../../api/captured-api.ts'
import { kindSchema, metadataSchema, resolvedSchema } from '../../api/kind-schema.ts'
import type { ServedResource } from '../../api/served-resource.ts'

const known = new WeakMap<Schema, FieldShape>()
const shapes = new WeakMap<ServedResource, FieldShape>()

/** The field shape of a resource's objects. */
export function kindShape(captured: CapturedApi, served: ServedResource): FieldShape {
  let shape = shapes.get(served)
  if (shape === undefined) {
    shape = served.stored.custom ? customShape(captured, served) : builtInShape(captured, served)
    shapes.set(served, shape)
  }
  return shape
}

function builtInShape(captured: CapturedApi, served: ServedResource): FieldShape {
  const { root, schemas } = kindSchema(captured, served)
  return fieldShape(root, { schemas, known })
}

/** Types and metadata have the same shape for every kind. */
function customShape(captured: CapturedApi, { schema }: ServedResource): FieldShape {
  const { root, schemas } = metadataSchema(captured)
  const metadata = fieldShape(root, { schemas, known })
  const own = fieldShape(schema, { schemas: {}, known })
  return {
    kind: 'map',
    member: (name) => {
      if (name === 'metadata') return metadata
      if (name === 'apiVersion' || name === 'kind') return { kind: 'atomic' }
      return own.kind === 'map' ? own.member(name) : undefined
    },
  }
}

/**
 * How managers own the parts of a value: one by one, or as a whole. Source: structured-merge-diff, and "Merge strategy"
 * in the documentation of server-side apply.
 */
export type FieldShape =
  /** A whole: a scalar, an atomic list or an atomic map. */
  | { readonly kind: 'atomic' }
  | { readonly kind: 'map'; readonly member: (name: string) => FieldShape | undefined }
  /** A list of scalars without order, owned one by one. */
  | { readonly kind: 'set' }
  /** A list of objects with keys, owned one by one. */
  | {
      readonly kind: 'keyed'
      readonly keys: readonly string[]
      /** The values of keys that an item omits. */
      readonly defaults: Readonly<Record<string, unknown>>
      readonly item: FieldShape
    }

const atomic: FieldShape = { kind: 'atomic' }

/** The shape without a schema: maps are owned by member, lists as a whole. */
const deduced: FieldShape = { kind: 'map', member: (): FieldShape => deduced }

/** Schemas by reference, and the cached shapes of schemas. */
export interface ShapeSource {
  readonly schemas: Readonly<Record<string, Schema>>
  readonly known: WeakMap<Schema, FieldShape>
}

/** The shape of a value by its OpenAPI or structural schema. */
export function fieldShape(schema: Schema | undefined, source: ShapeSource): FieldShape {
  if (schema === undefined) return deduced
  let shape = source.known.get(schema)
  if (shape === undefined) {
    shape = shapeOf(resolvedSchema(schema, source.schemas), source)
    source.known.set(schema, shape)
  }
  return shape
}

function shapeOf(schema: Schema, source: ShapeSource): FieldShape {
  if (schema['type'] === 'array' || isJsonObject(schema['items'])) return listShape(schema, source)
  const isMap = schema['type'] === 'object' || isJsonObject(schema['properties'])
  if (!isMap) return schema['type'] === undefined && !isScalar(schema) ? deduced : atomic
  if (schema['x-kubernetes-map-type'] === 'atomic') return atomic
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>
  const additional = schema['additionalProperties']
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
  const rest = isJsonObject(additional) ? (additional as Schema) : undefined
  const isOpen = keepsUnknown || (rest === undefined && !isJsonObject(schema['properties']))
  return {
    kind: 'map',
    member: (name) => {
      if (Object.hasOwn(properties, name)) return fieldShape(properties[name], source)
      if (rest !== undefined) return fieldShape(rest, source)
      return isOpen ? deduced : undefined
    },
  }
}

const isScalar = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true ||
  schema['format'] !== undefined ||
  schema['oneOf'] !== undefined ||
  schema['anyOf'] !== undefined

function listShape(schema: Schema, source: ShapeSource): FieldShape {
  const items = schema['items'] as Schema | undefined
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { kind: 'set' }
    case 'map': {
      const keys = ((schema['x-kubernetes-list-map-keys'] ?? []) as string[]).toSorted()
      const properties =
        items === undefined ? {} : resolvedSchema(items, source.schemas)['properties']
      const defaults = keys.flatMap((key) => {
        const value = (properties as Record<string, Schema> | undefined)?.[key]?.['default']
        return value === undefined ? [] : [[key, value] as const]
      })
      const item = fieldShape(items, source)
      return { kind: 'keyed', keys, defaults: Object.fromEntries(defaults), item }
    }
    default:
      return atomic
  }
}
