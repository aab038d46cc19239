/*
 * The clusters that arguments name, by name or by a selector of labels. Several clusters are asked for even if one or none
 * matches at the moment: then the answer has parts, and what is missing is told.
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

/** The arguments that say in which clusters a field looks: at most one of them. */
export interface ClusterNames extends ClusterArguments, ClustersArguments {}

/** The cluster that an argument names, or else the default one. Throws `ClientError` for an unknown cluster. */
export function clusterNamed(served: ServedSchema, name: string | null | undefined): string {
  const [first = ''] = served.clusters.keys()
  return name === undefined || name === null ? first : knownCluster(served, name, 'cluster')
}

/** Whether arguments ask for several clusters, even if these are one or none at the moment. */
export function isOverClusters({ clusters, clusterSelector }: ClusterNames): boolean {
  return (clusters ?? null) !== null || (clusterSelector ?? null) !== null
}

/**
 * The clusters that arguments name, by name, each once: those of `clusters` or `clusterSelector`, or else one. Throws
 * `ClientError` for an unknown cluster or several of the arguments, and `ArgumentError` for a wrong selector.
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
 * The clusters in which an operation prepares what a field with these arguments reads. Of several clusters, it does not
 * wait for those that cannot be reached. Throws as {@link clustersNamed} does.
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

/** An error names so many clusters: there may be thousands. */
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
