import { GraphQLFloat, GraphQLScalarType } from 'graphql'
import { isRawJson } from '../../lib/json.ts'

/**
 * GraphQL's own Float, but for numbers whose digits a double cannot hold: the codec keeps those as `JSON.rawJSON`, and
 * they are written digit by digit.
 */
export const GraphQLExactFloat: GraphQLScalarType = new GraphQLScalarType({
  ...GraphQLFloat.toConfig(),
  coerceOutputValue: (value) => (isRawJson(value) ? value : GraphQLFloat.coerceOutputValue(value)),
})
