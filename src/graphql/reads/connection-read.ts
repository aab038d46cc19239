import type { IndexView, StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { type IndexType, valueOfIndexKey } from '../../query/index/index-key.ts'
import { parsePath, PathError } from '../../query/index/path.ts'
import { testsPerCursor } from '../../query/page/cursor.ts'
import type { Spread } from '../../query/page/facets.ts'
import type { PageOf } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import { accessFingerprint } from '../prepare/access-fingerprint.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type { Facet, PageInfo } from '../schema/read-context.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import { notOfDirectList, type ReadPage } from './direct/direct-list.ts'
import type { ReadRun } from './read-run.ts'
import { encodeResumeToken } from './resume-token.ts'
import { staleSince } from './staleness.ts'

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

/**
 * Counts the objects on all pages of a list by the values of indexes or labels. Throws `ArgumentError` and
 * `QueryTooCostlyError`.
 */
export function facetsOf(
  { limits }: Pick<ReadRun, 'limits'>,
  { part, page }: ReadPage,
  args: FacetArguments,
): readonly Facet[] {
  const { kind, view } = part
  if (part.isDirect) throw notOfDirectList(part, 'facets', 'there are no indexes to count by')
  const { cluster } = part
  return facetsBy(
    { kind, limits },
    args,
    (indexIn, top) => page.spread(indexIn(view), top),
    () => [{ cluster, count: page.totalCount() }],
  )
}

/** The number of objects of a list in one cluster. */
export interface ClusterCount {
  readonly cluster: string
  readonly count: number
}

/** Counts by indexes or labels of a kind, or by `cluster`. `spread`: counts by one of them. */
export function facetsBy(
  { kind, limits }: { readonly kind: Kind; readonly limits: OperationLimits },
  { by, top }: FacetArguments,
  spread: (indexIn: (view: StoreView) => IndexView | undefined, top: number) => Spread,
  clusters: () => readonly ClusterCount[],
): readonly Facet[] {
  if (by.length > maxFacets) {
    throw new ArgumentError('by', `names more than ${maxFacets} facets`, { value: by.length })
  }
  const most = top ?? defaultTop
  if (most < 0 || most > maxTop) {
    throw new ArgumentError('top', `must be from 0 to ${maxTop}, not ${most}`, { value: most })
  }
  return by.map((name, position) => {
    if (name === 'cluster' && !kind.indexes.some((one) => one.name === name)) {
      return byCluster(clusters(), most)
    }
    const { index, type } = facetOf(kind, name, `by[${position}]`, limits)
    const { values, ...counts } = spread(
      (view) => (index === undefined ? view.index(name) : view.label(index)),
      most,
    )
    return {
      by: name,
      ...counts,
      values: values.map(({ value, count }) => ({ value: valueOfIndexKey(type, value), count })),
    }
  })
}

/** The clusters of a list as values: those with most objects first, then by name. */
function byCluster(counts: readonly ClusterCount[], top: number): Facet {
  const present = counts
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count || (a.cluster < b.cluster ? -1 : 1))
  return {
    by: 'cluster',
    values: present.slice(0, top).map(({ cluster, count }) => ({ value: cluster, count })),
    distinctCount: present.length,
    missingCount: 0,
  }
}

/**
 * Resolves a name of `by`: an index of the kind or, with `index`, the label of that key. Without introspection, errors
 * name no indexes.
 */
function facetOf(
  kind: Kind,
  name: string,
  argument: string,
  { introspection }: Pick<OperationLimits, 'introspection'>,
): { readonly index?: string; readonly type: IndexType } {
  const definition = kind.indexes.find((one) => one.name === name)
  if (definition !== undefined) return { type: definition.type }
  const label = labelOf(name)
  if (label !== undefined) return { index: label, type: 'string' }
  const names = introspection
    ? `there are ${kind.indexes.map((one) => one.name).join(', ')}, and `
    : ''
  throw new ArgumentError(argument, `there is no index ${JSON.stringify(name)}`, {
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
