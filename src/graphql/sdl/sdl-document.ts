/*
 * Reads one source of SDL into declarations: indexes and uses on types, relations on fields. The directives are those of
 * `schema/directives.graphql`. The arguments of each are checked against its definition; `directive-arguments.ts` has their
 * types, which a generator writes from the same file. The reader never throws: an unreadable part becomes a problem with its
 * file and line.
 */

import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  getArgumentValues,
  type GraphQLDirective,
  GraphQLError,
  type InterfaceTypeExtensionNode,
  Kind,
  type ObjectTypeExtensionNode,
  parse,
  Source,
  type TypeNode,
  buildASTSchema,
  DirectiveLocation,
  type GraphQLEnumType,
  isEnumType,
  isSpecifiedDirective,
} from 'graphql'
import type { DirectiveArguments } from './directive-arguments.ts'
import { SdlError, type SdlPlace } from './sdl-error.ts'
import { type SdlSource, packageSchemaDirectory } from './sdl-source.ts'
import { readFileSync } from 'node:fs'
import { getOrInsert } from '../../lib/get-or-insert.ts'

/** A directive on a type, with its arguments, checked against its definition. */
export interface TypeDeclaration<D extends 'index' | 'ended' | 'uses'> {
  readonly place: SdlPlace
  readonly arguments: DirectiveArguments[D]
}

export interface RelationDeclaration {
  readonly place: SdlPlace
  readonly name: string
  /** The written type, without brackets and exclamation marks. */
  readonly type: string
  /** Whether the type is in brackets. */
  readonly isList: boolean
  readonly description?: string
  readonly directive: string
  /** The arguments of the directive, checked against its definition. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Whether it counts for `usedBy` only, and is no field. */
  readonly isHidden?: true
}

/** The arguments of a declaration if it has this directive. */
export function argumentsOf<D extends keyof DirectiveArguments>(
  { directive, arguments: args }: RelationDeclaration,
  wanted: D,
): DirectiveArguments[D] | undefined {
  return directive === wanted ? (args as unknown as DirectiveArguments[D]) : undefined
}

/** One `extend type` or `extend interface`. */
export interface TypeExtension {
  readonly place: SdlPlace
  readonly typeName: string
  /** Whether an unserved type is passed over. */
  readonly optional: boolean
  readonly indexes: readonly TypeDeclaration<'index'>[]
  readonly relations: readonly RelationDeclaration[]
  readonly ended?: TypeDeclaration<'ended'>
  readonly uses?: readonly TypeDeclaration<'uses'>[]
}

/** The declarations of one source, and the problems of the parts that cannot be read. */
export interface SdlDocument {
  readonly extensions: readonly TypeExtension[]
  readonly problems: readonly SdlError[]
}

const documents = new WeakMap<SdlSource, SdlDocument>()

/** Reads one SDL source, once. Never throws: `problems` has the unreadable parts. */
export function parseSdl(source: SdlSource): SdlDocument {
  return getOrInsert(documents, source, () => {
    const reader = new DocumentReader(source)
    return { extensions: reader.read(), problems: reader.problems }
  })
}

