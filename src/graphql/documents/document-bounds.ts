import {
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Lexer,
  parse,
  Source,
  specifiedRules,
  type Token,
  TokenKind,
  validate,
  visit,
} from 'graphql'
import { shortened } from '../../lib/text.ts'
import {
  ClientError,
  type ClientErrorCode,
  clientErrorOf,
  requestError,
} from '../errors/client-error.ts'
import { hasOverlapsBeyond } from './overlapping-fields.ts'
import { checkSelections, type SelectionLimits } from './selection-bounds.ts'

/** The limits of a document that an operator may configure. */
export interface DocumentLimits extends SelectionLimits {
  /** Tokens of one document. */
  readonly maxTokens: number
  /** Whether `__schema` and `__type` are answered. If not, errors suggest no names, which would reveal the schema. */
  readonly introspection: boolean
}

/** Fixed limits of a document and its variables. */
const documentLimits = {
  /** Brackets within brackets. Readers recurse once per level, here and in graphql-js, until the stack ends. */
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
export function parseDocument(text: string, limits: DocumentLimits): DocumentNode {
  const source = new Source(text)
  checkTokens(source, limits.maxTokens)
  let document: DocumentNode
  try {
    document = parse(source, { maxTokens: limits.maxTokens })
  } catch (error) {
    throw error instanceof GraphQLError ? requestError(error) : error
  }
  checkSelections(document, limits)
  checkOverlaps(document)
  return document
}

function checkOverlaps(document: DocumentNode): void {
  const { overlaps } = documentLimits
  if (!hasOverlapsBeyond(document, overlaps)) return
  const message = `the document selects the same fields in the same places, or spreads the same fragments, so often that more than ${overlaps} pairs of fields would be compared`
  const hint = 'select each field once, or in one fragment'
  throw clientErrorOf(new ClientError('QUERY_TOO_COSTLY', message, { value: overlaps, hint }))
}

interface OpenBracket {
  readonly bracket: string
  /** The name of the argument or input field before the bracket. */
  readonly key: string | undefined
}

/** Validates a document, up to a limited number of errors: further ones take time and help little. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  { introspection }: Pick<DocumentLimits, 'introspection'>,
): readonly GraphQLError[] {
  const refused = introspection ? undefined : refusedIntrospection(document)
  if (refused !== undefined) return [refused]
  return validate(schema, document, specifiedRules, {
    maxErrors: isLong(document) ? documentLimits.errorsOfLong : documentLimits.errors,
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

function isLong({ loc }: DocumentNode): boolean {
  return loc !== undefined && loc.end > documentLimits.long
}

/**
 * Checks the depth of brackets and the length of names, token by token, because the parser recurses once per level. It
 * reports all other errors, of tokens too.
 */
function checkTokens(source: Source, maxTokens: number): void {
  const lexer = new Lexer(source)
  const open: OpenBracket[] = []
  let name: string | undefined
  let key: string | undefined
  for (let count = 0; count <= maxTokens; count++) {
    const token = nextToken(lexer)
    switch (token?.kind) {
      case undefined:
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
        if (name.length > documentLimits.nameLength) throw tooLong(source, token.start, name)
        break
      default:
    }
  }
}

/** `undefined` where the text has no valid token. */
function nextToken(lexer: Lexer): Token | undefined {
  try {
    return lexer.advance()
  } catch {
    return undefined
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

function tooLong(source: Source, position: number, name: string): GraphQLError {
  const { nameLength } = documentLimits
  const message = `the name ${shortened(name)} is longer than ${nameLength} characters`
  const extensions = { code: 'BAD_USER_INPUT' }
  return new GraphQLError(message, { source, positions: [position], extensions })
}

/** The error of variables that are too deep or too many, if they are. Does not recurse. */
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
