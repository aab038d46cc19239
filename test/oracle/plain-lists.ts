import type { PlainIndex } from './plain-indexes.ts'
import { NotFollowedError } from './plain-relations.ts'
import { byKey, compared, type Json, type Plain } from './plain-world.ts'

/** A value whose members are named as the fields of its type: graphql-js resolves them in its default way. */
export type Value = Readonly<Record<string, unknown>>

export type PlainKey = string | number | bigint

export function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value]
}

export function byType(a: Plain, b: Plain): number {
  return compared(a.kind.type, b.kind.type) || byKey(a, b)
}

export function countsOf(rows: readonly Plain[]): readonly Value[] {
  const counts = new Map<string, number>()
  for (const { kind } of rows) counts.set(kind.type, (counts.get(kind.type) ?? 0) + 1)
  return [...counts]
    .toSorted(([a, x], [b, y]) => y - x || compared(a, b))
    .map(([type, count]) => ({ type, count }))
}

/** The terms of an order, the first one first. */
export function termsOf(orderBy: Json): readonly (readonly [name: string, isDown: boolean])[] {
  return listOf(orderBy ?? []).flatMap((term) =>
    Object.entries(term as Record<string, string>).map(
      ([name, direction]) => [name, direction === 'DESC'] as const,
    ),
  )
}

/** How two rows compare by an order. What has no key comes last. */
export function orderOf(
  terms: ReturnType<typeof termsOf>,
  keysOf: (name: string, isDown: boolean) => readonly (PlainKey | undefined)[],
): number {
  for (const [name, isDown] of terms) {
    const [left, right] = keysOf(name, isDown)
    if (left === right) continue
    if (left === undefined) return 1
    if (right === undefined) return -1
    const order = compared(left, right)
    if (order !== 0) return isDown ? -order : order
  }
  return 0
}

/** A page of rows, which are in their order. */
export function pageOf<R>(
  all: readonly R[],
  { first, last, offset, after, before }: Json,
  valueOf: (row: R) => unknown,
): Value {
  if (after || before) throw new NotFollowedError('cursors')
  const start = typeof last === 'number' ? Math.max(0, all.length - last) : (offset ?? 0)
  const end = typeof last === 'number' ? all.length : start + (first ?? 100)
  const rows = all.slice(start, end)
  return {
    nodes: () => rows.map(valueOf),
    edges: () => rows.map((row) => ({ node: valueOf(row) })),
    pageInfo: { hasNextPage: end < all.length, hasPreviousPage: start > 0 && all.length > 0 },
    totalCount: all.length,
    staleSince: null,
    incomplete: [],
  }
}

/** Whether one value meets all comparisons, and the whole filter `exists` and `not`. */
export function meetsFilter(index: PlainIndex, row: Plain, filter: Json): boolean {
  const keys = index.keysOf(row)
  const { exists, not, ...comparisons } = filter
  if (typeof exists === 'boolean' && exists !== keys.length > 0) return false
  if (not && meetsFilter(index, row, not)) return false
  const given = Object.entries(comparisons as Record<string, Json>).filter(
    ([, value]) => value !== null,
  )
  if (given.length === 0) return true
  return keys.some((key) =>
    given.every(([operator, value]) => {
      if (operator === 'in') return listOf(value).some((one) => index.keyOf(one) === key)
      const other = index.keyOf(value)
      switch (operator) {
        case 'eq':
          return key === other
        case 'lt':
          return compared(key, other) < 0
        case 'lte':
          return compared(key, other) <= 0
        case 'gt':
          return compared(key, other) > 0
        case 'gte':
          return compared(key, other) >= 0
        case 'startsWith':
          return String(key).startsWith(String(other))
        case 'endsWith':
          return String(key).endsWith(String(other))
        default:
          return String(key).includes(String(other))
      }
    }),
  )
}
