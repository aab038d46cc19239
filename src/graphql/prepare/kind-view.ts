/*
 * How later rooms name and see a kind of a cluster. `clustersNamed` reads which clusters arguments mean, by name or by a
 * label selector. Arguments for several clusters keep this form even if only one or no cluster matches now: the answer then
 * has parts and reports its gaps. `ClusterKind` names a kind in one of them, before anything is read. `KindView` is one
 * execution's view of it: the store, and the part of it that the viewer may see. `ReadParts` (`preparation.ts`) gives
 * these views, settled once for each execution: a failure or a permission must not outlive its cause, so nothing here may
 * be kept beyond the tick.
 */

import type { Coverage } from '../../cache/coverage.ts'
import type { WantedIndexes } from '../../cache/cached-resource.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { matchesLabels } from '../../kubernetes/label-selector.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { labelSelectorIn } from '../../query/condition/list-condition.ts'
import type { NameGate, Scope } from '../../query/condition/scope.ts'
import { ClientError } from '../errors/client-error.ts'
import type { PastMoment } from '../model/object-id.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterArguments, ClustersArguments } from '../schema/gateway-types.ts'
import { leftOut, type ServedSchema } from '../served/served-schema.ts'

/** A kind that was read from a cache of some namespaces only, as `extensions.incomplete` shows it. */
export interface IncompleteKind {
  readonly cluster: string
  readonly type: string
  readonly code: 'NAMESPACE_NOT_CACHED'
  readonly message: string
  /** The namespaces that the answer covers; `null`: all but `excluded`. */
  readonly namespaces: readonly string[] | null
  readonly excluded: readonly string[]
}

/** One kind in one cluster, which an operation needs synced before it reads it. */
export interface ClusterKind {
  readonly cluster: string
  readonly kind: Kind
  /** Lazy indexes to build: indexes that the read needs, and indexes that make it faster. */
  readonly indexes?: WantedIndexes | undefined
  /** Whether the answer can do without the kind. The operation then waits for it only while its cluster can be reached. */
  readonly isOptional?: boolean | undefined
}

export interface KindView extends ClusterKind {
  readonly view: StoreView
  /** Names the cluster of the store and its history. Positions of another incarnation are invalid here. */
  readonly incarnation: string
  readonly scope: Scope
  /** Further objects that the viewer may look up by name; absent: none. */
  readonly byName?: NameGate | undefined
  /** The namespaces that the store covers; absent: all. The scope is within them. */
  readonly coverage?: Coverage | undefined
  /** The gap of a list without a namespace, within what the viewer may see; absent: no gap. */
  readonly lacking?: IncompleteKind | undefined
  /** Whether the store holds only objects read from the API server for one operation, without the kind's indexes. */
  readonly isDirect?: true
  /** Of past states, which lead to no other objects: when they were. */
  readonly past?: PastMoment
}

/** An existing object that the viewer may see. */
export interface FoundObject {
  readonly part: KindView
  readonly id: ObjectId
}

/** How an operation lists a kind. */
export interface ListReading {
  /** The namespaces that the request is limited to. Access is reviewed for these only. */
  readonly within?: (() => readonly string[] | undefined) | undefined
  /** Whether the operation also follows changes. */
  readonly watch?: boolean
  /** Whether a missing kind is prepared for another run. Default: true. */
  readonly prepares?: boolean
}

/** The arguments that select the clusters of a field. At most one may be given. */
export interface ClusterNames extends ClusterArguments, ClustersArguments {}

/** The cluster that an argument names, or else the default one. Throws `ClientError` for an unknown cluster. */
export function clusterNamed(served: ServedSchema, name: string | null | undefined): string {
  const { clusters, whole = clusters } = served
  const cluster =
    name === undefined || name === null
      ? defaultCluster(served)
      : knownCluster(served, name, 'cluster')
  if (whole !== clusters && !clusters.has(cluster)) throw leftOut(cluster)
  return cluster
}

