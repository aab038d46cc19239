import { definitionNameOf, type OpenApiSchema } from '../../src/kubernetes/open-api.ts'
import { alternatives, type KnownType, knownTypes } from './known-types.ts'

/** A schema as far as the types read it. */
export type WireSchema = OpenApiSchema

/** What the text of a type refers to. */
export interface References {
  /** The name of a type that is written by hand. */
  known(type: KnownType): string
  /** The name of a type that is generated. */
  generated(definition: string): string
}

const scalar = (name: string): KnownType => ({ name, from: './scalars.ts' })

/** The TypeScript type of a schema. Throws for a schema that no Kubernetes API uses. */
export function typeText(schema: WireSchema, references: References): string {
  const definition = definitionNameOf(schema)
  if (definition !== undefined) return definitionText(definition, references)
  switch (schema.type) {
    case 'string':
      return stringText(schema, references)
    case 'integer':
      return schema.format === 'int64' ? references.known(scalar('Int64')) : 'number'
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return listText(typeText(schema.items ?? {}, references))
    case 'object':
      return objectText(schema, references)
    case undefined:
    default:
      throw new Error(`no type for the schema ${JSON.stringify(schema)}`)
  }
}

function definitionText(definition: string, references: References): string {
  const known = knownTypes[definition]
  if (known !== undefined) return references.known(known)
  const alternative = alternatives[definition]
  if (alternative === undefined) return references.generated(definition)
  const { or } = alternative
  const other = typeof or === 'string' ? or : listText(references.generated(or.listOf))
  return `${references.generated(alternative.definition)} | ${other}`
}

function stringText(schema: WireSchema, references: References): string {
  if (schema.format === 'byte') return references.known(scalar('Base64'))
  if (schema.format === 'date-time') return references.known(scalar('Time'))
  if (schema.enum === undefined) return 'string'
  const values = schema.enum.map((value) => `'${String(value)}'`).join(' | ')
  return `${references.known(scalar('OpenEnum'))}<${values}>`
}

function objectText(schema: WireSchema, references: References): string {
  if (typeof schema.additionalProperties === 'object') {
    return `Readonly<Record<string, ${typeText(schema.additionalProperties, references)}>>`
  }
  if (schema.properties !== undefined) throw new Error('an object without a name has properties')
  return references.known({ name: 'JsonObject', from: '../object.ts' })
}

function listText(item: string): string {
  return item.includes(' | ') ? `readonly (${item})[]` : `readonly ${item}[]`
}
