import { isJsonObject } from '../../lib/json.ts'
import { jsonChar, valueEnd } from '../../lib/json-text.ts'
import {
  checkRoom,
  type ObjectSelection,
  parseHeld,
  type SelectedEntryField,
  type SelectedField,
  type SelectedValue,
  writeJson,
} from './projection.ts'

/**
 * Writes a value from its JSON text between `start` and `end`, skipping what is not selected. Maps, texts with white
 * space and escapes in keys are parsed. `undefined` if the object must be decoded.
 */
export function projectText(
  value: SelectedValue,
  text: string,
  start: number,
  end: number,
): string | undefined {
  if (value.form === 'text') return value.text
  if (value.form === 'leaf') return value.write(text.slice(start, end))
  if (value.form === 'made') return projectParsed(value, parseHeld(text.slice(start, end)))
  const first = text.charCodeAt(start)
  if (first === jsonChar.n) return absentText(value)
  if (value.form === 'object' && first === jsonChar.openBrace) {
    const { fields } = value.selection
    const ranges = memberRanges(fields, 0, text, start)
    if (ranges !== undefined) {
      return joined('{', '}', fields, (field, index) => {
        const inner =
          field.path.length === 0
            ? projectText(field.value, text, start, end)
            : projectMember(field, 0, text, ranges, index)
        return inner === undefined ? undefined : memberText(field.key, inner)
      })
    }
  }
  if (value.form === 'list' && first === jsonChar.openBracket) {
    const ranges = elementRanges(text, start)
    if (ranges !== undefined) {
      return joined('[', ']', ranges, ([from, to]) => projectText(value.of, text, from, to))
    }
  }
  return projectParsed(value, parseHeld(text.slice(start, end)))
}

/** Writes the value at the properties of the field's path from index `from` on. */
export function projectTextAt(
  field: SelectedField,
  from: number,
  text: string,
  start: number,
  end: number,
): string | undefined {
  const { path, value } = field
  if (from === path.length) return projectText(value, text, start, end)
  const first = text.charCodeAt(start)
  if (first === jsonChar.n) return projectParsed(value, undefined)
  if (first !== jsonChar.openBrace) return undefined
  const ranges = memberRanges([field], from, text, start)
  return ranges === undefined
    ? projectParsedAt(value, parseHeld(text.slice(start, end)), path, from)
    : projectMember(field, from, text, ranges, 0)
}

/** The range of a value; both are 0 if it is missing. */
type Range = readonly [start: number, end: number]

const missing: Range = [0, 0]

function projectMember(
  field: SelectedField,
  from: number,
  text: string,
  ranges: readonly Range[],
  index: number,
): string | undefined {
  const [start, end] = ranges[index] ?? missing
  return end === 0
    ? projectParsed(field.value, undefined)
    : projectTextAt(field, from + 1, text, start, end)
}

/**
 * The range of each field's property at index `from` of its path; `undefined` if that requires parsing. If a key is repeated,
 * its last value counts, as in `JSON.parse`.
 */
function memberRanges(
  fields: readonly SelectedField[],
  from: number,
  text: string,
  start: number,
): Range[] | undefined {
  const ranges = fields.map(() => missing)
  let index = start + 1
  if (text.charCodeAt(index) === jsonChar.closeBrace) return ranges
  for (;;) {
    const close = plainKeyEnd(text, index)
    if (close < 0 || text.charCodeAt(close + 1) !== jsonChar.colon) return undefined
    const value = close + 2
    const end = valueEnd(text, value)
    if (end === value) return undefined
    for (let field = 0; field < fields.length; field++) {
      const property = fields[field]?.path[from]
      if (property?.length !== close - index - 1) continue
      if (text.startsWith(property, index + 1)) ranges[field] = [value, end]
    }
    const after = text.charCodeAt(end)
    if (after === jsonChar.closeBrace) return ranges
    if (after !== jsonChar.comma) return undefined
    index = end + 1
  }
}

/** The index of the closing quote of a key without escapes, or -1. */
function plainKeyEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== jsonChar.quote) return -1
  for (let index = start + 1; index < text.length; index++) {
    const char = text.charCodeAt(index)
    if (char === jsonChar.quote) return index
    if (char === jsonChar.backslash) return -1
  }
  return -1
}

