/*
 * The work that one operation, or one frame of a subscription, may do. It bounds how long the synchronous half of an
 * operation blocks the event loop. Work is paid for before it is done.
 *
 * All kinds of work share one budget: one unit of a kind costs 1 / its limit. So an operation may spend everything on fields,
 * or half on tests and half on rows, and takes about the same time at most. Once the budget is exceeded, every further
 * payment throws the same error.
 */

import { CodedError } from '../../lib/coded-error.ts'
import { defaultsOf, type NumberOptions } from '../../lib/options.ts'
import type { ReadReport } from './read-report.ts'

/**
 * The work of an operation that costs time:
 *
 * - `examined`: objects examined, whether they are in the answer or not
 * - `tests`: parts of a condition prepared, or tested on an object or an index value
 * - `rows`: objects in the answer
 * - `fields`: fields written
 * - `bytes`: characters of the answer
 */
export type Work = 'examined' | 'tests' | 'rows' | 'fields' | 'bytes'

/** The limit of each kind of work for an operation that does no other work. */
export type WorkLimits = Readonly<Record<Work, number>>

/**
 * The defaults and bounds of {@link WorkLimits}. Each default takes about 80 ms of one core, as `npm run bench -- blocks`
 * measures. So no operation blocks the others for more than 100 ms.
 */
export const workOptions: NumberOptions<WorkLimits> = {
  examined: { byDefault: 350_000, least: 1_000, most: 10_000_000_000 },
  tests: { byDefault: 700_000, least: 1_000, most: 10_000_000_000 },
  rows: { byDefault: 45_000, least: 1_000, most: 10_000_000_000 },
  fields: { byDefault: 175_000, least: 1_000, most: 10_000_000_000 },
  bytes: { byDefault: 16_000_000, least: 1_000, most: 10_000_000_000 },
}

export const defaultWorkLimits: WorkLimits = defaultsOf(workOptions)

const descriptions: Readonly<Record<Work, (figure: string) => string>> = {
  examined: (figure) => `examines ${figure} objects`,
  tests: (figure) => `makes ${figure} tests of conditions`,
  rows: (figure) => `answers ${figure} objects`,
  fields: (figure) => `writes ${figure} fields`,
  bytes: (figure) => `writes ${figure} bytes`,
}

/** Work that may concern objects and values that the viewer cannot see. Errors withhold its amount. */
const withheld: ReadonlySet<Work> = new Set(['examined', 'tests'])

const hints: Readonly<Record<Work, string>> = {
  examined: 'narrow it by namespace, labelSelector or where',
  tests: 'ask for fewer conditions at once, or narrow the list that they are tried on',
  rows: 'ask for smaller pages, or for fewer relations at once',
  fields: 'ask for smaller pages, or for fewer fields',
  bytes: 'ask for smaller pages, or for the fields that you need instead of json',
}

export interface WorkDone {
  readonly work: Work
  /** The amount paid for, including the payment that exceeded the budget. */
  readonly amount: number
  readonly limit: number
}

function figureOf({ work, amount, limit }: WorkDone): string {
  if (!withheld.has(work)) return `${amount} of at most ${limit}`
  return amount > limit ? `more than ${limit}` : `some of at most ${limit}`
}

/**
 * An operation exceeds its work budget. The gateway never shortens the answer instead. `value` is the work that took
 * most of the budget; its `amount` is included only if it concerns nothing but the answer.
 */
export class QueryTooCostlyError extends CodedError {
  /** The argument that makes the operation costly, if there is a single one. */
  readonly argument: string | undefined

  /** @param done The work done, costliest first; at least one entry. */
  constructor(done: readonly [WorkDone, ...WorkDone[]], by?: CostlyArgument) {
    const [first] = done
    const account = done.map((one) => descriptions[one.work](figureOf(one)))
    const { work, limit } = first
    const together = done.length === 1 ? '' : ', which together is too much'
    super('QUERY_TOO_COSTLY', `the operation ${account.join(' and ')}${together}`, {
      value: withheld.has(work) ? { work, limit } : first,
      hint: by?.hint ?? hints[work],
    })
    this.argument = by?.argument
  }
}

/** The argument that makes an operation costly, and advice on it. */
export interface CostlyArgument {
  /** The argument that makes the operation costly, if there is a single one. */
  readonly argument: string
  readonly hint: string
}

/** Errors omit work below this share of the budget, unless the sum needs it. */
const minReportedShare = 0.1

/** Decoding an object takes as long as examining so many of them. */
export const examinedPerDecoded = 20

export class WorkBudget {
  readonly #limits: WorkLimits
  readonly #spent: Record<Work, number> = { examined: 0, tests: 0, rows: 0, fields: 0, bytes: 0 }
  #share = 0
  #failure: CodedError | undefined
  #by: CostlyArgument | undefined

  /** Records what is read, if the caller has asked for explain. */
  readonly report: ReadReport | undefined = undefined

  /** Missing limits have their defaults. */
  constructor(limits: Partial<WorkLimits> = {}) {
    this.#limits = { ...defaultWorkLimits, ...limits }
  }

  /** The error with which the budget was exceeded, or which ended the operation. */
  get failure(): CodedError | undefined {
    return this.#failure
  }

  /** The amount of one kind of work paid for. */
  spent(work: Work): number {
    return this.#spent[work]
  }

  /** The amount of one kind of work that the rest of the budget pays for. */
  left(work: Work): number {
    return Math.max(0, 1 - this.#share) * this.#limits[work]
  }

  /** Throws {@link QueryTooCostlyError} if the budget is exceeded, now or before. */
  spend(work: Work, amount: number): void {
    this.#spent[work] += amount
    this.#share += amount / this.#limits[work]
    // Shares that add up to 1 may be slightly more, by rounding.
    if (this.#share > 1 + Number.EPSILON * 1e6) throw (this.#failure ??= this.#account())
  }

  /** Ends the operation with another error, as an exceeded budget does. */
  end(error: CodedError): never {
    this.#share = Number.POSITIVE_INFINITY
    throw (this.#failure ??= error)
  }

  /** Throws if work that is certain to come would exceed the budget. Spends nothing otherwise. */
  foresee(work: Work, amount: number): void {
    if (amount > this.left(work)) this.spend(work, amount)
  }

  /** Does work whose cost is due to one argument. If the work exceeds the budget, the error names the argument. */
  because<T>(argument: CostlyArgument, work: () => T): T {
    const before = this.#by
    this.#by = argument
    try {
      return work()
    } finally {
      this.#by = before
    }
  }

  #account(): QueryTooCostlyError {
    const works = Object.keys(this.#spent) as Work[]
    const done = works
      .map((work): WorkDone => ({ work, amount: this.#spent[work], limit: this.#limits[work] }))
      .toSorted((a, b) => shareOf(b) - shareOf(a))
    const [first, ...rest] = done as [WorkDone, ...WorkDone[]]
    const tooMuch: [WorkDone, ...WorkDone[]] = [first]
    let share = shareOf(first)
    // Work that exceeds the budget alone is the whole account. Else as many kinds follow as exceed it together.
    for (const one of rest) {
      if (shareOf(first) > 1 || (share >= 1 && shareOf(one) < minReportedShare)) break
      tooMuch.push(one)
      share += shareOf(one)
    }
    return new QueryTooCostlyError(tooMuch, this.#by)
  }
}

const shareOf = ({ amount, limit }: WorkDone): number => amount / limit

/** A budget that also reports its work to the field that does it. */
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
