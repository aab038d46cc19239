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
  /** So many rows are written in one turn. */
  readonly maxFrameObjects: number
  readonly content: GroupContent
  readonly reading: GroupReading
  readonly filter: GroupFilter
  readonly writer: FrameWriter
  readonly ring: FrameRing
  /** Aborted when the group is over: nothing is written any more. */
  readonly leaving: AbortSignal
  /** Waits for the group's turn. */
  enter(): Promise<void> | undefined
  /** There are new frames in the ring. */
  announce(): void
  /** Some rows have been written, and what is held may be more or less than before. */
  written(): void
  /** What was not due at once could not be written later. */
  failed(error: unknown): void
}

/** Gathers what has happened to the rows of a group, and writes it into the ring: one flush at a time, each in turns of some rows. */
export class GroupFlush {
  readonly #group: FlushedGroup
  readonly #pending: PendingChanges
  /** For writing all rows anew, as one of the many objects that they are written from has changed. */
  readonly #wide = new TimeShare(1 / 20)
  #positions: Positions = {}
  /** The version of the followed kind that some rows have been written at, where others are written at that of the positions. */
  #latest: ResourceVersion = latestResourceVersion
  #flushing: Promise<void> | undefined

  constructor(group: FlushedGroup) {
    this.#group = group
    this.#pending = new PendingChanges(group.plan.previous.length > 0)
  }

  /** Where members are that have read all that has been written. */
  get positions(): Positions {
    return this.#positions
  }

  /** Whether some rows have been written as they came to be behind the positions. */
  get isAhead(): boolean {
    return this.#isAheadOf(this.#versionAt(this.#positions))
  }

  /** Whether all that was taken has been written. */
  get isDrained(): boolean {
    return this.#flushing === undefined && this.#pending.isEmpty
  }

  /** All that has happened until now has been written. */
  reachPresent(): void {
    const { reading, filter } = this.#group
    this.#positions = reading.positions(filter)
    this.#latest = this.#versionAt(this.#positions)
  }

  /**
   * Writes what is there. `listen` is called in the tick in which the rows are chosen: what is not among them is heard. Rejects with
   * what makes that impossible.
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

  /** Takes note of what has happened to objects of a kind. */
  take(type: string, { changes, position }: ListenerBatch): void {
    const { plan, content } = this.#group
    if (type === plan.kind.typeName) this.#pending.add(changes)
    this.#pending.addRelated(type, position, changes, content.dependencies)
  }

  /** Takes note of what is no change of an object, and may concern any row. */
  takeAll(): void {
    this.#pending.addAll()
  }

  /** Writes all rows anew. Rejects as {@link flush} does. */
  async rewrite(): Promise<void> {
    this.#pending.addRows(this.#group.content.keys())
    await this.flush()
  }

  /** Writes what there is to send now. Rejects with what makes that impossible. */
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
    // Where there is no order it may be.
    return !isBefore(this.#latest, version)
  }

  /**
   * Writes what is to be sent of keys, a bounded number of them at a time, so that others get their turn in between. Those that have
   * not changed since are then as they were at the positions `after`.
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

  /** Calls `write` in the group's turn; again where it turns out that something has to be prepared first. */
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

/** What is lacking may lead to what is nested in it, one level a round. */
const maxLackingRounds = 10

/** Rows that lead to what the group does not follow are that problem, whatever else has failed. */
function whole<T>({ check }: GroupRun, write: () => T): T {
  try {
    return write()
  } catch (error) {
    check()
    throw error
  }
}
