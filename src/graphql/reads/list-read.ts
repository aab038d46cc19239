/*
 * A list of a kind: a root field, a relation, a list over clusters, or a list from the API server. `listRequest` reads
 * the arguments once for all rows that share them. `readList` finds the parts, one for each cluster, and takes a page of
 * them (`query/page/page.ts`). `ReadPage` is that page as the value of a connection: its members are the fields, each
 * computed when a field asks for it, within the tick that read the page. The rows are no members: plans write them from
 * their bare ids. At the end: the kinds and indexes that a filter needs before it can be read.
 */

import { objectKey } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
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
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import {
  cursorError,
  type ListIdentity,
  listHash,
  positionIn,
  testsPerCursor,
} from '../../query/page/cursor.ts'
import { compileOrder, type OrderTerm } from '../../query/page/list-order.ts'
import { listPage, type Page, type PageOf, pageSizeOf } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import { type Kind, usageKindOf } from '../model/kind.ts'
import { accessFingerprint, joinedFingerprint } from '../prepare/viewer-access.ts'
import {
  type ClusterKind,
  type KindView,
  clusterNamed,
  clustersNamed,
  isOverClusters,
} from '../prepare/kind-view.ts'
import { isServed } from '../served/named-kinds.ts'
import type {
  ClusterGap,
  Facet,
  FacetsArguments,
  IndexSum,
  SumArguments,
  Visibility,
} from '../schema/gateway-types.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { facetsOf, type ListedPart, notOfDirectList, sumsOf } from './facets.ts'
import {
  directFilterOf,
  filterOf,
  type ListFieldArguments,
  type ListFilter,
} from './list-arguments.ts'
import { gapsOfParts, Places, staleSince, visibilityOf } from './places.ts'
import { withContents } from './namespace-health.ts'
import type { ReadRun } from './read-run.ts'
import { encodeResumeToken, positionName, positionOfLists } from './resume-token.ts'
import { isUsageIndex, measuredKinds, requireUsages } from './usage-read.ts'

export interface ListRequest extends ListFilter {
  readonly args: ListFieldArguments
  readonly terms: readonly OrderTerm[]
  /** The kinds besides its own that its filter and its order read. */
  readonly filterKinds: readonly Kind[]
  /** The kinds whose usage, or the health of what is in them, its filter and its order read. */
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
  /** The namespaces that they are in; `undefined`: any. */
  readonly within?: (() => readonly string[] | undefined) | undefined
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
    within: start?.within,
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
  const derived = measured.includes(part.kind) ? withContents(run, part) : part
  return { ...derived, name: cluster, condition: both, related: run.related(cluster) }
}

/**
 * The list as a part, without rows until it is read. Throws `ArgumentError` or `ClientError` for arguments that such a
 * list does not support. `identity`: the list that its cursors are bound to.
 */
function directPart(
  run: ReadRun,
  at: ClusterKind,
  args: ListFieldArguments,
  identity: ListIdentity,
): ListedPart {
  const { cluster, kind } = at
  const { budget } = run
  const filter = directFilterOf(args)
  if ('refused' in filter) {
    const { refused: argument } = filter
    const message = `${argument}: ${kind.typeName} is read live, so it has no index for this argument`
    throw new ClientError('UNSUPPORTED', message, {
      argument,
      value: args[argument],
      cluster,
      type: kind.typeName,
      hint: 'use `namespace`, `labelSelector`, `first` and `after` only',
    })
  }
  const { size } = pageSizeOf(args, run.limits.maxPageSize)
  // A page begins `skipped` objects after a `continue` of the server, or after the start of the list (`''`).
  const context = { hash: listHash(identity), argument: 'after', terms: 1 }
  const { key: token, values } = positionIn(args.after, context) ?? { key: '', values: ['0'] }
  const skipped = Number(values[0])
  if (!Number.isSafeInteger(skipped) || skipped < 0 || skipped > maxSkipped) {
    throw cursorError('after', String(args.after), 'malformed')
  }
  const request = {
    ...filter,
    continue: token === '' ? undefined : token,
    // The API reads 0 as no limit.
    limit: Math.max(1, skipped + size),
  }
  const read = run.direct.list(at, request, budget)
  const { objects, isCut: isShort, continue: next, remainingItemCount } = read.list
  /** Whether the server sent more objects than the page, or its answer was cut short. */
  const isCut = isShort || objects.length > skipped + size
  const rows = objects
    .slice(skipped, skipped + size)
    .flatMap(({ metadata }) => read.part.view.idOf(objectKey(metadata)) ?? [])
  const part = { ...read.part, name: cluster, condition: everything }
  return {
    ...part,
    served: {
      rows,
      hasNextPage: isCut || next !== undefined,
      positionAt(position) {
        const isLast = position === rows.length - 1
        return isLast && !isCut && next !== undefined
          ? { part: '', key: next, values: ['0'] }
          : { part: '', key: token, values: [String(skipped + position + 1)] }
      },
      totalCount() {
        if (token === '' && !isShort) {
          if (next === undefined) return objects.length
          if (remainingItemCount !== undefined) return objects.length + remainingItemCount
        }
        throw notOfDirectList(part, 'totalCount', 'the API server does not count this list')
      },
    },
  }
}

