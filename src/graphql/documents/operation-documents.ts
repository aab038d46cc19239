/*
 * The only cache of documents, and the bounds of a document. The cache keeps each parsed text, or the error of a text that
 * is no document, and the result of its validation. Anything made from a document, such as its plans, is keyed by its nodes
 * and counts as its bytes, so one bound holds for all. Over the limit, the least recently used documents go first. A new
 * schema empties the cache.
 *
 * Each bound of a document is checked before any code relies on it. First the tokens: their number, the depth of brackets
 * and the length of names, since the parser recurses. Then the parsed selections: depth, fields, aliases and directives; a
 * fragment counts at each spread. Then the pairs of fields that validation would compare. Finally, validation runs only the
 * rules that the text can break.
 */

import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  BREAK,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  Kind as NodeKind,
  Lexer,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  specifiedRules,
  type Token,
  TokenKind,
  validate,
  visit,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { heapShare } from '../../lib/process-memory.ts'
import { shortened } from '../../lib/text.ts'
import {
  ClientError,
  type ClientErrorCode,
  clientErrorOf,
  requestError,
} from '../errors/client-error.ts'
import { fragmentsOf, visitSelections } from './selections.ts'

/** Every default of {@link OperationDocuments}. */
export const defaultDocumentBytes: number = heapShare('documents', 64 << 20)

/** Estimated memory of a document besides its characters; of a token with its nodes; and of an error. */
const bytesPerDocument = 4_000
const bytesPerToken = 250
const bytesPerError = 12_000

interface KeptDocument {
  /** The document, or its error. */
  readonly document: DocumentNode | GraphQLError
  /** Includes everything made from the document. */
  readonly bytes: number
}

interface Validation {
  readonly schema: GraphQLSchema
  readonly errors: readonly GraphQLError[]
}

/** Parses and validates the documents of operations, each once. */
export class OperationDocuments {
  readonly #limits: DocumentLimits
  readonly #kept: LRUCache<string, KeptDocument>
  /** The result for the schema that each document was validated against last. */
  readonly #validated = new WeakMap<DocumentNode, Validation>()
  #schema: GraphQLSchema | undefined

  constructor(limits: DocumentLimits, maxBytes: number = defaultDocumentBytes) {
    this.#limits = limits
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes })
  }

  get bytes(): number {
    return this.#kept.calculatedSize
  }

  has(text: string): boolean {
    return this.#kept.has(text)
  }

  /** Throws a GraphQLError for a text that is too large or no document. */
  parse(text: string): DocumentNode {
    let document = this.#kept.get(text)?.document
    if (document === undefined) {
      try {
        document = parseDocument(text, this.#limits)
      } catch (error) {
        if (!(error instanceof GraphQLError)) throw error
        document = error
      }
      this.#keep(text, document)
    }
    if (document instanceof GraphQLError) throw document
    return document
  }

  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const known = this.#validated.get(document)
    if (known?.schema === schema) return known.errors
    if (schema !== this.#schema) {
      // Plans belong to the schema that they were compiled for.
      this.#kept.clear()
      this.#schema = schema
      this.#keep(textOf(document), document)
    }
    const errors = validateDocument(schema, document, this.#limits)
    this.#validated.set(document, { schema, errors })
    this.grown(document, bytesPerError * errors.length)
    return errors
  }

  /** Adds to the size of a document, or subtracts from it, while the cache holds the document. */
  grown(document: DocumentNode, bytes: number): void {
    const text = textOf(document)
    const known = this.#kept.peek(text)
    if (known?.document !== document) return
    this.#kept.set(text, { document, bytes: Math.max(1, known.bytes + bytes) })
  }

  #keep(text: string, document: DocumentNode | GraphQLError): void {
    // An error may keep all parsed nodes in memory.
    const most = Math.min(text.length, this.#limits.maxTokens)
    const { tokenCount = most } = document instanceof GraphQLError ? {} : document
    const bytes = bytesPerDocument + bytesPerToken * tokenCount + 2 * text.length
    this.#kept.set(text, { document, bytes })
  }
}

function textOf({ loc }: DocumentNode): string {
  return loc?.source.body ?? ''
}

/** The limits of a document that an operator may configure. */
export interface DocumentLimits extends SelectionLimits {
  /** Tokens of one document. */
  readonly maxTokens: number
  /** Whether `__schema` and `__type` are answered. If not, errors suggest no names, which would reveal the schema. */
  readonly introspection: boolean
}

