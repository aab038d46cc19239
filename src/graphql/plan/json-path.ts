import { ArgumentError } from '../../query/condition/argument-error.ts'
import { parsePath, type Path, PathError } from '../../query/index/path.ts'

/** Parsed paths, or their errors, by text: a list uses the same few paths for all objects. A full cache is emptied. */
const known = new Map<string, Path | ArgumentError>()
const maxKnownLength = 100_000
let knownLength = 0

/** A path. Throws {@link ArgumentError} if it cannot be parsed. */
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
