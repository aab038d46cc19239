/*
 * The fields that SDL and the gateway give kinds besides the fields of their API. All declarations are listed first, each
 * with its type. Relations to one kind are read next, since the others build on them. A relation that leads through
 * another one reads that one first; a circle is an error of each. Then come references to objects of any kind
 * (`@objectRef`), the choices of `@chooses`, and finally, kind by kind, fields that lead to several kinds. An unreadable
 * declaration becomes a problem with its file and line. A declaration that names an unserved type is passed over.
 */

import { getOrInsert } from '../../lib/get-or-insert.ts'
import { parsePath, PathError } from '../../query/index/path.ts'
import { NameTemplateError } from '../../query/relation/name-template.ts'
import {
  type Declaration,
  type ReferenceOfAnyKind,
  RelationDefinitionError,
  relationName,
} from '../../query/relation/relation.ts'
import {
  isReversible,
  relationDirectives,
  type RelationDefinition,
  reversibleDirectives,
} from '../../query/relation/relations.ts'
import type { DirectiveArguments } from '../sdl/directive-arguments.ts'
import { argumentsOf, type RelationDeclaration, type TypeExtension } from '../sdl/sdl-document.ts'
import {
  pathProblem,
  SdlError,
  type SdlPlace,
  type SdlProblem,
  unknownFieldHint,
} from '../sdl/sdl-error.ts'
import {
  type Among,
  type ChosenObjects,
  everyKindType,
  type KindPlace,
  type ObjectRefField,
  type PolymorphicRelationField,
  type RelationField,
} from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'

interface RelationSources {
  /** Relations that need no declaration. `@reverse` may name them. */
  readonly given: readonly RelationField[]
  /** All declarations, even on unserved types: `as` may name them. */
  readonly written: readonly TypeExtension[]
  /** The relation of each kind to its Events. `@through` may name them. */
  readonly events: readonly RelationField[]
}

/** A declaration and its type. */
class Written {
  readonly full: string
  readonly typeName: string
  readonly optional: boolean
  readonly declaration: RelationDeclaration

  constructor({ typeName, optional }: TypeExtension, declaration: RelationDeclaration) {
    this.full = `${typeName}.${declaration.name}`
    this.typeName = typeName
    this.optional = optional
    this.declaration = declaration
  }

  get isPolymorphic(): boolean {
    return this.declaration.type === `${everyKindType}Connection`
  }

  error(problem: SdlProblem, message: string, hint: string): SdlError {
    return new SdlError(problem, this.declaration.place, `${this.full}: ${message}`, hint)
  }

  /** Throws the problem of a path that cannot be parsed. */
  checkPath(path: string, argument = ''): void {
    const problem = pathProblem(path, this.declaration.place, `${this.full}${argument}`)
    if (problem !== undefined) throw problem
  }
}

/** Thrown for a declaration that names an unserved type. There may be hundreds, so all share one error. */
const passedOver = new Error('a declaration names a type that is not served')

/** The arguments of `@objectRef` and `@chooses` that say whose `usedBy` counts them. */
export function amongOf({
  uses,
  among,
}: {
  readonly uses?: unknown
  readonly among?: unknown
}): Among | undefined {
  return uses === false ? [] : ((among as Among | null | undefined) ?? undefined)
}

/** The name of all references of a type that may lead to any kind. */
export const usesOfAny = 'uses(any)'

const connection = /^(.+)Connection$/

/** Fields of these directives come last, in this order. */
const lastDirectives = ['reverse', 'through']

export class DeclaredRelations {
  /** The problems of the declarations read so far. */
  readonly problems: SdlError[] = []
  readonly #catalog: KindCatalog
  readonly #relations = new Map<string, RelationField>()
  readonly #objectRefs = new Map<string, ObjectRefField[]>()
  readonly #ofAnyKind = new Map<string, ReferenceOfAnyKind>()
  readonly #among = new Map<string, Among>()
  /** The choices of `@chooses` by the full names of their fields; `undefined` for an invalid one. */
  readonly #choices = new Map<string, ChosenObjects | undefined>()
  readonly #polymorphic = new Map<string, Written[]>()
  readonly #places = new Map<string, SdlPlace>()
  /** All declarations by full name, even on unserved types. */
  readonly #declarations = new Map<string, RelationDeclaration>()
  /** The relations by type, cached until the next one is added. */
  #byType: ReadonlyMap<string, readonly RelationField[]> | undefined
  readonly #events: ReadonlyMap<string, RelationField>
  /** The relations to be added, by full name. */
  #written: ReadonlyMap<string, readonly Written[]> = new Map()
  /** The relations that are read already. A relation that builds on another one reads that one first. */
  readonly #read = new Set<Written>()
  /** The names of the relations being read, each because of the one before it. */
  readonly #open: string[] = []
  /** The relations of a name that can be read backwards, by the type that they lead to: see {@link reversesOf}. */
  readonly #reversible = new Map<string, ReadonlyMap<string, readonly RelationDefinition[]>>()
  readonly #circles = new Map<string, string>()

