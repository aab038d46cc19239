import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { createSharedInformer, type SharedInformer } from '../informer/shared-informer.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { splitObjectKey } from '../kubernetes/object.ts'

/** How a cluster is watched. */
export interface WatchedCluster {
  /** What it serves, all versions. */
  readonly resources: readonly ApiResource[]
  readonly source: (
    resource: ApiResource,
    options: { readonly metadataOnly?: boolean },
  ) => ListerWatcher
  readonly resourceVersionsComparable: boolean
}

export interface RbacWatchOptions {
  readonly cluster: WatchedCluster
  readonly reflector: ReflectorOptions
  /** RBAC has changed in a namespace; `''`: for all of them. */
  readonly changed: (namespace: string) => void
  /** There is a namespace more or less. */
  readonly namespacesChanged: () => void
  /** Something cannot be watched; it is tried again. */
  readonly failed: (resource: string, error: Error) => void
}

/** How far one resource of RBAC is followed. */
export interface FollowedResource {
  /** `roles.rbac.authorization.k8s.io`. */
  readonly resource: string
  /** Every change up to here has been taken into account; `null` before the first list. */
  readonly resourceVersion: string | null
}

const bound = 'rolebindings'
const watched = ['roles', 'clusterroles', bound, 'clusterrolebindings']

/**
 * Hears of every change of RBAC in one cluster, and knows its namespaces: by metadata alone, as nobody here decides by what
 * roles say. The gateway's own account must be allowed to list and watch the five resources; of those that it may not,
 * nothing is heard.
 */
export class RbacWatch {
  readonly #options: RbacWatchOptions
  readonly #followed: readonly Followed[]
  readonly #namespaces: Followed | undefined

  constructor(options: RbacWatchOptions) {
    this.#options = options
    const { resources } = options.cluster
    const named = (group: string, name: string): Followed[] => {
      const resource = resources.find(
        (one) => one.group === group && one.resource === name && one.version === 'v1',
      )
      return resource === undefined ? [] : [this.#followedOf(resource)]
    }
    this.#followed = watched.flatMap((name) => named('rbac.authorization.k8s.io', name))
    ;[this.#namespaces] = named('', 'namespaces')
  }

  /** Whether all four resources of RBAC are followed at the moment, so that every change is heard of. */
  get isFollowing(): boolean {
    return (
      this.#followed.length === watched.length &&
      this.#followed.every(
        ({ informer, position }) => position !== null && informer.lastError === undefined,
      )
    )
  }

  /** How far each resource is followed. */
  get positions(): readonly FollowedResource[] {
    return this.#all.map(({ informer, position }) => ({
      resource: groupResourceOf(informer.resource),
      resourceVersion: position,
    }))
  }

  /**
   * The namespaces that there are; `undefined` where that is not known. Those that have RoleBindings come first: who may not do
   * something everywhere may do it there, as far as RBAC decides.
   */
  namespaces(): readonly string[] | undefined {
    const { informer } = this.#namespaces ?? {}
    if (informer?.hasSynced() !== true) return undefined
    const { store } = informer
    const all = Array.from(store.ids(), (id) => store.keyOf(id))
    const bindings = this.#followed.find(({ informer: one }) => one.resource.resource === bound)
    const has = new Set(bindings?.informer.store.index('namespace').values())
    const [first = [], rest = []] = [true, false].map((is) =>
      all.filter((namespace) => has.has(namespace) === is),
    )
    return [...first, ...rest]
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((one) => this.#follow(one, signal)))
  }

  /** Resolves when everything has been listed, or could not be, or after so long. */
  async ready(deadlineMs: number): Promise<void> {
    const waits = this.#all.map(({ informer, firstFailure }) =>
      Promise.race([informer.waitForSync({ deadlineMs }).catch(() => {}), firstFailure.promise]),
    )
    await Promise.all(waits)
  }

  get #all(): readonly Followed[] {
    return this.#namespaces === undefined ? this.#followed : [...this.#followed, this.#namespaces]
  }

  #followedOf(resource: ApiResource): Followed {
    const { cluster, reflector, failed } = this.#options
    const firstFailure = Promise.withResolvers<void>()
    const informer = createSharedInformer({
      ...reflector,
      resource,
      metadataOnly: true,
      source: cluster.source(resource, { metadataOnly: true }),
      resourceVersionsComparable: cluster.resourceVersionsComparable,
      observer: {
        failed: (_failure, error) => {
          failed(groupResourceOf(resource), error)
          firstFailure.resolve()
        },
      },
    })
    return { informer, position: null, firstFailure }
  }

  async #follow(followed: Followed, signal: AbortSignal): Promise<void> {
    const { informer } = followed
    const listener = informer.listen({ bufferLimit: 0, overflow: 'coalesce' })
    const listening = (async () => {
      for await (const { changes, position, synced } of listener) {
        // What was decided before the first list may have been outdated by what came before it.
        if (synced) this.#told(followed, '')
        else if (followed.position !== null) {
          const namespaces = new Set(changes.map(({ key }) => splitObjectKey(key).namespace))
          for (const namespace of namespaces) this.#told(followed, namespace)
        }
        if (synced || followed.position !== null) followed.position = position
      }
    })()
    await Promise.all([informer.run(signal), listening])
  }

  #told(followed: Followed, namespace: string): void {
    if (followed === this.#namespaces) this.#options.namespacesChanged()
    else this.#options.changed(namespace)
  }
}

interface Followed {
  readonly informer: SharedInformer
  /** The last position whose changes have been told; `null` before the first list. */
  position: string | null
  readonly firstFailure: PromiseWithResolvers<void>
}
