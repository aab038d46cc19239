/*
 * The lists that a subscription follows, by its field and its arguments (`followedLists`). A list has one kind in one
 * cluster, and a condition. Arguments that may name several kinds or clusters lead to several lists. Pages, facets and
 * problems follow lists, too: they add the shown part to the hash of each list, so that a resume token of another
 * subscription does not fit. `frame-plan.ts` compiles the frames of each list, and `group/group-list.ts` follows it.
 */

import type { Change } from '../../informer/store/change.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import { AffectedRows } from '../../query/condition/affected-rows.ts'
import {
  allOf,
  type Condition,
  hasKey,
  namespacesOf,
  relatedIn,
} from '../../query/condition/condition.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import { QueryTooCostlyError, WorkBudget } from '../../query/condition/work-budget.ts'
import { listHash } from '../../query/page/cursor.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { pageSizeOf } from '../../query/page/page.ts'
import { problemOrder } from '../../query/problems/problem-page.ts'
import { isNamespace, type Kind, usageKindOf } from '../model/kind.ts'
import type { ObjectIdentity } from '../model/object-id.ts'
import type { FollowSource } from '../schema/field-source.ts'
import type {
  FacetsArguments,
  KindFacetFramesArguments,
  KindListFramesArguments,
  KindLivePagesArguments,
  KindLookupFramesArguments,
  KubernetesObjectsPageSubscriptionArguments,
  ObjectByRefSubscriptionArguments,
  ObjectListFacetsSubscriptionArguments,
  ObjectListPageSubscriptionArguments,
  ObjectSubscriptionArguments,
  ObjectsSubscriptionArguments,
  ProblemsSubscriptionArguments,
} from '../schema/gateway-types.ts'
import { ClientError } from '../errors/client-error.ts'
import { conditionNeeds } from '../reads/list-read.ts'
import { checkedFacets } from '../reads/facets.ts'
import { anyKindsToFollow } from '../reads/over-kinds/kinds-connection.ts'
import { filterOf, identityIn, namedList, namespacesIn } from '../reads/list-arguments.ts'
import { lastEventNeeds, problemIndexes } from '../reads/over-kinds/problems-read.ts'
import { isServed, namedKinds, problemKindsOf } from '../served/named-kinds.ts'
import { kindOfIdentity, type NamedIdentity, resolveObjectRef } from '../reads/object-read.ts'
import { contentPlaces } from '../reads/namespace-health.ts'
import { isElsewhere, measuredKinds } from '../reads/usage-read.ts'
import {
  type ClusterKind,
  clusterNamed,
  clustersNamed,
  isOverClusters,
} from '../prepare/kind-view.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

export interface FollowedList {
  /** Optional if the arguments may name several kinds or clusters: an unreadable list is then a gap, not an error. */
  readonly at: ClusterKind
  readonly condition: Condition
  /** The namespaces that the list is limited to; `undefined`: all. */
  readonly within: readonly string[] | undefined
  /** A hash that is equal on every replica, and equal to the hash of a connection with the same arguments. */
  readonly list: string
  /** The kinds that the filter on related objects reads, including the list's kind, with the indexes for these reads. */
  readonly needs: readonly ClusterKind[]
  /** The kinds whose usage decides which objects the list has, their order or their sums. */
  readonly measured?: readonly Kind[]
  /** Absent if the condition reads no related objects. */
  readonly filter?: ListFilter | undefined
  readonly problems?: LookedAtList | undefined
  /** The ids that the arguments name, if it is a list of these objects. */
  readonly named?: readonly NamedIdentity[]
}

export interface LookedAtList {
  /** Whether the arguments name its kind: then a refusal is a gap and an error. */
  readonly isNamed: boolean
  /** Whether its other failures are errors besides gaps: a list over clusters reports each of them. */
  readonly isOver: boolean
  /** Whether problems of its objects count. Not for Events that are read for `lastEvent` only. */
  readonly counts: boolean
}

export interface FollowedLists {
  readonly lists: readonly FollowedList[]
  /** The kind whose plan writes the frames. */
  readonly kind: Kind
  /** Set if the subscription follows only the first objects. */
  readonly page?: FollowedPage | undefined
  /** Set if the subscription follows only counts and sums of the objects. */
  readonly facets?: FacetsArguments | undefined
  /** Set if the subscription follows the problems of the objects. */
  readonly problems?: FollowedProblems | undefined
}

