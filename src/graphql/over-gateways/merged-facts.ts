/*
 * Facts about a whole list, such as its size, its facets or what it lacks, merged from those of several gateways. Their
 * clusters have nothing in common, so numbers of objects add up. The table has a fact by the name of its field. Holders are
 * asked for all members of its value, and the client's selection is written from the merged one.
 */

import {
  type FieldNode,
  type GraphQLObjectType,
  Kind as NodeKind,
  type SelectionNode,
  getArgumentValues,
} from 'graphql'
import { parseQuantity, sumOf } from '../../kubernetes/decimal.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'
import { indexKeyOf } from '../../query/index/index-key.ts'
import type { ExactSum } from '../../query/page/sums.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { readObjectId } from '../model/object-id.ts'
import { maxUnseenRoles } from '../reads/access-grants.ts'
import { checkedFacets, mostFacetValues, writtenSums } from '../reads/facets.ts'
import { countsByType } from '../reads/over-kinds/kinds-connection.ts'
import { problemCounts } from '../reads/over-kinds/problems-read.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type {
  ClusterGap,
  Facet,
  FacetsArguments,
  IndexSum,
  ProblemCount,
  TypeCount,
  Visibility,
} from '../schema/gateway-types.ts'
import { type KindArguments, kindNamed } from '../served/named-kinds.ts'
import { allOf, type MergeMeans, notMerged, select } from './merged-field.ts'
import { encodeMergedToken } from './merged-token.ts'
import type { RoutedField } from './routes.ts'

/** Asks the holders once more. `selections`: what they are asked for, under an alias. */
type AskAgain = (
  selections: (alias: string) => readonly SelectionNode[],
) => Promise<readonly unknown[]>

/** How the values of a fact become one. `clusters`: those that each of the values is about. */
type MergeFact = (
  values: readonly unknown[],
  again: AskAgain,
  clusters: readonly (readonly string[])[],
) => unknown

export interface ListFact {
  readonly alias: string
  /** Whether null is a value, and not that of a failed field. */
  readonly mayBeNull: boolean
  readonly merged: MergeFact
}

interface FactField {
  readonly means: MergeMeans
  readonly field: RoutedField
  readonly type: GraphQLObjectType
}

/** A fact that the nodes select. Throws UNSUPPORTED for one that cannot be merged. */
export function factsOf(
  of: FactField,
  nodes: readonly FieldNode[],
): Omit<ListFact, 'alias'> & { readonly asked: (alias: string) => readonly FieldNode[] } {
  const [node] = nodes
  const name = node?.name.value ?? ''
  const definition = of.type.getFields()[name]
  if (node === undefined || definition === undefined) throw new TypeError(`no field ${name}`)
  const args = node.arguments ?? []
  const asked = (alias: string): readonly FieldNode[] => [
    select(name, { alias, arguments: args, selections: allOf(definition.type) }),
  ]
  const plain = plainFacts[name]
  if (plain !== undefined) return { mayBeNull: name === 'staleSince', merged: plain, asked }
  if (name === 'facets') return facets(of, node)
  if (name === 'sum') {
    const merged: MergeFact = (values) =>
      mergedSums(kindOf(of), values as readonly (readonly IndexSum[])[])
    return { mayBeNull: false, merged, asked }
  }
  throw notMerged(of.type, name)
}

const inAll: MergeFact = (values) =>
  [...new Set((values as readonly (readonly string[])[]).flat())].toSorted()

/** Of times as RFC 3339 in UTC. */
export function earliest(times: readonly unknown[]): string | null {
  const all = times.filter((one) => typeof one === 'string')
  return all.toSorted((a, b) => (a < b ? -1 : 1))[0] ?? null
}

const visibilities: readonly Visibility[] = ['NAMES', 'NAMESPACES', 'ALL']

export function leastVisible(all: readonly unknown[]): Visibility {
  return visibilities.find((one) => all.includes(one)) ?? 'ALL'
}

/** Those of a cluster keep their order. */
export function joinedGaps(gaps: readonly ClusterGap[]): readonly ClusterGap[] {
  return gaps.toSorted(byCluster)
}

interface OfCluster {
  readonly cluster: string
}

function byCluster({ cluster: a }: OfCluster, { cluster: b }: OfCluster): number {
  return a === b ? 0 : a < b ? -1 : 1
}

export const plainFacts: Readonly<Record<string, MergeFact>> = {
  totalCount: (values) => (values as readonly number[]).reduce((sum, one) => sum + one, 0),
  counts(values) {
    const all = (values as readonly (readonly (TypeCount | ProblemCount)[])[]).flat()
    if (all.some((one) => 'severity' in one)) return problemCounts(all as readonly ProblemCount[])
    const counts = (all as readonly TypeCount[]).map((part) => ({ part, count: part.count }))
    return countsByType(counts, ({ type }) => type)
  },
  types: inAll,
  lookedAt: inAll,
  notLookedAt: inAll,
  complete: (values) => values.every((one) => one === true),
  staleSince: earliest,
  incomplete: (values) => joinedGaps((values as readonly (readonly ClusterGap[])[]).flat()),
  visible: leastVisible,
  notes: ([value]) => value,
  unseenRoles: (values) => rolesByCluster((values as readonly (readonly RoleRef[])[]).flat()),
  type: ([value]) => value,
  resourceVersion: () => '',
  resumeToken: (values, _again, clusters) =>
    encodeMergedToken(
      values.map((one, at) => ({ token: String(one), clusters: clusters[at] ?? [] })),
    ),
}

