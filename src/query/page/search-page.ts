import type { ObjectId } from '../../informer/store/store-view.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { CursorError, decodeCursor, encodeCursor, type ListIdentity, listHash } from './cursor.ts'
import { FirstRows } from './first-rows.ts'
import { compareKeys } from './key-comparison.ts'
import { defaultMaxPageSize, pageSizeOf } from './page.ts'
import {
  type SearchedPart,
  type SearchMatch,
  type SearchPart,
  searchPart,
  searchRanks,
} from './search-part.ts'

/** What cursors of a search are bound to. */
export interface SearchIdentity extends ListIdentity {
  readonly text: string
  readonly kinds: readonly string[] | null
}

export interface SearchPageOptions {
  readonly parts: readonly SearchPart[]
  readonly identity: SearchIdentity
  readonly budget: WorkBudget
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly maxPageSize?: number
}

/** One object that has been found. */
export interface SearchHit {
  readonly part: SearchedPart
  readonly id: ObjectId
  /** The lower, the better. */
  readonly rank: number
}

/** One page of what was found: the best first, among equals by type, namespace and name. Valid within the tick. */
export interface SearchPage {
  readonly hits: readonly SearchHit[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  cursorOf(hit: SearchHit): string
  /** By which of its values the object was found. */
  matchOf(hit: SearchHit): SearchMatch
  totalCount(): number
  /** How many objects of each type, the most first; types without any are left out. */
  counts(): readonly { readonly type: string; readonly count: number }[]
}

/**
 * Finds objects of several kinds whose name, a label or a searchable index holds a text, without regard to case. The values of
 * the indexes are tried, each once, however many objects share it; no object is decoded. Throws `PageSizeError`,
 * {@link CursorError} and `QueryTooCostlyError`.
 */
export function searchPage(options: SearchPageOptions): SearchPage {
  const { budget, identity, maxPageSize = defaultMaxPageSize, first } = options
  const { size } = pageSizeOf({ first }, maxPageSize)
  const hash = listHash(identity)
  const after = positionAt(options.after, hash)
  const parts = options.parts
    .toSorted((a, b) => (a.type < b.type ? -1 : 1))
    .map((part) => searchPart(part, { text: identity.text, budget }))
  const hits: SearchHit[] = []
  for (const { part, rank } of bucketsBehind(after, parts)) {
    if (hits.length > size) break
    const from = after?.rank === rank && after.type === part.type ? after.key : undefined
    for (const id of firstOf(part, rank, from, size + 1 - hits.length))
      hits.push({ part, id, rank })
  }
  const page = hits.slice(0, size)
  return {
    hits: page,
    hasNextPage: hits.length > size,
    hasPreviousPage: after !== undefined,
    cursorOf: ({ part, id, rank }) =>
      encodeCursor(
        hash,
        { key: `${part.type}:${part.view.keyOf(id)}`, values: [String(rank)] },
        budget,
      ),
    matchOf: ({ part, id }) => part.matchOf(id),
    totalCount: () => parts.reduce((sum, { size: found }) => sum + found, 0),
    counts: () =>
      parts
        .filter(({ size: found }) => found > 0)
        .map(({ type, size: count }) => ({ type, count }))
        .toSorted((a, b) => b.count - a.count),
  }
}

interface Position {
  readonly rank: number
  readonly type: string
  readonly key: string
}

/** What is found alike, in order, from the position on. */
function* bucketsBehind(
  after: Position | undefined,
  parts: readonly SearchedPart[],
): IterableIterator<{ readonly part: SearchedPart; readonly rank: number }> {
  for (let rank = after?.rank ?? 0; rank < searchRanks; rank++) {
    for (const part of parts) {
      const isAhead = after?.rank === rank && part.type < after.type
      if (!isAhead) yield { part, rank }
    }
  }
}

/** The first of one bucket in the order of their keys, behind one of them. */
function firstOf(
  part: SearchedPart,
  rank: number,
  after: string | undefined,
  limit: number,
): readonly ObjectId[] {
  const first = new FirstRows<{ readonly id: ObjectId; readonly key: string }>(limit, (a, b) =>
    compareKeys(a.key, b.key),
  )
  for (const id of part.ofRank(rank)) {
    const key = part.view.keyOf(id)
    if (after === undefined || compareKeys(key, after) > 0) first.add({ id, key })
  }
  return first.rows().map(({ id }) => id)
}

function positionAt(cursor: string | null | undefined, hash: string): Position | undefined {
  if (cursor === undefined || cursor === null) return undefined
  const { key, values } = decodeCursor(cursor, { hash, argument: 'after', terms: 1 })
  const rank = Number(values[0])
  const colon = key.indexOf(':')
  if (!Number.isInteger(rank) || rank < 0 || colon < 0) {
    throw new CursorError('after', cursor, 'malformed')
  }
  return { rank, type: key.slice(0, colon), key: key.slice(colon + 1) }
}
