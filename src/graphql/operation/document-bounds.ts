import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind as NodeKind,
  parse,
  type SelectionSetNode,
  Source,
  specifiedRules,
  validate,
} from 'graphql'
import { shortened } from '../../lib/shortened.ts'
import { ClientError, clientErrorOf, requestError } from './client-error.ts'
import { fragmentsOf } from './document-fragments.ts'
import { textPieces } from './document-text.ts'

/** What a document, and the variables with it, may be like. */
export const documentLimits = {
  /**
   * Brackets within brackets, and fields within fields through all fragments. What reads a document calls itself for each
   * level, here and in graphql-js, until there is no more stack.
   */
  depth: 64,
  /** Of a name. graphql-js compares unknown ones with all that are known, in time that grows with their length. */
  nameLength: 256,
  /** Fields with those of fragments wherever they are spread: a few lines of fragments in fragments make millions. */
  fields: 10_000,
  /** Errors of one document that are told. */
  errors: 10,
  /** Values in all variables together. */
  variableValues: 50_000,
} as const

/**
 * Parses a document within bounds, all of which are checked before anything calls itself that deep: of tokens, of depth,
 * of the length of names, of fields. Throws the GraphQLError of a document that is none, or that is too large.
 */
export function parseDocument(text: string, maxTokens: number): DocumentNode {
  const source = new Source(text)
  checkText(source)
  let document: DocumentNode
  try {
    document = parse(source, { maxTokens })
  } catch (error) {
    throw error instanceof GraphQLError ? requestError(error) : error
  }
  checkSelections(document)
  return document
}

interface OpenBracket {
  readonly bracket: string
  /** The name before it: of the argument or the input field that its value is. */
  readonly key: string | undefined
}

/** Validates a document, up to a bound of errors: of more nobody learns more, and each takes its time. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): readonly GraphQLError[] {
  return validate(schema, document, specifiedRules, { maxErrors: documentLimits.errors })
}

/** Checks the depth of brackets and the length of names by the text alone, in one pass. */
function checkText(source: Source): void {
  const open: OpenBracket[] = []
  let name: string | undefined
  let key: string | undefined
  for (const { text, position } of textPieces(source.body)) {
    switch (text) {
      case ':':
        key = name
        break
      case '{':
      case '(':
      case '[':
        open.push({ bracket: text, key })
        key = undefined
        if (open.length > documentLimits.depth) throw tooDeep(source, position, open)
        break
      case '}':
      case ')':
      case ']':
        open.pop()
        key = undefined
        break
      default:
        if (text.length > documentLimits.nameLength) throw tooLong(source, position, text)
        name = text
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

function tooLong(source: Source, position: number, name: string): GraphQLError {
  const { nameLength } = documentLimits
  const message = `the name ${shortened(name)} is longer than ${nameLength} characters`
  const extensions = { code: 'BAD_USER_INPUT' }
  return new GraphQLError(message, { source, positions: [position], extensions })
}

/** How much a selection is, with its fragments. */
interface Extent {
  readonly depth: number
  readonly fields: number
}

const nothing: Extent = { depth: 0, fields: 0 }

/** Each fragment is measured once, however often it is spread. One that spreads itself is left to the validation. */
function checkSelections(document: DocumentNode): void {
  const fragments = fragmentsOf(document)
  const measured = new Map<string, Extent>()
  const extentOf = (set: SelectionSetNode | undefined): Extent => {
    let depth = 0
    let fields = 0
    for (const selection of set?.selections ?? []) {
      const inner =
        selection.kind === NodeKind.FRAGMENT_SPREAD
          ? extentOfFragment(selection.name.value)
          : extentOf(selection.selectionSet)
      const own = selection.kind === NodeKind.FIELD ? 1 : 0
      depth = Math.max(depth, inner.depth + own)
      fields += inner.fields + own
    }
    return { depth, fields }
  }
  const extentOfFragment = (name: string): Extent => {
    const known = measured.get(name)
    if (known !== undefined) return known
    measured.set(name, nothing)
    const extent = extentOf(fragments.get(name)?.selectionSet)
    measured.set(name, extent)
    return extent
  }
  for (const definition of document.definitions) {
    if (!('selectionSet' in definition)) continue
    const { depth, fields } = extentOf(definition.selectionSet)
    checkExtent('fields within fields', depth, documentLimits.depth)
    checkExtent('fields', fields, documentLimits.fields)
  }
}

function checkExtent(what: string, amount: number, limit: number): void {
  if (amount <= limit) return
  const message = `the operation selects ${amount} ${what}, and at most ${limit} are answered`
  const details = { value: amount, hint: 'ask in several queries' }
  throw clientErrorOf(new ClientError('QUERY_TOO_COSTLY', message, details))
}

/** What is wrong with the depth or the number of a request's variables, if anything is. Does not call itself. */
export function problemOfVariables(
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | undefined {
  let values = 0
  for (const [name, variable] of Object.entries(variables)) {
    let level: readonly unknown[] = [variable]
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > documentLimits.depth) {
        return variableError(name, `is nested more than ${documentLimits.depth} deep`)
      }
      values += level.length
      if (values > documentLimits.variableValues) {
        const problem = `makes more than ${documentLimits.variableValues} values of the variables`
        return variableError(name, problem)
      }
      level = level.flatMap((value): readonly unknown[] =>
        typeof value === 'object' && value !== null ? Object.values(value) : [],
      )
    }
  }
  return undefined
}

function variableError(name: string, problem: string): GraphQLError {
  const argument = `$${shortened(name)}`
  const details = { argument, hint: 'ask in several queries' }
  return clientErrorOf(new ClientError('BAD_USER_INPUT', `${argument}: ${problem}`, details))
}
