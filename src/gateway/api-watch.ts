/*
 * Notices when the API of a cluster changes. It watches the metadata of the cluster's CustomResourceDefinitions and
 * APIServices, gathers the changes of a moment, and reads the API until the API shows all of them. If the cluster does not
 * allow the watch, it reads the API every minute. It does nothing while nothing changes.
 */

import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { createSharedInformer, type SharedInformer } from '../informer/shared-informer.ts'
import type { Change } from '../informer/store/change.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { Backoff, sleep } from '../lib/backoff.ts'
import {
  type ClusterApi,
  definitionsResourceOf,
  resourceNamed,
  type DefinitionMetadata,
  unshownDefinitions,
} from './cluster-api.ts'

/** The times of {@link ApiWatch}, milliseconds. */
export interface ApiWatchTimes {
  /** How long to gather changes before reading the API. */
  readonly gatherMs: number
  /** The pauses between reads while the API does not show the changed definitions yet. */
  readonly againMs: readonly number[]
  /** How often to read the API of a cluster that does not allow a watch on its definitions. */
  readonly pollMs: number
}

export const defaultApiWatchTimes: ApiWatchTimes = {
  gatherMs: 200,
  againMs: [300, 500, 1_000, 2_000, 4_000, 8_000],
  pollMs: 60_000,
}

/** The receiver of an {@link ApiWatch}. */
export interface ApiFollower {
  /** Notices when another cluster answers. */
  readonly cache: Pick<ClusterCache, 'incarnationObserver'>
  /**
   * Reads the API. `present` is `undefined` if the definitions cannot be watched. Resolves with the changed definitions
   * that the API does not show yet. The watch retries after a failure.
   */
  ask(
    present: readonly DefinitionMetadata[] | undefined,
    changed: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly string[]>
  failed(what: string, error: Error): void
}

/** The label of APIServices that the API server makes for built-in groups and for definitions. */
const automanaged = 'kube-aggregator.kubernetes.io/automanaged'

export class ApiWatch {
  readonly #api: ClusterApi
  readonly #follower: ApiFollower
  readonly #reflector: ReflectorOptions
  readonly #times: ApiWatchTimes
  readonly #changed = new Set<string>()
  #isDue = false
  #wake: PromiseWithResolvers<void> | undefined
  #definitions: SharedInformer | undefined

  constructor(
    api: ClusterApi,
    follower: ApiFollower,
    reflector: ReflectorOptions,
    times: Partial<ApiWatchTimes>,
  ) {
    this.#api = api
    this.#follower = follower
    this.#reflector = reflector
    this.#times = { ...defaultApiWatchTimes, ...times }
  }

  get #isForbidden(): boolean {
    const informer = this.#definitions
    if (informer === undefined) return true
    return informer.lastError instanceof ApiStatusError && informer.lastError.httpStatus === 403
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { resources } = this.#api
    const definitions = definitionsResourceOf(resources)
    const services = resourceNamed(resources, 'apiregistration.k8s.io', 'apiservices')
    const running: Promise<void>[] = []
    if (definitions !== undefined) {
      const informer = this.#informer(definitions, ({ key }) => this.#touch(key))
      this.#definitions = informer
      // Finds the changes between the start of the gateway and the start of the watch, and what was not shown by then.
      const comparing = informer.waitForSync({ signal }).then(
        () => {
          const changed = this.#api.definitions.changedSince(metadataOf(informer))
          for (const name of [...changed, ...unshownDefinitions(this.#api)]) this.#touch(name)
        },
        () => {},
      )
      running.push(comparing, informer.run(signal))
    }
    if (services !== undefined) {
      const informer = this.#informer(services, ({ object: { metadata } }) => {
        if (metadata.labels?.[automanaged] === undefined) this.#touch()
      })
      running.push(informer.run(signal))
    }
    const answering = async (): Promise<void> => {
      while (!signal.aborted) {
        await this.#due(signal)
        if (signal.aborted) return
        await sleep(this.#times.gatherMs, signal)
        await this.#askUntilSettled(signal)
      }
    }
    await Promise.all([...running, answering()])
  }

  /** `seen`: called with each change after the first list. */
  #informer(resource: ApiResource, seen: (change: Change) => void): SharedInformer {
    const { apiServer, resourceVersionsComparable } = this.#api
    const incarnation = this.#follower.cache.incarnationObserver(resource)
    return createSharedInformer({
      ...this.#reflector,
      resource,
      metadataOnly: true,
      resourceVersionsComparable,
      source: apiServer.resource(resource, { metadataOnly: true }),
      observer: {
        watching: (_position, _namespace, continues) => incarnation.watching(continues),
        advanced: (position, changes, isList, at) => {
          incarnation.advanced(position, changes, isList, at)
          for (const change of changes) seen(change)
        },
        failed: (failure, error) => {
          this.#follower.failed(`${failure} of ${resource.resource}`, error)
          // The failure may be a 403, after which polling starts.
          this.#wake?.resolve()
        },
      },
    })
  }

  #touch(definition?: string): void {
    if (definition !== undefined) this.#changed.add(definition)
    this.#isDue = true
    this.#wake?.resolve()
  }

  /** Waits for a change, or for the next poll. */
  async #due(signal: AbortSignal): Promise<void> {
    while (!this.#isDue && !signal.aborted) {
      this.#wake = Promise.withResolvers()
      const woken = new AbortController()
      void this.#wake.promise.then(() => woken.abort())
      const isPolling = this.#isForbidden
      await sleep(
        isPolling ? this.#times.pollMs : Infinity,
        AbortSignal.any([signal, woken.signal]),
      )
      if (isPolling && !woken.signal.aborted) return
    }
  }

  /** Reads until the API shows all changes: the API server publishes a definition's API a moment after the definition. */
  async #askUntilSettled(signal: AbortSignal): Promise<void> {
    const times = this.#times
    const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 })
    let changed = new Set<string>()
    let again = [...times.againMs]
    while (!signal.aborted) {
      if (this.#isDue) again = [...times.againMs]
      this.#isDue = false
      for (const name of this.#changed) changed.add(name)
      this.#changed.clear()
      let pauseMs: number | undefined
      try {
        const informer = this.#definitions
        const present = informer?.hasSynced() === true ? metadataOf(informer) : undefined
        changed = new Set(await this.#follower.ask(present, changed, signal))
        if (changed.size === 0 && !this.#isDue) return
        pauseMs = again.shift()
      } catch (error) {
        if (signal.aborted) return
        this.#follower.failed('asking for its API', error as Error)
        pauseMs = backoff.nextMs()
      }
      if (pauseMs === undefined && !this.#isDue) return
      await sleep(pauseMs ?? times.gatherMs, signal)
    }
  }
}

function metadataOf({ store }: SharedInformer): readonly DefinitionMetadata[] {
  return Array.from(store.ids(), (id) => {
    const { metadata } = store.object(id)
    const { name, uid = '', generation = 0 } = metadata
    return { name, uid, generation }
  })
}
