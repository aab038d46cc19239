import type { KubernetesObject } from './object.ts'

/** Whether the object is being deleted: it goes when its last finalizer has gone. */
export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  const { deletionTimestamp } = metadata
  return deletionTimestamp !== undefined && deletionTimestamp !== null
}

/** Whether the object has this finalizer. */
export function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}
