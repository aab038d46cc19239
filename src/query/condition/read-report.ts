import type { StoreView } from '../../informer/store/store-view.ts'
import type { Condition, IndexReference } from './condition.ts'

/**
 * How objects were come by: by their `key` or UID, from `postings`, in the kept `order` without a condition, or in that order
 * with each object tried on a condition, which is a `scan`; or `live` from the API server.
 */
export type Access = 'key' | 'postings' | 'order' | 'scan' | 'live'

/** What one field of an operation has read, on all rows that it was asked of. */
export interface FieldReads {
  /** The response keys from the root, without those of connections and edges: `deployments.pods`. */
  readonly place: string
  readonly views: Set<StoreView>
  readonly access: Set<Access>
  /** Parts of conditions that postings answered: only their objects were examined. */
  readonly postings: Set<string>
  /** Parts that were answered by trying each value of their index, whose postings then were. */
  readonly values: Set<string>
  /** Parts that were tried on each object that was examined. */
  readonly tested: Set<string>
  /** Relations that conditions on other objects were answered by, from the objects that are asked about. */
  readonly forwards: Set<string>
  /** The same, from the other objects. */
  readonly backwards: Set<string>
  /** What the rows are ordered by, besides namespace and name. */
  readonly order: Set<string>
  /** How many pages and look-ups. */
  reads: number
  /** Objects looked at. */
  examined: number
  /** Parts of conditions made ready or tried. */
  tests: number
  /** Objects found, by all pages and look-ups. */
  returned: number
}

/** Takes down what an operation reads. There is one only where somebody asked for it. */
export class ReadReport {
  readonly #fields = new Map<string, FieldReads>()
  #now: FieldReads | undefined
  #place = ''

  /** What is read from now on is read for the field at this place. */
  at(place: string): void {
    if (place === this.#place) return
    this.#place = place
    this.#now = undefined
  }

  /** The field that reads at the moment. */
  get now(): FieldReads {
    if (this.#now !== undefined) return this.#now
    let field = this.#fields.get(this.#place)
    if (field === undefined) this.#fields.set(this.#place, (field = newReads(this.#place)))
    return (this.#now = field)
  }

  /** One page or look-up has begun. */
  reading(view: StoreView): void {
    this.now.reads += 1
    this.now.views.add(view)
  }

  /** Objects were come by without a condition on them. */
  reached(access: Access): void {
    this.now.access.add(access)
  }

  /** The API server is asked; the answer comes later, when another field reads. */
  reachedLive(): FieldReads {
    this.now.reads += 1
    this.now.access.add('live')
    return this.now
  }

  /**
   * Members of a condition are looked for among those that meet `from`, a part of it, or among all objects. `walked` names the
   * parts that the walk itself keeps to.
   */
  searched(
    condition: Condition,
    from: Condition | undefined,
    walked: readonly string[] = [],
  ): void {
    const { now } = this
    const isNamed = from !== undefined && from.form !== 'everything'
    const answered = new Set(walked)
    for (const part of from === undefined ? [] : partsOf(from)) {
      const name = nameOf(part)
      const isTried = part.form === 'ranges' || part.form === 'tests'
      if (isTried) now.values.add(name)
      else now.postings.add(name)
      answered.add(name)
    }
    for (const name of walked) now.postings.add(name)
    const rest = partsOf(condition).flatMap((part) => {
      const name = nameOf(part)
      return answered.has(name) ? [] : [name]
    })
    for (const name of rest) now.tested.add(name)
    now.access.add(isNamed ? 'postings' : rest.length === 0 ? 'order' : 'scan')
  }

  /** A condition on related objects, which a store holds, was answered by its relation in one of the two ways. */
  related(relation: string, way: 'forwards' | 'backwards', view: StoreView): void {
    this.now[way].add(relation)
    this.now.views.add(view)
  }

  /** A page or look-up has found so many objects, in an order. */
  returned(count: number, order: readonly { readonly index: string }[] = []): void {
    this.now.returned += count
    for (const { index } of order) this.now.order.add(index)
  }

  /** The fields that have read something, in the order in which they first did. */
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

function partsOf(condition: Condition): readonly Condition[] {
  if (condition.form === 'everything' || condition.form === 'nothing') return []
  return condition.form === 'and' ? condition.conditions : [condition]
}

/** `nodeName`, `labels["app"]`, `not phase`, `or(phase, restarts)`. */
function nameOf(condition: Condition): string {
  switch (condition.form) {
    case 'values':
    case 'ranges':
    case 'tests':
      return nameOfIndex(condition.index)
    case 'not':
      return `not ${nameOf(condition.condition)}`
    case 'and':
    case 'or':
      return `${condition.form}(${condition.conditions.map(nameOf).join(', ')})`
    case 'keys':
      return 'key'
    case 'related':
      return `${condition.field}(${nameOf(condition.condition)})`
    case 'everything':
    case 'nothing':
      return condition.form
  }
}

function nameOfIndex({ form, name }: IndexReference): string {
  return form === 'label' ? `labels[${JSON.stringify(name)}]` : name
}
