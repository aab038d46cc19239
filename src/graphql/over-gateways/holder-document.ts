/*
 * The document that a holder is asked: one root field of the client's, with its own selection, further fields under aliases
 * of ours, and some arguments as variables of ours. It is the same text for every holder and every set of clusters, so that
 * each gateway parses and compiles it once.
 */

import {
  type ArgumentNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  Kind as NodeKind,
  type NameNode,
  type OperationDefinitionNode,
  parse,
  parseType,
  print,
  type SelectionSetNode,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
} from 'graphql'
import { fragmentsOf } from '../documents/selections.ts'

/** The beginning of all names of ours: aliases and variables. */
export const ownPrefix = 'informerql_'

interface HolderDocumentOptions {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly key: string
  /** All nodes that select the field. */
  readonly nodes: readonly FieldNode[]
  readonly field: GraphQLField<unknown, unknown>
  /** Fields to select as well, without braces. */
  readonly selects: string
  /** The arguments that the request gives by variables of ours, in place of those in `without`. */
  readonly replaced: readonly string[]
  readonly without: readonly string[]
}

/** The text to ask, and the client's variables that it uses. An argument `x` is the variable {@link ownPrefix} + `x`. */
export function holderDocument(of: HolderDocumentOptions): {
  readonly query: string
  readonly variables: ReadonlySet<string>
} {
  const { document, operation, key, nodes, field, replaced } = of
  const [first] = nodes
  if (first === undefined) throw new TypeError(`nothing selects ${key}`)
  const dropped = new Set([...of.without, ...replaced])
  const given = first.arguments?.filter(({ name }) => !dropped.has(name.value)) ?? []
  const own = replaced.map((name): [argument: string, variable: VariableNode] => [
    name,
    { kind: NodeKind.VARIABLE, name: nameNode(ownPrefix + name) },
  ])
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
  const asked = of.selects === '' ? [] : selectionsIn(of.selects).selections
  const root: FieldNode = {
    kind: NodeKind.FIELD,
    alias: nameNode(key),
    name: first.name,
    arguments: [
      ...given,
      ...own.map(([name, value]): ArgumentNode => ({
        kind: NodeKind.ARGUMENT,
        name: nameNode(name),
        value,
      })),
    ],
    selectionSet: { kind: NodeKind.SELECTION_SET, selections: [...selections, ...asked] },
  }
  const used = usedBy(root, fragmentsOf(document))
  const typeOf = new Map(field.args.map(({ name, type }) => [name, String(type)]))
  const definitions: DefinitionNode[] = [
    {
      ...operation,
      directives: [],
      variableDefinitions: [
        ...(operation.variableDefinitions ?? []).filter(({ variable }) =>
          used.variables.has(variable.name.value),
        ),
        ...own.map(([name, variable]): VariableDefinitionNode => ({
          kind: NodeKind.VARIABLE_DEFINITION,
          variable,
          type: parseType(typeOf.get(name) ?? 'String'),
        })),
      ],
      selectionSet: { kind: NodeKind.SELECTION_SET, selections: [root] },
    },
    ...used.fragments,
  ]
  const query = print({ kind: NodeKind.DOCUMENT, definitions })
  for (const name of replaced) used.variables.delete(ownPrefix + name)
  return { query, variables: used.variables }
}

function nameNode(value: string): NameNode {
  return { kind: NodeKind.NAME, value }
}

/** The fragments and variables of a field, directly or by fragments. */
function usedBy(
  field: FieldNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): { readonly fragments: readonly FragmentDefinitionNode[]; readonly variables: Set<string> } {
  const variables = new Set<string>()
  const found = new Set<FragmentDefinitionNode>()
  const look = (node: FieldNode | FragmentDefinitionNode): void => {
    visit(node, {
      Variable({ name }) {
        variables.add(name.value)
      },
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value)
        if (fragment === undefined || found.has(fragment)) return
        found.add(fragment)
        look(fragment)
      },
    })
  }
  look(field)
  return { fragments: [...found], variables }
}

function selectionsIn(text: string): SelectionSetNode {
  const [definition] = parse(`{${text}}`, { noLocation: true }).definitions
  if (definition?.kind !== NodeKind.OPERATION_DEFINITION) throw new TypeError(text)
  return definition.selectionSet
}
