import { jsonChar } from './json-bytes.ts'
import { valueEnd } from './json-text.ts'
import { parseHeld } from './leaf-writer.ts'
import {
  absentText,
  joined,
  memberText,
  projectParsed,
  projectParsedAt,
} from './parsed-projection.ts'
import type { SelectedField, SelectedValue } from './projection.ts'

/**
 * Writes the text of a value from its JSON text between `start` and `end`, skipping what is not selected. Maps, texts
 * with white space and objects with escapes in keys are parsed. `undefined` if the object must be decoded.
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
 * The range of each field's property at index `from` of its path, in the object that starts at `start`. `undefined` if
 * that requires parsing. Of a repeated key the last one counts, as in `JSON.parse`.
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
