import { CodedError, type ErrorDetails } from '../../lib/coded-error.ts'

/**
 * A query argument has an unusable value. `code` is always `BAD_USER_INPUT`; `argument` is the path of the argument as
 * the caller wrote it: `first`, `where.phase.eq`, `where.or[1].restarts.gt`.
 */
export class ArgumentError extends CodedError {
  readonly argument: string

  constructor(argument: string, message: string, details: ErrorDetails = {}) {
    super('BAD_USER_INPUT', `${argument}: ${message}`, details)
    this.argument = argument
  }
}

/** A `where` field is unknown: the kind has no such index, or the index no such operator. */
export function unknownFilter(
  argument: string,
  name: string,
  known: readonly string[],
): ArgumentError {
  const hint = `there are ${known.join(', ')}`
  return new ArgumentError(argument, `there is no ${JSON.stringify(name)}`, { value: name, hint })
}

/** A search for all users of an object, while the profile leaves kinds of users out of the schema. `type` is the first. */
export function usersLeftOut(argument: string, leftOut: readonly string[]): CodedError {
  const message = `${argument}: the schema leaves out kinds of users: ${leftOut.join(', ')}`
  const hint =
    'name the types that count in `types`, or let the profile of the schema include these'
  const error = new CodedError('UNSUPPORTED', message, { hint })
  return Object.assign(error, { argument, type: leftOut[0] ?? '' })
}

/** A filter, a selector or a namespace argument has an unusable value. */
export function unusableValue(
  argument: string,
  value: unknown,
  problem: string,
  hint?: string,
): ArgumentError {
  return new ArgumentError(argument, problem, { value, hint })
}