/** If a server ignores `limit`, each page is read from the start of the list. */
const maxSkipped = 100_000

interface ReadPageOptions {
  readonly kind: Kind
  readonly page: Page<ListedPart>
  /** Names the list and its filter in each cluster, so that cursors and tokens are valid for this list only. */
  readonly identity: ListIdentity
  readonly reads: readonly Kind[]
  /** The namespaces that a relation leads to. */
  readonly within: ListStart['within']
  /** Set for a list over several clusters, even if only one or none matches now: its failures and gaps. */
  readonly places: Pick<Places, 'failures' | 'missing' | 'isRefused'> | undefined
}

type NoArguments = Readonly<Record<string, never>>

/** One page of the list of a kind, in one cluster or several. Valid within the tick. */
export class ReadPage {
  readonly kind: Kind
  readonly page: Page<ListedPart>
  readonly failures: readonly ClientError[]
  readonly #of: ReadPageOptions

  constructor(of: ReadPageOptions) {
    this.kind = of.kind
    this.page = of.page
    this.failures = of.places?.failures ?? []
    this.#of = of
  }

  get type(): string {
    return this.kind.typeName
  }

  pageInfo(): object {
    return pageInfoOf(this.page)
  }

  totalCount(): number {
    return this.page.totalCount()
  }

  /** `''` for a list over several clusters, which has one in each. */
  get resourceVersion(): string {
    return this.#of.places === undefined ? (this.page.parts[0]?.view.resourceVersion ?? '') : ''
  }

  staleSince(_args: NoArguments, { served }: ReadRun): string | null {
    const { parts } = this.page
    const { reads } = this.#of
    const further = parts.flatMap(({ cluster }) => reads.map((kind) => ({ cluster, kind })))
    return staleSince(served, [...parts, ...further])
  }

  incomplete(_args: NoArguments, { served }: ReadRun): readonly ClusterGap[] {
    return [...(this.#of.places?.missing() ?? []), ...gapsOfParts(served, this.page.parts)]
  }

  visible(): Visibility {
    const { places, within } = this.#of
    const seen = this.page.parts.map(({ scope, condition }) => {
      return { scope, within: namespacesOf(condition) ?? within?.() }
    })
    return visibilityOf(seen, places?.isRefused)
  }

  facets(args: FacetsArguments, run: ReadRun): readonly Facet[] {
    return facetsOf(run, this, args)
  }

  sum(args: SumArguments, run: ReadRun): readonly IndexSum[] {
    return sumsOf(run, this, args)
  }

  /**
   * A token for a subscription to the list that resumes at the current versions of the stores. If a part of several
   * clusters is missing, the token leads to a new snapshot.
   */
  resumeToken(_args: NoArguments, run: ReadRun): string {
    const { budget } = run
    const { kind } = this
    const { parts } = this.page
    const { identity } = this.#of
    const direct = parts.find(({ isDirect }) => isDirect)
    if (direct !== undefined) {
      throw notOfDirectList(direct, 'resumeToken', 'a subscription cannot follow it')
    }
    budget.spend('tests', testsPerToken * parts.length)
    const lists = parts.map(({ cluster }) =>
      listHash({ ...identity, list: `${cluster}/${identity.list}`, orderBy: null }, budget),
    )
    const positions = parts.map(
      ({ view }, number) => [positionName(number, kind.typeName), view.resourceVersion] as const,
    )
    const isWhole = this.#of.places === undefined || this.incomplete({}, run).length === 0
    return encodeResumeToken({
      ...positionOfLists({
        lists,
        incarnations: parts.map(({ incarnation }) => incarnation),
        access: joinedFingerprint(parts.map((part) => accessFingerprint([part]))),
      }),
      positions: isWhole ? Object.fromEntries(positions) : {},
      isAhead: false,
    })
  }
}

const testsPerToken = 80

export function paidRows<R>(budget: WorkBudget, { rows }: PageOf<R>): readonly R[] {
  budget.spend('rows', rows.length)
  return rows
}

/** The rows of a page, for its edges. `cursors`: how many cursors each edge selects. */
export function paidEdges<R>(budget: WorkBudget, page: PageOf<R>, cursors: number): readonly R[] {
  budget.foresee('tests', testsPerCursor * cursors * page.rows.length)
  return paidRows(budget, page)
}

/** The position of a page in its list. A cursor is made only if it is selected. */
export function pageInfoOf<R>(page: PageOf<R>): object {
  const { rows, hasNextPage, hasPreviousPage } = page
  const cursorAt = (position: number): string | null =>
    rows.length === 0 ? null : page.cursorAt(position)
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: () => cursorAt(0),
    endCursor: () => cursorAt(rows.length - 1),
  }
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
    const known = getOrInsert(needed, type, () => new Set())
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
