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

/** Collecting an object of a value takes as long as testing so many values. */
const testsPerFound = 3

/** Asking so many objects for their values takes as long as testing all values of the indexes. */
const objectsPerView = 16

interface TextSearchOptions {
  /** In lower case; at least one, and at most {@link maxTexts}. */
  readonly texts: readonly string[]
  /** Selects the requested and visible objects. */
  readonly condition: Condition
  readonly budget: WorkBudget
}

/**
 * The objects of one store that have all of some texts in their name, labels or searchable values. Tests each distinct
 * value once for each text, however many objects share it; once few objects are left, only their values. The budget pays
 * for each value tested and each object found. Valid within the tick. Throws `QueryTooCostlyError`.
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
    const few = Math.ceil(view.size / objectsPerView)
    let within: Pick<IdSet, 'has'> | undefined = set
    let left = set?.candidates(few)?.ids()
    let found: IdBytes | undefined
    // Long texts are in the fewest objects.
    for (const matcher of this.#matchers.toSorted((a, b) => b.text.length - a.text.length)) {
      const next = new IdBytes()
      const add = addTo(next, found)
      if (left === undefined) this.#searchValues(matcher, within, budget, add)
      else {
        for (const id of left) {
          budget.spend('examined', 1)
          if (within?.has(id) === false) continue
          const match = this.#bestMatch(id, matcher)
          if (match !== undefined) add(id, match.rank)
        }
      }
      within = { has: (id) => next.get(id) !== 0 }
      left = next.size > few ? undefined : next.all()
      found = next
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

  /** Tests each value of the indexes, and adds the objects of those that match. */
  #searchValues(
    matcher: Matcher,
    within: Pick<IdSet, 'has'> | undefined,
    budget: WorkBudget,
    add: (id: ObjectId, rank: number) => void,
  ): void {
    for (const { index, name, base } of fieldsOf(this.#of)) {
      budget.report?.now.values.add(name)
      for (const value of index.values()) {
        const quality = matcher.qualityOf(value)
        if (quality === undefined) continue
        budget.spend('tests', testsPerFound)
        for (const id of index.posting(value) ?? []) {
          budget.spend('examined', 1)
          if (within === undefined || within.has(id)) add(id, base + quality)
        }
      }
    }
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

/** Keeps the best score of each object: that of the texts before and the rank of this one. */
function addTo(next: IdBytes, before: IdBytes | undefined): (id: ObjectId, rank: number) => void {
  return (id, rank) => {
    const score = before === undefined ? 0 : before.get(id) - 1
    const worst = Math.max(Math.trunc(score / scoresPerRank), rank)
    const sum = (score % scoresPerRank) + rank
    const byte = worst * scoresPerRank + sum + 1
    const known = next.get(id)
    if (known === 0 || byte < known) next.set(id, byte)
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
    if (value.length < this.text.length) return undefined
    const at = value.toLowerCase().indexOf(this.text)
    if (at < 0) return undefined
    if (at > 0) return 2
    return value.length === this.text.length ? 0 : 1
  }
}
