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

/** A document under `/openapi/v3/<group version path>`, as far as it is used here. */
export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> }
}

/** OpenAPI documents by group version path: `api/v1`, `apis/apps/v1`. */
export type OpenApiDocuments = Readonly<Record<string, OpenApiDocument>>

const referencePrefix = '#/components/schemas/'

/**
 * The name of the definition that a schema refers to (`$ref`, or `allOf` with one `$ref`); `undefined` for other
 * schemas.
 */
export function definitionNameOf(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined)
  if (reference?.startsWith(referencePrefix) !== true) return undefined
  return reference.slice(referencePrefix.length)
}
