import { CodedError, type ErrorDetails } from '../../lib/coded-error.ts'

/**
 * A query argument that cannot be honoured. Its `code` is always `BAD_USER_INPUT`; `argument` is the path of the
 * argument as the caller wrote it: `first`, `where.phase.eq`, `where.or[1].restarts.gt`.
 */
export class ArgumentError extends CodedError {
  readonly argument: string

  constructor(argument: string, message: string, details: ErrorDetails = {}) {
    super('BAD_USER_INPUT', `${argument}: ${message}`, details)
    this.argument = argument
  }
}