/** Fixed limits of a document and its variables. */
const documentLimits = {
  /** Brackets within brackets. Readers recurse once per level, here and in graphql-js, and would exhaust the stack. */
  depth: 64,
  /** The length of a name. graphql-js compares unknown names with all known ones, which takes longer for long ones. */
  nameLength: 256,
  /** The number of errors reported for one document. */
  errors: 10,
  /** Documents longer than `long` report fewer errors: graphql-js prints each wrong value with its siblings. */
  long: 5_000,
  errorsOfLong: 3,
  /** Pairs of fields with one name in one place. graphql-js compares each pair in some 6 us. */
  overlaps: 8_000,
  /** Values in all variables together. */
  variableValues: 50_000,
  /** An object counts as this many further values: graphql-js looks for each field of its type. */
  valuesPerObject: 10,
} as const

/**
 * Parses a document within bounds: tokens, depth, length of names, selections. Checks each bound before any code
 * recurses that deep. Throws a GraphQLError for a document that is invalid or too large.
 */
function parseDocument(text: string, limits: DocumentLimits): DocumentNode {
  const source = new Source(text)
  checkTokens(source, limits.maxTokens)
  let document: DocumentNode
  try {
    document = parse(source, { maxTokens: limits.maxTokens })
  } catch (error) {
    throw error instanceof GraphQLError ? requestError(error) : error
  }
  const extents = new Extents(document)
  for (const definition of document.definitions) {
    if (!('selectionSet' in definition)) continue
    const { depth, fields, aliases, directives } = extents.of(definition.selectionSet)
    checkExtent('fields within fields', depth, limits.maxDepth)
    checkExtent('fields', fields, limits.maxFields)
    checkExtent('aliases', aliases, limits.maxAliases)
    const own = definition.directives?.length ?? 0
    checkExtent('directives', directives + own, limits.maxDirectives)
  }
  const { overlaps } = documentLimits
  if (hasOverlapsBeyond(document, overlaps)) {
    const message = `the document selects the same fields in the same places, or spreads the same fragments, so often that more than ${overlaps} pairs of fields would be compared`
    const hint = 'select each field once, or in one fragment'
    throw clientErrorOf(new ClientError('QUERY_TOO_COSTLY', message, { value: overlaps, hint }))
  }
  return document
}

interface OpenBracket {
  readonly bracket: string
  /** The name of the argument or input field before the bracket. */
  readonly key: string | undefined
}

/**
 * The rules of graphql-js, except the rules of `@defer` and `@stream`: schemas have neither, and `KnownDirectivesRule`
 * reports them.
 */
const rules = specifiedRules.filter(({ name }) => !/^(Defer|Stream)/.test(name))

/**
 * Rules about parts that few documents have, each with a pattern that matches the text of such a document. Validation
 * takes most of the time of a new document, and runs each rule on each of its nodes.
 */
const rulesOfParts: readonly (readonly [rules: RegExp, part: RegExp])[] = [
  [/Variable/, /\$/],
  [/Directive/, /@/],
  [/Fragment/, /fragment|\.\.\./],
  [/KnownTypeNames/, /\$|fragment|\.\.\./],
  [/Subscription/, /subscription/],
]

/** The rules that documents with the same parts may break. */
const rulesOf = new Map<string, typeof rules>()

function rulesFor({ loc }: DocumentNode): typeof rules {
  if (loc === undefined) return rules
  const { body } = loc.source
  const missing = rulesOfParts.filter(([, part]) => !part.test(body))
  const key = String(missing)
  return getOrInsert(rulesOf, key, () =>
    rules.filter(({ name }) => !missing.some(([about]) => about.test(name))),
  )
}

/** Validates a document, up to a limited number of errors: further ones take time and help little. */
function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  { introspection }: Pick<DocumentLimits, 'introspection'>,
): readonly GraphQLError[] {
  const refused = introspection ? undefined : refusedIntrospection(document)
  if (refused !== undefined) return [refused]
  const isLong = document.loc !== undefined && document.loc.end > documentLimits.long
  return validate(schema, document, rulesFor(document), {
    maxErrors: isLong ? documentLimits.errorsOfLong : documentLimits.errors,
    hideSuggestions: !introspection,
  })
}

