import {
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  lexicographicSortSchema,
} from 'graphql'

interface Described {
  description: string | null | undefined
}

/** The schema without its descriptions, but for those of the scalars. The one that is given keeps them. */
export function withoutDescriptions(schema: GraphQLSchema): GraphQLSchema {
  // All types but scalars are copied by it; types of filters and enumerations are shared by schemas.
  const copy = lexicographicSortSchema(schema)
  for (const type of Object.values(copy.getTypeMap())) {
    if (isIntrospectionType(type) || isScalarType(type)) continue
    silence(type)
    if (isEnumType(type)) type.getValues().forEach(silence)
    if (isInputObjectType(type)) Object.values(type.getFields()).forEach(silence)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields())) {
      silence(field)
      field.args.forEach(silence)
    }
  }
  return copy
}

function silence(described: Described): void {
  described.description = undefined
}
