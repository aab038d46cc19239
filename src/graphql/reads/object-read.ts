/*
 * Finds single objects by key, UID, `id` or reference, and by the representations of Apollo Federation (`_entities`). Each
 * costs a row. Kinds without a cache are read from the API server. An object that the viewer may not look up counts as absent,
 * whether or not it exists. A relation that names such an object reports it beside the answer (`Refused`), with one error for
 * all objects of the kind.
 */

import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { hasKey } from '../../query/condition/condition.ts'
import { objectByKey, objectByUid, sameObject } from '../../query/page/list-part.ts'
import { mayBeMirrored, mirrored, mirroredUidOf } from '../../query/relation/events-relation.ts'
import { decodeObjectId, objectIdOf, type ObjectIdentity } from '../model/object-id.ts'
import {
  type ClusterKind,
  type FoundObject,
  type KindView,
  clusterNamed,
} from '../prepare/kind-view.ts'
import { leftOut, type ServedSchema } from '../served/served-schema.ts'
import type { KindLookupArguments, ObjectByRefArguments } from '../schema/gateway-types.ts'
import { ObjectRef } from '../schema/object-ref.ts'
import { ofAnotherKind } from '../schema/protocol-fields.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import { forbidden } from '../prepare/read-failures.ts'
import type { ObjectPlace } from './direct/direct-tables.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { isRecord } from '../../lib/json.ts'

/** The kind that an `id` or a reference names; `undefined` if it is not served. Throws the `ClientError` of a cluster that the request leaves out. */
export function kindOfIdentity(
  served: ServedSchema,
  { cluster, group, kind: name }: Pick<ObjectIdentity, 'cluster' | 'group' | 'kind'>,
): ClusterKind | undefined {
  const isHere = served.clusters.has(cluster)
  if (!isHere && served.whole?.has(cluster) === true) throw leftOut(cluster)
  const kind = served.kindOf(group, name)
  return kind !== undefined && isHere ? { cluster, kind } : undefined
}

/**
 * Decodes an `id`. Returns `undefined` if the server does not serve its kind. Throws `ObjectIdError`, and `ArgumentError`
 * for an `id` of another type than `typeName`.
 */
export function identityAt(
  served: ServedSchema,
  id: string,
  typeName?: string,
): { readonly identity: ObjectIdentity; readonly at: ClusterKind } | undefined {
  const identity = decodeObjectId(id)
  const { group, kind } = identity
  if (typeName !== undefined && served.kindOf(group, kind)?.typeName !== typeName) {
    throw ofAnotherKind(id, typeName)
  }
  const at = kindOfIdentity(served, identity)
  return at && { identity, at }
}

export function objectByRefAt(
  served: ServedSchema,
  args: ObjectByRefArguments,
): { readonly at: ClusterKind; readonly key: string } {
  const { kind, cluster, ...object } = resolveObjectRef(served, args)
  return { at: { cluster: clusterNamed(served, cluster), kind }, key: objectKey(object) }
}

/** The object with a key, at the price of a row. `isDirect`: reads it from the API server, as for kinds without a cache. */
export function foundByKey(
  run: ReadRun,
  at: ClusterKind,
  key: string,
  isDirect = false,
): FoundObject | undefined {
  run.budget.spend('rows', 1)
  if (isDirect || at.kind.uncached) return run.direct.object(at, placeOfKey(key), run.budget)
  follow(run, at, key)
  const part = run.late(() => run.parts.forLookup(at, [key]))
  const id = part && objectByKey({ ...part, budget: run.budget }, key)
  return part === undefined || id === undefined ? undefined : { part, id }
}

/** Whether the viewer may not look up the object with a key, whether or not it exists. */
export function isRefused(run: ReadRun, at: ClusterKind, key: string): boolean {
  if (at.kind.uncached) return run.direct.isRefused(at, placeOfKey(key))
  return run.late(() => run.parts.forLookup(at, [key])) === undefined
}

/** A value about one version of an object. Plans may keep the text of members that depend on nothing else. */
export abstract class OfObject {
  readonly about: FoundObject

  constructor(about: FoundObject) {
    this.about = about
  }
}

