/*
 * How objects and lists are joined, and what they cost. Each charges the characters that its members have not charged, so
 * that the budget sees every answer grow. The same functions write frames of subscriptions, in a run without bounds: rows
 * of frames are charged earlier.
 */

import { WorkBudget } from '../../query/condition/work-budget.ts'
import type { FieldArguments } from './field-arguments.ts'
import { FieldErrors } from './field-errors.ts'

/**
 * The context of writing values: the price of the answer, the errors of its fields, and the coerced arguments. A
 * `PlanRun` also reads the caches. A frame of a subscription needs no more than this.
 */
export interface ValueRun {
  readonly budget: WorkBudget
  readonly errors: FieldErrors
  /** Whether the run lacks something and will be repeated. */
  readonly isLacking: boolean
  argumentsOf(field: FieldArguments): Readonly<Record<string, unknown>>
}

/** A member of an object in an answer: its name as JSON with the separator before it, and its writer. */
export interface WrittenMember<Source extends readonly unknown[], Run = ValueRun> {
  readonly before: string
  readonly write: (run: Run, ...source: Source) => string
  /** Tried before `write`: most members of own values are short texts, thousands in a graph, that need no completion. */
  readonly quick?: QuickText | undefined
}

/** A plain member of a value as text, behind the text before it; `undefined` if it needs completion, or fails. */
export type QuickText = (run: ValueRun, value: unknown, before: string) => string | undefined

/** The least length of an object in characters: each value has at least one. */
export function leastLengthOf(members: readonly { readonly before: string }[]): number {
  return members.reduce((sum, { before }) => sum + before.length + 1, '{}'.length)
}

/**
 * Writes an object, whose source has up to three parts. Each object and list of an answer goes through this and
 * {@link listText}, which charge the characters that the members have not charged.
 */
export function objectText<Run extends ValueRun, Source extends readonly unknown[]>(
  run: Run,
  members: readonly WrittenMember<Source, Run>[],
  ...source: Source
): string
export function objectText(
  run: ValueRun,
  members: readonly WrittenMember<unknown[]>[],
  a?: unknown,
  b?: unknown,
  c?: unknown,
): string {
  const paid = run.budget.spent('bytes')
  // Concatenation instead of a join: V8 copies the text once, when the answer is complete.
  let text = '{'
  for (const { before, write, quick } of members) {
    text += quick?.(run, a, before) ?? before + write(run, a, b, c)
  }
  text += '}'
  payRest(run, text, paid)
  return text
}

/** Writes a list. `leastLength`: the least number of characters of one member. */
export function listText<T>(
  run: ValueRun,
  members: readonly T[],
  write: (member: T, position: number) => string,
  leastLength = 0,
): string {
  const { budget, errors } = run
  budget.foresee('bytes', leastLength * members.length)
  const paid = budget.spent('bytes')
  let text = '['
  let position = 0
  let before = errors.count
  try {
    for (const member of members) {
      if (position > 0) text += ','
      text += write(member, position)
      if (errors.count > before) {
        errors.within(before, position)
        before = errors.count
      }
      position += 1
    }
  } catch (error) {
    errors.within(before, position)
    throw error
  }
  text += ']'
  payRest(run, text, paid)
  return text
}

/** Charges the uncharged rest of a text. `before`: the bytes spent before the text. */
function payRest({ budget }: ValueRun, { length }: string, before: number): void {
  const unpaid = length - (budget.spent('bytes') - before)
  if (unpaid > 0) budget.spend('bytes', unpaid)
}

const unlimited = new WorkBudget({
  examined: Infinity,
  tests: Infinity,
  rows: Infinity,
  fields: Infinity,
  bytes: Infinity,
})

/** The run of all frames: their parts are bounded and paid for, and their fields have no variables. */
const frameRun: ValueRun = {
  budget: unlimited,
  errors: new FieldErrors(unlimited, 0, () => {}),
  isLacking: false,
  argumentsOf: (field) => field.coerce({ sources: {}, coerced: {} }),
}

/** Writes a frame of a subscription, or a change in one. Throws the error of a field that fails. */
export function valueText<T>(write: (run: ValueRun, value: T) => string, value: T): string {
  let text = ''
  let thrown: unknown
  try {
    text = write(frameRun, value)
  } catch (error) {
    thrown = error
  }
  const failure = frameRun.errors.takeRow()[0] ?? thrown
  if (failure !== undefined) throw failure
  return text
}
