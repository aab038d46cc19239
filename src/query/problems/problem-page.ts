/*
 * One page of problems, in an order of severity, time and number of objects.
 */

import type { WorkBudget } from '../condition/work-budget.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import { type ListIdentity, listHash, positionIn } from '../page/cursor.ts'
import { compileOrder, type OrderPosition, type OrderTerm } from '../page/list-order.ts'
import { pageAfter, type PageOf, pageSizeOf } from '../page/page.ts'
import type { FoldedProblem } from './problem-gathering.ts'
import type { ProblemPart } from './problem-part.ts'

export interface ListedProblem<P extends ProblemPart> extends FoldedProblem<P> {
  readonly cluster: string
  /** Whether the cluster itself has it: it comes before all other critical ones. */
  readonly isOfCluster?: true
}

export interface ProblemPageOptions<P extends ProblemPart> {
  readonly problems: readonly ListedProblem<P>[]
  readonly orderBy?: readonly Readonly<Record<string, unknown>>[] | null | undefined
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  /** Without the order. */
  readonly identity: ListIdentity
  readonly maxPageSize: number
  readonly budget: WorkBudget
}

const orderKeys: readonly FilterableIndex[] = [
  { name: 'severity', type: 'string' },
  { name: 'since', type: 'dateTime' },
  { name: 'count', type: 'int' },
]

/** The worst first, of these the ones that most objects have, of these the newest. */
const defaultOrder = [{ severity: 'DESC' }, { count: 'DESC' }, { since: 'DESC' }]

/** Added to times, so that they sort as texts: all of the years 0 to 9999 have 15 digits then. */
const yearZero = 1e14

/** Sorting a problem takes as long as so many tests. */
const testsPerProblem = 4

/** One page of problems; equal ones by cluster and object. Throws `ArgumentError` and `QueryTooCostlyError`. */
export function problemPage<P extends ProblemPart>({
  problems,
  orderBy,
  after,
  identity,
  maxPageSize,
  budget,
  ...bounds
}: ProblemPageOptions<P>): PageOf<ListedProblem<P>> {
  const { size } = pageSizeOf({ first: bounds.first }, maxPageSize)
  const terms = problemOrder(orderBy)
  const order = { terms, backwards: false }
  const hash = listHash({ ...identity, orderBy: terms })
  const from = positionIn(after, { hash, argument: 'after', terms: terms.length })
  budget.spend('tests', testsPerProblem * problems.length)
  const all = problems.map((problem) => ({ problem, position: problemPosition(problem, terms) }))
  const positionOf = ({ position }: (typeof all)[number]): OrderPosition => position
  const { rows, ...page } = pageAfter({ rows: all, positionOf, order, from, size, hash, budget })
  return { ...page, rows: rows.map(({ problem }) => problem) }
}

export function problemOrder(
  orderBy: ProblemPageOptions<ProblemPart>['orderBy'],
): readonly OrderTerm[] {
  return compileOrder(orderBy ?? defaultOrder, orderKeys)
}

/** The position of a problem in an order. Its key is unique among the problems of all clusters. */
export function problemPosition<P extends ProblemPart>(
  problem: ListedProblem<P>,
  terms: readonly OrderTerm[],
): OrderPosition {
  return {
    values: terms.map(({ index }) => {
      if (index === 'severity' && problem.isOfCluster === true) return '2'
      if (index === 'severity') return problem.severity === 'CRITICAL' ? '1' : '0'
      const { sinceMs, objects } = problem
      if (index === 'count') return String(objects.length).padStart(12, '0')
      return sinceMs === undefined ? undefined : String(yearZero + sinceMs)
    }),
    key: `${problem.cluster} ${problem.key}`,
  }
}
