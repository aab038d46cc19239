import { parseExact } from '../../lib/json.ts'
import { jsonChar } from './json-bytes.ts'
import type { LeafWriter } from './projection.ts'

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
