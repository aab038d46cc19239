/** A schema of an OpenAPI v3 document, as far as kube-apiserver, CRDs and aggregated servers use the format. */
export interface OpenApiSchema {
  readonly $ref?: string
  readonly allOf?: readonly OpenApiSchema[]
  readonly type?: string
  /** `int32`, `int64`, `date-time`, `byte`, `int-or-string`, … */
  readonly format?: string
  readonly pattern?: string
  readonly maximum?: number
  readonly minimum?: number
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly deprecated?: boolean
  readonly nullable?: boolean
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly additionalProperties?: OpenApiSchema | boolean
  readonly items?: OpenApiSchema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-group-version-kind'?: readonly OpenApiGroupVersionKind[]
}

/** The kind that a schema describes. */
export interface OpenApiGroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What precedes the name of a definition in a `$ref`. */
export const referencePrefix = '#/components/schemas/'

/**
 * The name of the definition that a schema refers to (`$ref`, or `allOf` with one `$ref`); `undefined` for other
 * schemas.
 */
export function definitionNameOf(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined)
  if (reference?.startsWith(referencePrefix) !== true) return undefined
  return reference.slice(referencePrefix.length)
}

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

const scalarDefinitions: readonly (readonly [suffix: string, scalar: SchemaScalar])[] = [
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
    return scalarDefinitions.find(([suffix]) => definition.endsWith(suffix))?.[1]
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

export function hasProperties({ properties }: OpenApiSchema): boolean {
  return properties !== undefined && Object.keys(properties).length > 0
}