/**
 * Receives the error of an object that a row names and the viewer may not get, whether or not it exists. All objects of a
 * kind share one error in a run.
 */
export type Refused<R extends ReadRun> = (run: R, error: ClientError) => void

const refusals = new OncePerRun<ClientError>()

export function tellIfRefused<R extends ReadRun>(
  run: R,
  at: ClusterKind,
  key: string,
  refused: Refused<R>,
): void {
  if (isRefused(run, at, key)) refused(run, refusalOf(run, at))
}

export function refusalOf(run: ReadRun, at: ClusterKind): ClientError {
  const { cluster, kind } = at
  return refusals.of(run, `${cluster}/${kind.typeName}`, () => forbidden(at, 'get'))
}

/** The object with a UID, at the price of a row. `key`: the key that the reference gives. */
export function foundByUid(
  run: ReadRun,
  at: ClusterKind,
  uid: string,
  key?: string,
): FoundObject | undefined {
  run.budget.spend('rows', 1)
  if (at.kind.uncached) {
    if (key === undefined) {
      // Kinds without a cache have no index of UIDs.
      const { typeName: type, lookupField } = at.kind
      const message = `id: ${type} is read live, and the API server cannot find an object by its UID`
      const hint = `use ${lookupField} with the name of the object`
      const { cluster } = at
      throw new ClientError('UNSUPPORTED', message, { argument: 'id', cluster, type, hint })
    }
    const read = run.direct.object(at, placeOfKey(key), run.budget)
    // An object with the same name and another UID is another object.
    return read?.part.view.uidOf(read.id) === uid ? read : undefined
  }
  if (key !== undefined) follow(run, at, key)
  const place = key === undefined && mayBeStatic(at.kind, uid) ? { ...at, indexes: byMirror } : at
  const part = run.late(() => run.parts.forLookup(place, key === undefined ? undefined : [key]))
  if (part === undefined) return undefined
  const { view } = part
  const options = { ...part, budget: run.budget }
  let id = objectByUid(options, uid)
  if (id === undefined && mayBeMirrored(view.resource)) {
    // Finds the mirror pod of a static pod by the UID that the kubelet gives the static pod: see `mirroredUidOf`.
    if (key === undefined) {
      const [mirror] = mayBeStatic(at.kind, uid) ? (view.index(mirrored).posting(uid) ?? []) : []
      if (mirror !== undefined) id = objectByKey(options, view.keyOf(mirror))
    } else {
      id = objectByKey(options, key)
      if (id !== undefined) {
        run.budget.spend('rows', 1)
        if (mirroredUidOf(view.object(id)) !== uid) id = undefined
      }
    }
  }
  if (id === undefined) return undefined
  const found = view.keyOf(id)
  if (found !== key) follow(run, at, found)
  return { part, id }
}

const byMirror = { needed: [mirrored] }

/** Whether a static pod may have this UID, which is no UUID: the kubelet hashes the pod's configuration. */
function mayBeStatic({ resource, events }: Kind, uid: string): boolean {
  return events !== undefined && mayBeMirrored(resource) && !uid.includes('-')
}

function placeOfKey(key: string): ObjectPlace {
  const { namespace, name } = splitObjectKey(key)
  return namespace === '' ? { name } : { namespace, name }
}

/**
 * The cached object that relations of a found object start from: itself, unless it was read directly. `undefined` if the
 * object is gone; a later object of its name is another object.
 */
export function originOf(run: ReadRun, found: FoundObject): FoundObject | undefined {
  const { part, id } = found
  if (!part.isDirect) return found
  const { cluster, kind, view } = part
  const key = view.keyOf(id)
  const cached = run.parts.forLookup({ cluster, kind }, [key])
  const origin = cached && sameObject(cached.view, view.uidOf(id), key)
  return cached === undefined || origin === undefined ? undefined : { part: cached, id: origin }
}

function follow(run: ReadRun, { kind }: ClusterKind, key: string): void {
  run.followed?.({ reads: [kind], condition: hasKey([key]), isSaid: true })
}

