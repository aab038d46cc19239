import type { FormattedExecutionResult } from 'graphql'
import {
  type AnsweredResult,
  clientResult,
  withoutTransportDetails,
} from '../graphql/errors/client-error.ts'

/** A result as it is sent in a message: its errors as clients see them, without what only an answer by HTTP needs. */
export function sentResult(result: AnsweredResult): FormattedExecutionResult {
  const { errors, ...rest } = clientResult(result)
  if (errors === undefined) return rest as FormattedExecutionResult
  const formatted = errors.map((error) => withoutTransportDetails(error).toJSON())
  return { ...rest, errors: formatted } as FormattedExecutionResult
}
