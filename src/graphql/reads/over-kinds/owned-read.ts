/*
 * `owned`: the objects that an object owns directly. It loads the kinds that the SDL relates to the owner's kind, the
 * named and the common kinds, and also reads kinds in memory. Loading every kind would load the whole cluster. All owners
 * in a namespace share the places.
 */

import { splitObjectKey } from '../../../kubernetes/object.ts'
import { hasValue } from '../../../query/condition/condition.ts'
import type { Kind } from '../../model/kind.ts'
import type { KindView, FoundObject } from '../../prepare/kind-view.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { ObjectOwnedArguments } from '../../schema/gateway-types.ts'
import { commonKindsOf, knownKinds, namedKinds, unnamedKinds } from '../../served/named-kinds.ts'
import { Places, type PlacesRead, typesNotRead, unnamedPart } from '../places.ts'
import { OncePerRun, type ReadRun } from '../read-run.ts'
import { kindsConnection } from './kinds-connection.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'

export class OwnedRead {
  readonly #served: ServedSchema
  readonly #owner: Kind
  readonly #places = new OncePerRun<PlacesRead<KindView>>()

  constructor(served: ServedSchema, owner: Kind) {
    this.#served = served
    this.#owner = owner
  }

  /** The kinds that the field loads in a cluster. Ignores unknown names. */
  needs({ types }: { readonly types?: unknown }, cluster: string): readonly RelatedNeed[] {
    const named = knownKinds(this.#served, types)
    const common = commonKindsOf(this.#served, cluster).filter((kind) =>
      mayBeOwnedBy(kind, this.#owner.resource.namespaced),
    )
    const all = new Set([...this.related(cluster), ...named, ...common])
    return Array.from(all, (kind) => ({ kind, indexes: {} }))
  }

  /** The kinds of a cluster that objects of this kind own, according to the SDL. */
  related(cluster: string): readonly Kind[] {
    const { clusters, relations } = this.#served
    const cache = clusters.get(cluster)
    const kinds = relations.ownedKinds(this.#owner)
    return kinds.filter(({ resource }) => cache?.serves(resource) === true)
  }

  /**
   * A page of the objects that an object owns. Throws as `listPage` does, and `ClientError` for an unknown type
   * name.
   */
  page(run: ReadRun, object: FoundObject, args: ObjectOwnedArguments): object {
    const { cluster, view } = object.part
    const { namespace } = splitObjectKey(view.keyOf(object.id))
    const uid = view.uidOf(object.id)
    const names = args.types?.join() ?? ''
    const places = this.#places.of(run, `${cluster}/${namespace}/${names}`, () =>
      this.#look(run, cluster, namespace, namedKinds(this.#served, args.types)),
    )
    const condition = hasValue('ownerUid', uid === '' ? [] : [uid])
    const reads = places.parts.map(({ kind }) => kind)
    run.followed?.({ reads, condition, isSaid: false, owner: uid })
    const parts = places.parts.map((part) => ({ ...part, condition }))
    const identity = { list: `${cluster}/owned/${uid}` }
    return kindsConnection(run, { ...places, parts }, { identity, bounds: args })
  }

  /** The places of the objects that an owner in a namespace (`''` if cluster-scoped) may own. */
  #look(
    run: ReadRun,
    cluster: string,
    namespace: string,
    named: readonly Kind[],
  ): PlacesRead<KindView> {
    const served = this.#served
    const reading = { within: () => (namespace === '' ? undefined : [namespace]) }
    const wanted = new Set([...this.related(cluster), ...named])
    const places = new Places(run)
    for (const kind of wanted) places.find(() => run.parts.part({ cluster, kind }, reading))
    const mayBeOwned = (kind: Kind): boolean => mayBeOwnedBy(kind, namespace !== '')
    run.parts.looksAround?.()
    for (const kind of unnamedKinds(served, cluster)) {
      if (wanted.has(kind) || !mayBeOwned(kind)) continue
      const part = unnamedPart(run, { cluster, kind }, reading)
      if (part !== undefined) places.parts.push(part)
    }
    const isOther = (kind: Kind): boolean => !wanted.has(kind) && mayBeOwned(kind)
    let others: readonly string[] | undefined
    return places.read(() => (others ??= typesNotRead(served, [cluster], places.parts, isOther)))
  }
}

/** Every kind may have owners, except Events. What an object in a namespace owns is in its namespace. */
function mayBeOwnedBy({ resource }: Kind, isOwnerNamespaced: boolean): boolean {
  return resource.kind !== 'Event' && (resource.namespaced || !isOwnerNamespaced)
}
