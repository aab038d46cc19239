import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind as NodeKind,
  type SelectionNode,
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
