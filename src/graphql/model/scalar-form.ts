import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'

/** The scalars of single values. */
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

/** The pattern that controller-gen writes for the type Quantity. */
const quantityPattern = /^\^\(\\\+\|-\)\?\(\(\[0-9\]\+/

/** The scalar of a schema; `undefined` for objects, lists and open schemas. */
export function scalarFormOf(schema: OpenApiSchema): SchemaScalar | undefined {
  const definition = definitionNameOf(schema)
  // Older servers describe these definitions by other keywords.
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
    default:
      return undefined
  }
}
