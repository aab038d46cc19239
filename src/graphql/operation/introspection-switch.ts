import { BREAK, type DocumentNode, GraphQLError, visit } from 'graphql'
import type { ClientErrorCode } from './client-error.ts'

/** The error of a document that asks for the schema where that is not told; `undefined` for any other. */
export function refusedIntrospection(document: DocumentNode): GraphQLError | undefined {
  let refused: GraphQLError | undefined
  visit(document, {
    Field(node) {
      const { value: name } = node.name
      if (name !== '__schema' && name !== '__type') return undefined
      refused = new GraphQLError(`${name} is not answered here: introspection is off`, {
        nodes: node,
        extensions: {
          code: 'UNSUPPORTED' satisfies ClientErrorCode,
          hint: 'informerql schema prints the schema; the operator may turn introspection on',
        },
      })
      return BREAK
    },
  })
  return refused
}
