import { GraphQLError, GraphQLScalarType, Kind, type ConstValueNode } from 'graphql'
import { parseQuantity } from '../../query/index/decimal.ts'

/** A Kubernetes `resource.Quantity`. Output as it stands in the object; input a string or a number. */
export const GraphQLQuantity: GraphQLScalarType = new GraphQLScalarType({
  name: 'Quantity',
  description: 'A Kubernetes quantity, as the object has it: "500m", "1.5Gi", 2.',
  coerceOutputValue: (value) => value,
  coerceInputValue: (value) => toInput(value),
  coerceInputLiteral(node: ConstValueNode) {
    if (node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT)
      return toInput(node.value, node)
    throw new GraphQLError('Quantity is a string or a number', { nodes: node })
  },
})

function toInput(value: unknown, node?: ConstValueNode): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || parseQuantity(text) === undefined)
    throw new GraphQLError(
      `Quantity cannot represent ${JSON.stringify(value)}: write it like "500m" or "1.5Gi"`,
      node === undefined ? {} : { nodes: node },
    )
  return text
}
