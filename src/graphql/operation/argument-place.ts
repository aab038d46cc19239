import { type ASTNode, BREAK, type DocumentNode, Kind as NodeKind, visit } from 'graphql'

/** The path of the argument that a node is, or is a part of: `first`, `where.phase.eq`. */
export function argumentAt(document: DocumentNode, wanted: ASTNode): string | undefined {
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
