import { hasFinalizer } from '../../kubernetes/finalizers.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { isNotFound } from '../../kubernetes/status.ts'
import { InvalidOptionError } from '../../lib/options.ts'
import type { JsonPatchOperation } from './object-patch.ts'
import type { ChangeOptions, ObjectName } from './write-options.ts'

/** An `ObjectClient` is one. */
interface FinalizerClient<T extends KubernetesObject> {
  patch(
    at: ObjectName,
    patch: { readonly json: readonly JsonPatchOperation[] },
    options: ChangeOptions,
  ): Promise<T>
}

/**
 * Writes the finalizer to the server, unless the object has it. The object may come from a cache, and may be metadata
 * only: the write is a patch of the finalizers alone. Resolves with the object as the server has it now. Rejects with a
 * conflict (`isConflict`) where the object has changed since it was read: let the reconcile try again.
 */
export async function ensureFinalizer<T extends KubernetesObject>(
  client: FinalizerClient<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object
  return await write(client, object, [...(object.metadata.finalizers ?? []), finalizer])
}

/** Removes the finalizer, as {@link ensureFinalizer} writes it. Resolves where the object is gone already. */
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
