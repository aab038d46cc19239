import { CodedError } from '../../lib/coded-error.ts'

/** A place in an SDL file; the first line is 1. */
export interface SdlPlace {
  readonly file: string
  readonly line: number
}

/** What is wrong with SDL. */
export type SdlProblem =
  /** It cannot be parsed. */
  | 'syntax'
  /** Something that is not an index or a relation: a `type`, an unknown directive, an argument of the wrong type. */
  | 'unsupported'
  | 'unknown-type'
  | 'unknown-relation'
  | 'duplicate-index'
  | 'duplicate-relation'
  | 'reserved-index-name'
  | 'bad-path'
  /** The API has nothing at the path. */
  | 'unknown-field'
  /** The API itself has a field of the relation's name; it wins. */
  | 'native-field'
  /** A relation that goes through itself. */
  | 'circle'
  /** The directive and the field's type do not go together. */
  | 'field-type'

/** The way out of `unknown-field`. */
export const unknownFieldHint =
  'correct the path; `informerql schema` prints the fields of the type'

/** A problem in the SDL of indexes and relations. The message names the file and line, the hint the way out. */
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
