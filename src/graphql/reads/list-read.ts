import { allOf, type Condition, everything, namespacesOf } from '../../query/condition/condition.ts'
import type { RelatedBy } from '../../query/condition/condition.ts'
import type { RelatedField, WhereFields } from '../../query/condition/related-filter.ts'
import { isWhereWord } from '../../query/condition/where.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { listPage, type Page } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import { usageKindOf } from '../model/usage-kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ListFieldArguments, ObjectListArguments } from '../schema/read-arguments.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { directPage, type ReadPage } from './direct/direct-list.ts'
import { filterOf, type ListFilter } from './list-arguments.ts'
import { kindNamed, typedArguments } from './named-kind.ts'
import type { ReadRun } from './read-run.ts'
import { isUsageIndex, measuredKinds, requireUsages } from './usage-read.ts'

/** The arguments of a list, read once for all rows that share them. */
export interface ListRequest extends ListFilter {
  readonly args: ListFieldArguments
  readonly terms: readonly OrderTerm[]
  /** The kinds besides its own that its filter and its order read. */
  readonly filterKinds: readonly Kind[]
  /** The kinds whose usage its filter and its order read. */
  readonly measured: readonly Kind[]
}

/** Reads the arguments of a list of a kind. Throws `ArgumentError`, which names the invalid one. */
export function listRequest(
  served: ServedSchema,
  kind: Kind,
  args: ListFieldArguments,
): ListRequest {
  const { condition, identity } = filterOf(served, kind, args)
  const { orderBy } = args
  const terms = compileOrder(orderBy, kind.indexes)
  return {
    args,
    condition,
    identity: { ...identity, orderBy },
    terms,
    filterKinds: filterNeeds(served, kind, args).map((need) => need.kind),
    measured: measuredKinds(served, kind, condition, terms),
  }
}

/** The list of a kind that the arguments name. */
export interface NamedList {
  readonly kind: Kind
  readonly request: ListRequest
}

/** Reads the arguments of `objectList`. Throws `ArgumentError`, which names the invalid one. */
export function namedList({ served, limits }: ReadRun, args: ObjectListArguments): NamedList {
  const kind = kindNamed(served, args, limits)
  return { kind, request: listRequest(served, kind, typedArguments(served, kind, args, limits)) }
}

/** The list that a page belongs to. */
export interface ListPlace {
  /** Names the list within its cluster, so that its cursors are valid for this list only. */
  readonly list: string
  /** The condition besides the arguments: that of a relation. */
  readonly condition: Condition
}

/** The tests that a page costs, for starting it and writing its connection: a relation has a page for each row. */
export const testsPerPage = 70

/** One page of a list. Throws as `listPage` does. */
export function pageOf(
  run: ReadRun,
  part: KindView,
  { list, condition }: ListPlace,
  request: ListRequest,
): Page {
  const { cluster, view, scope } = part
  const { budget, limits, followed } = run
  const { first, after, last, before, offset } = request.args
  budget.spend('tests', testsPerPage)
  if (request.filterKinds.length > 0) {
    followed?.({ reads: request.filterKinds, condition: everything, isSaid: false })
  }
  const both = allOf([condition, request.condition])
  if (request.measured.length > 0) {
    requireUsages(run, part, request.measured, namespacesOf(both))
  }
  return listPage({
    budget,
    maxPageSize: limits.maxPageSize,
    related: run.related(cluster),
    view,
    scope,
    condition: both,
    terms: request.terms,
    identity: { list: `${cluster}/${list}`, ...request.identity },
    first,
    after,
    last,
    before,
    offset,
  })
}

/**
 * A page of the list of a kind, in the cluster that its arguments name; `undefined` where a direct read is still
 * missing. Throws as `listPage` does, and the `ClientError` of a kind that cannot be read.
 */
export function readList(run: ReadRun, kind: Kind, request: ListRequest): ReadPage | undefined {
  const { args, condition } = request
  const at = { cluster: clusterNamed(run.served, args.cluster), kind }
  if (kind.uncached) return directPage(run, at, args)
  const part = run.parts.part(at, { within: () => namespacesOf(condition) })
  const place = { list: kind.listField, condition: everything }
  return { part, page: pageOf(run, part, place, request), reads: request.filterKinds }
}

/**
 * The kinds that a `where` reads through relations, with their indexes, and those of measurements that a `where` or an
 * order of their objects reads. An invalid argument needs none: compiling it reports why.
 */
export function filterNeeds(
  served: ServedSchema,
  kind: Kind,
  { where, orderBy }: { readonly where?: unknown; readonly orderBy?: unknown },
): readonly RelatedNeed[] {
  const relations = new Set<RelatedBy>()
  collect(where, served.relations.whereFields(kind), relations)
  const usage = usageKindOf(kind)
  const isMeasured = usage !== undefined && (namesUsage(kind, where) || namesUsage(kind, orderBy))
  const related = [...relations].flatMap(({ indexes }) =>
    [...indexes].flatMap(([type, wanted]) => {
      const read = served.kinds.get(type)
      return read === undefined ? [] : [{ kind: read, indexes: wanted }]
    }),
  )
  return isMeasured ? [...related, { kind: usage, indexes: {} }] : related
}

/** Whether a `where` or an order names an index of usage, of the list's own objects. */
function namesUsage(kind: Kind, given: unknown): boolean {
  if (Array.isArray(given)) return given.some((one) => namesUsage(kind, one))
  if (typeof given !== 'object' || given === null) return false
  return Object.entries(given).some(([name, value]) =>
    isWhereWord(name) ? namesUsage(kind, value) : isUsageIndex(kind, name),
  )
}

function collect(where: unknown, fields: WhereFields, relations: Set<RelatedBy>): void {
  if (typeof where !== 'object' || where === null) return
  for (const [name, value] of Object.entries(where) as [string, unknown][]) {
    if (value === undefined || value === null) continue
    const field = fields.related.get(name)
    if (field !== undefined) collectField(field, value, relations)
    else if (isWhereWord(name)) {
      for (const one of Array.isArray(value) ? value : [value]) collect(one, fields, relations)
    }
  }
}

function collectField(field: RelatedField, filter: unknown, relations: Set<RelatedBy>): void {
  const inner = typeof filter === 'object' && filter !== null ? Object.values(filter) : []
  for (const value of inner as unknown[]) {
    if (value === undefined || value === null) continue
    if (field.form === 'kinds') {
      const { types } = value as { readonly types?: unknown }
      for (const { relation } of field.ways) {
        if (Array.isArray(types) && !types.includes(relation.to)) continue
        relations.add(relation)
      }
    } else {
      relations.add(field.relation)
      collect(value, field.to(), relations)
    }
  }
}
