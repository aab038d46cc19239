import { isDeepStrictEqual } from 'node:util'
import type { ObjectMeta, Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import type { ServedResource, StoredResource } from '../api/served-resource.ts'
import { badRequest, conflict, invalid } from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'
import { metadataProblems } from './metadata-rules.ts'
import { kindShape } from './ownership/field-shape.ts'
import { withManagers, withOwners } from './ownership/ownership.ts'
import {
  checkRules,
  currentObject,
  named,
  settledObject,
  type StrictRefusal,
  type WriteOptions,
  type WriteTarget,
} from './write-target.ts'
import { forbiddenAt } from '../api/field-problem.ts'

/** Options of an update of an object or a subresource. */
export interface UpdateOptions extends WriteOptions {
  /** `''`, or `status`. */
  readonly subresource: string
  /** The refusal for unknown fields, if they are forbidden. */
  readonly strictRefusal?: StrictRefusal
}

/** Updates an object, as PUT does, and PATCH after the patch is applied. Throws the refusals of a kube-apiserver. */
export function updateObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  options: UpdateOptions,
): Unstructured {
  const { served } = target
  const { subresource, strictRefusal } = options
  checkIdentity(target, given.metadata)
  const settled = settledObject(served, given, options, strictRefusal)
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
    throw conflict(
      { ...named(served), name },
      `StorageError: invalid object, Code: 4, AdditionalErrorMsg: ${problem}`,
    )
  }
  const wanted = given.resourceVersion ?? ''
  if (wanted !== '' && wanted !== current.resourceVersion) {
    throw conflict({ ...named(served), name })
  }
}

/** Metadata that only the server writes. */
const serverFields = [
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
] as const

/** The result of a write, before managers and resource version are set. Throws if it breaks the rules of its kind. */
export function nextObject(
  served: ServedResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const next = changedObject(served.stored, current, given, subresource)
  checkFinalizers(served, current.metadata, next.metadata)
  checkMetadata(served, next.metadata)
  checkRules(served, next, current, subresource === 'status' ? 'status' : 'object')
  return next
}

function changedObject(
  stored: StoredResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const kept = Object.fromEntries(
    Object.entries(current.metadata).filter(([field]) =>
      (serverFields as readonly string[]).includes(field),
    ),
  )
  const own = Object.fromEntries(
    Object.entries(given.metadata).filter(
      ([field]) => !(serverFields as readonly string[]).includes(field),
    ),
  )
  const metadata = { ...own, ...kept } as unknown as ObjectMeta
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

function checkMetadata({ group, kind }: ServedResource, metadata: ObjectMeta): void {
  const problems = metadataProblems(metadata)
  if (problems.length > 0) throw invalid({ group, kind, name: metadata.name }, problems)
}

function checkFinalizers(served: ServedResource, current: ObjectMeta, next: ObjectMeta): void {
  if (current.deletionTimestamp === undefined) return
  const added = (next.finalizers ?? []).filter((one) => !(current.finalizers ?? []).includes(one))
  if (added.length === 0) return
  const list = added.map((one) => JSON.stringify(one)).join(', ')
  const message = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  throw invalid({ group: served.group, kind: served.kind, name: next.name }, [
    forbiddenAt('metadata.finalizers', message),
  ])
}
