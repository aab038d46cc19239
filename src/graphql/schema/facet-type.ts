import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
import { GraphQLJson } from './scalars.ts'
import { ownFields } from './field-source.ts'

const count = new GraphQLNonNull(GraphQLInt)

/** `Facet` and `FacetValue`. Their sources are `Facet` and its values. */
export function buildFacetType(): GraphQLObjectType {
  const value = new GraphQLObjectType({
    name: 'FacetValue',
    description: 'One value of an index, and how many objects of the list have it.',
    fields: ownFields('facetValue', {
      value: {
        type: new GraphQLNonNull(GraphQLJson),
        description: 'A string, number or boolean, as the index has it.',
      },
      count: { type: count, description: 'The number of objects that have the value.' },
    }),
  })
  return new GraphQLObjectType({
    name: 'Facet',
    description: 'How the objects of a list are spread over the values of an index.',
    fields: ownFields('facet', {
      by: { type: new GraphQLNonNull(GraphQLString), description: 'The index or label.' },
      values: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(value))),
        description: 'The values that most objects have, most frequent first.',
      },
      distinctCount: {
        type: count,
        description: 'The number of values, those that are not shown included.',
      },
      missingCount: { type: count, description: 'The number of objects without a value.' },
    }),
  })
}
