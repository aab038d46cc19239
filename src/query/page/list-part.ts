/*
 * The visible objects of one kind in one cluster that meet a condition. Only `VisiblePart` joins the condition of a request
 * and the viewer's Scope: pages, single objects, counts and sums all read through it.
 */

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
import type { ListOrder, OrderPosition } from './list-order.ts'
import { type OrderedRows, orderedRows, type OrderedRowsOptions } from './ordered-rows.ts'
import type { ListPosition } from './cursor.ts'
import type { NumberColumns } from './sums.ts'
import { type Members, membersOf } from './value-counts.ts'

export interface WantedObjects {
  readonly view: StoreView
  /** The condition of the arguments and, on a connection, of the relation. */
  readonly condition: Condition
  readonly scope: Scope
  /** Needed by conditions on related objects. */
  readonly related?: RelatedStores | undefined
}

export interface ListPart extends WantedObjects {
  /** Unique among the parts, and the same on every replica. Parts are in the order of their names. */
  readonly name: string
  /** Set if the API server has ordered the objects and cut them to a page. Such a part is the only one of its list. */
  readonly served?: ServedRows
}

/** The rows of a page that an API server has cut. */
export interface ServedRows {
  readonly rows: readonly ObjectId[]
  readonly hasNextPage: boolean
  /** The position in the list from which the cursor of a row continues. */
  positionAt(position: number): ListPosition
  /** The number of rows on all pages. Throws if the server does not say it. */
  totalCount(): number
}

/** The visible objects of a part, bound to the store once they are read. */
export class VisiblePart<P extends WantedObjects = WantedObjects> {
  readonly part: P
  #columns: NumberColumns | undefined
  readonly #budget: WorkBudget
  #visible:
    | {
        readonly set: IdSet
        readonly condition: Condition
        readonly namespaces: readonly string[] | undefined
      }
    | undefined
  #members: Members | undefined

  constructor(part: P, budget: WorkBudget) {
    this.part = part
    this.#budget = budget
  }

  /** The columns of numbers that sums over this part have read. */
  get columns(): NumberColumns {
    return (this.#columns ??= new Map())
  }

  get #bound() {
    if (this.#visible === undefined) {
      const { view, condition, scope, related } = this.part
      const both = allOf([condition, scopeCondition(scope)])
      this.#visible = {
        set: bindCondition(both, view, this.#budget, related),
        condition: both,
        namespaces: namespacesOf(both),
      }
      this.#budget.report?.reading(view)
    }
    return this.#visible
  }

  /** The first objects behind a key, in key order. No object needs to have the key. */
  first(after: string | undefined, limit: number): readonly ObjectId[] {
    const rows = this.rows(
      byKey,
      after === undefined ? undefined : { values: [], key: after },
      limit,
    )
    this.#budget.report?.returned(rows.length)
    return rows
  }

  rows(order: ListOrder, after: OrderPosition | undefined, limit: number): readonly ObjectId[] {
    return orderedRows(this.#rowsOptions(order, after, limit), false).rows
  }

  /** As {@link rows}, but may end early: see `orderedRows`. */
  nextRows(order: ListOrder, after: OrderPosition | undefined, limit: number): OrderedRows {
    return orderedRows(this.#rowsOptions(order, after, limit), true)
  }

  /** About how many visible objects have a value in an index, if the visible ones are spread evenly. */
  withValue(index: string, value: string | undefined): number {
    if (value === undefined) return 0
    const { view } = this.part
    const visibleCount = this.#bound.set.count() ?? 0
    const { size = 0 } = view.index(index).posting(value) ?? {}
    return Math.ceil((size * visibleCount) / Math.max(1, view.size))
  }

  count(): number {
    const { set, condition } = this.#bound
    const { view } = this.part
    return set.count() ?? membersOf({ view, set, condition, budget: this.#budget }).size
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

const byKey: ListOrder = { terms: [], backwards: false }

/** The position in a part that a position in the list means. Ties are in the order of the parts, whatever their keys. */
export function startIn({ name }: Pick<ListPart, 'name'>, at: ListPosition): OrderPosition {
  if (name === at.part) return at
  return { values: at.values, key: name < at.part ? beyondAllKeys : '' }
}

/** Sorts after every key: namespaces and names are ASCII. */
export const beyondAllKeys = '\uffff/\uffff'
