/*
 * The writes of an API server. A write checks who is meant, completes what is given by the rules of its kind (defaults,
 * unknown fields), makes the next version from it and the current one, checks that, and notes who owns its fields. POST,
 * PUT and patches differ in what they give. Server-side apply differs in the owners as well ({@link Owned}): it merges a
 * configuration into the object, drops what its manager applied before and omits now, and refuses fields of other managers
 * unless it is forced.
 */

import { randomUUID } from 'node:crypto'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { type Fields, fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import { objectKey, type ObjectMeta, type Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { kindSchema, type KindSchema } from '../api/captured-api.ts'
import { equalJson } from '../api/json.ts'
import type { ObjectRules, ServedResource, StoredResource } from '../api/served-resource.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  detailsOf,
  forbiddenAt,
  type Found,
  notFound,
  Refusal,
  refuseInvalid,
} from '../api/status-refusal.ts'
import { definitionRules } from '../definitions/definition.ts'
import { builtInRules } from '../schema/built-in-rules.ts'
import { generatedName, metadataProblems, serverMetadata } from '../schema/field-checks.ts'
import { unknownFields } from '../schema/structural-schema.ts'
import type { Storage } from '../storage/storage.ts'
import {
  fieldChanges,
  fieldPaths,
  fieldsBelow,
  type FieldSet,
  isItem,
  isSameManager,
  isWithin,
  type Manager,
  managerOf,
  managersWithout,
  ownable,
  partsOf,
  readManagers,
  separator,
  stepOf,
  withManagers,
  withoutUnowned,
  type Writer,
} from './managed-fields.ts'
import { mergedOrder } from './patches.ts'

/** The object or the collection of a write. */
export interface WriteTarget {
  readonly served: ServedResource
  /** `''` for cluster-scoped resources. */
  readonly namespace: string
  readonly name: string
}

export interface WriteOptions {
  /** `''`, `status` or `scale`. */
  readonly subresource: string
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

/** The current object in the requested version. Throws 404. */
export function currentObject(
  storage: Storage,
  { served, namespace, name }: WriteTarget,
): Unstructured {
  const found = storage.get(served, namespace, name)
  if (found === undefined) throw notFound({ ...served, name })
  return found
}

/** The rules of a resource's objects; `undefined` for a built-in kind that is stored as it is given. */
function rulesOf({ registry }: Storage, served: ServedResource): ObjectRules | undefined {
  const { custom, groupResource, isChecked } = served.stored
  if (custom) return served.rules
  const kind = kindSchema(registry.captured, served)
  if (isChecked) return builtInRules(groupResource, kind)
  const isDefinition = groupResource === 'customresourcedefinitions.apiextensions.k8s.io'
  return isDefinition ? definitionRules(kind) : undefined
}

/** Fills in defaults and drops unknown fields. Throws if unknown fields are forbidden. */
function settledObject(
  storage: Storage,
  served: ServedResource,
  given: Unstructured,
  { fieldValidation, strictRefusal, warn }: WriteOptions,
): Unstructured {
  const unknown: string[] = []
  const settled = rulesOf(storage, served)?.settle(given, unknown) ?? given
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

/**
 * Makes the new version of an object with its managers; `undefined` if nothing changes. By default the writer owns what
 * it sets. `current` is the version before; `undefined` for a new object.
 */
export type Owned = (
  next: Unstructured,
  current: Unstructured | undefined,
) => Unstructured | undefined

/** The writer owns the fields that it sets, and others lose them. */
function ownedByWriter(
  storage: Storage,
  { served }: Pick<WriteTarget, 'served'>,
  { manager, subresource }: WriteOptions,
): Owned {
  const schema = kindSchema(storage.registry.captured, served)
  const writer = { served, schema, manager, subresource }
  return (next, current) => {
    if (current !== undefined && equalJson(next, current)) return undefined
    const managers = current === undefined ? [] : readManagers(current)
    const changes = fieldChanges(current ?? {}, next, schema)
    const self = managerOf(writer, 'Update', ownable(changes.set, writer))
    const old = managers.find((one) => isSameManager(one, self))
    const kept = (old?.fields ?? new Set()).difference(changes.removed)
    return withManagers(next, [
      ...managersWithout(managers, old, self.fields.union(changes.removed)),
      { ...self, fields: kept.union(self.fields) },
    ])
  }
}

/** Creates an object, as POST does; a dry run stores nothing. Throws the refusals of a kube-apiserver. */
export function createObject(
  storage: Storage,
  target: Omit<WriteTarget, 'name'>,
  given: Unstructured,
  options: WriteOptions,
  owned: Owned = ownedByWriter(storage, target, options),
): Unstructured {
  const { served, namespace } = target
  const { stored } = served
  if (options.fieldValidation === 'Strict' && !stored.custom) {
    // Without this wish, objects of built-in kinds keep unknown fields.
    refuseUnknown(served, unknownFields(given, kindSchema(storage.registry.captured, served)))
  }
  const metadata = newMetadata(given.metadata, namespace, served)
  if ((given.metadata.resourceVersion ?? '') !== '') {
    throw new Refusal(500, 'resourceVersion should not be set on objects to be created')
  }
  const { name } = metadata
  if (stored.namespaced) checkNamespace(storage, served, metadata)
  refuseInvalid({ ...served, name }, metadataProblems(metadata, stored))
  const settled = settledObject(storage, served, { ...given, metadata }, options)
  let object = settled
  // The first status of a new object replaces its creator's. A node keeps its own.
  if (stored.hasStatusSubresource && stored.groupResource !== 'nodes') {
    const { status: _, ...rest } = settled
    const spec = { ...fieldsOf(settled['spec']), finalizers: ['kubernetes'] }
    const own = stored.groupResource === 'namespaces' ? { spec } : {}
    object = stored.custom ? rest : { ...rest, ...own, status: stored.firstStatus }
  }
  const problems = rulesOf(storage, served)?.problems(object, undefined, 'object') ?? []
  refuseInvalid({ ...served, name }, problems)
  const created = owned(object, undefined) ?? object
  if (!options.dryRun) return storage.create(served, created)
  if (storage.store(stored).get(objectKey(metadata)) !== undefined) {
    throw alreadyExists({ ...served, name }, false)
  }
  const creationTimestamp = timestamp(Date.now())
  return { ...created, metadata: { ...created.metadata, uid: randomUUID(), creationTimestamp } }
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

/** Throws 404 for a namespace that does not exist, and 403 for one that is being terminated. */
function checkNamespace(
  storage: Storage,
  served: ServedResource,
  { namespace, name }: ObjectMeta,
): void {
  const found = storage.get(resources.namespaces, '', namespace ?? '')
  if (found === undefined) throw notFound({ ...resources.namespaces, name: namespace ?? '' })
  if (found.metadata.deletionTimestamp === undefined) return
  const message = `namespace ${namespace} is being terminated`
  const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]
  throw new Refusal(403, `${groupResourceOf(served)} "${name}" is forbidden: ${message}`, {
    details: { ...detailsOf({ ...served, name }), causes },
  })
}

/**
 * Updates an object or its status, as PUT does, and PATCH after the patch is applied; a dry run stores nothing. Deletes
 * a terminating object that has lost its last finalizer. Throws the refusals of a kube-apiserver.
 */
export function updateObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  options: WriteOptions,
  owned: Owned = ownedByWriter(storage, target, options),
): Unstructured {
  const { served, namespace, name } = target
  checkIdentity(target, given.metadata)
  const settled = settledObject(storage, served, given, options)
  const current = currentObject(storage, target)
  const { uid = '', resourceVersion: wanted = '' } = given.metadata
  const subject = { ...served, name }
  if (uid !== '' && uid !== current.metadata.uid) {
    const problem = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`
    const message = `StorageError: invalid object, Code: 4, AdditionalErrorMsg: ${problem}`
    throw conflict(subject, message)
  }
  if (wanted !== '' && wanted !== current.metadata.resourceVersion) throw conflict(subject)
  const next = changedObject(served.stored, current, settled, options.subresource)
  const isDebug = options.subresource === 'ephemeralcontainers'
  const part = options.subresource === 'status' || isDebug ? 'status' : 'object'
  const { finalizers: held = [] } = current.metadata
  const added = (next.metadata.finalizers ?? []).filter((one) => !held.includes(one))
  if (current.metadata.deletionTimestamp !== undefined && added.length > 0) {
    const list = added.map((one) => JSON.stringify(one)).join(', ')
    const message = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
    refuseInvalid(subject, [forbiddenAt('metadata.finalizers', message)])
  }
  refuseInvalid(subject, metadataProblems(next.metadata))
  refuseInvalid(subject, rulesOf(storage, served)?.problems(next, current, part) ?? [])
  if (isDebug) refuseInvalid(subject, changedDebugContainers(next, current))
  // A list with one empty entry asks to drop all managers.
  const { managedFields } = given.metadata as ObjectMeta & { readonly managedFields?: unknown }
  const changed = equalJson(managedFields, [{}]) ? withManagers(next, []) : owned(next, current)
  if (changed === undefined) return current
  if (options.dryRun) return changed
  const { deletionTimestamp, finalizers = [] } = changed.metadata
  if (deletionTimestamp === undefined || finalizers.length > 0) {
    return storage.update(served, changed)
  }
  storage.delete(served, namespace, name)
  return changed
}

/** Debug containers can be added only. Source: `ValidatePodEphemeralContainersUpdate`. */
function changedDebugContainers(next: Unstructured, current: Unstructured): readonly Found[] {
  const path = 'spec.ephemeralContainers'
  return debugContainersOf(current).map(({ name, ...before }) => {
    const same = debugContainersOf(next).find((one) => one['name'] === name)
    if (same === undefined) {
      return forbiddenAt(
        path,
        `existing ephemeral containers "${String(name)}" may not be removed\n`,
      )
    }
    const isChanged = Object.keys(before).some((field) => !equalJson(same[field], before[field]))
    const text = `existing ephemeral containers "${String(name)}" may not be changed\n`
    return isChanged && forbiddenAt(path, text)
  })
}

function debugContainersOf(pod: Unstructured): readonly Fields[] {
  return itemsOf(fieldsOf(pod['spec'])['ephemeralContainers'])
}

/** Throws 400 if the object is not that of the path. */
function checkIdentity({ name, namespace }: WriteTarget, metadata: ObjectMeta): void {
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

const keptMetadata = new Set([...serverMetadata, 'namespace', 'generateName'])

/** The result of a write, before managers and resource version are set. */
function changedObject(
  stored: StoredResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const metadata = Object.fromEntries([
    ...Object.entries(given.metadata).filter(([field]) => !keptMetadata.has(field)),
    ...Object.entries(current.metadata).filter(([field]) => keptMetadata.has(field)),
  ]) as unknown as ObjectMeta
  if (subresource === 'status') {
    const { status } = given
    return {
      ...current,
      metadata: stored.custom ? current.metadata : metadata,
      ...(status === undefined ? {} : { status }),
    }
  }
  if (subresource === 'ephemeralcontainers') {
    const { ephemeralContainers } = fieldsOf(given['spec'])
    return { ...current, spec: { ...fieldsOf(current['spec']), ephemeralContainers } }
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
  for (const field of ['uid', 'resourceVersion'] as const) {
    const wanted = preconditions[field]
    if (wanted === undefined || wanted === metadata[field]) continue
    throw conflict(subject, `the ${field} is ${metadata[field]}, and not ${wanted}`)
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

/**
 * Server-side apply. Sets the fields of the configuration, removes fields that the manager applied before and omits
 * now, and makes the manager the owner. Returns whether the object is new. Throws 409, unless forced, with a cause for
 * each field of another manager. Source: KEP-555.
 */
export function applyObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  options: WriteOptions & { readonly force: boolean },
): { readonly object: Unstructured; readonly created: boolean } {
  const { served, namespace, name } = target
  const { subresource, manager } = options
  const schema = kindSchema(storage.registry.captured, served)
  const [unknown] = unknownFields(given, schema)
  if (unknown !== undefined) {
    const { apiVersion, kind } = served
    const { namespace: within = '', name: called = '' } = given.metadata as Partial<ObjectMeta>
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    const what = `${within}/${called}; ${version}, Kind=${kind}`
    const problem = `.${unknown}: field not declared in schema`
    throw new Refusal(500, `failed to create typed patch object (${what}): ${problem}`)
  }
  const writer: Writer = { served, schema, manager, subresource }
  const applied = fieldsBelow(given, schema).filter(
    ({ hasParts, path }) => !hasParts || isItem(path),
  )
  const asked = new Set(applied.map(({ path }) => path))
  const self = managerOf(writer, 'Apply', ownable(asked, writer))
  const exists = storage.store(served.stored).get(objectKey({ namespace, name })) !== undefined
  if (!exists) checkIdentity(target, given.metadata)
  if (!exists && subresource === '') {
    const { resourceVersion: _, ...metadata } = given.metadata
    const fresh = { ...given, metadata }
    const owned: Owned = (object) => withManagers(object, [self])
    return { object: createObject(storage, target, fresh, options, owned), created: true }
  }
  const current = currentObject(storage, target)
  checkIdentity(target, given.metadata)
  let managers = readManagers(current)
  if (managers.length === 0) {
    const before = { ...writer, manager: 'before-first-apply', subresource: '' }
    const all = fieldChanges({}, current, schema).set
    managers = [managerOf(before, 'Update', withoutUnowned(all))]
  }
  const old = managers.find((one) => isSameManager(one, self))
  const others = managers.filter((one) => one !== old)
  // What the manager applied before and omits now goes, unless another manager owns it.
  const claimed = new Set<string>()
  for (const path of [...others, self].flatMap((owner) => [...owner.fields])) {
    claimed.add(path)
    // And each list item that contains the field.
    const steps = path.split(separator)
    const items = steps.map((_, at) => steps.slice(0, at + 1).join(separator)).filter(isItem)
    for (const item of items) claimed.add(item)
  }
  const dropped = (old?.fields ?? new Set<string>()).difference(claimed)
  // Applies only the status to the status, and only the rest to the object.
  const { status, ...rest } = given
  const own = served.stored.hasStatusSubresource ? rest : given
  const ofStatus = status === undefined ? {} : { status }
  const merged = mergeApplied(current, subresource === 'status' ? ofStatus : own, schema)
  const left = withoutFields(merged, dropped, schema) as Unstructured
  const owned: Owned = (next) => {
    const changes = fieldChanges(current, next, schema)
    const set = ownable(changes.set, writer)
    const conflicts = others
      .map((one) => ({ ...one, fields: one.fields.intersection(set) }))
      .filter(({ fields }) => fields.size > 0)
    if (conflicts.length > 0 && !options.force) throw applyConflict(conflicts)
    const isSame = old?.fields.symmetricDifference(self.fields).size === 0
    if (isSame && equalJson(next, current)) return undefined
    return withManagers(next, [
      ...managersWithout(managers, old, set.union(changes.removed)),
      isSame ? { ...self, time: old.time } : self,
    ])
  }
  return { object: updateObject(storage, target, left, options, owned), created: false }
}

/** A 409 with a cause for each field of another manager that an apply would change. */
function applyConflict(conflicts: readonly Manager[]): Refusal {
  const causes = conflicts.flatMap(({ name, operation, apiVersion, subresource, fields }) => {
    const part = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
    const version = operation === 'Update' ? ` using ${apiVersion}` : ''
    const owner = `${JSON.stringify(name)}${part}${version}`
    return fieldPaths(fields).map((field) => ({ with: owner, field }))
  })
  const [first] = causes
  const blocks = [...Map.groupBy(causes, (cause) => cause.with)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, own]) => [`conflicts with ${name}:`, ...own.map(({ field }) => `- ${field}`)])
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first?.with}: ${first?.field}`
      : `Apply failed with ${causes.length} conflicts: ${blocks.join('\n')}`
  return new Refusal(409, message, {
    details: {
      causes: causes.map((cause) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${cause.with}`,
        field: cause.field,
      })),
    },
  })
}

/** Merges an applied configuration into a value. */
function mergeApplied(live: unknown, applied: unknown, schema: KindSchema): unknown {
  if (Array.isArray(live) !== Array.isArray(applied)) return applied
  const old = partsOf(live, schema)
  const fresh = partsOf(applied, schema)
  if (old === undefined || fresh === undefined) return applied
  if (Array.isArray(live)) {
    return mergedOrder([...old.keys()], [...fresh.keys()]).map((name) => {
      const [one, other] = [old.get(name), fresh.get(name)]
      return other === undefined ? one?.value : mergeApplied(one?.value, other.value, other.schema)
    })
  }
  const members = new Map(Object.entries(fieldsOf(live)))
  for (const [name, part] of fresh) {
    members.set(name.slice(2), mergeApplied(old.get(name)?.value, part.value, part.schema))
  }
  return Object.fromEntries(members)
}

/** Removes fields from a value; `undefined` if nothing is left. A removed item takes all its fields with it. */
function withoutFields(value: unknown, fields: FieldSet, schema: KindSchema, path = ''): unknown {
  const parts = partsOf(value, schema)
  if (parts === undefined) return fields.has(path) ? undefined : value
  const kept = [...parts].flatMap(([name, part]): [string, unknown][] => {
    const at = stepOf(path, name)
    if (![...fields].some((field) => isWithin(field, at))) return [[name, part.value]]
    if (fields.has(at) && !name.startsWith('f:')) return []
    const left = withoutFields(part.value, fields, part.schema, at)
    return left === undefined ? [] : [[name, left]]
  })
  if (kept.length === 0 && parts.size > 0) return undefined
  return Array.isArray(value)
    ? kept.map(([, part]) => part)
    : Object.fromEntries(kept.map(([name, part]) => [name.slice(2), part]))
}
