import {
  isReversible,
  type ReferenceOfAnyKind,
  type RelationDefinition,
  relationName,
} from '../../query/relation/relation-definition.ts'
import type { RelationDirectiveArguments } from '../sdl/sdl-directives.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError, type SdlPlace, type SdlProblem, unknownFieldHint } from '../sdl/sdl-error.ts'
import {
  namedOf,
  type OwnRelationContext,
  referenceOf,
  sameOf,
  selectsOf,
  uidOf,
} from './declared-relation.ts'
import type { RelationField } from './kind.ts'
import { isPolymorphic } from './polymorphic-relations.ts'
import { inOrderOfSteps, stepsOf } from './relation-steps.ts'
import type { SchemaAtPath } from './schema-at-path.ts'
import { pathProblem } from './sdl-indexes.ts'

/** What relations are checked against. */
export interface RelationSurroundings {
  /** Whether a kind has this type name. */
  isKind(typeName: string): boolean
  /** Whether a type is no part of the schema by choice: relations to it are passed over. */
  isLeftOut(typeName: string): boolean
  /** Why a type that is none is an error; `undefined` where what speaks of it may wait until it is there. */
  unknownType(typeName: string, place: SdlPlace, message: string): SdlError | undefined
  /** Whether the kind has a field of this name, relations aside. */
  hasField(typeName: string, field: string): boolean
  /** What the API says of a path of a kind's objects. */
  at(typeName: string, path: string): SchemaAtPath
  /** Relations that are there without a declaration; they can be read backwards. */
  readonly given: readonly RelationField[]
  /** All that is written, also of types that are not served. */
  readonly written: readonly TypeExtension[]
  /** Those by which every kind leads to its Events; they can be gone through. */
  readonly events: readonly RelationField[]
}

interface Declared {
  readonly relation: RelationField
  readonly place: SdlPlace | undefined
}

/** A relation as it is written, and on which type. */
interface Written {
  readonly extension: TypeExtension
  readonly declaration: RelationDeclaration
}

class PassedOver extends Error {}

/**
 * A declaration that is passed over without a word: it speaks of a type that the cluster does not serve. One for all: there are
 * hundreds, and nobody looks at where they were thrown.
 */
const passedOver = new PassedOver()

const connection = /^(.+)Connection$/

/** Collects the declared relations of all kinds. */
export class SdlRelations {
  readonly #around: RelationSurroundings
  readonly #declared = new Map<string, Declared>()
  readonly #references = new Map<string, RelationDirectiveArguments['reference']>()
  readonly #ofAnyKind = new Map<string, ReferenceOfAnyKind>()
  /** What is declared so far, once it has been asked for. */
  #byType: ReadonlyMap<string, readonly RelationField[]> | undefined
  readonly #events: ReadonlyMap<string, RelationField>

  constructor(around: RelationSurroundings) {
    this.#around = around
    for (const relation of around.given)
      this.#declared.set(relationName(relation.definition), { relation, place: undefined })
    // Of types that are not served, too: their paths may be taken by others.
    for (const { typeName, relations } of around.written) {
      for (const { name, form } of relations) {
        if (form.directive === 'reference')
          this.#references.set(`${typeName}.${name}`, form.arguments)
      }
    }
    this.#events = new Map(around.events.map((one) => [relationName(one.definition), one]))
  }

  /** The relations of one kind, in the order of their declaration. */
  of(typeName: string): readonly RelationField[] {
    this.#byType ??= Map.groupBy(
      [...this.#declared.values()].map(({ relation }) => relation),
      ({ definition }) => definition.from,
    )
    return this.#byType.get(typeName) ?? []
  }

