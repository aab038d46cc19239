import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import {
  CursorError,
  encodeTypedCursor,
  type ListIdentity,
  listHash,
  typedPositionAt,
} from './cursor.ts'
import { FirstRows } from './ordered-rows.ts'
import { compareKeys } from './list-order.ts'
import { type PageOf, pageSizeOf } from './page.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type Condition, everything } from '../condition/condition.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import { bindCondition } from '../condition/id-set.ts'

/** What the cursors of a search are bound to. */
export interface SearchIdentity extends ListIdentity {
  readonly text: string
  readonly types: readonly string[] | null
}

export interface SearchPageOptions {
  readonly parts: readonly SearchPart[]
  readonly identity: SearchIdentity
  readonly budget: WorkBudget
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly maxPageSize: number
}

export interface SearchHit {
  readonly part: SearchedPart
  readonly id: ObjectId
  /** Lower is better. */
  readonly rank: number
}

/** One page of results, valid within the tick: the best first, then by type, namespace and name. */
export interface SearchPage extends PageOf<SearchHit> {
  matchOf(hit: SearchHit): SearchMatch
  /** The number of objects by type, most first, without types that have none. */
  counts(): readonly { readonly type: string; readonly count: number }[]
}

/**
 * Finds objects of several kinds whose name, label or searchable index value contains a text, ignoring case. Tests each
 * value once, however many objects share it. Decodes no object. Throws `PageSizeError`, {@link CursorError} and
 * `QueryTooCostlyError`.
 */
