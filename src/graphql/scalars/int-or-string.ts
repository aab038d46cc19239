import { GraphQLScalarType } from 'graphql'

/** A number or a string, as it stands in the object: `80`, `"http"`, `"25%"`. */
export const GraphQLIntOrString: GraphQLScalarType = new GraphQLScalarType({
  name: 'IntOrString',
  description: 'A number or a string, as the object has it: 80, "http", "25%".',
  coerceOutputValue: (value) => value,
})
