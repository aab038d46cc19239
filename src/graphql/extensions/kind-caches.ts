/*
 * `context.cache` of extensions: the caches, read as the caller. Each read settles kinds and access like a query of its
 * own, with the code of the list fields and look-ups. All reads of an operation share one work budget.
 */

import type { CallerToken } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { namespacesOf } from '../../query/condition/condition.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { queryLane } from '../prepare/user-shares.ts'
import { prepareAndRun } from '../prepare/preparation.ts'
import { isNowhere, type KindNeed, ViewerAccess } from '../prepare/viewer-access.ts'
import { DirectReads } from '../reads/direct/direct-reads.ts'
import { listRequest, readList, paidRows, type ReadPage } from '../reads/list-read.ts'
import { typedArguments } from '../reads/list-arguments.ts'
import { foundByKey } from '../reads/object-read.ts'
import { ReadRun } from '../reads/read-run.ts'
import { clusterNamed } from '../prepare/kind-view.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { CacheListArguments, ExtensionCache, KindCache } from './extension.ts'
import { heldObject } from './held-objects.ts'

/** The most objects of one list without `first`. */
const maxListed = 10_000

export interface KindCachesOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly viewer: Viewer | undefined
  readonly callerToken: CallerToken | undefined
}

export class KindCaches {
  readonly #options: KindCachesOptions
  #budget: WorkBudget

  constructor(options: KindCachesOptions) {
    this.#options = options
    this.#budget = new WorkBudget(options.limits.work)
  }

  renew(): void {
    this.#budget = new WorkBudget(this.#options.limits.work)
  }

  /** The caches by the names of resources, and by list fields. */
  get all(): ExtensionCache {
    const of = (resource: Pick<ApiResource, 'group' | 'resource'>): KindCache<KubernetesObject> =>
      this.#cacheOf(() => kindOfResource(this.#options.served, resource))
    const named = (_: object, name: string | symbol): unknown => {
      if (name === 'of') return of
      if (typeof name === 'symbol') return undefined
      const known = Object.hasOwn(resources, name)
        ? resources[name as keyof typeof resources]
        : undefined
      return this.#cacheOf(() => {
        const { served } = this.#options
        const kind = kindByName(served.kinds.values(), name)
        if (kind !== undefined) return kind
        if (known === undefined) throw notServed(name)
        return kindOfResource(served, known)
      })
    }
    return new Proxy({}, { get: named }) as ExtensionCache
  }

  #cacheOf(kind: () => Kind): KindCache<KubernetesObject> {
    return {
      list: async (args = {}) => {
        const most = args.first ?? args.last ?? undefined
        const asked = most === undefined ? { ...args, first: maxListed } : args
        return await this.#page(kind(), asked, ({ page }) => {
          if (most === undefined && page.hasNextPage) {
            const { typeName: type, listField } = kind()
            const message = `context.cache.${listField}.list finds more than ${maxListed} objects`
            const hint = 'narrow it by namespace, labelSelector or where, or name how many: first'
            throw new ClientError('QUERY_TOO_COSTLY', message, { type, value: maxListed, hint })
          }
          return Array.from(paidRows(this.#budget, page), (id, at) =>
            heldObject(page.partAt(at), id),
          )
        })
      },
      count: async (args = {}) =>
        await this.#page(kind(), { ...args, first: 0 }, ({ page }) => page.totalCount()),
      get: async ({ cluster, namespace, name }) => {
        const at = { cluster: clusterNamed(this.#options.served, cluster), kind: kind() }
        const key = objectKey(namespace === undefined ? { name } : { namespace, name })
        return await this.#run([{ ...at, keys: [key] }], (run) => {
          const found = foundByKey(run, at, key)
          return found && heldObject(found.part, found.id)
        })
      },
    }
  }

  async #page<T>(kind: Kind, args: CacheListArguments, read: (found: ReadPage) => T): Promise<T> {
    const { served, limits } = this.#options
    const typed = typedArguments(served, kind, args, limits)
    const request = listRequest(served, kind, typed)
    const at = { cluster: clusterNamed(served, args.cluster), kind }
    const need = { ...at, list: { within: namespacesOf(request.condition), watch: false } }
    const further = request.filterKinds.map((one) => ({ ...at, kind: one }))
    return await this.#run(isNowhere(need) ? [] : [need, ...further], (run) =>
      read(readList(run, kind, request)),
    )
  }

  /** Prepares kinds and reads them within one tick, again if the read names further ones. */
  async #run<T>(needs: readonly KindNeed[], read: (run: ReadRun) => T | undefined): Promise<T> {
    const { served, limits, viewer, callerToken: token } = this.#options
    const access = viewer && new ViewerAccess(served, viewer)
    const direct = new DirectReads({
      served,
      limits,
      access,
      token,
      read: () => {},
      logs: undefined,
    })
    const budget = this.#budget
    return (await prepareAndRun(
      needs.filter(({ kind }) => !kind.uncached),
      {
        served,
        limits,
        access,
        direct: () => direct,
        lane: queryLane(viewer),
        run(parts) {
          const sized = { ...limits, maxPageSize: maxListed }
          try {
            return read(new ReadRun({ served, limits: sized, budget, parts, direct: () => direct }))
          } catch (error) {
            if (error instanceof UnknownIndexError) parts.missed(error)
            // The run lacks something and is repeated.
            if (parts.isLacking) return undefined
            throw error
          }
        },
      },
    )) as T
  }
}

function kindOfResource(
  served: ServedSchema,
  { group, resource }: Pick<ApiResource, 'group' | 'resource'>,
): Kind {
  for (const kind of served.kinds.values()) {
    const { resource: own } = kind
    if (own.group === group && own.resource === resource) return kind
  }
  throw notServed(group === '' ? resource : `${resource}.${group}`)
}

/** The kind with a list field or a type; `undefined` if it is not served. */
export function kindByName(kinds: Iterable<Kind>, name: string): Kind | undefined {
  for (const kind of kinds) if (kind.listField === name || kind.typeName === name) return kind
  return undefined
}

function notServed(name: string): ClientError {
  return new ClientError('UNSUPPORTED', `context.cache: no cluster serves ${name}`, {
    value: name,
    hint: 'name it in needs.required if the extension cannot do without',
  })
}
