import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { type Condition, namespacesOf } from '../../query/condition/condition.ts'
import { sameObject } from '../../query/page/lookup.ts'
import type { Row } from '../schema/read-context.ts'
import type { KindAt, KindPart, KindParts } from './kind-part.ts'
import type { SchemaRelation } from './schema-relations.ts'

/** Outside which namespaces nothing is that a relation leads to; `undefined` where that is not known. */
export function namespacesOfRelated(
  { relation }: SchemaRelation,
  condition: Condition,
  namespace: string | undefined,
): readonly string[] | undefined {
  if (relation.isLocal && namespace !== undefined && namespace !== '') return [namespace]
  return namespacesOf(condition)
}

/** One type that a relation goes through, on its way from an object. */
interface Waypoint {
  readonly cluster: string
  readonly type: string
  /** Of the object that it starts from. */
  readonly namespace: string | undefined
}

/**
 * What may be seen of a type that a relation reads before it arrives. What a viewer may not list tells nothing, not even what
 * it leads to.
 */
export function partOnTheWay(
  parts: Pick<KindParts, 'part'>,
  { needs, relation }: SchemaRelation,
  { cluster, type, namespace }: Waypoint,
): KindPart {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`the relation does not read ${type}`)
  const { namespaced } = need.kind.resource
  const isWithin = relation.isLocal && namespaced && namespace !== undefined && namespace !== ''
  return parts.part({ cluster, ...need }, { within: () => (isWithin ? [namespace] : undefined) })
}

/** Where a relation arrives, with the indexes that it reads there. */
export function targetOf({ needs, to }: SchemaRelation, cluster: string): KindAt {
  return { cluster, kind: to, ...needs.get(to.typeName) }
}

/** Where an object is now, whoever has its name by then; `undefined` where it is no more. */
export function originOf(
  parts: Pick<KindParts, 'named'>,
  { cluster, kind, object: { metadata } }: Row,
): { readonly view: StoreView; readonly id: ObjectId } | undefined {
  const key = objectKey(metadata)
  const view = parts.named({ cluster, kind }, [key])?.view
  const id = view === undefined ? undefined : sameObject(view, metadata, key)
  return view === undefined || id === undefined ? undefined : { view, id }
}
