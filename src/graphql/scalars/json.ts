import { GraphQLScalarType } from 'graphql'

/** Any JSON value, exactly as the server sent it: numbers beyond 2^53 keep their digits (`JSON.rawJSON`). */
export const GraphQLJson: GraphQLScalarType = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value, for the parts of an object that have no schema or a recursive one.',
  coerceOutputValue: (value) => value,
  coerceInputValue: (value) => value,
})
