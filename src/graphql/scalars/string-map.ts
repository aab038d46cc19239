import { GraphQLScalarType } from 'graphql'

/** A map of strings, or of quantities, as it stands in the object. */
export const GraphQLStringMap: GraphQLScalarType = new GraphQLScalarType({
  name: 'StringMap',
  description:
    'A JSON object whose values are strings or quantities: labels, annotations, resource limits.',
  coerceOutputValue: (value) => value,
})
