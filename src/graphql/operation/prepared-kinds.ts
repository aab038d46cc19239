import type { GraphQLError } from 'graphql'
import type { Kind } from '../model/kind.ts'

/** One kind in one cluster: what an operation needs to be synced before it can be executed. */
export interface KindAt {
  readonly cluster: string
  readonly kind: Kind
}

/** Kinds that an operation needs, and what became of the wait for each of them. */
export class PreparedKinds {
  readonly #outcomes = new Map<string, KindAt & { readonly outcome: 'ready' | GraphQLError }>()
  readonly #needed = new Map<string, KindAt>()

  /** The kinds that are needed and not yet prepared. */
  get needed(): readonly KindAt[] {
    return [...this.#needed.values()]
  }

  /** `undefined` where nobody has waited for it yet. */
  outcome(at: KindAt): 'ready' | GraphQLError | undefined {
    return this.#outcomes.get(keyOf(at))?.outcome
  }

  need(at: KindAt): void {
    const key = keyOf(at)
    if (!this.#outcomes.has(key)) this.#needed.set(key, at)
  }

  settle(at: KindAt, outcome: 'ready' | GraphQLError): void {
    const key = keyOf(at)
    this.#needed.delete(key)
    this.#outcomes.set(key, { ...at, outcome })
  }
}

function keyOf({ cluster, kind }: KindAt): string {
  return `${cluster}\0${kind.typeName}`
}
