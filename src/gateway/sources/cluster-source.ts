import type { ClusterConfig, ClusterSelection } from '../../api-server/kubeconfig/cluster-config.ts'
import type { CachedNamespaces } from '../../cache/account-namespaces.ts'
import { CodedError } from '../../lib/coded-error.ts'

export type ClusterLabels = Readonly<Record<string, string>>

/** The way to the connection of a cluster. */
export type ClusterPlace =
  /** The gateway looks it up whenever it connects, as kubectl does. */
  | { readonly form: 'selection'; readonly selection: ClusterSelection }
  /** The source holds the configuration, and follows its changes. */
  | { readonly form: 'config'; readonly config: ClusterConfig }
  /** The source holds an unusable configuration. A connected cluster keeps its connection. */
  | { readonly form: 'unusable'; readonly error: Error }

export interface SourcedCluster {
  readonly name: string
  readonly labels: ClusterLabels
  /** The origin of the description: `configuration`, `directory prod.yaml`, `argocd hub/argocd/prod`. */
  readonly source: string
  readonly place: ClusterPlace
  /** The namespaces to cache, instead of the setting for all clusters. */
  readonly cache?: CachedNamespaces
  /** Whether each gateway holds it, where gateways share the clusters. */
  readonly everywhere?: boolean
}

/** The clusters that a source names now, and its problem, if any. */
export interface SourceState {
  /** While there is a problem, the clusters that the source named last. */
  readonly clusters: readonly SourcedCluster[]
  readonly problem: Error | undefined
}

/** Names clusters from a place outside of the configuration, which may change while the gateway runs. */
export interface ClusterSource {
  /** For logs and metrics: `directory /etc/clusters`. */
  readonly name: string
  /**
   * Yields at once, or after the first attempt to read, and then after every change. Retries failures. Ends with the
   * signal, and never throws.
   */
  follow(signal: AbortSignal): AsyncIterable<SourceState>
}

export const configuration = 'configuration'

/** Puts the prefix of a source before a cluster's name, and adds the labels of the source that the cluster does not set. */
export function withDefaultsOf(
  { prefix = '', labels = {} }: { readonly prefix?: string; readonly labels?: ClusterLabels },
  cluster: SourcedCluster,
): SourcedCluster {
  return { ...cluster, name: prefix + cluster.name, labels: { ...labels, ...cluster.labels } }
}

/** The most clusters of all sources. Each costs memory and a connection. */
const maxClusters = 2_000
const longestName = 253

/** The reason to leave out a cluster; `undefined` if there is none. */
export function nameProblem(
  { name, source }: SourcedCluster,
  taken: ReadonlyMap<string, { readonly cluster: SourcedCluster }>,
): CodedError | undefined {
  const first = taken.get(name)?.cluster
  if (first !== undefined) {
    const problem = `${source}: cluster ${JSON.stringify(name)} is left out: ${first.source} has the name already`
    return new CodedError('CLUSTER_NAME_TAKEN', problem, {
      value: name,
      hint: 'rename one of them, or give the source a prefix',
    })
  }
  if (name === '*' || name.trim() === '' || name.length > longestName || /\p{Cc}/u.test(name)) {
    const shown = JSON.stringify(name.slice(0, longestName))
    const problem = `${source}: no cluster can have the name ${shown}`
    const details = { value: name, hint: 'give it another name' }
    return new CodedError('CLUSTER_NAME_INVALID', problem, details)
  }
  if (source !== configuration && taken.size >= maxClusters) {
    const problem = `${source}: cluster ${name} is left out: there are ${maxClusters} clusters already`
    return new CodedError('TOO_MANY_CLUSTERS', problem, {
      value: name,
      hint: 'serve the others by gateways of their own',
    })
  }
  return undefined
}