  /** The references to whatever kind, which may be read backwards. */
  get ofAnyKind(): readonly ReferenceOfAnyKind[] {
    return [...this.#ofAnyKind.values()]
  }

  /** Takes in all relations; those that are made of others last. Returns what is wrong with them; pauses between them. */
  *addAll(extensions: readonly TypeExtension[]): Generator<void, readonly SdlError[]> {
    const own: Written[] = []
    const reverse: Written[] = []
    const through: Written[] = []
    for (const extension of extensions) {
      for (const declaration of extension.relations) {
        const { form, name } = declaration
        if (isPolymorphic(declaration)) continue
        const written = { extension, declaration }
        const fullName = `${extension.typeName}.${name}`
        if (form.directive === 'objectRef') {
          const { path, topmost, kindAt } = form.arguments
          // What kind is meant tells another object: no index of these has it.
          if (topmost || kindAt || path.some((one) => pathProblem(one, declaration.place, name)))
            continue
          this.#ofAnyKind.set(fullName, { from: extension.typeName, name, paths: path })
          continue
        }
        if (form.directive === 'reverse') reverse.push(written)
        else if (form.directive === 'through') through.push(written)
        else own.push(written)
      }
    }
    const nextOf = (name: string): string | undefined =>
      this.#declared.get(name)?.relation.definition.to
    const problems: SdlError[] = []
    for (const one of [...own, ...reverse]) {
      const problem = this.#add(one)
      if (problem !== undefined) problems.push(problem)
      yield
    }
    const { ordered, circles } = inOrderOfSteps(through, nextOf)
    for (const one of ordered) {
      const circle = circles.get(one)
      const problem = circle === undefined ? this.#add(one) : circleOf(one, circle)
      if (problem !== undefined) problems.push(problem)
    }
    return problems
  }

  #add({ extension, declaration }: Written): SdlError | undefined {
    try {
      const relation = this.#relation(extension, declaration)
      this.#byType = undefined
      this.#declared.set(relationName(relation.definition), {
        relation,
        place: declaration.place,
      })
      return undefined
    } catch (error) {
      if (error instanceof SdlError) return error
      if (error === passedOver) return undefined
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
      const node = connection.exec(type)?.[1] ?? type
      if (optional || this.#around.isLeftOut(node)) throw passedOver
      const message = `${typeName}.${name}: there is no type ${type}`
      throw this.#around.unknownType(node, place, message) ?? passedOver
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
      if (optional || this.#around.isLeftOut(unknown)) throw passedOver
      const message = `${from}.${name}: there is no type ${unknown}`
      throw this.#around.unknownType(unknown, place, message) ?? passedOver
    }
    const own: OwnRelationContext = {
      ends: { ...base, many },
      declaration,
      needConnection,
      present: (paths) => this.#presentPaths(from, paths, declaration, optional),
      presentOfTarget: (paths) => this.#presentPaths(to, paths, declaration, optional),
      referenceNamed: (full) => this.#references.get(full),
    }
    if (isList === true) needConnection()
    switch (form.directive) {
      case 'reference':
        return referenceOf(form.arguments, own)
      case 'named':
        return namedOf(form.arguments, own)
      case 'uid':
        return uidOf(form.arguments, own)
      case 'same':
        return sameOf(form.arguments, own)
      case 'chooses':
      case 'chosenBy':
      case 'sameLabel': {
        const message = `${from}.${name}: @${form.directive} leads to objects of any kind`
        const hint = 'write its type as KubernetesObjectConnection'
        throw new SdlError('field-type', place, message, hint)
      }
      case 'reverse': {
        if (form.arguments.one !== true) needConnection()
        this.#checkReversed(form.arguments.of, { from, to }, declaration, optional)
        return { form: 'reverse', ...base, of: form.arguments.of }
      }
      case 'selects':
        if (form.arguments.namespaceLabels) checkTypes(['Namespace'])
        return selectsOf(form.arguments, own)
      case 'through': {
        const found = stepsOf({ from, to }, form.arguments.path, declaration, (full) => {
          const step = this.#declared.get(full)?.relation ?? this.#events.get(full)
          return step === undefined ? undefined : { to: step.definition.to, many: step.many }
        })
        // A step may have been passed over, with a type that is not served.
        if (found instanceof SdlError) {
          if (optional && found.problem === 'unknown-relation') throw passedOver
          throw found
        }
        if (found.many) needConnection()
        return { form: 'through', ...base, steps: found.steps }
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

  #presentPaths(
    typeName: string,
    paths: readonly string[],
    { name, place }: RelationDeclaration,
    optional: boolean,
  ): ReadonlySet<string> {
    const isPresent = (path: string): boolean => this.#around.at(typeName, path).form !== 'absent'
    const present = new Set(paths.filter(isPresent))
    if (present.size === new Set(paths).size) return present
    if (optional) {
      if (present.size === 0) throw passedOver
      return present
    }
    const missing = paths.find((path) => !present.has(path)) ?? ''
    const message = `${typeName}.${name}: a ${typeName} has nothing at ${missing}`
    throw new SdlError('unknown-field', place, message, unknownFieldHint)
  }

  #checkReversed(
    of: string,
    { from, to }: { readonly from: string; readonly to: string },
    { name, place }: RelationDeclaration,
    optional: boolean,
  ): void {
    if (this.#ofAnyKind.get(of)?.from === to) return
    const reversed = this.#declared.get(of)?.relation.definition
    const fits = reversed !== undefined && isReversible(reversed)
    if (fits && reversed.from === to && reversed.to === from) return
    // The relation itself may have been passed over, with a type that is not served.
    if (optional && reversed === undefined) throw passedOver
    const message = `${from}.${name}: ${of} is no @reference, @named, @uid, @same or @selects from ${to} to ${from}, and no @objectRef of ${to}`
    throw new SdlError('unknown-relation', place, message, `declare ${of} or correct the name`)
  }
}

function circleOf({ extension, declaration: { name, place } }: Written, circle: string): SdlError {
  const message = `${extension.typeName}.${name} goes in a circle: ${circle}`
  return new SdlError('circle', place, message, 'let one of them go another way')
}

interface Target {
  readonly to: string
  readonly many: boolean
  readonly isList?: boolean
}
