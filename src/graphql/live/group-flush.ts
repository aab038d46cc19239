import { TimeShare } from '../../lib/event-loop.ts'
import type { ListenerBatch } from '../../informer/delivery/listener.ts'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import {
  isBefore,
  latestResourceVersion,
  type ResourceVersion,
  resourceVersion,
} from '../../kubernetes/resource-version.ts'
import { maxRounds } from '../prepare/preparation.ts'
import { runLive } from '../prepare/operation-turns.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { FramePlan } from './frame-plan.ts'
import type { FrameRing } from './frame-ring.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { Positions } from '../reads/resume-token.ts'
import { type GroupContent, nothingSeen, type SeenChanges } from './group-content.ts'
import { type AffectedRows, type GroupFilter, nothingAffected } from './group-filter.ts'
import { type GroupReading, type GroupRun, LackingError } from './group-reading.ts'
import type { SentChange } from './live-change.ts'
import { PendingChanges } from './pending-changes.ts'

/** A group, as far as its changes are gathered and written. */
export interface FlushedGroup {
  readonly plan: Pick<FramePlan, 'kind' | 'previous'>
  /** The number of rows to write in one turn. */
  readonly maxFrameObjects: number
  readonly content: GroupContent
  readonly reading: GroupReading
  readonly filter: GroupFilter
  readonly writer: FrameWriter
  readonly ring: FrameRing
  /** Aborted when the group is over, which stops all writing. */
  readonly leaving: AbortSignal
  /** Waits for the group's turn. */
  enter(): Promise<void> | undefined
  /** Called when there are new frames in the ring. */
  announce(): void
  /** Called after writing some rows, which may change the memory that the group holds. */
  written(): void
  /** Called when a postponed flush fails. */
  failed(error: unknown): void
}

/**
 * Gathers the changes of a group's rows and writes them into the ring: one flush at a time, each in turns of some rows.
 */
export class GroupFlush {
  readonly #group: FlushedGroup
  readonly #pending: PendingChanges
  /** Limits the time for rewriting all rows, after a change of an object that any row may read. */
  readonly #wide = new TimeShare(1 / 20)
  #positions: Positions = {}
  /** The newest version of the followed kind that some rows show. Other rows show the version in the positions. */
  #latest: ResourceVersion = latestResourceVersion
  #flushing: Promise<void> | undefined

  constructor(group: FlushedGroup) {
    this.#group = group
    this.#pending = new PendingChanges(group.plan.previous.length > 0)
  }

  /** The positions of a member that has read every frame. */
  get positions(): Positions {
    return this.#positions
  }

  /** Whether some rows were written in a state newer than the positions. */
  get isAhead(): boolean {
    return this.#isAheadOf(this.#versionAt(this.#positions))
  }

  /** Whether all gathered changes have been written. */
  get isDrained(): boolean {
    return this.#flushing === undefined && this.#pending.isEmpty
  }

  /** Moves the positions to the present. The caller knows that no change waits. */
  reachPresent(): void {
    const { reading, filter } = this.#group
    this.#positions = reading.positions(filter)
    this.#latest = this.#versionAt(this.#positions)
  }

  /**
   * Writes the matching rows. Calls `listen` in the tick that selects the rows, so that the listeners report every
   * later change. Rejects with the error that prevents this.
   */
  async begin(listen: (settled: ReadSnapshot) => void): Promise<void> {
    const { content, reading } = this.#group
    let keys: readonly string[] | undefined
    for (let round = 1; keys === undefined; round += 1) {
      // oxlint-disable-next-line no-await-in-loop -- an index may have to be made first
      const settled = await reading.settled()
      const run = reading.run(settled)
      try {
        keys = content.matching(reading.followed(settled), new PlanRun(run))
        listen(settled)
        this.reachPresent()
      } catch (error) {
        if (!(error instanceof UnknownIndexError) || round === maxRounds) throw error
        settled.missed(error)
        // oxlint-disable-next-line no-await-in-loop -- as above
        await run.more()
      }
    }
    await this.#inChunks(keys, this.#positions, () => this.#group.written())
  }

  /** Gathers changes of objects of a kind. */
  take(type: string, { changes, position }: ListenerBatch): void {
    const { plan, content } = this.#group
    if (type === plan.kind.typeName) this.#pending.add(changes)
    this.#pending.addRelated(type, position, changes, content.dependencies)
  }

  /** Marks all rows as possibly changed, for a reason other than an object's change. */
  takeAll(): void {
    this.#pending.addAll()
  }