export interface FollowedProblems extends FollowedPage {
  readonly args: ProblemsSubscriptionArguments
}

export interface ListFilter {
  readonly affected: Pick<AffectedRows, 'of' | 'relations'>
  /** The kinds whose changes may add rows to the list or remove them. */
  readonly kinds: readonly FilterKind[]
}

export interface FilterKind {
  readonly at: ClusterKind
  /** The name of its position in tokens. The rows have a position of their own. */
  readonly position: string
}

/** The rows to decide one by one. Beyond this, the group decides all rows, which costs as much as a snapshot. */
export const maxAffectedRows = 10_000
/** The changes that may wait. Beyond this, the group decides all rows again. */
export const maxWaitingChanges = 10_000

/** The store of a type among those that decide a condition. */
export function viewIn(views: ReadonlyMap<string, StoreView>, type: string): StoreView {
  const view = views.get(type)
  if (view === undefined) throw new TypeError(`${type} is not followed`)
  return view
}

/** The rows that changes of a type may add to a list or remove; `undefined` if they are too many or too costly to find. */
export function affectedRows(
  { affected }: ListFilter,
  type: string,
  changes: readonly Change[],
  viewOf: (type: string) => StoreView,
  budget: WorkBudget = new WorkBudget(),
): ReadonlySet<string> | undefined {
  try {
    return affected.of(type, changes, {
      part: (name) => ({ view: viewOf(name), scope: unrestricted }),
      budget,
      maxRows: maxAffectedRows,
    })
  } catch (error) {
    if (error instanceof QueryTooCostlyError) return undefined
    throw error
  }
}

export interface FollowedPage {
  readonly size: number
  readonly terms: readonly OrderTerm[]
}

/** The limits of what arguments may ask for, and whether errors may suggest names of the schema. */
export type FollowLimits = Pick<OperationLimits, 'maxPageSize' | 'introspection'>

/**
 * The objects that a subscription follows by its field and its arguments: one list, unless these may name several kinds
 * or clusters. Throws `ArgumentError` and `ClientError`.
 */
export function followedLists(
  served: ServedSchema,
  source: FollowSource,
  args: object,
  limits: FollowLimits,
): FollowedLists {
  switch (source.form) {
    case 'problemFrames':
      return problemsToFollow(served, args, limits)
    case 'clusterFrames':
    case 'changeFrames':
    case 'drainFrames':
    case 'logFrames':
    case 'extensionEvents':
      throw new TypeError(`${source.form} follow no list`)
    case 'lookupFrames':
      return alone(objectToFollow(served, source.kind, args as KindLookupFramesArguments))
    case 'objectFrames': {
      // The object with the UID, or by the name if it has no UID.
      const { id } = args as ObjectSubscriptionArguments
      const { identity, at } = identifiedBy(served, 'id', id)
      const { cluster, kind } = at
      const { object } = identity
      return alone(
        'uid' in object
          ? { ...listToFollow(served, kind, { cluster, ids: [id] }), named: [['id', identity]] }
          : objectToFollow(served, kind, { cluster, ...object }),
      )
    }
    case 'kubernetesObjectsFrames':
      return anyKindsFollowed(served, args as KubernetesObjectsPageSubscriptionArguments, limits)
        .followed
    case 'kubernetesObjectsPages': {
      const asked = args as KubernetesObjectsPageSubscriptionArguments
      const { followed, terms } = anyKindsFollowed(served, asked, limits)
      return pageOfLists(served, followed, terms, asked, limits)
    }
    case 'objectsFrames':
      return objectsToFollow(served, args as ObjectsSubscriptionArguments)
    case 'objectByRefFrames': {
      const asked = args as ObjectByRefSubscriptionArguments
      const { kind, ...object } = resolveObjectRef(served, asked)
      return alone(objectToFollow(served, kind, object))
    }
    case 'listFrames':
    case 'objectListFrames': {
      const { kind, typed } = listAsked(served, source, args, limits)
      return listsToFollow(served, kind, typed)
    }
    case 'facetFrames':
    case 'objectListFacetFrames': {
      const { kind, typed } = listAsked(served, source, args, limits)
      const { by = null, top = null, sum = null } = args as ObjectListFacetsSubscriptionArguments
      return facetsToFollow(served, kind, { ...typed, by, top, sum }, limits)
    }
    case 'livePages':
    case 'objectListPages': {
      const { kind, typed } = listAsked(served, source, args, limits)
      return pageOfLists(
        served,
        listsToFollow(served, kind, typed),
        compileOrder(typed.orderBy, kind.indexes),
        typed,
        limits,
      )
    }
  }
}

