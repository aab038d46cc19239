/*
 * The errors of fields within one run. A failed field is written as `null`, or passes the failure on if it may not be
 * null, and the run goes on (GraphQL specification, section 6.4.4). Fields do not track their path, which would cost
 * every row. A noted error starts with an empty path. Each field and list item around it sees that the count has grown,
 * and adds its own step. Errors that repeat on many rows are made a few times only, and the budget pays for each before
 * it is made.
 */

import {
  type FieldNode,
  type GraphQLError,
  type GraphQLOutputType,
  isNonNullType,
  locatedError,
} from 'graphql'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { QueryTooCostlyError, type WorkBudget } from '../../query/condition/work-budget.ts'
import { maxAlike } from '../errors/bounded-errors.ts'

type Step = string | number

const noErrors: readonly GraphQLError[] = []

/** An error and its field. The path, from the field outwards, is complete when the root field ends. */
interface NotedError {
  readonly thrown: unknown
  readonly nodes: readonly FieldNode[]
  readonly path: Step[]
}

/** Passes the noted failure of a non-null field outwards: the nearest nullable field around it, or `data`, becomes null. */
export const nullBelow: Error = new Error('a field that may not be null has failed')

export class FieldErrors {
  readonly #noted: NotedError[] = []
  /** The errors of failed fields. The last similar error stands for each one beyond the limit of similar errors. */
  readonly #thrown: NotedError[] = []
  readonly #beside: NotedError[] = []
  readonly #alike: AlikeErrors
  readonly #made = new Map<NotedError, GraphQLError>()
  readonly #missed: (error: UnknownIndexError) => void

  /** `fieldPrice`: the price of a written field, in which errors are priced. `missed` receives each lacking index. */
  constructor(budget: WorkBudget, fieldPrice: number, missed: (error: UnknownIndexError) => void) {
    this.#alike = new AlikeErrors(budget, fieldPrice)
    this.#missed = missed
  }

  get count(): number {
    return this.#noted.length
  }

