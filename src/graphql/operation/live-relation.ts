import { splitObjectKey } from '../../kubernetes/object.ts'
import type { FoundObject } from './object-read.ts'
import type { ReadRun } from './read-run.ts'
import type { KindView } from './kind-view.ts'
import { notFoundByCondition } from './live-read-errors.ts'
import type { LiveReads } from './live-reads.ts'
import type { SchemaRelation } from './schema-relations.ts'

/**
 * The object that a relation to one leads to, where its kind has no cache: it is looked up by its name. Throws `ClientError` where
 * the relation tells no name.
 */
export function liveRelated(
  run: ReadRun,
  live: LiveReads,
  { part: { cluster, view }, id }: FoundObject,
  { relation, needs, to }: SchemaRelation,
): ReturnType<LiveReads['lookup']> | null {
  const part = (type: string): KindView => {
    const need = needs.get(type)
    if (need === undefined || need.kind === to) throw notFoundByCondition({ cluster, kind: to })
    return run.part({ cluster, ...need })
  }
  const condition = relation.follow({ view, id, budget: run.budget, part })
  if (condition.form === 'nothing') return null
  const [key] = condition.form === 'keys' ? condition.keys : []
  if (key === undefined) throw notFoundByCondition({ cluster, kind: to })
  const { namespace, name } = splitObjectKey(key)
  return live.lookup({ cluster, kind: to }, namespace === '' ? { name } : { namespace, name })
}
