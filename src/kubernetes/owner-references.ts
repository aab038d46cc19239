import { CodedError } from '../lib/coded-error.ts'
import { type KubernetesObject, objectKey, type OwnerReference } from './object.ts'

/** An object that cannot be owned by that owner, or is controlled by another one. */
export class OwnerError extends CodedError {
  constructor(code: 'OWNER_INVALID' | 'ALREADY_CONTROLLED', message: string, hint: string) {
    super(code, message, { hint })
  }
}

/** How an owner reference is set. */
export interface OwnerReferenceOptions {
  /** Whether a foreground deletion of the owner waits for the object. Default true. */
  readonly blockOwnerDeletion?: boolean
}

/** The reference of the controller that an object has; `undefined` where it has none. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true)
}

/**
 * The object with `owner` as its controller (controller-runtime's `SetControllerReference`): it is deleted with its
 * owner, and events of it can be led back there with `enqueueOwner`. Changes nothing, gives back a new object. Throws
 * {@link OwnerError} where the object has another controller, the owner has no UID, or is in another namespace.
 */
export function setControllerReference<T extends KubernetesObject>(
  owner: KubernetesObject,
  object: T,
  options: OwnerReferenceOptions = {},
): T {
  const present = controllerOf(object)
  const { uid } = requireOwner(owner, object)
  if (present !== undefined && present.uid !== uid) {
    throw new OwnerError(
      'ALREADY_CONTROLLED',
      `${named(object)} is controlled by ${present.kind} ${present.name}`,
      'an object has one controller at most: take over only what has none',
    )
  }
  return withReference(object, {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid,
    controller: true,
    blockOwnerDeletion: options.blockOwnerDeletion ?? true,
  })
}

/** As {@link setControllerReference}, without being its controller: an object may have several owners. */
export function setOwnerReference<T extends KubernetesObject>(
  owner: KubernetesObject,
  object: T,
  options: OwnerReferenceOptions = {},
): T {
  const { uid } = requireOwner(owner, object)
  const { blockOwnerDeletion } = options
  return withReference(object, {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid,
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  })
}

function requireOwner(owner: KubernetesObject, object: KubernetesObject): { uid: string } {
  const { uid = '', namespace } = owner.metadata
  if (uid === '') {
    throw new OwnerError(
      'OWNER_INVALID',
      `${named(owner)} has no UID`,
      'create the owner first, and use what the server answers',
    )
  }
  if (namespace !== undefined && namespace !== '' && namespace !== object.metadata.namespace) {
    throw new OwnerError(
      'OWNER_INVALID',
      `${named(owner)} cannot own ${named(object)}: it is in another namespace`,
      'an owner is in the namespace of what it owns, or in none',
    )
  }
  return { uid }
}

function withReference<T extends KubernetesObject>(object: T, reference: OwnerReference): T {
  const references = object.metadata.ownerReferences ?? []
  const at = references.findIndex(({ uid }) => uid === reference.uid)
  const ownerReferences = at < 0 ? [...references, reference] : references.with(at, reference)
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

function named({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${objectKey(metadata)}`
}
