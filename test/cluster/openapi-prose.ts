type Schema = Readonly<Record<string, unknown>>
type Schemas = Readonly<Record<string, Schema>>

/** As much of an OpenAPI v3 document as kube-apiserver writes and this repository reads. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components?: { readonly schemas?: Schemas }
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (
  record: Readonly<Record<string, unknown>>,
  map: (value: unknown) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))

/** Keywords by what stands under them: one schema, a list of schemas, schemas by name. */
const one = new Set(['additionalProperties', 'items', 'not'])
const list = new Set(['allOf', 'anyOf', 'oneOf'])
const named = new Set(['properties', 'patternProperties', 'definitions'])

const under = (keyword: string, value: unknown): unknown => {
  if (one.has(keyword)) return schemaWithoutProse(value)
  if (list.has(keyword) && Array.isArray(value)) return value.map(schemaWithoutProse)
  if (named.has(keyword) && isObject(value)) return mapValues(value, schemaWithoutProse)
  return value
}

/** Follows the schema keywords, so that a *property* called `description` stays. */
const schemaWithoutProse = (schema: unknown): unknown => {
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema).filter(([keyword]) => keyword !== 'description')
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, under(keyword, value)]))
}

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])

/** What an operation does to what kind, without its parameters and answers. */
const operationCore = (operation: unknown): object =>
  Object.fromEntries(
    Object.entries(isObject(operation) ? operation : {}).filter(
      ([key]) => key === 'x-kubernetes-action' || key === 'x-kubernetes-group-version-kind',
    ),
  )

/** The same document without descriptions, and with operations reduced to `x-kubernetes-action` and the kind. */
export const withoutProse = (document: OpenApiDocument): object => ({
  openapi: document.openapi,
  info: document.info,
  paths: mapValues(document.paths, (path) =>
    Object.fromEntries(
      Object.entries(isObject(path) ? path : {})
        .filter(([key]) => methods.has(key))
        .map(([method, operation]) => [method, operationCore(operation)]),
    ),
  ),
  components: { schemas: mapValues(document.components?.schemas ?? {}, schemaWithoutProse) },
})
