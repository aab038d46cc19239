import type { DocumentNode, VariableValues } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import {
  type FollowedList,
  listToFollow,
  objectToFollow,
  pageToFollow,
} from '../operation/followed-list.ts'
import type { KindLeases } from '../prepare/kind-leases.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { LookupSubscriptionArguments } from '../schema/read-arguments.ts'
import type { Sought } from './resolve-group-access.ts'
import type { FramePlan } from './frame-plan.ts'
import type { DiscoveredKinds } from './discovered-kinds.ts'
import type { GroupAccess } from './group-access.ts'

/** One subscriber to come. */
export interface Joining {
  readonly served: ServedSchema
  readonly document: DocumentNode
  readonly plan: FramePlan
  readonly variables: VariableValues
  /** What is asked for by the variables. */
  readonly asked: string
  /** See `supportingKinds`, of what is asked for. */
  readonly supporting: (served: ServedSchema) => ReadonlyMap<string, string>
  /** Who asks; absent where everything may be seen. */
  readonly viewer?: Viewer | undefined
}

/** What a subscriber wants of a group. */
export interface WantedGroup extends Joining {
  readonly list: FollowedList
  readonly coalesceMs: number
}

/** The same, of a group that is begun for it. */
export interface StartedGroup extends WantedGroup {
  readonly sought: Sought
  readonly groupAccess: GroupAccess
  readonly prepared: KindLeases
  readonly discovered: DiscoveredKinds
}

/** What a subscriber follows. Throws `ArgumentError` and `ClientError`. */
export function followedBy(
  { served, plan: { form, kind } }: Pick<Joining, 'served' | 'plan'>,
  args: object,
  maxPageSize: number,
): FollowedList {
  switch (form) {
    case 'listFrames':
      return listToFollow(served, kind, args)
    case 'lookupFrames':
      return objectToFollow(served, kind, args as LookupSubscriptionArguments)
    case 'livePages':
      return pageToFollow(served, kind, args, maxPageSize)
  }
}
