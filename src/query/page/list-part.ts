import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import {
  allOf,
  type Condition,
  namespacesOf,
  type RelatedStores,
  scopeCondition,
} from '../condition/condition.ts'
import type { IdSet } from '../condition/candidates.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { comparePositions, type ListOrder, type OrderPosition, positionOf } from './list-order.ts'
import { nextRows, type OrderedRows, orderedRows, type OrderedRowsOptions } from './ordered-rows.ts'
import type { ListPosition } from './cursor.ts'
import type { NumberColumns } from './sums.ts'
import { type Members, membersOf } from './value-counts.ts'

/*
 * The visible objects of one kind in one cluster that meet a condition. `visible` is the only place where the condition
 * of a request and the viewer's Scope are joined: pages, single objects, counts and sums all read through it.
 */

/** The objects that a request wants of a store. */
export interface WantedObjects {
  readonly view: StoreView
  /** The condition of the arguments and, on a connection, of the relation. */
  readonly condition: Condition
  readonly scope: Scope
  /** Needed by conditions on related objects. */
  readonly related?: RelatedStores | undefined
}

export interface RowsOptions extends WantedObjects {
  readonly budget: WorkBudget
}

/** A part of a list: the objects of one kind in one cluster. */
export interface ListPart extends WantedObjects {
  /** Unique among the parts, and the same on every replica. Parts are in the order of their names. */
  readonly name: string
  /** Of objects that their API server has ordered and cut to a page: such a part is the only one of its list. */
  readonly served?: ServedRows
}

/** The rows of a page that an API server has cut. */
export interface ServedRows {
  readonly rows: readonly ObjectId[]
  readonly hasNextPage: boolean
  /** What a cursor of the row at a position of the page leads on from. */
  positionAt(position: number): ListPosition
  /** The number of rows on all pages. Throws if the server does not say it. */
  totalCount(): number
}

/** The objects that a request may see: the request's condition and the viewer's Scope, bound to the store. */
interface VisibleSet {
  readonly set: IdSet
  readonly condition: Condition
  readonly namespaces: readonly string[] | undefined
}

function visible(
  { view, condition, scope, related }: WantedObjects,
  budget: WorkBudget,
): VisibleSet {
  const both = allOf([condition, scopeCondition(scope)])
  return {
    set: bindCondition(both, view, budget, related),
    condition: both,
    namespaces: namespacesOf(both),
  }
}

/** A part whose visible objects are bound to the store once they are read. */
export class VisiblePart<P extends ListPart> {
  readonly part: P
  #columns: NumberColumns | undefined
  readonly #budget: WorkBudget
  #visible: VisibleSet | undefined
  #members: Members | undefined

  constructor(part: P, budget: WorkBudget) {
    this.part = part
    this.#budget = budget
  }

  /** The columns of numbers that sums over this part have read. */
  get columns(): NumberColumns {
    return (this.#columns ??= new Map())
  }

  get #bound(): VisibleSet {
    if (this.#visible === undefined) {
      this.#visible = visible(this.part, this.#budget)
      this.#budget.report?.reading(this.part.view)
    }
    return this.#visible
  }

  rows(order: ListOrder, after: OrderPosition | undefined, limit: number): readonly ObjectId[] {
    return orderedRows(this.#rowsOptions(order, after, limit))
  }

  /** As `nextRows`. */
  nextRows(order: ListOrder, after: OrderPosition | undefined, limit: number): OrderedRows {
    return nextRows(this.#rowsOptions(order, after, limit))
  }

  /** About so many visible objects have a value in an index, if the visible ones are spread evenly. */
  withValue(index: string, value: string | undefined): number {
    if (value === undefined) return 0
    const { view } = this.part
    const visibleCount = this.#bound.set.count() ?? 0
    const { size = 0 } = view.index(index).posting(value) ?? {}
    return Math.ceil((size * visibleCount) / Math.max(1, view.size))
  }

  count(): number {
    return countMembers(this.part.view, this.#bound, this.#budget)
  }

  members(): Members {
    if (this.#members === undefined) {
      const { view } = this.part
      const { set, condition } = this.#bound
      const budget = this.#budget
      const isWhole = set.count() === view.size
      const members = isWhole ? undefined : membersOf({ view, set, condition, budget })
      this.#members = { view, members, budget }
    }
    return this.#members
  }

  #rowsOptions(
    order: ListOrder,
    after: OrderPosition | undefined,
    limit: number,
  ): OrderedRowsOptions {
    const { view } = this.part
    const { set, condition, namespaces } = this.#bound
    return { view, set, condition, namespaces, order, after, limit, budget: this.#budget }
  }
}

function countMembers(view: StoreView, { set, condition }: VisibleSet, budget: WorkBudget): number {
  return set.count() ?? membersOf({ view, set, condition, budget }).size
}

/** The position in a part that a position in the list means. Ties are in the order of the parts, whatever their keys. */
export function startIn({ name }: Pick<ListPart, 'name'>, at: ListPosition): OrderPosition {
  if (name === at.part) return at
  return { values: at.values, key: name < at.part ? beyondAllKeys : '' }
}

/** Sorts after every key: namespaces and names are ASCII. */
export const beyondAllKeys = '\uffff/\uffff'

export interface KeyRowsOptions extends RowsOptions {
  /** Only objects behind this key; backwards, before it. No object needs to have the key. */
  readonly after?: string | undefined
  /** Only objects up to this key. */
  readonly before?: string | undefined
  readonly backwards?: boolean
  /** At least 1. */
  readonly limit: number
}

/** The first visible objects that meet a condition, in key order; backwards, the last ones. */
export function listRows(options: KeyRowsOptions): readonly ObjectId[] {
  const { view, limit, budget, after, before, backwards = false } = options
  const order = { terms: [], backwards }
  const from = after === undefined ? undefined : { values: [], key: after }
  budget.report?.reading(view)
  const found = orderedRows({
    view,
    ...visible(options, budget),
    order,
    after: from,
    limit,
    budget,
  })
  const bound = before === undefined ? undefined : { values: [], key: before }
  const end =
    bound === undefined
      ? -1
      : found.findIndex((id) => comparePositions(positionOf(view, [], id), bound, order) >= 0)
  const rows = end < 0 ? found : found.slice(0, end)
  budget.report?.returned(rows.length)
  return rows
}

/** The first visible object that meets a condition: the answer of a field for one object. */
export function findObject(options: RowsOptions): ObjectId | undefined {
  return listRows({ ...options, limit: 1 })[0]
}

/** The number of visible objects that meet a condition. Throws `QueryTooCostlyError`. */
export function countObjects(options: RowsOptions): number {
  return countMembers(options.view, visible(options, options.budget), options.budget)
}
