import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type Condition, everything } from '../condition/condition.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { IdSet } from '../condition/candidates.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { maxTexts } from './search-text.ts'

/** A store, and where its objects are searched. */
export interface SearchedValues {
  readonly view: StoreView
  /** String indexes to search, besides names and labels. */
  readonly indexes: readonly string[]
}

/** The value by which an object was found: its `name`, `labels["app"]`, or an index. */
export interface SearchMatch {
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

interface TextSearchOptions {
  /** In lower case; at least one, and at most {@link maxTexts}. */
  readonly texts: readonly string[]
  /** Selects the requested and visible objects. */
  readonly condition: Condition
  readonly budget: WorkBudget
}

/**
 * The objects of one store that have all of some texts in their name, labels or searchable values. Tests each distinct
 * value of an index once for each text, however many objects share it, or the values of the objects that are left, if
 * these are fewer. Passes over indexes that lack a character of the text. The budget pays for each value tested and each object found. Valid within the tick. Throws `QueryTooCostlyError`.
 */
export class TextSearch {
  readonly #of: SearchedValues
  readonly #matchers: readonly Matcher[]
  /** One more than the score of each result. */
  readonly #scores: IdBytes

  constructor(of: SearchedValues, { texts, condition, budget }: TextSearchOptions) {
    const { view } = of
    this.#of = of
    this.#matchers = texts.map((text) => new Matcher(text, budget))
    budget.report?.reading(view)
    budget.report?.reached('postings')
    const set = condition === everything ? undefined : bindCondition(condition, view, budget)
    let within: Pick<IdSet, 'has'> | undefined = set
    let left: ObjectsLeft | undefined = candidatesOf(set, view)
    let found: IdBytes | undefined
    // Long texts are in the fewest objects.
    for (const matcher of this.#matchers.toSorted((a, b) => b.text.length - a.text.length)) {
      const ranked = new IdBytes()
      const search = { matcher, within, budget, ranked }
      for (const field of fieldsOf(this.#of)) {
        const { index } = field
        if (!index.characters().mayContain(matcher.text)) continue
        const isFew = left !== undefined && left.size * testsPerObject < index.size
        if (isFew) searchObjects(field, left?.ids() ?? [], search)
        else searchValues(field, search)
      }
      const scores = (found = scored(ranked, found))
      within = { has: (id) => scores.get(id) !== 0 }
      left = { size: scores.size, ids: () => scores.all() }
    }
    this.#scores = found ?? new IdBytes()
    budget.report?.returned(this.#scores.size)
  }

  get size(): number {
    return this.#scores.size
  }

  /** The scores that objects have, the best first. */
  scores(): readonly number[] {
    const scores = new Set<number>()
    for (const id of this.#scores.all()) scores.add(this.#scores.get(id) - 1)
    return [...scores].toSorted((a, b) => a - b)
  }

  /** The objects with a score, in no particular order. */
  ofScore(score: number): Iterable<ObjectId> {
    return this.#scores.ids(score + 1)
  }

  /** The match of the word that matches worst, of several the first: the others are easier to see. */
  matchOf(id: ObjectId): SearchMatch {
    let worst: RankedMatch | undefined
    for (const matcher of this.#matchers) {
      const match = this.#bestMatch(id, matcher)
      if (match !== undefined && match.rank > (worst?.rank ?? -1)) worst = match
    }
    return worst ?? { matched: 'name', value: nameOf(this.#of.view, id) }
  }

  #bestMatch(id: ObjectId, matcher: Matcher): RankedMatch | undefined {
    const { view, indexes } = this.#of
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

/** The scores of objects that have one more text, by the ranks of that. Both are bytes, one more than the number. */
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

/** The objects that may still be found. */
interface ObjectsLeft {
  readonly size: number
  readonly ids: () => Iterable<ObjectId>
}

/** The objects of a set, if they are few enough for some index to have more values. */
function candidatesOf(set: IdSet | undefined, view: StoreView): ObjectsLeft | undefined {
  return set?.candidates(Math.ceil(view.size / testsPerObject))
}

interface FieldSearch {
  readonly matcher: Matcher
  /** Selects the objects that count; absent: all. */
  readonly within: Pick<IdSet, 'has'> | undefined
  readonly budget: WorkBudget
  /** One more than the best rank of each object that was found. */
  readonly ranked: IdBytes
}

/** Tests each value of an index, and adds the objects of those that match. */
function searchValues({ index, name, base }: SearchField, search: FieldSearch): void {
  const { matcher, within, budget, ranked } = search
  budget.report?.now.values.add(name)
  for (const value of index.values()) {
    const quality = matcher.qualityOf(value)
    const posting = quality === undefined ? undefined : index.posting(value)
    if (quality === undefined || posting === undefined) continue
    budget.spend('tests', testsPerFound + posting.size / objectsPerTest)
    const rank = base + quality + 1
    for (const id of posting) {
      const known = ranked.get(id)
      if (known !== 0 && known <= rank) continue
      if (known === 0) {
        budget.spend('examined', 1)
        if (within?.has(id) === false) continue
      }
      ranked.set(id, rank)
    }
  }
}

/** Tests the values of some objects, and adds those that match. */
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
      if (quality === undefined || within?.has(id) === false) continue
      const rank = base + quality + 1
      if (known === 0) budget.spend('examined', 1)
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

function* fieldsOf({ view, indexes }: SearchedValues): IterableIterator<SearchField> {
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

/** How a match in a label is named. */
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