  constructor(catalog: KindCatalog, { given, written, events }: RelationSources) {
    this.#catalog = catalog
    for (const relation of given) this.#relations.set(relationName(relation.definition), relation)
    for (const { typeName, relations } of written) {
      for (const declaration of relations)
        this.#declarations.set(`${typeName}.${declaration.name}`, declaration)
    }
    this.#events = new Map(events.map((one) => [relationName(one.definition), one]))
  }

  of(typeName: string): readonly RelationField[] {
    this.#byType ??= Map.groupBy(this.#relations.values(), ({ definition }) => definition.from)
    return this.#byType.get(typeName) ?? []
  }

  find(typeName: string, field: string): RelationField | undefined {
    return this.#relations.get(`${typeName}.${field}`)
  }

  objectRefsOf(typeName: string): readonly ObjectRefField[] {
    return this.#objectRefs.get(typeName) ?? []
  }

  /** The references to objects of any kind that `@reverse` may name. */
  get ofAnyKind(): readonly ReferenceOfAnyKind[] {
    return [
      ...this.#ofAnyKind.values(),
      ...this.usesOfAnyKind.filter(({ name }) => name === usesOfAny),
    ]
  }

  /**
   * The same as `usedBy` counts them: those that no `among` limits as one reference of their type, with all their paths. Each
   * is read backwards from every kind, so there should be few.
   */
  get usesOfAnyKind(): readonly ReferenceOfAnyKind[] {
    const all = [...this.#ofAnyKind.values()]
    const limited = all.filter((one) => this.#among.has(relationName(one)))
    const others = Map.groupBy(
      all.filter((one) => !limited.includes(one)),
      ({ from }) => from,
    )
    const joined = Array.from(others, ([from, references]) => ({
      from,
      name: usesOfAny,
      paths: references.flatMap(({ paths }) => paths),
      isLocal: references.every(({ isLocal }) => isLocal),
    }))
    return [...limited, ...joined]
  }

  get choices(): readonly ChosenObjects[] {
    return [...this.#choices.values()].flatMap((one) => one ?? [])
  }

  /** The types whose `usedBy` lists the objects with a reference to any kind; `undefined`: all. */
  amongOf(full: string): Among | undefined {
    return this.#among.get(full)
  }

  /** Adds all declarations. Yields between relations. */
  *addAll(extensions: readonly TypeExtension[]): Generator<void, void> {
    const all = extensions.flatMap((extension) =>
      extension.relations.map((declaration) => new Written(extension, declaration)),
    )
    const relations: Written[] = []
    for (const one of all) {
      const { declaration, full, typeName: from } = one
      const { name, place } = declaration
      if (one.isPolymorphic) {
        getOrInsert(this.#polymorphic, from, () => []).push(one)
        continue
      }
      const reference = argumentsOf(declaration, 'objectRef')
      if (reference === undefined) {
        relations.push(one)
        continue
      }
      const { path: paths, topmost, kindAt } = reference
      // No index holds such a reference: another object decides which object is meant.
      if (topmost || kindAt || paths.some((path) => pathProblem(path, place, name))) continue
      const isLocal = paths.every(
        (path) => this.#catalog.at(from, `${path}.namespace`).form === 'absent',
      )
      this.#ofAnyKind.set(full, { from, name, paths, isLocal })
      const among = amongOf(reference)
      if (among !== undefined) this.#among.set(full, among)
    }
    const rankOf = ({ declaration }: Written): number =>
      lastDirectives.indexOf(declaration.directive)
    const ordered = relations.toSorted((a, b) => rankOf(a) - rankOf(b))
    this.#written = Map.groupBy(ordered, ({ full }) => full)
    for (const one of ordered) {
      if (!this.#read.has(one)) this.#add(one)
      yield
    }
    for (const one of all) {
      const args = argumentsOf(one.declaration, 'objectRef')
      if (args === undefined || one.declaration.isHidden || one.isPolymorphic) continue
      const field = this.#orProblem(one, () => this.#objectRef(one, args))
      if (field === undefined) continue
      this.#objectRefs.set(one.typeName, [...this.objectRefsOf(one.typeName), field])
      this.#places.set(one.full, one.declaration.place)
    }
    for (const one of all) {
      const args = argumentsOf(one.declaration, 'chooses')
      if (args === undefined) continue
      const count = this.problems.length
      const choice = this.#orProblem(one, () => this.#choice(one, args))
      // A choice that is passed over counts as undeclared.
      const isDeclared = choice !== undefined || this.problems.length > count
      if (isDeclared) this.#choices.set(one.full, choice)
    }
  }

  /** The result of `read`; `undefined` if it throws {@link passedOver}, or a problem, which is kept. */
  #orProblem<T>(one: Written, read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (error === passedOver) return undefined
      // What `@uses(as:)` copies has its problem where it is declared.
      if (one.optional && one.declaration.isHidden) return undefined
      const isExpected =
        error instanceof PathError ||
        error instanceof NameTemplateError ||
        error instanceof RelationDefinitionError
      if (error instanceof SdlError) this.problems.push(error)
      else if (!isExpected) throw error
      else
        this.problems.push(one.error('bad-path', error.message, error.hint ?? 'correct the path'))
      return undefined
    }
  }

  /** Throws the problem of a field whose name is taken. A declared relation takes the place of a given one. */
  #checkName(one: Written): void {
    const { full, typeName, declaration } = one
    const { name } = declaration
    const earlier = this.#places.get(full)
    const isOther = !this.#read.has(one) && this.find(typeName, name) !== undefined
    if (earlier !== undefined && !isOther) {
      const message = `is declared already at ${earlier.file}:${earlier.line}`
      throw one.error('duplicate-relation', message, 'choose another name')
    }
    const isOfApi = this.#catalog.hasField(typeName, name)
    if (!isOfApi && !isOther) return
    const message = isOfApi
      ? 'the API has a field of this name, which wins'
      : 'the type has a field of this name'
    throw one.error('native-field', message, 'choose another name')
  }

  /** Reads `RELATION.PATH`, the place of a kind in another object; `undefined` if there is no such relation to one. */
  #kindPlace(typeName: string, kindAt: string): KindPlace | undefined {
    const [field = '', ...rest] = kindAt.split('.')
    const relation = this.find(typeName, field)
    const path = rest.join('.')
    return relation === undefined || relation.many || path === '' ? undefined : { relation, path }
  }

  /** The paths that the API of a type has. Throws the problem of the first path that it lacks. */
  #presentPaths(
    typeName: string,
    paths: readonly string[],
    one: Written,
    about = '',
  ): ReadonlySet<string> {
    const isPresent = (path: string): boolean => this.#catalog.at(typeName, path).form !== 'absent'
    const present = new Set(paths.filter(isPresent))
    if (present.size === new Set(paths).size) return present
    if (one.optional) {
      if (present.size === 0) throw passedOver
      return present
    }
    const missing = paths.find((path) => !present.has(path)) ?? ''
    const message = `${about}a ${typeName} has nothing at ${missing}`
    throw one.error('unknown-field', message, unknownFieldHint)
  }

