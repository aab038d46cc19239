import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'

/** The scalars that a schema may be by itself; those made of several values are not among them. */
export type SchemaScalar =
  | 'string'
  | 'boolean'
  | 'int'
  | 'int64'
  | 'float'
  | 'dateTime'
  | 'quantity'
  | 'intOrString'

const definitions: readonly (readonly [suffix: string, scalar: SchemaScalar])[] = [
  ['.pkg.api.resource.Quantity', 'quantity'],
  ['.pkg.util.intstr.IntOrString', 'intOrString'],
  ['.pkg.apis.meta.v1.Time', 'dateTime'],
  ['.pkg.apis.meta.v1.MicroTime', 'dateTime'],
]

/** How the tools that generate CRDs from Go write the type Quantity. */
const quantityPattern = /^\^\(\\\+\|-\)\?\(\(\[0-9\]\+/

/** The scalar that a schema is; `undefined` for objects, lists and what may be anything. */
export function scalarFormOf(schema: OpenApiSchema): SchemaScalar | undefined {
  const definition = definitionNameOf(schema)
  // Scalars that have a definition of their own; an older server describes them by other keywords.
  if (definition !== undefined) {
    return definitions.find(([suffix]) => definition.endsWith(suffix))?.[1]
  }
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') {
    const isQuantity = schema.pattern !== undefined && quantityPattern.test(schema.pattern)
    return isQuantity ? 'quantity' : 'intOrString'
  }
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? 'dateTime' : 'string'
    case 'integer':
      return schema.format === 'int32' ? 'int' : 'int64'
    case 'number':
      return 'float'
    case 'boolean':
      return 'boolean'
    case undefined:
    default:
      return undefined
  }
}
