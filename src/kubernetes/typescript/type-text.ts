import { definitionNameOf, type OpenApiSchema } from '../open-api.ts'

/** A type that is written by hand: generated types import it. */
export type KnownTypeName =
  | 'Base64'
  | 'Int64'
  | 'IntOrString'
  | 'Json'
  | 'JsonObject'
  | 'ObjectMeta'
  | 'OpenEnum'
  | 'Resource'
  | 'Time'
  | 'Unstructured'

/** What the text of a type refers to, seen from one place of a schema. */
export interface References {
  /** Notes that a type written by hand is used. Returns its name. */
  known(name: KnownTypeName): string
  /** The text of a definition that the schema refers to. */
  definition(name: string): string
  /** The text of an object with properties. */
  object(schema: OpenApiSchema): string
  /** The text of a string that has one of these values, written as literals. */
  values(literals: readonly string[]): string
  /** The references from within the items or values of the schema. */
  inner(step: string): References
  /** Throws: the schema has no type. */
  refuse(schema: OpenApiSchema, problem: string): never
}

/** The TypeScript type of a schema. */
export function typeText(schema: OpenApiSchema, to: References): string {
  const definition = definitionNameOf(schema)
  if (definition !== undefined) return to.definition(definition)
  if (schema['x-kubernetes-int-or-string'] === true) return to.known('IntOrString')
  const literals = literalsOf(schema)
  switch (schema.type) {
    case 'string':
      if (literals !== undefined) return to.values(literals)
      if (schema.format === 'byte') return to.known('Base64')
      return schema.format === 'date-time' ? to.known('Time') : 'string'
    case 'integer':
    case 'number':
      if (literals !== undefined) return literals.join(' | ')
      return isLong(schema) ? to.known('Int64') : 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return listText(nullableText(schema.items ?? {}, to.inner('items')))
    case 'object':
      return objectText(schema, to)
    case undefined:
      if (schema['x-kubernetes-preserve-unknown-fields'] === true) return to.known('Json')
      return to.refuse(schema, 'it has no type')
    default:
      return to.refuse(schema, `it has the type ${JSON.stringify(schema.type)}`)
  }
}

/** The type of a schema, with `null` where the schema allows it. */
export function nullableText(schema: OpenApiSchema, to: References): string {
  const text = typeText(schema, to)
  return schema.nullable === true && !text.endsWith('null') ? `${text} | null` : text
}

export function listText(item: string): string {
  return /[|&]|^readonly /.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`
}

/** A member of an object type. */
export function memberText(name: string, isOptional: boolean, type: string): string {
  return `readonly ${nameText(name)}${isOptional ? '?' : ''}: ${type}`
}

/** A property name: quoted unless it is an identifier. */
export function nameText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : stringText(name)
}

/** A string literal in single quotes. */
export function stringText(value: string): string {
  const inner = JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
  return `'${inner.replaceAll("'", String.raw`\'`)}'`
}

/** A doc comment around a text that may hold anything; `''` for an empty text. */
export function commentText(text: string, indent = ''): string {
  const lines = text
    .replaceAll('*/', String.raw`*\/`)
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
    .split('\n')
    .map((line) => line.trimEnd())
  while (lines.at(-1) === '') lines.pop()
  while (lines[0] === '') lines.shift()
  const [only = ''] = lines
  if (lines.length === 0) return ''
  if (lines.length === 1) return `${indent}/** ${only.trimStart()} */\n`
  const body = lines.map((line) => (line === '' ? `${indent} *\n` : `${indent} * ${line}\n`))
  return `${indent}/**\n${body.join('')}${indent} */\n`
}

function objectText(schema: OpenApiSchema, to: References): string {
  if (schema['x-kubernetes-embedded-resource'] === true) return to.known('Unstructured')
  const { additionalProperties, properties } = schema
  if (properties !== undefined && Object.keys(properties).length > 0) return to.object(schema)
  if (typeof additionalProperties !== 'object') return to.known('JsonObject')
  return `Readonly<Record<string, ${nullableText(additionalProperties, to.inner('values'))}>>`
}

/** The allowed values as literals; `undefined` unless all are strings, numbers or null. */
function literalsOf({ enum: values }: OpenApiSchema): readonly string[] | undefined {
  if (values === undefined || values.length === 0) return undefined
  if (!values.every(isPlain)) return undefined
  const literals = values.map((value) =>
    typeof value === 'string' ? stringText(value) : String(value),
  )
  return [...new Set(literals)]
}

const isPlain = (value: unknown): value is string | number | null =>
  typeof value === 'string' || Number.isFinite(value) || value === null

/** Whether an integer may have more digits than a double holds. */
function isLong({ format, maximum, minimum }: OpenApiSchema): boolean {
  const isBounded =
    maximum !== undefined &&
    minimum !== undefined &&
    maximum <= Number.MAX_SAFE_INTEGER &&
    minimum >= Number.MIN_SAFE_INTEGER
  return format === 'int64' && !isBounded
}
