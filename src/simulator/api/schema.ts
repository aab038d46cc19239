import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'

/** A schema: of an OpenAPI v3 document, or the structural schema of a CustomResourceDefinition. */
export interface Schema extends OpenApiSchema {
  readonly default?: unknown
  readonly properties?: Schemas
  readonly additionalProperties?: boolean | Schema
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly not?: Schema
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic'
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-selectable-fields'?: readonly object[]
}

/** Schemas by name: those of a document, or the members of an object. */
export type Schemas = Readonly<Record<string, Schema>>

/** The schema of a member of an object; `undefined` if the schema does not declare the member. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties = {}, additionalProperties } = schema ?? {}
  if (Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** The schema itself, or the one that it refers to. */
export function resolvedSchema(schema: Schema, schemas: Schemas): Schema {
  const name = definitionNameOf(schema)
  return (name === undefined ? undefined : schemas[name]) ?? schema
}

/** The path of a value: member names and list positions. */
export type Path = readonly (string | number)[]

/** A path in Kubernetes' notation: `spec.items[2].name`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
