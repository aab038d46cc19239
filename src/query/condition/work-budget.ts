import { CodedError } from '../../lib/coded-error.ts'
import type { ReadReport } from './read-report.ts'

/**
 * What an operation does that costs time:
 *
 * - `examined`: objects looked at, whether they are answered or not
 * - `tests`: parts of a condition made ready, or tried on an object or on a value of an index
 * - `rows`: objects answered, each decoded
 * - `fields`: fields written
 * - `bytes`: characters of the answer
 */
export type Work = 'examined' | 'tests' | 'rows' | 'fields' | 'bytes'

/** How much of each kind of work an operation may do that does nothing else. */
export type WorkLimits = Readonly<Record<Work, number>>

/**
 * Every default of {@link WorkLimits}: what takes some 80 ms of one core each, as `npm run bench -- blocks` measures it for
 * answers by graphql-js. So an operation holds up the others for less than 100 ms, whatever it is made of.
 */
export const defaultWorkLimits: WorkLimits = {
  examined: 350_000,
  tests: 700_000,
  rows: 3_000,
  fields: 35_000,
  bytes: 8_000_000,
}

/** How a figure of each kind of work is told. */
const told: Readonly<Record<Work, (figure: string) => string>> = {
  examined: (figure) => `examines ${figure} objects`,
  tests: (figure) => `makes ${figure} tests of conditions`,
  rows: (figure) => `answers ${figure} objects`,
  fields: (figure) => `writes ${figure} fields`,
  bytes: (figure) => `writes ${figure} bytes`,
}

/** What may be done on objects and on values of indexes that the viewer does not see: how much it was is not told. */
const untold: ReadonlySet<Work> = new Set(['examined', 'tests'])

const hints: Readonly<Record<Work, string>> = {
  examined: 'narrow it by namespace, labelSelector or where',
  tests: 'ask for fewer conditions at once, or narrow the list that they are tried on',
  rows: 'ask for smaller pages, or for fewer relations at once',
  fields: 'ask for smaller pages, or for fewer fields',
  bytes: 'ask for smaller pages, or for the fields that you need instead of json',
}

/** One kind of work in the account of an operation. */
export interface WorkDone {
  readonly work: Work
  /** How much of it was done, and was about to be done when the budget was passed. */
  readonly amount: number
  readonly limit: number
}

function figureOf({ work, amount, limit }: WorkDone): string {
  if (!untold.has(work)) return `${amount} of at most ${limit}`
  return amount > limit ? `more than ${limit}` : `some of at most ${limit}`
}

/**
 * An operation that would do more work than it may. It is never answered by a shorter list instead. Its `value` is the
 * work that took most of the budget, with its `amount` where that tells only of what is answered.
 */
export class QueryTooCostlyError extends CodedError {
  /** The argument by which the operation is so costly, where it is that of one. */
  readonly argument: string | undefined

  /** @param done What was done of each kind of work, the costliest first; at least one. */
  constructor(done: readonly [WorkDone, ...WorkDone[]], by?: CostlyArgument) {
    const [first] = done
    const account = done.map((one) => told[one.work](figureOf(one)))
    const { work, limit } = first
    const together = done.length === 1 ? '' : ', which together is too much'
    super('QUERY_TOO_COSTLY', `the operation ${account.join(' and ')}${together}`, {
      value: untold.has(work) ? { work, limit } : first,
      hint: by?.hint ?? hints[work],
    })
    this.argument = by?.argument
  }
}

/** Which argument makes an operation costly, and what it should be. */
export interface CostlyArgument {
  readonly argument: string
  readonly hint: string
}

/** Work that took less than this part of the budget is not worth telling, unless the rest makes no sense without it. */
const worthTelling = 0.1

/**
 * The work that one operation, or one frame of a subscription, may do. It bounds how long the synchronous half of an
 * operation keeps everyone else waiting, so work is paid for before it is done.
 *
 * There is one budget, not one per kind of work: a limit says what one unit of its work costs (1 / limit of the budget).
 * So an operation may spend all on fields, or half on tests and half on rows, and takes about the same time at most.
 *
 * Once it is passed, it stays passed: whatever the operation tries next fails with the same error.
 */
export class WorkBudget {
  readonly #limits: WorkLimits
  readonly #spent: Record<Work, number> = { examined: 0, tests: 0, rows: 0, fields: 0, bytes: 0 }
  /** The part of the budget that is spent. */
  #share = 0
  #failure: CodedError | undefined
  #by: CostlyArgument | undefined

  /** What is read is told to it, where somebody asked for that. */
  readonly report: ReadReport | undefined = undefined

  /** Limits that are not given are the default ones. */
  constructor(limits: Partial<WorkLimits> = {}) {
    this.#limits = { ...defaultWorkLimits, ...limits }
  }

  /** How the budget was passed, if it was, or what ended the operation. */
  get failure(): CodedError | undefined {
    return this.#failure
  }

  /** How much of one kind of work was paid for. */
  spent(work: Work): number {
    return this.#spent[work]
  }

  /** How much of one kind of work may still be done, if nothing else is. */
  left(work: Work): number {
    return Math.max(0, 1 - this.#share) * this.#limits[work]
  }

  /** Throws {@link QueryTooCostlyError} when the budget is passed, and whenever it is asked again. */
  spend(work: Work, amount: number): void {
    this.#spent[work] += amount
    this.#share += amount / this.#limits[work]
    // A sum of parts that make 1 may come out a little above it.
    if (this.#share > 1 + Number.EPSILON * 1e6) throw (this.#failure ??= this.#account())
  }

  /** Ends the operation as a passed budget does, with another error. */
  end(error: CodedError): never {
    this.#share = Number.POSITIVE_INFINITY
    throw (this.#failure ??= error)
  }

  /** Throws as {@link spend} would where so much is certain to be spent, and spends nothing otherwise: what is too costly ends before it begins. */
  foresee(work: Work, amount: number): void {
    if (amount > this.left(work)) this.spend(work, amount)
  }

  /**
   * Does work that is so costly, if it is, because of one argument: the error with which it passes the budget names that.
   * One that has been passed before is as it was.
   */
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
    // What alone is too much is the whole story; else as much is told as together is too much.
    for (const one of rest) {
      if (shareOf(first) > 1 || (share >= 1 && shareOf(one) < worthTelling)) break
      tooMuch.push(one)
      share += shareOf(one)
    }
    return new QueryTooCostlyError(tooMuch, this.#by)
  }
}

const shareOf = ({ amount, limit }: WorkDone): number => amount / limit
