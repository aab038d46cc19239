import type { Unstructured } from '../../kubernetes/object.ts'
import type { GroupVersionResource } from '../population/resources.ts'

/**
 * Where a population is put and churn happens: what they need of the simulator's storage. Everything is synchronous,
 * and each write is one event for whoever watches. Objects are handed over: neither side changes one afterwards.
 */
export interface ClusterWriter {
  /**
   * Stores a new object as given (`uid`, `creationTimestamp`, `generation` and `status` included) under the next
   * resource version, and returns it with that. Throws where the name is taken.
   */
  create(resource: GroupVersionResource, object: Unstructured): Unstructured
  /** Replaces an object, status and all, as given. Throws where it does not exist. */
  update(resource: GroupVersionResource, object: Unstructured): Unstructured
  /** Removes an object at once, whatever its grace period. Throws where it does not exist. */
  delete(resource: GroupVersionResource, namespace: string, name: string): void
  /** `undefined` where there is no such object. The namespace is `''` for cluster-scoped resources. */
  get(resource: GroupVersionResource, namespace: string, name: string): Unstructured | undefined
  /** The objects of one namespace, or of all. */
  list(resource: GroupVersionResource, namespace?: string): Iterable<Unstructured>
}
