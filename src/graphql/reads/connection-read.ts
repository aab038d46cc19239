import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import type { IndexView, StoreView } from '../../informer/store/store-view.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { decimalText, quantityText } from '../../query/index/decimal.ts'
import { type IndexDefinition, isOfBytes, isSummable } from '../../query/index/index-definition.ts'
import { type IndexType, valueOfIndexKey } from '../../query/index/index-key.ts'
import { parsePath, PathError } from '../../query/index/path.ts'
import { testsPerCursor } from '../../query/page/cursor.ts'
import type { Spread } from '../../query/page/facets.ts'
import type { PageOf } from '../../query/page/page.ts'
import { addedSums, type ExactSum } from '../../query/page/sums.ts'
import type { Kind } from '../model/kind.ts'
import { accessFingerprint } from '../prepare/access-fingerprint.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { FacetArguments, SumArguments } from '../schema/read-arguments.ts'
import type { Facet, IndexSum, PageInfo } from '../schema/read-context.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import { notOfDirectList, type ReadPage } from './direct/direct-list.ts'
import type { ReadRun } from './read-run.ts'
import { encodeResumeToken } from './resume-token.ts'
import { staleSince } from './staleness.ts'
import { isUsageIndex, requireUsage } from './usage-read.ts'

/** The rows of a page. The answer pays for each. */
export function paidRows<R>(budget: WorkBudget, { rows }: PageOf<R>): readonly R[] {
  budget.spend('rows', rows.length)
  return rows
}

/** The rows of a page for its edges, of which each has some cursors. */
export function paidEdges<R>(budget: WorkBudget, page: PageOf<R>, cursors: number): readonly R[] {
  budget.foresee('tests', testsPerCursor * cursors * page.rows.length)
  return paidRows(budget, page)
}

/** The position of a page in its list. Reading a cursor creates it. */
export function pageInfoOf<R>(page: PageOf<R>): PageInfo {
  const { rows, hasNextPage, hasPreviousPage } = page
  const cursorOf = (row: R | undefined): string | null =>
    row === undefined ? null : page.cursorOf(row)
  return {
    hasNextPage,
    hasPreviousPage,
    get startCursor() {
      return cursorOf(rows[0])
    },
    get endCursor() {
      return cursorOf(rows.at(-1))
    },
  }
}

/** Since when the first of the caches that a page is read from may be out of date; `null` while all are in step. */
export function pageStaleSince({ served }: ReadRun, { part, reads }: ReadPage): string | null {
  const { cluster } = part
  return staleSince(served, [part, ...reads.map((kind) => ({ cluster, kind }))])
}

/** The tests that a resume token costs. */
export const testsPerToken = 80

/** A token for a subscription to the list that resumes at the current version of the store. */
export function resumeTokenOf({ part, page }: ReadPage, budget: WorkBudget): string {
  budget.spend('tests', testsPerToken)
  const { cluster, kind, view, incarnation } = part
  return encodeResumeToken({
    cluster,
    incarnation,
    list: page.listHash(),
    access: accessFingerprint([part]),
    positions: { [kind.typeName]: view.resourceVersion },
    isAhead: false,
  })
}

const defaultTop = 10
const maxTop = 1_000
const maxFacets = 20
const maxSums = 20

/** Whether errors may name what there is. */
type NamingLimits = Pick<OperationLimits, 'introspection'>

type IndexIn = (view: StoreView) => IndexView

/** The objects of a kind on all pages of a list, in one cluster or several. */
export interface CountedList {
  readonly kind: Kind
  /** Its clusters, each with the namespaces that the list is limited to. */
  readonly parts: readonly {
    readonly part: KindView
    readonly within: readonly string[] | undefined
  }[]
  /** Counts by an index, and adds up others for each value. */
  spread(
    indexIn: (view: StoreView) => IndexView | undefined,
    top: number,
    sums: readonly IndexIn[],
  ): Spread
  sum(indexIn: IndexIn): ExactSum
  clusters(sums: readonly IndexIn[]): readonly ClusterTotals[]
}

/** The number of objects of a list in one cluster, and sums over them. */
interface ClusterTotals {
  readonly cluster: string
  readonly count: number
  readonly sums: readonly ExactSum[]
}

