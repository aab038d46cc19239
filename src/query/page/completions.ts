/*
 * Completes the last word of a search text. Each completion is a term that at least one visible object has: a name, a
 * namespace, a key or a value of a label, a kind. `searches` finds the first terms of each form in the sorted terms of the
 * indexes. The forms share the size of the answer evenly, and the others get what one leaves.
 */

import { folded } from '../../informer/store/term-list.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import type { Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { pageSizeOf } from './page.ts'
import { textWord, type UnfinishedWord } from './search-text.ts'
import { type TermField, visibleTerms, type VisibleTerms } from './visible-terms.ts'

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
const maxCounted = 1_000
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
  const { size } = pageSizeOf({ first: options.first ?? defaultCompletions }, maxCompletions)
  budget.spend('tests', testsPerKind * (1 + options.parts.length))
  const parts = options.parts
    .map((part) => ({ ...part, terms: visibleTerms({ ...part, namespaces, budget }) }))
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
  // Each form gets one more term in turn, until there are `size`.
  const shares = found.map(() => 0)
  let left = Math.min(
    size,
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

interface VisiblePart extends CompletedPart {
  readonly terms: VisibleTerms
}

interface TermSearch {
  readonly parts: readonly VisiblePart[]
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
    { terms, type }: VisiblePart,
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
