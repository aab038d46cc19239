/** Any JSON value as it stands on the wire. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object as it stands on the wire. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** `metadata.ownerReferences[*]`. Owners are matched by `uid`, never by name. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** `metadata` as it stands on the wire: times are RFC 3339 strings, absent fields are missing. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly generateName?: string
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
}

/**
 * What every object has, of whatever kind. Types of kinds extend it, a plain `interface` too. Objects are deeply read-only:
 * siblings in a store share structure, so a change to one would change others. To modify one, take its `mutableCopy`.
 */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** An object of which no more is known than that it is one: every further field may be there, as anything. */
export interface Unstructured extends KubernetesObject {
  readonly [field: string]: unknown
}

/** What an informer of metadata only holds of an object of type `T`. */
export type MetadataOf<T extends KubernetesObject = KubernetesObject> = Pick<
  T,
  'apiVersion' | 'kind' | 'metadata'
>

/** The annotation in which `kubectl apply` keeps the whole object a second time. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The key of an object in a store, client-go's `MetaNamespaceKeyFunc`: `namespace/name`, or `name`. */
export function objectKey(metadata: {
  readonly namespace?: string
  readonly name: string
}): string {
  const { namespace, name } = metadata
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** The two parts of an {@link objectKey}; the namespace is `''` for cluster-scoped objects. */
export function splitObjectKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  return slash < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** An object's resource version; `''` where it has none, or something else than a string. */
export function resourceVersionOf({ metadata }: KubernetesObject): string {
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : ''
}
