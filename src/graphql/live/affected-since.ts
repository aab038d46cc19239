import { resourceVersion } from '../../kubernetes/resource-version.ts'
import type { RelatedPart } from '../../query/condition/related-by.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import { QueryTooCostlyError, WorkBudget } from '../../query/condition/work-budget.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import {
  filterKinds,
  followedNeeds,
  maxConcernedRows,
  positionName,
} from '../operation/followed-filter.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { Positions } from './frame-writer.ts'

/** A position in a token: its name, and the kind whose history it is one of. */
interface PositionAt {
  readonly name: string
  readonly at: ClusterKind
}

/** The positions that a token has because of a list's filter on related objects. */
export function filterPositionsAt(list: FollowedList): readonly PositionAt[] {
  const { cluster } = list.at
  return filterKinds(list).map((kind) => ({
    name: positionName(kind.typeName),
    at: { cluster, kind },
  }))
}

/**
 * The rows that may match since a position, or match no more, as objects have changed that the filter rests on; `undefined` where
 * that is not known, or may be any.
 */
export function affectedSince(
  list: FollowedList,
  settled: ReadSnapshot,
  positions: Positions,
): ReadonlySet<string> | undefined {
  const rows = new Set<string>()
  const { concerned, at } = list
  if (concerned === undefined) return rows
  const parts = new Map(
    [at, ...followedNeeds(list)].map((need) => [need.kind.typeName, settled.part(need)]),
  )
  const part = (type: string): RelatedPart => {
    const found = parts.get(type)
    if (found === undefined) throw new TypeError(`${type} is not followed`)
    return { view: found.view, scope: unrestricted }
  }
  const reading = { part, budget: new WorkBudget(), maxRows: maxConcernedRows }
  for (const {
    name,
    at: { cluster, kind },
  } of filterPositionsAt(list)) {
    const position = positions[name]
    const history = settled.history({ cluster, kind })
    const changes = position === undefined ? undefined : history.since(resourceVersion(position))
    if (changes === undefined) return undefined
    try {
      const keys = concerned.of(kind.typeName, changes, reading)
      if (keys === undefined) return undefined
      for (const key of keys) rows.add(key)
    } catch (error) {
      if (error instanceof QueryTooCostlyError) return undefined
      throw error
    }
  }
  return rows
}