  #add(one: Written): void {
    const { full, declaration } = one
    this.#read.add(one)
    this.#open.push(full)
    const relation = this.#orProblem(one, () => {
      try {
        return this.#relation(one)
      } catch (error) {
        const circle = this.#circles.get(full)
        if (circle === undefined) throw error
        const message = `${full} goes in a circle: ${circle}`
        const hint = 'let one of them go another way'
        throw new SdlError('circle', declaration.place, message, hint)
      }
    })
    this.#open.pop()
    if (relation === undefined) return
    this.#byType = undefined
    this.#relations.set(full, relation)
    this.#places.set(full, declaration.place)
  }

  /** A relation that another one builds on. */
  #step(full: string): RelationField | undefined {
    const from = this.#open.indexOf(full)
    if (from >= 0) {
      const members = this.#open.slice(from)
      const circle = [...members, full].join(' → ')
      for (const member of members) this.#circles.set(member, circle)
      return undefined
    }
    const [written] = this.#written.get(full) ?? []
    if (written !== undefined && !this.#read.has(written)) this.#add(written)
    return this.#relations.get(full) ?? this.#events.get(full)
  }

  #relation(one: Written): RelationField {
    const { full, typeName, optional, declaration } = one
    const { name, type, isList, place, directive, description, isHidden } = declaration
    this.#checkName(one)
    const missing = (unknown: string, written = unknown): Error => {
      if (optional || this.#catalog.isLeftOut(unknown)) return passedOver
      const message = `${full}: there is no type ${written}`
      return this.#catalog.unknown.problem(unknown, place, message) ?? passedOver
    }
    const node = connection.exec(type)?.[1]
    const many = node !== undefined && !isList && this.#catalog.has(node)
    const to = many ? node : type
    if (!this.#catalog.has(to)) throw missing(node ?? type, type)
    const needConnection = (): void => {
      if (many) return
      const message = `@${directive} leads to any number of objects`
      throw one.error('field-type', message, `write its type as ${to}Connection`)
    }
    if (isList) needConnection()
    const reader = relationDirectives.get(directive)
    if (reader === undefined) {
      const message = `@${directive} leads to objects of any kind`
      throw one.error('field-type', message, 'write its type as KubernetesObjectConnection')
    }
    const read: Declaration = {
      name,
      from: typeName,
      to,
      many,
      needConnection,
      needTypes: (types) => {
        const unknown = types.find((other) => !this.#catalog.has(other))
        if (unknown !== undefined) throw missing(unknown)
      },
      needReversible: (of) => this.#checkReversible(of, to, one),
      present: (paths) => this.#presentPaths(typeName, paths, one),
      presentOfTarget: (paths) => this.#presentPaths(to, paths, one),
      argumentsOf: (other) => {
        const known = this.#declarations.get(other)
        return known?.directive === directive ? known.arguments : undefined
      },
      relation: (other) => {
        const step = this.#step(other)
        return step && { to: step.definition.to, many: step.many }
      },
      fail(problem, message, hint) {
        if (problem !== 'no-step') return one.error(problem, message, hint)
        // The step may have been passed over because one of its types is not served.
        return optional ? passedOver : one.error('unknown-relation', message, hint)
      },
    }
    return {
      definition: reader.read(declaration.arguments, read) as RelationDefinition,
      many,
      ...(isHidden ? { isHidden } : {}),
      ...(description === undefined ? {} : { description }),
    }
  }

  #checkReversible(of: string, to: string, one: Written): void {
    const { typeName: from, optional } = one
    if (this.#ofAnyKind.get(of)?.from === to) return
    const reversed = this.#relations.get(of)?.definition
    const fits = reversed !== undefined && isReversible(reversed)
    if (fits && reversed.from === to && reversed.to === from) return
    // The relation may have been passed over because its type is not served.
    if (optional && reversed === undefined) throw passedOver
    const known = reversibleDirectives.map((directive) => `@${directive}`)
    const message = `${of} is no ${known.slice(0, -1).join(', ')} or ${known.at(-1)} from ${to} to ${from}, and no @objectRef of ${to}`
    throw one.error('unknown-relation', message, `declare ${of} or correct the name`)
  }

  #objectRef(
    one: Written,
    { path: paths, topmost, kindAt }: DirectiveArguments['objectRef'],
  ): ObjectRefField {
    const { typeName, optional, declaration } = one
    const { name, type, isList, description } = declaration
    this.#checkName(one)
    for (const path of paths) one.checkPath(path)
    if (paths.length === 0) {
      const hint = 'say where the reference stands'
      throw one.error('unsupported', '@objectRef without a path', hint)
    }
    const written = isList ? `[${type}]` : type
    const parsed = paths.map((path) => parsePath(path))
    const wanted = parsed.some(({ many }) => many) ? '[ObjectRef]' : 'ObjectRef'
    // A step `[member]` or `[member="value"]` may find one item only; `[*]` finds several.
    const mayBeOne = !parsed.some(({ steps }) => steps.some(({ form: step }) => step === 'each'))
    if (written !== wanted && !(mayBeOne && written === 'ObjectRef')) {
      const message = `${paths.join(', ')} does not give a ${written}`
      throw one.error('field-type', message, `write its type as ${wanted}`)
    }
    this.#presentPaths(typeName, paths, one)
    if (kindAt) one.checkPath(kindAt, `: @objectRef(kindAt: ${JSON.stringify(kindAt)})`)
    const kindPlace = kindAt ? this.#kindPlace(typeName, kindAt) : undefined
    if (kindAt && kindPlace === undefined) {
      // The relation may have been passed over, as its type is not served.
      if (optional) throw passedOver
      const hint = 'write it as RELATION.PATH, behind a relation to one object of the same type'
      throw one.error('unknown-relation', `there is no ${kindAt} to read the kind at`, hint)
    }
    if (kindPlace !== undefined)
      this.#presentPaths(kindPlace.relation.definition.to, [kindPlace.path], one)
    return {
      name,
      paths,
      many: isList,
      ...(topmost ? { isTopmost: true } : {}),
      ...(kindPlace === undefined ? {} : { kindAt: kindPlace }),
      ...(description === undefined ? {} : { description }),
    }
  }

  #choice(one: Written, args: DirectiveArguments['chooses']): ChosenObjects {
    const { path, kindAt } = args
    const { full: field, typeName } = one
    for (const [argument, text] of Object.entries({ path, kindAt })) {
      const about = `: @chooses(${argument}: ${JSON.stringify(text)})`
      one.checkPath(text, about)
      if (!parsePath(text).many) continue
      const message = `@chooses(${argument}: ${JSON.stringify(text)}): there may be several`
      throw one.error('bad-path', message, 'leave [*] and the like out')
    }
    const kindPlace = this.#kindPlace(typeName, kindAt)
    if (kindPlace === undefined) throw passedOver
    const { relation, path: kindPath } = kindPlace
    this.#presentPaths(typeName, [path], one, '@chooses: ')
    this.#presentPaths(relation.definition.to, [kindPath], one, '@chooses: ')
    const among = amongOf(args)
    const choice = { field, path: parsePath(path), relation, kindPath: parsePath(kindPath) }
    return among === undefined ? choice : { ...choice, among }
  }

  /** The fields of one kind that lead to several. A field is left out if no kind of the schema can stand behind it. */
  polymorphicOf(typeName: string): readonly PolymorphicRelationField[] {
    return (this.#polymorphic.get(typeName) ?? []).flatMap((one) => {
      const found = this.#orProblem(one, () => this.#polymorphicField(one))
      if (found === undefined) return []
      const { relations, sameLabel, chosen, chosenBy } = found
      return relations.length > 0 || (sameLabel ?? chosen ?? chosenBy) !== undefined ? [found] : []
    })
  }

  #polymorphicField(one: Written): PolymorphicRelationField {
    const { full, typeName, optional, declaration } = one
    const { name, directive, description } = declaration
    const field = { name, relations: [], ...(description === undefined ? {} : { description }) }
    const sameLabel = argumentsOf(declaration, 'sameLabel')?.key
    const chosenBy = argumentsOf(declaration, 'chosenBy')?.of
    const choosing = argumentsOf(declaration, 'chooses') && [full]
    let found: PolymorphicRelationField
    if (sameLabel !== undefined) found = { ...field, sameLabel }
    else if (choosing !== undefined || chosenBy !== undefined) {
      const named = (choosing ?? chosenBy ?? []).filter((other) => this.#choices.has(other))
      const all = named.flatMap((other) => this.#choices.get(other) ?? [])
      const [chosen] = all
      if (chosen === undefined && !optional && named.length === 0) {
        const hint =
          'let kindAt begin with a relation to one object, and `of` name fields with @chooses'
        throw one.error('unknown-relation', 'no declaration says what is chosen', hint)
      }
      const choice = chosenBy === undefined ? { chosen } : { chosenBy: all }
      found = chosen === undefined ? field : { ...field, ...choice }
    } else {
      const reversed = directive === 'reverse' ? String(declaration.arguments['of']) : ''
      const [of, target = ''] = reversed.split('.')
      if (of !== everyKindType) {
        const hint = `write @reverse(of: "${everyKindType}.FIELD"), of a relation that every kind has, @sameLabel, @chooses or @chosenBy`
        throw one.error('field-type', `@${directive} does not lead to several kinds`, hint)
      }
      const references = [...this.#ofAnyKind.values()]
        .filter((reference) => reference.name === target)
        .map(({ from: to }) => reverseOf(name, typeName, to, target))
      found = { ...field, relations: [...this.reversesOf(name, typeName, target), ...references] }
    }
    this.#checkName(one)
    return found
  }

  /** The relations `field` of all kinds to this one, reversed. Call it when all relations are there. */
  reversesOf(name: string, from: string, field: string): readonly RelationField[] {
    const byTarget = getOrInsert(this.#reversible, field, () => {
      const having = this.#catalog.kinds.flatMap(({ typeName: to }) => {
        const definition = this.find(to, field)?.definition
        return definition !== undefined && isReversible(definition) ? [definition] : []
      })
      return Map.groupBy(having, (definition) => definition.to)
    })
    return (byTarget.get(from) ?? []).map(({ from: to }) => reverseOf(name, from, to, field))
  }
}

function reverseOf(name: string, from: string, to: string, field: string): RelationField {
  const of = `${to}.${field}`
  return { definition: { form: 'reverse', name: `${name}=${to}`, from, to, of }, many: true }
}
