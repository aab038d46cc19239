/*
 * Finds the argument that an error is about, as a path (`where.phase.eq`): for a node of the document, and for the value
 * of a variable, where the first argument that uses the variable counts. graphql-js names only the variable.
 */

import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  Kind as NodeKind,
  visit,
} from 'graphql'

/** The path of the argument that contains a node: `first`, `where.phase.eq`. */
export function argumentAt(document: DocumentNode, wanted: ASTNode): string | undefined {
  let found: string | undefined
  visit(document, {
    enter(node, _key, parent, _path, ancestors) {
      if (node !== wanted) return undefined
      // `ancestors` does not contain the parent yet.
      const line = [...ancestors, ...(parent === undefined ? [] : [parent]), node]
      const names = line.flatMap((one) => (isNamed(one) ? [one.name.value] : []))
      found = names.length === 0 ? undefined : names.join('.')
      return BREAK
    },
  })
  return found
}

/** The most errors reported for the values of variables: graphql-js prints each wrong value with all its siblings. */
export const maxCoercionErrors = 5

const badVariable = /^Variable "\$(\w+)" has invalid value(?: at ([.[][^:]*))?: /

/** Adds to an error of a variable's value the argument that uses the variable. Returns other errors unchanged. */
export function variableError(error: GraphQLError, document: DocumentNode): GraphQLError {
  const { message, nodes, source, positions, extensions } = error
  const [, name, inner = ''] = badVariable.exec(message) ?? []
  const argument = name === undefined ? undefined : argumentOfVariable(document, name)
  if (argument === undefined) return error
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    extensions: { ...extensions, argument: argument + inner },
  })
}

function argumentOfVariable(document: DocumentNode, name: string): string | undefined {
  let argument: string | undefined
  visit(document, {
    VariableDefinition: () => false,
    Variable(node) {
      if (node.name.value !== name) return undefined
      argument = argumentAt(document, node)
      return argument === undefined ? undefined : BREAK
    },
  })
  return argument
}

function isNamed(
  node: ASTNode | readonly ASTNode[],
): node is Extract<ASTNode, { kind: typeof NodeKind.ARGUMENT | typeof NodeKind.OBJECT_FIELD }> {
  return 'kind' in node && (node.kind === NodeKind.ARGUMENT || node.kind === NodeKind.OBJECT_FIELD)
}
