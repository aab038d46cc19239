import { parseExact } from '../../lib/json.ts'
import { jsonChar } from '../../lib/json-text.ts'

/** The selected part of an object: a JSON object with these members, in this order. */
export interface ObjectSelection {
  readonly fields: readonly SelectedField[]
}

type MadeOf = Readonly<Record<string, unknown>>

export interface SelectedField {
  /** The response key: the name of the written member. */
  readonly key: string
  /**
   * The properties that lead from the enclosing object to the value. Usually one; several go through nested objects
   * (`['metadata', 'uid']`), and the value is null if one of those is null or missing. Empty: the enclosing object
   * itself.
   */
  readonly path: readonly string[]
  readonly value: SelectedValue
}

/**
 * How a value is checked and written. Null or a missing value is written as `null`, unless the value is `required`. A
 * value of another form (a string for an object) cannot be projected, nor can null for a `required` one: the projection
 * returns `undefined`.
 */
export type SelectedValue =
  /** A scalar; with `writeJson`, any value. */
  | { readonly form: 'leaf'; readonly write: LeafWriter }
  | { readonly form: 'object'; readonly selection: ObjectSelection; readonly required: boolean }
  | { readonly form: 'list'; readonly of: SelectedValue; readonly required: boolean }
  /** A map as a list of its entries, in JavaScript's key order. */
  | {
      readonly form: 'entries'
      readonly fields: readonly SelectedEntryField[]
      readonly required: boolean
    }
  /** A JSON text computed from the decoded object. It must depend on that object only. */
  | { readonly form: 'made'; readonly make: (object: MadeOf) => string | undefined }
  /** A constant JSON text, such as `__typename`. */
  | { readonly form: 'text'; readonly text: string }

/** A member of a map entry: its key, its value, or a constant. */
export interface SelectedEntryField {
  readonly key: string
  readonly value: 'key' | SelectedValue
}

/**
 * Turns the JSON text of a held value (`undefined`: missing) into the JSON text to write. The input may have other
 * spellings than `JSON.stringify`: servers write `\u003c` and `1.0`. Returns `undefined` if the object must be decoded.
 * Must depend on the text only.
 */
export type LeafWriter = (json: string | undefined) => string | undefined

/** The text of one object exceeds the length that the caller allows. */
export class AnswerTooLongError extends Error {
  /** The length when this was noticed, in UTF-16 units. */
  readonly length: number

  constructor(length: number) {
    super(`what is selected of an object is longer than ${length} characters`)
    this.length = length
  }
}

/** The limit of the text being written. Texts are written one at a time. */
let room = Number.POSITIVE_INFINITY

/** Runs `write` with a limit of so many UTF-16 units for each text. */
export function withinRoom<T>(units: number, write: () => T): T {
  const before = room
  room = units
  try {
    return write()
  } finally {
    room = before
  }
}

/**
 * Throws {@link AnswerTooLongError}. Checked while a text grows: a selection may name a large part of a large object a
 * thousand times.
 */
export function checkRoom(units: number): void {
  if (units > room) throw new AnswerTooLongError(units)
}

/** Integers that have exactly one text: no fraction, no exponent, and fewer digits than a double loses. */
const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/
/** A number, at its start, with possibly more digits than a double keeps. */
const manyDigits = /(?:^|[:,[])\s*-?\d{16}/
const leastInt = -(2 ** 31)
const mostInt = 2 ** 31 - 1

/** Parses a JSON text as the codec does: integers beyond 2^53 keep their digits. */
export function parseHeld(json: string): unknown {
  return manyDigits.test(json) ? parseExact(json) : JSON.parse(json)
}

/**
 * Writes any value as `JSON.stringify` writes what the codec has read. The codec recognises this writer by identity: it
 * composes the text of a container from the texts of its parts.
 */
export const writeJson: LeafWriter = (json) => {
  if (json === undefined) return 'null'
  const first = json.charCodeAt(0)
  if (first === jsonChar.quote) return stringText(json)
  if (first === jsonChar.openBrace || first === jsonChar.openBracket) {
    return JSON.stringify(parseHeld(json))
  }
  return isNumberStart(first) ? numberText(json) : json
}

export const writeString: LeafWriter = (json) => {
  if (json === undefined) return 'null'
  if (json.charCodeAt(0) === jsonChar.quote) return stringText(json)
  return json === 'null' ? json : undefined
}

export const writeBoolean: LeafWriter = (json) => {
  if (json === undefined) return 'null'
  return json === 'true' || json === 'false' || json === 'null' ? json : undefined
}

/** GraphQL's Int: an integer of 32 bits. */
export const writeInt: LeafWriter = (json) => {
  if (json === undefined || json === 'null') return 'null'
  if (!isNumberStart(json.charCodeAt(0))) return undefined
  const value = Number(json)
  if (!Number.isInteger(value) || value < leastInt || value > mostInt) return undefined
  return value === 0 ? '0' : String(value)
}

/** An integer of any length, with the server's digits. */
export const writeInt64: LeafWriter = (json) => {
  if (json === undefined || json === 'null') return 'null'
  if (!isNumberStart(json.charCodeAt(0))) return undefined
  return Number.isInteger(Number(json)) || /^-?\d+$/.test(json) ? numberText(json) : undefined
}

/** A number. Integers that no double holds keep the server's digits. */
export const writeFloat: LeafWriter = (json) => {
  if (json === undefined || json === 'null') return 'null'
  if (!isNumberStart(json.charCodeAt(0))) return undefined
  return Number.isFinite(Number(json)) || /^-?\d+$/.test(json) ? numberText(json) : undefined
}

/** `JSON.stringify` escapes no more than JSON requires, so only texts with escapes may differ. */
function stringText(json: string): string {
  return json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json
}

function numberText(json: string): string {
  return plainInteger.test(json) ? json : JSON.stringify(parseExact(json))
}

function isNumberStart(char: number): boolean {
  return char === jsonChar.minus || (char >= jsonChar.zero && char <= jsonChar.nine)
}
