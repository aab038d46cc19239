import type { Condition } from '../../query/condition/condition.ts'
import { listUnionPage, type UnionPage, type UnionRow } from '../../query/page/union-page.ts'
import type { ReadRun } from './read-run.ts'
import type { PageArguments } from '../schema/read-arguments.ts'
import type { KindView } from '../prepare/kind-view.ts'

/** Where the objects of a page are looked for. */
export interface PolymorphicPlaces {
  readonly cluster: string
  /** Names the list, so that its cursors are good for no other. */
  readonly list: string
  /** The kinds that are looked into, each with what must be met. */
  readonly parts: readonly (KindView & { readonly condition: Condition })[]
  /** The type names of kinds that might hold more and are not looked into, sorted. */
  readonly notLookedAt: () => readonly string[]
  /** Why other kinds could not be looked into. */
  readonly failures: readonly Error[]
}

/** A page of objects of several kinds. */
export interface PolymorphicPage {
  readonly page: UnionPage
  /** Where one of its objects is read. */
  readonly partOf: (row: UnionRow) => KindView
  /** The type names of the kinds that were looked into, sorted. */
  readonly kinds: readonly string[]
  readonly notLookedAt: () => readonly string[]
  readonly failures: readonly Error[]
}

/** A kind is made ready and looked into in the time of so many tests, besides those of its condition. */
const testsPerKind = 20

/** The objects of some kinds that meet a condition of each. Throws as `listUnionPage` does. */
export function polymorphicPage(
  { budget, limits: { maxPageSize } }: ReadRun,
  { parts, notLookedAt, failures, list }: PolymorphicPlaces,
  { first, after, last, before }: PageArguments,
): PolymorphicPage {
  budget.spend('tests', testsPerKind * (1 + parts.length))
  const byType = new Map(parts.map((part) => [part.kind.typeName, part]))
  const unionParts = parts.map(({ kind, view, scope, condition }) => ({
    type: kind.typeName,
    view,
    condition,
    scope,
  }))
  const bounds = { first, after, last, before, maxPageSize }
  return {
    page: listUnionPage({ parts: unionParts, budget, identity: { list }, ...bounds }),
    partOf({ part: { type } }) {
      const part = byType.get(type)
      if (part === undefined) throw new TypeError(`${type} is not among the parts`)
      return part
    },
    kinds: [...byType.keys()].toSorted(),
    notLookedAt,
    failures,
  }
}
