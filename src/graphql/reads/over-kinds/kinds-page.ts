import type { Condition } from '../../../query/condition/condition.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import { listPage, type Page } from '../../../query/page/page.ts'
import type { CachedParts, KindView } from '../../prepare/kind-view.ts'
import type { PageArguments } from '../../schema/read-arguments.ts'
import type { TypeCount } from '../../schema/read-context.ts'
import type { SchemaRelation } from '../../served/schema-relations.ts'
import { Connection } from '../connection.ts'
import { StoredObject } from '../direct/direct-reads.ts'
import type { PlacesRead } from '../places.ts'
import type { ListedPart } from '../connection-read.ts'
import type { ReadRun } from '../read-run.ts'

/** A kind, with the condition that its objects must meet. */
export type PlacedPart = KindView & { readonly condition: Condition }

/** A page of objects of several kinds, in one cluster or several. */
export interface KindsPage extends PlacesRead<KindView> {
  readonly page: Page<ListedPart>
}

/** The tests that each kind costs, besides those of its condition. */
const testsPerKind = 20

/**
 * A page of the objects of some kinds, each with its own condition. `list` names the list, so that its cursors are valid
 * for this list only. Throws as `listPage` does.
 */
export function kindsPage(
  { budget, limits: { maxPageSize } }: ReadRun,
  list: string,
  places: PlacesRead<PlacedPart>,
  { first, after, last, before }: PageArguments,
): KindsPage {
  budget.spend('tests', testsPerKind * (1 + places.parts.length))
  const parts = places.parts.map((part) => ({ ...part, name: part.kind.typeName }))
  const bounds = { first, after, last, before, maxPageSize }
  const page = listPage({ parts, budget, identity: { list }, ...bounds })
  return { ...places, page }
}

/** A page of objects of several kinds as the value of a connection. */
export type KindsConnection = Connection<ObjectId, StoredObject>

export function kindsConnection(run: ReadRun, read: KindsPage): KindsConnection {
  const { page } = read
  const counts = (): readonly TypeCount[] => countsByType(page)
  return new Connection(run, { ...read, counts }, (id: ObjectId, at) => {
    return new StoredObject({ part: page.partAt(at), id })
  })
}

/** The number of objects of each type on all pages, most first, without types that have none. */
function countsByType(page: KindsPage['page']): readonly TypeCount[] {
  const counts = new Map<string, number>()
  for (const { part, count } of page.counts()) {
    const { typeName } = part.kind
    if (count > 0) counts.set(typeName, (counts.get(typeName) ?? 0) + count)
  }
  return Array.from(counts, ([type, count]) => ({ type, count })).toSorted(
    (a, b) => b.count - a.count || (a.type < b.type ? -1 : 1),
  )
}

/** The part of a type. Throws `TypeError` for a type that was not read. */
export function partOfType<P>(parts: ReadonlyMap<string, P>, type: string): P {
  const part = parts.get(type)
  if (part === undefined) throw new TypeError(`${type} is not among the parts`)
  return part
}

/** A part that a relation reads, with the indexes that it needs there. Throws `ClientError`. */
export function partOnTheWay(
  { needs, name }: SchemaRelation,
  type: string,
  parts: CachedParts,
  cluster: string,
): KindView {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
  return parts.part({ cluster, ...need })
}