type RoleRef = Readonly<Record<'id', string>>

/** Those of a cluster keep their order. */
function rolesByCluster(roles: readonly RoleRef[]): readonly RoleRef[] {
  return roles
    .map((role) => ({ role, cluster: readObjectId(role.id)?.cluster ?? '' }))
    .toSorted(byCluster)
    .slice(0, maxUnseenRoles)
    .map(({ role }) => role)
}

/** How many values of a facet a holder is asked for first. */
export const enoughValues = 1_000

/**
 * Facets, whose values add up. All values are needed: one that is rare in each part may be frequent in all. Holders are asked
 * for many, and for all if that was not enough.
 */
function facets(of: FactField, node: FieldNode): ReturnType<typeof factsOf> {
  const { means, type } = of
  const definition = type.getFields()['facets']
  if (definition === undefined) throw new TypeError(`no facets of ${type.name}`)
  const args = getArgumentValues(
    definition,
    node,
    means.operation.variables,
  ) as unknown as FacetsArguments
  const askedFor = (alias: string, top: number): readonly FieldNode[] => [
    select('facets', {
      alias,
      selections: allOf(definition.type),
      arguments: [
        ...(node.arguments ?? []).filter(({ name }) => name.value !== 'top'),
        {
          kind: NodeKind.ARGUMENT,
          name: { kind: NodeKind.NAME, value: 'top' },
          value: { kind: NodeKind.INT, value: String(top) },
        },
      ],
    }),
  ]
  return {
    mayBeNull: false,
    asked: (alias) => askedFor(alias, enoughValues),
    async merged(values, again) {
      let lists = values as readonly (readonly Facet[])[]
      if (lists.flat().some(isCut)) {
        lists = (await again((alias) => askedFor(alias, mostFacetValues))) as typeof lists
        if (lists.some((one) => one === null) || lists.flat().some(isCut)) throw tooManyValues()
      }
      return mergedFacets(kindOf(of), args, lists)
    },
  }
}

/** Facets of the same arguments. Where one lacks values, the number of values is the least that there can be. */
export function mergedFacets(
  kind: Kind,
  args: FacetsArguments,
  lists: readonly (readonly Facet[])[],
): readonly Facet[] {
  const { most, summed, facets: checked } = checkedFacets(kind, args, { introspection: false })
  return checked.map(({ name, type }, at) => {
    const parts = lists.flatMap((list) => list[at] ?? [])
    const keyOf = (value: unknown): string =>
      indexKeyOf(type === 'cluster' ? 'string' : type, value) ?? ''
    return mergedFacet(name, parts, { most, summed, keyOf })
  })
}

function isCut({ values: { length }, distinctCount }: Facet): boolean {
  return length < distinctCount
}

function mergedFacet(
  by: string,
  parts: readonly Facet[],
  {
    most,
    summed,
    keyOf,
  }: {
    readonly most: number
    readonly summed: readonly IndexDefinition[]
    readonly keyOf: (value: unknown) => string
  },
): Facet {
  const byKey = Map.groupBy(
    parts.flatMap(({ values }) => values),
    ({ value }) => keyOf(value),
  )
  const values = Array.from(byKey, ([key, ones]) => ({
    key,
    value: ones[0]?.value,
    count: ones.reduce((sum, { count }) => sum + count, 0),
    sums: addedIndexSums(
      summed,
      ones.map((one) => one.sums),
    ),
  })).toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  return {
    by,
    values: values
      .slice(0, most)
      .map(({ value, count, sums: added }) => ({ value, count, sums: added })),
    distinctCount:
      values.length + Math.max(0, ...parts.map((one) => one.distinctCount - one.values.length)),
    missingCount: parts.reduce((sum, { missingCount }) => sum + missingCount, 0),
  }
}

function tooManyValues(): ClientError {
  const message = `facets: an index has more than ${mostFacetValues} values in clusters of several gateways, or too many to count`
  const hint = 'narrow the list, or name clusters of one gateway'
  return new ClientError('QUERY_TOO_COSTLY', message, { argument: 'by', hint })
}

/** Sums of the same indexes. */
export function mergedSums(
  { indexes }: Kind,
  lists: readonly (readonly IndexSum[])[],
): readonly IndexSum[] {
  const summed = (lists[0] ?? []).flatMap(({ of: name }) =>
    indexes.filter((one) => one.name === name),
  )
  return addedIndexSums(summed, lists)
}

function addedIndexSums(
  summed: readonly IndexDefinition[],
  lists: readonly (readonly IndexSum[])[],
): readonly IndexSum[] {
  const added = summed.map((_, at): ExactSum => {
    const ones = lists.flatMap((list) => list[at] ?? [])
    const totals = ones.flatMap(({ value }) => parseQuantity(value) ?? [])
    return {
      total: sumOf(totals),
      count: ones.reduce((sum, { count }) => sum + count, 0),
    }
  })
  return writtenSums(summed, added)
}

/** The kind of a list. */
export function kindOf({ means, field }: Pick<FactField, 'means' | 'field'>): Kind {
  const source = field.field && fieldSourceOf(field.field)
  if (source?.form === 'list' || source?.form === 'facetFrames') return source.kind
  const named = field.args as unknown as KindArguments
  return kindNamed(means.operation.served, named, { introspection: false })
}