export function searchPage(options: SearchPageOptions): SearchPage {
  const { budget, identity } = options
  const { size } = pageSizeOf({ first: options.first }, options.maxPageSize)
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
    rows: page,
    hasNextPage: hits.length > size,
    hasPreviousPage: after !== undefined,
    cursorOf: ({ part, id, rank }) =>
      encodeTypedCursor(
        hash,
        { type: part.type, key: part.view.keyOf(id), values: [String(rank)] },
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

/** The results of equal rank and type, in order, from the position on. */
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

/** The first results of one part and rank in key order, behind a key. */
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
  const position = typedPositionAt(cursor, { hash, argument: 'after', terms: 1 })
  if (position === undefined) return undefined
  const { type, key, values } = position
  const rank = Number(values[0])
  if (!Number.isInteger(rank) || rank < 0)
    throw new CursorError('after', String(cursor), 'malformed')
  return { rank, type, key }
}

interface SearchPart {
  /** Unique among the parts, and the same on every replica; without `:`. */
  readonly type: string
  readonly view: StoreView
  /** String indexes to search, besides names and labels. */
  readonly indexes: readonly string[]
  /** Selects the requested and visible objects. */
  readonly condition: Condition
}

/** The value by which an object was found: its `name`, `labels["app"]`, or an index. */
interface SearchMatch {
  readonly matched: string
  readonly value: string
  /** From 0, the best, up to but not including {@link searchRanks}. */
  readonly rank: number
}

/** The results of one kind, valid within the tick. */
interface SearchedPart extends SearchPart {
  readonly size: number
  /** The results of one rank, in no particular order. */
  ofRank(rank: number): Iterable<ObjectId>
  matchOf(id: ObjectId): SearchMatch
}

interface SearchTerms {
  readonly text: string
  readonly budget: WorkBudget
}

/** An exact, a leading or an inner match: first of the name, then of anything else. */
const searchRanks = 6
const ranksPerField = 3

/** Searching a value takes twice as long for each doubling beyond this many bits of its length. */
const longValueBits = 8

/** Collecting an object of a value takes as long as testing so many values. */
const testsPerFound = 3

/** Asking so many objects for their values takes as long as testing all values of the indexes. */
const objectsPerView = 16

/**
 * Finds the objects of a part. The budget pays for each tested value and each result. Throws `QueryTooCostlyError`.
 */
function searchPart(part: SearchPart, { text, budget }: SearchTerms): SearchedPart {
  const matcher = new Matcher(text.toLowerCase(), budget)
  /** One more than the best rank of each result. */
  const ranks = new IdBytes()
  const add = (id: ObjectId, rank: number): void => {
    const before = ranks.get(id)
    if (before === 0 || rank + 1 < before) ranks.set(id, rank + 1)
  }
  const { view, condition } = part
  budget.report?.reading(view)
  budget.report?.reached('postings')
  const set = condition === everything ? undefined : bindCondition(condition, view, budget)
  const few = set?.candidates(Math.ceil(view.size / objectsPerView))
  if (few !== undefined) {
    for (const id of few.ids()) {
      budget.spend('examined', 1)
      if (set?.has(id) !== true) continue
      const match = bestMatch(part, id, matcher)
      if (match !== undefined) add(id, match.rank)
    }
  } else {
    for (const { index, name, base } of fieldsOf(part)) {
      budget.report?.now.values.add(name)
      for (const value of index.values()) {
        const quality = matcher.qualityOf(value)
        if (quality === undefined) continue
        budget.spend('tests', testsPerFound)
        for (const id of index.posting(value) ?? []) {
          budget.spend('examined', 1)
          if (set === undefined || set.has(id)) add(id, base + quality)
        }
      }
    }
  }
  budget.report?.returned(ranks.size)
  return {
    ...part,
    size: ranks.size,
    ofRank: (rank) => ranks.ids(rank + 1),
    matchOf: (id) =>
      bestMatch(part, id, matcher) ?? { matched: 'name', value: nameOf(part, id), rank: 0 },
  }
}

interface SearchField {
  readonly index: IndexView
  readonly name: string
  /** The rank of an exact match. */
  readonly base: number
}

function* fieldsOf({ view, indexes }: SearchPart): IterableIterator<SearchField> {
  yield { index: view.index('name'), name: 'name', base: 0 }
  for (const key of view.labelKeys()) {
    const index = view.label(key)
    if (index !== undefined) yield { index, name: labelName(key), base: ranksPerField }
  }
  for (const name of indexes) {
    if (view.hasIndex(name)) yield { index: view.index(name), name, base: ranksPerField }
  }
}

function bestMatch(part: SearchPart, id: ObjectId, matcher: Matcher): SearchMatch | undefined {
  const { view, indexes } = part
  const name = nameOf(part, id)
  const quality = matcher.qualityOf(name)
  if (quality !== undefined) return { matched: 'name', value: name, rank: quality }
  let best: SearchMatch | undefined
  const tried = (matched: string, value: string): void => {
    const found = matcher.qualityOf(value)
    if (found === undefined || found + ranksPerField >= (best?.rank ?? searchRanks)) return
    best = { matched, value, rank: found + ranksPerField }
  }
  for (const [key, value] of Object.entries(view.labelsOf(id))) tried(labelName(key), value)
  for (const index of indexes) {
    if (!view.hasIndex(index)) continue
    for (const value of view.index(index).valuesOf(id)) tried(index, value)
  }
  return best
}

function nameOf({ view }: SearchPart, id: ObjectId): string {
  return splitObjectKey(view.keyOf(id)).name
}

function labelName(key: string): string {
  return `labels[${JSON.stringify(key)}]`
}

/** Tests values for a text. Ranks: 0 if it is the whole value, 1 the beginning, 2 a part. */
class Matcher {
  readonly #text: string
  readonly #budget: WorkBudget

  constructor(text: string, budget: WorkBudget) {
    this.#text = text
    this.#budget = budget
  }

  qualityOf(value: string): 0 | 1 | 2 | undefined {
    this.#budget.spend('tests', 1 + (value.length >> longValueBits))
    if (value.length < this.#text.length) return undefined
    const at = value.toLowerCase().indexOf(this.#text)
    if (at < 0) return undefined
    if (at > 0) return 2
    return value.length === this.#text.length ? 0 : 1
  }
}
