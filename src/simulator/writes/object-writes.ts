import { isDeepStrictEqual } from 'node:util'
import type { Unstructured, ObjectMeta } from '../../kubernetes/object.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { converted } from '../storage/object-conversion.ts'
import { generatedName, nameProblem } from './object-name.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  notFound,
  Refusal,
} from '../api/status-refusal.ts'
import type { ServedResource, StoredResource } from '../api/served-resource.ts'
import type { Storage } from '../storage/storage.ts'
import { readObject } from '../storage/stored-object.ts'

/** The object, or the collection, that a write is about. */
export interface WriteTarget {
  readonly served: ServedResource
  /** `''` for cluster-scoped resources. */
  readonly namespace: string
  readonly name: string
}

export interface WriteOptions {
  readonly dryRun: boolean
}

/** The status that a new object has, whatever its creator says; `{}` for those that are not here. */
const firstStatus: Readonly<Record<string, object>> = {
  pods: { phase: 'Pending', qosClass: 'BestEffort' },
  namespaces: { phase: 'Active' },
  persistentvolumes: { phase: 'Pending' },
  persistentvolumeclaims: { phase: 'Pending' },
  services: { loadBalancer: {} },
}

/** The object as it is stored now, in the version that is asked for. Throws 404. */
export function currentObject(
  storage: Storage,
  { served, namespace, name }: WriteTarget,
): Unstructured {
  const found = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (found === undefined) throw notFound({ ...named(served), name })
  return converted(readObject(found, served.stored), served.apiVersion)
}

const named = ({ group, resource }: ServedResource): { group: string; resource: string } => ({
  group,
  resource,
})

/** What POST does. Throws what a kube-apiserver refuses. */
export function createObject(
  storage: Storage,
  { served, namespace }: Omit<WriteTarget, 'name'>,
  given: Unstructured,
  { dryRun }: WriteOptions,
): Unstructured {
  const { stored } = served
  const metadata = newMetadata(given.metadata, namespace, served)
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
    throw new Refusal(500, 'resourceVersion should not be set on objects to be created')
  }
  if (stored.namespaced) checkNamespace(storage, served, namespace, metadata.name)
  const problem = nameProblem(stored, metadata.name)
  if (problem !== undefined) {
    throw invalid({ group: served.group, kind: served.kind, name: metadata.name }, [problem])
  }
  const object = { ...given, ...firstState(stored, given), metadata }
  if (!dryRun) return storage.create(served, object)
  if (storage.store(stored).get(objectKey(metadata)) !== undefined) {
    throw alreadyExists({ ...named(served), name: metadata.name }, false)
  }
  return object
}

function newMetadata(given: ObjectMeta, namespace: string, served: ServedResource): ObjectMeta {
  const { uid: _uid, creationTimestamp: _created, generation: _generation, ...rest } = given
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
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
  const found = storage.get(namespaces, '', namespace)
  if (found === undefined) throw notFound({ ...namespaces, name: namespace })
  if (found.metadata.deletionTimestamp === undefined) return
  const problem = `unable to create new content in namespace ${namespace} because it is being terminated`
  const what = served.group === '' ? served.resource : `${served.resource}.${served.group}`
  throw new Refusal(403, `${what} "${name}" is forbidden: ${problem}`, {
    reason: 'Forbidden',
    details: {
      name,
      ...(served.group === '' ? {} : { group: served.group }),
      kind: served.resource,
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

function firstState(stored: StoredResource, given: Unstructured): object {
  if (!stored.statusApart || stored.groupResource === 'nodes') return {}
  const status = stored.custom ? undefined : (firstStatus[stored.groupResource] ?? {})
  const spec = given['spec'] as object | undefined
  return stored.groupResource === 'namespaces'
    ? { spec: { ...spec, finalizers: ['kubernetes'] }, status }
    : { status }
}

/** What PUT does, and PATCH once the patch is applied. Throws what a kube-apiserver refuses. */
export function updateObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  { dryRun, subresource }: WriteOptions & { readonly subresource: string },
): Unstructured {
  const { served, namespace, name } = target
  const { metadata } = given
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
  const current = currentObject(storage, target)
  checkPreconditions(target, given.metadata, current.metadata)
  const next = nextObject(served.stored, current, given, subresource)
  checkFinalizers(served, current.metadata, next.metadata)
  const resourceVersion = current.metadata.resourceVersion ?? ''
  const same = isDeepStrictEqual(next, {
    ...current,
    metadata: { ...current.metadata, resourceVersion },
  })
  if (same || dryRun) return next
  if (
    next.metadata.deletionTimestamp !== undefined &&
    (next.metadata.finalizers ?? []).length === 0
  ) {
    storage.delete(served, namespace, name)
    return next
  }
  return storage.update(served, next)
}

function checkPreconditions(
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
const serversOwn = [
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

/** The object that a write makes of the current one, before it has a new resource version. */
function nextObject(
  stored: StoredResource,
  current: Unstructured,
  given: Unstructured,
  subresource: string,
): Unstructured {
  const kept = Object.fromEntries(
    Object.entries(current.metadata).filter(([field]) =>
      (serversOwn as readonly string[]).includes(field),
    ),
  )
  const own = Object.fromEntries(
    Object.entries(given.metadata).filter(
      ([field]) => !(serversOwn as readonly string[]).includes(field),
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
  const status = stored.statusApart ? current['status'] : given['status']
  const next = {
    ...desired,
    ...(status === undefined ? {} : { status }),
    metadata,
  } as Unstructured
  if (!stored.counted || isDeepStrictEqual(contentOf(next), contentOf(current))) return next
  return { ...next, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } }
}

function contentOf({ metadata: _metadata, status: _status, ...content }: Unstructured): object {
  return content
}

function checkFinalizers(served: ServedResource, current: ObjectMeta, next: ObjectMeta): void {
  if (current.deletionTimestamp === undefined) return
  const added = (next.finalizers ?? []).filter((one) => !(current.finalizers ?? []).includes(one))
  if (added.length === 0) return
  const list = added.map((one) => JSON.stringify(one)).join(', ')
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  throw invalid({ group: served.group, kind: served.kind, name: next.name }, [
    { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' },
  ])
}
