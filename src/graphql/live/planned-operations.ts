import type { Viewer } from '../../access/viewer.ts'
import type { PlannedQueries, QueryRequest } from '../plan/planned-queries.ts'
import type { MemberStream } from './group-member.ts'
import type { LiveState } from './live-limits.ts'
import type { PlannedSubscriptions } from './planned-subscriptions.ts'

/** Answers the operations that have a plan: for `startGraphQLServer`. */
export interface PlannedOperations {
  /** The JSON text of the answer to a query; `undefined` where it has no plan. */
  answer(
    request: QueryRequest,
    origin?: { readonly viewer?: Viewer | undefined },
  ): string | undefined | Promise<string | undefined>
  /** The frames of a subscription; `undefined` where it has no plan. */
  subscribe(
    request: QueryRequest,
    origin: { readonly viewer?: Viewer | undefined },
  ): Promise<MemberStream | undefined>
  /** How the subscriptions are: for metrics. */
  liveState(): LiveState
}

/** Both as one. */
export function plannedOperations(
  queries: PlannedQueries,
  subscriptions: PlannedSubscriptions,
): PlannedOperations {
  return {
    answer: (request, origin) => queries.answer(request, origin),
    subscribe: (request, { viewer }) => subscriptions.subscribe(request, viewer),
    liveState: () => subscriptions.state(),
  }
}
