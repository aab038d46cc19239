import { GraphQLError, type GraphQLScalarType, isScalarType, parseConstValue } from 'graphql'
import { describe, expect, it } from 'vitest'
import { rawJson } from '../support/raw-json.ts'
import { resourceOf } from './captured-cluster.ts'
import { schemaOf, withBuiltIns } from './served-schema.ts'

// One kind has a number, which no built-in kind has.
const weighed = {
  'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Weight' }],
  properties: { spec: { type: 'number' } },
}
const { schema } = await schemaOf(
  withBuiltIns({
    resources: [resourceOf('example.com', 'Weight')],
    openapi: { 'apis/example.com/v1': { components: { schemas: { Weight: weighed } } } },
  }),
)
const scalarOf = (name: string): GraphQLScalarType => {
  const type = schema.getType(name)
  if (!isScalarType(type)) throw new Error(`there is no scalar ${name}`)
  return type
}
const GraphQLDateTime = scalarOf('DateTime')
const GraphQLExactFloat = scalarOf('Float')
const GraphQLInt64 = scalarOf('Int64')
const GraphQLQuantity = scalarOf('Quantity')

const literal = (scalar: GraphQLScalarType, text: string): unknown =>
  scalar.coerceInputLiteral?.(parseConstValue(text))

describe('Int64', () => {
  it.each([
    [7, '7'],
    [-9007199254740991, '-9007199254740991'],
    [rawJson('9223372036854775807'), '9223372036854775807'],
    [2n ** 63n - 1n, '9223372036854775807'],
  ])('writes the digits of %s', (value, digits) => {
    expect(JSON.stringify({ value: GraphQLInt64.coerceOutputValue(value) })).toBe(
      `{"value":${digits}}`,
    )
  })

  it.each(['7', 1.5, {}, true])('writes nothing that is not an integer: %j', (value) => {
    expect(() => GraphQLInt64.coerceOutputValue(value)).toThrow(GraphQLError)
  })

  it.each([
    [5, 5],
    ['5', 5],
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('reads %j', (value, expected) => {
    expect(GraphQLInt64.coerceInputValue(value)).toBe(expected)
    expect(literal(GraphQLInt64, JSON.stringify(value))).toBe(expected)
  })

  it('reads a literal beyond 2^53 digit by digit', () => {
    expect(literal(GraphQLInt64, '9007199254740993')).toBe('9007199254740993')
  })

  it.each([1.5, '1.5', '9223372036854775808', 'many', 2 ** 53, null, true])(
    'refuses %j',
    (value) => {
      expect(() => GraphQLInt64.coerceInputValue(value)).toThrow(GraphQLError)
    },
  )
})

describe('Quantity', () => {
  it('reads and writes quantities as they are written', () => {
    expect(GraphQLQuantity.coerceOutputValue('0.5')).toBe('0.5')
    expect(GraphQLQuantity.coerceOutputValue(2)).toBe(2)
    expect(GraphQLQuantity.coerceInputValue('1.5Gi')).toBe('1.5Gi')
    expect(GraphQLQuantity.coerceInputValue(2)).toBe('2')
    expect(literal(GraphQLQuantity, '0.5')).toBe('0.5')
  })

  it.each(['much', '', true, '5 Gi'])('refuses %j', (value) => {
    expect(() => GraphQLQuantity.coerceInputValue(value)).toThrow(GraphQLError)
  })
})

describe('DateTime', () => {
  it('reads moments of RFC 3339, and writes what the object has', () => {
    expect(GraphQLDateTime.coerceInputValue('2026-01-31T12:00:00.25+01:00')).toBe(
      '2026-01-31T12:00:00.25+01:00',
    )
    expect(GraphQLDateTime.coerceOutputValue('2026-01-31T12:00:00.000001Z')).toBe(
      '2026-01-31T12:00:00.000001Z',
    )
  })

  it.each(['yesterday', '2026-02-30T00:00:00Z', 5])('refuses %j', (value) => {
    expect(() => GraphQLDateTime.coerceInputValue(value)).toThrow(GraphQLError)
  })
})

describe('Float', () => {
  it('is the one of GraphQL, and keeps digits that a double does not hold', () => {
    expect(GraphQLExactFloat.name).toBe('Float')
    expect(GraphQLExactFloat.coerceOutputValue(1.5)).toBe(1.5)
    const value = GraphQLExactFloat.coerceOutputValue(rawJson('12345678901234567890'))
    expect(JSON.stringify(value)).toBe('12345678901234567890')
    expect(() => GraphQLExactFloat.coerceOutputValue('x')).toThrow(GraphQLError)
  })
})
