import {
  allOf,
  type Condition,
  everything,
  type RelatedStores,
} from '../../query/condition/condition.ts'
import { compileListCondition, type ListArguments } from '../../query/condition/list-condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { listPage, type Page } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import type { ListFieldArguments, OrderKey } from '../schema/read-arguments.ts'
import type { KindView } from './kind-view.ts'
import type { ServedSchema } from './served-schema.ts'

/** What the arguments of a list ask for, read once for all rows that ask the same. */
export interface ListRequest {
  readonly args: ListFieldArguments
  readonly condition: Condition
  readonly terms: readonly OrderTerm[]
  /** What its cursors are bound to besides the list. */
  readonly identity: ListArguments & {
    readonly ids: readonly string[] | null
    readonly orderBy: readonly OrderKey[] | null
  }
}

/** Reads the arguments of a list of a kind. Throws `ArgumentError`, naming the one that cannot be honoured. */
export function listRequest(
  { relations }: ServedSchema,
  kind: Kind,
  args: ListFieldArguments,
): ListRequest {
  const { ids = null, namespace = null, namespaces = null, labelSelector = null } = args
  const { where = null, orderBy = null } = args
  const filter = { namespace, namespaces, labelSelector, where }
  const isOpen = Object.values(filter).every((value) => value === null)
  return {
    args,
    condition: isOpen
      ? everything
      : compileListCondition(filter, kind.indexes, relations.whereFields(kind).related),
    terms: compileOrder(orderBy, kind.indexes),
    identity: { ids, ...filter, orderBy },
  }
}

/** Which list a page is of. */
export interface ListPlace {
  /** Names the list within its cluster, so that its cursors are good for no other. */
  readonly list: string
  /** What is asked for besides the arguments: a relation's condition, some ids. */
  readonly condition: Condition
}

/** What pages are made with. */
export interface PageMeans {
  readonly budget: WorkBudget
  readonly maxPageSize: number
  /** What conditions on related objects read in a cluster. */
  readonly related: (cluster: string) => RelatedStores
}

/** A page is begun, and its connection written, in the time of so many tests: relations of many rows have one each. */
const testsPerPage = 70

/** One page of a list. Throws as `listPage` does. */
export function pageOf(
  { cluster, view, scope }: KindView,
  { list, condition }: ListPlace,
  request: ListRequest,
  { related, ...limits }: PageMeans,
): Page {
  const { first, after, last, before } = request.args
  limits.budget.spend('tests', testsPerPage)
  return listPage({
    ...limits,
    related: related(cluster),
    view,
    scope,
    condition: allOf([condition, request.condition]),
    terms: request.terms,
    identity: { list: `${cluster}/${list}`, ...request.identity },
    first,
    after,
    last,
    before,
  })
}
