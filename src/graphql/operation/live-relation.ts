import { splitObjectKey } from '../../kubernetes/object.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Row } from '../schema/read-context.ts'
import type { CachedParts, KindPart } from './kind-part.ts'
import type { LiveReads } from './live-reads.ts'
import { notFoundByCondition } from './live-read-errors.ts'
import { originOf } from './related-parts.ts'
import type { SchemaRelation } from './schema-relations.ts'

interface LiveRelationMeans {
  readonly parts: CachedParts
  readonly budget: WorkBudget
  readonly live: LiveReads
}

/**
 * The object that a relation to one leads to, where its kind has no cache: it is looked up by its name. Throws `ClientError` where
 * the relation tells no name.
 */
export function liveRelated(
  { parts, budget, live }: LiveRelationMeans,
  row: Row,
  { relation, needs, to }: SchemaRelation,
): ReturnType<LiveReads['lookup']> | null {
  const { cluster, object } = row
  const at = originOf(parts, row)
  if (at === undefined) return null
  const part = (type: string): KindPart => {
    const need = needs.get(type)
    if (need === undefined || need.kind === to) throw notFoundByCondition({ cluster, kind: to })
    return parts.part({ cluster, ...need })
  }
  const condition = relation.follow({ ...at, object, budget, part })
  if (condition.form === 'nothing') return null
  const [key] = condition.form === 'keys' ? condition.keys : []
  if (key === undefined) throw notFoundByCondition({ cluster, kind: to })
  const { namespace, name } = splitObjectKey(key)
  return live.lookup({ cluster, kind: to }, namespace === '' ? { name } : { namespace, name })
}
