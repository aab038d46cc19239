import type { StoreView } from '../../informer/store/store-view.ts'
import { type Condition, namespacesOf } from '../../query/condition/condition.ts'
import type { Kind } from '../model/kind.ts'
import type { KindParts } from './kind-part.ts'
import { type SchemaRelation } from './schema-relations.ts'
import { forbiddenList } from './viewer-access.ts'

/** Outside which namespaces nothing is that a relation leads to; `undefined` where that is not known. */
export function namespacesOfRelated(
  { isWithinNamespace }: SchemaRelation,
  condition: Condition,
  namespace: string | undefined,
): readonly string[] | undefined {
  if (isWithinNamespace && namespace !== undefined && namespace !== '') return [namespace]
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
 * The store of a type that a relation reads before it arrives. What a viewer may not list tells nothing, not even what it leads
 * to: FORBIDDEN unless everything that is read there may be seen.
 */
export function readOnTheWay(
  parts: KindParts,
  reads: readonly Kind[],
  { cluster, type, namespace }: Waypoint,
): StoreView {
  const kind = reads.find(({ typeName }) => typeName === type)
  if (kind === undefined) throw new TypeError(`the relation does not read ${type}`)
  const isWithin = kind.resource.namespaced && namespace !== undefined && namespace !== ''
  const at = { cluster, kind }
  const { view, scope } = parts.part(at, { within: () => (isWithin ? [namespace] : undefined) })
  // What is read within one namespace is all there or forbidden.
  if (scope.form === 'all' || isWithin) return view
  throw forbiddenList(at, false)
}
