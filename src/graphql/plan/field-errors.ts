import {
  type FieldNode,
  type GraphQLError,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  isNonNullType,
  locatedError,
} from 'graphql'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { QueryTooCostlyError, type WorkBudget } from '../../query/condition/work-budget.ts'
import { AlikeErrors } from '../errors/priced-errors.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { plannedFields } from './planned-work.ts'

type Step = string | number

const noErrors: readonly GraphQLError[] = []

/** An error and the field that it belongs to. Its path grows from that field outwards, so it is complete when the root field ends. */
interface NotedError {
  readonly thrown: unknown
  readonly nodes: readonly FieldNode[]
  readonly path: Step[]
}

/** Thrown from a field that may not be null, whose error is noted: the nearest field around it that may be null becomes null. */
const nullBelow = new Error('a field that may not be null has failed')

/**
 * The errors of the fields of one run. A field that fails is written as `null`, as the GraphQL specification has it (section 6.4.4,
 * handling field errors), and the run goes on.
 *
 * No field knows its path while it is written: that would cost every row. An error is noted with an empty path, and each field and
 * list item around it that sees that errors were noted adds its own step.
 */
export class FieldErrors {
  readonly #noted: NotedError[] = []
  /** Noted errors, and again the last of those alike for each that was not made. */
  readonly #thrown: NotedError[] = []
  readonly #beside: NotedError[] = []
  readonly #alike: AlikeErrors<NotedError>
  readonly #made = new Map<NotedError, GraphQLError>()
  readonly #missed: (error: UnknownIndexError) => void

  /** `missed` is told of each index that a field lacked. */
  constructor(budget: WorkBudget, missed: (error: UnknownIndexError) => void) {
    this.#alike = new AlikeErrors(budget, plannedFields)
    this.#missed = missed
  }

  /** How many errors have a path that is not complete, and all those before. */
  get count(): number {
    return this.#noted.length
  }

  /** A field or list item ends: errors that were noted since there were `before` of them are below it. */
  within(before: number, step: Step): void {
    for (let at = before; at < this.#noted.length; at++) this.#noted[at]?.path.push(step)
  }

  /** A field has failed. Throws on what the field around it has to deal with. */
  failed(error: unknown, nodes: readonly FieldNode[], isNonNull: boolean): void {
    if (error instanceof NotCoveredError) throw error
    if (error !== nullBelow && !this.#isKnown(error)) this.#note(error, nodes)
    if (error instanceof QueryTooCostlyError) throw error
    if (isNonNull) throw nullBelow
  }

  /** Writes a list item that may be null. */
  item(nodes: readonly FieldNode[], write: () => string): string {
    try {
      return write()
    } catch (error) {
      this.failed(error, nodes, false)
      return 'null'
    }
  }

  /** The budget is passed: no other error is told. */
  costly(error: QueryTooCostlyError): void {
    if (!this.#isKnown(error)) this.#note(error, [])
  }

  /** Notes errors of a field that is answered all the same. */
  beside(failures: readonly Error[], nodes: readonly FieldNode[]): void {
    for (const thrown of failures) {
      if (this.#beside.some((one) => one.thrown === thrown && one.nodes[0] === nodes[0])) continue
      this.#lacked(thrown)
      this.#beside.push(this.#add({ thrown, nodes, path: [] }))
    }
  }

  /** The errors of the answer. Where the budget is passed, that alone. */
  all(): readonly GraphQLError[] {
    const costly = this.#thrown.find(({ thrown }) => thrown instanceof QueryTooCostlyError)
    if (costly !== undefined) return [this.#located(costly)]
    return [...this.#thrown, ...this.#beside].map((one) => this.#located(one))
  }

  /** Takes the errors of the row that was written last. Their paths begin at the row. */
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

  /** A passed budget is thrown through all fields; the first has noted it. */
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

/** The field of a selection whose errors are told. */
export interface AnsweredField {
  readonly key: string
  readonly type: GraphQLOutputType
  readonly nodes: readonly FieldNode[]
}

/** The type of a field. `__typename` cannot be null. */
export function fieldType(type: GraphQLObjectType, name: string): GraphQLOutputType {
  return type.getFields()[name]?.type ?? new GraphQLNonNull(GraphQLString)
}

/** The same writer for a field that may fail: it writes `null` then, or hands the failure on where the field may not be null. */
export function answered<W extends (run: never, ...source: never[]) => string>(
  { key, type, nodes }: AnsweredField,
  write: W,
): W {
  const isNonNull = isNonNullType(type)
  // Writers have up to three sources; a rest parameter would make a list for each row.
  type Run = { readonly errors: FieldErrors }
  const written = write as unknown as (run: Run, a: unknown, b: unknown, c: unknown) => string
  const guarded: typeof written = (run, a, b, c) => {
    const { errors } = run
    const before = errors.count
    try {
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
