import { randomUUID } from 'node:crypto'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { objectKey, type ObjectMeta, type Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { isJsonObject } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import type { ObjectRules, ServedResource, StoredResource } from '../api/served-resource.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  detailsOf,
  type FieldProblem,
  forbiddenAt,
  notFound,
  Refusal,
  refuseInvalid,
} from '../api/status-refusal.ts'
import { definitionRules } from '../definitions/definition-rules.ts'
import { builtInRules } from '../schema/built-in-rules.ts'
import { unknownFields } from '../schema/pruning-and-defaulting.ts'
import { kindSchema } from '../api/captured-api.ts'
import { generatedName, metadataProblems, serverMetadata } from '../schema/metadata-rules.ts'
import type { Storage } from '../storage/storage.ts'
import { withManagers, withOwners } from './managed-fields.ts'

/** The object or the collection of a write. */
export interface WriteTarget {
  readonly served: ServedResource
  /** `''` for cluster-scoped resources. */
  readonly namespace: string
  readonly name: string
}

export interface WriteOptions {
  readonly dryRun: boolean
  /** The manager of the fields that the write sets. */
  readonly manager: string
  /** What happens besides dropping unknown fields. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  /** Receives warnings for the client. */
  readonly warn: (text: string) => void
  /** Makes the refusal for unknown fields, if its form differs from that of a decoded body. */
  readonly strictRefusal?: (problem: string) => Error
}

/** Options of a write to an object or a subresource. */
export interface UpdateOptions extends WriteOptions {
  /** `''`, or `status`. */
  readonly subresource: string
}

/** The current object in the requested version. Throws 404. */
export function currentObject(
  storage: Storage,
  { served, namespace, name }: WriteTarget,
): Unstructured {
  const found = storage.get(served, namespace, name)
  if (found === undefined) throw notFound({ ...served, name })
  return found
}

function rulesOf({ registry }: Storage, served: ServedResource): ObjectRules | undefined {
  const { custom, groupResource, isChecked } = served.stored
  if (custom) return served.rules
  const kind = kindSchema(registry.captured, served)
  if (isChecked) return builtInRules(groupResource, kind)
  const isDefinition = groupResource === 'customresourcedefinitions.apiextensions.k8s.io'
  return isDefinition ? definitionRules(kind) : undefined
}

/** Fills in defaults and drops unknown fields. Throws if unknown fields are forbidden. */
export function settledObject(
  storage: Storage,
  served: ServedResource,
  given: Unstructured,
  { fieldValidation, strictRefusal, warn }: WriteOptions,
): Unstructured {
  const rules = rulesOf(storage, served)
  if (rules === undefined) return given
  const unknown: string[] = []
  const settled = rules.settle(given, unknown)
  if (fieldValidation === 'Strict') refuseUnknown(served, unknown, strictRefusal)
  if (fieldValidation === 'Warn') for (const path of unknown) warn(unknownField(path))
  return settled
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`

function refuseUnknown(
  { kind, version }: ServedResource,
  unknown: readonly string[],
  refusal?: WriteOptions['strictRefusal'],
): void {
  if (unknown.length === 0) return
  const problem = `strict decoding error: ${unknown.map(unknownField).join(', ')}`
  throw (
    refusal?.(problem) ??
    badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`)
  )
}

/** Throws 422 if the object breaks the rules of its kind. */
function checkRules(
  storage: Storage,
  served: ServedResource,
  object: Unstructured,
  previous: Unstructured | undefined,
  part: 'object' | 'status',
): void {
  const problems = rulesOf(storage, served)?.problems(object, previous, part) ?? []
  refuseInvalid({ ...served, name: object.metadata.name }, problems)
}

/** Creates an object, as POST does. Throws the refusals of a kube-apiserver. */
export function createObject(
  storage: Storage,
  { served, namespace }: Omit<WriteTarget, 'name'>,
  given: Unstructured,
  options: WriteOptions,
): Unstructured {
  const object = newObject(storage, { served, namespace }, given, options)
  const schema = kindSchema(storage.registry.captured, served)
  const writer = { served, schema, manager: options.manager, subresource: '' }
  return storeNew(storage, served, withOwners(undefined, object, writer), options)
}

/** A new object as it will be stored, except for its managers. Throws the refusals of a kube-apiserver. */
export function newObject(
  storage: Storage,
  { served, namespace }: Omit<WriteTarget, 'name'>,
  given: Unstructured,
  options: WriteOptions,
): Unstructured {
  const { stored } = served
  if (options.fieldValidation === 'Strict' && !stored.custom) {
    // Without this wish, objects of built-in kinds keep unknown fields.
    refuseUnknown(served, unknownFields(given, kindSchema(storage.registry.captured, served)))
  }
  const metadata = newMetadata(given.metadata, namespace, served)
  if ((given.metadata.resourceVersion ?? '') !== '') {
    throw new Refusal(500, 'resourceVersion should not be set on objects to be created')
  }
  if (stored.namespaced) checkNamespace(storage, served, namespace, metadata.name)
  refuseInvalid({ ...served, name: metadata.name }, metadataProblems(metadata, stored))
  const object = withFirstStatus(
    stored,
    settledObject(storage, served, { ...given, metadata }, options),
  )
  checkRules(storage, served, object, undefined, 'object')
  return object
}

