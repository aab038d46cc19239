import { isJsonObject } from '../../lib/json.ts'
import { type CapturedApi, kindSchema } from '../api/captured-api.ts'
import { resolvedSchema, type Schema, type Schemas } from '../api/schema.ts'
import type { ServedResource } from '../api/served-resource.ts'

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

export const atomic: FieldShape = { kind: 'atomic' }

/** The shape without a schema: maps are owned by member, lists as a whole. */
const deduced: FieldShape = { kind: 'map', member: (): FieldShape => deduced }

export function kindShape(captured: CapturedApi, served: ServedResource): FieldShape {
  const { root, schemas } = kindSchema(captured, served)
  return fieldShape(root, schemas)
}

const known = new WeakMap<Schema, FieldShape>()

function fieldShape(schema: Schema | undefined, schemas: Schemas): FieldShape {
  if (schema === undefined) return deduced
  let shape = known.get(schema)
  if (shape === undefined) {
    shape = shapeOf(resolvedSchema(schema, schemas), schemas)
    known.set(schema, shape)
  }
  return shape
}

function shapeOf(schema: Schema, schemas: Schemas): FieldShape {
  const { additionalProperties, items, properties, type } = schema
  if (type === 'array' || items !== undefined) return listShape(schema, schemas)
  const isMap = type === 'object' || properties !== undefined
  if (!isMap) return type === undefined && !isScalar(schema) ? deduced : atomic
  if (schema['x-kubernetes-map-type'] === 'atomic') return atomic
  const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isOpen = keepsUnknown || (rest === undefined && properties === undefined)
  return {
    kind: 'map',
    member: (name) => {
      if (Object.hasOwn(properties ?? {}, name)) return fieldShape(properties?.[name], schemas)
      if (rest !== undefined) return fieldShape(rest, schemas)
      return isOpen ? deduced : undefined
    },
  }
}

const isScalar = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true ||
  schema.format !== undefined ||
  schema.oneOf !== undefined ||
  schema.anyOf !== undefined

function listShape(schema: Schema, schemas: Schemas): FieldShape {
  const { items } = schema
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return { kind: 'set' }
  if (type !== 'map') return atomic
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).toSorted()
  const { properties } = items === undefined ? {} : resolvedSchema(items, schemas)
  const defaults = keys.flatMap((key) => {
    const value = properties?.[key]?.default
    return value === undefined ? [] : [[key, value] as const]
  })
  return {
    kind: 'keyed',
    keys,
    defaults: Object.fromEntries(defaults),
    item: fieldShape(items, schemas),
  }
}

/** A part of a value that is owned on its own. */
interface Part {
  readonly value: unknown
  readonly shape: FieldShape
}

/**
 * The parts of a value that are owned one by one, by their names in `fieldsV1`: `f:name` is a member of a map, `k:{…}`
 * an item by its keys, `v:…` a value of a set. `undefined` for a value owned as a whole.
 */
export function partsOf(value: unknown, shape: FieldShape): Map<string, Part> | undefined {
  if (shape.kind === 'map' && isJsonObject(value)) {
    return new Map(
      Object.entries(value).map(([name, part]) => [
        `f:${name}`,
        { value: part, shape: shape.member(name) ?? atomic },
      ]),
    )
  }
  if (!Array.isArray(value)) return undefined
  if (shape.kind === 'set') {
    return new Map(
      value.map((item) => [`v:${JSON.stringify(item)}`, { value: item, shape: atomic }]),
    )
  }
  if (shape.kind !== 'keyed') return undefined
  const { keys, defaults, item: ofItem } = shape
  return new Map(
    value.map((item) => {
      const fields = isJsonObject(item) ? item : {}
      const key = Object.fromEntries(keys.map((name) => [name, fields[name] ?? defaults[name]]))
      return [`k:${JSON.stringify(key)}`, { value: item, shape: ofItem }]
    }),
  )
}