/** The error of a document that asks for the schema while introspection is off; otherwise `undefined`. */
function refusedIntrospection(document: DocumentNode): GraphQLError | undefined {
  let refused: GraphQLError | undefined
  visit(document, {
    Field(node) {
      const { value: name } = node.name
      if (name !== '__schema' && name !== '__type') return undefined
      refused = new GraphQLError(`${name} is not answered here: introspection is off`, {
        nodes: node,
        extensions: {
          code: 'UNSUPPORTED' satisfies ClientErrorCode,
          hint: 'informerql schema prints the schema; the operator may turn introspection on',
        },
      })
      return BREAK
    },
  })
  return refused
}

/**
 * Checks the depth of brackets and the length of names, token by token, because the parser recurses once per level. It
 * reports all other errors, including those of tokens.
 */
function checkTokens(source: Source, maxTokens: number): void {
  const lexer = new Lexer(source)
  const open: OpenBracket[] = []
  let name: string | undefined
  let key: string | undefined
  for (let count = 0; count <= maxTokens; count++) {
    let token: Token
    try {
      token = lexer.advance()
    } catch {
      return
    }
    switch (token.kind) {
      case TokenKind.EOF:
        return
      case TokenKind.COLON:
        key = name
        break
      case TokenKind.BRACE_L:
      case TokenKind.PAREN_L:
      case TokenKind.BRACKET_L:
        open.push({ bracket: token.kind, key })
        key = undefined
        if (open.length > documentLimits.depth) throw tooDeep(source, token.start, open)
        break
      case TokenKind.BRACE_R:
      case TokenKind.PAREN_R:
      case TokenKind.BRACKET_R:
        open.pop()
        key = undefined
        break
      case TokenKind.NAME:
        name = token.value
        if (name.length > documentLimits.nameLength) {
          const message = `the name ${shortened(name)} is longer than ${documentLimits.nameLength} characters`
          const extensions = { code: 'BAD_USER_INPUT' }
          throw new GraphQLError(message, { source, positions: [token.start], extensions })
        }
        break
      default:
    }
  }
}

function tooDeep(source: Source, position: number, open: readonly OpenBracket[]): GraphQLError {
  const call = open.findLastIndex(({ bracket }) => bracket === '(')
  const argument = call < 0 ? undefined : open[call + 1]?.key
  const what = argument ?? 'the document'
  return new GraphQLError(`${what}: is nested more than ${documentLimits.depth} deep`, {
    source,
    positions: [position],
    extensions: {
      code: 'BAD_USER_INPUT',
      ...(argument === undefined ? {} : { argument }),
      hint: 'ask in several queries',
    },
  })
}

/** The error of variables that are too deep or too many; otherwise `undefined`. Does not recurse. */
export function problemOfVariables(
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | undefined {
  let values = 0
  for (const [name, variable] of Object.entries(variables)) {
    values += 1
    let level = containersAmong([variable])
    for (let depth = 1; level.length > 0; depth += 1) {
      const inner: object[] = []
      const before = values
      for (const container of level) {
        const isList = Array.isArray(container)
        const members: readonly unknown[] = isList ? container : Object.values(container)
        values += members.length + (isList ? 0 : documentLimits.valuesPerObject)
        if (values > documentLimits.variableValues) {
          const problem = `makes more than ${documentLimits.variableValues} values of the variables`
          return variableError(name, problem)
        }
        for (const one of containersAmong(members)) inner.push(one)
      }
      if (values > before && depth > documentLimits.depth) {
        return variableError(name, `is nested more than ${documentLimits.depth} deep`)
      }
      level = inner
    }
  }
  return undefined
}

function containersAmong(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null)
}

function variableError(name: string, problem: string): GraphQLError {
  const argument = `$${shortened(name)}`
  const details = { argument, hint: 'ask in several queries' }
  return clientErrorOf(new ClientError('BAD_USER_INPUT', `${argument}: ${problem}`, details))
}

/** The limits of one operation's selections. A fragment counts at each spread: a few lines can make millions. */
interface SelectionLimits {
  /** Fields within fields. Readers recurse once per level, until the stack ends. */
  readonly maxDepth: number
  /** Fields. */
  readonly maxFields: number
  /** Fields with an alias. */
  readonly maxAliases: number
  /** Directives on selections. */
  readonly maxDirectives: number
}

interface Extent {
  readonly depth: number
  readonly fields: number
  readonly aliases: number
  readonly directives: number
}

const nothing: Extent = { depth: 0, fields: 0, aliases: 0, directives: 0 }

/**
 * Measures what a document selects, each fragment once, however often it is spread. Throws the GraphQLError of a spread
 * fragment that is unknown or spreads itself. Later readers of the document rely on this.
 */
