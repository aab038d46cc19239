import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../condition/argument-error.ts'
import { allOf, type Condition, namespacesOf } from '../condition/condition.ts'
import { decodeCursor, encodeCursor, type ListIdentity, listHash } from './cursor.ts'
import { bindCondition, type IdSet } from '../condition/id-set.ts'
import { orderedMembers } from './ordered-members.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { type Scope, scopeCondition } from '../condition/scope.ts'

export const defaultPageSize = 100
export const defaultMaxPageSize = 500

/** A page size below 0, above the largest one, or not whole. */
export class PageSizeError extends ArgumentError {
  constructor(argument: string, value: unknown, maxPageSize: number) {
    super(argument, `must be a whole number from 0 to ${maxPageSize}, not ${String(value)}`, {
      value,
      hint: 'ask for a smaller page and go on with `after`',
    })
  }
}

/** The rows that a viewer asks for. */
export interface RowsOptions {
  readonly view: StoreView
  /** What the arguments and, on a connection, the relation ask for. */
  readonly condition: Condition
  readonly scope: Scope
  readonly budget: WorkBudget
}

export interface PageOptions extends RowsOptions {
  /** What the cursors are bound to. */
  readonly identity: ListIdentity
  /** `defaultPageSize` where null or absent. */
  readonly first?: number | null | undefined
  /** A cursor of the same list. */
  readonly after?: string | null | undefined
  readonly maxPageSize?: number
}

/** One page of a list. Valid within the tick: it holds ids, and counts when asked to. */
export interface Page {
  readonly ids: readonly ObjectId[]
  readonly hasNextPage: boolean
  /** Whether it was asked for with a cursor, so that something came before. */
  readonly hasPreviousPage: boolean
  /** The cursor of one of its objects. */
  cursorOf(id: ObjectId): string
  /** All objects of the list, on every page. May look at each of them: throws `QueryTooCostlyError`. */
  totalCount(): number
}

/**
 * One page of the objects that meet a condition and that the viewer may see, in the order of namespace, then name. Throws
 * {@link PageSizeError}, `CursorError` and `QueryTooCostlyError`.
 */
export function listPage(options: PageOptions): Page {
  const { view, identity, after } = options
  const size = pageSize(options.first, options.maxPageSize ?? defaultMaxPageSize)
  let hash: string | undefined
  const hashOnce = () => (hash ??= listHash(identity))
  const isFirst = after === undefined || after === null
  const ids = listRows({
    ...options,
    after: isFirst ? undefined : decodeCursor(after, hashOnce(), 'after'),
    limit: size + 1,
  })
  const hasNextPage = ids.length > size
  if (hasNextPage) ids.length = size
  return {
    ids,
    hasNextPage,
    hasPreviousPage: !isFirst,
    cursorOf: (id) => encodeCursor(hashOnce(), view.keyOf(id)),
    totalCount: () => (isFirst && !hasNextPage ? ids.length : countObjects(options)),
  }
}

/** The first objects after a key that meet a condition and that the viewer may see; `limit` is at least 1. */
export function listRows(
  options: RowsOptions & { readonly after: string | undefined; readonly limit: number },
): ObjectId[] {
  const { view, after, limit, budget } = options
  return orderedMembers({ view, ...visible(options), after, limit, budget })
}

/** The first object that meets a condition and that the viewer may see: what a field for one object answers. */
export function findObject(options: RowsOptions): ObjectId | undefined {
  return listRows({ ...options, after: undefined, limit: 1 })[0]
}

/** How many objects meet a condition and may be seen by the viewer. Throws `QueryTooCostlyError`. */
export function countObjects(options: RowsOptions): number {
  const { view, budget } = options
  const { set } = visible(options)
  const known = set.count()
  if (known !== undefined) return known
  const candidates = set.candidates(view.size >> 1)
  budget.spend('examined', candidates?.size ?? view.size)
  let count = 0
  for (const id of candidates?.ids() ?? view.ids()) if (set.has(id)) count += 1
  return count
}

/** The one place where what is asked for meets what may be seen. */
function visible({ view, condition, scope, budget }: RowsOptions): {
  set: IdSet
  namespaces: readonly string[] | undefined
} {
  const both = allOf([condition, scopeCondition(scope)])
  return { set: bindCondition(both, view, budget), namespaces: namespacesOf(both) }
}

/** The page size that is asked for. Throws {@link PageSizeError}. */
export function pageSize(first: number | null | undefined, maxPageSize: number): number {
  if (first === undefined || first === null) return Math.min(defaultPageSize, maxPageSize)
  if (!Number.isInteger(first) || first < 0 || first > maxPageSize) {
    throw new PageSizeError('first', first, maxPageSize)
  }
  return first
}
