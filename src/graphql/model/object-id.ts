/*
 * The opaque `id` of an object: base64url of a version, cluster, group, kind and UID. An object has the same id in every
 * version of its API. A recreated object has another id, since it has another UID. The id is no secret and has no
 * signature: access is checked at each read.
 *
 * Wherever an id is read, an id by name stands as well: `CLUSTER/KIND.GROUP/NAMESPACE/NAME`, which clients can write
 * themselves. It means the object that has the name at the time. base64url has no slash, so the forms cannot be confused.
 *
 * An object in a past state has an id of its own: that of the object, `@`, and the time or the resource version of the state. A
 * cache that normalises by `id` never takes it for the present object. Look-ups of single objects read it, and nothing else.
 */

import { splitObjectKey } from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { Kind } from './kind.ts'

export interface ObjectIdentity {
  readonly cluster: string
  readonly group: string
  readonly kind: string
  /** The UID. For an object without one, its namespace (`''` for cluster-scoped kinds) and name. */
  readonly object: { readonly uid: string } | { readonly namespace: string; readonly name: string }
}

/** A text that is not an `id` of this gateway. */
export class ObjectIdError extends CodedError {
  constructor(id: string) {
    const past = readPastId(id)
    const [what, hint] =
      past === undefined
        ? [
            'is not the id of an object',
            'use an id from an answer, or CLUSTER/KIND.GROUP/NAMESPACE/NAME, such as prod/Deployment.apps/shop/web',
          ]
        : [
            'is the id of an object as it was, which only object(id:) and objects(ids:) read',
            `the id of the object itself is ${past.id}`,
          ]
    super('BAD_USER_INPUT', `${JSON.stringify(id)} ${what}`, { value: id, hint })
  }
}

/** Where an object stands in the past: a time (ISO 8601), or a resource version. */
export interface PastMoment {
  readonly at?: string
  readonly atVersion?: string
}

const beginOfTime = /^\d{4}-\d\d-\d\dT/

export function pastIdOf(id: string, { at, atVersion = '' }: PastMoment): string {
  return `${id}@${at ?? atVersion}`
}

/** Reads the `id` of an object in a past state; `undefined` for any other text. */
export function readPastId(id: string): ({ readonly id: string } & PastMoment) | undefined {
  const end = id.indexOf('@')
  if (end < 0 || id.includes('/')) return undefined
  const moment = id.slice(end + 1)
  const when = beginOfTime.test(moment) ? { at: moment } : { atVersion: moment }
  return { id: id.slice(0, end), ...when }
}

const version = '1'
/** Names of Kubernetes cannot contain it, and sensible names of clusters do not. */
const separator = '\0'

export function encodeObjectId({ cluster, group, kind, object }: ObjectIdentity): string {
  const last = 'uid' in object ? object.uid : `${object.namespace}${separator}${object.name}`
  const text = `${version}${separator}${cluster}${separator}${group}${separator}${kind}${separator}${last}`
  return Buffer.from(text).toString('base64url')
}

export function objectIdOf(
  { cluster, kind }: { readonly cluster: string; readonly kind: Kind },
  { key, uid }: { readonly key: string; readonly uid: string },
): string {
  const { group, kind: name } = kind.resource
  const object = uid === '' ? splitObjectKey(key) : { uid }
  return encodeObjectId({ cluster, group, kind: name, object })
}

/** The id by name of an object: `prod/Pod/shop/web-0`, `prod/Deployment.apps/shop/web`, `prod/Node//worker`. */
export function nameIdOf({
  cluster,
  group,
  kind,
  namespace,
  name,
}: {
  readonly cluster: string
  readonly group: string
  readonly kind: string
  readonly namespace: string | null | undefined
  readonly name: string
}): string {
  return `${cluster}/${group === '' ? kind : `${kind}.${group}`}/${namespace ?? ''}/${name}`
}

/** The name of a cluster may have slashes; names of Kubernetes have none, and its kinds have no dots. */
const byName =
  /^(?<cluster>.+)\/(?<kind>[^/.]+)(?:\.(?<group>[^/]+))?\/(?<namespace>[^/]*)\/(?<name>[^/]+)$/s

function readNameId(id: string): ObjectIdentity | undefined {
  const { cluster, kind, group = '', namespace = '', name } = byName.exec(id)?.groups ?? {}
  if (cluster === undefined || kind === undefined || name === undefined) return undefined
  return { cluster, group, kind, object: { namespace, name } }
}

/** Reads an `id`. Throws {@link ObjectIdError}. */
export function decodeObjectId(id: string): ObjectIdentity {
  const identity = readObjectId(id)
  if (identity === undefined) throw new ObjectIdError(id)
  return identity
}

/** Reads an `id`; `undefined` if the text is not one. */
export function readObjectId(id: string): ObjectIdentity | undefined {
  if (id.includes('/')) return readNameId(id)
  const text = Buffer.from(id, 'base64url').toString()
  if (Buffer.from(text).toString('base64url') !== id) return undefined
  const [found, cluster, group, kind, first, second, ...rest] = text.split(separator)
  if (found !== version || cluster === undefined || group === undefined) return undefined
  if (!kind || first === undefined || rest.length > 0) return undefined
  if (second === undefined)
    return first ? { cluster, group, kind, object: { uid: first } } : undefined
  return second ? { cluster, group, kind, object: { namespace: first, name: second } } : undefined
}
