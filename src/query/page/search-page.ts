/*
 * A search for texts, and a page of its results. Each part finds its objects: `TextSearch` finds and scores them if the search
 * has texts, else the part reads them as a list does. The results of all parts are ordered by score, then by part, then by
 * key. So the page asks each part for its first objects of a score, until it is full.
 *
 * `TextSearch` looks into the names, labels and searchable values of one store, for the rarest text first, and for the others
 * among what it has found. It tests each distinct value of an index once for each text, however many objects share it, or the
 * values of the objects that are left, if that costs less, and passes over indexes that lack a character of the text. The
 * score of an object is a byte: the rank of its worst word, then the sum of all ranks.
 */

import type { ObjectId, IndexView, StoreView } from '../../informer/store/store-view.ts'
import { allOf, type Condition, scopeCondition, everything } from '../condition/condition.ts'
import { selectorCondition } from '../condition/list-condition.ts'
import type { Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { cursorError, encodeCursor, type ListIdentity, listHash, positionIn } from './cursor.ts'
import { compareKeys, FirstRows } from './list-order.ts'
import { VisiblePart } from './list-part.ts'
import { type PageOf, pageOfValues, pageSizeOf } from './page.ts'
import { type SearchWords, maxTexts } from './search-text.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { IdSet } from '../condition/candidates.ts'

export interface SearchPart {
  readonly view: StoreView
  /** String indexes to search, besides names and labels. */
  readonly indexes: readonly string[]
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
  /** Knows where the text is. */
  readonly foundIn: FoundPart<P>
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
    if (words.texts.length > 0) {
      const visible = allOf([condition, scopeCondition(part.scope)])
      return new TextSearch(part, visible, words.texts, budget)
    }
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
    for (const foundIn of parts) {
      const { part } = foundIn
      if (!foundIn.scores.includes(score) || found.length > size) continue
      const place = after && (score - after.score || comparePlaces(part, after))
      if (place !== undefined && place < 0) continue
      const from = place === 0 ? after?.key : undefined
      for (const id of foundIn.first(score, from, size + 1 - found.length)) {
        found.push({ part, id, score, foundIn })
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
    counts: () => parts.map((one) => ({ part: one.part, count: one.size() })),
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

/** The objects of a part that a search finds, by their scores. */
interface FoundPart<P extends SearchPart> {
  readonly part: P
  /** The scores that objects have. */
  readonly scores: readonly number[]
  size(): number
  /** The first objects with a score in key order, behind a key. */
  first(score: number, after: string | undefined, limit: number): readonly ObjectId[]
  /** Where the text is; `undefined` if the words name no text. */
  matchOf(id: ObjectId): SearchMatch | undefined
}

/** The value by which an object was found: its `name`, `labels["app"]`, or an index. */
interface SearchMatch {
  readonly matched: string
  readonly value: string
}

interface RankedMatch extends SearchMatch {
  /** From 0, the best, up to but not including {@link ranks}. */
  readonly rank: number
}

/** An exact, a leading or an inner match: first of the name, then of anything else. */
const ranks = 6
const ranksPerField = 3

/**
 * The score of an object orders it by its worst word, then by the sum of the ranks of its words. One more than each score
 * is a byte.
 */
const scoresPerRank = maxTexts * (ranks - 1) + 1

/** Searching a value takes twice as long for each doubling beyond this many bits of its length. */
const longValueBits = 8

/** Finding the objects of a value takes as long as testing so many values. */
const testsPerFound = 3

/** Passing so many objects of a value takes as long as testing a value. */
const objectsPerTest = 8

/** Asking an object for its values takes as long as testing so many values. */
const testsPerObject = 2

/** The objects that have all texts, by their scores. Valid within the tick. Throws `QueryTooCostlyError`. */
class TextSearch<P extends SearchPart> implements FoundPart<P> {
  readonly part: P
  readonly scores: readonly number[]
  readonly #matchers: readonly Matcher[]
  /** One more than the score of each result. */
  readonly #found: IdBytes

  /**
   * `condition`: selects the requested and visible objects. `texts`: in lower case; at least one, and at most
   * {@link maxTexts}.
   */
  constructor(part: P, condition: Condition, texts: readonly string[], budget: WorkBudget) {
    const { view } = part
    this.part = part
    this.#matchers = texts.map((text) => new Matcher(text, budget))
    budget.report?.reading(view)
    budget.report?.reached('postings')
    const set = condition === everything ? undefined : bindCondition(condition, view, budget)
    let within: Pick<IdSet, 'has'> = new ExaminedObjects(set, budget)
    let left: ObjectsLeft = set?.candidates(Math.ceil(view.size / testsPerObject)) ?? {
      size: view.size,
      ids: () => view.ids(),
    }
    let found: IdBytes | undefined
    const names = view.index('name')
    // The rarest texts among names come first; among equally rare ones, the longest.
    const rarestFirst = this.#matchers
      .map((matcher) => ({ matcher, share: texts.length === 1 ? 0 : shareIn(names, matcher) }))
      .toSorted((a, b) => a.share - b.share || b.matcher.text.length - a.matcher.text.length)
    for (const { matcher } of rarestFirst) {
      const ranked = new IdBytes()
      const search = { matcher, within, budget, ranked }
      for (const field of fieldsOf(part)) {
        const { index, base } = field
        if (left.size === 0 || !index.characters().mayContain(matcher.text)) continue
        const testsPerValue = 1 + testsPerFound * shareIn(index, matcher)
        if (left.size * testsPerObject < index.size * testsPerValue)
          searchObjects(field, left.ids(), search)
        else searchValues(field, left, search)
        // No other field is a better match than the name.
        if (base === 0) left = without(ranked, left, budget)
      }
      const scores = (found = scored(ranked, found))
      within = { has: (id) => scores.get(id) !== 0 }
      left = { size: scores.size, ids: () => scores.all() }
      if (scores.size === 0) break
    }
    this.#found = found ?? new IdBytes()
    budget.report?.returned(this.#found.size)
    const all = new Set<number>()
    for (const id of this.#found.all()) all.add(this.#found.get(id) - 1)
    this.scores = [...all]
  }

  size(): number {
    return this.#found.size
  }

  first(score: number, after: string | undefined, limit: number): readonly ObjectId[] {
    const first = new FirstRows<{ readonly id: ObjectId; readonly key: string }>(limit, (a, b) =>
      compareKeys(a.key, b.key),
    )
    for (const id of this.#found.ids(score + 1)) {
      const key = this.part.view.keyOf(id)
      if (after === undefined || compareKeys(key, after) > 0) first.add({ id, key })
    }
    return first.rows().map(({ id }) => id)
  }

  /** The match of the word that matches worst, the first one if several do: the others are easier to see. */
  matchOf(id: ObjectId): SearchMatch {
    let worst: RankedMatch | undefined
    for (const matcher of this.#matchers) {
      const match = this.#bestMatch(id, matcher)
      if (match !== undefined && match.rank > (worst?.rank ?? -1)) worst = match
    }
    return worst ?? { matched: 'name', value: nameOf(this.part.view, id) }
  }

  #bestMatch(id: ObjectId, matcher: Matcher): RankedMatch | undefined {
    const { view, indexes } = this.part
    const name = nameOf(view, id)
    const quality = matcher.qualityOf(name)
    if (quality !== undefined) return { matched: 'name', value: name, rank: quality }
    let best: RankedMatch | undefined
    const tried = (matched: string, value: string): void => {
      const found = matcher.qualityOf(value)
      if (found === undefined || found + ranksPerField >= (best?.rank ?? ranks)) return
      best = { matched, value, rank: found + ranksPerField }
    }
    for (const [key, value] of Object.entries(view.labelsOf(id))) tried(labelName(key), value)
    for (const index of indexes) {
      if (!view.hasIndex(index)) continue
      for (const value of view.index(index).valuesOf(id)) tried(index, value)
    }
    return best
  }
}

/** Adds the ranks of one more text to the scores of the objects that have it. Each byte is one more than its number. */
function scored(ranked: IdBytes, before: IdBytes | undefined): IdBytes {
  const scores = new IdBytes()
  for (const id of ranked.all()) {
    const rank = ranked.get(id) - 1
    const score = before === undefined ? 0 : before.get(id) - 1
    const worst = Math.max(Math.trunc(score / scoresPerRank), rank)
    scores.set(id, worst * scoresPerRank + (score % scoresPerRank) + rank + 1)
  }
  return scores
}

/** The share that has a text, among so many values, tells how rare the text is. */
const sampledValues = 128

/** The share of some values of an index that have a text. 0 if there are too few values for a sample to save anything. */
function shareIn(index: IndexView, matcher: Matcher): number {
  if (index.size < 16 * sampledValues) return 0
  let [sampled, having] = [0, 0]
  for (const value of index.values()) {
    if (matcher.qualityOf(value) !== undefined) having += 1
    sampled += 1
    if (sampled === sampledValues) break
  }
  return having / sampled
}

/** The objects of a set, all if absent. The budget pays for each object once, when it is first asked for. */
class ExaminedObjects {
  readonly #set: Pick<IdSet, 'has'> | undefined
  readonly #budget: WorkBudget
  /** 1: it is in the set; 2: it is not. */
  readonly #known = new IdBytes()

  constructor(set: Pick<IdSet, 'has'> | undefined, budget: WorkBudget) {
    this.#set = set
    this.#budget = budget
  }

  has(id: ObjectId): boolean {
    const known = this.#known.get(id)
    if (known !== 0) return known === 1
    this.#budget.spend('examined', 1)
    const isMember = this.#set?.has(id) !== false
    this.#known.set(id, isMember ? 1 : 2)
    return isMember
  }
}

/** The objects that may still be found, and perhaps others. */
interface ObjectsLeft {
  readonly size: number
  readonly ids: () => Iterable<ObjectId>
}

/** The objects that are left without those that were found. */
function without(found: IdBytes, left: ObjectsLeft, budget: WorkBudget): ObjectsLeft {
  if (found.size === 0) return left
  let ids: readonly ObjectId[] | undefined
  return {
    size: Math.max(0, left.size - found.size),
    ids() {
      if (ids !== undefined) return ids
      budget.spend('tests', left.size / objectsPerTest)
      return (ids = Array.from(left.ids()).filter((id) => found.get(id) === 0))
    },
  }
}

interface FieldSearch {
  readonly matcher: Matcher
  /** Selects the objects that count. */
  readonly within: Pick<IdSet, 'has'>
  readonly budget: WorkBudget
  /** One more than the best rank of each object that was found. */
  readonly ranked: IdBytes
}

function searchValues(
  { index, name, base }: SearchField,
  left: ObjectsLeft,
  { matcher, within, budget, ranked }: FieldSearch,
): void {
  budget.report?.now.values.add(name)
  for (const value of index.values()) {
    const quality = matcher.qualityOf(value)
    const posting = quality === undefined ? undefined : index.posting(value)
    if (quality === undefined || posting === undefined) continue
    const passed = posting.size / objectsPerTest
    const asked = left.size * testsPerObject
    const isFew = asked < passed
    budget.spend('tests', testsPerFound + (isFew ? asked : passed))
    const rank = base + quality + 1
    for (const id of isFew ? left.ids() : posting) {
      if (isFew && !index.valuesOf(id).includes(value)) continue
      const known = ranked.get(id)
      if (known !== 0 && known <= rank) continue
      if (known === 0 && !within.has(id)) continue
      ranked.set(id, rank)
    }
  }
}

function searchObjects(
  { index, name, base }: SearchField,
  ids: Iterable<ObjectId>,
  { matcher, within, budget, ranked }: FieldSearch,
): void {
  budget.report?.now.tested.add(name)
  for (const id of ids) {
    budget.spend('tests', 1)
    const known = ranked.get(id)
    if (known !== 0 && known <= base + 1) continue
    for (const value of index.valuesOf(id)) {
      const quality = matcher.qualityOf(value)
      if (quality === undefined || !within.has(id)) continue
      const rank = base + quality + 1
      if (known === 0 || rank < known) ranked.set(id, Math.min(rank, ranked.get(id) || rank))
    }
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

function nameOf(view: StoreView, id: ObjectId): string {
  return splitObjectKey(view.keyOf(id)).name
}

export function labelName(key: string): string {
  return `labels[${JSON.stringify(key)}]`
}

/** Tests values for a text. Ranks: 0 if it is the whole value, 1 the beginning, 2 a part. */
class Matcher {
  readonly text: string
  readonly #budget: WorkBudget

  constructor(text: string, budget: WorkBudget) {
    this.text = text
    this.#budget = budget
  }

  qualityOf(value: string): 0 | 1 | 2 | undefined {
    this.#budget.spend('tests', 1 + (value.length >> longValueBits))
    const at = value.toLowerCase().indexOf(this.text)
    if (at < 0) return undefined
    if (at > 0) return 2
    return value.length === this.text.length ? 0 : 1
  }
}