/**
 * The object with an `id`; `undefined` if it is gone or hidden. Throws the error of {@link madeAnew} if another one has
 * its name now. `argument`: where the `id` stands.
 */
export function identified(
  run: ReadRun,
  at: ClusterKind,
  identity: ObjectIdentity,
  argument = 'id',
): FoundObject | undefined {
  const { object } = identity
  if (!('uid' in object)) return foundByKey(run, at, objectKey(object))
  const found = foundByUid(run, at, object.uid)
  const anew =
    found ??
    madeAnew(run.served, identity, { at, argument, find: (key) => foundByKey(run, at, key) })
  if (anew instanceof ClientError) throw anew
  return anew
}

/** Where a gone object was, which argument names it, and how to find the object that has its key now. */
interface GonePlace {
  readonly at: ClusterKind
  readonly argument: string
  readonly find: (key: string) => FoundObject | undefined
}

/**
 * The error of an `id` whose object was deleted and made anew under its name, with the `id` of the new one as `successor`.
 * `undefined` if that is not known, or if the viewer may not look up the new one.
 */
function madeAnew(
  { clusters }: ServedSchema,
  { object }: ObjectIdentity,
  { at, argument, find }: GonePlace,
): ClientError | undefined {
  if (!('uid' in object)) return undefined
  const { cluster, kind } = at
  const key = clusters.get(cluster)?.keyOfDeleted(kind.resource, object.uid)
  const found = key === undefined ? undefined : find(key)
  if (key === undefined || found === undefined) return undefined
  const { part, id } = found
  const successor = objectIdOf(at, { key, uid: part.view.uidOf(id) })
  const message = `${argument}: this ${kind.typeName} is gone, and another ${key} was made in its place`
  const hint = 'read the successor, or use an id by name'
  const facts = { successor }
  const type = kind.typeName
  return new ClientError('NOT_FOUND', message, { argument, cluster, type, hint, facts })
}

/** The same object in a part of its kind: its number, the error if it was made anew, or `undefined`. */
export function identifiedIn(
  served: ServedSchema,
  part: KindView,
  budget: WorkBudget,
  [argument, identity]: NamedIdentity,
): ObjectId | ClientError | undefined {
  const options = { ...part, budget }
  const { object } = identity
  if (!('uid' in object)) return objectByKey(options, objectKey(object))
  const find = (key: string): FoundObject | undefined => {
    const id = objectByKey(options, key)
    return id === undefined ? undefined : { part, id }
  }
  return (
    objectByUid(options, object.uid) ?? madeAnew(served, identity, { at: part, argument, find })
  )
}

/** An identity, and the argument that names it: `ids[3]`. */
export type NamedIdentity = readonly [argument: string, identity: ObjectIdentity]

const testsPerReference = 25

/** The object that a reference names; `undefined` if it is absent or hidden, or its kind is not served. */
export function referenced<R extends ReadRun>(
  run: R,
  ref: ObjectRef,
  refused?: Refused<R>,
): FoundObject | undefined {
  const at = kindOfIdentity(run.served, ref)
  if (at === undefined) return undefined
  run.budget.spend('tests', testsPerReference)
  const { namespace, name, uid } = ref
  const key = objectKey({ namespace: namespace ?? '', name })
  const found = uid === null ? foundByKey(run, at, key) : foundByUid(run, at, uid, key)
  if (found === undefined && refused !== undefined) tellIfRefused(run, at, key, refused)
  return found
}

/** A reference to a found object, read from its store without decoding it. */
export function refOf({ part, id }: FoundObject): ObjectRef {
  const { cluster, kind, view } = part
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const uid = view.uidOf(id)
  return new ObjectRef({
    cluster,
    group: kind.resource.group,
    apiVersion: kind.apiVersion,
    kind: kind.resource.kind,
    namespace: namespace === '' ? null : namespace,
    name,
    uid: uid === '' ? null : uid,
  })
}

