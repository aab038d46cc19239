import { type ConstValueNode, GraphQLError, GraphQLScalarType, Kind, print } from 'graphql'
import { instantKey } from '../../query/index/index-key.ts'

/** A moment, RFC 3339. Output as it stands in the object, with its own precision. */
export const GraphQLDateTime: GraphQLScalarType = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A moment, as RFC 3339 writes it: "2026-01-31T12:00:00Z".',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  coerceOutputValue: (value) => value,
  coerceInputValue: (value) => toInput(value),
  coerceInputLiteral: (node: ConstValueNode) =>
    toInput(node.kind === Kind.STRING ? node.value : print(node), node),
})

function toInput(value: unknown, node?: ConstValueNode): unknown {
  if (instantKey(value) !== undefined) return value
  throw new GraphQLError(
    `DateTime cannot represent ${JSON.stringify(value)}: write it like "2026-01-31T12:00:00Z"`,
    node === undefined ? {} : { nodes: node },
  )
}
