import { parsePath, PathError } from '../../query/index/path.ts'
import { compileReference } from '../../query/relation/reference-relation.ts'
import {
  type ReferenceRelation,
  type RelationDefinition,
  RelationDefinitionError,
  relationName,
} from '../../query/relation/relation-definition.ts'
import type { RelationField } from './kind.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError, type SdlPlace, type SdlProblem } from '../sdl/sdl-error.ts'
import { pathProblem } from './sdl-indexes.ts'

/** What relations are checked against. */
export interface RelationSurroundings {
  /** Whether a kind has this type name. */
  isKind(typeName: string): boolean
  /** Whether a type is no part of the schema by choice: relations to it are passed over. */
  isLeftOut(typeName: string): boolean
  /** Whether the kind has a field of this name, relations aside. */
  hasField(typeName: string, field: string): boolean
  /** Relations that are there without a declaration; they can be read backwards. */
  readonly given: readonly RelationField[]
}

interface Declared {
  readonly relation: RelationField
  readonly place: SdlPlace | undefined
}

/** A declaration that is passed over without a word: it speaks of a type that the cluster does not serve. */
class PassedOver extends Error {}

const connection = /^(.+)Connection$/

/** Collects the declared relations of all kinds. */
export class SdlRelations {
  readonly #around: RelationSurroundings
  readonly #declared = new Map<string, Declared>()

  constructor(around: RelationSurroundings) {
    this.#around = around
    for (const relation of around.given)
      this.#declared.set(relationName(relation.definition), { relation, place: undefined })
  }

  /** The relations of one kind, in the order of their declaration. */
  of(typeName: string): readonly RelationField[] {
    return [...this.#declared.values()]
      .map(({ relation }) => relation)
      .filter(({ definition }) => definition.from === typeName)
  }

  /** Takes in all relations; those that are read backwards last. Returns what is wrong with them. */
  addAll(extensions: readonly TypeExtension[]): readonly SdlError[] {
    const all = extensions.flatMap((extension) =>
      extension.relations
        .filter(({ form }) => form.directive !== 'objectRef')
        .map((declaration) => ({ extension, declaration })),
    )
    const reverse = (one: (typeof all)[number]): boolean =>
      one.declaration.form.directive === 'reverse'
    return [...all.filter((one) => !reverse(one)), ...all.filter(reverse)].flatMap(
      ({ extension, declaration }) => this.#add(extension, declaration) ?? [],
    )
  }

  #add(extension: TypeExtension, declaration: RelationDeclaration): SdlError | undefined {
    try {
      const relation = this.#relation(extension, declaration)
      this.#declared.set(relationName(relation.definition), {
        relation,
        place: declaration.place,
      })
      return undefined
    } catch (error) {
      if (error instanceof SdlError) return error
      if (error instanceof PassedOver) return undefined
      throw error
    }
  }

  #relation(
    { typeName, optional }: TypeExtension,
    declaration: RelationDeclaration,
  ): RelationField {
    const { name, type, place } = declaration
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, `${typeName}.${name}: ${message}`, hint)
    const earlier = this.#declared.get(`${typeName}.${name}`)?.place
    if (earlier !== undefined) {
      const { file, line } = earlier
      throw fail(
        'duplicate-relation',
        `is declared already at ${file}:${line}`,
        'choose another name',
      )
    }
    if (this.#around.hasField(typeName, name))
      throw fail(
        'native-field',
        'the API has a field of this name, which wins',
        'choose another name',
      )
    const target = this.#target(declaration)
    if (target === undefined) {
      if (optional || this.#around.isLeftOut(connection.exec(type)?.[1] ?? type))
        throw new PassedOver()
      throw fail(
        'unknown-type',
        `there is no type ${type}`,
        'use the name of a kind, or of its Connection',
      )
    }
    const definition = this.#definition(typeName, target, declaration, optional)
    return {
      definition,
      many: target.many,
      ...(declaration.description === undefined ? {} : { description: declaration.description }),
    }
  }

  #target({ type, isList }: RelationDeclaration): Target | undefined {
    const node = connection.exec(type)?.[1]
    if (node !== undefined && !isList && this.#around.isKind(node)) return { to: node, many: true }
    if (!this.#around.isKind(type)) return undefined
    return { to: type, many: false, isList }
  }

  #definition(
    from: string,
    { to, many, isList }: Target,
    declaration: RelationDeclaration,
    optional: boolean,
  ): RelationDefinition {
    const { name, place, form } = declaration
    const base = { name, from, to }
    const needConnection = (): void => {
      if (many && isList !== true) return
      const message = `${from}.${name}: @${form.directive} leads to any number of objects`
      throw new SdlError('field-type', place, message, `write its type as ${to}Connection`)
    }
    const checkTypes = (types: readonly string[]): void => {
      const unknown = types.find((type) => !this.#around.isKind(type))
      if (unknown === undefined) return
      if (optional || this.#around.isLeftOut(unknown)) throw new PassedOver()
      const message = `${from}.${name}: there is no type ${unknown}`
      throw new SdlError('unknown-type', place, message, 'use the name of a kind')
    }
    if (isList === true) needConnection()
    switch (form.directive) {
      case 'reference': {
        const { path: paths, namespacePath: namespacePaths } = form.arguments
        const reference: ReferenceRelation = {
          form: 'reference',
          ...base,
          paths,
          many,
          ...(namespacePaths ? { namespacePaths } : {}),
        }
        checkReference(reference, place)
        if (paths.some((path) => parsePath(path).many)) needConnection()
        return reference
      }
      case 'reverse': {
        needConnection()
        this.#checkReversed(form.arguments.of, { from, to }, declaration, optional)
        return { form: 'reverse', ...base, of: form.arguments.of }
      }
      case 'selects': {
        needConnection()
        const unreadable = pathProblem(form.arguments.path, place)
        if (unreadable !== undefined) throw unreadable
        return { form: 'selects', ...base, ...form.arguments }
      }
      case 'objectRef':
        throw new TypeError(`${from}.${name} is no relation`)
      case 'owned':
      case 'owner': {
        if (form.directive === 'owned') needConnection()
        const { through } = form.arguments
        checkTypes(through ?? [])
        return { form: form.directive, ...base, ...(through ? { through } : {}) }
      }
    }
  }

  #checkReversed(
    of: string,
    { from, to }: { readonly from: string; readonly to: string },
    { name, place }: RelationDeclaration,
    optional: boolean,
  ): void {
    const reversed = this.#declared.get(of)?.relation.definition
    const fits = reversed?.form === 'reference' || reversed?.form === 'selects'
    if (fits && reversed.from === to && reversed.to === from) return
    // The relation itself may have been passed over, with a type that is not served.
    if (optional && reversed === undefined) throw new PassedOver()
    const message = `${from}.${name}: ${of} is no @reference or @selects from ${to} to ${from}`
    throw new SdlError('unknown-relation', place, message, `declare ${of} or correct the name`)
  }
}

/** Compiles it once, so that what is wrong with its paths is told with the file and line. */
function checkReference(reference: ReferenceRelation, place: SdlPlace): void {
  try {
    compileReference(reference, { isNamespaced: () => true })
  } catch (error) {
    if (!(error instanceof PathError || error instanceof RelationDefinitionError)) throw error
    throw new SdlError('bad-path', place, error.message, error.hint ?? 'correct the path')
  }
}

interface Target {
  readonly to: string
  readonly many: boolean
  readonly isList?: boolean
}