/** The list of a page in one cluster. Throws for a list without indexes. */
export function countedList(
  { part, page }: Omit<ReadPage, 'reads'>,
  field: 'facets' | 'sum',
): CountedList {
  const { kind, view, cluster } = part
  if (part.isDirect) throw notOfDirectList(part, field, 'there are no indexes to read them from')
  const indexes = (sums: readonly IndexIn[]) => sums.map((indexIn) => indexIn(view))
  return {
    kind,
    parts: [{ part, within: page.namespaces }],
    spread: (indexIn, top, sums) => page.spread(indexIn(view), top, indexes(sums)),
    sum: (indexIn) => page.sum(indexIn(view)),
    clusters(sums) {
      const totals = indexes(sums).map((index) => page.sum(index))
      return [{ cluster, count: page.totalCount(), sums: totals }]
    },
  }
}

/**
 * Counts the objects on all pages of a list by the values of indexes or labels, and adds up indexes for each value.
 * Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function facetsOf(run: ReadRun, read: ReadPage, args: FacetArguments): readonly Facet[] {
  return facetsBy(run, countedList(read, 'facets'), args)
}

/** Adds up indexes over the objects on all pages of a list. Throws as {@link facetsOf} does. */
export function sumsOf(run: ReadRun, read: ReadPage, args: SumArguments): readonly IndexSum[] {
  return sumsIn(run, countedList(read, 'sum'), args)
}

/** As {@link facetsOf}, for lists over clusters, too. */
export function facetsBy(run: ReadRun, list: CountedList, args: FacetArguments): readonly Facet[] {
  const { limits, parts } = run
  const { kind } = list
  const { most, summed, facets } = checkedFacets(kind, args, limits)
  const counted = facets.filter(({ type, index }) => type !== 'cluster' && index === undefined)
  const read = [...counted, ...summed]
  requireUsageOf(run, list, read)
  awaitIndexes(parts, list, read)
  const sums = summed.map(
    ({ name }): IndexIn =>
      (view) =>
        view.index(name),
  )
  return facets.map(({ name, index, type }) => {
    if (type === 'cluster') return byCluster(list.clusters(sums), most, summed)
    const { values, ...counts } = list.spread(
      (view) => (index === undefined ? view.index(name) : view.label(index)),
      most,
      sums,
    )
    return {
      by: name,
      ...counts,
      values: values.map((one) => ({
        value: valueOfIndexKey(type, one.value),
        count: one.count,
        sums: writtenSums(summed, one.sums),
      })),
    }
  })
}

/** Throws the `ArgumentError` that {@link facetsOf} throws for these arguments. */
export function checkFacets(kind: Kind, args: FacetArguments, limits: NamingLimits): void {
  checkedFacets(kind, args, limits)
}

function checkedFacets(kind: Kind, { by, top, sum }: FacetArguments, limits: NamingLimits) {
  if (by.length > maxFacets) {
    throw new ArgumentError('by', `names more than ${maxFacets} facets`, { value: by.length })
  }
  const most = top ?? defaultTop
  if (most < 0 || most > maxTop) {
    throw new ArgumentError('top', `must be from 0 to ${maxTop}, not ${most}`, { value: most })
  }
  const summed = summedIndexes(kind, 'sum', sum ?? [], limits)
  const facets = by.map((name, position) => ({ name, ...facetOf(kind, name, position, limits) }))
  return { most, summed, facets }
}

/** The clusters of a list as values: those with most objects first, then by name. */
function byCluster(
  totals: readonly ClusterTotals[],
  top: number,
  summed: readonly IndexDefinition[],
): Facet {
  const present = totals
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count || (a.cluster < b.cluster ? -1 : 1))
  const values = present.slice(0, top).map(({ cluster, count, sums }) => {
    return { value: cluster, count, sums: writtenSums(summed, sums) }
  })
  return { by: 'cluster', values, distinctCount: present.length, missingCount: 0 }
}

/** As {@link sumsOf}, for lists over clusters, too. */
export function sumsIn(run: ReadRun, list: CountedList, { of }: SumArguments): readonly IndexSum[] {
  const { limits, parts } = run
  const summed = summedIndexes(list.kind, 'of', of, limits)
  requireUsageOf(run, list, summed)
  awaitIndexes(parts, list, summed)
  const sums = summed.map(({ name }) => list.sum((view) => view.index(name)))
  return writtenSums(summed, sums)
}

