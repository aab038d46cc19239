import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
}

const prefix = '#/components/schemas/'

/** What a real API server publishes about the shapes of its objects. */
export class OpenApiShape {
  readonly #schemas = new Map<string, Schema>()
  readonly #kinds = new Map<string, Schema>()

  constructor() {
    const file = gunzipSync(readFileSync('schema/captured/kubernetes-1.36.json.gz'))
    const { openapi } = JSON.parse(file.toString()) as {
      openapi: Record<
        string,
        { components: { schemas: Record<string, Schema & GroupVersionKind> } }
      >
    }
    for (const document of Object.values(openapi)) {
      for (const [name, schema] of Object.entries(document.components.schemas)) {
        this.#schemas.set(name, schema)
        for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
          this.#kinds.set(`${group === '' ? version : `${group}/${version}`} ${kind}`, schema)
      }
    }
  }

  /** What is wrong with an object, each as `path: problem`. */
  problems(object: { readonly apiVersion: string; readonly kind: string }): readonly string[] {
    const schema = this.#kinds.get(`${object.apiVersion} ${object.kind}`)
    if (schema === undefined) return [`no such kind: ${object.apiVersion} ${object.kind}`]
    return [...this.#check(object, schema, object.kind)]
  }

  *#check(value: unknown, given: Schema, path: string): Generator<string> {
    const schema = this.#resolve(given)
    const type = typeOf(value)
    // Kubernetes writes a time that is not set as null, where it writes it at all.
    if (type === 'null' && schema.format === 'date-time') return
    const wanted = schema.oneOf?.map((one) => one.type) ?? [schema.type]
    const fits = wanted.some(
      (one) => one === undefined || one === type || (one === 'number' && type === 'integer'),
    )
    if (!fits) {
      yield `${path}: ${type} instead of ${wanted.join(' or ')}`
      return
    }
    if (schema.format === 'date-time' && Number.isNaN(Date.parse(String(value))))
      yield `${path}: not a time: ${String(value)}`
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        yield* this.#check(item, schema.items ?? {}, `${path}[${index}]`)
    } else if (type === 'object') yield* this.#checkFields(value as object, schema, path)
  }

  *#checkFields(object: object, schema: Schema, path: string): Generator<string> {
    const { properties, additionalProperties, required = [] } = schema
    for (const name of required) if (!(name in object)) yield `${path}.${name}: missing`
    if (properties === undefined && additionalProperties === undefined) return
    for (const [name, value] of Object.entries(object)) {
      const field = properties?.[name] ?? additionalProperties
      if (field === undefined) yield `${path}.${name}: no such field`
      else yield* this.#check(value, field, `${path}.${name}`)
    }
  }

  #resolve(schema: Schema): Schema {
    if (schema.$ref !== undefined)
      return this.#resolve(this.#schemas.get(schema.$ref.slice(prefix.length)) ?? {})
    const [only] = schema.allOf ?? []
    return only === undefined ? schema : this.#resolve(only)
  }
}

interface GroupVersionKind {
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
