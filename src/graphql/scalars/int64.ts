import { GraphQLError, GraphQLScalarType, Kind, type ConstValueNode } from 'graphql'
import { isRawJson, rawJson } from '../../lib/json.ts'

const digits = /^-?\d{1,19}$/
const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

/**
 * A 64-bit integer. On output a JSON number with the server's own digits, beyond 2^53 too: there the value is an object
 * made by `JSON.rawJSON`, which `JSON.stringify` writes digit by digit. As input a number or a string of decimal digits; a
 * value beyond 2^53 reaches the resolvers as such a string.
 */
export const GraphQLInt64: GraphQLScalarType = new GraphQLScalarType({
  name: 'Int64',
  description:
    'A 64-bit integer: a JSON number, never rounded. Input may also be a string of decimal digits, for clients whose numbers end at 2^53.',
  coerceOutputValue: toOutput,
  coerceInputValue: toInput,
  coerceInputLiteral(node: ConstValueNode) {
    if (node.kind === Kind.INT || node.kind === Kind.STRING) return parseDigits(node.value, node)
    throw notInteger('this value', node)
  },
})

function toOutput(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'bigint') return rawJson(String(value))
  if (isRawJson(value)) return value
  throw new GraphQLError(`Int64 cannot represent ${JSON.stringify(value)}`)
}

function toInput(value: unknown): number | string {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value
    throw new GraphQLError(
      `Int64 cannot represent ${value} exactly: write it as a string of digits`,
    )
  }
  if (typeof value === 'string') return parseDigits(value)
  throw notInteger(JSON.stringify(value))
}

function parseDigits(text: string, node?: ConstValueNode): number | string {
  if (!digits.test(text)) throw notInteger(JSON.stringify(text), node)
  const value = BigInt(text)
  if (value < least || value > most) throw notInteger(text, node)
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

function notInteger(text: string, node?: ConstValueNode): GraphQLError {
  return new GraphQLError(
    `Int64 cannot represent ${text}: it is not a 64-bit integer`,
    node === undefined ? {} : { nodes: node },
  )
}
