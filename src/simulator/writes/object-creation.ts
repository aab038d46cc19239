import { randomUUID } from 'node:crypto'
import type { Unstructured, ObjectMeta } from '../../kubernetes/object.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { ServedResource, StoredResource } from '../api/served-resource.ts'
import {
  alreadyExists,
  badRequest,
  detailsOf,
  notFound,
  Refusal,
  refuseInvalid,
} from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'
import { kindShape } from './field-shape.ts'
import { withOwners } from './managed-fields.ts'
import { generatedName, metadataProblems, serverMetadata } from '../schema/metadata-rules.ts'
import { checkRules, settledObject, type WriteOptions, type WriteTarget } from './write-target.ts'

/** The status of new objects, in place of their creator's. Default `{}`. */
const firstStatus: Readonly<Record<string, object>> = {
  pods: { phase: 'Pending', qosClass: 'BestEffort' },
  namespaces: { phase: 'Active' },
  persistentvolumes: { phase: 'Pending' },
  persistentvolumeclaims: { phase: 'Pending' },
  services: { loadBalancer: {} },
}

/** Creates an object, as POST does. Throws the refusals of a kube-apiserver. */
export function createObject(
  storage: Storage,
  { served, namespace }: Omit<WriteTarget, 'name'>,
  given: Unstructured,
  options: WriteOptions,
): Unstructured {
  const object = newObject(storage, { served, namespace }, given, options)
  const shape = kindShape(storage.registry.captured, served)
  const writer = { served, shape, manager: options.manager, subresource: '' }
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
  const metadata = newMetadata(given.metadata, namespace, served)
  if ((given.metadata.resourceVersion ?? '') !== '') {
    throw new Refusal(500, 'resourceVersion should not be set on objects to be created')
  }
  if (stored.namespaced) checkNamespace(storage, served, namespace, metadata.name)
  refuseInvalid({ ...served, name: metadata.name }, metadataProblems(metadata, stored))
  const object = withFirstStatus(stored, settledObject(served, { ...given, metadata }, options))
  checkRules(served, object, undefined, 'object')
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
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
  const found = storage.get(namespaces, '', namespace)
  if (found === undefined) throw notFound({ ...namespaces, name: namespace })
  if (found.metadata.deletionTimestamp === undefined) return
  const problem = `unable to create new content in namespace ${namespace} because it is being terminated`
  throw new Refusal(403, `${groupResourceOf(served)} "${name}" is forbidden: ${problem}`, {
    reason: 'Forbidden',
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
  const status = firstStatus[stored.groupResource] ?? {}
  const isNamespace = stored.groupResource === 'namespaces'
  const spec = isNamespace
    ? { spec: { ...(given['spec'] as object | undefined), finalizers: ['kubernetes'] } }
    : {}
  return { ...object, ...spec, status }
}