/** The kind and its arguments: of a field of the kind, or of a field whose arguments name it. */
function listAsked(
  served: ServedSchema,
  source: FollowSource,
  args: object,
  limits: FollowLimits,
): { readonly kind: Kind; readonly typed: KindLivePagesArguments } {
  if ('kind' in source) return { kind: source.kind, typed: args }
  return namedList(served, args as ObjectListPageSubscriptionArguments, limits)
}

function alone(list: FollowedList): FollowedLists {
  return { lists: [list], kind: list.at.kind }
}

function several(lists: readonly FollowedList[], kind: Kind): FollowedLists {
  return { lists: lists.map((one) => ({ ...one, at: { ...one.at, isOptional: true } })), kind }
}

/** The list of a kind in each cluster that the arguments name, by name of the cluster. */
function listsToFollow(
  served: ServedSchema,
  kind: Kind,
  args: KindListFramesArguments,
): FollowedLists {
  if (!isOverClusters(args)) return alone(listToFollow(served, kind, args))
  const lists = clustersNamed(served, args).map((cluster) =>
    listToFollow(served, kind, { ...args, cluster }),
  )
  return several(lists, kind)
}

function listToFollow(
  served: ServedSchema,
  kind: Kind,
  args: KindListFramesArguments,
): FollowedList {
  const at = { cluster: clusterNamed(served, args.cluster), kind }
  const { condition, identity } = filterOf(served, kind, args)
  const list = listHash({ list: `${at.cluster}/${kind.listField}`, ...identity })
  let followed: FollowedList = { at, condition, within: namespacesOf(condition), list, needs: [] }
  if (relatedIn(condition) !== undefined) {
    // The kinds that a filter on related objects reads.
    const { cluster } = at
    const affected = new AffectedRows(condition, {
      definitionsOf: (type) => served.kinds.get(type)?.indexes ?? [],
      has: (type) => isServed(served, cluster, type),
    })
    const needs = conditionNeeds(served, at, condition).map((need) => ({ cluster, ...need }))
    const kinds = needs
      .map((need) => ({
        at: { cluster, kind: need.kind },
        position: `where:${need.kind.typeName}`,
      }))
      .filter(({ at: of }) => affected.types.includes(of.kind.typeName))
    followed = { ...followed, needs, filter: { affected, kinds } }
  }
  return measuredList(served, followed, measuredKinds(served, kind, condition))
}

function pageOfLists(
  served: ServedSchema,
  followed: FollowedLists,
  terms: FollowedPage['terms'],
  { first }: Pick<KindLivePagesArguments, 'first'>,
  { maxPageSize }: Pick<FollowLimits, 'maxPageSize'>,
): FollowedLists {
  const { size } = pageSizeOf({ first }, maxPageSize)
  const isMeasured = (of: Kind): boolean => terms.some(({ index }) => isElsewhere(of, index))
  const order = terms.map(({ index, descending }) => `${descending ? '-' : '+'}${index}`)
  const lists = followed.lists.map((one) => {
    const list = listHash({ list: `${one.list}/${size}`, orderBy: order })
    const of = one.at.kind
    return measuredList(served, { ...one, list }, isMeasured(of) ? [of] : [])
  })
  return { ...followed, lists, page: { size, terms } }
}

function facetsToFollow(
  served: ServedSchema,
  kind: Kind,
  args: KindFacetFramesArguments,
  limits: FollowLimits,
): FollowedLists {
  const followed = listsToFollow(served, kind, args)
  const facets = { by: args.by ?? [], top: args.top ?? null, sum: args.sum ?? [] }
  checkedFacets(kind, facets, limits)
  const isMeasured = [...facets.by, ...facets.sum].some((name) => isElsewhere(kind, name))
  const lists = followed.lists.map((one) => {
    const list = listHash({ list: `${one.list}/facets`, ...facets })
    return measuredList(served, { ...one, list }, isMeasured ? [kind] : [])
  })
  return { ...followed, lists, facets }
}

