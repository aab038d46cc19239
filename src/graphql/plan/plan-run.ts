/*
 * One run of a plan: the request's variables, its budget, the errors of its fields, and the fragments that it has used
 * last. A plan takes a fraction of the time of graphql-js, so its limits are raised to stand for the same time.
 *
 * Each object and list of an answer is joined here, and charges the characters that its members have not charged, so that
 * the budget sees every answer grow. Frames of subscriptions are joined by the same functions, in a run without bounds:
 * their rows are charged earlier.
 *
 * A failed field is written as `null`, or passes the failure on if it may not be null, and the run goes on (GraphQL
 * specification, section 6.4.4). Fields do not track their path, which would cost every row. A noted error starts with an
 * empty path. Each field and list item around it sees that the count has grown, and adds its own step.
 */

import {
  type FieldNode,
  type GraphQLSchema,
  type VariableValues,
  type GraphQLError,
  type GraphQLOutputType,
  isNonNullType,
  locatedError,
  getArgumentValues,
  type GraphQLField,
  Kind as NodeKind,
  type ValueNode,
} from 'graphql'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import {
  defaultWorkLimits,
  type WorkLimits,
  WorkBudget,
  QueryTooCostlyError,
} from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import { elementsOf } from '../schema/field-source.ts'
import { type ListRequest, listRequest } from '../reads/list-read.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { ReadRun, type ReadRunOptions } from '../reads/read-run.ts'
import { FragmentCache, type FragmentMemo, type StoreFragment } from './fragment-cache.ts'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { maxAlike } from '../errors/client-error.ts'

/** The results of the writes of one operation, which are made before the answer is read. Dispose it after that. */
export interface WriteResults extends Disposable {
  /**
   * The value of a field of `Mutation`, by its response key: its payload, a payload for each document of an `apply`, or
   * the value of an extension's resolver. Throws the error of the write. `isToldAsData`: a failed write has a payload,
   * too, with its error in `failures`.
   */
  result(key: string, isToldAsData: boolean): unknown
}

const directFragmentBytes = 1 << 20

/** A field that is read from a whole object, that a resolver answers, or that fails, costs as much as so many that a plan writes. */
export const fieldsPerRead = 5

type Extent = Pick<WorkLimits, 'fields' | 'bytes'>

const extents = new WeakMap<GraphQLSchema, Extent>()

/**
 * The limits of a plan that reads the schema: the whole of it may be written besides what any plan may do. The standard
 * introspection query writes 12 fields and 250 characters for each type, field, argument or value on average; more is
 * allowed here.
 */
export function schemaWork(schema: GraphQLSchema, work: Partial<WorkLimits>): WorkLimits {
  const limits = { ...defaultWorkLimits, ...work }
  let extent = extents.get(schema)
  if (extent === undefined) {
    let [fields, bytes] = [0, 0]
    for (const { description } of Object.values(schema.getTypeMap()).flatMap(elementsOf)) {
      fields += 16
      bytes += 2_000 + 4 * (description?.length ?? 0)
    }
    extents.set(schema, (extent = { fields, bytes }))
  }
  return {
    ...limits,
    fields: limits.fields + extent.fields,
    bytes: limits.bytes + extent.bytes,
  }
}

export interface PlanRunOptions extends ReadRunOptions {
  readonly variables: VariableValues
  readonly fragments: FragmentCache
  /** The event of a subscription of an extension that the run answers. */
  readonly event?: unknown
  /** The results of a mutation's writes. */
  readonly writes?: WriteResults | undefined
}

/** Notes the error of a refused object beside the answer of a field. */
export function refusedBeside({
  nodes,
}: {
  readonly nodes: readonly FieldNode[]
}): (run: PlanRun, error: Error) => void {
  return (run, error) => run.errors.beside([error], nodes)
}

