import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  Kind as NodeKind,
  visit,
} from 'graphql'

/** A syntax or validation error as BAD_USER_INPUT, naming the argument that it is about, where it is about one. */
export function requestError(error: GraphQLError, document?: DocumentNode): GraphQLError {
  const { message, nodes, source, positions, path } = error
  const [node] = nodes ?? []
  const argument =
    document === undefined || node === undefined ? undefined : argumentAt(document, node)
  const extensions = { code: 'BAD_USER_INPUT', ...(argument === undefined ? {} : { argument }) }
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}

/** The path of the argument that a node is, or is a part of: `first`, `where.phase.eq`. */
function argumentAt(document: DocumentNode, wanted: ASTNode): string | undefined {
  let found: string | undefined
  visit(document, {
    enter(node, _key, parent, _path, ancestors) {
      if (node !== wanted) return undefined
      // The parent is not yet among the ancestors.
      const line = [...ancestors, ...(parent === undefined ? [] : [parent]), node]
      const names = line.flatMap((one) => (isNamed(one) ? [one.name.value] : []))
      found = names.length === 0 ? undefined : names.join('.')
      return BREAK
    },
  })
  return found
}

function isNamed(
  node: ASTNode | readonly ASTNode[],
): node is Extract<ASTNode, { kind: typeof NodeKind.ARGUMENT | typeof NodeKind.OBJECT_FIELD }> {
  return 'kind' in node && (node.kind === NodeKind.ARGUMENT || node.kind === NodeKind.OBJECT_FIELD)
}
