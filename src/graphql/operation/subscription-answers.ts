import type { ExecutionResult, GraphQLError } from 'graphql'
import { interruptible } from '../../lib/interruptible.ts'
import { QueryTooCostlyError } from '../../query/condition/work-budget.ts'
import { ClientError, type ClientErrorCode, clientErrorOf } from '../errors/client-error.ts'
import type { OpenSubscription } from './open-subscriptions.ts'

export interface SubscriptionAnswersOptions {
  readonly source: AsyncIterable<unknown>
  readonly answer: (event: unknown) => Promise<ExecutionResult>
  /** Told how to end it from outside; what it returns is called at the end. */
  readonly opened: (end: OpenSubscription['end']) => () => void
  /** May be called more than once. */
  readonly ended: () => void
}

/**
 * The answers to a subscription's events. Leaving them leaves the source, also while it has nothing to say, and before
 * anybody has asked for the first. One that is too costly is told so and is the last: its subscriber has missed something,
 * and the next frame would hardly be cheaper. So is the error with which it is ended from outside.
 */
export function subscriptionAnswers({
  source,
  answer,
  opened,
  ended,
}: SubscriptionAnswersOptions): AsyncGenerator<ExecutionResult, void, void> {
  const events = source[Symbol.asyncIterator]()
  let reason: Error | undefined
  const closed = opened((error) => {
    reason ??= error
    void events.return?.()
  })
  const end = (): void => {
    closed()
    ended()
  }
  async function* run(): AsyncGenerator<ExecutionResult, void, void> {
    try {
      for await (const event of { [Symbol.asyncIterator]: () => events }) {
        const result = await answer(event)
        if (reason !== undefined) break
        yield result
        if (result.errors?.some(isTooCostly) === true) return
      }
      if (reason !== undefined) yield { errors: [clientErrorOf(reason)] }
    } catch (error) {
      if (!(error instanceof QueryTooCostlyError || error instanceof ClientError)) throw error
      yield { errors: [clientErrorOf(error)] }
    } finally {
      end()
    }
  }
  return interruptible(run(), () => {
    void events.return?.()
    end()
  })
}

function isTooCostly({ extensions }: GraphQLError): boolean {
  return extensions['code'] === ('QUERY_TOO_COSTLY' satisfies ClientErrorCode)
}