/** One run of a plan: the request's variables, and the values computed from them once. */
export class PlanRun extends ReadRun implements ValueRun {
  /**
   * The fragments that the run has used last, at their places. `of`: the owner of the fragment. `fragment` is `undefined`
   * if its arguments cannot be read.
   */
  readonly recent: {
    readonly of: object
    readonly view: StoreView
    readonly fragment: StoreFragment | undefined
  }[] = []
  readonly #fragments: FragmentCache
  readonly errors: FieldErrors
  readonly event: unknown
  readonly writes: WriteResults | undefined
  readonly variables: VariableValues
  readonly #asked: AskedArguments
  #directFragments: FragmentCache | undefined
  readonly #memos = new Map<string, Map<StoreView, FragmentMemo>>()
  readonly #requests = new Map<FieldArguments, ListRequest>()

  constructor(options: PlanRunOptions) {
    super(options)
    this.#fragments = options.fragments
    this.errors = new FieldErrors(options.budget, fieldsPerRead, (error) =>
      options.parts.missed(error),
    )
    this.variables = options.variables
    this.#asked = new AskedArguments(options.variables, options.budget)
    this.event = options.event
    this.writes = options.writes
  }

  /** The cache for the texts of a kind's objects. Texts of direct reads last for the run only. */
  fragmentsOf(part: KindView): FragmentCache {
    if (!part.isDirect) return this.#fragments
    return (this.#directFragments ??= new FragmentCache(directFragmentBytes))
  }

  override idText(part: KindView, id: ObjectId): string {
    const memo = this.memoOf('\0id', part)
    const held = part.view.held(id)
    let text = memo.get(id, held)
    if (text === undefined) memo.set(id, held, (text = super.idText(part, id)))
    return text
  }

  /** Texts about the objects of a part, each kept while its object has this version. `name`: names the texts. */
  memoOf(name: string, part: KindView): FragmentMemo {
    let memos = this.#memos.get(name)
    if (memos === undefined) this.#memos.set(name, (memos = new Map()))
    let memo = memos.get(part.view)
    if (memo === undefined) {
      memo = this.fragmentsOf(part).memo(`${name} ${part.cluster}`, part.view)
      memos.set(part.view, memo)
    }
    return memo
  }

  /** See {@link AskedArguments.of}. */
  argumentsOf(field: FieldArguments): Readonly<Record<string, unknown>> {
    return this.#asked.of(field)
  }

  /** Parses the arguments of a list once for all rows. Throws `ArgumentError`. */
  requestOf(field: FieldArguments, kind: Kind): ListRequest {
    const read = (): ListRequest => listRequest(this.served, kind, this.argumentsOf(field))
    if (field.constant !== undefined) return (field.request ??= read())
    let request = this.#requests.get(field)
    if (request === undefined) this.#requests.set(field, (request = read()))
    return request
  }

  get isLacking(): boolean {
    return this.parts.isLacking
  }
}

/** The run of a plan, for writers that read the caches. Throws `TypeError` for the run of a frame. */
export function planRunOf(run: ValueRun): PlanRun {
  if (run instanceof PlanRun) return run
  throw new TypeError('the values of frames read no caches')
}

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
  readonly #alike = new Map<
    FieldNode | undefined,
    Map<string, { made: number; last: NotedError }>
  >()
  readonly #made = new Map<NotedError, GraphQLError>()
  readonly #budget: WorkBudget
  readonly #fieldPrice: number
  readonly #missed: (error: UnknownIndexError) => void

  /** `fieldPrice`: the price of a written field, in which errors are priced. `missed` receives each lacking index. */
  constructor(budget: WorkBudget, fieldPrice: number, missed: (error: UnknownIndexError) => void) {
    this.#budget = budget
    this.#fieldPrice = fieldPrice
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
      this.#thrown.push(this.#alikeTo(thrown, node, () => make(thrown)))
    } catch (error) {
      this.#thrown.push(make(error))
      throw error
    }
  }

  /**
   * The error to report for a field: a new one, or the last one like it. The budget pays before an error is made, because
   * making one takes long: its stack becomes text, and the lines of the document are counted. For the same field and
   * message, only as many are made as an answer shows. The last one stands for the others. Throws `QueryTooCostlyError`.
   */
  #alikeTo(thrown: unknown, node: FieldNode | undefined, make: () => NotedError): NotedError {
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

  #add(noted: NotedError): NotedError {
    this.#noted.push(noted)
    return noted
  }

  #lacked(error: unknown): void {
    if (error instanceof UnknownIndexError) this.#missed(error)
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

