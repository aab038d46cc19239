import { isBefore, type ResourceVersion } from '../kubernetes/resource-version.ts'
import type { Change } from '../informer/store/change.ts'
import type { RecentChanges, RecentStep } from './recent-changes.ts'

/** What happened between two positions before the resource was cached; `undefined` where nobody knows. Never rejects. */
export type MissedChanges = (
  from: ResourceVersion,
  until: ResourceVersion,
) => Promise<readonly RecentStep[] | undefined>

/** What has happened to one cached resource lately, for those who come back from where they stood. */
export class ResourceHistory {
  readonly #recent: RecentChanges
  readonly #missed: MissedChanges
  /** The oldest position that somebody waits for. */
  #wanted: ResourceVersion | undefined
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
   * cached is asked of the API server, from the oldest position on that somebody waits for, once for all of them. Never rejects.
   */
  async reach(position: ResourceVersion): Promise<void> {
    if (!this.#isBehind(position)) return
    if (this.#wanted === undefined || isBefore(position, this.#wanted)) this.#wanted = position
    this.#filling = this.#filling.then(() => this.#fill())
    await this.#filling
  }

  async #fill(): Promise<void> {
    const from = this.#wanted
    const until = this.#recent.oldest
    this.#wanted = undefined
    if (from === undefined || until === undefined || !this.#isBehind(from)) return
    const steps = await this.#missed(from, until)
    // What was the oldest may have gone meanwhile.
    if (steps !== undefined && this.#recent.oldest === until) this.#recent.addBefore(from, steps)
  }

  #isBehind(position: ResourceVersion): boolean {
    const { oldest } = this.#recent
    return oldest !== undefined && isBefore(position, oldest)
  }
}
