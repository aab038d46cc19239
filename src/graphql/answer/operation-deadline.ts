import { GraphQLError } from 'graphql'
import { withDeadline } from '../../lib/deadline.ts'
import { ClientError, clientErrorOf } from '../errors/client-error.ts'

/** GraphQL over HTTP says it by the status, too. */
const http = { status: 504 }

/** How long an operation may take, and since when it does, as `performance.now()` told. */
export interface OperationDeadline {
  readonly deadlineMs: number
  readonly beganMs: number
}

/**
 * Waits for what answers an operation, but no longer than its deadline; then the answer is one error, DEADLINE_EXCEEDED, and what
 * comes later is handed to `late`.
 */
export async function inTime<T>(
  answering: Promise<T>,
  { deadlineMs, beganMs }: OperationDeadline,
  late: (answer: T) => void = () => {},
): Promise<T | { readonly errors: readonly [GraphQLError] }> {
  const passed = new ClientError(
    'DEADLINE_EXCEEDED',
    `the operation took longer than ${deadlineMs} ms`,
    { value: deadlineMs, hint: 'ask for less, or again in a moment', retryAfterMs: 1_000 },
  )
  const restMs = Math.max(0, beganMs + deadlineMs - performance.now())
  try {
    return await withDeadline('the operation', answering, restMs, undefined, () => passed)
  } catch (error) {
    if (error !== passed) throw error
    answering.then(late, () => {})
    const { message, extensions } = clientErrorOf(passed)
    return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] }
  }
}