/** The range of each element of the array; `undefined` if there is white space. */
function elementRanges(text: string, start: number): Range[] | undefined {
  const ranges: Range[] = []
  let index = start + 1
  if (text.charCodeAt(index) === jsonChar.closeBracket) return ranges
  for (;;) {
    const end = valueEnd(text, index)
    if (end === index) return undefined
    ranges.push([index, end])
    const after = text.charCodeAt(end)
    if (after === jsonChar.closeBracket) return ranges
    if (after !== jsonChar.comma) return undefined
    index = end + 1
  }
}

/** Writes the text of a parsed value; `undefined` if the object must be decoded. */
export function projectParsed(value: SelectedValue, parsed: unknown): string | undefined {
  switch (value.form) {
    case 'text':
      return value.text
    case 'leaf': {
      const json = jsonOf(parsed)
      // `JSON.stringify` has written it, so the writer need not read it again.
      const isWritten = value.write === writeJson && typeof parsed === 'object' && parsed !== null
      return isWritten ? json : value.write(json)
    }
    case 'made':
      return isJsonObject(parsed) ? value.make(parsed) : undefined
    case 'object':
      if (parsed === undefined || parsed === null) return absentText(value)
      return isJsonObject(parsed) ? projectMembers(value.selection, parsed) : undefined
    case 'list':
      if (parsed === undefined || parsed === null) return absentText(value)
      return Array.isArray(parsed)
        ? joined('[', ']', parsed, (element) => projectParsed(value.of, element))
        : undefined
    case 'entries':
      if (parsed === undefined || parsed === null) return absentText(value)
      return isJsonObject(parsed)
        ? joined('[', ']', Object.entries(parsed), (entry) => projectEntry(value.fields, entry))
        : undefined
  }
}

/** Writes the value at the properties of `path` from index `from` on. */
export function projectParsedAt(
  value: SelectedValue,
  parsed: unknown,
  path: readonly string[],
  from: number,
): string | undefined {
  const property = path[from]
  if (property === undefined) return projectParsed(value, parsed)
  if (parsed === undefined || parsed === null) return projectParsed(value, undefined)
  if (!isJsonObject(parsed)) return undefined
  const inner = Object.hasOwn(parsed, property) ? parsed[property] : undefined
  return projectParsedAt(value, inner, path, from + 1)
}

function absentText(value: { readonly required: boolean }): string | undefined {
  return value.required ? undefined : 'null'
}

/** `undefined` if a part has no text. */
function joined<T>(
  open: string,
  close: string,
  parts: readonly T[],
  textOf: (part: T, index: number) => string | undefined,
): string | undefined {
  let text = open
  for (let index = 0; index < parts.length; index++) {
    const part = textOf(parts[index] as T, index)
    if (part === undefined) return undefined
    text += index === 0 ? part : `,${part}`
    checkRoom(text.length)
  }
  return text + close
}

const plainName = /^\w*$/

function memberText(key: string, text: string): string {
  return plainName.test(key) ? `"${key}":${text}` : `${JSON.stringify(key)}:${text}`
}

/** The last object or array, because it may be selected many times. */
let last: { readonly parsed: object; readonly json: string | undefined } = {
  parsed: {},
  json: '{}',
}

/** A JSON text from which the value can be read. */
function jsonOf(parsed: unknown): string | undefined {
  if (typeof parsed === 'object' && parsed !== null) {
    if (last.parsed !== parsed) last = { parsed, json: JSON.stringify(parsed) }
    return last.json
  }
  // `JSON.parse` turns numbers beyond doubles into infinities.
  if (parsed === Infinity) return '1e999'
  if (parsed === -Infinity) return '-1e999'
  return JSON.stringify(parsed)
}

function projectMembers(selection: ObjectSelection, parsed: unknown): string | undefined {
  return joined('{', '}', selection.fields, ({ key, path, value }) => {
    const text = projectParsedAt(value, parsed, path, 0)
    return text === undefined ? undefined : memberText(key, text)
  })
}

function projectEntry(
  fields: readonly SelectedEntryField[],
  [name, inner]: readonly [string, unknown],
): string | undefined {
  return joined('{', '}', fields, ({ key, value }) => {
    const text = value === 'key' ? JSON.stringify(name) : projectParsed(value, inner)
    return text === undefined ? undefined : memberText(key, text)
  })
}
