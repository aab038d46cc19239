import type { IndexedStore } from '../../src/informer/store/indexed-store.ts'
import { bindCondition } from '../../src/query/condition/id-set.ts'
import { hasValue, testsPerStep } from '../../src/query/condition/condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { defaultWorkLimits, WorkBudget } from '../../src/query/condition/work-budget.ts'
import { type Relation, relationName } from '../../src/query/relation/relation.ts'
import type { ResultTable } from './results.ts'

const rounds = 5

/** What it costs to follow each relation from one object, beside a test of a condition on one, and what is paid for it. */
export function stepCosts(
  relations: Iterable<Relation>,
  stores: ReadonlyMap<string, IndexedStore>,
): ResultTable['rows'] {
  const budget = new WorkBudget({ tests: Infinity, examined: Infinity, rows: Infinity })
  const part = (type: string) => {
    const view = stores.get(type)
    if (view === undefined) throw new TypeError(`no objects of ${type}`)
    return { view, scope: unrestricted }
  }
  const pods = part('Pod').view
  const running = bindCondition(hasValue('phase', ['Running']), pods, budget)
  const testNs = leastNsEach(() => {
    for (const id of pods.ids()) running.has(id)
    return pods.size
  })
  const rows: Record<string, ResultTable['rows'][string]> = {}
  for (const relation of relations) {
    const { definition } = relation
    const [from, to] = [stores.get(definition.from), stores.get(definition.to)]
    if (from === undefined || to === undefined || from.size < 50) continue
    const stepNs = leastNsEach(() => {
      for (const id of from.ids()) {
        const related = relation.follow({ view: from, id, part, budget })
        bindCondition(related, to, budget).candidates(to.size)
      }
      return from.size
    })
    const charged = new WorkBudget({ tests: Infinity, examined: Infinity, rows: Infinity })
    for (const id of from.ids()) {
      const related = relation.follow({ view: from, id, part, budget: charged })
      bindCondition(related, to, charged)
    }
    rows[relationName(definition)] = {
      objects: from.size,
      stepNs,
      testNs,
      testsPerStep: stepNs / testNs,
      testsPaid: testsPerStep + inTests(charged) / from.size,
    }
  }
  return rows
}

/** What was paid for, in tests. */
function inTests(budget: WorkBudget): number {
  const { tests, examined } = defaultWorkLimits
  return budget.spent('tests') + (budget.spent('examined') * tests) / examined
}

/** Of some rounds, the quickest: what others do on the machine only adds. */
function leastNsEach(work: () => number): number {
  const figures = Array.from({ length: rounds }, () => {
    const startMs = performance.now()
    const count = work()
    return ((performance.now() - startMs) * 1_000_000) / count
  })
  return Math.min(...figures)
}
