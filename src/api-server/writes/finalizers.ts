/*
 * Finalizers of objects that controllers own. Each write patches the finalizers alone, under the resource version that was
 * read. So an object from a cache will do, and a conflict means that the object has changed since.
 */

import type { KubernetesObject } from '../../kubernetes/object.ts'
import { isNotFound } from '../../kubernetes/status.ts'
import { InvalidOptionError } from '../../lib/options.ts'
import type { ObjectClient } from './object-client.ts'

/**
 * Adds the finalizer on the server, unless the object has it. The object may come from a cache, and may be metadata
 * only, because the write only patches the finalizers. Resolves with the server's object. Rejects with a conflict
 * (`isConflict`) if the object has changed since it was read. Then reconcile again.
 */
export async function ensureFinalizer<T extends KubernetesObject>(
  client: Pick<ObjectClient<T>, 'patch'>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object
  return await write(client, object, [...(object.metadata.finalizers ?? []), finalizer])
}

/** Removes the finalizer; otherwise like {@link ensureFinalizer}. Resolves if the object no longer exists. */
export async function dropFinalizer<T extends KubernetesObject>(
  client: Pick<ObjectClient<T>, 'patch'>,
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
  client: Pick<ObjectClient<T>, 'patch'>,
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

/** Whether the object is being deleted. It disappears with its last finalizer. */
export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  const { deletionTimestamp } = metadata
  return deletionTimestamp !== undefined && deletionTimestamp !== null
}

/** Whether the object has the finalizer. */
export function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}