  /** Adds the step of a field or list item to the paths of the errors noted after the first `before`. */
  within(before: number, step: Step): void {
    for (let at = before; at < this.#noted.length; at++) this.#noted[at]?.path.push(step)
  }

  /** Notes the error of a failed field. Throws if the field around it must handle the failure. */
  failed(error: unknown, nodes: readonly FieldNode[], isNonNull: boolean): void {
    if (error !== nullBelow && !this.#isKnown(error)) this.#note(error, nodes)
    if (error instanceof QueryTooCostlyError) throw error
    if (isNonNull) throw nullBelow
  }

  /** Writes a list item. Throws if the list must handle its failure. */
  item(nodes: readonly FieldNode[], write: () => string, isNonNull = false): string {
    try {
      return write()
    } catch (error) {
      this.failed(error, nodes, isNonNull)
      return 'null'
    }
  }

  /** Notes that the run exceeds its budget: {@link all} then reports this error only. */
  costly(error: QueryTooCostlyError): void {
    if (!this.#isKnown(error)) this.#note(error, [])
  }

  /** Notes errors of a field that still has an answer. */
  beside(failures: readonly Error[], nodes: readonly FieldNode[]): void {
    for (const thrown of failures) {
      if (this.#beside.some((one) => one.thrown === thrown && one.nodes[0] === nodes[0])) continue
      this.#lacked(thrown)
      this.#beside.push(this.#add({ thrown, nodes, path: [] }))
    }
  }

  /** The errors of the answer. An exceeded budget is the only error. */
  all(): readonly GraphQLError[] {
    const costly = this.#thrown.find(({ thrown }) => thrown instanceof QueryTooCostlyError)
    if (costly !== undefined) return [this.#located(costly)]
    return [...this.#thrown, ...this.#beside].map((one) => this.#located(one))
  }

  /** Takes the errors of the last row. Their paths begin at the row. */
  takeRow(): readonly GraphQLError[] {
    if (this.#thrown.length + this.#beside.length === 0) return noErrors
    const errors = this.all()
    this.#thrown.length = 0
    this.#beside.length = 0
    return errors
  }

  #located(one: NotedError): GraphQLError {
    let error = this.#made.get(one)
    if (error === undefined) {
      error = locatedError(one.thrown, one.nodes, one.path.toReversed())
      this.#made.set(one, error)
    }
    return error
  }

  /** The budget's error passes through all enclosing fields; the first one has noted it. */
  #isKnown(error: unknown): boolean {
    return (
      error instanceof QueryTooCostlyError && this.#thrown.some(({ thrown }) => thrown === error)
    )
  }

  #note(thrown: unknown, nodes: readonly FieldNode[]): void {
    this.#lacked(thrown)
    const [node] = nodes
    const make = (error: unknown): NotedError =>
      this.#add({ thrown: error, nodes: node === undefined ? [] : [node], path: [] })
    if (thrown instanceof QueryTooCostlyError) {
      this.#thrown.push(make(thrown))
      return
    }
    try {
      this.#thrown.push(this.#alike.take(thrown, node, () => make(thrown)))
    } catch (error) {
      this.#thrown.push(make(error))
      throw error
    }
  }

  #add(noted: NotedError): NotedError {
    this.#noted.push(noted)
    return noted
  }

  #lacked(error: unknown): void {
    if (error instanceof UnknownIndexError) this.#missed(error)
  }
}

/**
 * The errors of the fields of one answer. The budget pays for each error before it is made, because making one takes
 * long: its stack becomes text, and the lines of the document are counted. For the same field and message, only as many
 * are made as an answer shows. The last one stands for the others, which are counted.
 */
class AlikeErrors {
  readonly #budget: WorkBudget
  readonly #fieldPrice: number
  readonly #alike = new Map<
    FieldNode | undefined,
    Map<string, { made: number; last: NotedError }>
  >()

  constructor(budget: WorkBudget, fieldPrice: number) {
    this.#budget = budget
    this.#fieldPrice = fieldPrice
  }

  /** The error to report for a field: a new one, or the last one like it. Throws `QueryTooCostlyError`. */
  take(thrown: unknown, node: FieldNode | undefined, make: () => NotedError): NotedError {
    this.#budget.spend('fields', alikeFields * this.#fieldPrice)
    const ofField = this.#alike.get(node) ?? new Map<string, { made: number; last: NotedError }>()
    const message = thrown instanceof Error ? thrown.message : ''
    const alike = ofField.get(message)
    if (alike !== undefined && alike.made >= maxAlike) return alike.last
    this.#budget.spend('fields', fieldsToMake(node) * this.#fieldPrice)
    const last = make()
    this.#alike.set(node, ofField.set(message, { made: (alike?.made ?? 0) + 1, last }))
    return last
  }
}

/** The cost of throwing an error and comparing it with others, in written fields. */
const alikeFields = 4
/** The further cost of making an error. */
const madeFields = 25
/** Locating an error counts the lines and characters before it: one more field for each so many of them. */
const linesOfField = 30
const charactersOfField = 1_000

function fieldsToMake(node: FieldNode | undefined): number {
  const loc = node?.loc
  if (loc === undefined) return madeFields
  const { startToken, start } = loc
  return Math.ceil(madeFields + startToken.line / linesOfField + start / charactersOfField)
}

export interface AnsweredField {
  readonly key: string
  readonly type: GraphQLOutputType
  readonly nodes: readonly FieldNode[]
  /** The response path that its reads are reported at, without connection keys. */
  readonly place?: string
}

/**
 * Wraps the writer of a field, and reports its reads at its place. On failure it writes `null`, or passes the failure of
 * a non-null field outwards.
 */
export function answered<W extends (run: never, ...source: never[]) => string>(
  { key, type, nodes, place = key }: AnsweredField,
  write: W,
): W {
  const isNonNull = isNonNullType(type)
  // Writers have up to three sources. A rest parameter would allocate an array for each row.
  type Run = { readonly errors: FieldErrors; readonly budget: WorkBudget }
  const written = write as unknown as (run: Run, a: unknown, b: unknown, c: unknown) => string
  const guarded: typeof written = (run, a, b, c) => {
    const { errors, budget } = run
    const before = errors.count
    try {
      budget.report?.at(place)
      const text = written(run, a, b, c)
      if (errors.count > before) errors.within(before, key)
      return text
    } catch (error) {
      try {
        errors.failed(error, nodes, isNonNull)
      } finally {
        errors.within(before, key)
      }
      return 'null'
    }
  }
  return guarded as unknown as W
}