const noVariables: VariableValues = { sources: {}, coerced: {} }

/** The arguments of one field of a document. Arguments without variables are coerced once for all requests. */
export class FieldArguments {
  readonly constant?: Readonly<Record<string, unknown>>
  /** The parsed request of a list with constant arguments. Its first read sets it; all requests of the plan share it. */
  request: ListRequest | undefined
  /** The coerced arguments by request variables: both the preparation and the read use them. */
  readonly #coerced = new WeakMap<VariableValues, Readonly<Record<string, unknown>>>()
  /** The names of the variables in them. */
  readonly variables: readonly string[]
  readonly #field: GraphQLField<unknown, unknown>
  readonly #node: FieldNode

  constructor(field: GraphQLField<unknown, unknown>, node: FieldNode) {
    this.#field = field
    this.#node = node
    this.variables = node.arguments?.flatMap(({ value }) => variablesIn(value)) ?? []
    if (this.variables.length > 0) return
    try {
      this.constant = getArgumentValues(field, node, noVariables)
    } catch {
      // Each request coerces the arguments again, and gets the error.
    }
  }

  /** Throws the GraphQLError of an argument that cannot be coerced. */
  coerce(variables: VariableValues): Readonly<Record<string, unknown>> {
    if (this.constant !== undefined) return this.constant
    let values = this.#coerced.get(variables)
    if (values === undefined) {
      values = getArgumentValues(this.#field, this.#node, variables)
      this.#coerced.set(variables, values)
    }
    return values
  }
}

function variablesIn(value: ValueNode): readonly string[] {
  switch (value.kind) {
    case NodeKind.VARIABLE:
      return [value.name.value]
    case NodeKind.LIST:
      return value.values.flatMap(variablesIn)
    case NodeKind.OBJECT:
      return value.fields.flatMap((field) => variablesIn(field.value))
    default:
      return []
  }
}

/**
 * The arguments of the fields of one request. What reads them goes through all of their values, and a document of ten thousand
 * tokens has room for hundreds of fields that read the same variable. The size of a request bounds what its variables hold,
 * so the first read is free; each further one is paid for.
 */
export class AskedArguments {
  readonly budget: WorkBudget
  readonly #variables: VariableValues
  /** What each further read of a variable costs; `undefined`: it has been read once. */
  readonly #prices = new Map<string, number | undefined>()

  constructor(variables: VariableValues, budget: WorkBudget) {
    this.#variables = variables
    this.budget = budget
  }

  /** The coerced arguments of a field. Throws the GraphQLError of the first invalid one, and `QueryTooCostlyError`. */
  of(field: FieldArguments): Readonly<Record<string, unknown>> {
    for (const name of field.variables) {
      if (this.#prices.has(name)) this.#pay(name)
      else this.#prices.set(name, undefined)
    }
    return field.coerce(this.#variables)
  }

  #pay(name: string): void {
    const price = this.#prices.get(name) ?? readingPrice(this.#variables.coerced[name])
    this.#prices.set(name, price)
    if (price === 0) return
    const hint = `fewer fields may read $${name}, or it may hold less: ask in several queries`
    this.budget.because({ argument: `$${name}`, hint }, () => this.budget.spend('tests', price))
  }
}

/** The tests that reading a value costs: one for each item and member, and for each four characters of a text. */
function readingPrice(value: unknown): number {
  if (typeof value === 'string') return Math.floor(value.length / 4)
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, one) => sum + 1 + readingPrice(one), 0)
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
  argumentsOf: (field) => field.coerce(noVariables),
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
