/*
 * Names clusters from the Secrets of Argo CD or Cluster API in a hub cluster. An informer for each namespace follows the
 * Secrets over the fleet's connection to the hub. When the hub gets another connection, the informers start again. Known
 * clusters stay while the hub is unreachable, and an unusable Secret leaves its cluster as it was.
 */

import type { ApiServer } from '../../api-server/api-server.ts'
import type { ReflectorOptions } from '../../informer/reflector/reflector-options.ts'
import { createSharedInformer, type SharedInformer } from '../../informer/shared-informer.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { sleep } from '../../lib/backoff.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { present } from '../../lib/options.ts'
import {
  type ClusterLabels,
  type ClusterSource,
  type SourcedCluster,
  type SourceState,
  withDefaultsOf,
} from './cluster-source.ts'
import { type ClusterSecret, type SecretLayout, secretLayouts } from './hub-secrets.ts'

export interface HubSourceOptions {
  readonly type: 'argocd' | 'cluster-api'
  /** The name of the hub, a configured cluster. */
  readonly hub: string
  /** The namespaces of the Secrets. Default: `argocd` for Argo CD, every namespace for Cluster API. */
  readonly namespaces?: readonly string[]
  /** Selects some of the Secrets: `environment=production`. */
  readonly labelSelector?: string
  /**
   * The command lines of credential plugins that Secrets may tell the gateway to run:
   * `AWS_PROFILE=* aws eks get-token --cluster-name *`. Default: none.
   */
  readonly execCommands?: readonly string[]
  /** Put before the name of each cluster. */
  readonly prefix?: string
  /** Labels of each cluster of the hub. */
  readonly labels?: ClusterLabels
}

/** The fleet's connections to hubs. */
export interface Hubs {
  /** The connection, or the reason why there is none. */
  hub(name: string): HubConnection | Error
  /** Calls `listener` after each change of the fleet. Returns a function that removes it. */
  onChanged(listener: () => void): () => void
}

export interface HubConnection {
  readonly apiServer: ApiServer
  readonly resourceVersionsComparable: boolean
}

interface FollowedSecrets {
  readonly of: string
  readonly informer: SharedInformer<ClusterSecret>
  problem?: Error
}

const gatherMs = 100
const everyNamespace = ''

export class HubSource implements ClusterSource {
  readonly name: string
  readonly #options: HubSourceOptions
  readonly #layout: SecretLayout
  readonly #hubs: Hubs
  readonly #reflector: ReflectorOptions
  /** The clusters of each namespace, as last listed. */
  readonly #known = new Map<string, readonly SourcedCluster[]>()

  constructor(options: HubSourceOptions, hubs: Hubs, reflector: ReflectorOptions) {
    this.name = `${options.type} ${options.hub}`
    this.#options = options
    this.#layout = secretLayouts[options.type]
    this.#hubs = hubs
    this.#reflector = reflector
  }

  async *follow(signal: AbortSignal): AsyncIterable<SourceState> {
    while (!signal.aborted) {
      const connection = this.#hubs.hub(this.#options.hub)
      if (connection instanceof Error) {
        yield this.#state(connection)
        await this.#connectionOtherThan(undefined, signal)
        continue
      }
      const replaced = new AbortController()
      const running = AbortSignal.any([signal, replaced.signal])
      void this.#connectionOtherThan(connection, running).then(() => replaced.abort())
      yield* this.#followSecrets(connection, running)
      replaced.abort()
    }
  }

