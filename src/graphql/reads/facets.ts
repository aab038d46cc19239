/*
 * The facets and the sums of a list: counts of its objects by the values of an index, a label or the clusters, and numeric
 * indexes added up. They are about all pages, not only the one that was read, and come from the indexes alone. A lazy index
 * that is not built yet is noted, and the run is repeated.
 */

import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { namespacesOf } from '../../query/condition/condition.ts'
import { decimalText, quantityText } from '../../kubernetes/decimal.ts'
import { type IndexDefinition, isOfBytes, isSummable } from '../../query/index/index-definition.ts'
import { type IndexType, valueOfIndexKey } from '../../query/index/index-key.ts'
import { parsePath, PathError } from '../../query/index/path.ts'
import type { ListPart } from '../../query/page/list-part.ts'
import type { Page } from '../../query/page/page.ts'
import { addedSums, type ExactSum } from '../../query/page/sums.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type { Facet, FacetsArguments, IndexSum, SumArguments } from '../schema/gateway-types.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import { isContentIndex, withContents } from './namespace-health.ts'
import type { ReadRun } from './read-run.ts'
import { isUsageIndex, requireUsage } from './usage-read.ts'

export type ListedPart = KindView & ListPart

/** A list as facets and sums read it: its kind, and a page of it. */
export interface CountedList {
  readonly kind: Kind
  readonly page: Page<ListedPart>
}

export function notOfDirectList(
  { cluster, kind: { typeName } }: ClusterKind,
  field: string,
  why: string,
): ClientError {
  const message = `${field}: ${typeName} is read live: ${why}`
  const hint = 'leave the field out'
  return new ClientError('UNSUPPORTED', message, { argument: field, cluster, type: typeName, hint })
}

const defaultTop = 10
const maxTop = 1_000
/**
 * The most values of a facet for an operation that is about some of the clusters: whoever restricts it adds up the values of all
 * (`over-gateways/`).
 */
export const mostFacetValues = 100_000
const maxFacets = 20
const maxSums = 20

type NamingLimits = Pick<OperationLimits, 'introspection'>

/**
 * Counts the objects on all pages of a list by the values of indexes or labels, or by cluster, and adds up indexes for each
 * value. Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function facetsOf(run: ReadRun, list: CountedList, args: FacetsArguments): readonly Facet[] {
  const { kind, page } = list
  refuseDirect(list, 'facets')
  const { most, summed, facets } = checkedFacets(
    kind,
    args,
    run.limits,
    run.served.whole === undefined ? maxTop : mostFacetValues,
  )
  const counted = facets.filter(({ type, index }) => type !== 'cluster' && index === undefined)
  readIndexes(run, list, [...counted, ...summed])
  return facets.map(({ name, index: label, type }) => {
    if (type === 'cluster') return byCluster(page, most, summed)
    const isOfContents = isContentIndex(kind, name)
    const { values, ...counts } = page.spread((part) => {
      const { view } = isOfContents ? withContents(run, part) : part
      return {
        index: label === undefined ? view.index(name) : view.label(label),
        sums: summed.map((one) => view.index(one.name)),
      }
    }, most)
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

/** The counts and sums of a list that cannot be read. */
export function uncounted(
  kind: Kind,
  args: FacetsArguments,
): Readonly<Record<'facets' | 'sums' | 'totalCount', unknown>> {
  const { facets, summed } = checkedFacets(kind, args, { introspection: false }, mostFacetValues)
  return {
    facets: facets.map(({ name: by }) => ({ by, values: [], distinctCount: 0, missingCount: 0 })),
    sums: writtenSums(summed, []),
    totalCount: 0,
  }
}

