import type { VariableValues } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { type ListRequest, listRequest } from '../reads/list-read.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { ReadRun, type ReadRunOptions } from '../reads/read-run.ts'
import type { FieldArguments } from './field-arguments.ts'
import { FieldErrors } from './field-errors.ts'
import { FragmentCache } from './fragment-cache.ts'

const directFragmentBytes = 1 << 20

/** What one run of a plan reads with; everything happens within one tick. */
export interface PlanRunOptions extends ReadRunOptions {
  readonly variables: VariableValues
  readonly fragments: FragmentCache
}

/** A member of an object in an answer: its name as JSON, with what stands before it, and how it is written from its source. */
export interface WrittenMember<Source extends readonly unknown[]> {
  readonly before: string
  readonly write: (run: PlanRun, ...source: Source) => string
}

/** How many characters an object has at the least: a value has one. */
export function leastLengthOf(members: readonly { readonly before: string }[]): number {
  return members.reduce((sum, { before }) => sum + before.length + 1, '{}'.length)
}

/** One run of a plan: the request's variables, and what is worked out of them once. */
export class PlanRun extends ReadRun {
  static #runs = 0
  /** Tells runs apart for those that remember one and must not keep it alive. */
  readonly number: number = ++PlanRun.#runs
  readonly #fragments: FragmentCache
  /** The errors of its fields. */
  readonly errors: FieldErrors
  readonly #variables: VariableValues
  #directFragments: FragmentCache | undefined
  readonly #requests = new Map<FieldArguments, ListRequest>()
  readonly #known = new Map<FieldArguments, Map<string, unknown>>()

  constructor(options: PlanRunOptions) {
    super(options)
    this.#fragments = options.fragments
    this.errors = new FieldErrors(options.budget, (error) => options.parts.missed(error))
    this.#variables = options.variables
  }

  /** Where the texts of a kind's objects are kept. Those of objects that were read directly are not kept beyond the run. */
  fragmentsOf(part: KindView): FragmentCache {
    if (!part.isDirect) return this.#fragments
    return (this.#directFragments ??= new FragmentCache(directFragmentBytes))
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

  /**
   * The text of an object, whose source has up to three parts. All that an answer is made of goes through this and {@link list},
   * which pay for what of it their members have not paid for.
   */
  object<Source extends readonly unknown[]>(
    members: readonly WrittenMember<Source>[],
    ...source: Source
  ): string
  object(
    members: readonly WrittenMember<unknown[]>[],
    a?: unknown,
    b?: unknown,
    c?: unknown,
  ): string {
    const paid = this.budget.spent('bytes')
    // Not joined: what is put together is copied once, when all of the answer is.
    let text = '{'
    for (const { before, write } of members) text += before + write(this, a, b, c)
    text += '}'
    this.#pay(text, paid)
    return text
  }

  /** The text of a list, whose members have so many characters at the least. */
  list<T>(members: readonly T[], write: (member: T) => string, leastLength = 0): string {
    this.budget.foresee('bytes', leastLength * members.length)
    const paid = this.budget.spent('bytes')
    let text = '['
    let position = 0
    const { errors } = this
    let before = errors.count
    try {
      for (const member of members) {
        if (position > 0) text += ','
        text += write(member)
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
    this.#pay(text, paid)
    return text
  }

  /** Pays for what of a text is not paid for, where so many characters of the answer were before it. */
  #pay({ length }: string, before: number): void {
    const unpaid = length - (this.budget.spent('bytes') - before)
    if (unpaid > 0) this.budget.spend('bytes', unpaid)
  }
}