  /** Follows the Secrets over one connection, until the signal aborts. */
  async *#followSecrets(
    connection: HubConnection,
    signal: AbortSignal,
  ): AsyncIterable<SourceState> {
    const { namespace } = this.#layout
    const { namespaces = [namespace ?? everyNamespace] } = this.#options
    const wake = new Wake()
    const woken = (): void => wake.now()
    signal.addEventListener('abort', woken, { once: true })
    const followed = namespaces.map((one) => this.#informer(one, connection, woken))
    const running = followed.map(({ informer }) => informer.run(signal))
    try {
      while (!signal.aborted) {
        for (const { informer, of } of followed) {
          if (informer.hasSynced()) this.#known.set(of, this.#read(informer, of))
        }
        const problem = followed.find((one) => one.problem !== undefined)?.problem
        const isRead = followed.every(({ informer }) => informer.hasSynced())
        if (isRead || problem !== undefined) yield this.#state(problem)
        await wake.wait()
        await sleep(gatherMs, signal)
      }
    } finally {
      await Promise.all(running)
    }
  }

  #state(cause: Error | undefined): SourceState {
    const clusters = [...this.#known.values()].flat()
    if (cause === undefined) return { clusters, problem: undefined }
    const { hub } = this.#options
    const text = `the Secrets of hub ${hub} cannot be followed: ${cause.message}`
    const hint = "the gateway's account needs list and watch on these Secrets"
    const problem = new CodedError('SOURCE_UNREADABLE', text, { value: hub, cause, hint })
    return { clusters, problem }
  }

  /** Resolves when the hub has another connection, or when the signal aborts. */
  async #connectionOtherThan(known: HubConnection | undefined, signal: AbortSignal): Promise<void> {
    const isOther = (): boolean => {
      const now = this.#hubs.hub(this.#options.hub)
      return now instanceof Error ? known !== undefined : now.apiServer !== known?.apiServer
    }
    await new Promise<void>((resolve) => {
      const leave = (): void => {
        forget()
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const forget = this.#hubs.onChanged(() => {
        if (isOther()) leave()
      })
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted || isOther()) leave()
    })
  }

  #informer(
    of: string,
    { apiServer, resourceVersionsComparable }: HubConnection,
    changed: () => void,
  ): FollowedSecrets {
    const { labelSelector } = this.#options
    const { keys, labelSelector: ofLayout } = this.#layout
    const resource = { ...resources.secrets }
    const failed = (_failure: string, error: Error): void => {
      followed.problem = error
      changed()
    }
    const works = (): void => {
      if (followed.problem === undefined) return
      delete followed.problem
      changed()
    }
    const followed: FollowedSecrets = {
      of,
      informer: createSharedInformer<ClusterSecret>({
        ...this.#reflector,
        resource,
        resourceVersionsComparable,
        ...(of === everyNamespace ? {} : { namespace: of }),
        labelSelector: [ofLayout, labelSelector ?? []].flat().join(','),
        source: apiServer.resource(resource),
        // Keeps all else out of memory, such as the CA keys that Cluster API stores.
        transform: (secret) => {
          if (!this.#layout.isCluster(secret)) return bare(secret)
          const data = Object.entries(secret.data ?? {}).filter(([key]) => keys.includes(key))
          return { ...bare(secret), data: Object.fromEntries(data) }
        },
        observer: { failed, listed: works, watching: works, advanced: changed },
      }),
    }
    return followed
  }

  #read({ store }: SharedInformer<ClusterSecret>, of: string): readonly SourcedCluster[] {
    const before = this.#known.get(of) ?? []
    const secrets = Array.from(store.ids(), (id) => store.object(id))
    return secrets
      .filter((secret) => this.#layout.isCluster(secret))
      .toSorted((one, other) => (ageOf(one) < ageOf(other) ? -1 : 1))
      .flatMap((secret) => this.#clusterOf(secret, before) ?? [])
  }

  #clusterOf(secret: ClusterSecret, before: readonly SourcedCluster[]): SourcedCluster | undefined {
    const { type, hub, execCommands = [] } = this.#options
    const { namespace = '', name, labels = {} } = secret.metadata
    const source = `${type} ${hub}/${namespace}/${name}`
    const namespaces = this.#layout.namespacesOf?.(secret)
    const described = (place: SourcedCluster['place']): SourcedCluster =>
      withDefaultsOf(this.#options, {
        name: this.#layout.nameOf(secret),
        labels,
        source,
        place,
        ...(namespaces === undefined ? {} : { cache: { namespaces } }),
      })
    try {
      const config = this.#layout.configOf(secret, { execCommands })
      return config && described({ form: 'config', config })
    } catch (error) {
      const place = { form: 'unusable', error: error as Error } as const
      const known = before.find((one) => one.source === source)
      return known === undefined ? described(place) : { ...known, place }
    }
  }
}

function bare({ apiVersion, kind, metadata }: ClusterSecret): ClusterSecret {
  const { name, namespace, uid, resourceVersion, labels, creationTimestamp } = metadata
  const kept = { name, namespace, uid, resourceVersion, labels, creationTimestamp }
  return present({ apiVersion, kind, metadata: present(kept) })
}

/** The sort key of a Secret: the oldest sorts first. */
function ageOf({ metadata }: ClusterSecret): string {
  return `${metadata.creationTimestamp ?? ''} ${objectKey(metadata)}`
}

/** Wakes a loop that looks for changes. Any number of callers may signal that something may have changed. */
class Wake {
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