/** The facets and sums that arguments name. Throws `ArgumentError`. */
export function checkedFacets(
  kind: Kind,
  { by, top, sum }: FacetsArguments,
  limits: NamingLimits,
  mostTop: number = maxTop,
): {
  readonly most: number
  readonly summed: readonly IndexDefinition[]
  readonly facets: readonly CheckedFacet[]
} {
  if (by.length > maxFacets) {
    throw new ArgumentError('by', `names more than ${maxFacets} facets`, { value: by.length })
  }
  const most = top ?? defaultTop
  if (most < 0 || most > mostTop) {
    throw new ArgumentError('top', `must be from 0 to ${mostTop}, not ${most}`, { value: most })
  }
  const summed = summedIndexes(kind, 'sum', sum ?? [], limits)
  const facets = by.map((name, position): CheckedFacet => {
    const definition = kind.indexes.find((one) => one.name === name)
    if (definition !== undefined) return { name, type: definition.type }
    if (name === 'cluster') return { name, type: 'cluster' }
    const label = labelOf(name)
    if (label !== undefined) return { name, index: label, type: 'string' }
    const names = limits.introspection
      ? `there are ${kind.indexes.map((one) => one.name).join(', ')}, and `
      : ''
    throw new ArgumentError(`by[${position}]`, `there is no index ${JSON.stringify(name)}`, {
      value: name,
      hint: `${names}labels["KEY"] counts by a label`,
    })
  })
  return { most, summed, facets }
}

/** An index of the kind; with `index`, the label of that key; or the clusters of the list. */
interface CheckedFacet {
  readonly name: string
  readonly index?: string
  readonly type: IndexType | 'cluster'
}

/** The clusters of a list as values: clusters with most objects first, then by name. */
function byCluster(
  page: CountedList['page'],
  top: number,
  summed: readonly IndexDefinition[],
): Facet {
  const sums = summed.map(({ name }) => page.sums(({ view }) => view.index(name)))
  const present = page
    .counts()
    .map(({ part: { cluster }, count }, at) => ({
      value: cluster,
      count,
      sums: writtenSums(
        summed,
        sums.flatMap((ofParts) => ofParts[at] ?? []),
      ),
    }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
  return {
    by: 'cluster',
    values: present.slice(0, top),
    distinctCount: present.length,
    missingCount: 0,
  }
}

/** Adds up indexes over the objects on all pages of a list. Throws as {@link facetsOf} does. */
export function sumsOf(run: ReadRun, list: CountedList, { of }: SumArguments): readonly IndexSum[] {
  refuseDirect(list, 'sum')
  const summed = summedIndexes(list.kind, 'of', of, run.limits)
  readIndexes(run, list, summed)
  const sums = summed.map(({ name }) => addedSums(list.page.sums(({ view }) => view.index(name))))
  return writtenSums(summed, sums)
}

function refuseDirect({ page }: CountedList, field: 'facets' | 'sum'): void {
  const direct = page.parts.find(({ isDirect }) => isDirect)
  if (direct !== undefined) {
    throw notOfDirectList(direct, field, 'there are no indexes to read them from')
  }
}

/**
 * Requires the right to see the measurements that are counted or added up. Notes all lazy indexes that do not exist yet,
 * and throws if there are any: one more round then has all of them.
 */
function readIndexes(
  run: ReadRun,
  { kind, page }: CountedList,
  indexes: readonly { readonly name: string }[],
): void {
  if (indexes.some(({ name }) => isUsageIndex(kind, name))) {
    for (const part of page.parts) requireUsage(run, part, namespacesOf(part.condition))
  }
  const resource = groupResourceOf(kind.resource)
  const errors = page.parts.flatMap(({ view }) =>
    indexes
      .filter(({ name }) => !view.hasIndex(name))
      .map(({ name }) => new UnknownIndexError(resource, name, view.indexNames())),
  )
  for (const error of errors) run.parts.missed(error)
  if (errors[0] !== undefined) throw errors[0]
}

export function writtenSums(
  summed: readonly IndexDefinition[],
  sums: readonly ExactSum[],
): readonly IndexSum[] {
  return summed.map((index, at) => {
    const { total, count } = sums[at] ?? addedSums([])
    const value = index.type === 'int' ? decimalText(total) : quantityText(total, isOfBytes(index))
    return { of: index.name, value, number: Number(decimalText(total)), count }
  })
}

/** The indexes to add up. Without introspection, errors name no indexes. */
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
