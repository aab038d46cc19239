/*
 * How code reads the selections of one object: fields, and fragments with fields. `visitSelections` goes through them, each
 * fragment once, as GraphQL collects fields. The bounds of a document (`operation-documents.ts`) and the sizes of pages
 * (`reads/page-rows.ts`) do not use it: they compute a result for each fragment, and add it at every spread.
 */

import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind as NodeKind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

/** A type that has fields. */
export type FieldsType = GraphQLObjectType | GraphQLInterfaceType

/** The fragments that a document defines, by name. */
export function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === NodeKind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition)
    }
  }
  return fragments
}

/** The type that a fragment with this type condition selects from; `undefined` if it selects nothing. */
export function narrowedType(
  schema: GraphQLSchema,
  type: FieldsType,
  condition: string | undefined,
): FieldsType | undefined {
  if (condition === undefined || condition === type.name) return type
  const named = schema.getType(condition)
  if (isObjectType(type)) {
    return isInterfaceType(named) && schema.isSubType(named, type) ? type : undefined
  }
  return isObjectType(named) ? named : type
}

/** Whether `@skip` and `@include` keep a selection. `flag` returns the value of a variable, if it is known. */
export function isIncluded(
  { directives = [] }: SelectionNode,
  flag: (name: string) => boolean | undefined,
): boolean {
  for (const { name, arguments: args } of directives) {
    if (name.value !== 'skip' && name.value !== 'include') continue
    const value = args?.find((one) => one.name.value === 'if')?.value
    const holds =
      value?.kind === NodeKind.VARIABLE
        ? flag(value.name.value)
        : value?.kind === NodeKind.BOOLEAN && value.value
    if (holds === (name.value === 'skip')) return false
  }
  return true
}

export interface SelectionVisitor {
  /** Whether a selection counts at all. Default: each does. */
  readonly keeps?: (selection: SelectionNode) => boolean
  /** Whether the selections of a fragment count. `name` is that of a spread one. */
  readonly enters: (condition: string | undefined, name: string | undefined) => boolean
  readonly field?: (node: FieldNode) => void
}

/** Visits the selections of one object in the order of the document. A spread fragment is entered once. */
export function visitSelections(
  selectionSets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  visitor: SelectionVisitor,
): void {
  const entered = new Set<string>()
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (visitor.keeps?.(selection) === false) continue
      if (selection.kind === NodeKind.FIELD) {
        visitor.field?.(selection)
        continue
      }
      const name = selection.kind === NodeKind.FRAGMENT_SPREAD ? selection.name.value : undefined
      if (name !== undefined && entered.has(name)) continue
      const fragment = 'selectionSet' in selection ? selection : fragments.get(name ?? '')
      if (!fragment || !visitor.enters(fragment.typeCondition?.name.value, name)) continue
      if (name !== undefined) entered.add(name)
      visit(fragment.selectionSet)
    }
  }
  for (const one of selectionSets) visit(one)
}