/** The first cluster, also in an operation that leaves it out. */
export function defaultCluster({ clusters, whole = clusters }: ServedSchema): string {
  const [first = ''] = whole.keys()
  return first
}

/** Whether arguments ask for several clusters, even if only one or none matches now. */
export function isOverClusters({ clusters, clusterSelector }: ClusterNames): boolean {
  return (clusters ?? null) !== null || (clusterSelector ?? null) !== null
}

/**
 * The names of the clusters that arguments name, each once: by `clusters` or `clusterSelector`, or else one cluster.
 * Throws `ClientError` for an unknown cluster or several of the arguments, and `ArgumentError` for a wrong selector.
 */
export function clustersNamed(served: ServedSchema, args: ClusterNames): readonly string[] {
  const { cluster, clusters, clusterSelector } = args
  const [first, second] = (['cluster', 'clusters', 'clusterSelector'] as const).filter(
    (name) => (args[name] ?? null) !== null,
  )
  if (first !== undefined && second !== undefined) {
    const message = `${second}: cannot be given together with \`${first}\``
    const hint = 'name one cluster by `cluster`, or several by `clusters` or `clusterSelector`'
    const details = { argument: second, value: args[second], hint }
    throw new ClientError('BAD_USER_INPUT', message, details)
  }
  if (clusters !== undefined && clusters !== null) {
    const names = distinct(clusters)
    const all = names.has('*') ? [...served.clusters.keys()] : []
    const named = [...names].filter((name) => name !== '*')
    const known = named.map((name) => knownCluster(served, name, 'clusters'))
    const meant = [...new Set([...all, ...known])].toSorted()
    return served.whole === undefined ? meant : meant.filter((one) => served.clusters.has(one))
  }
  if (clusterSelector !== undefined && clusterSelector !== null) {
    return selectedClusters(served, clusterSelector)
  }
  return [clusterNamed(served, cluster)]
}

const distinctNames = new WeakMap<readonly string[], ReadonlySet<string>>()

/** The names of a list, found once for all fields that share the variable. */
function distinct(names: readonly string[]): ReadonlySet<string> {
  return getOrInsert(distinctNames, names, () => new Set(names))
}

/**
 * The clusters in which an operation prepares the reads of a field with these arguments. It does not wait for unreachable
 * ones among several. Throws as {@link clustersNamed} does.
 */
export function clustersPrepared(served: ServedSchema, args: ClusterNames): readonly string[] {
  const named = clustersNamed(served, args)
  return isOverClusters(args) ? named.filter((name) => isReachable(served, name)) : named
}

/** Whether the API server of a cluster answers, as far as the gateway knows. */
export function isReachable({ clusters }: Pick<ServedSchema, 'clusters'>, name: string): boolean {
  const connection = clusters.get(name)?.connection
  return connection?.state === 'connected' && connection.isReachable?.() !== false
}

function knownCluster(
  { clusters, whole = clusters }: ServedSchema,
  name: string,
  argument: string,
): string {
  if (whole.has(name)) return name
  const known = [...whole.keys()]
  const shown = known.slice(0, shownClusters).join(', ')
  const more = known.length - shownClusters
  throw new ClientError('BAD_USER_INPUT', `there is no cluster ${JSON.stringify(name)}`, {
    argument,
    value: name,
    hint: `there are ${shown}${more > 0 ? `, and ${more} more: gatewayClusters has them` : ''}`,
  })
}

/** The most clusters that an error names. There may be thousands. */
const shownClusters = 20

function selectedClusters({ clusters, members }: ServedSchema, text: string): readonly string[] {
  const selector = labelSelectorIn('clusterSelector', text)
  const isSelected = (name: string): boolean =>
    matchesLabels(selector, members.get(name)?.labels ?? {})
  return [...clusters.keys()].filter(isSelected).toSorted()
}
