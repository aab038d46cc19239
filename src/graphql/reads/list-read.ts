import { allOf, type Condition, everything, namespacesOf } from '../../query/condition/condition.ts'
import type { RelatedBy } from '../../query/condition/condition.ts'
import type { RelatedField, WhereFields } from '../../query/condition/related-filter.ts'
import { isWhereWord } from '../../query/condition/where.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { listPage } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { usageKindOf } from '../model/usage-kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ClusterGap } from '../schema/gateway-types.ts'
import { clusterNamed, clustersNamed, isOverClusters } from '../served/cluster-argument.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { type ListedPart, ReadPage } from './connection-read.ts'
import { directPage } from './direct/direct-list.ts'
import { filterOf, type ListFilter, type ListFieldArguments } from './list-arguments.ts'
import { failuresOfParts, placePart, Places } from './places.ts'
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

/** The tests that a page costs, for starting it and writing its connection: a relation has a page for each row. */
export const testsPerPage = 70

/**
 * A page of the list of a kind, in the clusters that its arguments name; `undefined` where a direct read is still missing.
 * Throws as `listPage` does, and the `ClientError` of a kind that cannot be read. Of several clusters, what cannot be read
 * is a gap, and the page has the others.
 */
export function readList(run: ReadRun, kind: Kind, request: ListRequest): ReadPage | undefined {
  const { args, condition } = request
  const { served } = run
  const isOver = isOverClusters(args)
  if (kind.uncached && isOver) {
    const { typeName: type } = kind
    const message = `${type} is read live, from one cluster at a time`
    const hint = 'name one `cluster`, in several fields for several clusters'
    throw new ClientError('UNSUPPORTED', message, { argument: 'clusters', type, hint })
  }
  const list = { list: kind.listField, reads: request.filterKinds }
  if (isOver) return pageOf(run, kind, request, { ...list, ...partsOver(run, kind, request) })
  const at = { cluster: clusterNamed(served, args.cluster), kind }
  if (kind.uncached) return directPage(run, at, args)
  const part = run.parts.part(at, { within: () => namespacesOf(condition) })
  return pageOf(run, kind, request, { ...list, parts: [listedPart(run, part, request)] })
}

/** The parts that a page is read from. */
interface PageParts {
  /** Names the list within each cluster. */
  readonly list: string
  readonly reads: readonly Kind[]
  readonly parts: readonly ListedPart[]
  /** Of several clusters: what could not be read. */
  readonly gaps?: readonly ClusterGap[]
  readonly failures?: readonly ClientError[]
}

/** One page of a list. Throws as `listPage` does. */
export function pageOf(
  { budget, limits, followed }: ReadRun,
  kind: Kind,
  { args, identity: arguments_, terms, filterKinds }: ListRequest,
  { list, reads, parts, gaps, failures }: PageParts,
): ReadPage {
  const { first, after, last, before, offset, clusters, clusterSelector } = args
  if (filterKinds.length > 0) {
    followed?.({ reads: filterKinds, condition: everything, isSaid: false })
  }
  const isOver = gaps !== undefined
  const identity = { list, ...arguments_ }
  return new ReadPage({
    kind,
    page: listPage({
      parts,
      terms,
      budget,
      maxPageSize: limits.maxPageSize,
      identity: isOver
        ? { ...identity, list: `*/${list}`, clusters, clusterSelector }
        : { ...identity, list: `${parts[0]?.cluster}/${list}` },
      first,
      after,
      last,
      before,
      offset,
    }),
    identity,
    reads,
    gaps,
    failures,
  })
}

/**
 * A part of a list, by the condition of its request and, of a relation, a further one. Pays for it, and requires the right
 * to see the measurements that the list tells of.
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

/** The parts of a list over clusters, and what is missing. */
function partsOver(
  run: ReadRun,
  kind: Kind,
  { args, condition, measured }: ListRequest,
): Required<Pick<PageParts, 'parts' | 'gaps' | 'failures'>> {
  const { served } = run
  const places = new Places<ListedPart>(served)
  for (const cluster of clustersNamed(served, args)) {
    const at = { cluster, kind, isOptional: true }
    // An `id` belongs to one cluster.
    const own =
      (args.ids ?? null) === null
        ? condition
        : filterOf(served, kind, { ...args, cluster }).condition
    places.add(at, () => {
      const part = placePart(run, at, () => namespacesOf(own))
      return part && listedPart(run, part, { condition: own, measured })
    })
  }
  const { parts, failures } = places
  return {
    parts,
    gaps: places.missing(),
    failures: [...failures, ...failuresOfParts(served, parts)],
  }
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
