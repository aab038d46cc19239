/*
 * One run of a plan: the request's variables, its budget, the errors of its fields, and the fragments that it has used
 * last. A plan takes a fraction of the time of graphql-js, so its limits are raised to stand for the same time. A plan
 * that reads the schema may also write all of it.
 */

import { type FieldNode, type GraphQLSchema, isEnumType, type VariableValues } from 'graphql'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { defaultWorkLimits, type WorkLimits } from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import { type ListRequest, listRequest } from '../reads/list-read.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { ReadRun, type ReadRunOptions } from '../reads/read-run.ts'
import type { FieldArguments } from './field-arguments.ts'
import { FieldErrors } from './field-errors.ts'
import { FragmentCache, type FragmentMemo, type StoreFragment } from './fragment-cache.ts'
import type { ValueRun } from './value-run.ts'

/** The results of the writes of one operation, which are made before the answer is read. Dispose it after that. */
export interface WriteResults extends Disposable {
  /**
   * The value of a field of `Mutation`, by its response key: its payload, a payload for each document of an `apply`, or
   * the value of an extension's resolver. Throws the error of the write.
   */
  result(key: string): unknown
}

const directFragmentBytes = 1 << 20

/** The number of fields that a plan writes while graphql-js writes one. */
export const plannedFields = 5

/**
 * Raises the limits for plans, to stand for the same time as in graphql-js. A plan joins a row of cached texts in a
 * twentieth of the time, writes a field without a cached text in a fifth, and a character of the answer in half.
 */
export function plannedWork(work: Partial<WorkLimits>): WorkLimits {
  const limits = { ...defaultWorkLimits, ...work }
  const { rows, fields, bytes } = limits
  return { ...limits, rows: rows * 15, fields: fields * plannedFields, bytes: bytes * 2 }
}

/** The limits of a plan that reads the schema: the whole of it may be written besides what any plan may do. */
export function schemaWork(schema: GraphQLSchema, work: Partial<WorkLimits>): WorkLimits {
  const limits = plannedWork(work)
  let extent = extents.get(schema)
  if (extent === undefined) extents.set(schema, (extent = extentOf(schema)))
  const { fields, bytes } = extent
  return { ...limits, fields: limits.fields + fields, bytes: limits.bytes + bytes }
}

type Extent = Pick<WorkLimits, 'fields' | 'bytes'>

const extents = new WeakMap<GraphQLSchema, Extent>()

/**
 * The allowance for one type, field, argument or value. The standard introspection query writes 12 fields and 250
 * characters for each on average.
 */
const ofElement: Extent = { fields: 16, bytes: 2_000 }

function extentOf(schema: GraphQLSchema): Extent {
  let elements = 0
  let described = 0
  const add = (one: { readonly description?: string | null | undefined }): void => {
    elements += 1
    described += one.description?.length ?? 0
  }
  for (const type of Object.values(schema.getTypeMap())) {
    add(type)
    if (isEnumType(type)) type.getValues().forEach(add)
    if (!('getFields' in type)) continue
    for (const field of Object.values(type.getFields())) {
      add(field)
      if ('args' in field) field.args.forEach(add)
    }
  }
  return { fields: ofElement.fields * elements, bytes: ofElement.bytes * elements + 4 * described }
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
  #directFragments: FragmentCache | undefined
  readonly #memos = new Map<string, Map<StoreView, FragmentMemo>>()
  readonly #requests = new Map<FieldArguments, ListRequest>()

  constructor(options: PlanRunOptions) {
    super(options)
    this.#fragments = options.fragments
    this.errors = new FieldErrors(options.budget, plannedFields, (error) =>
      options.parts.missed(error),
    )
    this.variables = options.variables
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

  /** The coerced arguments of a field. Throws the GraphQLError of the first invalid one. */
  argumentsOf(field: FieldArguments): Readonly<Record<string, unknown>> {
    return field.coerce(this.variables)
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
