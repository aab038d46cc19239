import { PathError } from '../../query/index/path.ts'
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
import { argumentsOf, type RelationDeclaration, type TypeExtension } from '../sdl/sdl-document.ts'
import {
  pathProblem,
  SdlError,
  type SdlPlace,
  type SdlProblem,
  unknownFieldHint,
} from '../sdl/sdl-error.ts'
import { everyKindType, type KindPlace, type RelationField } from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'

/** The relations beside the declared ones. */
export interface RelationSources {
  /** Relations that need no declaration. `@reverse` may name them. */
  readonly given: readonly RelationField[]
  /** All declarations, also of types that are not served: `as` may name them. */
  readonly written: readonly TypeExtension[]
  /** The relation of each kind to its Events. `@through` may name them. */
  readonly events: readonly RelationField[]
}

/** Whether a declaration leads to objects of several kinds. */
export function isPolymorphic({ type }: RelationDeclaration): boolean {
  return type === `${everyKindType}Connection`
}

interface Written {
  readonly full: string
  readonly typeName: string
  readonly optional: boolean
  readonly declaration: RelationDeclaration
}

interface Target {
  readonly to: string
  readonly many: boolean
}

class PassedOver extends Error {}

/** Thrown for a declaration that names a type which is not served. There may be hundreds, so all share one error. */
const passedOver = new PassedOver()

const connection = /^(.+)Connection$/

/** Fields of these directives come after those of the others, in this order. */
const lastDirectives = ['reverse', 'through']

/** Collects the declared relations of all kinds. */
export class SdlRelations {
  readonly #catalog: KindCatalog
  readonly #relations = new Map<string, RelationField>()
  readonly #places = new Map<string, SdlPlace>()
  /** All declarations by full name, also of types that are not served. */
  readonly #declarations = new Map<string, RelationDeclaration>()
  readonly #ofAnyKind = new Map<string, ReferenceOfAnyKind>()
  /** The declared relations by type, cached until the next one is added. */
  #byType: ReadonlyMap<string, readonly RelationField[]> | undefined
  readonly #events: ReadonlyMap<string, RelationField>
  /** The declarations to be added, by full name. */
  #written: ReadonlyMap<string, readonly Written[]> = new Map()
  /** Those of them that are read. One that builds on another reads that first. */
  readonly #read = new Set<Written>()
  /** The names of those that are being read, each for the one before it. */
  readonly #open: string[] = []
  readonly #circles = new Map<string, string>()
  readonly #problems: SdlError[] = []

  constructor(catalog: KindCatalog, { given, written, events }: RelationSources) {
    this.#catalog = catalog
    for (const relation of given) this.#relations.set(relationName(relation.definition), relation)
    for (const { typeName, relations } of written) {
      for (const declaration of relations)
        this.#declarations.set(`${typeName}.${declaration.name}`, declaration)
    }
    this.#events = new Map(events.map((one) => [relationName(one.definition), one]))
  }

  /** The relations of one kind, in the order of their declaration. */
  of(typeName: string): readonly RelationField[] {
    this.#byType ??= Map.groupBy(this.#relations.values(), ({ definition }) => definition.from)
    return this.#byType.get(typeName) ?? []
  }

  /** One relation of a kind. */
  find(typeName: string, field: string): RelationField | undefined {
    return this.#relations.get(`${typeName}.${field}`)
  }

  /** Reads `RELATION.PATH`, the place of a kind in another object; `undefined` if there is no such relation to one. */
  kindPlace(typeName: string, kindAt: string): KindPlace | undefined {
    const [field = '', ...rest] = kindAt.split('.')
    const relation = this.find(typeName, field)
    const path = rest.join('.')
    return relation === undefined || relation.many || path === '' ? undefined : { relation, path }
  }

