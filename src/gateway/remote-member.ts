/*
 * A cluster of the fleet that another gateway holds: it has a description and no connection, so its caches hold nothing.
 */

import { isDeepStrictEqual } from 'node:util'
import { ClusterAccess } from '../access/cluster-access.ts'
import type { AccessLimits } from '../access/access-reviews.ts'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import type { ServedCluster } from '../graphql/served/served-schema.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { Cluster } from './cluster-member.ts'
import { type ClusterLabels, configuration, type SourcedCluster } from './sources/cluster-source.ts'

interface RemoteMemberOptions {
  readonly access: AccessLimits
  /** The address of the gateway that serves the cluster; `null`: none does. */
  readonly holder: (cluster: string) => string | null | undefined
  /** Called after the labels or the source has changed. */
  readonly stateChanged: () => void
  readonly cache: (cluster: Cluster, described: SourcedCluster) => ClusterCache
}

export class RemoteMember implements AsyncDisposable, ServedCluster {
  readonly name: string
  readonly cache: ClusterCache
  readonly access: ClusterAccess
  readonly cluster: Cluster
  readonly since: Date = new Date()
  readonly problem: Error | undefined = undefined
  readonly #options: RemoteMemberOptions
  #described: SourcedCluster

  constructor(described: SourcedCluster, options: RemoteMemberOptions) {
    const { name } = described
    const error = new CodedError('CLUSTER_UNREACHABLE', `another gateway holds cluster ${name}`)
    this.name = name
    this.#described = described
    this.#options = options
    this.cluster = { name, state: 'unreachable', error }
    this.cache = options.cache(this.cluster, described)
    this.access = new ClusterAccess({
      cluster: name,
      isDefault: () => false,
      connection: () => {
        throw error
      },
      limits: options.access,
      reflector: {},
      failed: () => undefined,
    })
  }

  get labels(): ClusterLabels {
    return this.#described.labels
  }

  get source(): string {
    return this.#described.source
  }

  get isConfigured(): boolean {
    return this.source === configuration
  }

  get holder(): string | null {
    return this.#options.holder(this.name) ?? null
  }

  get state(): ServedCluster['state'] {
    return this.holder === null ? 'UNREACHABLE' : 'CONNECTED'
  }

  /** Adopts a newer description. */
  adopt(described: SourcedCluster): boolean {
    const before = this.#described
    this.#described = described
    const parts = [before, described].map(({ labels, source }) => [labels, source])
    if (!isDeepStrictEqual(parts[0], parts[1])) this.#options.stateChanged()
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.access[Symbol.asyncDispose]()
    await this.cache[Symbol.asyncDispose]()
  }
}
