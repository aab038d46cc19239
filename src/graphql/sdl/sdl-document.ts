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
} from 'graphql'
import {
  type EndedArguments,
  endedDirective,
  type IndexArguments,
  indexDirective,
  isRelationDirective,
  type RelationDirective,
  type RelationDirectiveArguments,
  relationDirectives,
  sdlDirectives,
} from './sdl-directives.ts'
import { sdlEnums } from './sdl-enums.ts'
import { SdlError, type SdlPlace } from './sdl-error.ts'
import type { SdlSource } from './sdl-source.ts'

/** An `@index` as it is written. */
export interface IndexDeclaration {
  readonly place: SdlPlace
  readonly arguments: IndexArguments
}

/** A directive of a field, with its arguments. */
type RelationForm = {
  readonly [D in RelationDirective]: {
    readonly directive: D
    readonly arguments: RelationDirectiveArguments[D]
  }
}[RelationDirective]

/** A relation as it is written. */
export interface RelationDeclaration {
  readonly place: SdlPlace
  readonly name: string
  /** The type that is written, without brackets and exclamation marks. */
  readonly type: string
  /** Whether the type is in brackets. */
  readonly isList: boolean
  readonly description?: string
  readonly form: RelationForm
}

/** One `extend type`. */
export interface TypeExtension {
  readonly place: SdlPlace
  readonly typeName: string
  /** Whether a type that is not served is passed over. */
  readonly optional: boolean
  readonly indexes: readonly IndexDeclaration[]
  readonly relations: readonly RelationDeclaration[]
  /** Its `@ended`, if it has one. */
  readonly ended?: EndedDeclaration
}

/** An `@ended` as it is written. */
export interface EndedDeclaration {
  readonly place: SdlPlace
  readonly arguments: EndedArguments
}

/** What one source says, as far as it can be read. */
export interface SdlDocument {
  readonly extensions: readonly TypeExtension[]
  readonly problems: readonly SdlError[]
}

/** Reads one SDL source. Throws nothing: what cannot be read is among the problems. */
export function parseSdl(source: SdlSource): SdlDocument {
  const reader = new DocumentReader(source)
  return { extensions: reader.read(), problems: reader.problems }
}

