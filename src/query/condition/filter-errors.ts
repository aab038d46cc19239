import { ArgumentError } from './argument-error.ts'

/** A `where` field that is not there: no index of the kind has the name, or the index lacks the operator. */
export class UnknownFilterError extends ArgumentError {
  constructor(argument: string, name: string, known: readonly string[]) {
    super(argument, `there is no ${JSON.stringify(name)}`, {
      value: name,
      hint: `there are ${known.join(', ')}`,
    })
  }
}

/** The value of a filter, a selector or a namespace argument that cannot be used. */
export class FilterValueError extends ArgumentError {
  constructor(argument: string, value: unknown, problem: string, hint?: string) {
    super(argument, problem, { value, ...(hint === undefined ? {} : { hint }) })
  }
}
