/*
 * What an archive does for a cached resource: it gives the objects to begin with, keeps what the informer sees, and knows the
 * changes from before the process. The caches know it by this interface only.
 */

import type { ArchivedBase } from '../informer/reflector/archived-base.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'

/** The archive of one resource of one cluster, for one run of its informer. */
export interface ArchivedResource {
  /**
   * The objects to begin with; `undefined` if the resource has to be listed. Rejects with the signal's reason only.
   * `byNamespaces`: each namespace is watched by itself.
   */
  base(signal: AbortSignal, byNamespaces: boolean): Promise<ArchivedBase | undefined>
  /** Whether the archive has it from a store whose namespaces were watched one by one. */
  isByNamespaces(): Promise<boolean>
  /** Keeps all that the informer sees from now on. Returns a function that ends this. */
  record(informer: SharedInformer): () => void
  /** The changes after a position, oldest first; `undefined` if not all are known, or they are more than `limit`. */
  changesSince(
    position: ResourceVersion,
    limit: number,
  ): Promise<readonly ArchivedStep[] | undefined>
}

/** A change as the archive keeps it. The states are JSON. */
export interface ArchivedStep {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  /** The position of the store after it. Absent for what is no change to the archive. */
  readonly position?: string
  /** Absent for an addition. */
  readonly before: string | undefined
  /** For a removal, the last state. */
  readonly after: string
}

/** The cluster of an archived resource. */
export interface ArchivedPlace {
  readonly cluster: string
  /** See `ClusterCache.incarnation`. */
  readonly incarnation: () => string
  readonly isVerified: () => boolean
  /**
   * A version that the API server has reached, of the resource, or another one: not before `position`, unless the cluster was
   * restored from a backup. `undefined` if that cannot be known.
   */
  readonly reached: (
    position: ResourceVersion,
    other?: Pick<ApiResource, 'group' | 'resource'>,
  ) => Promise<ResourceVersion | undefined>
  /** Begins another incarnation, since the versions of the cluster have gone back while nobody looked. */
  readonly wentBack: () => void
}

/** Finds the archive of a resource; `undefined` if the resource is not archived. */
export type ArchiveOf = (
  resource: ApiResource,
  place: ArchivedPlace,
) => ArchivedResource | undefined
