import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import type { BareKind } from './kind.ts'

/** The type that SDL extends to speak of every kind. */
export const everyKindType = 'KubernetesObject'

/** What tells which kinds a declaration of every kind holds for. */
export interface EveryKindContext {
  readonly kinds: readonly BareKind[]
  /** The categories of a kind's CRD: `claim`. */
  readonly categoriesOf: (kind: BareKind) => readonly string[]
  /** Whether the kind has a field of this name by its API: it stays what it is. */
  readonly hasField: (typeName: string, field: string) => boolean
}

/** Declarations of every kind as declarations of each; the others as they are. */
export function ofEachKind(
  extensions: readonly TypeExtension[],
  context: EveryKindContext,
): readonly TypeExtension[] {
  return extensions.flatMap((extension) =>
    extension.typeName === everyKindType ? expanded(extension, context) : [extension],
  )
}

function expanded(
  extension: TypeExtension,
  { kinds, categoriesOf, hasField }: EveryKindContext,
): readonly TypeExtension[] {
  const holdsFor = (kind: BareKind, { name, form }: RelationDeclaration): boolean => {
    if (hasField(kind.typeName, name)) return false
    const isBound = form.directive === 'objectRef' || form.directive === 'reference'
    const categories = isBound ? form.arguments.category : undefined
    return !categories || categoriesOf(kind).some((one) => categories.includes(one))
  }
  return kinds.flatMap((kind) => {
    const relations = extension.relations.filter((relation) => holdsFor(kind, relation))
    // What a kind has no place for is passed over, as what the package says of other versions is.
    return relations.length === 0
      ? []
      : [{ ...extension, typeName: kind.typeName, optional: true, indexes: [], relations }]
  })
}
