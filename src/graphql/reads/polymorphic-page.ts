import type { Condition } from '../../query/condition/condition.ts'
import { listUnionPage, type UnionPage, type UnionRow } from '../../query/page/union-page.ts'
import type { ReadRun } from './read-run.ts'
import type { PageArguments } from '../schema/read-arguments.ts'
import type { KindView } from '../prepare/kind-view.ts'

/** The places that may hold the objects of a page. */
export interface PolymorphicPlaces {
  readonly cluster: string
  /** Names the list, so that its cursors are valid for this list only. */
  readonly list: string
  /** The kinds to read, each with the condition that its objects must meet. */
  readonly parts: readonly (KindView & { readonly condition: Condition })[]
  /** The type names of kinds that may hold more but are not read, sorted. */
  readonly notLookedAt: () => readonly string[]
  /** The errors of kinds that could not be read. */
  readonly failures: readonly Error[]
}

/** A page of objects of several kinds. */
export interface PolymorphicPage {
  readonly page: UnionPage
  /** The part that holds a row of the page. */
  readonly partOf: (row: UnionRow) => KindView
  /** The type names of the kinds read, sorted. */
  readonly kinds: readonly string[]
  readonly notLookedAt: () => readonly string[]
  readonly failures: readonly Error[]
}

/** The tests that each kind costs, besides those of its condition. */
const testsPerKind = 20

/** A page of the objects of some kinds, each with its own condition. Throws as `listUnionPage` does. */
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