/** Resolves a reference from the arguments. Throws `ClientError`, which names the argument. */
export function resolveObjectRef(
  served: ServedSchema,
  { apiVersion, kind: name, ...args }: ObjectByRefArguments,
): KindLookupArguments & { readonly kind: Kind } {
  const cluster = clusterNamed(served, args.cluster)
  const kind = served.kindOf(splitApiVersion(apiVersion).group, name)
  if (kind === undefined) {
    throw new ClientError('BAD_USER_INPUT', `kind: there is no ${name} of ${apiVersion}`, {
      argument: 'kind',
      value: name,
      hint: 'name an apiVersion and kind as objects have them',
    })
  }
  const { namespaced } = kind.resource
  const namespace = args.namespace ?? ''
  if (namespaced && namespace === '') {
    throw new ClientError('BAD_USER_INPUT', `namespace: ${name} lives in namespaces`, {
      argument: 'namespace',
      value: args.namespace,
      hint: 'name the namespace',
    })
  }
  return { kind, cluster, name: args.name, ...(namespaced ? { namespace } : {}) }
}

export interface Entity {
  readonly at: ClusterKind
  /**
   * The object, at the price of a look-up. By key, throws FORBIDDEN if the caller may not look it up, whether or not it
   * exists, as a relation does. An `id` has no name to review, so a hidden object is `undefined`, as in `object(id:)`.
   */
  find(run: ReadRun): FoundObject | undefined
}

/** The type of an entity of any kind, which other subgraphs extend as an interface object. */
const anyKind = 'KubernetesObject'

/**
 * Reads a representation: `__typename`, and the fields of one key. `id` wins, since it names one object forever. Returns
 * `undefined` for an `id` of a kind or cluster that is no longer served. Throws `ClientError` and `ObjectIdError`.
 */
export function entityOf(served: ServedSchema, representation: unknown): Entity | undefined {
  if (!isRecord(representation)) {
    throw badKey('is not an object with __typename and the fields of a key', representation)
  }
  const { __typename: typeName, id } = representation
  const kind = typeof typeName === 'string' ? served.kinds.get(typeName) : undefined
  if (kind === undefined && typeName !== anyKind) {
    throw badKey('names no type of this subgraph', typeName, 'compose the supergraph anew')
  }
  if (id !== undefined) {
    if (typeof id !== 'string') throw badKey('has an id that is not a string', id)
    const identity = decodeObjectId(id)
    const at = kindOfIdentity(served, identity)
    if (at === undefined) return undefined
    if (kind !== undefined && at.kind !== kind) throw ofAnotherKind(id, kind.typeName)
    return { at, find: (run) => identified(run, at, identity, 'representations') }
  }
  const { clusterName, namespace, name } = representation
  if (kind === undefined || typeof clusterName !== 'string' || typeof name !== 'string') {
    throw badKey('has the fields of no key', Object.keys(representation))
  }
  const { namespaced } = kind.resource
  if (namespaced && (typeof namespace !== 'string' || namespace === '')) {
    throw badKey(`lacks the namespace, and ${kind.typeName} lives in namespaces`, namespace)
  }
  const at = { cluster: clusterNamed(served, clusterName), kind }
  const key = objectKey(namespaced ? { namespace: String(namespace), name } : { name })
  return {
    at,
    find(run) {
      const found = foundByKey(run, at, key)
      if (found === undefined && isRefused(run, at, key)) throw refusalOf(run, at)
      return found
    },
  }
}

function badKey(problem: string, value: unknown, hint?: string): ClientError {
  return new ClientError('BAD_USER_INPUT', `representations: one ${problem}`, {
    argument: 'representations',
    value,
    hint: hint ?? 'send __typename with id, or with clusterName, namespace and name',
  })
}

/** Bounds the errors here: making an error takes longer than finding an object. */
const maxWrong = 20

/**
 * The kinds of representations, each in its cluster. Skips wrong representations, and stops after some of them: the field
 * reports them.
 */
export function entityPlaces(
  served: ServedSchema,
  representations: readonly unknown[],
): readonly ClusterKind[] {
  const places: ClusterKind[] = []
  let wrong = 0
  for (const one of representations) {
    try {
      const at = entityOf(served, one)?.at
      if (at !== undefined) places.push(at)
    } catch {
      wrong += 1
      if (wrong >= maxWrong) break
    }
  }
  return places
}