  /** Rewrites all rows. Rejects as {@link flush} does. */
  async rewrite(): Promise<void> {
    this.#pending.addRows(this.#group.content.keys())
    await this.flush()
  }

  /** Writes the gathered changes that are due. Rejects with the error that prevents this. */
  async flush(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- one at a time
    while (this.#flushing !== undefined) await this.#flushing
    const { filter, leaving } = this.#group
    if ((this.#pending.isEmpty && !filter.isDue) || leaving.aborted) return
    this.#flushing = this.#flushOnce().finally(() => {
      this.#flushing = undefined
    })
    await this.#flushing
  }

  async #flushOnce(): Promise<void> {
    const group = this.#group
    const { content, filter, writer, ring } = group
    const isWideDue = this.#pending.isWide && this.#wide.isDue
    const { keys, positions, ...seen } = this.#pending.take(isWideDue)
    if (this.#pending.isWide) this.#flushLater()
    const startMs = performance.now()
    const all = isWideDue ? new Set([...keys, ...content.keys()]) : keys
    const affected = await filter.take(all)
    const before = this.#positions
    const after = { ...before, ...positions, ...affected.positions }
    let count = content.page?.totalCount
    let isPageOpen = false
    await this.#inChunks(
      [...all, ...affected.rows],
      after,
      (changes, isLast) => {
        const { page } = content
        const isAhead = this.#isAheadOf(this.#versionAt(after))
        const at = { reset: false, wasSynced: true, before, isAhead, page }
        const reached = isLast ? after : before
        if (changes.length > 0 || page?.totalCount !== count || (isLast && isPageOpen)) {
          isPageOpen = page !== undefined
          count = page?.totalCount
          for (const frame of writer.frames(changes, { ...at, positions: reached })) {
            ring.push(frame)
          }
          group.announce()
        }
        this.#positions = reached
        group.written()
      },
      seen,
      affected,
    )
    if (isWideDue) this.#wide.done(startMs)
  }

  #flushLater(): void {
    const group = this.#group
    const later = (): void => void this.flush().catch((error: unknown) => group.failed(error))
    this.#wide.plan(later, group.leaving)
  }

  #versionAt(positions: Positions): ResourceVersion {
    return resourceVersion(positions[this.#group.plan.kind.typeName] ?? '')
  }

  #isAheadOf(version: ResourceVersion): boolean {
    if (this.#latest === version) return false
    // Without an order, assumes that it is.
    return !isBefore(this.#latest, version)
  }

  /**
   * Writes the changes for keys, a bounded number at a time, so that other work gets its turn in between. Rows that
   * have not changed since show the positions `after`.
   */
  async #inChunks(
    keys: readonly string[],
    after: Positions,
    send: (changes: readonly SentChange[], isLast: boolean) => void,
    seen: SeenChanges = nothingSeen,
    affected: AffectedRows = nothingAffected,
  ): Promise<void> {
    const { maxFrameObjects, content, reading, filter } = this.#group
    const version = this.#versionAt(after)
    for (let start = 0; start === 0 || start < keys.length; start += maxFrameObjects) {
      const chunk = keys.slice(start, start + maxFrameObjects)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#inTurn((settled, run) => {
        const part = reading.followed(settled)
        const due = filter.due(chunk, affected, part, run)
        const changes = whole(run, () => content.changes(due, part, run, seen))
        const written = reading.haveChanged(due, version) ? part.view.resourceVersion : version
        if (!this.#isAheadOf(written)) this.#latest = written
        send(changes, start + maxFrameObjects >= keys.length)
      })
    }
  }

  /** Calls `write` in the group's turn. If an index or a permission is lacking, prepares it and calls `write` again. */
  async #inTurn(write: (settled: ReadSnapshot, run: GroupRun) => void): Promise<void> {
    const { reading, leaving } = this.#group
    const decisions = reading.decisions()
    for (let round = 1; ; round += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#group.enter()
      if (leaving.aborted) return
      // oxlint-disable-next-line no-await-in-loop -- as above
      const settled = await reading.settled()
      const run = reading.run(settled, decisions, round > maxLackingRounds)
      try {
        runLive(() => write(settled, run))
        return
      } catch (error) {
        if (!(error instanceof LackingError)) throw error
      }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await run.more()
    }
  }
}

/** Each round may reveal lacking indexes or permissions one level deeper. */
const maxLackingRounds = 10

/** Calls `write`. If it fails, a missing or lacking read takes precedence over its error. */
function whole<T>({ check }: GroupRun, write: () => T): T {
  try {
    return write()
  } catch (error) {
    check()
    throw error
  }
}
