import { isReversible, type ReferenceOfAnyKind } from '../../query/relation/relation-definition.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError } from '../sdl/sdl-error.ts'
import { everyKindType } from './every-kind.ts'
import type { ChosenObjects, PolymorphicRelationField, RelationField } from './kind.ts'

const polymorphicType = `${everyKindType}Connection`

/** Whether a declaration leads to objects of several kinds: a relation of every kind, read backwards. */
export function isPolymorphic({ type }: RelationDeclaration): boolean {
  return type === polymorphicType
}

/** The relations of all kinds, as far as they are declared. */
export interface PolymorphicContext {
  readonly relationsOf: (typeName: string) => readonly RelationField[]
  readonly typeNames: readonly string[]
  readonly hasField: (typeName: string, field: string) => boolean
  /** The references to whatever kind. */
  readonly ofAnyKind: readonly ReferenceOfAnyKind[]
  /** What objects choose, by the full names of the fields. */
  readonly choices: ReadonlyMap<string, ChosenObjects>
  /** The fields of which something is wrong that is told already. */
  readonly refused: ReadonlySet<string>
}

/** The fields of one kind that lead to objects of several kinds, and what is wrong with their declarations. */
export function polymorphicRelationsOf(
  typeName: string,
  extensions: readonly TypeExtension[],
  context: PolymorphicContext,
): {
  readonly fields: readonly PolymorphicRelationField[]
  readonly problems: readonly SdlError[]
} {
  const fields: PolymorphicRelationField[] = []
  const problems: SdlError[] = []
  for (const extension of extensions) {
    if (extension.typeName !== typeName) continue
    for (const declaration of extension.relations) {
      if (!isPolymorphic(declaration)) continue
      const found = polymorphicField(typeName, declaration, extension.optional, context)
      if (found instanceof SdlError) problems.push(found)
      else if (isSomething(found)) fields.push(found)
    }
  }
  return { fields, problems }
}

function isSomething({
  relations,
  sameLabel,
  chosen,
  chosenBy,
}: PolymorphicRelationField): boolean {
  return relations.length > 0 || (sameLabel ?? chosen ?? chosenBy) !== undefined
}

function polymorphicField(
  typeName: string,
  { name, form, place, description }: RelationDeclaration,
  optional: boolean,
  { relationsOf, typeNames, hasField, ofAnyKind, choices, refused }: PolymorphicContext,
): PolymorphicRelationField | SdlError {
  const full = `${typeName}.${name}`
  const [of, field = ''] = form.directive === 'reverse' ? form.arguments.of.split('.') : []
  const sameLabel = form.directive === 'sameLabel' ? form.arguments.key : undefined
  const isChoice = form.directive === 'chooses' || form.directive === 'chosenBy'
  const choosing =
    form.directive === 'chooses' ? [full] : form.directive === 'chosenBy' ? form.arguments.of : []
  const chosen = choosing.flatMap((one) => choices.get(one) ?? [])
  const isTold = choosing.some((one) => refused.has(one))
  if (isChoice && chosen.length === 0 && !optional && !isTold) {
    const hint =
      'let kindAt begin with a relation to one object, and `of` name fields with @chooses'
    return new SdlError('unknown-relation', place, `${full}: nothing says what is chosen`, hint)
  }
  if (of !== everyKindType && sameLabel === undefined && !isChoice) {
    const hint = `write @reverse(of: "${everyKindType}.FIELD"), of a relation that every kind has, @sameLabel, @chooses or @chosenBy`
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
      sameLabel === undefined && !isChoice
        ? [...reversesOf(ends, typeNames, relationsOf), ...reversesOfAnyKind(ends, ofAnyKind)]
        : [],
    ...(sameLabel === undefined ? {} : { sameLabel }),
    ...chosenFields(form.directive, chosen),
    ...(description === undefined ? {} : { description }),
  }
}

function chosenFields(
  directive: string,
  all: readonly ChosenObjects[],
): Pick<PolymorphicRelationField, 'chosen' | 'chosenBy'> {
  const [chosen] = all
  if (chosen === undefined) return {}
  return directive === 'chooses' ? { chosen } : { chosenBy: all }
}

interface PolymorphicEnds {
  readonly name: string
  readonly from: string
  readonly field: string
}

/** The references of that name to whatever kind, read backwards from this one. */
function reversesOfAnyKind(
  { name, from, field }: PolymorphicEnds,
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
  { name, from, field }: PolymorphicEnds,
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
