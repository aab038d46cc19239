import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { wellKnownResources } from '../relations/well-known-resources.ts'
import {
  capturedOpenApi,
  capturedResources,
  type OpenApiDocument,
  type OpenApiSchema,
} from './captured-cluster.ts'
import { schemaOf } from './served-schema.ts'

/** A schema in which everything has a description, as a server tells it: what has none in GraphQL then is the gateway's own. */
function described(schema: OpenApiSchema): OpenApiSchema {
  const { properties = {}, items, additionalProperties } = schema
  return {
    ...schema,
    description: 'Of the API.',
    ...(schema.properties === undefined ? {} : { properties: mapped(properties, described) }),
    ...(items === undefined ? {} : { items: described(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: described(additionalProperties) }
      : {}),
  }
}

const mapped = <T>(of: Readonly<Record<string, T>>, by: (part: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(of).map(([name, part]) => [name, by(part)]))

const describedDocument = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  components: {
    ...document.components,
    schemas: mapped(document.components?.schemas ?? {}, described),
  },
})

async function servedSchema(): Promise<GraphQLSchema> {
  const resources = [...capturedResources, ...wellKnownResources]
  const openapi = mapped(capturedOpenApi, describedDocument)
  return (await schemaOf({ resources, openapi }, { secretData: true })).schema
}

interface Named {
  readonly name: string
  readonly description?: string | null | undefined
}

/** Everything of a type that a reader may ask about, by its name in full. */
function partsOf(type: GraphQLNamedType): readonly (readonly [name: string, part: Named])[] {
  const own = (part: Named): readonly [string, Named] => [`${type.name}.${part.name}`, part]
  if (isEnumType(type)) return type.getValues().map(own)
  if (isInputObjectType(type)) return Object.values(type.getFields()).map(own)
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  return Object.values(type.getFields()).flatMap((field) => [
    own(field),
    ...field.args.map((part) => [`${type.name}.${field.name}(${part.name}:)`, part] as const),
  ])
}

describe("everything that is the gateway's own says what it is", async () => {
  const schema = await servedSchema()
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))

  it('types, fields, arguments, and the values of enumerations', () => {
    const silent = types
      .flatMap((type) => [[type.name, type] as const, ...partsOf(type)])
      .filter(([, { description }]) => (description ?? '').trim() === '')
      .map(([name]) => name)
    expect(silent).toEqual([])
  })

  it('in sentences', () => {
    const others = types
      .flatMap((type) => [[type.name, type] as const, ...partsOf(type)])
      .filter(([, { description }]) => !/[.:?)`…]$/.test((description ?? '').trim()))
      .map(([name, { description }]) => `${name}: ${description}`)
    expect(others).toEqual([])
  })

  it('directives', () => {
    const silent = schema.getDirectives().filter(({ description }) => !description)
    expect(silent.map(({ name }) => name)).toEqual([])
  })
})
