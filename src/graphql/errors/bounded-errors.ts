/*
 * Keeps the errors of an answer short. Only the first few similar errors of a field stay, up to a total for the answer;
 * one more error counts all others. Long texts and values of the remaining errors are then cut in the middle.
 */

import { GraphQLError, type GraphQLErrorExtensions, type GraphQLFormattedError } from 'graphql'
import { maxEchoLength, shortened } from '../../lib/text.ts'

/** The longest message or hint. Both may quote the request. */
const maxTextLength = 500
/** The most errors with the same code, message and field. A refused relation fails on every row. */
export const maxAlike = 5
const maxErrors = 100

/** The errors of an answer within all bounds. */
export function boundedErrors(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return fewErrors(errors, ({ path, nodes }, message, extensions) => {
    return new GraphQLError(message, { path, nodes, extensions })
  }).map(boundedError)
}

/** Like {@link boundedErrors}, for formatted errors whose texts are bounded. */
export function boundedFormatted(
  errors: readonly GraphQLFormattedError[],
): readonly GraphQLFormattedError[] {
  return fewErrors(errors, (first, message, extensions) => ({ ...first, message, extensions }))
}

function fewErrors<T extends GraphQLError | GraphQLFormattedError>(
  errors: readonly T[],
  summary: (first: T, message: string, extensions: { readonly code: unknown }) => T,
): readonly T[] {
  const alike = new Map<string, number>()
  const kept: T[] = []
  const others: T[] = []
  for (const error of errors) {
    const name = `${codeOf(error)}\0${fieldOf(error)}\0${error.message}`
    const count = (alike.get(name) ?? 0) + 1
    alike.set(name, count)
    if (count <= maxAlike && kept.length < maxErrors) kept.push(error)
    else others.push(error)
  }
  const [first] = others
  if (first === undefined) return kept
  const message = `${others.length} more errors, such as this one: ${shortened(first.message)}`
  return [...kept, summary(first, message, { code: first.extensions?.['code'] })]
}

function boundedError(error: GraphQLError): GraphQLError {
  const message = shortened(error.message, maxTextLength)
  const extensions = boundedExtensions(error.extensions)
  if (message === error.message && extensions === error.extensions) return error
  const { nodes, source, positions, path, originalError } = error
  const cause = originalError === undefined ? {} : { originalError }
  return new GraphQLError(message, { nodes, source, positions, path, extensions, ...cause })
}

function boundedExtensions(extensions: GraphQLErrorExtensions): GraphQLErrorExtensions {
  const bounded: Record<string, unknown> = {}
  let same = true
  for (const [name, value] of Object.entries(extensions)) {
    if (boundedByMaker.has(name)) {
      bounded[name] = value
      continue
    }
    bounded[name] = boundedValue(value, name === 'hint' ? maxTextLength : maxEchoLength)
    same &&= bounded[name] === value
  }
  return same ? extensions : bounded
}

/** The structured facts of a refused write. `graphql/writes/write-errors.ts` bounds them. */
const boundedByMaker: ReadonlySet<string> = new Set(['conflicts', 'causes', 'admission'])

/** Returns a short value unchanged, and a long one as a shortened text. */
function boundedValue(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return shortened(value, maxLength)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
  return text.length <= maxLength ? value : shortened(text, maxLength)
}

function codeOf({ extensions }: GraphQLError | GraphQLFormattedError): string {
  const code = extensions?.['code']
  return typeof code === 'string' ? code : ''
}

/** The path of an error without list positions. */
function fieldOf({ path }: GraphQLError | GraphQLFormattedError): string {
  return path?.filter((step) => typeof step === 'string').join('.') ?? ''
}
