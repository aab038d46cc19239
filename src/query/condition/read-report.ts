/*
 * Records what an operation reads, for explain: for each field, over all rows, the stores, how their objects were found, the
 * indexes that answered, and the parts of conditions that had to be tested. `at` names the field; everything that reads
 * reports to the field that was named last.
 */

import type { StoreView } from '../../informer/store/store-view.ts'

/**
 * How objects were found: by `key` or UID; from `postings`; in the `order` of the store or of an index, without a
 * condition; by a `scan`, in order with a test of each object; `live`, from the API server; or by a resolver of an
 * `extension`.
 */
export type Access = 'key' | 'postings' | 'order' | 'scan' | 'live' | 'extension'

/** What one field of an operation reads, over all rows. */
export interface FieldReads {
  /** The response keys from the root, without connections and edges: `deployments.pods`. */
  readonly place: string
  readonly views: Set<StoreView>
  readonly access: Set<Access>
  /** Parts of conditions that postings answered, so that only matching objects were examined. */
  readonly postings: Set<string>
  /** Parts that were tested on each value of their index; then the postings of matching values answered. */
  readonly values: Set<string>
  /** Parts that were tested on each examined object. */
  readonly tested: Set<string>
  /** Relations in conditions, followed from the filtered objects. */
  readonly forwards: Set<string>
  /** Relations in conditions, read backwards from the related objects. */
  readonly backwards: Set<string>
  /** The indexes that order the rows, besides namespace and name. */
  readonly order: Set<string>
  reads: number
  examined: number
  /** Parts of conditions prepared or tested. */
  tests: number
  /** Objects found, over all pages and look-ups. */
  returned: number
}

/** One part of a condition: `partsOf` in condition.ts makes them. */
export interface ConditionPart {
  /** `nodeName`, `labels["app"]`, `not phase`, `or(phase, restarts)`. */
  readonly name: string
  /** Whether index values are tested, instead of looked up. */
  readonly isTested: boolean
}

export class ReadReport {
  readonly #fields = new Map<string, FieldReads>()
  #now: FieldReads | undefined
  #place = ''

  /** Attributes all further reads to the field at this place. */
  at(place: string): void {
    if (place === this.#place) return
    this.#place = place
    this.#now = undefined
  }

  get now(): FieldReads {
    if (this.#now !== undefined) return this.#now
    let field = this.#fields.get(this.#place)
    if (field === undefined) this.#fields.set(this.#place, (field = newReads(this.#place)))
    return (this.#now = field)
  }

  /** A page or look-up begins. */
  reading(view: StoreView): void {
    this.now.reads += 1
    this.now.views.add(view)
  }

  /** Objects were found without a condition. */
  reached(access: Access): void {
    this.now.access.add(access)
  }

  /** A resolver of an extension gives the field. */
  called(): void {
    this.now.reads += 1
    this.now.access.add('extension')
  }

  /**
   * The field asks the API server. Returns the reads to complete when the answer arrives, since other fields read in
   * between.
   */
  reachedLive(): FieldReads {
    this.now.reads += 1
    this.now.access.add('live')
    return this.now
  }

  /**
   * A read searches the members of a condition: among the members of `from`, which are some of its parts, or among all
   * objects. `walked`: the parts that the walk itself enforces.
   */
  searched(
    condition: readonly ConditionPart[] | undefined,
    from: readonly ConditionPart[] | undefined,
    walked: readonly string[] = [],
  ): void {
    const { now } = this
    const answered = new Set(walked)
    for (const { name, isTested } of from ?? []) {
      if (isTested) now.values.add(name)
      else now.postings.add(name)
      answered.add(name)
    }
    for (const name of walked) now.postings.add(name)
    const rest = (condition ?? []).filter(({ name }) => !answered.has(name))
    for (const { name } of rest) now.tested.add(name)
    now.access.add(from !== undefined ? 'postings' : rest.length === 0 ? 'order' : 'scan')
  }

  /** A relation answered a condition on related objects. */
  related(relation: string, way: 'forwards' | 'backwards', view: StoreView): void {
    this.now[way].add(relation)
    this.now.views.add(view)
  }

  /** A page or look-up found `count` objects. */
  returned(count: number, order: readonly { readonly index: string }[] = []): void {
    this.now.returned += count
    for (const { index } of order) this.now.order.add(index)
  }

  /** The fields that have read something, in order of their first read. */
  fields(): readonly FieldReads[] {
    return [...this.#fields.values()].filter(({ reads, examined }) => reads > 0 || examined > 0)
  }
}

function newReads(place: string): FieldReads {
  return {
    place,
    views: new Set(),
    access: new Set(),
    postings: new Set(),
    values: new Set(),
    tested: new Set(),
    forwards: new Set(),
    backwards: new Set(),
    order: new Set(),
    reads: 0,
    examined: 0,
    tests: 0,
    returned: 0,
  }
}