/** White space and comments. GraphQL refuses a document of these alone. */
const nothing = /^(?:\s|#[^\n]*(?:\n|$))*$/

interface LocatedNode {
  readonly loc?: { readonly startToken: { readonly line: number } } | undefined
}

type ExtensionNode = ObjectTypeExtensionNode | InterfaceTypeExtensionNode

class DocumentReader {
  readonly problems: SdlError[] = []
  readonly #source: SdlSource

  constructor(source: SdlSource) {
    this.#source = source
  }

  read(): readonly TypeExtension[] {
    if (nothing.test(this.#source.text)) return []
    let definitions: readonly DefinitionNode[]
    try {
      definitions = parse(new Source(this.#source.text, this.#source.file)).definitions
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      const place = { file: this.#source.file, line: error.locations?.[0]?.line ?? 1 }
      this.problems.push(new SdlError('syntax', place, error.message, 'correct the syntax'))
      return []
    }
    return definitions.flatMap((definition) => this.#extension(definition) ?? [])
  }

  #extension(node: DefinitionNode): TypeExtension | undefined {
    // Files may repeat the definitions of the SDL's own directives and enumerations, for editors.
    const isKnown =
      (node.kind === Kind.DIRECTIVE_DEFINITION &&
        sdlDirectives.some(({ name }) => name === node.name.value)) ||
      (node.kind === Kind.ENUM_TYPE_DEFINITION &&
        sdlEnums.some(({ name }) => name === node.name.value))
    if (isKnown) return undefined
    const isOfEveryKind =
      node.kind === Kind.INTERFACE_TYPE_EXTENSION && node.name.value === 'KubernetesObject'
    if (node.kind !== Kind.OBJECT_TYPE_EXTENSION && !isOfEveryKind) {
      return this.#unsupported(
        node,
        `${node.kind} declares neither an index nor a relation`,
        'write `extend type Pod @index(…) { … }`, or `extend interface KubernetesObject { … }` for every kind',
      )
    }
    return {
      place: this.#placeOf(node),
      typeName: node.name.value,
      optional: this.#source.optional === true,
      ...this.#onType(node),
      relations: (node.fields ?? []).flatMap((field) => this.#relation(field, node) ?? []),
    }
  }

  /** The directives of the type itself. */
  #onType(node: ExtensionNode): Pick<TypeExtension, 'indexes' | 'ended' | 'uses'> {
    const indexes: TypeDeclaration<'index'>[] = []
    const uses: TypeDeclaration<'uses'>[] = []
    let ended: TypeDeclaration<'ended'> | undefined
    for (const directive of node.directives ?? []) {
      const { value: name } = directive.name
      if (node.kind === Kind.INTERFACE_TYPE_EXTENSION) {
        const hint = 'write it on the types that it is meant for'
        this.#unsupported(directive, `@${name} does not stand on every kind`, hint)
        continue
      }
      const definition = typeDirectives.find((one) => one.name === name)
      if (definition === undefined) {
        const hint = 'a type takes @index, @ended and @uses'
        this.#unsupported(directive, `@${name} does not stand on a type`, hint)
        continue
      }
      const found: unknown = this.#arguments(definition, directive, node.name.value)
      if (found === undefined) continue
      const place = this.#placeOf(directive)
      if (name === 'index') indexes.push({ place, arguments: found as DirectiveArguments['index'] })
      else if (name === 'uses') uses.push({ place, arguments: found as DirectiveArguments['uses'] })
      else ended ??= { place, arguments: found as DirectiveArguments['ended'] }
    }
    return {
      indexes,
      ...(ended === undefined ? {} : { ended }),
      ...(uses.length === 0 ? {} : { uses }),
    }
  }

  #relation(
    field: FieldDefinitionNode,
    { name: { value: typeName } }: ExtensionNode,
  ): RelationDeclaration | undefined {
    const about = `${typeName}.${field.name.value}`
    if (field.name.value.startsWith('__')) {
      const message = `${about}: names that begin with __ are those of GraphQL itself`
      return this.#unsupported(field, message, 'choose another name')
    }
    const hint = `give it one of ${fieldDirectives.map((one) => `@${one.name}`).join(', ')}`
    const unknown = field.directives?.find((node) => fieldDirective(node) === undefined)
    if (unknown !== undefined) {
      const message = `${about}: no directive @${unknown.name.value} makes it a relation`
      return this.#unsupported(unknown, message, hint)
    }
    // `@named` may stand beside `@reference`, in either order.
    const [directive, second, third] = (field.directives ?? []).toSorted(
      (a, b) => Number(b.name.value === 'reference') - Number(a.name.value === 'reference'),
    )
    const isPair =
      directive?.name.value === 'reference' && second?.name.value === 'named' && third === undefined
    const definition = directive && fieldDirective(directive)
    if (directive === undefined || definition === undefined || (second !== undefined && !isPair)) {
      const message = `${about} needs exactly one directive that makes it a relation`
      return this.#unsupported(field, message, hint)
    }
    if ((field.arguments ?? []).length > 0) {
      const way = 'leave them out: the gateway gives every relation its arguments'
      return this.#unsupported(field, `${about} declares arguments`, way)
    }
    const found = this.#arguments(definition, directive, about)
    const beside = second && fieldDirective(second)
    const names = beside && this.#arguments(beside, second, about)
    if (found === undefined || (second !== undefined && names === undefined)) return undefined
    const { category } = found
    if (category !== undefined && category !== null && typeName !== 'KubernetesObject') {
      const message = `${about}: only a field of every kind takes a category`
      const way = 'leave it out, or write the field on `extend interface KubernetesObject`'
      return this.#unsupported(directive, message, way)
    }
    return {
      place: this.#placeOf(field),
      name: field.name.value,
      ...writtenType(field.type),
      ...(field.description === undefined ? {} : { description: field.description.value }),
      directive: definition.name,
      arguments: names === undefined ? found : { ...found, names },
    }
  }

  #arguments(
    definition: GraphQLDirective,
    node: ConstDirectiveNode,
    about: string,
  ): Readonly<Record<string, unknown>> | undefined {
    const known = definition.args.map(({ name }) => name)
    const unknown = node.arguments?.find(({ name }) => !known.includes(name.value))
    if (unknown !== undefined) {
      const message = `${about}: @${definition.name} has no argument ${unknown.name.value}`
      return this.#unsupported(unknown, message, `it takes ${known.join(', ')}`)
    }
    try {
      return getArgumentValues(definition, node)
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      const hint = `correct the arguments of @${definition.name}`
      return this.#unsupported(node, `${about}: ${error.message}`, hint)
    }
  }

  #unsupported(node: LocatedNode, message: string, hint: string): undefined {
    this.problems.push(new SdlError('unsupported', this.#placeOf(node), message, hint))
  }

  #placeOf(node: LocatedNode): SdlPlace {
    return { file: this.#source.file, line: node.loc?.startToken.line ?? 1 }
  }
}

function fieldDirective({ name }: ConstDirectiveNode): GraphQLDirective | undefined {
  return fieldDirectives.find((one) => one.name === name.value)
}

function writtenType(node: TypeNode): { readonly type: string; readonly isList: boolean } {
  switch (node.kind) {
    case Kind.NAMED_TYPE:
      return { type: node.name.value, isList: false }
    case Kind.NON_NULL_TYPE:
      return writtenType(node.type)
    case Kind.LIST_TYPE:
      return { type: writtenType(node.type).type, isList: true }
  }
}

const vocabulary = buildASTSchema(
  parse(readFileSync(new URL('directives.graphql', packageSchemaDirectory), 'utf8')),
)

/** All directives of the SDL. */
export const sdlDirectives: readonly GraphQLDirective[] = vocabulary
  .getDirectives()
  .filter((directive) => !isSpecifiedDirective(directive))

export const sdlEnums: readonly GraphQLEnumType[] = Object.values(vocabulary.getTypeMap()).filter(
  (type) => isEnumType(type) && !type.name.startsWith('__'),
) as GraphQLEnumType[]

// Code has the values in camel case: `DATE_TIME` is `dateTime`.
for (const value of sdlEnums.flatMap((type) => type.getValues())) {
  value.value = value.name
    .toLowerCase()
    .replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

export const indexType: GraphQLEnumType = vocabulary.getType('IndexType') as GraphQLEnumType

/** The directives on types, and the directives that make a field a relation. */
export const typeDirectives: readonly GraphQLDirective[] = directivesOn(DirectiveLocation.OBJECT)
export const fieldDirectives: readonly GraphQLDirective[] = directivesOn(
  DirectiveLocation.FIELD_DEFINITION,
)

function directivesOn(location: DirectiveLocation): readonly GraphQLDirective[] {
  return sdlDirectives.filter(({ locations }) => locations.includes(location))
}
