import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../operation/schema-relations.ts'
import type { Beyond } from './sight.ts'

/**
 * How far the rows of subscribers who ask the same have turned out to lead, besides what their plan says: what only objects name,
 * such as the kinds of owners, is known when the first row leads there. It grows, and a group that has met more than it
 * follows is followed by one that has all of it.
 */
export class Reach {
  /** Kinds of which it has to be known everywhere what may be listed, as relations lead to them from anywhere. */
  readonly wide: Set<Kind>
  readonly #further = new Map<Kind, Set<string>>()
  #leadsBack = false
  /** How many groups there are of it. */
  groups = 0

  /** `wide`: what is known of the plan already, which it adds to. */
  constructor(wide: Set<Kind>) {
    this.wide = wide
  }

  /** The kinds that objects have named, with the indexes that they are read by. */
  get further(): readonly RelatedNeed[] {
    return Array.from(this.#further, ([kind, needed]) => ({ kind, indexes: { needed } }))
  }

  /** Whether rows have led to objects of the followed kind that are not followed themselves. */
  get leadsBack(): boolean {
    return this.#leadsBack
  }

  /** Two with the same read the same. */
  get text(): string {
    const kinds = this.further.map(({ kind, indexes: { needed = [] } }) =>
      [kind.typeName, ...needed].join(' '),
    )
    const back = this.#leadsBack ? ['back'] : []
    return [...kinds.toSorted(), ...back].join()
  }

  /** Rows lead there, too. */
  add(beyond: readonly Beyond[]): void {
    for (const { at, form } of beyond) {
      if (form === 'place') this.wide.add(at.kind)
      if (form === 'own') this.#leadsBack = true
      if (form !== 'kind') continue
      let needed = this.#further.get(at.kind)
      if (needed === undefined) this.#further.set(at.kind, (needed = new Set()))
      for (const name of at.indexes?.needed ?? []) needed.add(name)
    }
  }
}
