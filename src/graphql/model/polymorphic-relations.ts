import { parsePath } from '../../query/index/path.ts'
import { isReversible } from '../../query/relation/relations.ts'
import { argumentsOf, type RelationDeclaration, type TypeExtension } from '../sdl/sdl-document.ts'
import { pathProblem, SdlError, unknownFieldHint } from '../sdl/sdl-error.ts'
import {
  type ChosenObjects,
  everyKindType,
  type PolymorphicRelationField,
  type RelationField,
} from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { isPolymorphic, type SdlRelations } from './sdl-relations.ts'

/** The fields that lead to objects of several kinds, once all other relations are known. */
export class PolymorphicRelations {
  /** The problems of the declarations read so far. */
  readonly problems: SdlError[] = []
  readonly #extensions: ReadonlyMap<string, readonly TypeExtension[]>
  readonly #catalog: KindCatalog
  readonly #relations: SdlRelations
  /** The choices of `@chooses` by the full names of their fields; an invalid one is an `SdlError`. */
  readonly #choices = new Map<string, ChosenObjects | SdlError>()

  constructor(extensions: readonly TypeExtension[], catalog: KindCatalog, relations: SdlRelations) {
    this.#extensions = Map.groupBy(extensions, ({ typeName }) => typeName)
    this.#catalog = catalog
    this.#relations = relations
    for (const { typeName, relations: declared, optional } of extensions) {
      for (const declaration of declared) {
        const found = this.#choiceOf(typeName, declaration, optional)
        if (found === undefined) continue
        if (found instanceof SdlError) this.problems.push(found)
        this.#choices.set(`${typeName}.${declaration.name}`, found)
      }
    }
  }

  /** The fields of one kind. A field is left out if no kind of the schema can stand behind it. */
  of(typeName: string): readonly PolymorphicRelationField[] {
    return (this.#extensions.get(typeName) ?? []).flatMap(({ relations, optional }) =>
      relations.filter(isPolymorphic).flatMap((declaration) => {
        const found = this.#fieldOf(typeName, declaration, optional)
        if (found instanceof SdlError) {
          this.problems.push(found)
          return []
        }
        const leadsOn =
          found.relations.length > 0 ||
          (found.sameLabel ?? found.chosen ?? found.chosenBy) !== undefined
        return leadsOn ? [found] : []
      }),
    )
  }

  /** The choices whose objects use what they choose. */
  get usedChoices(): readonly ChosenObjects[] {
    return [...this.#choices.values()].flatMap((one) =>
      one instanceof SdlError || one.uses !== true ? [] : [one],
    )
  }

  /** The relations `field` of all kinds to this one, reversed. */
  reversesOf(name: string, from: string, field: string): readonly RelationField[] {
    return this.#catalog.kinds.flatMap(({ typeName: to }) => {
      const definition = this.#relations.find(to, field)?.definition
      const isOne = definition?.to === from && isReversible(definition)
      return isOne ? [reverseOf(name, from, to, field)] : []
    })
  }

  #fieldOf(
    typeName: string,
    declaration: RelationDeclaration,
    optional: boolean,
  ): PolymorphicRelationField | SdlError {
    const { name, place, directive, description } = declaration
    const full = `${typeName}.${name}`
    const field = { name, relations: [], ...(description === undefined ? {} : { description }) }
    const sameLabel = argumentsOf(declaration, 'sameLabel')?.key
    const chosenBy = argumentsOf(declaration, 'chosenBy')?.of
    const choosing = argumentsOf(declaration, 'chooses') && [full]
    let found: PolymorphicRelationField
    if (sameLabel !== undefined) found = { ...field, sameLabel }
    else if (choosing !== undefined || chosenBy !== undefined) {
      const choices = (choosing ?? chosenBy ?? []).flatMap((one) => this.#choices.get(one) ?? [])
      const all = choices.filter((one): one is ChosenObjects => !(one instanceof SdlError))
      const [chosen] = all
      if (chosen === undefined && !optional && choices.length === 0) {
        return new SdlError(
          'unknown-relation',
          place,
          `${full}: no declaration says what is chosen`,
          'let kindAt begin with a relation to one object, and `of` name fields with @chooses',
        )
      }
      const choice = chosenBy === undefined ? { chosen } : { chosenBy: all }
      found = chosen === undefined ? field : { ...field, ...choice }
    } else {
      const reversed = directive === 'reverse' ? String(declaration.arguments['of']) : ''
      const [of, target = ''] = reversed.split('.')
      if (of !== everyKindType) {
        const message = `${full}: @${directive} does not lead to several kinds`
        const hint = `write @reverse(of: "${everyKindType}.FIELD"), of a relation that every kind has, @sameLabel, @chooses or @chosenBy`
        return new SdlError('field-type', place, message, hint)
      }
      const references = this.#relations.ofAnyKind
        .filter((reference) => reference.name === target)
        .map(({ from: to }) => reverseOf(name, typeName, to, target))
      found = { ...field, relations: [...this.reversesOf(name, typeName, target), ...references] }
    }
    const isTaken =
      this.#relations.find(typeName, name) !== undefined || this.#catalog.hasField(typeName, name)
    if (!isTaken) return found
    const message = `${full}: the type has a field of this name`
    return new SdlError('native-field', place, message, 'choose another name')
  }

  /** A `@chooses`, or its problem; `undefined` for another declaration, or if no served type has the kind. */
  #choiceOf(
    typeName: string,
    declaration: RelationDeclaration,
    optional: boolean,
  ): ChosenObjects | SdlError | undefined {
    const args = argumentsOf(declaration, 'chooses')
    if (args === undefined) return undefined
    const { name, place } = declaration
    const { path, kindAt } = args
    const field = `${typeName}.${name}`
    for (const [argument, text] of Object.entries({ path, kindAt })) {
      const about = `${field}: @chooses(${argument}: ${JSON.stringify(text)})`
      const unreadable = pathProblem(text, place, about)
      if (unreadable !== undefined) return unreadable
      if (!parsePath(text).many) continue
      const hint = 'leave [*] and the like out'
      return new SdlError('bad-path', place, `${about}: there may be several`, hint)
    }
    const kindPlace = this.#relations.kindPlace(typeName, kindAt)
    if (kindPlace === undefined) return undefined
    const { relation, path: kindPath } = kindPlace
    for (const [type, text] of [
      [typeName, path],
      [relation.definition.to, kindPath],
    ] as const) {
      if (this.#catalog.at(type, text).form !== 'absent') continue
      if (optional) return undefined
      const message = `${field}: @chooses: a ${type} has nothing at ${text}`
      return new SdlError('unknown-field', place, message, unknownFieldHint)
    }
    const use = args.uses ? { uses: true } : {}
    return { field, path: parsePath(path), relation, kindPath: parsePath(kindPath), ...use }
  }
}

function reverseOf(name: string, from: string, to: string, field: string): RelationField {
  const of = `${to}.${field}`
  return { definition: { form: 'reverse', name: `${name}=${to}`, from, to, of }, many: true }
}
