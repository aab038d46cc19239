/*
 * The connections of fields over several kinds. A field finds its places (`Places`: kinds in clusters, and what could not
 * be read), and gives each part a condition. `kindsConnection` reads one page of all parts. The value of a connection has
 * the fields of its type as members, each computed when a field asks for it, within the tick that read the page. For a
 * list of one kind, `plan/plan.ts` writes the rows from their bare ids (`ReadPage`).
 */

import type { Condition } from '../../../query/condition/condition.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import type { ListIdentity } from '../../../query/page/cursor.ts'
import type { OrderTerm } from '../../../query/page/list-order.ts'
import { listPage, type ListPageBounds, type PageOf } from '../../../query/page/page.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import type { TypeCount } from '../../schema/gateway-types.ts'
import { pageInfoOf, paidRows } from '../list-read.ts'
import { StoredObject } from '../direct/direct-reads.ts'
import type { PlacesRead } from '../places.ts'
import type { ReadRun } from '../read-run.ts'

/** A kind in a cluster, with the condition that its objects must meet. */
export type PlacedPart = KindView & { readonly condition: Condition }

/**
 * The members of a connection about the rows of its page. Each `nodes` and each `edges` of a document pays for its rows.
 * A cursor is made only if it is selected. `valueOf`: the value of a row at its position.
 */
export function rowMembers<R>(
  { budget }: ReadRun,
  page: PageOf<R>,
  valueOf: (row: R, at: number) => object,
): object {
  return {
    nodes: () => paidRows(budget, page).map(valueOf),
    edges: () =>
      paidRows(budget, page).map((row, at) => ({
        get cursor() {
          return page.cursorAt(at)
        },
        node: valueOf(row, at),
      })),
    pageInfo: () => pageInfoOf(page),
    totalCount: () => page.totalCount(),
  }
}

interface KindsPage<P> {
  readonly identity: ListIdentity
  readonly bounds: ListPageBounds
  readonly terms?: readonly OrderTerm[]
  /** The value of an object. Default: the object itself. Not named `valueOf`: every object has one. */
  readonly toValue?: ((found: { readonly part: P; readonly id: ObjectId }) => object) | undefined
}

const testsPerKind = 20

/** A page of the objects of some kinds, as the value of a connection. Throws as `listPage` does. */
export function kindsConnection<P extends PlacedPart>(
  run: ReadRun,
  places: PlacesRead<P>,
  { identity, bounds, terms = [], toValue = (found) => new StoredObject(found) }: KindsPage<P>,
): object {
  const { budget, limits } = run
  budget.spend('tests', testsPerKind * (1 + places.parts.length))
  const page = listPage({
    // Sorts before every longer name of a cluster.
    parts: places.parts.map((part) => ({
      ...part,
      name: `${part.cluster}\0${part.kind.typeName}`,
    })),
    terms,
    budget,
    identity,
    maxPageSize: limits.maxPageSize,
    ...bounds,
  })
  const rows = rowMembers(run, page, (id: ObjectId, at) => toValue({ part: page.partAt(at), id }))
  const counts = (): readonly TypeCount[] =>
    countsByType(page.counts(), ({ kind }) => kind.typeName)
  return { ...places, ...rows, counts }
}

/** The number of objects of each type on all pages, most first, without types that have none. */
export function countsByType<P>(
  counts: readonly { readonly part: P; readonly count: number }[],
  typeOf: (part: P) => string,
): readonly TypeCount[] {
  const found = new Map<string, number>()
  for (const { part, count } of counts) {
    if (count > 0) found.set(typeOf(part), (found.get(typeOf(part)) ?? 0) + count)
  }
  return Array.from(found, ([type, count]) => ({ type, count })).toSorted(
    (a, b) => b.count - a.count || (a.type < b.type ? -1 : 1),
  )
}
