/*
 * Reads plain JSON by the fields of its types: a member by its JSON name, a map as a list of its entries. The value
 * writer reads decoded objects this way. Held rows are projected without being decoded (`own-fields.ts`).
 */

import { ArgumentError } from '../../query/condition/argument-error.ts'
import { parsePath, type Path, PathError, valueAt, valuesAt } from '../../query/index/path.ts'
import { isRecord } from '../../lib/json.ts'
import type { FieldSource, ValueShape } from '../schema/field-source.ts'

type Arguments = Readonly<Record<string, unknown>>

/** Reads a field of a type whose values are plain JSON; `undefined` for any other field. */
export function jsonReader(
  source: FieldSource,
): ((value: unknown, args: Arguments) => unknown) | undefined {
  switch (source.form) {
    case 'property': {
      const { property, within = [], otherwise, shape } = source
      const path = [...within, property]
      return (value) => entriesIn(path.reduce(memberOf, value) ?? otherwise, shape)
    }
    case 'mapValue': {
      const { property, argument } = source
      return (value, args) => memberOf(memberOf(value, property), String(args[argument]))
    }
    case 'entryKey':
      return (entry) => memberOf(entry, 'key')
    case 'entryValue':
      return (entry) => memberOf(entry, 'value')
    default:
      return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Turns maps into lists of entries where the shape says so, in the order of the document. */
function entriesIn(value: unknown, shape: ValueShape): unknown {
  if (shape.form === 'list') {
    return Array.isArray(value) ? value.map((item) => entriesIn(item, shape.items)) : value
  }
  if (shape.form !== 'entries') return value
  if (!isRecord(value)) return null
  return Object.entries(value).map(([key, one]) => ({ key, value: entriesIn(one, shape.value) }))
}

/** Parsed paths, or their errors, by text: a list uses the same few paths for all objects. A full cache is emptied. */
const known = new Map<string, Path | ArgumentError>()
const maxKnownLength = 100_000
let knownLength = 0

/**
 * The value at a path of an object: the object itself without a path, a list for a path with `[*]`, null if the path
 * leads to nothing. Throws {@link ArgumentError} for a path that cannot be parsed.
 */
export function jsonAt(object: object, path: string | null | undefined): unknown {
  if (path === undefined || path === null) return object
  const read = readPath(path)
  return read.many ? valuesAt(read, object) : valueAt(read, object)
}

export function readPath(text: string): Path {
  const read = known.get(text) ?? remembered(text)
  if (read instanceof ArgumentError) throw read
  return read
}

function remembered(text: string): Path | ArgumentError {
  if (knownLength + text.length > maxKnownLength) {
    known.clear()
    knownLength = 0
  }
  const path = pathOf(text)
  known.set(text, path)
  knownLength += text.length
  return path
}

function pathOf(text: string): Path | ArgumentError {
  try {
    return parsePath(text)
  } catch (error) {
    if (!(error instanceof PathError)) throw error
    const { message, hint } = error
    return new ArgumentError('path', message, {
      value: text,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}
