/*
 * A page of search results. Each part finds its objects: `TextSearch` finds and scores them if the search has texts, else the
 * part reads them as a list does. The results of all parts are ordered by score, then by part, then by key. So the page asks
 * each part for its first objects of a score, until it is full.
 */

import type { ObjectId } from '../../informer/store/store-view.ts'
import { allOf, type Condition, scopeCondition } from '../condition/condition.ts'
import { selectorCondition } from '../condition/list-condition.ts'
import type { Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { cursorError, encodeCursor, type ListIdentity, listHash, positionIn } from './cursor.ts'
import { compareKeys, FirstRows } from './list-order.ts'
import { VisiblePart } from './list-part.ts'
import { type PageOf, pageOfValues, pageSizeOf } from './page.ts'
import { type SearchMatch, TextSearch, type SearchedValues } from './search-match.ts'
import type { SearchWords } from './search-text.ts'

export interface SearchPart extends SearchedValues {
  /** Unique among the parts of a cluster, and the same on every replica. */
  readonly type: string
  readonly cluster: string
  /** The place of the kind among equally good results: workloads before their parts. */
  readonly place: number
  readonly condition: Condition
  readonly scope: Scope
}

export interface SearchPageOptions<P extends SearchPart> {
  readonly parts: readonly P[]
  readonly words: Pick<SearchWords, 'texts' | 'labels'>
  readonly identity: ListIdentity
  readonly budget: WorkBudget
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly maxPageSize: number
}

export interface SearchHit<P extends SearchPart> {
  readonly part: P
  readonly id: ObjectId
  /** Lower is better. */
  readonly score: number
  /** Where the text is; `undefined` if the words name no text. */
  readonly matchOf: FoundPart<P>['matchOf']
}

/** One page of results, valid within the tick. */
export interface SearchPage<P extends SearchPart> extends PageOf<SearchHit<P>> {
  counts(): readonly { readonly part: P; readonly count: number }[]
}

/**
 * Finds objects of several kinds and clusters that have all words, ignoring case: the best first, then by the place of the
 * kind, its type, the cluster, namespace and name. Decodes no object. Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function searchPage<P extends SearchPart>(options: SearchPageOptions<P>): SearchPage<P> {
  const { budget, identity, words } = options
  const { size } = pageSizeOf({ first: options.first }, options.maxPageSize)
  const hash = listHash(identity, budget)
  const after = positionAt(options.after, hash)
  const labels = selectorCondition(words.labels)
  const parts = options.parts.toSorted(comparePlaces).map((part): FoundPart<P> => {
    const condition = allOf([part.condition, labels])
    if (words.texts.length > 0) return textPart(part, condition, words.texts, budget)
    const visible = new VisiblePart({ ...part, condition }, budget)
    let count: number | undefined
    return {
      part,
      size: () => (count ??= visible.count()),
      scores: [0],
      first: (_score, from, limit) => visible.first(from, limit),
      matchOf: () => undefined,
    }
  })
  const found: SearchHit<P>[] = []
  // By score, then by part; the position of the cursor is within one of these buckets.
  const scores = [...new Set(parts.flatMap((part) => part.scores))].toSorted((a, b) => a - b)
  for (const score of scores) {
    for (const { part, scores: own, first, matchOf } of parts) {
      if (!own.includes(score) || found.length > size) continue
      const place = after && (score - after.score || comparePlaces(part, after))
      if (place !== undefined && place < 0) continue
      const from = place === 0 ? after?.key : undefined
      for (const id of first(score, from, size + 1 - found.length)) {
        found.push({ part, id, score, matchOf })
      }
    }
  }
  return {
    ...pageOfValues({
      found,
      size,
      hasPreviousPage: after !== undefined,
      cursorOf({ part: { type, cluster, place, view }, id, score }) {
        const values = [String(score), String(place), cluster]
        return encodeCursor(hash, { part: type, key: view.keyOf(id), values }, budget)
      },
      totalCount: () => parts.reduce((sum, part) => sum + part.size(), 0),
    }),
    counts: () => parts.map(({ part, size: sizeOf }) => ({ part, count: sizeOf() })),
  }
}

type Place = Pick<SearchPart, 'place' | 'type' | 'cluster'>

interface Position extends Place {
  readonly score: number
  readonly key: string
}

function comparePlaces(a: Place, b: Place): number {
  if (a.place !== b.place) return a.place - b.place
  if (a.type !== b.type) return a.type < b.type ? -1 : 1
  return a.cluster === b.cluster ? 0 : a.cluster < b.cluster ? -1 : 1
}

function positionAt(cursor: string | null | undefined, hash: string): Position | undefined {
  const position = positionIn(cursor, { hash, argument: 'after', terms: 3 })
  if (position === undefined) return undefined
  const { part: type, key, values } = position
  const [score = -1, place = -1] = values.slice(0, 2).map(Number)
  if (!Number.isInteger(score) || score < 0 || !Number.isInteger(place)) {
    throw cursorError('after', String(cursor), 'malformed')
  }
  return { score, place, type, key, cluster: values[2] ?? '' }
}

interface FoundPart<P extends SearchPart> {
  readonly part: P
  readonly size: () => number
  readonly scores: readonly number[]
  /** The first objects with a score in key order, behind a key. */
  readonly first: (score: number, after: string | undefined, limit: number) => readonly ObjectId[]
  readonly matchOf: (id: ObjectId) => SearchMatch | undefined
}

function textPart<P extends SearchPart>(
  part: P,
  asked: Condition,
  texts: readonly string[],
  budget: WorkBudget,
): FoundPart<P> {
  const condition = allOf([asked, scopeCondition(part.scope)])
  const found = new TextSearch(part, { texts, condition, budget })
  return {
    part,
    size: () => found.size,
    scores: found.scores(),
    first(score, after, limit) {
      const first = new FirstRows<{ readonly id: ObjectId; readonly key: string }>(limit, (a, b) =>
        compareKeys(a.key, b.key),
      )
      for (const id of found.ofScore(score)) {
        const key = part.view.keyOf(id)
        if (after === undefined || compareKeys(key, after) > 0) first.add({ id, key })
      }
      return first.rows().map(({ id }) => id)
    },
    matchOf: (id) => found.matchOf(id),
  }
}
