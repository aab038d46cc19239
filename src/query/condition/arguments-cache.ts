/*
 * Keeps what is compiled from arguments during one execution, and the errors. A relation has the same arguments for each row
 * of a list. A `where` from a variable is one object for all rows, so its identity finds the outcome. GraphQL creates a
 * literal `where` again for each row: its text finds the outcome, and the budget pays for that.
 */

import type { WorkBudget } from './work-budget.ts'

/** The arguments of a list. The values of `where` are cached by identity. */
export interface CachedArguments {
  readonly where?: object | null
}

type Outcome<T> = { readonly made: T } | { readonly error: unknown }

interface KnownOutcomes<T> {
  /** By the identity of `where`, then by the text of the other arguments. */
  readonly byIdentity: WeakMap<object, Map<string, Outcome<T>>>
  readonly byText: Map<string, Outcome<T>>
}

const noWhere = {}
/** Serialising and looking up so many characters takes as long as one test. */
const charactersPerTest = 64

export class ArgumentsCache<Owner extends object, T> {
  readonly #budget: WorkBudget
  readonly #known = new Map<Owner, KnownOutcomes<T>>()

  constructor(budget: WorkBudget) {
    this.#budget = budget
  }

  /** Calls `make` once per owner and arguments. Rethrows its error for the same arguments. */
  of(owner: Owner, args: CachedArguments, make: () => T): T {
    const outcome = this.#outcomeOf(owner, args, make)
    if ('error' in outcome) throw outcome.error
    return outcome.made
  }

  #outcomeOf(owner: Owner, args: CachedArguments, make: () => T): Outcome<T> {
    let known = this.#known.get(owner)
    if (known === undefined) {
      known = { byIdentity: new WeakMap(), byText: new Map() }
      this.#known.set(owner, known)
    }
    const { where, ...others } = args
    const identity = where ?? noWhere
    const text = this.#textOf(others)
    let sameWhere = known.byIdentity.get(identity)
    if (sameWhere === undefined) known.byIdentity.set(identity, (sameWhere = new Map()))
    let outcome = sameWhere.get(text)
    if (outcome !== undefined) return outcome
    const whole = text + this.#textOf(where ?? null)
    outcome = known.byText.get(whole) ?? outcomeOf(make)
    known.byText.set(whole, outcome)
    sameWhere.set(text, outcome)
    return outcome
  }

  #textOf(value: unknown): string {
    const text = JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'bigint' ? `${inner}n` : inner,
    )
    this.#budget.spend('tests', Math.ceil(text.length / charactersPerTest))
    return text
  }
}

function outcomeOf<T>(make: () => T): Outcome<T> {
  try {
    return { made: make() }
  } catch (error) {
    return { error }
  }
}
