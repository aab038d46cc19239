/*
 * The terms that completions offer: names, namespaces and labels that at least one visible object has. For many objects, they
 * come from the indexes, and each term is tested for a visible object. For few, they are read from each object.
 */

import { folded } from '../../informer/store/term-list.ts'
import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { IdBytes } from '../condition/id-bytes.ts'
import { isInScope, type Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/** A field whose values are terms: a built-in index, or a label. */
export type TermField = 'name' | 'namespace' | { readonly label: string }

/**
 * The names, namespaces and labels of the objects of one kind that a viewer may see. A term that only hidden objects have
 * is not there. Valid within the tick.
 */
export interface VisibleTerms {
  readonly size: number
  /** The keys of labels, in no particular order. */
  labelKeys(): Iterable<string>
  /** The values that begin with a text, ignoring case, in the order of their lower-case forms. */
  values(field: TermField, start: string): Iterable<string>
  hasKey(key: string): boolean
  /** The number of objects with a value, or with any value; counted up to `most`. */
  count(field: TermField, value: string | undefined, most: number): number
}

interface VisibleTermsOptions {
  readonly view: StoreView
  readonly scope: Scope
  /** The namespaces that the request is limited to; `null`: any. */
  readonly namespaces: readonly string[] | null
  readonly budget: WorkBudget
}

/** Up to so many objects, reading the labels of each is faster than to test the terms of all. */
const fewObjects = 200

/** The visible terms of a store. The budget pays for each term, and for the objects that are examined for it. */
export function visibleTerms(options: VisibleTermsOptions): VisibleTerms {
  const { view, scope, namespaces, budget } = options
  if (scope.form === 'all' && namespaces === null) return new IndexedTerms(view, undefined, budget)
  const objects = visibleObjects(options)
  return objects.length <= fewObjects
    ? new FewTerms(view, objects, budget)
    : new IndexedTerms(view, objects, budget)
}

/** Passing so many objects takes as long as one test. */
const objectsPerTest = 8

function visibleObjects({
  view,
  scope,
  namespaces,
  budget,
}: VisibleTermsOptions): readonly ObjectId[] {
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

/** The terms of many objects: the terms in the indexes that at least one visible object has. */
class IndexedTerms implements VisibleTerms {
  readonly size: number
  readonly #view: StoreView
  /** `undefined`: all objects. */
  readonly #visible: readonly ObjectId[] | undefined
  readonly #isVisible = new IdBytes()
  readonly #budget: WorkBudget

  constructor(view: StoreView, visible: readonly ObjectId[] | undefined, budget: WorkBudget) {
    this.size = visible?.length ?? view.size
    this.#view = view
    this.#visible = visible
    this.#isVisible.setAll(visible ?? [], 1)
    this.#budget = budget
  }

  labelKeys(): Iterable<string> {
    return this.#view.labelKeys()
  }

  /**
   * Walks the terms in order, and tests each for a visible object. If most are hidden, that finds little: then it takes
   * the terms of the visible objects instead, and sorts them.
   */
  *values(field: TermField, start: string): Iterable<string> {
    this.#budget.spend('tests', testsPerStart)
    const index = indexOf(this.#view, field)
    if (index === undefined) return
    let left = this.#visible === undefined ? Infinity : this.#visible.length / 2
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

/** The terms of few objects, read from each of them. */
class FewTerms implements VisibleTerms {
  readonly size: number
  readonly #fields = new Map<string, Map<string, number>>()
  readonly #budget: WorkBudget

  constructor(view: StoreView, objects: Iterable<ObjectId>, budget: WorkBudget) {
    this.#budget = budget
    let size = 0
    for (const id of objects) {
      size += 1
      budget.spend('examined', 1)
      const { namespace, name } = splitObjectKey(view.keyOf(id))
      this.#add('name', name)
      if (namespace !== '') this.#add('namespace', namespace)
      for (const [key, value] of Object.entries(view.labelsOf(id))) this.#add({ label: key }, value)
    }
    this.size = size
  }

  *labelKeys(): Iterable<string> {
    for (const name of this.#fields.keys()) if (name.startsWith(labelled)) yield name.slice(1)
  }

  values(field: TermField, start: string): Iterable<string> {
    const wanted = start.toLowerCase()
    const found: string[] = []
    for (const value of this.#fields.get(nameOf(field))?.keys() ?? []) {
      this.#budget.spend('tests', 1)
      if (value.toLowerCase().startsWith(wanted)) found.push(value)
    }
    this.#budget.spend('tests', found.length)
    return found.toSorted(compareTerms)
  }

  hasKey(key: string): boolean {
    return this.#fields.has(nameOf({ label: key }))
  }

  count(field: TermField, value: string | undefined, most: number): number {
    const counts = this.#fields.get(nameOf(field))
    if (value !== undefined) return Math.min(counts?.get(value) ?? 0, most)
    let sum = 0
    for (const count of counts?.values() ?? []) sum += count
    return Math.min(sum, most)
  }

  #add(field: TermField, value: string): void {
    const name = nameOf(field)
    let counts = this.#fields.get(name)
    if (counts === undefined) this.#fields.set(name, (counts = new Map()))
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
}

const labelled = '='

function nameOf(field: TermField): string {
  return typeof field === 'string' ? field : labelled + field.label
}

function indexOf(view: StoreView, field: TermField): IndexView | undefined {
  return typeof field === 'string' ? view.index(field) : view.label(field.label)
}
