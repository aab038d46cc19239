import type { Unstructured } from '../../kubernetes/object.ts'
import { currentObject, type WriteOptions, type WriteTarget } from './write-target.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { conflict, Refusal } from '../api/status-refusal.ts'
import type { ServedResource } from '../api/served-resource.ts'
import type { Storage } from '../storage/storage.ts'

/** `DeleteOptions`, as far as they count here. */
export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** What a delete did: the object where it is still there or where the server shows it, else only that it is gone. */
export type Deletion =
  | { readonly kind: 'object'; readonly object: Unstructured }
  | { readonly kind: 'gone'; readonly uid: string }

/**
 * What DELETE does: objects with finalizers, and namespaces, are marked and stay. Grace periods and propagation policies
 * are not played: nobody is there to confirm a pod's end, so it goes at once. Throws what a kube-apiserver refuses.
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
  if (served.stored.groupResource === 'namespaces' && immortal.has(name)) {
    const message = `namespaces "${name}" is forbidden: this namespace may not be deleted`
    const details = { name, kind: 'namespaces' }
    throw new Refusal(403, message, { reason: 'Forbidden', details })
  }
  const stays =
    (metadata.finalizers ?? []).length > 0 || served.stored.groupResource === 'namespaces'
  if (stays && metadata.deletionTimestamp !== undefined) return { kind: 'object', object: current }
  const shown = stays || shownWhenGone.has(served.stored.groupResource)
  if (dryRun) return shown ? { kind: 'object', object: current } : { kind: 'gone', uid }
  if (!shown) {
    storage.delete(served, namespace, name)
    return { kind: 'gone', uid }
  }
  const marked = storage.update(served, markedForDeletion(served, current))
  if (!stays) storage.delete(served, namespace, name)
  return { kind: 'object', object: marked }
}

/** The namespaces that no cluster can be without. */
const immortal = new Set(['default', 'kube-system', 'kube-public'])

/** Kinds of which a DELETE shows the object although nothing holds it. */
const shownWhenGone = new Set(['pods', 'customresourcedefinitions.apiextensions.k8s.io'])

/** A definition waits for its objects to go. */
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
      ...(stored.counted ? { generation: (metadata.generation ?? 0) + 1 } : {}),
    },
  }
}
