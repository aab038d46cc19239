/*
 * The clusters that arguments name, by name or by a label selector. Arguments for several clusters keep this form even if
 * only one or no cluster matches now: the answer then has parts and reports its gaps.
 */

import {
  LabelSelectorError,
  matchesLabels,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import { unusableValue } from '../../query/condition/argument-error.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterArguments, ClustersArguments } from '../schema/gateway-types.ts'
import type { ServedSchema } from './served-schema.ts'

/** The arguments that select the clusters of a field. At most one may be given. */
export interface ClusterNames extends ClusterArguments, ClustersArguments {}

/** The cluster that an argument names, or else the default one. Throws `ClientError` for an unknown cluster. */
export function clusterNamed(served: ServedSchema, name: string | null | undefined): string {
  const [first = ''] = served.clusters.keys()
  return name === undefined || name === null ? first : knownCluster(served, name, 'cluster')
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
    const all = clusters.includes('*') ? [...served.clusters.keys()] : []
    const named = clusters.filter((name) => name !== '*')
    const known = named.map((name) => knownCluster(served, name, 'clusters'))
    return [...new Set([...all, ...known])].toSorted()
  }
  if (clusterSelector !== undefined && clusterSelector !== null) {
    return selectedClusters(served, clusterSelector)
  }
  return [clusterNamed(served, cluster)]
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

function knownCluster({ clusters }: ServedSchema, name: string, argument: string): string {
  if (clusters.has(name)) return name
  const known = [...clusters.keys()]
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
  try {
    const selector = parseLabelSelector(text)
    const isSelected = (name: string): boolean =>
      matchesLabels(selector, members.get(name)?.labels ?? {})
    return [...clusters.keys()].filter(isSelected).toSorted()
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error
    throw unusableValue('clusterSelector', text, error.message, error.hint)
  }
}
