import type { KindAt } from '../operation/kind-part.ts'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../plan/not-covered.ts'

/** More names are not asked about for one subscription; each takes two access reviews at the most. */
const maxWithheld = 500

/**
 * The related objects that the texts of a group leave out, as its members may look at no whole namespace that has them. Somebody may
 * still be allowed one by its very name: each member is asked about, and leaves where that is so. Bounded; the policy is that
 * the group ends.
 */
export class WithheldNames {
  readonly #cluster: string
  readonly #more: () => void
  readonly #keys = new Map<Kind, Set<string>>()
  #size = 0

  /** `more` is called when there is a name that was not there. */
  constructor(cluster: string, more: () => void) {
    this.#cluster = cluster
    this.#more = more
  }

  get size(): number {
    return this.#size
  }

  /** Throws `NotCoveredError` where there are too many. */
  add(kind: Kind, key: string): void {
    let keys = this.#keys.get(kind)
    if (keys === undefined) this.#keys.set(kind, (keys = new Set()))
    if (keys.has(key)) return
    if (this.#size === maxWithheld) throw new NotCoveredError('so many names that may not be seen')
    keys.add(key)
    this.#size += 1
    this.#more()
  }

  /** All of them by kind. */
  all(): readonly { readonly at: KindAt; readonly keys: readonly string[] }[] {
    return Array.from(this.#keys, ([kind, keys]) => ({
      at: { cluster: this.#cluster, kind },
      keys: [...keys],
    }))
  }
}