/**
 * A list whose objects, order or sums depend on usage, or on what is in namespaces. A new measurement of an object, or a
 * change in a namespace, may move that object. One of a related object that the list filters by may move any object.
 */
function measuredList(
  served: ServedSchema,
  followed: FollowedList,
  measured: readonly Kind[],
): FollowedList {
  const { at, filter } = followed
  const { cluster } = at
  const known = followed.measured ?? []
  const kinds = measured.filter((kind) => !known.includes(kind))
  if (kinds.length === 0) return followed
  const ways = new Map<string, boolean>()
  const ofContents = isNamespace(at.kind)
  const further = kinds.flatMap((kind) => {
    const places = isNamespace(kind)
      ? contentPlaces(served, cluster)
      : usagePlaces(served, cluster, kind)
    for (const place of places) ways.set(place.kind.typeName, kind === at.kind)
    return places.map((place) => ({ at: place, position: `where:${place.kind.typeName}` }))
  })
  const affected: ListFilter['affected'] = {
    relations: filter?.affected.relations ?? new Set(),
    of(type, changes, reading) {
      const isOwn = ways.get(type)
      const isRelated = filter?.kinds.some((one) => one.at.kind.typeName === type) === true
      const related = isRelated ? filter.affected.of(type, changes, reading) : noKeys
      if (isOwn === undefined || related === undefined) return related
      if (!isOwn) return undefined
      const { within } = followed
      const isInside = (key: string): boolean =>
        within === undefined || within.includes(splitObjectKey(key).namespace)
      const moved = ofContents
        ? changes.map(({ key }) => splitObjectKey(key).namespace)
        : changes.flatMap(({ key }) => (isInside(key) ? [key] : []))
      const keys = new Set([...related, ...moved])
      return keys.size > reading.maxRows ? undefined : keys
    },
  }
  const own = followed.needs.length === 0 && further.length > 0 ? [at] : followed.needs
  const positions = new Set(filter?.kinds.map(({ position }) => position))
  const others = further.filter(({ position }) => !positions.has(position))
  return {
    ...followed,
    measured: [...known, ...kinds],
    needs: [...own, ...further.map((one) => one.at)],
    filter: { affected, kinds: [...(filter?.kinds ?? []), ...others] },
  }
}

/** The measurements of a kind, if the cluster serves them. */
function usagePlaces(
  { clusters }: ServedSchema,
  cluster: string,
  of: Kind,
): readonly ClusterKind[] {
  const kind = usageKindOf(of)
  const isThere = kind !== undefined && clusters.get(cluster)?.serves(kind.resource) === true
  return isThere ? [{ cluster, kind }] : []
}

const noKeys: ReadonlySet<string> = new Set()

function problemsToFollow(
  served: ServedSchema,
  args: ProblemsSubscriptionArguments,
  limits: FollowLimits,
): FollowedLists {
  const { maxPageSize } = limits
  const named = new Set(namedKinds(served, args.types, limits))
  const isOver = isOverClusters(args)
  const within = namespacesIn(args)
  const lists = clustersNamed(served, args).flatMap((cluster) => {
    const looked = new Set([...problemKindsOf(served, cluster), ...named])
    const read = lastEventNeeds(served).map(({ kind }) => kind)
    return Array.from(new Set([...looked, ...read]), (kind) => ({
      at: { cluster, kind, indexes: problemIndexes },
      condition: allOf([]),
      within: kind.resource.namespaced ? within : undefined,
      list: listHash({ list: `${cluster}/problems/${kind.typeName}` }),
      needs: [],
      problems: { isNamed: named.has(kind), isOver, counts: looked.has(kind) },
    }))
  })
  const kind = lists[0]?.at.kind ?? [...served.kinds.values()][0]
  if (kind === undefined) throw new ClientError('NOT_SYNCED', 'no kind is served yet')
  const { size } = pageSizeOf({ first: args.first }, maxPageSize)
  const terms = problemOrder(args.orderBy)
  return { ...several(lists, kind), problems: { size, terms, args } }
}

