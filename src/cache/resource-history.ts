import { isBefore, type ResourceVersion } from '../kubernetes/resource-version.ts'
import type { Change } from '../informer/store/change.ts'
import type { RecentChanges, RecentStep } from './recent-changes.ts'

/**
 * What happened between two positions before the resource was cached. `tooOld`: nobody knows any more, but may know what happened
 * since a later one. `undefined`: nobody can say at present. Never rejects.
 */
export type MissedChanges = (
  from: ResourceVersion,
  until: ResourceVersion,
) => Promise<readonly RecentStep[] | 'tooOld' | undefined>

/** What has happened to one cached resource lately, for those who come back from where they stood. */
export class ResourceHistory {
  readonly #recent: RecentChanges
  readonly #missed: MissedChanges
  /** The positions that somebody waits for. */
  #wanted = new Set<ResourceVersion>()
  #filling: Promise<void> = Promise.resolve()

  constructor(recent: RecentChanges, missed: MissedChanges) {
    this.#recent = recent
    this.#missed = missed
  }

  /** What has happened since a position, the oldest first; `undefined` where that is not known any more, or not yet. */
  since(position: ResourceVersion): readonly Change[] | undefined {
    return this.#recent.since(position)
  }

  /**
   * Resolves when {@link since} knows as much of what was before a position as can be known. What happened before the resource was
   * cached is asked of the API server, once for all who wait: from the oldest position on, or the oldest that it still knows.
   * Never rejects.
   */
  async reach(position: ResourceVersion): Promise<void> {
    if (!this.#isBehind(position)) return
    this.#wanted.add(position)
    this.#filling = this.#filling.then(() => this.#fill())
    await this.#filling
  }

  async #fill(): Promise<void> {
    let wanted = [...this.#wanted].toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#wanted = new Set()
    // The oldest first, as most often all are known; else it is searched which is the oldest that is.
    for (let at = 0; wanted.length > 0; at = wanted.length >> 1) {
      const from = wanted[at]
      const until = this.#recent.oldest
      if (from === undefined || until === undefined) return
      // oxlint-disable-next-line no-await-in-loop -- where to look next depends on it
      const steps = this.#isBehind(from) ? await this.#missed(from, until) : []
      if (steps === undefined) return
      wanted = steps === 'tooOld' ? wanted.slice(at + 1) : wanted.slice(0, at)
      if (steps === 'tooOld' || !this.#isBehind(from)) continue
      // What was the oldest may have gone meanwhile.
      if (this.#recent.oldest === until) this.#recent.addBefore(from, steps)
    }
  }

  #isBehind(position: ResourceVersion): boolean {
    const { oldest } = this.#recent
    return oldest !== undefined && isBefore(position, oldest)
  }
}
