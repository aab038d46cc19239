import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { createSharedInformer, type SharedInformer } from '../informer/shared-informer.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { splitObjectKey, type Unstructured } from '../kubernetes/object.ts'
import type { Change } from '../informer/store/change.ts'
import { changeForAll, type RbacChange } from './rbac-change.ts'
import { bindingIndexers, concernedByBinding, concernedByRole } from './role-bindings.ts'

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
  /** RBAC has changed, for these. */
  readonly changed: (changes: readonly RbacChange[]) => void
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
const ofBindings = [bound, 'clusterrolebindings']
const watched = ['roles', 'clusterroles', ...ofBindings]

/**
 * Hears of every change of RBAC in one cluster and tells whom it may concern, and knows its namespaces. Of roles the metadata are
 * enough: what they say is decided by the API server alone; a change of one concerns whom bindings give it to. The
 * gateway's own account must be allowed to list and watch the five resources; of those that it may not, nothing is heard, and
 * changes of the others are taken to concern everybody.
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
    const isBinding = ofBindings.includes(resource.resource)
    const followed: Followed = {
      informer: createSharedInformer({
        ...reflector,
        resource,
        metadataOnly: !isBinding,
        ...(isBinding ? { indexers: bindingIndexers } : {}),
        source: cluster.source(resource, { metadataOnly: !isBinding }),
        resourceVersionsComparable: cluster.resourceVersionsComparable,
        observer: {
          failed: (failure, error) => {
            failed(groupResourceOf(resource), error)
            firstFailure.resolve()
            // Something of it is not known: nor is whom it concerns.
            if (failure !== 'list' && failure !== 'watch') this.#told(followed, forEverybody)
          },
          advanced: (position, changes, isList) => {
            // What came and went before a list is not known, and what was decided meanwhile may rest on it.
            if (isList) this.#told(followed, forEverybody)
            else if (changes.length > 0) this.#told(followed, this.#concernedBy(followed, changes))
            followed.position = position
          },
        },
      }),
      position: null,
      firstFailure,
    }
    return followed
  }

  async #follow({ informer }: Followed, signal: AbortSignal): Promise<void> {
    await informer.run(signal)
  }

  #told(followed: Followed, changes: readonly RbacChange[]): void {
    if (followed === this.#namespaces) this.#options.namespacesChanged()
    else this.#options.changed(changes)
  }

  #concernedBy({ informer }: Followed, changes: readonly Change[]): readonly RbacChange[] {
    const isBinding = ofBindings.includes(informer.resource.resource)
    return changes.flatMap((change) => {
      const { namespace, name } = splitObjectKey(change.key)
      // Bindings of which nothing is heard may lead from it to anybody.
      if (!this.isFollowing || !change.finalStateKnown) return changeForAll(namespace)
      if (isBinding) return concernedByBinding(change)
      const stores = this.#followed.map(({ informer: { store } }) => store)
      return concernedByRole(stores, { namespace, name })
    })
  }
}

const forEverybody: readonly RbacChange[] = [changeForAll('')]

interface Followed {
  readonly informer: SharedInformer<Unstructured>
  /** The last position whose changes have been told; `null` before the first list. */
  position: string | null
  readonly firstFailure: PromiseWithResolvers<void>
}
