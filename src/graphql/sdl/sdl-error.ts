import { CodedError } from '../../lib/coded-error.ts'
import { parsePath, PathError } from '../../query/index/path.ts'

/** A place in an SDL file; the first line is 1. */
export interface SdlPlace {
  readonly file: string
  readonly line: number
}

export type SdlProblem =
  /** GraphQL cannot parse it. */
  | 'syntax'
  /** Neither an index nor a relation: a `type`, an unknown directive, an argument of the wrong type. */
  | 'unsupported'
  | 'unknown-type'
  | 'unknown-relation'
  | 'duplicate-index'
  | 'duplicate-relation'
  | 'reserved-index-name'
  | 'bad-path'
  /** The API has nothing at the path. */
  | 'unknown-field'
  /** The API itself has a field of the relation's name, and wins. */
  | 'native-field'
  /** A relation leads through itself. */
  | 'circle'
  /** The directive does not allow the field's type. */
  | 'field-type'

export const unknownFieldHint =
  'correct the path; `informerql schema` prints the fields of the type'

/** A problem in the SDL of indexes and relations. The message names the file and line. */
export class SdlError extends CodedError {
  readonly problem: SdlProblem
  readonly file: string
  readonly line: number

  constructor(problem: SdlProblem, { file, line }: SdlPlace, message: string, hint: string) {
    super('SCHEMA_SDL', `${file}:${line}: ${message}`, { value: `${file}:${line}`, hint })
    this.problem = problem
    this.file = file
    this.line = line
  }
}

/** The problem of a path that cannot be parsed; `undefined` if it can. `about` names the declaration. */
export function pathProblem(path: string, place: SdlPlace, about: string): SdlError | undefined {
  try {
    parsePath(path)
    return undefined
  } catch (error) {
    if (!(error instanceof PathError)) throw error
    const message = `${about}: ${error.message}`
    return new SdlError('bad-path', place, message, error.hint ?? 'correct the path')
  }
}