  /** The references to objects of any kind that `@reverse` may name. */
  get ofAnyKind(): readonly ReferenceOfAnyKind[] {
    return [...this.#ofAnyKind.values()]
  }

  /** Adds all relations. Returns their problems; yields between relations. */
  *addAll(extensions: readonly TypeExtension[]): Generator<void, readonly SdlError[]> {
    const all: Written[] = []
    for (const { typeName, optional, relations } of extensions) {
      for (const declaration of relations) {
        const { name, place } = declaration
        if (isPolymorphic(declaration)) continue
        const full = `${typeName}.${name}`
        const reference = argumentsOf(declaration, 'objectRef')
        if (reference === undefined) {
          all.push({ full, typeName, optional, declaration })
          continue
        }
        const { path, topmost, kindAt, uses } = reference
        // No index holds such a reference: another object decides which object is meant.
        if (topmost || kindAt || path.some((one) => pathProblem(one, place, name))) continue
        const use = uses ? { uses } : {}
        this.#ofAnyKind.set(full, { from: typeName, name, paths: path, ...use })
      }
    }
    const rankOf = ({ declaration }: Written): number =>
      lastDirectives.indexOf(declaration.directive)
    const ordered = all.toSorted((a, b) => rankOf(a) - rankOf(b))
    this.#written = Map.groupBy(ordered, ({ full }) => full)
    for (const one of ordered) {
      if (!this.#read.has(one)) this.#add(one)
      yield
    }
    return this.#problems
  }

  #add(one: Written): void {
    const { full, declaration } = one
    this.#read.add(one)
    this.#open.push(full)
    try {
      const relation = this.#relation(one)
      this.#byType = undefined
      this.#relations.set(full, relation)
      this.#places.set(full, declaration.place)
    } catch (error) {
      const problem = this.#problemOf(error, one)
      if (problem !== undefined) this.#problems.push(problem)
    } finally {
      this.#open.pop()
    }
  }

  /** Errors of paths and rules become `SdlError`s, which name the file, the line and the field. */
  #problemOf(error: unknown, { full, declaration: { place } }: Written): SdlError | undefined {
    const circle = this.#circles.get(full)
    if (circle !== undefined) {
      const message = `${full} goes in a circle: ${circle}`
      return new SdlError('circle', place, message, 'let one of them go another way')
    }
    if (error instanceof SdlError) return error
    if (error === passedOver) return undefined
    const isExpected =
      error instanceof PathError ||
      error instanceof NameTemplateError ||
      error instanceof RelationDefinitionError
    if (!isExpected) throw error
    const hint = error.hint ?? 'correct the path'
    return new SdlError('bad-path', place, `${full}: ${error.message}`, hint)
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

  #relation({ full, typeName, optional, declaration }: Written): RelationField {
    const { name, type, place, directive, description, isHidden } = declaration
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, `${full}: ${message}`, hint)
    const earlier = this.#places.get(full)
    if (earlier !== undefined) {
      const message = `is declared already at ${earlier.file}:${earlier.line}`
      throw fail('duplicate-relation', message, 'choose another name')
    }
    if (this.#catalog.hasField(typeName, name)) {
      const message = 'the API has a field of this name, which wins'
      throw fail('native-field', message, 'choose another name')
    }
    const missing = (unknown: string, written = unknown): Error => {
      if (optional || this.#catalog.isLeftOut(unknown)) return passedOver
      const message = `${full}: there is no type ${written}`
      return this.#catalog.unknown.problem(unknown, place, message) ?? passedOver
    }
    const target = this.#target(declaration)
    if (target === undefined) throw missing(connection.exec(type)?.[1] ?? type, type)
    const { to, many } = target
    const needConnection = (): void => {
      if (many) return
      const message = `@${directive} leads to any number of objects`
      throw fail('field-type', message, `write its type as ${to}Connection`)
    }
    if (declaration.isList) needConnection()
    const reader = relationDirectives.get(directive)
    if (reader === undefined) {
      const message = `@${directive} leads to objects of any kind`
      throw fail('field-type', message, 'write its type as KubernetesObjectConnection')
    }
    const read: Declaration = {
      name,
      from: typeName,
      to,
      many,
      needConnection,
      needTypes: (types) => {
        const unknown = types.find((one) => !this.#catalog.has(one))
        if (unknown !== undefined) throw missing(unknown)
      },
      needReversible: (of) => {
        this.#checkReversible(of, target, { full, typeName, optional, declaration })
      },
      present: (paths) => this.#presentPaths(typeName, paths, optional, fail),
      presentOfTarget: (paths) => this.#presentPaths(to, paths, optional, fail),
      argumentsOf: (other) => {
        const known = this.#declarations.get(other)
        return known?.directive === directive ? known.arguments : undefined
      },
      relation: (other) => {
        const step = this.#step(other)
        return step && { to: step.definition.to, many: step.many }
      },
      fail(problem, message, hint) {
        if (problem !== 'no-step') return fail(problem, message, hint)
        // The step may have been passed over, as a type of it is not served.
        return optional ? passedOver : fail('unknown-relation', message, hint)
      },
    }
    return {
      definition: reader.read(declaration.arguments, read) as RelationDefinition,
      many,
      ...(isHidden ? { isHidden } : {}),
      ...(description === undefined ? {} : { description }),
    }
  }

  #target({ type, isList }: RelationDeclaration): Target | undefined {
    const node = connection.exec(type)?.[1]
    if (node !== undefined && !isList && this.#catalog.has(node)) return { to: node, many: true }
    return this.#catalog.has(type) ? { to: type, many: false } : undefined
  }

  #presentPaths(
    typeName: string,
    paths: readonly string[],
    optional: boolean,
    fail: (problem: SdlProblem, message: string, hint: string) => SdlError,
  ): ReadonlySet<string> {
    const isPresent = (path: string): boolean => this.#catalog.at(typeName, path).form !== 'absent'
    const present = new Set(paths.filter(isPresent))
    if (present.size === new Set(paths).size) return present
    if (optional) {
      if (present.size === 0) throw passedOver
      return present
    }
    const missing = paths.find((path) => !present.has(path)) ?? ''
    throw fail('unknown-field', `a ${typeName} has nothing at ${missing}`, unknownFieldHint)
  }

  #checkReversible(
    of: string,
    { to }: Target,
    { full, typeName: from, optional, declaration: { place } }: Written,
  ): void {
    if (this.#ofAnyKind.get(of)?.from === to) return
    const reversed = this.#relations.get(of)?.definition
    const fits = reversed !== undefined && isReversible(reversed)
    if (fits && reversed.from === to && reversed.to === from) return
    // The relation may have been passed over, as its type is not served.
    if (optional && reversed === undefined) throw passedOver
    const known = reversibleDirectives.map((one) => `@${one}`)
    const message = `${full}: ${of} is no ${known.slice(0, -1).join(', ')} or ${known.at(-1)} from ${to} to ${from}, and no @objectRef of ${to}`
    throw new SdlError('unknown-relation', place, message, `declare ${of} or correct the name`)
  }
}
