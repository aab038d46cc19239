/*
 * How parts of an answer become one, by the name of the field: sums of counts, the earliest time, the least visibility, gaps
 * of all. `written` writes such a value as the client has selected it.
 */

import { type FieldNode, type GraphQLNamedType, getNamedType, isObjectType } from 'graphql'
import {
  decimalText,
  DecimalTotal,
  parseInteger,
  parseQuantity,
  quantityText,
} from '../../kubernetes/decimal.ts'
import { isRecord } from '../../lib/json.ts'
import type { OrderTerm } from '../../query/page/list-order.ts'
import { compareKeys, compareValues } from '../../query/page/list-order.ts'
import type { ListPosition } from '../../query/page/cursor.ts'
import type { ClusterGap, Facet, IndexSum, Visibility } from '../schema/gateway-types.ts'

/** Collects the fields that nodes select of a type, by response key. */
export type Collect = (
  nodes: readonly FieldNode[],
  type: string,
) => ReadonlyMap<string, readonly FieldNode[]>

/** A value as nodes select it, whose members are named as the fields. */
export function written(
  value: unknown,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
  collect: Collect,
): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => written(one, type, nodes, collect))
  if (!isRecord(value) || !isObjectType(type)) return value ?? null
  const fields = type.getFields()
  const members = Array.from(collect(nodes, type.name), ([key, [node, ...more]]) => {
    const name = node?.name.value ?? ''
    const field = fields[name]
    if (node === undefined || field === undefined) return [key, type.name]
    return [key, written(value[name], getNamedType(field.type), [node, ...more], collect)]
  })
  return Object.fromEntries(members)
}

export function earliest(times: Iterable<string | null | undefined>): string | null {
  let first: string | null = null
  for (const time of times) {
    if (typeof time === 'string' && (first === null || time < first)) first = time
  }
  return first
}

const visibilities: readonly Visibility[] = ['ALL', 'NAMESPACES', 'NAMES']

export function leastVisible(all: Iterable<Visibility>): Visibility {
  let least = 0
  for (const one of all) least = Math.max(least, visibilities.indexOf(one))
  return visibilities[least] ?? 'ALL'
}

export function joinedGaps(gaps: Iterable<ClusterGap>): readonly ClusterGap[] {
  return [...gaps].toSorted((a, b) => {
    if (a.cluster !== b.cluster) return a.cluster < b.cluster ? -1 : 1
    return (a.type ?? '') < (b.type ?? '') ? -1 : a.type === b.type ? 0 : 1
  })
}

/** Sums of the same indexes. */
export function addedIndexSums(parts: readonly (readonly IndexSum[])[]): readonly IndexSum[] {
  const [first = []] = parts
  return first.map(({ of }, at) => {
    const total = new DecimalTotal()
    let count = 0
    let isWhole = true
    let isBinary = false
    for (const sums of parts) {
      const sum = sums[at]
      if (sum === undefined) continue
      count += sum.count
      isWhole &&= parseInteger(sum.value) !== undefined
      // The API server writes amounts of bytes by powers of 2.
      isBinary ||= /[KMGTPE]i$/.test(sum.value)
      total.add(parseQuantity(sum.value) ?? { sign: 0, digits: '', exponent: 0 })
    }
    const value = total.value
    const text = isWhole && !isBinary ? decimalText(value) : quantityText(value, isBinary)
    return { of, value: text, number: Number(decimalText(value)), count }
  })
}

/** Facets of the same names. Exact if each part has all values: at most {@link maxFacetValues}. */
export function addedFacets(parts: readonly (readonly Facet[])[], top: number): readonly Facet[] {
  const [first = []] = parts
  return first.map(({ by }, at) => {
    const values = new Map<string, Facet['values'][number][]>()
    let [missingCount, beyond] = [0, 0]
    for (const facets of parts) {
      const facet = facets[at]
      if (facet === undefined) continue
      missingCount += facet.missingCount
      beyond = Math.max(beyond, facet.distinctCount - facet.values.length)
      for (const one of facet.values) {
        const name = JSON.stringify(one.value)
        const same = values.get(name)
        if (same === undefined) values.set(name, [one])
        else same.push(one)
      }
    }
    const all = Array.from(values.values(), (same) => ({
      value: same[0]?.value,
      count: same.reduce((sum, { count }) => sum + count, 0),
      sums: addedIndexSums(same.map(({ sums }) => sums)),
    })).toSorted((a, b) => b.count - a.count || compareFacetValues(a.value, b.value))
    const distinctCount = all.length + beyond
    return { by, values: all.slice(0, top), distinctCount, missingCount }
  })
}

/** The most values of a facet that a gateway tells. */
export const maxFacetValues = 1_000
export const defaultFacetValues = 10

function compareFacetValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [left, right] = [String(a), String(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Compares rows of several lists in one order: ties are broken by the parts, then by namespace and name. */
export function comparePlaces(
  a: ListPosition,
  b: ListPosition,
  terms: readonly Pick<OrderTerm, 'descending'>[],
): number {
  const order = { terms: terms.map((term) => ({ index: '', ...term })), backwards: false }
  const byValues = compareValues(a, b, order)
  if (byValues !== 0) return byValues
  if (a.part !== b.part) return a.part < b.part ? -1 : 1
  return compareKeys(a.key, b.key)
}

/** The directions of an `orderBy`. */
export function directionsOf(orderBy: unknown): readonly Pick<OrderTerm, 'descending'>[] {
  const terms: readonly unknown[] = Array.isArray(orderBy) ? orderBy : []
  return terms.map((term) => ({
    descending: isRecord(term) && Object.values(term).includes('DESC'),
  }))
}
