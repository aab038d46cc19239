import { objectKey } from '../../kubernetes/object.ts'
import { AffectedRows } from '../../query/condition/affected-rows.ts'
import { type Condition, hasKey, namespacesOf, relatedIn } from '../../query/condition/condition.ts'
import { listHash } from '../../query/page/cursor.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { pageSizeOf } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import type { ObjectIdentity } from '../model/object-id.ts'
import type { FollowSource } from '../schema/field-source.ts'
import type {
  ListSubscriptionArguments,
  LivePageArguments,
  LookupSubscriptionArguments,
  ObjectByRefSubscriptionArguments,
  ObjectListSubscriptionArguments,
  ObjectSubscriptionArguments,
} from '../schema/read-arguments.ts'
import { ClientError } from '../errors/client-error.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import { conditionNeeds, isServed } from '../reads/condition-needs.ts'
import { filterOf, identityIn } from '../reads/list-arguments.ts'
import { kindNamed, typedArguments } from '../reads/named-kind.ts'
import { kindOfIdentity, resolveObjectRef } from '../reads/object-read.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

export interface FollowedList {
  readonly at: ClusterKind
  readonly condition: Condition
  /** The namespaces that the list is limited to; `undefined`: all. */
  readonly within: readonly string[] | undefined
  /** A hash that is equal on every replica, and equal to the hash of a connection with the same arguments. */
  readonly list: string
  /** Set if the subscription follows only the first objects. */
  readonly page?: FollowedPage | undefined
  /** The kinds that the filter on related objects reads, including the list's kind, with the indexes for these reads. */
  readonly needs: readonly ClusterKind[]
  /** Absent if the condition reads no related objects. */
  readonly filter?: ListFilter | undefined
}

export interface ListFilter {
  readonly affected: AffectedRows
  /** The kinds whose changes may add rows to the list or remove them. */
  readonly kinds: readonly FilterKind[]
}

export interface FilterKind {
  readonly at: ClusterKind
  /** The name of its position in tokens. It is separate from the position for the rows. */
  readonly position: string
}

export interface FollowedPage {
  readonly size: number
  readonly terms: readonly OrderTerm[]
}

/** The limits of what arguments may ask for, and whether errors may suggest names of the schema. */
type FollowLimits = Pick<OperationLimits, 'maxPageSize' | 'introspection'>

/** The kind that a subscription follows by its field or its arguments. Throws `ArgumentError` and `ClientError`. */
export function followedKind(
  served: ServedSchema,
  source: FollowSource,
  args: object,
  limits: FollowLimits,
): Kind {
  switch (source.form) {
    case 'listFrames':
    case 'lookupFrames':
    case 'livePages':
      return source.kind
    case 'objectFrames':
      return identifiedBy(served, args as ObjectSubscriptionArguments).at.kind
    case 'objectByRefFrames':
      return resolveObjectRef(served, args as ObjectByRefSubscriptionArguments).kind
    case 'objectListFrames':
    case 'objectListPages':
      return kindNamed(served, args as ObjectListSubscriptionArguments, limits)
  }
}

/** The objects that the arguments of a subscription choose. Throws `ArgumentError` and `ClientError`. */
export function followedList(
  served: ServedSchema,
  { source, kind }: { readonly source: FollowSource; readonly kind: Kind },
  args: object,
  limits: FollowLimits,
): FollowedList {
  const { maxPageSize } = limits
  const typed = (): LivePageArguments =>
    typedArguments(served, kind, args as ObjectListSubscriptionArguments, limits)
  switch (source.form) {
    case 'listFrames':
      return listToFollow(served, kind, args)
    case 'lookupFrames':
      return objectToFollow(served, kind, args as LookupSubscriptionArguments)
    case 'livePages':
      return pageToFollow(served, kind, args, maxPageSize)
    case 'objectFrames':
      return identifiedToFollow(served, args as ObjectSubscriptionArguments)
    case 'objectByRefFrames': {
      const { kind: named, ...object } = resolveObjectRef(
        served,
        args as ObjectByRefSubscriptionArguments,
      )
      return objectToFollow(served, named, object)
    }
    case 'objectListFrames':
      return listToFollow(served, kind, typed())
    case 'objectListPages':
      return pageToFollow(served, kind, typed(), maxPageSize)
  }
}