class Extents {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** `undefined` while a fragment is being measured. */
  readonly #measured = new Map<string, Extent | undefined>()

  constructor(document: DocumentNode) {
    this.#fragments = fragmentsOf(document)
  }

  of(set: SelectionSetNode | undefined): Extent {
    let { depth, fields, aliases, directives } = nothing
    for (const selection of set?.selections ?? []) {
      const inner = this.#within(selection)
      const isField = selection.kind === NodeKind.FIELD
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0))
      fields += inner.fields + (isField ? 1 : 0)
      aliases += inner.aliases + (isField && selection.alias !== undefined ? 1 : 0)
      directives += inner.directives + (selection.directives?.length ?? 0)
    }
    return { depth, fields, aliases, directives }
  }

  #within(selection: SelectionNode): Extent {
    if (selection.kind !== NodeKind.FRAGMENT_SPREAD) return this.of(selection.selectionSet)
    const name = selection.name.value
    const fragment = this.#fragments.get(name)
    if (fragment === undefined) throw spreadError(selection, 'is not in the document')
    if (!this.#measured.has(name)) {
      this.#measured.set(name, undefined)
      this.#measured.set(name, this.of(fragment.selectionSet))
    }
    const extent = this.#measured.get(name)
    if (extent === undefined) throw spreadError(selection, 'spreads itself')
    return extent
  }
}

function spreadError(spread: FragmentSpreadNode, problem: string): GraphQLError {
  const message = `the fragment ${shortened(spread.name.value)} ${problem}`
  return requestError(new GraphQLError(message, { nodes: [spread] }))
}

function checkExtent(what: string, amount: number, limit: number): void {
  if (amount <= limit) return
  const message = `the operation selects ${amount} ${what}, and at most ${limit} are answered`
  const details = { value: amount, hint: 'ask in several queries' }
  throw clientErrorOf(new ClientError('QUERY_TOO_COSTLY', message, details))
}

/** The cost of visiting a selection, in comparisons of two fields with their selections (some 6 us each). */
const lookCost = 0.1
/** The cost of comparing two fields without selections, or two fragments without a common field. */
const leafCost = 0.1

/**
 * Whether validation would compare more than `most` pairs of fields to find out whether they can be merged. It compares
 * all fields with the same name in the same place, fragments included. A visited selection, a pair of plain leaves and
 * a pair of fragments in one place count a tenth. The document must not have unknown fragments or fragments that spread
 * themselves.
 */
function hasOverlapsBeyond(document: DocumentNode, most: number): boolean {
  const overlaps = new Overlaps(document, most)
  for (const one of document.definitions) {
    if (one.kind === NodeKind.OPERATION_DEFINITION) overlaps.count([one.selectionSet])
  }
  // Validation refuses unused fragments, but compares their fields first.
  for (const one of document.definitions) {
    if (one.kind !== NodeKind.FRAGMENT_DEFINITION || overlaps.reached.has(one.name.value)) continue
    overlaps.count([one.selectionSet])
  }
  return overlaps.cost > most
}

class Overlaps {
  cost = 0
  readonly reached = new Set<string>()
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #most: number

  constructor(document: DocumentNode, most: number) {
    this.#fragments = fragmentsOf(document)
    this.#most = most
  }

  /** Counts the selections of one place. Stops when the cost exceeds the limit. */
  count(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>()
    let spread = 0
    visitSelections(sets, this.#fragments, {
      keeps: () => {
        this.cost += lookCost
        return this.cost <= this.#most
      },
      enters: (_condition, name) => {
        if (name === undefined) return true
        spread += 1
        this.reached.add(name)
        return true
      },
      field(node) {
        const name = (node.alias ?? node.name).value
        getOrInsert(fields, name, () => []).push(node)
      },
    })
    this.cost += leafCost * pairsOf(spread)
    for (const same of fields.values()) {
      // The same field without arguments and selections needs no further comparison.
      const areOneLeaf = same.every(
        ({ selectionSet, arguments: args, name }) =>
          selectionSet === undefined &&
          (args?.length ?? 0) === 0 &&
          name.value === same[0]?.name.value,
      )
      this.cost += (areOneLeaf ? leafCost : 1) * pairsOf(same.length)
      if (this.cost > this.#most) return
      const inner = same.flatMap(({ selectionSet }) => selectionSet ?? [])
      if (inner.length > 0) this.count(inner)
    }
  }
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2
}
