import type { ObjectId } from '../../informer/store/store-view.ts'
import { allOf, type Condition, scopeCondition } from '../condition/condition.ts'
import { selectorCondition } from '../condition/list-condition.ts'
import type { Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { cursorError, encodeCursor, type ListIdentity, listHash, positionIn } from './cursor.ts'
import { compareKeys } from './list-order.ts'
import { FirstRows } from './ordered-rows.ts'
import { countObjects, listRows } from './list-part.ts'
import { type PageOf, pageSizeOf } from './page.ts'
import { type SearchMatch, TextSearch, type SearchedValues } from './search-match.ts'
import type { SearchWords } from './search-text.ts'

/** The objects of one kind in one cluster that are searched. */
export interface SearchPart extends SearchedValues {
  /** Unique among the parts of a cluster, and the same on every replica. */
  readonly type: string
  readonly cluster: string
  /** The place of the kind among equally good results: workloads before their parts. */
  readonly place: number
  /** Selects the requested objects. */
  readonly condition: Condition
  /** The visible objects of the kind. */
  readonly scope: Scope
}

export interface SearchPageOptions {
  readonly parts: readonly SearchPart[]
  readonly words: Pick<SearchWords, 'texts' | 'labels'>
  /** What the cursors are bound to. */
  readonly identity: ListIdentity
  readonly budget: WorkBudget
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly maxPageSize: number
}

export interface SearchHit {
  readonly part: SearchPart
  readonly id: ObjectId
  /** Lower is better. */
  readonly score: number
}

/** One page of results, valid within the tick. */
export interface SearchPage extends PageOf<SearchHit> {
  /** Where the text is. `undefined` if the words name no text. */
  matchOf(hit: SearchHit): SearchMatch | undefined
  /** The number of objects by type, most first, without types that have none. */
  counts(): readonly { readonly type: string; readonly count: number }[]
}

/**
 * Finds objects of several kinds and clusters that have all words, ignoring case: the best first, then by the place of the
 * kind, its type, the cluster, namespace and name. Decodes no object. Throws `ArgumentError` and
 * `QueryTooCostlyError`.
 */
export function searchPage(options: SearchPageOptions): SearchPage {
  const { budget, identity, words } = options
  const { size } = pageSizeOf({ first: options.first }, options.maxPageSize)
  const hash = listHash(identity, budget)
  const after = positionAt(options.after, hash)
  const labels = selectorCondition(words.labels)
  const parts = options.parts.toSorted(comparePlaces).map((part) => {
    const labelled = { ...part, condition: allOf([part.condition, labels]) }
    return words.texts.length === 0
      ? listedPart(labelled, budget)
      : textPart(labelled, words.texts, budget)
  })
  const hits: SearchHit[] = []
  // By score, then by part; the position of the cursor is within one of these buckets.
  const scores = [...new Set(parts.flatMap((part) => part.scores))].toSorted((a, b) => a - b)
  for (const score of scores) {
    for (const { part, scores: own, first } of parts) {
      if (!own.includes(score) || hits.length > size) continue
      const place = after && (score - after.score || comparePlaces(part, after))
      if (place !== undefined && place < 0) continue
      const from = place === 0 ? after?.key : undefined
      for (const id of first(score, from, size + 1 - hits.length)) hits.push({ part, id, score })
    }
  }
  const page = hits.slice(0, size)
  const found = new Map(parts.map((part) => [`${part.part.cluster}/${part.part.type}`, part]))
  return {
    rows: page,
    hasNextPage: hits.length > size,
    hasPreviousPage: after !== undefined,
    cursorAt(position) {
      const hit = page[position]
      if (hit === undefined) throw new RangeError(`the page has no row ${position}`)
      const { part, id, score } = hit
      const { type, cluster, place, view } = part
      const values = [String(score), String(place), cluster]
      return encodeCursor(hash, { part: type, key: view.keyOf(id), values }, budget)
    },
    matchOf: ({ part: { cluster, type }, id }) => found.get(`${cluster}/${type}`)?.matchOf(id),
    totalCount: () => parts.reduce((sum, part) => sum + part.size(), 0),
    counts() {
      const counts = new Map<string, number>()
      for (const { part, size: sizeOf } of parts) {
        const count = sizeOf()
        if (count > 0) counts.set(part.type, (counts.get(part.type) ?? 0) + count)
      }
      return Array.from(counts, ([type, count]) => ({ type, count })).toSorted(
        (a, b) => b.count - a.count,
      )
    },
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

/** The results in one part. */
interface FoundPart {
  readonly part: SearchPart
  readonly size: () => number
  /** The scores that objects have. */
  readonly scores: readonly number[]
  /** The first objects with a score in key order, behind a key. */
  readonly first: (score: number, after: string | undefined, limit: number) => readonly ObjectId[]
  readonly matchOf: (id: ObjectId) => SearchMatch | undefined
}

/** The results of a search without texts: a list. */
function listedPart(part: SearchPart, budget: WorkBudget): FoundPart {
  let size: number | undefined
  return {
    part,
    size: () => (size ??= countObjects({ ...part, budget })),
    scores: [0],
    first: (_score, after, limit) => listRows({ ...part, budget, after, limit }),
    matchOf: () => undefined,
  }
}

function textPart(part: SearchPart, texts: readonly string[], budget: WorkBudget): FoundPart {
  const { view } = part
  const condition = allOf([part.condition, scopeCondition(part.scope)])
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
        const key = view.keyOf(id)
        if (after === undefined || compareKeys(key, after) > 0) first.add({ id, key })
      }
      return first.rows().map(({ id }) => id)
    },
    matchOf: (id) => found.matchOf(id),
  }
}