/** White space and comments, which GraphQL does not take for a document. */
const nothing = /^(?:\s|#[^\n]*(?:\n|$))*$/

interface LocatedNode {
  readonly loc?: { readonly startToken: { readonly line: number } } | undefined
}

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
    if (isDirectiveVocabulary(node)) return undefined
    const isOfEveryKind =
      node.kind === Kind.INTERFACE_TYPE_EXTENSION && node.name.value === 'KubernetesObject'
    if (node.kind !== Kind.OBJECT_TYPE_EXTENSION && !isOfEveryKind) {
      this.#unsupported(
        node,
        `${node.kind} declares neither an index nor a relation`,
        'write `extend type Pod @index(…) { … }`, or `extend interface KubernetesObject { … }` for every kind',
      )
      return undefined
    }
    return {
      place: this.#placeOf(node),
      typeName: node.name.value,
      optional: this.#source.optional === true,
      indexes: this.#indexes(node),
      ...(node.kind === Kind.OBJECT_TYPE_EXTENSION ? this.#ended(node) : {}),
      relations: (node.fields ?? []).flatMap((field) => this.#relation(field, node) ?? []),
    }
  }

  #indexes(
    node: ObjectTypeExtensionNode | InterfaceTypeExtensionNode,
  ): readonly IndexDeclaration[] {
    return (node.directives ?? []).flatMap((directive) => {
      if (node.kind === Kind.INTERFACE_TYPE_EXTENSION) {
        const message = `@${directive.name.value} does not stand on every kind`
        this.#unsupported(directive, message, 'write it on the types that it is meant for')
        return []
      }
      if (directive.name.value === endedDirective.name) return []
      if (directive.name.value !== indexDirective.name) {
        const name = `@${directive.name.value}`
        this.#unsupported(
          directive,
          `${name} does not stand on a type`,
          'a type takes @index and @ended',
        )
        return []
      }
      const found = this.#arguments(indexDirective, directive, node.name.value)
      return found === undefined
        ? []
        : [{ place: this.#placeOf(directive), arguments: found as unknown as IndexArguments }]
    })
  }

  #ended({
    name: { value: typeName },
    directives = [],
  }: ObjectTypeExtensionNode | InterfaceTypeExtensionNode): Pick<TypeExtension, 'ended'> {
    const directive = directives.find(({ name }) => name.value === endedDirective.name)
    const found = directive && this.#arguments(endedDirective, directive, typeName)
    if (directive === undefined || found === undefined) return {}
    const given = found as unknown as EndedArguments
    return { ended: { place: this.#placeOf(directive), arguments: given } }
  }

  #relation(
    field: FieldDefinitionNode,
    { name: { value: typeName } }: ObjectTypeExtensionNode | InterfaceTypeExtensionNode,
  ): RelationDeclaration | undefined {
    const about = `${typeName}.${field.name.value}`
    if (field.name.value.startsWith('__')) {
      const message = `${about}: names that begin with __ are those of GraphQL itself`
      this.#unsupported(field, message, 'choose another name')
      return undefined
    }
    const unknown = field.directives?.find(({ name }) => !isRelationDirective(name.value))
    const [directive, second, third] = (field.directives ?? []).toSorted(referenceFirst)
    const directives = Object.keys(relationDirectives).map((name) => `@${name}`)
    const isPair = directive?.name.value === 'reference' && second?.name.value === 'named'
    if (unknown !== undefined) {
      const message = `${about}: no directive @${unknown.name.value} makes it a relation`
      this.#unsupported(unknown, message, `give it one of ${directives.join(', ')}`)
      return undefined
    }
    if (
      directive === undefined ||
      (second !== undefined && !isPair) ||
      third !== undefined ||
      !isRelationDirective(directive.name.value)
    ) {
      const hint = `give it one of ${directives.join(', ')}`
      this.#unsupported(
        field,
        `${about} needs exactly one directive that makes it a relation`,
        hint,
      )
      return undefined
    }
    if ((field.arguments ?? []).length > 0) {
      const hint = 'leave them out: the gateway gives every relation its arguments'
      this.#unsupported(field, `${about} declares arguments`, hint)
      return undefined
    }
    const name = directive.name.value
    const found = this.#arguments(relationDirectives[name], directive, about)
    if (found === undefined) return undefined
    let names: Readonly<Record<string, unknown>> | undefined
    if (second !== undefined) {
      names = this.#arguments(relationDirectives.named, second, about)
      if (names === undefined) return undefined
    }
    const { category } = found
    if (category !== undefined && category !== null && typeName !== 'KubernetesObject') {
      const message = `${about}: category tells of every kind which are meant`
      const hint = 'leave it out, or write the field on `extend interface KubernetesObject`'
      this.#unsupported(directive, message, hint)
      return undefined
    }
    return {
      place: this.#placeOf(field),
      name: field.name.value,
      ...writtenType(field.type),
      ...(field.description === undefined ? {} : { description: field.description.value }),
      form: {
        directive: name,
        arguments: names === undefined ? found : { ...found, names },
      } as unknown as RelationForm,
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
      this.#unsupported(unknown, message, `it takes ${known.join(', ')}`)
      return undefined
    }
    try {
      return getArgumentValues(definition, node)
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      const hint = `correct the arguments of @${definition.name}`
      this.#unsupported(node, `${about}: ${error.message}`, hint)
      return undefined
    }
  }

  #unsupported(node: LocatedNode, message: string, hint: string): void {
    this.problems.push(new SdlError('unsupported', this.#placeOf(node), message, hint))
  }

  #placeOf(node: LocatedNode): SdlPlace {
    return { file: this.#source.file, line: node.loc?.startToken.line ?? 1 }
  }
}

/** `@named` may stand beside `@reference`, in whichever order: then both say whom the object means. */
function referenceFirst(a: ConstDirectiveNode, b: ConstDirectiveNode): number {
  return Number(b.name.value === 'reference') - Number(a.name.value === 'reference')
}

/** Editors want the directives to be defined; that they are is no news here. */
function isDirectiveVocabulary(node: DefinitionNode): boolean {
  if (node.kind === Kind.DIRECTIVE_DEFINITION)
    return sdlDirectives.some(({ name }) => name === node.name.value)
  if (node.kind === Kind.ENUM_TYPE_DEFINITION)
    return sdlEnums.some(({ name }) => name === node.name.value)
  return false
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