function listToFollow(
  served: ServedSchema,
  kind: Kind,
  args: ListSubscriptionArguments,
): FollowedList {
  const at = { cluster: clusterNamed(served, args.cluster), kind }
  const { condition, identity } = filterOf(served, kind, args)
  const list = listHash({ list: `${at.cluster}/${kind.listField}`, ...identity })
  const followed = { at, condition, within: namespacesOf(condition), list }
  if (relatedIn(condition) === undefined) return { ...followed, needs: [] }
  const { cluster } = at
  const affected = new AffectedRows(condition, {
    definitionsOf: (type) => served.kinds.get(type)?.indexes ?? [],
    has: (type) => isServed(served, cluster, type),
  })
  const needs = conditionNeeds(served, at, condition).map((need) => ({ cluster, ...need }))
  const kinds = needs
    .map((need) => ({ at: { cluster, kind: need.kind }, position: `where:${need.kind.typeName}` }))
    .filter(({ at: of }) => affected.types.includes(of.kind.typeName))
  return { ...followed, needs, filter: { affected, kinds } }
}

function pageToFollow(
  served: ServedSchema,
  kind: Kind,
  args: LivePageArguments,
  maxPageSize: number,
): FollowedList {
  const followed = listToFollow(served, kind, args)
  const { size } = pageSizeOf({ first: args.first }, maxPageSize)
  const terms = compileOrder(args.orderBy, kind.indexes)
  const order = terms.map(({ index, descending }) => `${descending ? '-' : '+'}${index}`)
  const list = listHash({ list: `${followed.list}/${size}`, orderBy: order })
  return { ...followed, list, page: { size, terms } }
}

/** One object, whether or not it exists. */
function objectToFollow(
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

/** One object by its `id`: the object with the UID, or by the name if it has no UID. */
function identifiedToFollow(served: ServedSchema, args: ObjectSubscriptionArguments): FollowedList {
  const { object, at } = identifiedBy(served, args)
  const { cluster, kind } = at
  return 'uid' in object
    ? listToFollow(served, kind, { cluster, ids: [args.id] })
    : objectToFollow(served, kind, { cluster, ...object })
}

/** When to try again where a kind is not served. */
const soonMs = 5_000

/** The object that an `id` means. Throws `ArgumentError`, and a `ClientError` where its kind is not served. */
function identifiedBy(
  served: ServedSchema,
  { id }: ObjectSubscriptionArguments,
): Pick<ObjectIdentity, 'object'> & { readonly at: ClusterKind } {
  const identity = identityIn('id', id)
  const { cluster, group, kind } = identity
  const at = kindOfIdentity(served, identity)
  if (at !== undefined) return { object: identity.object, at }
  const name = group === '' ? kind : `${kind} of ${group}`
  const message = `id: cluster ${JSON.stringify(cluster)} serves no ${name} at present`
  throw new ClientError('NOT_FOUND', message, {
    argument: 'id',
    value: id,
    cluster,
    kind,
    hint: 'subscribe again when the kind is served',
    retryAfterMs: soonMs,
  })
}

const maxCoalesceMs = 60_000
/** Few steps: only subscribers with the same interval share frames. */
const coalesceSteps = [
  0, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000,
] as const

/** The allowed interval for gathering changes that is next to `value`. Throws `ClientError`. */
export function checkedCoalesceMs(value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (value >= 0 && value <= maxCoalesceMs) return coalesceSteps.find((step) => step >= value)
  throw new ClientError(
    'BAD_USER_INPUT',
    `coalesceMs: must be from 0 to ${maxCoalesceMs}, not ${value}`,
    { argument: 'coalesceMs', value },
  )
}
