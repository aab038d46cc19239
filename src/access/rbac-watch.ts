/*
 * Watches RBAC and the namespaces of one cluster, and reports which subjects each change may affect. Metadata of roles
 * suffice: only the API server evaluates rules, and a change of a role affects the subjects of its bindings. The
 * gateway's account should be allowed to list and watch all five resources. If it may watch only some of them, changes of
 * these count for all viewers.
 */

import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { createSharedInformer, type SharedInformer } from '../informer/shared-informer.ts'
import type { Change } from '../informer/store/change.ts'
import type { Indexers } from '../informer/store/store-view.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { splitObjectKey, type Unstructured } from '../kubernetes/object.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import {
  bindingSubject,
  boundSubjects,
  changeForAll,
  type RbacChange,
  roleSubject,
} from './rbac-changes.ts'

export interface WatchedCluster {
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
  readonly changed: (changes: readonly RbacChange[]) => void
  readonly namespacesChanged: () => void
  /** Called when a watch fails, before a retry. */
  readonly failed: (resource: string, error: Error) => void
}

export interface FollowedResource {
  /** `roles.rbac.authorization.k8s.io`. */
  readonly resource: string
  /** All changes up to this version are applied; `null` before the first list. */
  readonly resourceVersion: string | null
}

const bound = 'rolebindings'
const ofBindings = [bound, 'clusterrolebindings']
const watched = ['roles', 'clusterroles', ...ofBindings]

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

  /** Whether all four resources of RBAC are followed now. */
  get isFollowing(): boolean {
    return (
      this.#followed.length === watched.length &&
      this.#followed.every(
        ({ informer, position }) => position !== null && informer.lastError === undefined,
      )
    )
  }

  get positions(): readonly FollowedResource[] {
    return this.#all.map(({ informer, position }) => ({
      resource: groupResourceOf(informer.resource),
      resourceVersion: position,
    }))
  }

  /**
   * The namespaces; `undefined` before the first list, none if the gateway may not list them. Namespaces with
   * RoleBindings come first: RBAC may grant access there to viewers without cluster-wide access.
   */
  namespaces(): readonly string[] | undefined {
    const { informer } = this.#namespaces ?? {}
    if (informer === undefined) return []
    if (!informer.hasSynced()) {
      const { lastError } = informer
      const isRefused = lastError instanceof ApiStatusError && lastError.httpStatus === 403
      return isRefused ? [] : undefined
    }
    const { store } = informer
    const all = Array.from(store.ids(), (id) => store.keyOf(id))
    const bindings = this.#followed.find(({ informer: one }) => one.resource.resource === bound)
    const has = new Set(bindings?.informer.store.index('namespace').values())
    const [first = [], rest = []] = [true, false].map((is) =>
      all.filter((namespace) => has.has(namespace) === is),
    )
    return [...first, ...rest]
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map(({ informer }) => informer.run(signal)))
  }

  /** Resolves when all resources are listed or have failed, or after the deadline. */
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
    /** The subjects that a change may affect. */
    const affected = (change: Change): readonly RbacChange[] => {
      const { type, previous, object } = change
      const { namespace, name } = splitObjectKey(change.key)
      // Unwatched bindings may connect the role to any viewer.
      if (!this.isFollowing || !change.finalStateKnown) return [changeForAll(namespace)]
      if (isBinding) {
        // Reports the subjects before and after the change.
        if (type === 'MODIFIED' && previous === undefined) return [changeForAll(namespace)]
        const states = previous === undefined ? [object] : [previous, object]
        const binding = { namespace: '', subjects: [bindingSubject(namespace, name)] }
        return [binding, ...states.map((state) => boundBy(state))]
      }
      // Reports the subjects of the role's present bindings. Earlier subjects were reported with the change of their binding.
      const role = roleSubject(namespace === '' ? 'ClusterRole' : 'Role', namespace, name)
      const given: RbacChange[] = [{ namespace: '', subjects: [role] }]
      for (const { informer } of this.#followed) {
        const { store } = informer
        const ids = store.hasIndex(byRole) ? store.index(byRole).posting(role) : undefined
        if (ids === undefined) continue
        if (ids.size > maxBindingsOfRole) return [changeForAll(namespace)]
        for (const id of ids) given.push(boundBy(store.object(id)))
      }
      return given
    }
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
            // The affected subjects are unknown.
            if (failure !== 'list' && failure !== 'watch') this.#told(followed, forEverybody)
          },
          advanced: (position, changes, isList) => {
            // The changes before a list are unknown, and recent answers may depend on them.
            if (isList) this.#told(followed, forEverybody)
            else if (changes.length > 0) this.#told(followed, changes.flatMap(affected))
            followed.position = position
          },
        },
      }),
      position: null,
      firstFailure,
    }
    return followed
  }

  #told(followed: Followed, changes: readonly RbacChange[]): void {
    if (followed === this.#namespaces) this.#options.namespacesChanged()
    else this.#options.changed(changes)
  }
}

const forEverybody: readonly RbacChange[] = [changeForAll('')]

interface Followed {
  readonly informer: SharedInformer<Unstructured>
  /** The last position with reported changes; `null` before the first list. */
  position: string | null
  readonly firstFailure: PromiseWithResolvers<void>
}

/** The index of bindings by role, in the form of `roleSubject`. */
const byRole = 'role'

const bindingIndexers: Indexers<Unstructured> = { [byRole]: roleOf }

/** The maximum number of bindings of a role to read. Beyond it, a change of the role counts for all viewers. */
const maxBindingsOfRole = 1_000

function roleOf({ metadata, roleRef }: Unstructured): readonly string[] {
  const { kind, name } = (roleRef ?? {}) as Readonly<Record<string, unknown>>
  if (typeof kind !== 'string' || typeof name !== 'string') return []
  return [roleSubject(kind, metadata.namespace ?? '', name)]
}

function boundBy(binding: Unstructured | Change['object']): RbacChange {
  const { namespace = '' } = binding.metadata
  const { subjects } = binding as Unstructured
  return { namespace, subjects: boundSubjects(subjects, namespace) ?? 'everybody' }
}
