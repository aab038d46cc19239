import type { Viewer } from '../../access/viewer.ts'
import type { PlannedQueries, QueryOrigin, QueryRequest } from '../answer/planned-queries.ts'
import type { MemberStream } from './group-member.ts'
import type { LiveState } from './live-limits.ts'
import type { PlannedSubscriptions } from './planned-subscriptions.ts'

/** Answers the operations that have a plan: for `startGraphQLServer`. */
export interface PlannedOperations {
  /** The plugin that it answers in place of. */
  readonly plugin: object
  /** The JSON text of the answer to a query; `undefined` where it has no plan. */
  answer(
    request: QueryRequest,
    origin?: QueryOrigin,
  ): string | undefined | Promise<string | undefined>
  /** The frames of a subscription; `undefined` where it has no plan. */
  subscribe(
    request: QueryRequest,
    origin: { readonly viewer?: Viewer | undefined },
  ): Promise<MemberStream | undefined>
  /** How the subscriptions are: for metrics. */
  liveState(): LiveState
}

export interface PlannedOperationsOptions {
  readonly queries: PlannedQueries
  readonly subscriptions: PlannedSubscriptions
  readonly plugin: object
  /** Whether an operation without a viewer is left to the plugin, which refuses it. */
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
    answer: (request, origin) =>
      isAnswered(origin?.viewer) ? queries.answer(request, origin) : undefined,
    subscribe: async (request, { viewer }) =>
      isAnswered(viewer) ? subscriptions.subscribe(request, viewer) : undefined,
    liveState: () => subscriptions.state(),
  }
}
