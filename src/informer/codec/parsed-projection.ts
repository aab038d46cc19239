import { isJsonObject } from '../../lib/json.ts'
import {
  checkRoom,
  type ObjectSelection,
  type SelectedEntryField,
  type SelectedValue,
} from './projection.ts'
import { writeJson } from './leaf-writer.ts'

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

/** The text of null or a missing value. */
export function absentText(value: { readonly required: boolean }): string | undefined {
  return value.required ? undefined : 'null'
}

/** The texts of the parts between brackets, with commas; `undefined` if a part has no text. */
export function joined<T>(
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

export function memberText(key: string, text: string): string {
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
