/*
 * Cursors: the position of an object in its list, as an opaque text. A cursor is bound to its list by a hash of what selects
 * and orders the objects, so that it is refused elsewhere. Long values are cut, to keep it short enough to be accepted.
 */

import { createHash } from 'node:crypto'
import { jsonIn } from '../../lib/json.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { OrderPosition } from './list-order.ts'

/** Incremented when the contents of cursors, or the order that they depend on, change. */
const version = 4
/**
 * Room for a namespace and a name of 253 characters each, and for `maxWhole` characters of values: each may take 6 bytes of
 * JSON, and so 8 characters of base64.
 */
const maxLength = 16_384
/** If the values have more characters together, each value longer than `maxCut` is cut to it. An order has at most 8 values. */
const maxWhole = 1_400
const maxCut = 128

/** The error of a cursor that does not belong to its list. */
export function cursorError(
  argument: string,
  cursor: string,
  reason: keyof typeof problems,
): ArgumentError {
  return new ArgumentError(argument, problems[reason], {
    value: cursor,
    hint: 'start again without a cursor, and keep the other arguments the same for all pages',
  })
}

const problems = {
  malformed: 'is not a cursor',
  otherVersion: 'is a cursor of another version of the gateway',
  otherQuery: 'is a cursor of another query',
} as const

/**
 * What a cursor is bound to: the list (cluster, kind, and for a relation its start) and the arguments that select and
 * order the objects. Not the page size, and not the viewer's Scope, which may grow meanwhile.
 */
export interface ListIdentity {
  readonly list: string
  /** In any order. */
  readonly namespaces?: readonly string[] | null
  readonly [argument: string]: unknown
}

/** Encoding a cursor takes as long as so many tests. */
export const testsPerCursor = 8
/** Serialising and hashing so many characters of an identity takes as long as one test. */
const charactersPerTest = 16

/** A short hash of a list's identity. Equal on every replica, whatever the order of fields and namespaces. */
export function listHash({ namespaces, ...rest }: ListIdentity, budget?: WorkBudget): string {
  const sorted = namespaces === undefined || namespaces === null ? null : namespaces.toSorted()
  const text = JSON.stringify(canonical({ ...rest, namespaces: sorted }))
  budget?.spend('tests', Math.ceil(text.length / charactersPerTest))
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

/** Sorts fields and drops nulls, which have no meaning. */
function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(canonical)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null)
  fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    fields.map(([name, field]: [string, unknown]) => [name, canonical(field)]),
  )
}

/** The start of a long value, and the hash by which the whole value is known again. */
export type CutValue = readonly [start: string, hash: string]

/** The position of an object in a list of several parts: kinds, clusters, or both. */
export interface ListPosition extends OrderPosition {
  /** The name of the part that has the object: unique among the parts, and the same on every replica. */
  readonly part: string
}

/**
 * A keyset cursor: the position of an object in its list, whether or not the object still exists. Opaque, valid on
 * every replica, and bound to one list by its hash. Unsigned, since forging one only moves the caller's own position.
 * Long values are cut, so that every cursor is short enough to be accepted: {@link positionIn} has the object's own.
 */
export function encodeCursor(
  hash: string,
  { part, key, values }: ListPosition,
  budget: WorkBudget,
): string {
  budget.spend('tests', testsPerCursor)
  return encodeFields([version, hash, part, key, ...keptOf(values)])
}

/** The values as a cursor has them. JSON writes a missing one as null. */
function keptOf(values: ListPosition['values']): readonly (string | CutValue | undefined)[] {
  let length = 0
  for (const value of values) length += value?.length ?? 0
  if (length <= maxWhole) return values
  return values.map((value) =>
    value === undefined || value.length <= maxCut
      ? value
      : [value.slice(0, maxCut), valueHash(value)],
  )
}

/** The hash of a {@link CutValue}. */
export function valueHash(value: string): string {
  return createHash('sha256').update(value).digest('base64url').slice(0, 22)
}

interface CursorContext {
  readonly hash: string
  /** The argument that has the cursor, for errors. */
  readonly argument: string
  readonly terms: number
  /** The value to go on from, of which the cursor has only the start. Absent: no cursor of the list is cut. */
  readonly wholeValue?: (
    place: Pick<ListPosition, 'part' | 'key'>,
    cut: CutValue,
    term: number,
  ) => string
}

/** The position in a cursor; `undefined` without one. Throws `ArgumentError`, which names the argument. */
export function positionIn(
  cursor: string | null | undefined,
  { hash, argument, terms, wholeValue }: CursorContext,
): ListPosition | undefined {
  if (cursor === undefined || cursor === null) return undefined
  const fields = fieldsOf(cursor)
  if (fields === undefined) throw cursorError(argument, cursor, 'malformed')
  if (fields[0] !== version) throw cursorError(argument, cursor, 'otherVersion')
  const [, boundTo, part, key, ...values] = fields
  if (!isText(boundTo) || !isText(part) || !isText(key)) {
    throw cursorError(argument, cursor, 'malformed')
  }
  if (boundTo !== hash) throw cursorError(argument, cursor, 'otherQuery')
  if (values.length !== terms) throw cursorError(argument, cursor, 'malformed')
  const read = (value: unknown, term: number): string | undefined => {
    if (isText(value)) return value
    if (value === null) return undefined
    if (wholeValue === undefined || !isCut(value)) throw cursorError(argument, cursor, 'malformed')
    return wholeValue({ part, key }, value, term)
  }
  return { part, key, values: values.map(read) }
}

/** A cursor as it is: long values of the order are cut. */
export interface PlacedCursor {
  readonly part: string
  readonly key: string
  readonly values: readonly (string | CutValue | undefined)[]
}

/**
 * The place in a cursor that a gateway has made, of a list or of a search, or in a text of {@link encodePlace}. Throws `TypeError` for
 * any other text.
 */
export function placeInCursor(cursor: string): PlacedCursor {
  const [, , part, key, ...values] = fieldsOf(cursor) ?? []
  if (!isText(part) || !isText(key)) throw new TypeError(`not a cursor of a list: ${cursor}`)
  return {
    part,
    key,
    values: values.map((value) => (isText(value) || isCut(value) ? value : undefined)),
  }
}

/** Whether a text is a cursor that has only the beginning of some value. */
export function isCutCursor(text: string): boolean {
  return fieldsOf(text)?.some(isCut) === true
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCut(value: unknown): value is CutValue {
  return Array.isArray(value) && value.length === 2 && value.every(isText)
}

/** The place of a row, to compare with those of other lists in the same order: a cursor of no list. */
export function encodePlace({ part, key, values }: ListPosition): string {
  return encodeFields([version, '', part, key, ...keptOf(values)])
}

/** Writes a cursor or a resume token: an opaque text, the same on every replica. The first field is the version of its form. */
export function encodeFields(fields: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** Reads what {@link encodeFields} has written; `undefined` for any other text. */
export function fieldsOf(text: string, most: number = maxLength): readonly unknown[] | undefined {
  if (text.length > most) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // Buffer skips characters outside base64url. A valid text has none.
  if (bytes.toString('base64url') !== text) return undefined
  const value = jsonIn(bytes.toString())
  return Array.isArray(value) && Number.isInteger(value[0]) ? value : undefined
}
