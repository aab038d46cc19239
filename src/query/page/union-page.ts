import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition } from '../condition/condition.ts'
import {
  encodeTypedCursor,
  type ListIdentity,
  listHash,
  type TypedPosition,
  typedPositionAt,
} from './cursor.ts'
import { countObjects, listRows, type PageBounds, type PageOf, pageSizeOf } from './page.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { Scope } from '../condition/scope.ts'

/** The objects of one kind in a list over several kinds. */
export interface UnionPart {
  /** Unique among the parts, and the same on every replica; without `:`. */
  readonly type: string
  readonly view: StoreView
  readonly condition: Condition
  /** The visible objects of this kind. */
  readonly scope: Scope
}

export interface UnionPageOptions extends PageBounds {
  readonly parts: readonly UnionPart[]
  readonly budget: WorkBudget
  readonly identity: ListIdentity
  readonly maxPageSize: number
}

export interface UnionRow {
  readonly part: UnionPart
  readonly id: ObjectId
}

/**
 * One page of a list over several kinds, such as all that an object owns, ordered by type, namespace and name. Cursors
 * into a kind that is no longer among the parts continue behind it. Throws as `listPage` does.
 */
export function listUnionPage(options: UnionPageOptions): PageOf<UnionRow> {
  const { budget, identity } = options
  const { size, backwards } = pageSizeOf(options, options.maxPageSize)
  const hash = listHash(identity)
  const after = typedPositionAt(options.after, { hash, argument: 'after', terms: 0 })
  const before = typedPositionAt(options.before, { hash, argument: 'before', terms: 0 })
  const parts = options.parts.toSorted((a, b) => (a.type < b.type ? -1 : 1))
  const [from, bound] = backwards ? [before, after] : [after, before]
  const rows: UnionRow[] = []
  let isCut = false
  for (const part of backwards ? parts.toReversed() : parts) {
    if (isBeyond(from, part.type, !backwards)) continue
    if (rows.length > size || isBeyond(bound, part.type, backwards)) {
      isCut = true
      break
    }
    const ids = listRows({
      ...part,
      budget,
      backwards,
      after: part.type === from?.type ? from.key : undefined,
      before: part.type === bound?.type ? bound.key : undefined,
      limit: size + 1 - rows.length,
    })
    for (const id of ids) rows.push({ part, id })
    isCut ||= part.type === bound?.type
  }
  isCut ||= rows.length > size
  const page = rows.slice(0, size)
  if (backwards) page.reverse()
  return {
    rows: page,
    hasNextPage: backwards ? before !== undefined : isCut,
    hasPreviousPage: backwards ? isCut : after !== undefined,
    cursorOf: ({ part, id }) =>
      encodeTypedCursor(hash, { type: part.type, key: part.view.keyOf(id), values: [] }, budget),
    totalCount: () => parts.reduce((sum, part) => sum + countObjects({ ...part, budget }), 0),
  }
}

/** Whether all objects of a type are on the far side of a position: before it (`ahead`) or behind it. */
function isBeyond(position: TypedPosition | undefined, type: string, ahead: boolean): boolean {
  if (position === undefined || type === position.type) return false
  return type < position.type === ahead
}
