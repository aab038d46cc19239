/*
 * A list of a kind: a root field, a relation, a list over clusters, or a list from the API server. `listRequest` reads
 * the arguments once for all rows that share them. `readList` finds the parts, one for each cluster, and takes a page of
 * them (`query/page/page.ts`). At the end: the kinds and indexes that a filter needs before it can be read.
 */

import {
  allOf,
  type Condition,
  everything,
  indexesOf,
  namespacesOf,
  relatedOf,
} from '../../query/condition/condition.ts'
import type { RelatedBy } from '../../query/condition/condition.ts'
import type { WhereFields } from '../../query/condition/related-filter.ts'
import { isWhereWord } from '../../query/condition/where.ts'
import type { ListIdentity } from '../../query/page/cursor.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { listPage } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import { type Kind, usageKindOf } from '../model/kind.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import { clusterNamed, clustersNamed, isOverClusters } from '../served/cluster-argument.ts'
import { isServed } from '../served/named-kinds.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { type ListedPart, ReadPage } from './connection-read.ts'
import { directPart } from './direct/direct-list.ts'
import { filterOf, type ListFilter, type ListFieldArguments } from './list-arguments.ts'
import { Places } from './places.ts'
import type { ReadRun } from './read-run.ts'
import { isUsageIndex, measuredKinds, requireUsages } from './usage-read.ts'

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

/** The tests that a page costs, for starting it and writing its connection: a relation has a page for each row. */
export const testsPerPage = 70

/** The start of a relation, which lists the objects that one object leads to. */
export interface ListStart {
  readonly list: string
  readonly part: KindView
  /** Selects the objects that the relation leads to. */
  readonly condition: Condition
  /** The kinds that decide which objects these are. */
  readonly reads: readonly Kind[]
}

/**
 * A page of a list of a kind: of the objects that a relation leads to (`start`), or of all objects in the clusters that
 * the arguments name. Each cluster is a part. An unreadable part of several clusters is a gap, and the page has the
 * others. Throws as `listPage` does, and the `ClientError` of a kind that cannot be read.
 */
export function readList(
  run: ReadRun,
  kind: Kind,
  request: ListRequest,
  start?: ListStart,
): ReadPage {
  const { served, budget, limits, followed } = run
  const { args, condition, terms, filterKinds } = request
  const { first, after, last, before, offset, clusters, clusterSelector } = args
  const list = start?.list ?? kind.listField
  const identity: ListIdentity = { list, ...request.identity }
  let ofCursors: ListIdentity
  let parts: readonly ListedPart[]
  let places: Places<ListedPart> | undefined
  if (start === undefined && isOverClusters(args)) {
    ofCursors = { ...identity, list: `*/${list}`, clusters, clusterSelector }
    places = placesOver(run, kind, request)
    parts = places.parts
  } else {
    const cluster = start?.part.cluster ?? clusterNamed(served, args.cluster)
    ofCursors = { ...identity, list: `${cluster}/${list}` }
    const part =
      start?.part ??
      (kind.uncached
        ? undefined
        : run.parts.part({ cluster, kind }, { within: () => namespacesOf(condition) }))
    parts = [
      part === undefined
        ? directPart(run, { cluster, kind }, args, ofCursors)
        : listedPart(run, part, request, start?.condition),
    ]
  }
  if (filterKinds.length > 0) {
    followed?.({ reads: filterKinds, condition: everything, isSaid: false })
  }
  const reads = start?.reads ?? []
  return new ReadPage({
    kind,
    page: listPage({
      parts,
      terms,
      budget,
      identity: ofCursors,
      maxPageSize: limits.maxPageSize,
      first,
      after,
      last,
      before,
      offset,
    }),
    identity,
    reads: filterKinds.length === 0 ? reads : [...reads, ...filterKinds],
    places,
  })
}

