import type { ClusterConfig, ClusterSelection } from '../../api-server/kubeconfig/cluster-config.ts'
import type { CachedNamespaces } from '../../cache/account-namespaces.ts'

export type ClusterLabels = Readonly<Record<string, string>>

/** How a cluster is reached. */
export type ClusterPlace =
  /** Looked up as kubectl does whenever the gateway connects. */
  | { readonly form: 'selection'; readonly selection: ClusterSelection }
  /** Held by a source that follows it. */
  | { readonly form: 'config'; readonly config: ClusterConfig }
  /** What the source holds cannot be used. A cluster that is connected keeps its connection. */
  | { readonly form: 'unusable'; readonly error: Error }

export interface SourcedCluster {
  readonly name: string
  readonly labels: ClusterLabels
  /** Where it comes from: `configuration`, `directory prod.yaml`, `argocd hub/argocd/prod`. */
  readonly source: string
  readonly place: ClusterPlace
  /** The namespaces that are cached, instead of those that are said for all clusters. */
  readonly cache?: CachedNamespaces
}

/** What a source names now. */
export interface SourceState {
  /** While there is a problem, the clusters that the source named last. */
  readonly clusters: readonly SourcedCluster[]
  readonly problem: Error | undefined
}

/** Names clusters, from a place outside of the configuration that changes while the gateway runs. */
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

/** Puts the prefix of a source before a cluster's name, and the labels of the source below its own. */
export function withDefaultsOf(
  { prefix = '', labels = {} }: { readonly prefix?: string; readonly labels?: ClusterLabels },
  cluster: SourcedCluster,
): SourcedCluster {
  return { ...cluster, name: prefix + cluster.name, labels: { ...labels, ...cluster.labels } }
}

/** Signals that something may have changed, from those who notice it to one loop that looks. */
export class Wake {
  #pending = Promise.withResolvers<void>()

  /** Resolves after the next {@link now}, or at once if there was one since the last wait. */
  async wait(): Promise<void> {
    await this.#pending.promise
    this.#pending = Promise.withResolvers()
  }

  now(): void {
    this.#pending.resolve()
  }
}
