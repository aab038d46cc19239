/*
 * A cluster of the fleet that another gateway holds, or none at present. Its description is that of the configuration, its
 * state and its API are as its holder has published them (`published-apis.ts`). It has no connection and no informers: its
 * cache only says which kinds the cluster serves, and a read that reaches it fails with the address of the holder.
 */

import { isDeepStrictEqual } from 'node:util'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import type { ServedCluster } from '../graphql/served/served-schema.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { ApiDescription } from './api-description.ts'
import type { Cluster } from './cluster-member.ts'
import type { PublishedState } from './published-apis.ts'
import { type ClusterLabels, configuration, type SourcedCluster } from './sources/cluster-source.ts'

interface RemoteMemberOptions {
  /** The address of the gateway that serves the cluster; `null`: none does. */
  readonly holder: (cluster: string) => string | null
  /** What its holder has published. */
  readonly published: (cluster: string) => PublishedState | undefined
  /** Called after the labels or the source has changed. */
  readonly stateChanged: () => void
  readonly cache: (cluster: Cluster, described: SourcedCluster) => ClusterCache
}

export class RemoteMember implements AsyncDisposable, ServedCluster {
  readonly name: string
  readonly cache: ClusterCache
  /** Its holder decides who may see what. */
  readonly access = undefined
  readonly #options: RemoteMemberOptions
  readonly #madeAt = new Date()
  #described: SourcedCluster
  /** When it was first seen that no gateway holds the cluster. */
  #lostAt: Date | undefined

  constructor(described: SourcedCluster, options: RemoteMemberOptions) {
    this.name = described.name
    this.#described = described
    this.#options = options
    this.cache = options.cache(this.cluster, described)
    const error = (): Error => this.#elsewhere
    // The holder may be another one by the next read.
    this.cache.connect({
      state: 'unreachable',
      get error() {
        return error()
      },
    })
  }

  get cluster(): Cluster {
    return { name: this.name, state: 'unreachable', error: this.#elsewhere }
  }

  /** What the schema is made of. */
  get api(): ApiDescription | undefined {
    return this.#published?.api
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
    const holder = this.#options.holder(this.name)
    this.#lostAt = holder === null ? (this.#lostAt ?? new Date()) : undefined
    return holder
  }

  get state(): ServedCluster['state'] {
    return this.holder === null ? 'UNREACHABLE' : (this.#published?.state ?? 'CONNECTED')
  }

  get since(): Date {
    return (this.holder === null ? this.#lostAt : this.#published?.since) ?? this.#madeAt
  }

  get problem(): Error | undefined {
    return this.holder === null ? this.#elsewhere : this.#published?.problem
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
    await this.cache[Symbol.asyncDispose]()
  }

  get #published(): PublishedState | undefined {
    return this.#options.published(this.name)
  }

  /** Why this gateway cannot read it. */
  get #elsewhere(): CodedError {
    const { name, holder } = this
    const problem =
      holder === null
        ? `no gateway holds the cluster ${name} at present`
        : `the gateway ${holder} holds the cluster ${name}`
    return new CodedError('CLUSTER_UNREACHABLE', problem, { hint: 'try again in a moment' })
  }
}
