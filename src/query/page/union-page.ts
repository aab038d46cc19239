import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition } from '../condition/condition.ts'
import { decodeCursor, encodeCursor, type ListIdentity, listHash } from './cursor.ts'
import { defaultMaxPageSize, listRows, pageSize, countObjects } from './page.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { Scope } from '../condition/scope.ts'

/** The objects of one kind in a list of several kinds. */
export interface UnionPart {
  /** Unique among the parts and the same on every replica; no `:`. */
  readonly type: string
  readonly view: StoreView
  readonly condition: Condition
  /** What the viewer may see of this kind. */
  readonly scope: Scope
}

export interface UnionPageOptions {
  readonly parts: readonly UnionPart[]
  readonly budget: WorkBudget
  readonly identity: ListIdentity
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly maxPageSize?: number
}

/** One object of a list of several kinds. */
export interface UnionRow {
  readonly part: UnionPart
  readonly id: ObjectId
}

/** As `Page`, for several kinds. */
export interface UnionPage {
  readonly rows: readonly UnionRow[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  cursorOf(row: UnionRow): string
  /** May look at each object: throws `QueryTooCostlyError`. */
  totalCount(): number
}

/**
 * One page of a list of several kinds (all that an object owns, whatever it is): by type, then namespace, then name. A kind
 * that is no longer among the parts is passed over by its cursors. Throws as `listPage` does.
 */
export function listUnionPage(options: UnionPageOptions): UnionPage {
  const { budget, identity, after } = options
  const size = pageSize(options.first, options.maxPageSize ?? defaultMaxPageSize)
  const parts = options.parts.toSorted((a, b) => (a.type < b.type ? -1 : 1))
  const hash = listHash(identity)
  const isFirst = after === undefined || after === null
  const position = isFirst ? undefined : positionOf(decodeCursor(after, hash, 'after'))
  const rows: UnionRow[] = []
  for (const part of parts) {
    if (rows.length > size) break
    if (position !== undefined && part.type < position.type) continue
    const afterKey = part.type === position?.type ? position.key : undefined
    const limit = size + 1 - rows.length
    for (const id of listRows({ ...part, budget, after: afterKey, limit })) rows.push({ part, id })
  }
  const hasNextPage = rows.length > size
  if (hasNextPage) rows.length = size
  return {
    rows,
    hasNextPage,
    hasPreviousPage: !isFirst,
    cursorOf: ({ part, id }) => encodeCursor(hash, `${part.type}:${part.view.keyOf(id)}`),
    totalCount: () => parts.reduce((sum, part) => sum + countObjects({ ...part, budget }), 0),
  }
}

function positionOf(text: string): { readonly type: string; readonly key: string } {
  const colon = text.indexOf(':')
  return { type: text.slice(0, Math.max(colon, 0)), key: text.slice(colon + 1) }
}
