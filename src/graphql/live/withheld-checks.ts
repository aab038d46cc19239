import { NotCoveredError } from '../errors/not-covered.ts'
import { type PermissionCheck, permissionKey } from './permission-check.ts'

/** No more is asked about for one subscription; each takes two access reviews at the most. */
export const maxWithheld = 500

/**
 * What the texts of a group leave out, or say that it may not be done, as nobody has asked whether its members may: they may not
 * in any whole namespace. Somebody may still be allowed it by the very name of an object: each member is asked about, and goes on in
 * another group where that is so. Bounded; the policy is that the group ends.
 */
export class WithheldChecks {
  readonly #more: () => void
  readonly #all = new Map<string, PermissionCheck>()

  /** `more` is called when there is one that was not there. */
  constructor(more: () => void) {
    this.#more = more
  }

  get size(): number {
    return this.#all.size
  }

  /** Throws `NotCoveredError` where there are too many. */
  add(privilege: PermissionCheck): void {
    const key = permissionKey(privilege)
    if (this.#all.has(key)) return
    if (this.#all.size === maxWithheld) throw new NotCoveredError('so many names that are withheld')
    this.#all.set(key, privilege)
    this.#more()
  }

  /** All of them, by {@link permissionKey}. */
  all(): ReadonlyMap<string, PermissionCheck> {
    return this.#all
  }
}
