import type { ObjectId } from '../../informer/store/store-view.ts'
import type { OwnerReference } from '../../kubernetes/object.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { isInScope } from '../condition/scope.ts'
import { holds, type ProblemPart, type ProblemPlace } from './problem-part.ts'

/** An object among its owners: the same instance however many objects lead to it. */
export interface OwnedObject<P extends ProblemPart> {
  readonly place: { readonly form: 'object'; readonly part: P; readonly id: ObjectId }
  /** The nearest owner: an object, or a reference where the chain ends. Absent for a topmost object. */
  readonly owner: OwnedObject<P> | Extract<ProblemPlace<P>, { form: 'reference' }> | undefined
}

/** Reads the owner references of an object. */
export type ReadOwners<P> = (part: P, id: ObjectId) => readonly OwnerReference[]

/** Longer chains are cut, as those of `ownerChain`. */
const maxChain = 16

/**
 * Finds owners as `ownerChain` does: at each step the controller, or the first owner. Follows only owners that the
 * viewer may list, of the kinds that are looked at. The Node that a static pod names as its owner does not count: it only
 * runs the pod.
 */
export class ProblemOwners<P extends ProblemPart> {
  readonly #parts: readonly P[]
  readonly #byKind = new Map<string, P>()
  readonly #readOwners: ReadOwners<P>
  readonly #known = new Map<P, Map<ObjectId, OwnedObject<P>>>()
  readonly #byUid = new Map<string, Omit<OwnedObject<P>['place'], 'form'> | undefined>()

  constructor(parts: readonly P[], readOwners: ReadOwners<P>) {
    this.#parts = parts
    this.#readOwners = readOwners
    for (const part of parts) {
      const { group, kind } = part.view.resource
      this.#byKind.set(`${group}/${kind}`, part)
    }
  }

  /** The part of a kind. */
  partOf(group: string, kind: string): P | undefined {
    return this.#byKind.get(`${group}/${kind}`)
  }

  of(part: P, id: ObjectId, depth = 0): OwnedObject<P> {
    let known = this.#known.get(part)
    if (known === undefined) this.#known.set(part, (known = new Map()))
    let found = known.get(id)
    if (found === undefined) {
      const owner = depth < maxChain ? this.#ownerOf(part, id, depth) : undefined
      known.set(id, (found = { place: { form: 'object', part, id }, owner }))
    }
    return found
  }

  #ownerOf(part: P, id: ObjectId, depth: number): OwnedObject<P>['owner'] {
    const uids = part.view.index('ownerUid').valuesOf(id)
    const [only] = uids
    if (only === undefined) return undefined
    // Most objects have one owner, which is found without reading the object.
    if (uids.length === 1) {
      const found = this.#visible(only)
      if (found !== undefined) return this.#followed(found, depth)
    }
    const references = this.#readOwners(part, id)
    const nearest = references.find(({ controller }) => controller === true) ?? references[0]
    if (nearest === undefined) return undefined
    const found = uids.length === 1 ? undefined : this.#visible(nearest.uid)
    if (found !== undefined) return this.#followed(found, depth)
    if (nearest.apiVersion === 'v1' && nearest.kind === 'Node') return undefined
    const { namespace } = splitObjectKey(part.view.keyOf(id))
    const { apiVersion, kind, name, uid } = nearest
    return { form: 'reference', to: { apiVersion, kind, name, uid }, namespace }
  }

  #followed(
    { part, id }: Omit<OwnedObject<P>['place'], 'form'>,
    depth: number,
  ): OwnedObject<P> | undefined {
    return holds(part, '', 'Node') ? undefined : this.of(part, id, depth + 1)
  }

  /** The object with a UID, if the viewer may list it. */
  #visible(uid: string): Omit<OwnedObject<P>['place'], 'form'> | undefined {
    const known = this.#byUid.get(uid)
    if (known !== undefined || this.#byUid.has(uid)) return known
    let found: Omit<OwnedObject<P>['place'], 'form'> | undefined
    for (const part of this.#parts) {
      const id = part.view.idOfUid(uid)
      if (id === undefined) continue
      if (isInScope(part.scope, part.view.keyOf(id))) found = { part, id }
      break
    }
    this.#byUid.set(uid, found)
    return found
  }
}

/** The owners of an object that are objects, the nearest first. */
export function* ownersAbove<P extends ProblemPart>(
  object: OwnedObject<P>,
): Generator<OwnedObject<P>, void, void> {
  let { owner } = object
  const seen = new Set([object])
  // Objects may own each other.
  while (owner !== undefined && 'place' in owner && !seen.has(owner)) {
    yield owner
    seen.add(owner)
    ;({ owner } = owner)
  }
}

/** The topmost owner of an object, or the object itself. */
export function rootOf<P extends ProblemPart>(object: OwnedObject<P>): ProblemPlace<P> {
  let top = object
  for (const owner of ownersAbove(object)) top = owner
  const { owner } = top
  return owner === undefined || 'place' in owner ? top.place : owner
}
