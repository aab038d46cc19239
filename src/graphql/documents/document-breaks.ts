/*
 * Finds where the documents of clients break against a schema. All documents are validated as one. With an earlier
 * schema, its breaking changes are found, too, and matched by schema coordinate with the parts that the documents use,
 * including parts that values of variables may carry.
 */

import type { Change } from '@graphql-inspector/core'
import {
  type ASTNode,
  buildSchema,
  type DocumentNode,
  getNamedType,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  Kind as NodeKind,
  KnownDirectivesRule,
  LoneAnonymousOperationRule,
  type NamedTypeNode,
  NoUnusedFragmentsRule,
  parse,
  print,
  Source,
  specifiedRules,
  TypeInfo,
  typeFromAST,
  type TypeNode,
  UniqueFragmentNamesRule,
  UniqueOperationNamesRule,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'

/** A file of a client's operations and fragments. */
export interface ClientDocument {
  /** The name of the file, for messages. */
  readonly file: string
  readonly text: string
}

/** A place of a client's documents that a schema does not serve, or that a new schema serves differently. */
export interface DocumentBreak {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  /**
   * The part of the schema that the document uses there: `WidgetSpec.colour`, `Query.pods(where:)`, `PodWhere.phase`;
   * null if that is unknown.
   */
  readonly coordinate: string | null
  /** `INVALID`: the schema refuses the document. Otherwise the change: `FIELD_REMOVED`, `FIELD_TYPE_CHANGED`, ... */
  readonly code: string
  readonly message: string
  /** The way out. */
  readonly hint: string
}

/** The documents and schemas that {@link checkDocuments} compares. */
export interface DocumentCheck {
  readonly documents: readonly ClientDocument[]
  /** The schema that is to serve the documents, as SDL. */
  readonly schema: string
  /** The schema that the documents were written for, as SDL. Changes since then count, too. */
  readonly against?: string | undefined
}

/** A document or a schema that cannot be checked. */
export class DocumentCheckError extends CodedError {
  constructor(problem: string, details: { readonly hint: string; readonly cause?: unknown }) {
    super('DOCUMENT_CHECK', problem, details)
  }
}

/**
 * Finds the places where clients' documents would break: places that the schema refuses and, with `against`, changes
 * since that schema that break a client (another type, a value that may be null now, a field that a variable may carry).
 * Changes that no document uses are left out. Ordered by file and place. Rejects with {@link DocumentCheckError}.
 */
export async function checkDocuments({
  documents,
  schema,
  against,
}: DocumentCheck): Promise<readonly DocumentBreak[]> {
  const document = combined(documents)
  const now = schemaOf(schema, 'the schema')
  const before = against === undefined ? undefined : schemaOf(against, 'the schema before')
  const uses = usesOf(document, before ?? now)
  const breaks: DocumentBreak[] = []
  const broken = new Set<string>()
  if (before !== undefined) {
    const { diff, CriticalityLevel } = await import('@graphql-inspector/core')
    for (const change of await diff(before, now)) {
      if (change.criticality.level !== CriticalityLevel.Breaking) continue
      for (const { node, coordinate, variable } of uses.concernedBy(change)) {
        const place = placeOf(node)
        const carried = variable === undefined ? '' : `, and $${variable} may carry it`
        const message = `${change.message}${carried}`
        const hint = hintOf(change, before)
        breaks.push({ ...place, coordinate, code: change.type, message, hint })
        broken.add(JSON.stringify(place))
      }
    }
  }
  const wasInvalid = new Set(before && invalidParts(before, document).map(({ node }) => node))
  for (const { node, message } of invalidParts(now, document)) {
    const place = placeOf(node)
    // The change that made the place invalid says more.
    if (broken.has(JSON.stringify(place))) continue
    const hint = wasInvalid.has(node)
      ? 'the schema before refuses it too: correct the document'
      : 'remove it from the document, or change it to match the schema'
    breaks.push({ ...place, coordinate: uses.at(node) ?? null, code: 'INVALID', message, hint })
  }
  return breaks.toSorted(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column,
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function schemaOf(sdl: string, name: string): GraphQLSchema {
  try {
    // Skips validation of the SDL: a subgraph has directives that it does not define.
    return buildSchema(sdl, { assumeValidSDL: true })
  } catch (cause) {
    throw new DocumentCheckError(`${name} is not SDL: ${(cause as Error).message}`, {
      hint: 'give what `informerql schema` prints',
      cause,
    })
  }
}

/** All documents as one, since their fragments may stand in other files. Nodes know their files. */
function combined(documents: readonly ClientDocument[]): DocumentNode {
  const definitions = documents.flatMap(({ file, text }) => {
    try {
      return parse(new Source(text, file)).definitions
    } catch (cause) {
      if (!(cause instanceof GraphQLError)) throw cause
      const { line, column } = cause.locations?.[0] ?? nowhere
      throw new DocumentCheckError(`${file}:${line}:${column}: ${cause.message}`, {
        hint: 'correct the document, or name only the files of operations and fragments',
        cause,
      })
    }
  })
  const fragments = new Map<string, ASTNode>()
  const copies = new Set<ASTNode>()
  for (const one of definitions) {
    if (one.kind !== NodeKind.FRAGMENT_DEFINITION) continue
    const name = one.name.value
    const other = fragments.get(name)
    // Generators write the fragments of the sources into their own files.
    if (other !== undefined && print(other) === print(one)) copies.add(one)
    else if (other !== undefined) {
      const places = [other, one].map(placeOf).map(({ file, line }) => `${file}:${line}`)
      throw new DocumentCheckError(`fragment ${name} stands at ${places.join(' and at ')}`, {
        hint: 'check the documents of one client at a time',
      })
    }
    if (other === undefined) fragments.set(name, one)
  }
  return {
    kind: NodeKind.DOCUMENT,
    definitions: definitions.filter((one) => !copies.has(one)),
  }
}

const nowhere = { file: '', line: 1, column: 1 }

function placeOf({ loc }: ASTNode): typeof nowhere {
  if (loc === undefined) return nowhere
  const { line, column } = loc.startToken
  return { file: loc.source.name, line, column }
}

/**
 * Rules that do not concern the schema: the operations of several files stand in one document, and clients have their own
 * directives, which they remove before sending.
 */
const beside = new Set<unknown>([
  LoneAnonymousOperationRule,
  NoUnusedFragmentsRule,
  UniqueFragmentNamesRule,
  UniqueOperationNamesRule,
  KnownDirectivesRule,
])
const rules = specifiedRules.filter((rule) => !beside.has(rule))

interface InvalidPart {
  readonly node: ASTNode
  readonly message: string
}

function invalidParts(schema: GraphQLSchema, document: DocumentNode): readonly InvalidPart[] {
  const errors = validate(schema, document, rules, { maxErrors: 10_000 })
  return errors.flatMap(({ message, nodes }) => {
    const node = nodes?.[0]
    return node === undefined ? [] : [{ node, message }]
  })
}

/** A place where a document uses a part of a schema. */
interface Use {
  readonly node: ASTNode
  readonly coordinate: string
  /** The variable whose values may use it. */
  readonly variable?: string | undefined
}

class Uses {
  readonly #byCoordinate = new Map<string, Use[]>()
  readonly #byNode = new Map<ASTNode, string>()
  readonly #variables: (Pick<Use, 'node' | 'variable'> & { readonly type: GraphQLInputType })[] = []
  /** The parts that values of input types may use, by type name: many variables have the same few types. */
  readonly #carried = new Map<string, ReadonlySet<string>>()

  add(node: ASTNode, coordinate: string): void {
    const use = { node, coordinate }
    getOrInsert(this.#byCoordinate, coordinate, () => []).push(use)
    this.#byNode.set(node, coordinate)
  }

  /** Adds the parts that values of a variable may use. `node` names its type. */
  addVariable(node: ASTNode, variable: string, type: GraphQLInputType): void {
    this.#variables.push({ node, variable, type })
  }

  /** The coordinate that a node uses. */
  at(node: ASTNode): string | undefined {
    return this.#byNode.get(node)
  }

  /** The uses of the part that a breaking change removes or requires. */
  concernedBy({ type, path = '' }: Change): readonly Use[] {
    const [typeName = '', member, argument] = path.split('.')
    const coordinates: Readonly<Record<Part, string>> = {
      type: typeName,
      member: `${typeName}.${member}`,
      argument: `${typeName}.${member}(${argument}:)`,
    }
    const part = changes[type]?.part
    const coordinate = part && coordinates[part]
    if (coordinate === undefined) return []
    const carriers = this.#variables.filter((one) => this.#carriedBy(one.type).has(coordinate))
    return [
      ...(this.#byCoordinate.get(coordinate) ?? []),
      ...carriers.map(({ node, variable }) => ({ node, coordinate, variable })),
    ]
  }

  #carriedBy(type: GraphQLInputType): ReadonlySet<string> {
    const { name } = getNamedType(type)
    return getOrInsert(this.#carried, name, () => carriedBy(type))
  }
}

function usesOf(document: DocumentNode, schema: GraphQLSchema): Uses {
  const uses = new Uses()
  const types = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(node) {
        const parent = types.getParentType()
        if (parent) uses.add(node, `${parent.name}.${node.name.value}`)
      },
      Argument(node) {
        const [parent, field] = [types.getParentType(), types.getFieldDef()]
        if (!types.getDirective() && parent && field) {
          uses.add(node, `${parent.name}.${field.name}(${node.name.value}:)`)
        }
      },
      ObjectValue(node) {
        const type = getNamedType(types.getInputType())
        if (type) uses.add(node, type.name)
      },
      ObjectField(node) {
        const type = getNamedType(types.getParentInputType())
        if (type) uses.add(node, `${type.name}.${node.name.value}`)
      },
      EnumValue(node) {
        const type = getNamedType(types.getInputType())
        if (type) uses.add(node, `${type.name}.${node.value}`)
      },
      NamedType: (node) => uses.add(node, node.name.value),
      Directive: (node) => uses.add(node, `@${node.name.value}`),
      VariableDefinition(node) {
        const type = typeFromAST(schema, node.type)
        if (type === undefined || !isInputType(type)) return
        uses.addVariable(namedTypeOf(node.type), node.variable.name.value, type)
      },
    }),
  )
  return uses
}

function namedTypeOf(node: TypeNode): NamedTypeNode {
  return node.kind === NodeKind.NAMED_TYPE ? node : namedTypeOf(node.type)
}

/** The parts that a value of an input type may use, besides the type itself. */
function carriedBy(type: GraphQLInputType): ReadonlySet<string> {
  const coordinates = new Set<string>()
  const root = getNamedType(type)
  const open = new Set([root])
  for (const one of open) {
    if (isEnumType(one)) {
      for (const { name } of one.getValues()) coordinates.add(`${one.name}.${name}`)
    }
    if (!isInputObjectType(one)) continue
    if (one !== root) coordinates.add(one.name)
    for (const field of Object.values(one.getFields())) {
      coordinates.add(`${one.name}.${field.name}`)
      open.add(getNamedType(field.type))
    }
  }
  return coordinates
}

/** What a client's document uses, by its coordinate: `PodSpec`, `PodSpec.volumes`, `Query.pods(where:)`. */
type Part = 'type' | 'member' | 'argument'

const stopPassing = 'stop passing it: filter and order by something else that the schema has'
const newType = 'pass a value of the new type'
const asNow = 'write the document as the new schema has it'

/** The breaking changes: the part that a document uses if it is concerned, and the way out for a client. */
const changes: Readonly<Partial<Record<string, { readonly part: Part; readonly hint: string }>>> = {
  FIELD_REMOVED: {
    part: 'member',
    hint: 'take the field out of the document before the upgrade, or keep it in the new version of the API',
  },
  FIELD_TYPE_CHANGED: {
    part: 'member',
    hint: "regenerate the client's types, and let its code read the new type before the upgrade",
  },
  // A required argument: every selection of the field lacks it.
  FIELD_ARGUMENT_ADDED: { part: 'member', hint: 'pass the argument' },
  FIELD_ARGUMENT_REMOVED: { part: 'argument', hint: 'leave the argument out' },
  FIELD_ARGUMENT_TYPE_CHANGED: { part: 'argument', hint: newType },
  // A required field: every value of the input lacks it.
  INPUT_FIELD_ADDED: { part: 'type', hint: 'pass the field in every value of the input' },
  INPUT_FIELD_REMOVED: { part: 'member', hint: stopPassing },
  INPUT_FIELD_TYPE_CHANGED: { part: 'member', hint: newType },
  ENUM_VALUE_REMOVED: { part: 'member', hint: stopPassing },
  TYPE_REMOVED: { part: 'type', hint: asNow },
  TYPE_KIND_CHANGED: { part: 'type', hint: asNow },
  DIRECTIVE_REMOVED: { part: 'type', hint: asNow },
}

/** The way out of a change, for a client. */
function hintOf({ type, path = '' }: Change, before: GraphQLSchema): string {
  const [typeName = '', member = ''] = path.split('.')
  if (type === 'FIELD_REMOVED') {
    const from = before.getType(typeName)
    const field = from && 'getFields' in from ? from.getFields()[member] : undefined
    const reason = field?.deprecationReason
    if (reason) return `it was deprecated: ${reason}`
    if (from === before.getQueryType() || from === before.getSubscriptionType()) {
      return 'no cluster serves the kind any more, or the profile leaves it out: ask for another kind, or serve it again'
    }
  }
  return changes[type]?.hint ?? asNow
}
