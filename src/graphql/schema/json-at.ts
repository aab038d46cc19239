import { ArgumentError } from '../../query/condition/argument-error.ts'
import { parsePath, type Path, PathError, valueAt, valuesAt } from '../../query/index/path.ts'

let last: Path | undefined

/**
 * The value at a path of an object: the object itself without one, a list where the path has a `[*]`, null where nothing
 * is there. Throws {@link ArgumentError} for a path that cannot be read.
 */
export function jsonAt(object: object, path: string | null | undefined): unknown {
  if (path === undefined || path === null) return object
  // A list asks with one path for all of its objects.
  if (last?.text !== path) last = pathOf(path)
  return last.many ? valuesAt(last, object) : valueAt(last, object)
}

function pathOf(text: string): Path {
  try {
    return parsePath(text)
  } catch (error) {
    if (!(error instanceof PathError)) throw error
    const { message, hint } = error
    throw new ArgumentError('path', message, {
      value: text,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}
