import { type Condition, indexesOf, relatedOf } from '../../query/condition/condition.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** Whether a cluster serves a type. */
export function isServed(
  { kinds, clusters }: ServedSchema,
  cluster: string,
  type: string,
): boolean {
  const kind = kinds.get(type)
  return kind !== undefined && clusters.get(cluster)?.serves(kind.resource) === true
}

/**
 * The kinds that a condition on the objects of a kind reads, this kind included, with all indexes that answer the
 * condition in either direction and that find the rows that a change affects.
 */
export function conditionNeeds(
  served: ServedSchema,
  { cluster, kind }: ClusterKind,
  condition: Condition,
): readonly RelatedNeed[] {
  const needed = new Map<string, Set<string>>()
  const need = (type: string, names: Iterable<string>): void => {
    let known = needed.get(type)
    if (known === undefined) needed.set(type, (known = new Set()))
    for (const name of names) known.add(name)
  }
  const visit = (one: Condition, type: string): void => {
    need(type, indexesOf(one))
    for (const { relation, condition: inner } of relatedOf(one)) {
      if (!isServed(served, cluster, relation.to)) continue
      for (const [name, indexes] of relation.indexes) {
        need(name, [...indexes.needed, ...indexes.useful])
      }
      visit(inner, relation.to)
    }
  }
  visit(condition, kind.typeName)
  return [...needed].flatMap(([type, names]) => {
    const read = served.kinds.get(type)
    return read === undefined ? [] : [{ kind: read, indexes: { needed: names } }]
  })
}
