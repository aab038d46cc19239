import { GraphQLError } from 'graphql'
import { withDeadline } from '../../lib/deadline.ts'
import { ClientError, clientErrorOf } from './client-error.ts'

/** GraphQL over HTTP says it by the status, too. */
const http = { status: 504 }

/**
 * Waits for what answers an operation, but no longer than the deadline; then the answer is one error, DEADLINE_EXCEEDED, and what
 * comes later is handed to `late`.
 */
export async function inTime<T>(
  answering: Promise<T>,
  deadlineMs: number,
  late: (answer: T) => void = () => {},
): Promise<T | { readonly errors: readonly [GraphQLError] }> {
  const passed = new ClientError(
    'DEADLINE_EXCEEDED',
    `the operation took longer than ${deadlineMs} ms`,
    { value: deadlineMs, hint: 'ask for less, or again in a moment', retryAfterMs: 1_000 },
  )
  try {
    return await withDeadline('the operation', answering, deadlineMs, undefined, () => passed)
  } catch (error) {
    if (error !== passed) throw error
    answering.then(late, () => {})
    const { message, extensions } = clientErrorOf(passed)
    return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] }
  }
}
