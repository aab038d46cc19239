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

/** The object with this finalizer. Changes nothing: gives back a new object, or the same one where it has it already. */
export function addFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  if (hasFinalizer(object, finalizer)) return object
  return withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer])
}

/** The object without this finalizer. Changes nothing: gives back a new object, or the same one where it has it not. */
export function removeFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  if (!hasFinalizer(object, finalizer)) return object
  return withFinalizers(
    object,
    object.metadata.finalizers?.filter((one) => one !== finalizer) ?? [],
  )
}

function withFinalizers<T extends KubernetesObject>(object: T, finalizers: readonly string[]): T {
  return { ...object, metadata: { ...object.metadata, finalizers } }
}
