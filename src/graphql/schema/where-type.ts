/*
 * The inputs of lists: `PodWhere` and `PodOrder` have a field for each index of the kind, and the filter also has one
 * for each relation. Filters of one type of index share their input.
 */

import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { type FilterOperator, operatorsOf } from '../../query/condition/filter.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { GraphQLDateTime, GraphQLInt64, GraphQLQuantity } from './scalars.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'
import {
  describeRelation,
  filteringRelations,
  isFilteredByUse,
  type Kind,
  usedByField,
} from '../model/kind.ts'
import { commonIndexes } from '../model/declared-indexes.ts'
import type { SchemaTypes } from './own-types.ts'

const descriptions: Readonly<Record<FilterOperator, string>> = {
  eq: 'Equals the value. Null is refused: `exists` finds objects without a value.',
  in: 'Is one of the values. An empty list matches no object.',
  not: 'The conditions do not hold. An object without a value matches.',
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
    description:
      'Conditions on the values of an index, all of which must hold. If an object has several values, one of them must meet each condition.',
    fields: () => operatorFields(type, value, () => filter),
  })
  return filter
}

export const stringFilter: GraphQLInputObjectType = filterType(
  'StringFilter',
  'string',
  GraphQLString,
)

const filters: Readonly<Record<Exclude<IndexType, 'healthStatus'>, GraphQLInputObjectType>> = {
  string: stringFilter,
  int: filterType('IntFilter', 'int', GraphQLInt64),
  dateTime: filterType('DateTimeFilter', 'dateTime', GraphQLDateTime),
  quantity: filterType('QuantityFilter', 'quantity', GraphQLQuantity),
  boolean: filterType('BooleanFilter', 'boolean', GraphQLBoolean),
}

const labelFilter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'LabelFilter',
  description:
    'Conditions on the value of one label, all of which must hold: `{ key: "app", eq: "web" }`.',
  fields: () => ({
    key: { type: new GraphQLNonNull(GraphQLString), description: 'The label: `app`.' },
    ...operatorFields('string', GraphQLString, () => stringFilter),
  }),
})

const labels = new GraphQLList(new GraphQLNonNull(labelFilter))

/** What the values of an index are, in a sentence: its own description, or else one made from its paths. */
export function describeIndex({ name, paths, reduce, description }: IndexDefinition): string {
  if (description !== undefined) return description
  if (paths.length === 0) return `What the function \`${name}\` of the gateway computes.`
  const places = paths.map((path) => `\`${path}\``).join(', ')
  if (reduce === 'sum') return `The sum of ${places} of the object.`
  if (reduce === 'first') return `The first of ${places} of the object.`
  return `${places} of the object.`
}

/** `PodWhere`: one field per index of the kind, one per relation, and `labels`, `and`, `or`, `not`. */
export function buildWhereType(kind: Kind, types: SchemaTypes): GraphQLInputObjectType {
  return whereOf(kind.typeName, kind.resource.resource, types, kind.indexes, () =>
    relatedWhereFields(kind, types),
  )
}

/** `KubernetesObjectWhere`: one field per index that every kind has, and `labels`, `and`, `or`, `not`. */
export function objectWhereType(types: SchemaTypes): GraphQLInputObjectType {
  return whereOf('KubernetesObject', 'objects of any kind', types, commonIndexes)
}

function whereOf(
  typeName: string,
  objects: string,
  { own }: SchemaTypes,
  indexes: readonly IndexDefinition[],
  related: () => GraphQLInputFieldConfigMap = () => ({}),
): GraphQLInputObjectType {
  const typeOf = ({ type }: IndexDefinition): GraphQLInputObjectType =>
    type === 'healthStatus' ? own.input('HealthStatusFilter') : filters[type]
  const where: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${typeName}Where`,
    description: `Conditions on ${objects}, all of which must hold. Indexes answer them.`,
    fields() {
      const list = new GraphQLList(new GraphQLNonNull(where))
      return {
        ...Object.fromEntries(
          indexes.map((index) => [
            index.name,
            { type: typeOf(index), description: describeIndex(index) },
          ]),
        ),
        ...related(),
        labels: { type: labels, description: 'Conditions on labels, all of which must hold.' },
        and: { type: list, description: 'All of these hold.' },
        or: { type: list, description: 'At least one of these holds.' },
        not: { type: where, description: 'This does not hold.' },
      }
    },
  })
  return where
}

/** The fields of `where` on related objects: one for each relation. */
function relatedWhereFields(kind: Kind, types: SchemaTypes): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const relation of filteringRelations(kind)) {
    const { definition, many } = relation
    const { name } = definition
    if (!types.hasField(kind.typeName, name)) continue
    const to = types.kind(definition.to)
    fields[name] = {
      type: types.own.input(many ? 'KindWhereMany' : 'KindWhereOne', to),
      description: describeRelation(relation, to),
    }
  }
  if (isFilteredByUse(kind) && types.hasField(kind.typeName, usedByField)) {
    const description = 'The objects that use it and have not ended.'
    fields[usedByField] = { type: types.own.input('UsedByWhereMany'), description }
  }
  return fields
}

/** The direction of an order. */
export const sortDirection: GraphQLEnumType = new GraphQLEnumType({
  name: 'SortDirection',
  description: 'The direction of an order. Objects without a value come last in both.',
  values: {
    ASC: { description: 'The smallest first.' },
    DESC: { description: 'The largest first.' },
  },
})

/** `PodOrder`: one key of an order, which is an index of the kind. */
export function buildOrderType({ typeName, resource, indexes }: Kind): GraphQLInputObjectType {
  return orderOf(typeName, `${resource.resource}. Equal objects are ordered by`, indexes)
}

/** `KubernetesObjectOrder`: one key of an order, which is an index that every kind has. */
export const objectOrderType: GraphQLInputObjectType = orderOf(
  'KubernetesObject',
  'objects of any kind. Equal objects are ordered by cluster, type,',
  commonIndexes,
  {
    age: {
      type: sortDirection,
      description: 'The age of the object: with ASC, the youngest first.',
    },
  },
)

function orderOf(
  typeName: string,
  ordered: string,
  indexes: readonly IndexDefinition[],
  further: GraphQLInputFieldConfigMap = {},
): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${typeName}Order`,
    description: `One key of an order of ${ordered} namespace and name.`,
    isOneOf: true,
    fields: () => ({
      ...Object.fromEntries(
        indexes.map((index) => [
          index.name,
          { type: sortDirection, description: describeIndex(index) },
        ]),
      ),
      ...further,
    }),
  })
}
