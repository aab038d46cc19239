import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql'

/** The schema as SDL, in the order of the names, so that two versions of it can be compared line by line. */
export function printSchemaSdl(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
