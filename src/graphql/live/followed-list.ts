import { objectKey } from '../../kubernetes/object.ts'
import { AffectedRows } from '../../query/condition/affected-rows.ts'
import {
  allOf,
  type Condition,
  hasKey,
  namespacesOf,
  relatedIn,
} from '../../query/condition/condition.ts'
import { compileListCondition } from '../../query/condition/list-condition.ts'
import { listHash } from '../../query/page/cursor.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { pageSizeOf } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import type {
  ListSubscriptionArguments,
  LivePageArguments,
  LookupSubscriptionArguments,
} from '../schema/read-arguments.ts'
import { ClientError } from '../errors/client-error.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import { conditionNeeds, isServed } from '../reads/condition-needs.ts'
import { idsCondition } from '../reads/ids-condition.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** What a subscription follows: some objects of one kind. */
export interface FollowedList {
  readonly at: ClusterKind
  readonly condition: Condition
  /** The namespaces that it keeps to; `undefined` where it keeps to none. */
  readonly within: readonly string[] | undefined
  /** What it is known by on every replica: equal to that of a connection with the same arguments. */
  readonly list: string
  /** Where only its first objects are followed. */
  readonly page?: FollowedPage | undefined
  /** The kinds that a condition on related objects rests on, its own among them, with the indexes that it asks. */
  readonly needs: readonly RelatedNeed[]
  /** Which of its objects a change of another concerns; absent where the condition is about the objects alone. */
  readonly concerned?: AffectedRows | undefined
}

/** The beginning of a list in an order. */
export interface FollowedPage {
  readonly size: number
  readonly terms: readonly OrderTerm[]
}

/** The list that the arguments of a subscription choose. Throws `ArgumentError` and `ClientError`. */
export function listToFollow(
  served: ServedSchema,
  kind: Kind,
  args: ListSubscriptionArguments,
): FollowedList {
  const at = { cluster: clusterNamed(served, args.cluster), kind }
  const { ids = null, namespace = null, namespaces = null, labelSelector = null } = args
  const filter = { namespace, namespaces, labelSelector, where: args.where ?? null }
  const identity = { list: `${at.cluster}/${kind.listField}`, ids, ...filter }
  const { related } = served.relations.whereFields(kind)
  const filtered = compileListCondition(args, kind.indexes, related)
  const condition = allOf([idsCondition(args.ids, at), filtered])
  const followed = { at, condition, within: namespacesOf(condition), list: listHash(identity) }
  if (relatedIn(condition) === undefined) return { ...followed, needs: [] }
  const concerned = new AffectedRows(condition, {
    definitionsOf: (type) => served.kinds.get(type)?.indexes ?? [],
    has: (type) => isServed(served, at.cluster, type),
  })
  return { ...followed, concerned, needs: conditionNeeds(served, at, condition) }
}

/** The page that the arguments of a subscription choose. Throws `ArgumentError` and `ClientError`. */
export function pageToFollow(
  served: ServedSchema,
  kind: Kind,
  args: LivePageArguments,
  maxPageSize: number,
): FollowedList & { readonly page: FollowedPage } {
  const followed = listToFollow(served, kind, args)
  const { size } = pageSizeOf({ first: args.first }, maxPageSize)
  const terms = compileOrder(args.orderBy, kind.indexes)
  const order = terms.map(({ index, descending }) => `${descending ? '-' : '+'}${index}`)
  const list = listHash({ list: `${followed.list}/${size}`, orderBy: order })
  return { ...followed, list, page: { size, terms } }
}

/** The one object that the arguments of a subscription choose, whether or not it is there. Throws `ClientError`. */
export function objectToFollow(
  served: ServedSchema,
  kind: Kind,
  args: LookupSubscriptionArguments,
): FollowedList {
  const at = { cluster: clusterNamed(served, args.cluster), kind }
  const key = objectKey(args)
  const list = listHash({ list: `${at.cluster}/${kind.lookupField}/${key}` })
  const { namespace } = args
  const within = namespace === undefined ? undefined : [namespace]
  return { at, condition: hasKey([key]), within, list, needs: [] }
}

const maxCoalesceMs = 60_000
/** Few, as subscribers share what they are sent only where it is gathered for the same time. */
const coalesceSteps = [
  0, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000,
] as const

/** The next of the times for which changes may be gathered. Throws `ClientError`. */
export function checkedCoalesceMs(value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (value >= 0 && value <= maxCoalesceMs) return coalesceSteps.find((step) => step >= value)
  throw new ClientError(
    'BAD_USER_INPUT',
    `coalesceMs: must be from 0 to ${maxCoalesceMs}, not ${value}`,
    { argument: 'coalesceMs', value },
  )
}
