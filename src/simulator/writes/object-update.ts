import { isDeepStrictEqual } from 'node:util'
import type { ObjectMeta, Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import type { ServedResource, StoredResource } from '../api/served-resource.ts'
import { badRequest, conflict, refuseInvalid } from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'
import { kindShape } from './field-shape.ts'
import { withManagers, withOwners } from './managed-fields.ts'
import { metadataProblems, serverMetadata } from '../schema/metadata-rules.ts'
import {
  checkRules,
  currentObject,
  settledObject,
  type UpdateOptions,
  type WriteOptions,
  type WriteTarget,
} from './write-target.ts'
import { type FieldProblem, forbiddenAt } from '../api/field-problem.ts'

/** Updates an object, as PUT does, and PATCH after the patch is applied. Throws the refusals of a kube-apiserver. */
export function updateObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  options: UpdateOptions,
): Unstructured {
  const { served } = target
  const { subresource } = options
  checkIdentity(target, given.metadata)
  const settled = settledObject(served, given, options)
  const current = currentObject(storage, target)
  checkPreconditions(target, given.metadata, current.metadata)
  const next = nextObject(served, current, settled, subresource)
  const reset = resetsManagers(given.metadata)
  if (!reset && equalJson(next, current)) return current
  const shape = kindShape(storage.registry.captured, served)
  const owned = withOwners(current, next, { served, shape, manager: options.manager, subresource })
  return storeUpdate(storage, target, reset ? withManagers(next, []) : owned, options)
}

/** Stores a new version of an object, except in a dry run. Deletes a terminating object without finalizers. */
export function storeUpdate(
  storage: Storage,
  { served, namespace, name }: WriteTarget,
  next: Unstructured,
  { dryRun }: WriteOptions,
): Unstructured {
  if (dryRun) return next
  const { deletionTimestamp, finalizers = [] } = next.metadata
  if (deletionTimestamp !== undefined && finalizers.length === 0) {
    storage.delete(served, namespace, name)
    return next
  }
  return storage.update(served, next)
}

/** A list with one empty entry asks to drop all managers. */
function resetsManagers(metadata: ObjectMeta): boolean {
  const { managedFields } = metadata as ObjectMeta & { readonly managedFields?: unknown }
  if (!Array.isArray(managedFields) || managedFields.length !== 1) return false
  const [only] = managedFields as readonly unknown[]
  return isJsonObject(only) && Object.keys(only).length === 0
}

/** Throws 400 if the object is not that of the path. */
export function checkIdentity({ name, namespace }: WriteTarget, metadata: ObjectMeta): void {
  if ((metadata.name ?? '') === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    )
  }
  if ((metadata.namespace ?? '') !== '' && metadata.namespace !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
}

/** Throws 409 if the UID or the resource version differs from the current object's. */
export function checkPreconditions(
  { served, name }: WriteTarget,
  given: ObjectMeta,
  current: ObjectMeta,
): void {
  if (given.uid !== undefined && given.uid !== '' && given.uid !== current.uid) {
    const problem = `Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${current.uid}`
    const message = `StorageError: invalid object, Code: 4, AdditionalErrorMsg: ${problem}`
    throw conflict({ ...served, name }, message)
  }
  const wanted = given.resourceVersion ?? ''
  if (wanted !== '' && wanted !== current.resourceVersion) {
    throw conflict({ ...served, name })
  }
}

/** Metadata that no update changes. */
const kept = new Set([...serverMetadata, 'namespace', 'generateName'])

/** The result of a write, before managers and resource version are set. Throws if it breaks the rules of its kind. */
export function nextObject(
  served: ServedResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const next = changedObject(served.stored, current, given, subresource)
  const subject = { ...served, name: next.metadata.name }
  refuseInvalid(subject, finalizerProblems(current.metadata, next.metadata))
  refuseInvalid(subject, metadataProblems(next.metadata))
  checkRules(served, next, current, subresource === 'status' ? 'status' : 'object')
  return next
}

function changedObject(
  stored: StoredResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const metadata = Object.fromEntries([
    ...Object.entries(given.metadata).filter(([field]) => !kept.has(field)),
    ...Object.entries(current.metadata).filter(([field]) => kept.has(field)),
  ]) as unknown as ObjectMeta
  if (subresource === 'status') {
    const { status } = given
    return {
      ...current,
      metadata: stored.custom ? current.metadata : metadata,
      ...(status === undefined ? {} : { status }),
    }
  }
  const { status: _, ...desired } = given
  const status = stored.hasStatusSubresource ? current['status'] : given['status']
  const next = {
    ...desired,
    ...(status === undefined ? {} : { status }),
    metadata,
  } as Unstructured
  if (!stored.hasGeneration || isDeepStrictEqual(contentOf(next), contentOf(current))) return next
  return { ...next, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } }
}

function contentOf({ metadata: _metadata, status: _status, ...content }: Unstructured): object {
  return content
}

function finalizerProblems(current: ObjectMeta, next: ObjectMeta): FieldProblem[] {
  if (current.deletionTimestamp === undefined) return []
  const added = (next.finalizers ?? []).filter((one) => !(current.finalizers ?? []).includes(one))
  if (added.length === 0) return []
  const list = added.map((one) => JSON.stringify(one)).join(', ')
  const message = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  return [forbiddenAt('metadata.finalizers', message)]
}
