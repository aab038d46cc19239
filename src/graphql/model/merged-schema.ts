import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import { isRecord } from '../../lib/json.ts'
import { scalarFormOf } from './scalar-form.ts'

/** Deeper schemas are refused anyway. */
const maxDepth = 200

/** One schema for what two describe differently: the properties of both, anything at all where their types differ. */
export function mergedSchema(a: OpenApiSchema, b: OpenApiSchema, depth = 0): OpenApiSchema {
  if (a === b || depth > maxDepth || ![a, b].every(isRecord)) return a
  const [left, right] = [definitionNameOf(a), definitionNameOf(b)]
  if (left !== undefined || right !== undefined) return left === right ? a : anything(a)
  const [one, other] = [scalarFormOf(a), scalarFormOf(b)]
  if (one !== undefined || other !== undefined) {
    if (one === other) return a
    // A wider integer holds the other.
    if (one === 'int64' && other === 'int') return a
    return one === 'int' && other === 'int64' ? b : anything(a)
  }
  if (a.type !== b.type || isOpen(a) !== isOpen(b)) return anything(a)
  const required = a.required?.filter((name) => b.required?.includes(name) === true)
  return {
    ...a,
    ...(required === undefined ? {} : { required }),
    ...mergedItems(a, b, depth),
    ...mergedValues(a, b, depth),
    ...(a.properties === undefined && b.properties === undefined
      ? {}
      : { properties: mergedProperties(a.properties ?? {}, b.properties ?? {}, depth) }),
  }
}

type Properties = NonNullable<OpenApiSchema['properties']>

function mergedProperties(a: Properties, b: Properties, depth: number): Properties {
  const properties = new Map(Object.entries(a))
  for (const [name, schema] of Object.entries(b)) {
    const known = properties.get(name)
    properties.set(name, known === undefined ? schema : mergedSchema(known, schema, depth + 1))
  }
  return Object.fromEntries(properties)
}

function mergedItems(
  { items: a }: OpenApiSchema,
  { items: b }: OpenApiSchema,
  depth: number,
): OpenApiSchema {
  const items = a === undefined || b === undefined ? (a ?? b) : mergedSchema(a, b, depth + 1)
  return items === undefined ? {} : { items }
}

function mergedValues(
  { additionalProperties: a }: OpenApiSchema,
  { additionalProperties: b }: OpenApiSchema,
  depth: number,
): OpenApiSchema {
  if (typeof a === 'object' && typeof b === 'object') {
    return { additionalProperties: mergedSchema(a, b, depth + 1) }
  }
  const either = a ?? b
  return either === undefined ? {} : { additionalProperties: either }
}

function anything({ description }: OpenApiSchema): OpenApiSchema {
  return {
    ...(description === undefined ? {} : { description }),
    'x-kubernetes-preserve-unknown-fields': true,
  }
}

/** Whether there is no more to say of it than that it is an object, a map or anything. */
function isOpen(schema: OpenApiSchema): boolean {
  return schema.properties === undefined && schema.items === undefined
}
