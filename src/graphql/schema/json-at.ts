import { type GraphQLArgumentConfig, GraphQLString } from 'graphql'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { parsePath, type Path, PathError, valueAt, valuesAt } from '../../query/index/path.ts'

/**
 * Paths that were read, or why they cannot be, by their text: a list asks with the same few for all of its objects. Forgotten
 * together when they grow too long.
 */
const known = new Map<string, Path | ArgumentError>()
const maxKnownLength = 100_000
let knownLength = 0

/** The `path` of {@link jsonAt}, as the schema has it. */
export const pathArgument: GraphQLArgumentConfig = {
  type: GraphQLString,
  description:
    'Dots, `[*]` for each item, `["quoted.key"]`; all of it if absent. With `[*]` the answer is a list; where nothing stands it is null.',
}

/**
 * The value at a path of an object: the object itself without one, a list where the path has a `[*]`, null where nothing
 * is there. Throws {@link ArgumentError} for a path that cannot be read.
 */
export function jsonAt(object: object, path: string | null | undefined): unknown {
  if (path === undefined || path === null) return object
  const read = known.get(path) ?? remembered(path)
  if (read instanceof ArgumentError) throw read
  return read.many ? valuesAt(read, object) : valueAt(read, object)
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
