/*
 * Completes the last word of a search text. Each completion is a term that at least one visible object has: a name, a
 * namespace, a key or a value of a label, a kind. `searches` finds the first terms of each form in the sorted terms of the
 * indexes. The forms share the size of the answer evenly, and the others get what one leaves. `VisibleTerms` has the
 * terms of a store: they come from its indexes, and each is tested for a visible object, or from the visible objects if these
 * are few.
 */

import { folded } from '../../informer/store/term-list.ts'
import type { StoreView, IndexView, ObjectId } from '../../informer/store/store-view.ts'
import { type Scope, isInScope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { pageSizeOf } from './page.ts'
import { textWord, type UnfinishedWord } from './search-text.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { IdBytes } from '../condition/id-bytes.ts'

/** What a word may become, in the order of the answer. */
export const completionTerms = ['NAME', 'NAMESPACE', 'LABEL_KEY', 'LABEL_VALUE', 'KIND'] as const

export type CompletionTerm = (typeof completionTerms)[number]

export interface Completion {
  readonly term: CompletionTerm
  /** The name, the namespace, the key, the value, or the kind. */
  readonly text: string
  readonly insert: string
  /** The type of the objects that have it. If several types do: the first one in the order of a search. */
  readonly type: string
  /** The number of visible objects that have it, counted up to {@link maxCounted}. */
  readonly count: number
}

export interface CompletedPart {
  readonly type: string
  /** The place of the kind in the order of a search. */
  readonly place: number
  /** The name of the kind, and how a search text names it. */
  readonly kind: string
  readonly kindWord: string
  /** What the kind may be called, in lower case. */
  readonly kindNames: readonly string[]
  readonly view: StoreView
  readonly scope: Scope
}

export interface CompletionsOptions {
  readonly parts: readonly CompletedPart[]
  readonly word: UnfinishedWord
  /** The terms to find; `null`: all that the word may become. */
  readonly terms: readonly CompletionTerm[] | null
  /** The namespaces that the request is limited to; `null`: any. */
  readonly namespaces: readonly string[] | null
  readonly first: number | null | undefined
  readonly budget: WorkBudget
}

export interface Completions {
  readonly completions: readonly Completion[]
  /** Whether there are more than the first ones. */
  readonly hasMore: boolean
}

/** Counting stops here, since all objects may have a term. */
export const maxCounted = 1_000
const defaultCompletions = 10
const maxCompletions = 100
/** Preparing a kind takes as long as so many tests. */
const testsPerKind = 20
/** Answering one term takes as long as so many tests. */
const testsPerAnswered = 5

/**
 * The first ways to complete a word. The terms of one form are in the order of their lower-case forms; names of workloads
 * come before names of their parts. Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function completionsOf(options: CompletionsOptions): Completions {
  const { word, budget, namespaces } = options
  const size = sizeOf(options.first)
  budget.spend('tests', testsPerKind * (1 + options.parts.length))
  const parts = options.parts
    .map((part) => ({ ...part, terms: new VisibleTerms({ ...part, namespaces, budget }) }))
    .filter(({ terms }) => terms.size > 0)
    .toSorted((a, b) => a.place - b.place || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0))
  // Without a letter, names and label values are too many to help: the caller has to ask for them.
  const isFewOnly = options.terms === null && word.start === ''
  const becomes: Readonly<Record<UnfinishedWord['form'], readonly CompletionTerm[]>> = {
    text: isFewOnly ? ['NAMESPACE', 'LABEL_KEY', 'KIND'] : completionTerms,
    kind: ['KIND'],
    namespace: ['NAMESPACE'],
    label: ['LABEL_VALUE'],
  }
  const found = becomes[word.form]
    .filter((term) => options.terms?.includes(term) !== false)
    .map((term) => searches[term]({ parts, word, limit: size + 1, budget }))
  const shares = sharesOf(options.first, found)
  const completions = found.flatMap((terms, at) => {
    return terms.slice(0, shares[at]).map(({ field, value, ...term }) => {
      budget.spend('tests', testsPerAnswered)
      let count = 0
      for (const part of parts) {
        const most = maxCounted - count
        if (most === 0) break
        if (field !== undefined) count += part.terms.count(field, value, most)
        else if (part.type === term.type) count += Math.min(part.terms.size, most)
      }
      return { ...term, count }
    })
  })
  const hasMore = found.some(({ length }, at) => length > (shares[at] ?? 0))
  return { completions, hasMore }
}

function sizeOf(first: number | null | undefined): number {
  return pageSizeOf({ first: first ?? defaultCompletions }, maxCompletions).size
}

/** How many terms of each form are answered: each form gets one more in turn, until there are `first`. */
export function sharesOf(
  first: number | null | undefined,
  found: readonly { readonly length: number }[],
): readonly number[] {
  const shares = found.map(() => 0)
  let left = Math.min(
    sizeOf(first),
    found.reduce((sum, { length }) => sum + length, 0),
  )
  while (left > 0) {
    for (const [at, { length }] of found.entries()) {
      const share = shares[at] ?? 0
      if (left === 0 || share >= length) continue
      shares[at] = share + 1
      left -= 1
    }
  }
  return shares
}

interface SeenPart extends CompletedPart {
  readonly terms: VisibleTerms
}

interface TermSearch {
  readonly parts: readonly SeenPart[]
  readonly word: UnfinishedWord
  readonly limit: number
  readonly budget: WorkBudget
}

/** A term before its objects are counted. */
interface FoundTerm extends Omit<Completion, 'count'> {
  /** The field whose objects are counted; absent: all objects of the type. */
  readonly field?: TermField
  readonly value?: string
}

type Search = (search: TermSearch) => readonly FoundTerm[]

const searches: Readonly<Record<CompletionTerm, Search>> = {
  /** Goes through the types in the order of a search. The first type that has a name keeps it. */
  NAME({ parts, word: { start }, limit }) {
    const found = new Map<string, FoundTerm>()
    for (const [type, ofType] of Map.groupBy(parts, (part) => part.type)) {
      const first = new FirstTerms(limit - found.size)
      for (const { terms } of ofType) {
        for (const text of terms.values('name', start)) {
          if (found.has(text)) continue
          const isNear = first.add(folded(text), text, () => {
            return { term: 'NAME', text, insert: textWord(text), type, field: 'name', value: text }
          })
          if (!isNear) break
        }
      }
      for (const one of first.terms()) found.set(one.text, one)
      if (found.size >= limit) break
    }
    return [...found.values()]
  },
  NAMESPACE({ parts, word, limit }) {
    const head = word.form === 'namespace' ? word.head : 'namespace:'
    const first = new FirstTerms(limit)
    for (const part of parts) first.addValues('NAMESPACE', part, 'namespace', word.start, head)
    return first.terms()
  },
  /** Keys that begin with the text, then those whose name behind the prefix of a domain does. */
  LABEL_KEY({ parts, word, limit, budget }) {
    const start = word.start.toLowerCase()
    const first = new FirstTerms(limit)
    for (const { terms, type } of parts) {
      for (const text of terms.labelKeys()) {
        budget.spend('tests', 1)
        const key = text.toLowerCase()
        const isStart = key.startsWith(start)
        if (!isStart && !key.startsWith(start, key.indexOf('/') + 1)) continue
        if (!terms.hasKey(text)) continue
        first.add((isStart ? '0' : '1') + folded(text), text, () => {
          return { term: 'LABEL_KEY', text, insert: `${text}=`, type, field: { label: text } }
        })
      }
    }
    return first.terms()
  },
  /** The values of one key or, if the word names no key, of any key. */
  LABEL_VALUE({ parts, word, limit }) {
    const first = new FirstTerms(limit)
    for (const part of parts) {
      for (const key of word.form === 'label' ? [word.key] : part.terms.labelKeys()) {
        const head = word.form === 'label' ? word.head : `${key}=`
        first.addValues('LABEL_VALUE', part, { label: key }, word.start, head)
      }
    }
    return first.terms()
  },
  KIND({ parts, word, limit, budget }) {
    const start = word.start.toLowerCase()
    const head = word.form === 'kind' ? word.head : 'kind:'
    const first = new FirstTerms(limit)
    for (const { type, kind, kindWord, kindNames } of parts) {
      budget.spend('tests', 1)
      if (!kindNames.some((name) => name.startsWith(start))) continue
      first.add(folded(kind), type, () => {
        return { term: 'KIND', text: kind, insert: head + kindWord, type }
      })
    }
    return first.terms()
  },
}

interface OrderedTerm {
  readonly order: string
  readonly id: string
  readonly found: FoundTerm
}

/** The first of the terms that are added, each once, by an order and then by their ids. */
class FirstTerms {
  readonly #limit: number
  readonly #rows: OrderedTerm[] = []
  readonly #ids = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns false if the term comes behind the first ones, and so does each that follows it in the order. */
  add(order: string, id: string, found: () => FoundTerm): boolean {
    if (this.#ids.has(id)) return true
    const rows = this.#rows
    let at = rows.length
    for (let row = rows[at - 1]; row !== undefined; row = rows[at - 1]) {
      if (order === row.order ? id >= row.id : order > row.order) break
      at -= 1
    }
    if (at >= this.#limit) return false
    rows.splice(at, 0, { order, id, found: found() })
    this.#ids.add(id)
    const last = rows.length > this.#limit ? rows.pop() : undefined
    if (last !== undefined) this.#ids.delete(last.id)
    return true
  }

  /** Adds the values of a field that begin with a text. `head` is written in front of each. */
  addValues(
    term: CompletionTerm,
    { terms, type }: SeenPart,
    field: TermField,
    start: string,
    head: string,
  ): void {
    for (const text of terms.values(field, start)) {
      // `team=` asks for any value.
      if (text === '') continue
      const insert = head + text
      const isNear = this.add(folded(text), insert, () => {
        return { term, text, insert, type, field, value: text }
      })
      if (!isNear) return
    }
  }

  terms(): readonly FoundTerm[] {
    return this.#rows.map(({ found }) => found)
  }
}

/** A field whose values are terms: a built-in index, or a label. */
type TermField = 'name' | 'namespace' | { readonly label: string }

/** Up to so many objects, reading the terms of each is faster than to test the terms of all. */
const fewObjects = 200

/** Passing so many objects takes as long as one test. */
const objectsPerTest = 8

/** The visible objects; `undefined`: all of the store. */
function visibleObjects({
  view,
  scope,
  namespaces,
  budget,
}: VisibleTermsOptions): readonly ObjectId[] | undefined {
  if (scope.form === 'all' && namespaces === null) return undefined
  const objects: ObjectId[] = []
  if (scope.form === 'names') {
    for (const key of scope.keys) {
      budget.spend('tests', 1)
      const id = view.idOf(key)
      const isMeant = namespaces?.includes(splitObjectKey(key).namespace) ?? true
      if (id !== undefined && isMeant) objects.push(id)
    }
    return objects
  }
  const index = view.index('namespace')
  const within = namespaces ?? (scope.form === 'namespaces' ? scope.namespaces : index.values())
  for (const namespace of new Set(within)) {
    const posting = isInScope(scope, `${namespace}/`) ? index.posting(namespace) : undefined
    budget.spend('tests', 1 + (posting?.size ?? 0) / objectsPerTest)
    for (const id of posting ?? []) objects.push(id)
  }
  return objects
}

/** Looking up the objects of a term takes as long as so many tests. */
const testsPerTerm = 2
/** Finding where terms begin takes as long as so many tests. */
const testsPerStart = 4

interface VisibleTermsOptions {
  readonly view: StoreView
  readonly scope: Scope
  /** The namespaces that the request is limited to; `null`: any. */
  readonly namespaces: readonly string[] | null
  readonly budget: WorkBudget
}

/**
 * The names, namespaces and labels of the objects of one kind that a viewer may see: the terms in the indexes that at least
 * one visible object has. Valid within the tick. The budget pays for each term, and for the objects that are examined.
 */
class VisibleTerms {
  readonly size: number
  readonly #view: StoreView
  /** `undefined`: all objects. */
  readonly #visible: readonly ObjectId[] | undefined
  readonly #isVisible = new IdBytes()
  readonly #isFew: boolean
  readonly #budget: WorkBudget
  #labelKeys: Iterable<string> | undefined

  constructor(options: VisibleTermsOptions) {
    const { view, budget } = options
    const visible = visibleObjects(options)
    this.size = visible?.length ?? view.size
    this.#view = view
    this.#visible = visible
    this.#isVisible.setAll(visible ?? [], 1)
    this.#isFew = visible !== undefined && visible.length <= fewObjects
    this.#budget = budget
  }

  /** The keys of labels, in no particular order. Among many objects, hidden ones may have them. */
  labelKeys(): Iterable<string> {
    if (!this.#isFew) return this.#view.labelKeys()
    if (this.#labelKeys === undefined) {
      this.#budget.spend('examined', this.size)
      this.#labelKeys = new Set(
        this.#visible?.flatMap((id) => Object.keys(this.#view.labelsOf(id))),
      )
    }
    return this.#labelKeys
  }

  /**
   * The values that begin with a text, ignoring case, in the order of their lower-case forms. Walks the terms in order, and
   * tests each for a visible object. If few objects are visible, or most of the terms are hidden, that finds little: then it
   * takes the terms of the visible objects instead, and sorts them.
   */
  *values(field: TermField, start: string): Iterable<string> {
    this.#budget.spend('tests', testsPerStart)
    const index = indexOf(this.#view, field)
    if (index === undefined) return
    let left = this.#visible === undefined ? Infinity : this.#isFew ? 0 : this.size / 2
    let last = ''
    for (const value of index.terms(start)) {
      this.#budget.spend('tests', testsPerTerm)
      left -= 1
      if (left < 0) {
        yield* this.#sortedValues(index, start, last)
        return
      }
      last = value
      if (this.#visible === undefined || this.#countIn(index, value, 1) > 0) yield value
    }
  }

  hasKey(key: string): boolean {
    return this.count({ label: key }, undefined, 1) > 0
  }

  /** The number of objects with a value, or with any value; counted up to `most`. */
  count(field: TermField, value: string | undefined, most: number): number {
    const index = indexOf(this.#view, field)
    if (index === undefined) return 0
    if (this.#visible !== undefined) return this.#countIn(index, value, most)
    const size = value === undefined ? index.objectCount : (index.posting(value)?.size ?? 0)
    return Math.min(size, most)
  }

  /** The terms of visible objects behind the last one. */
  #sortedValues(index: IndexView, start: string, last: string): readonly string[] {
    const visible = this.#visible ?? []
    this.#budget.spend('tests', visible.length)
    const [first, behind] = [start.toLowerCase(), folded(last)]
    const found = new Set<string>()
    for (const id of visible) {
      const value = index.endValue(id, false)
      if (value === undefined || found.has(value)) continue
      const key = folded(value)
      if (key.startsWith(first) && key > behind) found.add(value)
    }
    this.#budget.spend('tests', testsPerTerm * found.size)
    return [...found].toSorted(compareTerms)
  }

  /**
   * Counts visible objects with a value, or with any: among the objects that have it or among all visible ones, whichever are
   * fewer.
   */
  #countIn(index: IndexView, value: string | undefined, most: number): number {
    const visible = this.#visible ?? []
    let looked = 0
    let count = 0
    const posting = value === undefined ? undefined : index.posting(value)
    if (posting !== undefined && posting.size < visible.length) {
      for (const id of posting) {
        looked += 1
        if (this.#isVisible.get(id) !== 0) count += 1
        if (count >= most) break
      }
    } else if (value === undefined || posting !== undefined) {
      for (const id of visible) {
        looked += 1
        const own = index.endValue(id, false)
        if (value === undefined ? own !== undefined : own === value) count += 1
        if (count >= most) break
      }
    }
    this.#budget.spend('tests', looked / objectsPerTest)
    return count
  }
}

function compareTerms(a: string, b: string): number {
  const [one, other] = [folded(a), folded(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

function indexOf(view: StoreView, field: TermField): IndexView | undefined {
  return typeof field === 'string' ? view.index(field) : view.label(field.label)
}