function placesOver(
  run: ReadRun,
  kind: Kind,
  { args, condition, measured }: ListRequest,
): Places<ListedPart> {
  const { served } = run
  if (kind.uncached) {
    const { typeName: type } = kind
    const message = `${type} is read live, from one cluster at a time`
    const hint = 'name one `cluster`, in several fields for several clusters'
    throw new ClientError('UNSUPPORTED', message, { argument: 'clusters', type, hint })
  }
  const places = new Places<ListedPart>(run)
  for (const cluster of clustersNamed(served, args)) {
    // An `id` belongs to one cluster.
    const isByIds = (args.ids ?? null) !== null
    const own = isByIds ? filterOf(served, kind, { ...args, cluster }).condition : condition
    places.add(
      { cluster, kind, isOptional: true },
      (part) => listedPart(run, part, { condition: own, measured }),
      () => namespacesOf(own),
    )
  }
  return places
}

/**
 * A part of a list, by the condition of its request and the `further` condition of a relation. Pays for the part, and
 * requires the right to list the measurements that the request reads.
 */
export function listedPart(
  run: ReadRun,
  part: KindView,
  { condition, measured }: Pick<ListRequest, 'condition' | 'measured'>,
  further: Condition = everything,
): ListedPart {
  const { cluster } = part
  run.budget.spend('tests', testsPerPage)
  const both = allOf([further, condition])
  if (measured.length > 0) requireUsages(run, part, measured, namespacesOf(both))
  return { ...part, name: cluster, condition: both, related: run.related(cluster) }
}

/**
 * The kinds that a `where` reads through relations, with their indexes, and the kind of measurements if a `where` or an
 * order reads usage. An invalid argument needs none: compiling it reports why.
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

/** Whether a `where` or an order names an index of usage of the list's own objects. */
function namesUsage(kind: Kind, given: unknown): boolean {
  if (Array.isArray(given)) return given.some((one) => namesUsage(kind, one))
  if (typeof given !== 'object' || given === null) return false
  return Object.entries(given).some(([name, value]) =>
    isWhereWord(name) ? namesUsage(kind, value) : isUsageIndex(kind, name),
  )
}

function collect(where: unknown, fields: WhereFields, relations: Set<RelatedBy>): void {
  for (const [name, value] of presentIn(where)) {
    const field = fields.related.get(name)
    if (field === undefined) {
      if (!isWhereWord(name)) continue
      for (const one of Array.isArray(value) ? value : [value]) collect(one, fields, relations)
      continue
    }
    for (const [, inner] of presentIn(value)) {
      if (field.form !== 'kinds') {
        relations.add(field.relation)
        collect(inner, field.to(), relations)
        continue
      }
      const { types } = inner as { readonly types?: unknown }
      for (const { relation } of field.ways) {
        if (!Array.isArray(types) || types.includes(relation.to)) relations.add(relation)
      }
    }
  }
}

function presentIn(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).filter(([, one]) => one !== undefined && one !== null)
}

/**
 * The kinds that a condition on the objects of a kind reads, this kind included, with all indexes that answer the
 * condition in either direction and that find the rows that a change affects.
 */
export function conditionNeeds(
  served: ServedSchema,
  { cluster, kind }: ClusterKind,
  condition: Condition,
): readonly RelatedNeed[] {
  const needed = new Map<string, Set<string>>()
  const need = (type: string, names: Iterable<string>): void => {
    let known = needed.get(type)
    if (known === undefined) needed.set(type, (known = new Set()))
    for (const name of names) known.add(name)
  }
  const visit = (one: Condition, type: string): void => {
    need(type, indexesOf(one))
    for (const { relation, condition: inner } of relatedOf(one)) {
      if (!isServed(served, cluster, relation.to)) continue
      for (const [name, indexes] of relation.indexes) {
        need(name, [...indexes.needed, ...indexes.useful])
      }
      visit(inner, relation.to)
    }
  }
  visit(condition, kind.typeName)
  return [...needed].flatMap(([type, names]) => {
    const read = served.kinds.get(type)
    return read === undefined ? [] : [{ kind: read, indexes: { needed: names } }]
  })
}
