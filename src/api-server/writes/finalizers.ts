import type { KubernetesObject } from '../../kubernetes/object.ts'
import { isNotFound } from '../../kubernetes/status.ts'
import { InvalidOptionError } from '../../lib/options.ts'
import type { JsonPatchOperation } from './object-patch.ts'
import type { ChangeOptions, ObjectName } from './write-options.ts'

/** The part of an `ObjectClient` that is needed here. */
interface FinalizerClient<T extends KubernetesObject> {
  patch(
    at: ObjectName,
    patch: { readonly json: readonly JsonPatchOperation[] },
    options: ChangeOptions,
  ): Promise<T>
}

/**
 * Adds the finalizer on the server, unless the object has it. The object may come from a cache, and may be metadata
 * only, because the write only patches the finalizers. Resolves with the server's object. Rejects with a conflict
 * (`isConflict`) if the object has changed since it was read: then reconcile again.
 */
export async function ensureFinalizer<T extends KubernetesObject>(
  client: FinalizerClient<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object
  return await write(client, object, [...(object.metadata.finalizers ?? []), finalizer])
}

/** Removes the finalizer; otherwise like {@link ensureFinalizer}. Resolves if the object is gone already. */
export async function dropFinalizer<T extends KubernetesObject>(
  client: FinalizerClient<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  const { finalizers = [] } = object.metadata
  if (!finalizers.includes(finalizer)) return
  try {
    await write(
      client,
      object,
      finalizers.filter((one) => one !== finalizer),
    )
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function write<T extends KubernetesObject>(
  client: FinalizerClient<T>,
  { metadata }: T,
  finalizers: readonly string[],
): Promise<T> {
  const { resourceVersion } = metadata
  if (resourceVersion === undefined) {
    throw new InvalidOptionError('resourceVersion', resourceVersion, 'an object that was read')
  }
  const patch = [{ op: 'add', path: '/metadata/finalizers', value: finalizers }] as const
  return await client.patch(metadata, { json: patch }, { preconditions: { resourceVersion } })
}

/** Whether the object is being deleted: it goes with its last finalizer. */
export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  const { deletionTimestamp } = metadata
  return deletionTimestamp !== undefined && deletionTimestamp !== null
}

export function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}
