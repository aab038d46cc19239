import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import { type PermissionCheck, permissionKey } from './permission-check.ts'
import type { MissingRead } from './group-access.ts'
import { maxWithheld } from './withheld-checks.ts'

/**
 * How far the rows of subscribers who ask the same have turned out to lead, besides what their plan says: what only objects name,
 * such as the kinds of owners, is known when the first row leads there. It grows, and a group that has met more than it
 * follows is followed by one that has all of it.
 */
export class DiscoveredKinds {
  /** Kinds of which it has to be known everywhere what may be listed, as relations lead to them from anywhere. */
  readonly wide: Set<Kind>
  readonly #further = new Map<Kind, Set<string>>()
  readonly #privileges = new Map<string, PermissionCheck>()
  #names = 0
  #leadsBack = false
  /** How many groups there are of it, and subscribers who look for one. */
  users = 0

  /** `wide`: what is known of the plan already, which it adds to. */
  constructor(wide: Set<Kind>) {
    this.wide = wide
  }

  /** What has to be known of each viewer besides: what rows ask of whole places, and by names what somebody has. */
  get privileges(): ReadonlyMap<string, PermissionCheck> {
    return this.#privileges
  }

  /** Whether there is more to be known of each viewer than is asked about. */
  get isFull(): boolean {
    return this.#privileges.size - this.#names > maxPlaces
  }

  /** Two with the same have learnt the same. */
  get learnt(): string {
    return `${this.text} ${this.#privileges.size}`
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
  add(beyond: readonly MissingRead[]): void {
    for (const one of beyond) {
      if (one.form === 'privilege') {
        this.#privileges.set(permissionKey(one.privilege), one.privilege)
        continue
      }
      const { at, form } = one
      if (form === 'place') this.wide.add(at.kind)
      if (form === 'own') this.#leadsBack = true
      if (form !== 'kind') continue
      let needed = this.#further.get(at.kind)
      if (needed === undefined) this.#further.set(at.kind, (needed = new Set()))
      for (const name of at.indexes?.needed ?? []) needed.add(name)
    }
  }

  /** Somebody has these by names of objects: from now on each viewer is asked about them. False where there are too many. */
  addNames(privileges: ReadonlyMap<string, PermissionCheck>): boolean {
    for (const [key, privilege] of privileges) {
      if (this.#privileges.has(key)) continue
      if (this.#names === maxWithheld) return false
      this.#names += 1
      this.#privileges.set(key, privilege)
    }
    return true
  }
}

/** Of so many places it is asked whether something may be done there. */
const maxPlaces = 1_000
