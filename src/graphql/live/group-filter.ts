import { turns } from '../prepare/operation-turns.ts'
import { FollowedFilter } from '../operation/followed-filter.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { PlanRun, type PlanRunOptions } from '../plan/plan-run.ts'
import type { Positions } from './frame-writer.ts'
import type { StreamEnd } from './group-member.ts'
import type { GroupContent } from './group-content.ts'
import type { GroupReading } from './group-reading.ts'

/** Rows that may have come to match, or match no more, and the positions that deciding them leads to. */
export interface DecidedRows {
  readonly rows: ReadonlySet<string>
  readonly positions: Positions
}

/** Of a list that is not filtered by related objects, and where nothing of those has changed. */
export const nothingDecided: DecidedRows = { rows: new Set(), positions: {} }

/** What lets rows of a group in and out as the related objects change that its list is filtered by; nothing without such a filter. */
export class GroupFilter {
  readonly #followed: FollowedFilter | undefined
  readonly #rows: GroupContent
  readonly #reading: GroupReading
  readonly #enter: () => Promise<void> | undefined

  /** `enter` waits for the group's turn. */
  constructor(
    list: FollowedList,
    rows: GroupContent,
    reading: GroupReading,
    enter: () => Promise<void> | undefined,
  ) {
    if (list.concerned !== undefined) this.#followed = new FollowedFilter(list)
    this.#rows = rows
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
   * Calls `told` whenever there has been something to take for as long as `pause` takes. Resolves with how the group ends when there
   * is nothing to follow any more; rejects with why that is.
   */
  async follow(
    pause: () => Promise<void> | undefined,
    told: () => Promise<void>,
  ): Promise<StreamEnd | undefined> {
    if (this.#followed === undefined) return undefined
    while (await this.#followed.changed()) {
      await pause()
      await told()
    }
    // One of the informers has stopped: where that kind cannot be read any more, this says so.
    await this.#reading.settled()
    return { form: 'complete' }
  }

  /** What is to be decided, without what is written anew anyway. */
  async take(written: ReadonlySet<string>): Promise<DecidedRows> {
    const followed = this.#followed
    if (followed === undefined) return nothingDecided
    const { rows, isAll, positions } = followed.take()
    const others = isAll ? await this.#allTurned(followed) : [...rows]
    return { rows: new Set(others.filter((key) => !written.has(key))), positions }
  }

  async #allTurned(followed: FollowedFilter): Promise<readonly string[]> {
    await this.#enter()
    const settled = await this.#reading.settled()
    const startMs = performance.now()
    const turned = turns.run(() =>
      this.#rows.turned(this.#reading.followed(settled), new PlanRun(this.#reading.run(settled))),
    )
    followed.decidedAll(startMs)
    return turned
  }

  /** Keys without those rows that were to be decided and are as they were. */
  due(
    keys: readonly string[],
    { rows }: DecidedRows,
    part: KindView,
    run: PlanRunOptions,
  ): readonly string[] {
    const concerned = rows.size === 0 ? [] : keys.filter((key) => rows.has(key))
    if (concerned.length === 0) return keys
    const turned = new Set(this.#rows.turned(part, new PlanRun(run), concerned))
    return keys.filter((key) => !rows.has(key) || turned.has(key))
  }

  close(): void {
    this.#followed?.close()
  }
}