function anyKindsFollowed(
  served: ServedSchema,
  args: KubernetesObjectsPageSubscriptionArguments,
  limits: FollowLimits,
): { readonly followed: FollowedLists; readonly terms: FollowedPage['terms'] } {
  const { kind, parts, terms } = anyKindsToFollow(served, args, limits)
  if (parts.length > maxListsOfKinds) {
    const value = parts.length
    const message = `kinds: make ${value} lists of one kind in one cluster, and a subscription follows at most ${maxListsOfKinds}`
    const hint = 'name fewer kinds or clusters, or follow them by several subscriptions'
    throw new ClientError('BAD_USER_INPUT', message, { argument: 'kinds', value, hint })
  }
  const lists = parts.map(({ at, condition, identity }) => {
    const list = listHash({ list: `${at.cluster}/any/${at.kind.typeName}`, ...identity })
    const followed = { at, condition, within: namespacesOf(condition), list, needs: [] }
    return measuredList(served, followed, measuredKinds(served, at.kind, condition, terms))
  })
  return { followed: several(lists, kind), terms }
}

/** The number of lists that a subscription over kinds follows. */
const maxListsOfKinds = 256

function objectToFollow(
  served: ServedSchema,
  kind: Kind,
  args: KindLookupFramesArguments,
): FollowedList {
  const at = { cluster: clusterNamed(served, args.cluster), kind }
  const key = objectKey(args)
  const list = listHash({ list: `${at.cluster}/${kind.lookupField}/${key}` })
  const { namespace } = args
  const within = namespace === undefined ? undefined : [namespace]
  return { at, condition: hasKey([key]), within, list, needs: [] }
}

/** The number of lists that one subscription follows: its kinds, in each cluster. */
const maxLists = 32

/** Objects of several kinds and clusters: one list for each, in the order of their first objects. */
function objectsToFollow(
  served: ServedSchema,
  { ids }: ObjectsSubscriptionArguments,
): FollowedLists {
  const lists = new Map<
    string,
    { readonly at: ClusterKind; readonly named: Map<string, NamedIdentity> }
  >()
  for (const [position, id] of ids.entries()) {
    const argument = `ids[${position}]`
    const { at, identity } = identifiedBy(served, argument, id)
    const name = `${at.cluster}/${at.kind.typeName}`
    const known = lists.get(name)
    if (known === undefined) lists.set(name, { at, named: new Map([[id, [argument, identity]]]) })
    else known.named.set(id, [argument, identity])
  }
  const [first] = lists.values()
  if (first === undefined || lists.size > maxLists) {
    const value = lists.size
    const [problem, hint] =
      value === 0
        ? ['names no object', 'subscribe when one is served']
        : [
            `are of ${value} kinds and clusters, and a subscription follows at most ${maxLists}`,
            'follow them by several subscriptions',
          ]
    const details = { argument: 'ids', value, hint }
    throw new ClientError('BAD_USER_INPUT', `ids: ${problem}`, details)
  }
  const followed = Array.from(lists.values(), ({ at: { cluster, kind }, named }) => ({
    ...listToFollow(served, kind, { cluster, ids: [...named.keys()] }),
    named: [...named.values()],
  }))
  return several(followed, first.at.kind)
}

/** When the client may try again if no cluster serves the kind. */
const soonMs = 5_000

/** The object that an `id` names. Throws `ArgumentError`, and `ClientError` if its kind is not served. */
function identifiedBy(
  served: ServedSchema,
  argument: string,
  id: string,
): { readonly identity: ObjectIdentity; readonly at: ClusterKind } {
  const identity = identityIn(argument, id)
  const { cluster, group, kind } = identity
  const at = kindOfIdentity(served, identity)
  if (at !== undefined) return { identity, at }
  const name = group === '' ? kind : `${kind} of ${group}`
  const message = `${argument}: cluster ${JSON.stringify(cluster)} serves no ${name} at present`
  throw new ClientError('NOT_FOUND', message, {
    argument,
    value: id,
    cluster,
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
  throw outside('coalesceMs', 0, value)
}

/** The shortest interval at which a subscriber may have the caches looked at. */
const leastEveryMs = 500

/** The allowed `resourcesEveryMs`. Throws `ClientError`. */
export function checkedEveryMs(value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (value >= leastEveryMs && value <= maxCoalesceMs) return value
  throw outside('resourcesEveryMs', leastEveryMs, value)
}

function outside(argument: string, least: number, value: number): ClientError {
  const message = `${argument}: must be from ${least} to ${maxCoalesceMs}, not ${value}`
  return new ClientError('BAD_USER_INPUT', message, { argument, value })
}
