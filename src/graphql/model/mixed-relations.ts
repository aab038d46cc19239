import { isReversible, type ReferenceOfAnyKind } from '../../query/relation/relation-definition.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError } from '../sdl/sdl-error.ts'
import { everyKindType } from './every-kind.ts'
import type { MixedRelationField, RelationField } from './kind.ts'

const mixedType = `${everyKindType}Connection`

/** Whether a declaration leads to objects of several kinds: a relation of every kind, read backwards. */
export function isMixed({ type }: RelationDeclaration): boolean {
  return type === mixedType
}

/** The relations of all kinds, as far as they are declared. */
export interface MixedContext {
  readonly relationsOf: (typeName: string) => readonly RelationField[]
  readonly typeNames: readonly string[]
  readonly hasField: (typeName: string, field: string) => boolean
  /** The references to whatever kind. */
  readonly ofAnyKind: readonly ReferenceOfAnyKind[]
}

/** The fields of one kind that lead to objects of several kinds, and what is wrong with their declarations. */
export function mixedRelationsOf(
  typeName: string,
  extensions: readonly TypeExtension[],
  context: MixedContext,
): { readonly fields: readonly MixedRelationField[]; readonly problems: readonly SdlError[] } {
  const fields: MixedRelationField[] = []
  const problems: SdlError[] = []
  for (const extension of extensions) {
    if (extension.typeName !== typeName) continue
    for (const declaration of extension.relations) {
      if (!isMixed(declaration)) continue
      const found = mixedField(typeName, declaration, context)
      if (found instanceof SdlError) problems.push(found)
      else if (found.relations.length > 0 || found.sameLabel !== undefined) fields.push(found)
    }
  }
  return { fields, problems }
}

function mixedField(
  typeName: string,
  { name, form, place, description }: RelationDeclaration,
  { relationsOf, typeNames, hasField, ofAnyKind }: MixedContext,
): MixedRelationField | SdlError {
  const full = `${typeName}.${name}`
  const [of, field = ''] = form.directive === 'reverse' ? form.arguments.of.split('.') : []
  const sameLabel = form.directive === 'sameLabel' ? form.arguments.key : undefined
  if (of !== everyKindType && sameLabel === undefined) {
    const hint = `write @reverse(of: "${everyKindType}.FIELD"), of a relation that every kind has, or @sameLabel`
    return new SdlError('field-type', place, `${full}: only that leads to several kinds`, hint)
  }
  const isTaken = relationsOf(typeName).some(({ definition }) => definition.name === name)
  if (isTaken || hasField(typeName, name)) {
    const message = `${full}: the type has a field of this name`
    return new SdlError('native-field', place, message, 'choose another name')
  }
  const ends = { name, from: typeName, field }
  return {
    name,
    relations:
      sameLabel === undefined
        ? [...reversesOf(ends, typeNames, relationsOf), ...reversesOfAnyKind(ends, ofAnyKind)]
        : [],
    ...(sameLabel === undefined ? {} : { sameLabel }),
    ...(description === undefined ? {} : { description }),
  }
}

interface MixedEnds {
  readonly name: string
  readonly from: string
  readonly field: string
}

/** The references of that name to whatever kind, read backwards from this one. */
function reversesOfAnyKind(
  { name, from, field }: MixedEnds,
  ofAnyKind: readonly ReferenceOfAnyKind[],
): readonly RelationField[] {
  return ofAnyKind
    .filter((reference) => reference.name === field)
    .map(({ from: to }) => ({
      definition: { form: 'reverse', name: `${name}=${to}`, from, to, of: `${to}.${field}` },
      many: true,
    }))
}

/** The relations of that name from each kind to this one, read backwards. */
export function reversesOf(
  { name, from, field }: MixedEnds,
  typeNames: readonly string[],
  relationsOf: (typeName: string) => readonly RelationField[],
): readonly RelationField[] {
  return typeNames.flatMap((to) =>
    relationsOf(to)
      .filter(
        ({ definition }) =>
          definition.name === field && definition.to === from && isReversible(definition),
      )
      .map(() => ({
        definition: { form: 'reverse', name: `${name}=${to}`, from, to, of: `${to}.${field}` },
        many: true,
      })),
  )
}
