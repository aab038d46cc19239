import type { VariableValues } from 'graphql'
import type { RelatedStores } from '../../query/condition/related-by.ts'
import type { Condition } from '../../query/condition/condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { LastSteps } from '../../query/relation/last-steps.ts'
import type { Kind } from '../model/kind.ts'
import { type ListRequest, listRequest } from '../operation/list-request.ts'
import { filterParts } from '../operation/filter-parts.ts'
import type { KindAt, KindPart } from '../operation/kind-part.ts'
import type { SettledParts } from '../operation/preparation.ts'
import type { OperationLimits, ServedSchema } from '../operation/served-schema.ts'
import type { FieldArguments } from './field-arguments.ts'
import { FieldErrors } from './field-errors.ts'
import type { FragmentCache } from './fragment-cache.ts'

/** What one run of a plan reads with; everything happens within one tick. */
export interface PlanRunOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly variables: VariableValues
  readonly budget: WorkBudget
  readonly fragments: FragmentCache
  /** What has been settled for this execution. */
  readonly parts: SettledParts
  /** Is told of each relation that is followed, by whoever has to know what a text depends on. */
  readonly followed?: ((relation: FollowedRelation) => void) | undefined
}

/** A relation that has been followed from one object. */
export interface FollowedRelation {
  /** The kinds that were read, the one that it leads to among them; not the one that it starts from. */
  readonly reads: readonly Kind[]
  /** Which objects it leads to. */
  readonly condition: Condition
  /** Whether it leads to one that the object itself names: then that alone counts, whether or not it is there. */
  readonly isSaid: boolean
  /** The UID of the object whose own they are, where it leads to nothing else. */
  readonly owner?: string
}

/** One run of a plan: the request's variables, and what is worked out of them once. */
export class PlanRun {
  static #runs = 0
  /** Tells runs apart for those that remember one and must not keep it alive. */
  readonly number: number = ++PlanRun.#runs
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly budget: WorkBudget
  readonly fragments: FragmentCache
  /** Throws where a kind cannot be read, or has not been asked for. */
  readonly part: SettledParts['part']
  /** The same for look-ups of single objects; `undefined` where the viewer may look at none of these. */
  readonly named: SettledParts['named']
  /** What the viewer may see; `undefined`: everything. */
  readonly access: SettledParts['access']
  /** What conditions on related objects read in a cluster. */
  readonly related: (cluster: string) => RelatedStores
  readonly followed: PlanRunOptions['followed']
  /** Where relations led from the row that is being written. */
  readonly steps: LastSteps = new LastSteps()
  readonly parts: SettledParts
  /** The errors of its fields. */
  readonly errors: FieldErrors
  readonly #variables: VariableValues
  readonly #requests = new Map<FieldArguments, ListRequest>()
  readonly #known = new Map<FieldArguments, Map<string, unknown>>()

  constructor(options: PlanRunOptions) {
    this.served = options.served
    this.limits = options.limits
    this.budget = options.budget
    this.fragments = options.fragments
    this.parts = options.parts
    this.part = options.parts.part
    this.named = options.parts.named
    this.access = options.parts.access
    this.related = filterParts(options.served, options.parts)
    this.followed = options.followed
    this.errors = new FieldErrors(options.budget, {
      missed: (error) => options.parts.missed(error),
      throws: options.followed !== undefined,
    })
    this.#variables = options.variables
  }

  /**
   * Reads kinds that only what has been read names. Where one of them has to be prepared first, `undefined`: the run goes on, to
   * find the others, and another one answers.
   */
  late<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (this.parts.isLacking) return undefined
      throw error
    }
  }

  /** Whether somebody wants to know what is read. */
  get isTraced(): boolean {
    return this.followed !== undefined || this.budget.report !== undefined
  }

  /** A kind whose every object the viewer may look up; `undefined` where that depends on the object, or is not known. Throws as `named` does. */
  openPart(at: KindAt): KindPart | undefined {
    const isOpen = this.parts.isOpen || this.access?.looksEverywhere(at) === true
    return isOpen ? this.named(at) : undefined
  }

  /** The coerced arguments of a field. Throws the GraphQLError of one that cannot be. */
  argumentsOf(field: FieldArguments): Readonly<Record<string, unknown>> {
    return field.coerce(this.#variables)
  }

  /** What the arguments of a list ask for, read once for all rows that ask it. Throws `ArgumentError`. */
  requestOf(field: FieldArguments, kind: Kind): ListRequest {
    const read = (): ListRequest => listRequest(this.served, kind, this.argumentsOf(field))
    if (field.constant !== undefined) return (field.request ??= read())
    let request = this.#requests.get(field)
    if (request === undefined) this.#requests.set(field, (request = read()))
    return request
  }

  /** What is read once for all rows that ask the same by a field. A field must always ask for a value of one type. */
  once<T>(field: FieldArguments, what: string, read: () => T): T {
    let known = this.#known.get(field)
    if (known === undefined) this.#known.set(field, (known = new Map()))
    let value = known.get(what)
    if (value === undefined) known.set(what, (value = read()))
    return value as T
  }

  /** A text that is written besides the rows, once it is paid for. */
  paid(text: string): string {
    this.budget.spend('bytes', text.length)
    return text
  }

  /** The texts of a list's members as the text of a list. */
  list<T>(members: readonly T[], write: (member: T, position: number) => string): string {
    // Not joined: what is put together is copied once, when all of the answer is.
    let text = '['
    let position = 0
    const { errors } = this
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
    return `${text}]`
  }
}