/** Stores a new object, except in a dry run. Throws 409. */
export function storeNew(
  storage: Storage,
  served: ServedResource,
  object: Unstructured,
  { dryRun }: WriteOptions,
): Unstructured {
  if (!dryRun) return storage.create(served, object)
  const { metadata } = object
  if (storage.store(served.stored).get(objectKey(metadata)) !== undefined) {
    throw alreadyExists({ ...served, name: metadata.name }, false)
  }
  const creationTimestamp = timestamp(Date.now())
  return { ...object, metadata: { ...metadata, uid: randomUUID(), creationTimestamp } }
}

function newMetadata(given: ObjectMeta, namespace: string, served: ServedResource): ObjectMeta {
  const rest = Object.fromEntries(
    Object.entries(given).filter(([field]) => !serverMetadata.includes(field)),
  ) as unknown as ObjectMeta
  if ((rest.namespace ?? '') !== '' && rest.namespace !== namespace) {
    throw badRequest(
      served.namespaced
        ? 'the namespace of the provided object does not match the namespace sent on the request'
        : 'namespace is not allowed on this type',
    )
  }
  const prefix = rest.generateName ?? ''
  const name = rest.name ?? ''
  const labels =
    served.stored.groupResource === 'namespaces'
      ? { labels: { ...rest.labels, 'kubernetes.io/metadata.name': name } }
      : {}
  return {
    ...rest,
    ...labels,
    name: name === '' && prefix !== '' ? generatedName(prefix) : name,
    ...(namespace === '' ? {} : { namespace }),
  }
}

function checkNamespace(
  storage: Storage,
  served: ServedResource,
  namespace: string,
  name: string,
): void {
  const found = storage.get(resources.namespaces, '', namespace)
  if (found === undefined) throw notFound({ ...resources.namespaces, name: namespace })
  if (found.metadata.deletionTimestamp === undefined) return
  const problem = `unable to create new content in namespace ${namespace} because it is being terminated`
  throw new Refusal(403, `${groupResourceOf(served)} "${name}" is forbidden: ${problem}`, {
    details: {
      ...detailsOf({ ...served, name }),
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  })
}

/** Replaces the status of a new object by its first status. A node keeps its own. */
function withFirstStatus(stored: StoredResource, given: Unstructured): Unstructured {
  if (!stored.hasStatusSubresource || stored.groupResource === 'nodes') return given
  const { status: _, ...object } = given
  if (stored.custom) return object
  const isNamespace = stored.groupResource === 'namespaces'
  const spec = isNamespace
    ? { spec: { ...(given['spec'] as object | undefined), finalizers: ['kubernetes'] } }
    : {}
  return { ...object, ...spec, status: stored.firstStatus }
}

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
  const settled = settledObject(storage, served, given, options)
  const current = currentObject(storage, target)
  checkPreconditions(target, given.metadata, current.metadata)
  const next = nextObject(storage, served, current, settled, subresource)
  const reset = resetsManagers(given.metadata)
  if (!reset && equalJson(next, current)) return current
  const schema = kindSchema(storage.registry.captured, served)
  const owned = withOwners(current, next, { served, schema, manager: options.manager, subresource })
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

const kept = new Set([...serverMetadata, 'namespace', 'generateName'])

/** The result of a write, before managers and resource version are set. Throws if it breaks the rules of its kind. */
export function nextObject(
  storage: Storage,
  served: ServedResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const next = changedObject(served.stored, current, given, subresource)
  const subject = { ...served, name: next.metadata.name }
  refuseInvalid(subject, finalizerProblems(current.metadata, next.metadata))
  refuseInvalid(subject, metadataProblems(next.metadata))
  checkRules(storage, served, next, current, subresource === 'status' ? 'status' : 'object')
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
  if (!stored.hasGeneration || equalJson(contentOf(next), contentOf(current))) return next
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

/** The `DeleteOptions` that the simulator supports. */
export interface DeleteOptions {
  readonly dryRun: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

export interface Deletion {
  readonly uid: string
  /** The object, if it still exists or if the server shows it. */
  readonly object: Unstructured | undefined
}

/**
 * Deletes an object, as DELETE does. Objects with finalizers, and namespaces, are marked and stay. Ignores grace
 * periods and propagation policies: no kubelet confirms the end of a pod, so it is deleted at once. Throws the refusals
 * of a kube-apiserver.
 */
export function deleteObject(
  storage: Storage,
  target: WriteTarget,
  { dryRun, preconditions = {} }: DeleteOptions,
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
    throw new Refusal(403, message, { details })
  }
  const stays =
    (metadata.finalizers ?? []).length > 0 || served.stored.groupResource === 'namespaces'
  if (stays && metadata.deletionTimestamp !== undefined) return { uid, object: current }
  const isShown = stays || served.stored.isShownWhenDeleted
  if (dryRun) return { uid, object: isShown ? current : undefined }
  const object = isShown ? storage.update(served, markedForDeletion(served, current)) : undefined
  if (!stays) storage.delete(served, namespace, name)
  return { uid, object }
}

const undeletable = new Set(['default', 'kube-system', 'kube-public'])

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
