import type { WorkBudget } from './work-budget.ts'

/** Arguments of a list, as far as their size matters. */
export interface CachedArguments {
  readonly where?: object | null
}

/** What was made of arguments, or why nothing was. */
type Outcome<T> = { readonly made: T } | { readonly error: unknown }

/** Outcomes of one owner. */
interface KnownOutcomes<T> {
  /** By the identity of `where`, then by the text of the other arguments. */
  readonly byIdentity: WeakMap<object, Map<string, Outcome<T>>>
  /** By the text of all arguments. */
  readonly byText: Map<string, Outcome<T>>
}

/** Stands for the `where` of arguments that have none. */
const noWhere = {}
/** So many characters of arguments are put together and looked up in the time of one test. */
const charactersPerTest = 64

/**
 * What is made of arguments in one execution. A relation is asked with the same arguments for each row of a list: they are
 * parsed and compiled once, and refused once. A `where` from a variable is one object for all rows and found by its
 * identity; one that is written in the document GraphQL makes anew for each, so it is found by its text, which is paid for.
 */
export class ArgumentsCache<Owner extends object, T> {
  readonly #budget: WorkBudget
  readonly #known = new Map<Owner, KnownOutcomes<T>>()

  constructor(budget: WorkBudget) {
    this.#budget = budget
  }

  /** What `make` makes of the arguments for the owner, called once; what it throws is thrown again, the same. */
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
