import type { ReadReport } from './read-report.ts'
import { type Work, WorkBudget, type WorkLimits } from './work-budget.ts'

/** A budget that knows for which field its work is done. */
export class ReportingBudget extends WorkBudget {
  override readonly report: ReadReport

  constructor(limits: Partial<WorkLimits>, report: ReadReport) {
    super(limits)
    this.report = report
  }

  override spend(work: Work, amount: number): void {
    if (work === 'examined' || work === 'tests') this.report.now[work] += amount
    super.spend(work, amount)
  }
}
