import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type Condition, everything } from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/** One kind that is searched. */
export interface SearchPart {
  /** Unique among the parts and the same on every replica; no `:`. */
  readonly type: string
  readonly view: StoreView
  /** Indexes of strings whose values are searched besides names and labels. */
  readonly indexes: readonly string[]
  /** Which objects are asked for and may be seen. */
  readonly condition: Condition
}

/** By which value an object was found: of its `name`, of `labels["app"]`, or of an index. */
export interface SearchMatch {
  readonly matched: string
  readonly value: string
  /** From 0, the best, below {@link searchRanks}. */
  readonly rank: number
}

/** What was found of one kind. Valid within the tick. */
export interface SearchedPart extends SearchPart {
  /** How many objects. */
  readonly size: number
  /** The objects of one rank, in no particular order. */
  ofRank(rank: number): Iterable<ObjectId>
  /** The best match of an object that was found. */
  matchOf(id: ObjectId): SearchMatch
}

/** What a search looks for, and what pays for it. */
export interface SearchTerms {
  readonly text: string
  readonly budget: WorkBudget
}

/** The whole, the beginning or a part: of the name, then of anything else. */
export const searchRanks = 6
const ranksPerField = 3

/** A value of twice so many characters, as a power of two, takes twice as long to search. */
const longValueBits = 8

/** Taking the objects of a value takes as long as trying the text on so many. */
const testsPerFound = 3

/** So many objects are asked for their values in the time in which all values of the indexes are tried. */
const objectsPerView = 16

/** Finds the objects of a part; pays for each value that is tried and each object that is found. Throws `QueryTooCostlyError`. */
export function searchPart(part: SearchPart, { text, budget }: SearchTerms): SearchedPart {
  const matcher = new Matcher(text.toLowerCase(), budget)
  const ranks = new Ranks()
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
      if (match !== undefined) ranks.set(id, match.rank)
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
          if (set === undefined || set.has(id)) ranks.set(id, base + quality)
        }
      }
    }
  }
  budget.report?.returned(ranks.size)
  return {
    ...part,
    size: ranks.size,
    ofRank: (rank) => ranks.ofRank(rank),
    matchOf: (id) =>
      bestMatch(part, id, matcher) ?? { matched: 'name', value: nameOf(part, id), rank: 0 },
  }
}

interface SearchField {
  readonly index: IndexView
  readonly name: string
  /** The rank of a whole value. */
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

/** The same for one object, from its own values. */
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

/** Tries a text on values: 0 for all of a value, 1 for its beginning, 2 for a part. */
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

/** The best rank of each object that was found. */
class Ranks {
  /** By id, one more than the rank; 0 for what was not found. */
  #ranks = new Uint8Array(1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  set(id: ObjectId, rank: number): void {
    if (id >= this.#ranks.length) {
      const larger = new Uint8Array(Math.max(2 * this.#ranks.length, id + 1))
      larger.set(this.#ranks)
      this.#ranks = larger
    }
    const before = this.#ranks[id] ?? 0
    if (before === 0) this.#size += 1
    if (before === 0 || rank + 1 < before) this.#ranks[id] = rank + 1
  }

  *ofRank(rank: number): IterableIterator<ObjectId> {
    if (this.#size === 0) return
    for (let id = 0; id < this.#ranks.length; id++) if (this.#ranks[id] === rank + 1) yield id
  }
}
