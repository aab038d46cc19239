/*
 * The value of a connection to objects of one kind. `ReadPage` is a page of its list. Its members are the fields of the
 * connection, each computed when a field asks for it, within the tick that read the page. The rows are no members: plans
 * write them from their bare ids. Below it: facets and sums, which read all objects of the list by its indexes.
 */

import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { namespacesOf } from '../../query/condition/condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { decimalText, quantityText } from '../../query/index/decimal.ts'
import { type IndexDefinition, isOfBytes, isSummable } from '../../query/index/index-definition.ts'
import { type IndexType, valueOfIndexKey } from '../../query/index/index-key.ts'
import { parsePath, PathError } from '../../query/index/path.ts'
import { type ListIdentity, listHash, testsPerCursor } from '../../query/page/cursor.ts'
import type { ListPart } from '../../query/page/list-part.ts'
import type { Page, PageOf } from '../../query/page/page.ts'
import { addedSums, type ExactSum } from '../../query/page/sums.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { accessFingerprint, joinedFingerprint } from '../prepare/viewer-access.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type {
  ClusterGap,
  Facet,
  FacetsArguments,
  IndexSum,
  PageInfo,
  SumArguments,
} from '../schema/gateway-types.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import { gapsOfParts, type Places, staleSince } from './places.ts'
import type { ReadRun } from './read-run.ts'
import { encodeResumeToken, positionName, positionOfLists } from './resume-token.ts'
import { isUsageIndex, requireUsage } from './usage-read.ts'

export function paidRows<R>(budget: WorkBudget, { rows }: PageOf<R>): readonly R[] {
  budget.spend('rows', rows.length)
  return rows
}

/** The rows of a page, for its edges. `cursors`: how many cursors each edge selects. */
export function paidEdges<R>(budget: WorkBudget, page: PageOf<R>, cursors: number): readonly R[] {
  budget.foresee('tests', testsPerCursor * cursors * page.rows.length)
  return paidRows(budget, page)
}

/** The position of a page in its list. Reading a cursor creates it. */
export function pageInfoOf<R>(page: PageOf<R>): PageInfo {
  const { rows, hasNextPage, hasPreviousPage } = page
  const cursorAt = (position: number): string | null =>
    rows.length === 0 ? null : page.cursorAt(position)
  return {
    hasNextPage,
    hasPreviousPage,
    get startCursor() {
      return cursorAt(0)
    },
    get endCursor() {
      return cursorAt(rows.length - 1)
    },
  }
}

export type ListedPart = KindView & ListPart

interface ReadPageOptions {
  readonly kind: Kind
  readonly page: Page<ListedPart>
  /** Names the list and its filter in each cluster, so that cursors and tokens are valid for this list only. */
  readonly identity: ListIdentity
  readonly reads: readonly Kind[]
  /** Set for a list over several clusters, even if only one or none matches now: its failures and gaps. */
  readonly places: Pick<Places, 'failures' | 'missing'> | undefined
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

  pageInfo(): PageInfo {
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
const maxFacets = 20
const maxSums = 20

type NamingLimits = Pick<OperationLimits, 'introspection'>

export type CountedList = Pick<ReadPage, 'kind' | 'page'>

/**
 * Counts the objects on all pages of a list by the values of indexes or labels, or by cluster, and adds up indexes for each
 * value. Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function facetsOf(run: ReadRun, list: CountedList, args: FacetsArguments): readonly Facet[] {
  const { kind, page } = list
  refuseDirect(list, 'facets')
  const { most, summed, facets } = checkedFacets(kind, args, run.limits)
  const counted = facets.filter(({ type, index }) => type !== 'cluster' && index === undefined)
  readIndexes(run, list, [...counted, ...summed])
  return facets.map(({ name, index: label, type }) => {
    if (type === 'cluster') return byCluster(page, most, summed)
    const { values, ...counts } = page.spread(
      ({ view }) => ({
        index: label === undefined ? view.index(name) : view.label(label),
        sums: summed.map((one) => view.index(one.name)),
      }),
      most,
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

/** The facets and sums that arguments name. Throws `ArgumentError`. */
export function checkedFacets(
  kind: Kind,
  { by, top, sum }: FacetsArguments,
  limits: NamingLimits,
): {
  readonly most: number
  readonly summed: readonly IndexDefinition[]
  readonly facets: readonly CheckedFacet[]
} {
  if (by.length > maxFacets) {
    throw new ArgumentError('by', `names more than ${maxFacets} facets`, { value: by.length })
  }
  const most = top ?? defaultTop
  if (most < 0 || most > maxTop) {
    throw new ArgumentError('top', `must be from 0 to ${maxTop}, not ${most}`, { value: most })
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
