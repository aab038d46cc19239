import { FollowedFilter } from './followed-filter.ts'
import type { FollowedList } from './followed-list.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { runLive } from '../prepare/operation-turns.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { GroupContent } from './group-content.ts'
import type { GroupReading, GroupRun } from './group-reading.ts'

/** Rows that may have come to match, or match no more, and the positions that deciding them leads to. */
export interface AffectedRows {
  readonly rows: ReadonlySet<string>
  readonly positions: Positions
}

/** Of a list that is not filtered by related objects, or where none of those has changed. */
export const nothingAffected: AffectedRows = { rows: new Set(), positions: {} }

/** Lets rows of a group in and out as the related objects change that its list is filtered by. Does nothing without such a filter. */
export class GroupFilter {
  readonly #followed: FollowedFilter | undefined
  readonly #content: GroupContent
  readonly #reading: GroupReading
  readonly #enter: () => Promise<void> | undefined

  /** `enter` waits for the group's turn. */
  constructor(
    list: FollowedList,
    content: GroupContent,
    reading: GroupReading,
    enter: () => Promise<void> | undefined,
  ) {
    if (list.concerned !== undefined) this.#followed = new FollowedFilter(list)
    this.#content = content
    this.#reading = reading
    this.#enter = enter
  }

  /** Whether all that has happened has been taken. */
  get isDrained(): boolean {
    return this.#followed?.isDrained !== false
  }

  /** Whether there is something to take now. */
  get isDue(): boolean {
    return this.#followed?.isDue === true
  }

  /** Where the stores stand that it follows. */
  get positions(): Positions {
    return this.#followed?.positions ?? {}
  }

  /** To be called in the tick in which the rows are first decided. Throws where a kind cannot be read. */
  listen(settled: ReadSnapshot): void {
    this.#followed?.listen(settled)
  }

  /**
   * Calls `changed` when there is something to take, after `pause`, again and again. Resolves when a kind is not followed any more;
   * at once where there is no filter. Rejects with why nothing can be decided.
   */
  async follow(
    pause: () => Promise<void> | undefined,
    changed: () => Promise<void>,
  ): Promise<void> {
    while (await this.#followed?.changed()) {
      await pause()
      await changed()
    }
  }

  /** Whether there is a filter. */
  get isFollowed(): boolean {
    return this.#followed !== undefined
  }

  /** The rows to decide, without those that are written anew anyway. */
  async take(written: ReadonlySet<string>): Promise<AffectedRows> {
    const followed = this.#followed
    if (followed === undefined) return nothingAffected
    const { rows, isAll, positions } = followed.take()
    const others = isAll ? await this.#allChanged(followed) : [...rows]
    return { rows: new Set(others.filter((key) => !written.has(key))), positions }
  }

  async #allChanged(followed: FollowedFilter): Promise<readonly string[]> {
    await this.#enter()
    const reading = this.#reading
    const settled = await reading.settled()
    const startMs = performance.now()
    const changed = runLive(() =>
      this.#content.changedMatches(reading.followed(settled), new PlanRun(reading.run(settled))),
    )
    followed.decidedAll(startMs)
    return changed
  }

  /** Keys without those affected rows that match as they did. */
  due(
    keys: readonly string[],
    { rows }: AffectedRows,
    part: KindView,
    run: GroupRun,
  ): readonly string[] {
    const affected = rows.size === 0 ? [] : keys.filter((key) => rows.has(key))
    if (affected.length === 0) return keys
    const changed = new Set(this.#content.changedMatches(part, new PlanRun(run), affected))
    return keys.filter((key) => !rows.has(key) || changed.has(key))
  }

  close(): void {
    this.#followed?.close()
  }
}
