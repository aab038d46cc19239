import type { ExecutionResult } from 'graphql'
import { noViewer } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { parseExact } from '../../lib/json.ts'
import { interruptible } from '../../lib/generators.ts'
import { clientErrorOf } from '../errors/client-error.ts'
import type { SubscriptionSource } from '../answer/operation-plugin.ts'
import type { PlannedQueries, QueryOrigin, QueryRequest } from '../answer/planned-queries.ts'
import { failedStream, type MemberStream } from './group-member.ts'
import type { LiveState } from './live-limits.ts'
import type { PlannedSubscriptions } from './planned-subscriptions.ts'

/** Answers operations by their plans: for `startGraphQLServer`. */
export interface PlannedOperations {
  /** The plugin that it answers in place of. */
  readonly plugin: object
  /** The JSON text of the answer to a query; `undefined` where it has no plan. */
  answer(
    request: QueryRequest,
    origin?: QueryOrigin,
  ): string | undefined | Promise<string | undefined>
  /** The frames of a subscription, or the errors that are sent in their place. Never rejects. */
  subscribe(
    request: QueryRequest,
    origin: { readonly viewer?: Viewer | undefined },
  ): Promise<MemberStream>
  /** How the subscriptions are: for metrics. */
  liveState(): LiveState
}

export interface PlannedOperationsOptions {
  readonly queries: PlannedQueries
  readonly subscriptions: PlannedSubscriptions
  readonly plugin: object
  /** Whether an operation without a viewer is refused. */
  readonly requireViewer: boolean
}

/** Both as one. */
export function plannedOperations({
  queries,
  subscriptions,
  plugin,
  requireViewer,
}: PlannedOperationsOptions): PlannedOperations {
  const isAnswered = (viewer: Viewer | undefined): boolean => viewer !== undefined || !requireViewer
  return {
    plugin,
    // The plugin refuses it.
    answer: (request, origin) =>
      isAnswered(origin?.viewer) ? queries.answer(request, origin) : undefined,
    subscribe: async (request, { viewer }) =>
      isAnswered(viewer)
        ? subscriptions.subscribe(request, { viewer })
        : failedStream([noViewer()]),
    liveState: () => subscriptions.state(),
  }
}

/** Frames as results, for servers that send those: read from the same groups, as fast as they are taken. */
export async function liveResults(
  subscriptions: PlannedSubscriptions,
  ...[request, origin]: Parameters<SubscriptionSource['subscribe']>
): ReturnType<SubscriptionSource['subscribe']> {
  const stream = await subscriptions.subscribeTo(request, origin)
  const { end } = stream
  if (end?.form === 'failed') {
    stream.close()
    return { errors: end.errors.map(clientErrorOf) }
  }
  let ready = Promise.withResolvers<void>()
  const wake = (): void => ready.resolve()
  stream.onReady(wake)
  async function* results(): AsyncGenerator<ExecutionResult, void, void> {
    try {
      for (;;) {
        const payload = stream.take()
        if (payload !== undefined) {
          yield parseExact(payload.toString()) as ExecutionResult
          continue
        }
        if (stream.end?.form === 'failed') yield { errors: stream.end.errors.map(clientErrorOf) }
        if (stream.end !== undefined) return
        await ready.promise
        ready = Promise.withResolvers()
      }
    } finally {
      stream.close()
    }
  }
  return interruptible(results(), () => stream.close())
}
