import {
  GraphQLBoolean,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import type { FilterableIndex } from '../../query/index/index-definition.ts'
import { GraphQLDateTime } from '../scalars/date-time.ts'
import { GraphQLInt64 } from '../scalars/int64.ts'
import { GraphQLQuantity } from '../scalars/quantity.ts'

interface FilterOptions {
  readonly name: string
  readonly value: GraphQLScalarType
  readonly ordered: boolean
  readonly startsWith?: boolean
}

function filterType({ name, value, ordered, startsWith }: FilterOptions): GraphQLInputObjectType {
  const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
    name,
    description: `Conditions on the values of an index, all of which must hold. Where an object has several values, one of them must meet a condition.`,
    fields(): GraphQLInputFieldConfigMap {
      return {
        eq: { type: value, description: 'Equals the value.' },
        in: {
          type: new GraphQLList(new GraphQLNonNull(value)),
          description: 'Is one of the values.',
        },
        exists: { type: GraphQLBoolean, description: 'Whether the object has a value at all.' },
        not: { type: filter, description: 'The conditions do not hold.' },
        ...(ordered
          ? {
              lt: { type: value, description: 'Is less than the value.' },
              lte: { type: value, description: 'Is less than the value or equals it.' },
              gt: { type: value, description: 'Is greater than the value.' },
              gte: { type: value, description: 'Is greater than the value or equals it.' },
            }
          : {}),
        ...(startsWith === true
          ? { startsWith: { type: value, description: 'Begins with the value.' } }
          : {}),
      }
    },
  })
  return filter
}

const stringFilter = filterType({ name: 'StringFilter', value: GraphQLString, ordered: false })
const orderedStringFilter = filterType({
  name: 'OrderedStringFilter',
  value: GraphQLString,
  ordered: true,
  startsWith: true,
})
const intFilter = filterType({ name: 'IntFilter', value: GraphQLInt64, ordered: true })
const dateTimeFilter = filterType({ name: 'DateTimeFilter', value: GraphQLDateTime, ordered: true })
const quantityFilter = filterType({ name: 'QuantityFilter', value: GraphQLQuantity, ordered: true })
const booleanFilter = filterType({ name: 'BooleanFilter', value: GraphQLBoolean, ordered: false })

/** The input type of the filters of an index. Has the operators that the index understands, and no others. */
export function filterTypeOf({ type, ordered }: FilterableIndex): GraphQLInputObjectType {
  switch (type) {
    case 'string':
      return ordered ? orderedStringFilter : stringFilter
    case 'int':
      return intFilter
    case 'dateTime':
      return dateTimeFilter
    case 'quantity':
      return quantityFilter
    case 'boolean':
      return booleanFilter
  }
}
