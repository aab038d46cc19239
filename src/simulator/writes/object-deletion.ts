import type { Unstructured } from '../../kubernetes/object.ts'
import { currentObject, type WriteOptions, type WriteTarget } from './write-target.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { conflict, Refusal } from '../api/status-refusal.ts'
import type { ServedResource } from '../api/served-resource.ts'
import type { Storage } from '../storage/storage.ts'

/** The `DeleteOptions` that the simulator supports. */
export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** The result of a delete: the object if it still exists or if the server shows it, otherwise its UID. */
export type Deletion =
  | { readonly kind: 'object'; readonly object: Unstructured }
  | { readonly kind: 'gone'; readonly uid: string }

/**
 * Deletes an object, as DELETE does. Objects with finalizers, and namespaces, are marked and stay. Ignores grace
 * periods and propagation policies: no kubelet confirms the end of a pod, so it is deleted at once. Throws the refusals
 * of a kube-apiserver.
 */
export function deleteObject(
  storage: Storage,
  target: WriteTarget,
  { preconditions = {} }: DeleteOptions,
  { dryRun }: Pick<WriteOptions, 'dryRun'>,
): Deletion {
  const { served, namespace, name } = target
  const current = currentObject(storage, target)
  const { metadata } = current
  const uid = metadata.uid ?? ''
  const subject = { group: served.group, resource: served.kind, name }
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      subject,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). ` +
        'The object might have been deleted and then recreated',
    )
  }
  const { resourceVersion: wanted } = preconditions
  if (wanted !== undefined && wanted !== metadata.resourceVersion) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${wanted}) does not match the ResourceVersion in record ` +
        `(${metadata.resourceVersion}). The object might have been modified`,
    )
  }
  if (served.stored.groupResource === 'namespaces' && undeletable.has(name)) {
    const message = `namespaces "${name}" is forbidden: this namespace may not be deleted`
    const details = { name, kind: 'namespaces' }
    throw new Refusal(403, message, { reason: 'Forbidden', details })
  }
  const stays =
    (metadata.finalizers ?? []).length > 0 || served.stored.groupResource === 'namespaces'
  if (stays && metadata.deletionTimestamp !== undefined) return { kind: 'object', object: current }
  const shown = stays || returnedWhenDeleted.has(served.stored.groupResource)
  if (dryRun) return shown ? { kind: 'object', object: current } : { kind: 'gone', uid }
  if (!shown) {
    storage.delete(served, namespace, name)
    return { kind: 'gone', uid }
  }
  const marked = storage.update(served, markedForDeletion(served, current))
  if (!stays) storage.delete(served, namespace, name)
  return { kind: 'object', object: marked }
}

/** Namespaces that cannot be deleted. */
const undeletable = new Set(['default', 'kube-system', 'kube-public'])

/** Kinds whose DELETE returns the object even if nothing holds it. */
const returnedWhenDeleted = new Set(['pods', 'customresourcedefinitions.apiextensions.k8s.io'])

/** The finalizer by which a definition waits for the deletion of its objects. */
const cleanup = 'customresourcecleanup.apiextensions.k8s.io'

function markedForDeletion({ stored }: ServedResource, current: Unstructured): Unstructured {
  const { metadata } = current
  const isNamespace = stored.groupResource === 'namespaces'
  const deletionTimestamp = timestamp(Date.now())
  if (stored.groupResource === 'customresourcedefinitions.apiextensions.k8s.io') {
    const finalizers = [...new Set([...(metadata.finalizers ?? []), cleanup])]
    return { ...current, metadata: { ...metadata, deletionTimestamp, finalizers } }
  }
  return {
    ...current,
    ...(isNamespace ? { status: { ...(current['status'] as object), phase: 'Terminating' } } : {}),
    metadata: {
      ...metadata,
      deletionTimestamp,
      ...(isNamespace ? {} : { deletionGracePeriodSeconds: 0 }),
      ...(stored.hasGeneration ? { generation: (metadata.generation ?? 0) + 1 } : {}),
    },
  }
}
