/*
 * Sets owner references in copies of objects, as controller-runtime's `controllerutil` does: an object has at most one
 * controller, and any number of other owners.
 */

import { CodedError } from '../lib/coded-error.ts'
import { present } from '../lib/options.ts'
import { type KubernetesObject, objectKey, type OwnerReference } from './object.ts'

/** The owner cannot own the object, or another one controls it. */
export class OwnerError extends CodedError {
  constructor(code: 'OWNER_INVALID' | 'ALREADY_CONTROLLED', message: string, hint: string) {
    super(code, message, { hint })
  }
}

/** Options of {@link setControllerReference} and {@link setOwnerReference}. */
export interface OwnerReferenceOptions {
  /** Whether a foreground deletion of the owner waits for the object. Default: true. */
  readonly blockOwnerDeletion?: boolean
}

/** The reference to an object's controller, if any. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true)
}

/**
 * Returns a copy of the object with `owner` as its controller (controller-runtime's `SetControllerReference`). The
 * object is then deleted with its owner, and `enqueueOwner` finds the owner from events. Throws {@link OwnerError} if
 * the object has another controller, or the owner has no UID or is in another namespace.
 */
export function setControllerReference<const T extends KubernetesObject>(
  owner: KubernetesObject,
  object: T,
  options: OwnerReferenceOptions = {},
): T {
  const current = controllerOf(object)
  const { uid } = requireOwner(owner, object)
  if (current !== undefined && current.uid !== uid) {
    throw new OwnerError(
      'ALREADY_CONTROLLED',
      `${named(object)} is controlled by ${current.kind} ${current.name}`,
      'an object has at most one controller: adopt only objects without one',
    )
  }
  const { blockOwnerDeletion = true } = options
  return withReference(object, owner, { uid, controller: true, blockOwnerDeletion })
}

/** Like {@link setControllerReference}, for an owner that is not the controller: an object may have several owners. */
export function setOwnerReference<const T extends KubernetesObject>(
  owner: KubernetesObject,
  object: T,
  options: OwnerReferenceOptions = {},
): T {
  const { uid } = requireOwner(owner, object)
  const { blockOwnerDeletion } = options
  return withReference(object, owner, { uid, ...present({ blockOwnerDeletion }) })
}

function requireOwner(owner: KubernetesObject, object: KubernetesObject): { uid: string } {
  const { uid = '', namespace } = owner.metadata
  if (uid === '') {
    throw new OwnerError(
      'OWNER_INVALID',
      `${named(owner)} has no UID`,
      'create the owner first, and use the object that the server returns',
    )
  }
  if (namespace !== undefined && namespace !== '' && namespace !== object.metadata.namespace) {
    throw new OwnerError(
      'OWNER_INVALID',
      `${named(owner)} cannot own ${named(object)}: it is in another namespace`,
      'an owner is in the same namespace, or cluster-scoped',
    )
  }
  return { uid }
}

function withReference<T extends KubernetesObject>(
  object: T,
  { apiVersion, kind, metadata: { name } }: KubernetesObject,
  more: Omit<OwnerReference, 'apiVersion' | 'kind' | 'name'>,
): T {
  const reference = { apiVersion, kind, name, ...more }
  const references = object.metadata.ownerReferences ?? []
  const at = references.findIndex(({ uid }) => uid === reference.uid)
  const ownerReferences = at < 0 ? [...references, reference] : references.with(at, reference)
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

function named({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${objectKey(metadata)}`
}
