import { parseExact } from '../../lib/json.ts'
import { jsonChar } from './json-char.ts'
import type { LeafWriter } from './projection.ts'

/** Integers and their texts one to one: neither a fraction nor an exponent, and fewer digits than a double loses. */
const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/
/** A number whose digits may be more than a double keeps, where it begins. */
const manyDigits = /(?:^|[:,[])\s*-?\d{16}/
const leastInt = -(2 ** 31)
const mostInt = 2 ** 31 - 1

/** What the codec makes of a JSON text that it holds: integers beyond 2^53 keep their digits. */
export function parseHeld(json: string): unknown {
  return manyDigits.test(json) ? parseExact(json) : JSON.parse(json)
}

/**
 * Any value, as `JSON.stringify` writes it once the codec has read it. In texts of containers this writer is known by
 * its identity: what it writes of one is made of what it writes of the parts.
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

/** A string. */
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

/** An integer of any length, with the digits of the server. */
export const writeInt64: LeafWriter = (json) => {
  if (json === undefined || json === 'null') return 'null'
  if (!isNumberStart(json.charCodeAt(0))) return undefined
  return Number.isInteger(Number(json)) || /^-?\d+$/.test(json) ? numberText(json) : undefined
}

/** A number; integers that no double holds keep the digits of the server. */
export const writeFloat: LeafWriter = (json) => {
  if (json === undefined || json === 'null') return 'null'
  if (!isNumberStart(json.charCodeAt(0))) return undefined
  return Number.isFinite(Number(json)) || /^-?\d+$/.test(json) ? numberText(json) : undefined
}

/** What JSON does not escape, `JSON.stringify` does not escape either; so only escapes can be written in another way. */
function stringText(json: string): string {
  return json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json
}

function numberText(json: string): string {
  return plainInteger.test(json) ? json : JSON.stringify(parseExact(json))
}

function isNumberStart(char: number): boolean {
  return char === jsonChar.minus || (char >= jsonChar.zero && char <= jsonChar.nine)
}