/** Requires the right to see the measurements that are counted or added up. */
function requireUsageOf(
  run: ReadRun,
  { kind, parts }: CountedList,
  indexes: readonly { readonly name: string }[],
): void {
  if (!indexes.some(({ name }) => isUsageIndex(kind, name))) return
  for (const { part, within } of parts) requireUsage(run, part, within)
}

/** Asks for all lazy indexes that do not exist yet, so that one more round has them. Throws if there are any. */
function awaitIndexes(
  parts: ReadRun['parts'],
  { kind, parts: listed }: CountedList,
  indexes: readonly { readonly name: string }[],
): void {
  const resource = groupResourceOf(kind.resource)
  const errors = listed.flatMap(({ part: { view } }) =>
    indexes
      .filter(({ name }) => !view.hasIndex(name))
      .map(({ name }) => new UnknownIndexError(resource, name, view.indexNames())),
  )
  for (const error of errors) parts.missed(error)
  if (errors[0] !== undefined) throw errors[0]
}

function writtenSums(
  summed: readonly IndexDefinition[],
  sums: readonly ExactSum[],
): readonly IndexSum[] {
  return summed.map((index, at) => {
    const { total, count } = sums[at] ?? addedSums([])
    const value = index.type === 'int' ? decimalText(total) : quantityText(total, isOfBytes(index))
    return { of: index.name, value, number: Number(decimalText(total)), count }
  })
}

/** The indexes that are to be added up. Without introspection, errors name no indexes. */
function summedIndexes(
  kind: Kind,
  argument: 'sum' | 'of',
  names: readonly string[],
  { introspection }: NamingLimits,
): readonly IndexDefinition[] {
  if (names.length > maxSums) {
    throw new ArgumentError(argument, `names more than ${maxSums} indexes`, { value: names.length })
  }
  return names.map((name, position) => {
    const index = kind.indexes.find((one) => one.name === name)
    if (index !== undefined && isSummable(index)) return index
    const isNumeric = index?.type === 'int' || index?.type === 'quantity'
    const problem =
      index === undefined
        ? `there is no index ${JSON.stringify(name)}`
        : isNumeric
          ? `index ${JSON.stringify(name)} has several values of one object, which an index keeps once each`
          : `index ${JSON.stringify(name)} is not of numbers`
    const summable = kind.indexes.filter(isSummable).map((one) => one.name)
    const hint =
      summable.length > 0
        ? `${summable.join(', ')} can be added up`
        : `no index of ${kind.typeName} can be added up: declare one with type: INT or QUANTITY`
    throw new ArgumentError(`${argument}[${position}]`, problem, {
      value: name,
      ...(introspection ? { hint } : {}),
    })
  })
}

/**
 * Resolves a name of `by`: an index of the kind; with `index`, the label of that key; or the clusters of the list.
 * Without introspection, errors name no indexes.
 */
function facetOf(
  kind: Kind,
  name: string,
  position: number,
  { introspection }: NamingLimits,
): { readonly index?: string; readonly type: IndexType | 'cluster' } {
  const definition = kind.indexes.find((one) => one.name === name)
  if (definition !== undefined) return { type: definition.type }
  if (name === 'cluster') return { type: 'cluster' }
  const label = labelOf(name)
  if (label !== undefined) return { index: label, type: 'string' }
  const names = introspection
    ? `there are ${kind.indexes.map((one) => one.name).join(', ')}, and `
    : ''
  throw new ArgumentError(`by[${position}]`, `there is no index ${JSON.stringify(name)}`, {
    value: name,
    hint: `${names}labels["KEY"] counts by a label`,
  })
}

/** The key in `labels["key"]`; `undefined` for other names. */
function labelOf(name: string): string | undefined {
  try {
    const [map, key, ...others] = parsePath(name).steps
    if (map?.form !== 'field' || map.name !== 'labels' || others.length > 0) return undefined
    return key?.form === 'field' ? key.name : undefined
  } catch (error) {
    if (error instanceof PathError) return undefined
    throw error
  }
}
