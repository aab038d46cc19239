import {
  type FieldNode,
  getArgumentValues,
  type GraphQLField,
  Kind as NodeKind,
  type ValueNode,
  type VariableValues,
} from 'graphql'
import type { ListRequest } from '../reads/list-read.ts'

const noVariables: VariableValues = { sources: {}, coerced: {} }

/** The arguments of one field of a document. Arguments without variables are coerced once for all requests. */
export class FieldArguments {
  readonly constant?: Readonly<Record<string, unknown>>
  /** The parsed request of a list with constant arguments. Its first read sets it; all requests of the plan share it. */
  request: ListRequest | undefined
  /** The coerced arguments by request variables: both the preparation and the read use them. */
  readonly #coerced = new WeakMap<VariableValues, Readonly<Record<string, unknown>>>()
  readonly #field: GraphQLField<unknown, unknown>
  readonly #node: FieldNode

  constructor(field: GraphQLField<unknown, unknown>, node: FieldNode) {
    this.#field = field
    this.#node = node
    if (node.arguments?.some(({ value }) => holdsVariable(value)) === true) return
    try {
      this.constant = getArgumentValues(field, node, noVariables)
    } catch {
      // Each request coerces the arguments again, and gets the error.
    }
  }

  /** Throws the GraphQLError of an argument that cannot be coerced. */
  coerce(variables: VariableValues): Readonly<Record<string, unknown>> {
    if (this.constant !== undefined) return this.constant
    let values = this.#coerced.get(variables)
    if (values === undefined) {
      values = getArgumentValues(this.#field, this.#node, variables)
      this.#coerced.set(variables, values)
    }
    return values
  }
}

function holdsVariable(value: ValueNode): boolean {
  switch (value.kind) {
    case NodeKind.VARIABLE:
      return true
    case NodeKind.LIST:
      return value.values.some(holdsVariable)
    case NodeKind.OBJECT:
      return value.fields.some((field) => holdsVariable(field.value))
    default:
      return false
  }
}
