/*
 * The owners of objects with problems: the chain up to the topmost owner, as one viewer may see it. Each object of a fold is one
 * instance, however many objects lead to it. `ownersIn` remembers the owners of a store from one read to the next.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type OwnerReference, splitObjectKey } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isInScope } from '../condition/scope.ts'
import { holds, placeKey, type ProblemPart, type ProblemPlace } from './problem-part.ts'

/** An object with its owners: the same instance, however many objects lead to it. */
export interface OwnedObject<P extends ProblemPart> {
  readonly place: { readonly form: 'object'; readonly part: P; readonly id: ObjectId }
  /** The nearest owner that is an object. */
  readonly owner: OwnedObject<P> | undefined
  /** The topmost owner, or the object itself. */
  readonly root: ProblemPlace<P>
  readonly rootKey: string
  /** The highest of the object and its owners that says how many pods it wants. */
  readonly workload: ProblemPlace<P> | undefined
  /** The last fold that found a problem of the object, or of something that it owns. */
  affectedIn: object | undefined
  /** The last fold that found a problem of something that it owns. */
  explainedIn: object | undefined
}

/** The owners that are objects, the nearest first. */
export function ownersOf<P extends ProblemPart>(object: OwnedObject<P>): readonly OwnedObject<P>[] {
  const all: OwnedObject<P>[] = []
  for (let { owner } = object; owner !== undefined; { owner } = owner) all.push(owner)
  return all
}

/** The kinds that say how many pods they want and have. */
const workloads: ReadonlySet<string> = new Set([
  '/ReplicationController',
  'apps/DaemonSet',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
])

function isWorkload({ view: { resource } }: ProblemPart): boolean {
  return workloads.has(`${resource.group}/${resource.kind}`)
}

export type ReadOwners<P> = (part: P, id: ObjectId) => readonly OwnerReference[]

interface FoundOwner<P extends ProblemPart> {
  readonly part: P
  readonly known: KnownOwner
}

/** Longer chains are cut, as `ownerChain` cuts them. */
const maxChain = 16

/**
 * Finds owners as `ownerChain` does: at each step the controller, or the first owner. Follows only owners that the viewer may
 * list, of the kinds that are looked at. The Node that a static pod names as its owner does not count: it only runs the pod.
 */
export class ProblemOwners<P extends ProblemPart> {
  readonly #parts: readonly P[]
  readonly #readOwners: ReadOwners<P>
  readonly #known = new Map<P, Map<ObjectId, OwnedObject<P>>>()
  readonly #ownersIn = new Map<P, ReturnType<typeof ownersIn>>()
  /** UIDs that no part has. */
  readonly #unknown = new Set<string>()
  /** The part of the last owner, by the part of the object: the next owner is most often in the same part. */
  readonly #lastOwners = new Map<P, P>()

  constructor(parts: readonly P[], readOwners: ReadOwners<P>) {
    this.#parts = parts
    this.#readOwners = readOwners
  }

  partOf(group: string, kind: string): P | undefined {
    return this.#parts.find((part) => holds(part, group, kind))
  }

  /** `depth`: the steps that led here. `uids`: the UIDs of the owners, if they are known. */
  of(part: P, id: ObjectId, depth = 0, uids?: readonly string[]): OwnedObject<P> {
    const known = getOrInsert(this.#known, part, () => new Map())
    return getOrInsert(known, id, () => {
      const place = { form: 'object', part, id } as const
      const above = depth < maxChain ? this.#ownerOf(part, id, depth, uids) : undefined
      const isObject = above !== undefined && !('form' in above)
      const root = isObject ? above.root : (above ?? place)
      return {
        place,
        owner: isObject ? above : undefined,
        root,
        rootKey: isObject ? above.rootKey : placeKey(root),
        workload: (isObject ? above.workload : undefined) ?? (isWorkload(part) ? place : undefined),
        affectedIn: undefined,
        explainedIn: undefined,
      }
    })
  }

  /** The nearest owner: an object, or a reference where the chain ends. `undefined` for a topmost object. */
  #ownerOf(
    part: P,
    id: ObjectId,
    depth: number,
    uids = part.view.index('ownerUid').valuesOf(id),
  ): OwnedObject<P> | Extract<ProblemPlace<P>, { form: 'reference' }> | undefined {
    const [only] = uids
    if (only === undefined) return undefined
    // Most objects have one owner, which is found without reading the object.
    if (uids.length === 1) {
      const found = this.#visible(only, part)
      if (found !== undefined) return this.#followed(found, depth)
    }
    const references = this.#readOwners(part, id)
    const nearest = references.find(({ controller }) => controller === true) ?? references[0]
    if (nearest === undefined) return undefined
    const found = uids.length === 1 ? undefined : this.#visible(nearest.uid, part)
    if (found !== undefined) return this.#followed(found, depth)
    if (nearest.apiVersion === 'v1' && nearest.kind === 'Node') return undefined
    const { namespace } = splitObjectKey(part.view.keyOf(id))
    const { apiVersion, kind, name, uid } = nearest
    return { form: 'reference', to: { apiVersion, kind, name, uid }, namespace }
  }

  #followed({ part, known }: FoundOwner<P>, depth: number): OwnedObject<P> | undefined {
    const { id, ownerUids } = known
    return holds(part, '', 'Node') ? undefined : this.of(part, id, depth + 1, ownerUids)
  }

  /** The object with a UID, if the viewer may list it. `of`: the part that its child is in. */
  #visible(uid: string, of: P): FoundOwner<P> | undefined {
    const last = this.#lastOwners.get(of)
    let found = last === undefined ? undefined : this.#findIn(last, uid)
    if (found === undefined && !this.#unknown.has(uid)) {
      for (const part of this.#parts) {
        found = this.#findIn(part, uid)
        if (found !== undefined) break
      }
      if (found === undefined) this.#unknown.add(uid)
      else this.#lastOwners.set(of, found.part)
    }
    if (found === undefined) return undefined
    const { part, known } = found
    return isInScope(part.scope, part.view.keyOf(known.id)) ? found : undefined
  }

  #findIn(part: P, uid: string): FoundOwner<P> | undefined {
    const find = getOrInsert(this.#ownersIn, part, () => ownersIn(part.view))
    const known = find(uid)
    return known && { part, known }
  }
}

interface KnownOwner {
  readonly id: ObjectId
  /** The UIDs of its own owners. */
  readonly ownerUids: readonly string[]
}

interface Remembered {
  readonly uids: IndexView
  readonly ownerUids: IndexView
  readonly revision: number
  readonly owners: Map<string, KnownOwner>
}

const remembered = new WeakMap<StoreView, Remembered>()

/**
 * Finds objects of a store by UID, within one tick. Remembers them until an object comes, goes, or changes its owners, which
 * is rare among Deployments and ReplicaSets: every query seeks the same few of them, and in a large index each search waits
 * for memory several times.
 */
function ownersIn(view: StoreView): (uid: string) => KnownOwner | undefined {
  const uids = view.index('uid')
  const ownerUids = view.index('ownerUid')
  const revision = uids.revision + ownerUids.revision
  let known = remembered.get(view)
  if (known?.uids !== uids || known.ownerUids !== ownerUids || known.revision !== revision) {
    known = { uids, ownerUids, revision, owners: new Map() }
    remembered.set(view, known)
  }
  const { owners } = known
  return (uid) => {
    let owner = owners.get(uid)
    if (owner === undefined) {
      const id = view.idOfUid(uid)
      if (id === undefined) return undefined
      owners.set(uid, (owner = { id, ownerUids: ownerUids.valuesOf(id) }))
    }
    return owner
  }
}
