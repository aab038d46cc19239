import { GraphQLScalarType } from 'graphql'

/** A map of strings, as it stands in the object. */
export const GraphQLStringMap: GraphQLScalarType = new GraphQLScalarType({
  name: 'StringMap',
  description: 'A JSON object whose values are strings: labels, annotations, node selectors.',
  coerceOutputValue: (value) => value,
})

/** A map of quantities, as it stands in the object. */
export const GraphQLQuantityMap: GraphQLScalarType = new GraphQLScalarType({
  name: 'QuantityMap',
  description:
    'A JSON object whose values are Kubernetes quantities, each a string or a number: requests, limits, capacity.',
  coerceOutputValue: (value) => value,
})
