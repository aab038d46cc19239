import { defaultWorkLimits, type WorkLimits } from '../../query/condition/work-budget.ts'

/** How many fields a plan writes in the time in which graphql-js writes one. */
export const plannedFields = 5

/**
 * What a plan may do in the time that its limits stand for: a row whose texts are kept is joined in a twentieth of the time that
 * graphql-js takes for one, a field that is missed is written in a fifth, and a character of the answer in half.
 */
export function plannedWork(work: Partial<WorkLimits>): WorkLimits {
  const limits = { ...defaultWorkLimits, ...work }
  const { rows, fields, bytes } = limits
  return { ...limits, rows: rows * 15, fields: fields * plannedFields, bytes: bytes * 2 }
}
