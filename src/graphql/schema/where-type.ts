import {
  GraphQLBoolean,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { type FilterOperator, operatorsOf } from '../../query/condition/filter-operator.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { GraphQLDateTime, GraphQLInt64, GraphQLQuantity } from './scalars.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'
import type { Kind } from '../model/kind.ts'
import { relatedWhereFields } from './related-where-type.ts'
import type { SchemaTypes } from './schema-types.ts'

const descriptions: Readonly<Record<FilterOperator, string>> = {
  eq: 'Equals the value. Null is refused: an object without a value is asked for by `exists`.',
  in: 'Is one of the values; with none of them, no object.',
  not: 'The conditions do not hold; so it is with an object that has no value.',
  exists: 'Whether the object has a value at all.',
  startsWith: 'Begins with the value.',
  endsWith: 'Ends with the value.',
  contains: 'Has the value in it.',
  lt: 'Is less than the value.',
  lte: 'Is less than the value or equals it.',
  gt: 'Is greater than the value.',
  gte: 'Is greater than the value or equals it.',
}

function operatorFields(
  type: IndexType,
  value: GraphQLScalarType,
  filter: () => GraphQLInputObjectType,
): GraphQLInputFieldConfigMap {
  const typeOf = (operator: FilterOperator): GraphQLInputFieldConfigMap[string]['type'] => {
    if (operator === 'in') return new GraphQLList(new GraphQLNonNull(value))
    if (operator === 'not') return filter()
    return operator === 'exists' ? GraphQLBoolean : value
  }
  return Object.fromEntries(
    operatorsOf({ type }).map((operator) => [
      operator,
      { type: typeOf(operator), description: descriptions[operator] },
    ]),
  )
}

function filterType(
  name: string,
  type: IndexType,
  value: GraphQLScalarType,
): GraphQLInputObjectType {
  const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
    name,
    description: `Conditions on the values of an index, all of which must hold. Where an object has several values, one of them must meet a condition.`,
    fields: () => operatorFields(type, value, () => filter),
  })
  return filter
}

const stringFilter = filterType('StringFilter', 'string', GraphQLString)

const filters: Readonly<Record<IndexType, GraphQLInputObjectType>> = {
  string: stringFilter,
  int: filterType('IntFilter', 'int', GraphQLInt64),
  dateTime: filterType('DateTimeFilter', 'dateTime', GraphQLDateTime),
  quantity: filterType('QuantityFilter', 'quantity', GraphQLQuantity),
  boolean: filterType('BooleanFilter', 'boolean', GraphQLBoolean),
}

/** The input type of the filters of an index: one for each type of values, with every operator that they have. */
function filterTypeOf(type: IndexType): GraphQLInputObjectType {
  return filters[type]
}

/** `LabelFilter`: conditions on the value of one label. */
const labelFilterType: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'LabelFilter',
  description:
    'Conditions on the value of one label, all of which must hold: `{ key: "app", eq: "web" }`.',
  fields: () => ({
    key: { type: new GraphQLNonNull(GraphQLString), description: 'The label: `app`.' },
    ...operatorFields('string', GraphQLString, () => stringFilter),
  }),
})

const labels = new GraphQLList(new GraphQLNonNull(labelFilterType))

/** What an index is made from, in words. */
export function sourceOf({ name, paths }: IndexDefinition): string {
  if (name === 'health') return 'the `status` of `health`'
  return paths.length === 0 ? "a function of the gateway's own" : paths.join(', ')
}

/** `PodWhere`: one field per index of the kind, one per relation, and `labels`, `and`, `or`, `not`. */
export function buildWhereType(kind: Kind, types: SchemaTypes): GraphQLInputObjectType {
  const where: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${kind.typeName}Where`,
    description: `Conditions on ${kind.resource.resource}, all of which must hold. Each is answered by indexes.`,
    fields(): GraphQLInputFieldConfigMap {
      const list = new GraphQLList(new GraphQLNonNull(where))
      const fields: GraphQLInputFieldConfigMap = {}
      for (const index of kind.indexes)
        fields[index.name] = {
          type: filterTypeOf(index.type),
          description: `The index of ${sourceOf(index)}.`,
        }
      return {
        ...fields,
        ...relatedWhereFields(kind, types),
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
