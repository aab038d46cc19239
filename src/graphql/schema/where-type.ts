import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql'
import { filterTypeOf, labelFilterType } from './filter-types.ts'
import type { Kind } from '../model/kind.ts'

const labels = new GraphQLList(new GraphQLNonNull(labelFilterType))

/** `PodWhere`: one field per index of the kind, and `labels`, `and`, `or`, `not`. */
export function buildWhereType(kind: Kind): GraphQLInputObjectType {
  const where: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${kind.typeName}Where`,
    description: `Conditions on ${kind.resource.resource}, all of which must hold. Each is answered by an index.`,
    fields(): GraphQLInputFieldConfigMap {
      const list = new GraphQLList(new GraphQLNonNull(where))
      const fields: GraphQLInputFieldConfigMap = {}
      for (const index of kind.indexes)
        fields[index.name] = {
          type: filterTypeOf(index.type),
          description: `The index of ${index.paths.join(', ')}.`,
        }
      return {
        ...fields,
        labels: {
          type: labels,
          description: 'Conditions on labels, all of which must hold.',
        },
        and: { type: list, description: 'All of these hold.' },
        or: { type: list, description: 'At least one of these holds.' },
        not: { type: where, description: 'This does not hold.' },
      }
    },
  })
  return where
}
