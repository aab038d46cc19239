/*
 * The scalars of values in objects. Output is the value of the object, unchanged; input is checked. Numbers that a double
 * cannot hold keep their digits: the codec keeps them as `JSON.rawJSON`, and `Int64` and the exact `Float` here let them
 * pass. graphql-js knows only its own `Float`, so copies and extensions of a schema go through the helpers here.
 */

import {
  type ConstValueNode,
  type DocumentNode,
  extendSchema,
  getNamedType,
  GraphQLError,
  GraphQLFloat,
  GraphQLScalarType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  print,
} from 'graphql'
import { isRawJson, rawJson } from '../../lib/json.ts'
import { parseQuantity } from '../../kubernetes/decimal.ts'
import { instantKey } from '../../query/index/index-key.ts'

const unchanged = (value: unknown): unknown => value

/** A moment, RFC 3339. Output is the text of the object, with its own precision. */
export const GraphQLDateTime: GraphQLScalarType = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A moment, as RFC 3339 writes it: "2026-01-31T12:00:00Z".',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  coerceOutputValue: unchanged,
  coerceInputValue: (value) => dateTimeInput(value),
  coerceInputLiteral: (node: ConstValueNode) =>
    dateTimeInput(node.kind === Kind.STRING ? node.value : print(node), node),
})

function dateTimeInput(value: unknown, node?: ConstValueNode): unknown {
  if (instantKey(value) !== undefined) return value
  throw inputError(
    `DateTime cannot represent ${JSON.stringify(value)}: write it like "2026-01-31T12:00:00Z"`,
    node,
  )
}

/** A Kubernetes `resource.Quantity`. Output is the value of the object; input is a string or a number. */
export const GraphQLQuantity: GraphQLScalarType = new GraphQLScalarType({
  name: 'Quantity',
  description: 'A Kubernetes quantity, as the object has it: "500m", "1.5Gi", 2.',
  coerceOutputValue: unchanged,
  coerceInputValue: (value) => quantityInput(value),
  coerceInputLiteral(node: ConstValueNode) {
    if (node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT)
      return quantityInput(node.value, node)
    throw inputError('Quantity is a string or a number', node)
  },
})

function quantityInput(value: unknown, node?: ConstValueNode): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text === 'string' && parseQuantity(text) !== undefined) return text
  throw inputError(
    `Quantity cannot represent ${JSON.stringify(value)}: write it like "500m" or "1.5Gi"`,
    node,
  )
}

const digits = /^-?\d{1,19}$/
const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

/**
 * A 64-bit integer. Output is a JSON number with the server's digits. Beyond 2^53 the value is an object made by
 * `JSON.rawJSON`, which `JSON.stringify` writes digit by digit. Input is a number or a string of decimal digits; resolvers
 * receive a value beyond 2^53 as such a string.
 */
export const GraphQLInt64: GraphQLScalarType = new GraphQLScalarType({
  name: 'Int64',
  description:
    'A 64-bit integer: a JSON number, never rounded. Input may also be a string of decimal digits, for clients whose numbers end at 2^53.',
  coerceOutputValue(value: unknown) {
    if (typeof value === 'number' && Number.isInteger(value)) return value
    if (typeof value === 'bigint') return rawJson(String(value))
    if (isRawJson(value)) return value
    throw new GraphQLError(`Int64 cannot represent ${JSON.stringify(value)}`)
  },
  coerceInputValue(value: unknown) {
    if (Number.isSafeInteger(value)) return value
    if (typeof value === 'number')
      throw inputError(`Int64 cannot represent ${value} exactly: write it as a string of digits`)
    if (typeof value === 'string') return int64Input(value)
    throw notInteger(JSON.stringify(value))
  },
  coerceInputLiteral(node: ConstValueNode) {
    if (node.kind === Kind.INT || node.kind === Kind.STRING) return int64Input(node.value, node)
    throw notInteger('this value', node)
  },
})

function int64Input(text: string, node?: ConstValueNode): number | string {
  if (!digits.test(text)) throw notInteger(JSON.stringify(text), node)
  const value = BigInt(text)
  if (value < least || value > most) throw notInteger(text, node)
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

function notInteger(text: string, node?: ConstValueNode): GraphQLError {
  return inputError(`Int64 cannot represent ${text}: it is not a 64-bit integer`, node)
}

function inputError(message: string, node?: ConstValueNode): GraphQLError {
  return new GraphQLError(message, node === undefined ? {} : { nodes: node })
}

/** GraphQL's `Float`, except that a `JSON.rawJSON` value keeps its digits. */
export const GraphQLExactFloat: GraphQLScalarType = new GraphQLScalarType({
  ...GraphQLFloat.toConfig(),
  coerceOutputValue: (value) => (isRawJson(value) ? value : GraphQLFloat.coerceOutputValue(value)),
})

/** A copy of a schema in the order of names. It shares the scalars, but has GraphQL's own `Float`. */
export function sortedSchema(schema: GraphQLSchema): GraphQLSchema {
  return lexicographicSortSchema(withoutExactFloat(schema))
}

/**
 * A schema that can be copied. graphql-js gives all fields of a copy its own Float, and one schema cannot have two types
 * of this name.
 */
function withoutExactFloat(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig()
  const types = config.types.filter((type) => type !== GraphQLExactFloat)
  const toConfig = { value: () => ({ ...config, types }) }
  return Object.create(schema, { toConfig }) as GraphQLSchema
}

/** Extends a schema by SDL, as `extendSchema` of graphql-js does. Floats keep their digits. */
export function extendedBySdl(schema: GraphQLSchema, document: DocumentNode): GraphQLSchema {
  const extended = extendSchema(withoutExactFloat(schema), document)
  for (const type of Object.values(schema.getTypeMap())) {
    const copy = extended.getType(type.name)
    if (!isObjectType(type) || !isObjectType(copy)) continue
    const copies = copy.getFields()
    for (const field of Object.values(type.getFields())) {
      const own = copies[field.name]
      // The original type of the field, with its wrappers, has the exact Float.
      if (own !== undefined && getNamedType(field.type) === GraphQLExactFloat) own.type = field.type
    }
  }
  return extended
}

function plainScalar(name: string, description: string): GraphQLScalarType {
  return new GraphQLScalarType({ name, description, coerceOutputValue: unchanged })
}

export const GraphQLIntOrString: GraphQLScalarType = plainScalar(
  'IntOrString',
  'A number or a string, as the object has it: 80, "http", "25%".',
)

/** Any JSON value as the server sent it; numbers beyond 2^53 keep their digits (`JSON.rawJSON`). */
export const GraphQLJson: GraphQLScalarType = plainScalar(
  'JSON',
  'Any JSON value, for the parts of an object that have no schema or a recursive one.',
)

export const GraphQLStringMap: GraphQLScalarType = plainScalar(
  'StringMap',
  'A JSON object whose values are strings: labels, annotations, node selectors.',
)

export const GraphQLQuantityMap: GraphQLScalarType = plainScalar(
  'QuantityMap',
  'A JSON object whose values are Kubernetes quantities, each a string or a number: requests, limits, capacity.',
)
