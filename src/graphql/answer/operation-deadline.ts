import { GraphQLError } from 'graphql'
import { withDeadline } from '../../lib/deadline.ts'
import { ClientError, clientErrorOf } from '../errors/client-error.ts'

/** Over HTTP, the status reports the deadline, too. */
const http = { status: 504 }

/** The time that an operation may take, and its start by `performance.now()`. */
export interface OperationDeadline {
  readonly deadlineMs: number
  readonly beganMs: number
}

/** Waits for an answer until its deadline, then answers DEADLINE_EXCEEDED. `late` receives the late answer. */
export async function inTime<T>(
  answering: Promise<T>,
  { deadlineMs, beganMs }: OperationDeadline,
  late: (answer: T) => void = () => {},
): Promise<T | { readonly errors: readonly [GraphQLError] }> {
  const passed = new ClientError(
    'DEADLINE_EXCEEDED',
    `the operation took longer than ${deadlineMs} ms`,
    { value: deadlineMs, hint: 'ask for less, or try again in a moment', retryAfterMs: 1_000 },
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
