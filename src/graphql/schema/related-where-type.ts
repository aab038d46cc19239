import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import { usedByField } from '../model/kind.ts'
import { filteringRelations, isFilteredByUse } from '../model/kind.ts'
import { describeRelation } from './relation-description.ts'
import type { SchemaTypes } from './schema-types.ts'

/** The fields of a kind's `where` that are about other objects: one per relation. */
export function relatedWhereFields(kind: Kind, types: SchemaTypes): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const relation of filteringRelations(kind)) {
    const { definition, many } = relation
    const { name } = definition
    if (!types.hasField(kind.typeName, name)) continue
    const to = types.kind(definition.to)
    fields[name] = {
      type: many ? types.whereManyType(to) : types.whereOneType(to),
      description: describeRelation(relation),
    }
  }
  if (isFilteredByUse(kind) && types.hasField(kind.typeName, usedByField)) {
    const description = 'What makes use of it, as long as it has not ended.'
    fields[usedByField] = { type: types.usedByWhereMany, description }
  }
  return fields
}

/** `UsedByWhereMany`: conditions on what makes use of an object. */
export function buildUsedByWhereType(): GraphQLInputObjectType {
  const where = new GraphQLInputObjectType({
    name: 'UsedByWhere',
    description: 'Which of those that make use of an object count: all of them, with `{}`.',
    fields: {
      kinds: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
        description: 'Only those of these types.',
      },
    },
  })
  return new GraphQLInputObjectType({
    name: 'UsedByWhereMany',
    description: 'Conditions on what makes use of an object; all of them must hold.',
    fields: {
      some: { type: where, description: 'Something does.' },
      none: { type: where, description: 'Nothing does.' },
    },
  })
}

/** `PodWhereMany`: conditions on the pods that a relation leads to. */
export function buildWhereManyType(kind: Kind, types: SchemaTypes): GraphQLInputObjectType {
  const { resource } = kind.resource
  return new GraphQLInputObjectType({
    name: `${kind.typeName}WhereMany`,
    description: `Conditions on the ${resource} that a relation leads to, as far as they may be seen; all of them must hold.`,
    fields: () => ({
      some: { type: types.whereType(kind), description: 'There is one that meets this.' },
      none: {
        type: types.whereType(kind),
        description: 'There is none that meets this; with `{}`, none at all.',
      },
      every: {
        type: types.whereType(kind),
        description: 'There is none that does not meet this; so it is where there is none at all.',
      },
    }),
  })
}

/** `NodeWhereOne`: conditions on the node that a relation leads to. */
export function buildWhereOneType(kind: Kind, types: SchemaTypes): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${kind.typeName}WhereOne`,
    description: `Conditions on the ${kind.resource.kind} that a relation leads to; all of them must hold.`,
    fields: () => ({
      is: { type: types.whereType(kind), description: 'It is there, and meets this.' },
      isNot: {
        type: types.whereType(kind),
        description: 'It is not there, or does not meet this; with `{}`, it is not there.',
      },
    }),
  })
}
