import { GraphQLEnumType, type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { sourceOf } from './where-type.ts'

const direction = new GraphQLEnumType({
  name: 'SortDirection',
  description: 'Which way an order goes. Objects without a value come last either way.',
  values: {
    ASC: { description: 'The least first.' },
    DESC: { description: 'The greatest first.' },
  },
})

/** `PodOrder`: one key of an order, by one of the indexes of the kind. */
export function buildOrderType(kind: Kind): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${kind.typeName}Order`,
    description: `One key of an order of ${kind.resource.resource}. Among equals the order is that of namespace and name.`,
    isOneOf: true,
    fields: (): GraphQLInputFieldConfigMap =>
      Object.fromEntries(
        kind.indexes.map((index) => [
          index.name,
          { type: direction, description: `By ${sourceOf(index)}.` },
        ]),
      ),
  })
}
