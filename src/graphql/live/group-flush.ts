import { TimeShare } from '../../lib/time-share.ts'
import type { ListenerBatch } from '../../informer/delivery/listener.ts'
import { turns } from '../prepare/operation-turns.ts'
import {
  isBefore,
  latestResourceVersion,
  type ResourceVersion,
  resourceVersion,
} from '../../kubernetes/resource-version.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { FramePlan } from './frame-plan.ts'
import type { FrameRing } from './frame-ring.ts'
import type { FrameWriter, Positions } from './frame-writer.ts'
import { nothingSeen, type SeenChanges } from './group-content.ts'
import { type DecidedRows, type GroupFilter, nothingDecided } from './group-filter.ts'
import type { HeldContent } from './group-forms.ts'
import type { GroupReading } from './group-reading.ts'
import type { GroupRun } from './group-run.ts'
import type { SentChange } from './live-change.ts'
import { PendingChanges } from './pending-changes.ts'

export interface GroupFlushOptions {
  readonly plan: Pick<FramePlan, 'kind' | 'previous'>
  /** So many rows are written in one turn. */
  readonly maxFrameObjects: number
  readonly rows: HeldContent
  readonly reading: GroupReading
  readonly filter: GroupFilter
  readonly writer: FrameWriter
  readonly ring: FrameRing
  /** Waits for the group's turn. */
  readonly enter: () => Promise<void> | undefined
  /** Aborted when the group is over: nothing is written any more. */
  readonly leaving: AbortSignal
  /** There are new frames in the ring. */
  readonly announce: () => void
  /** Some rows have been written, and what is held may be more or less than before. */
  readonly written: () => void
  /** What is not due at once could not be written later. */
  readonly failed: (error: unknown) => void
}

/** Gathers what has happened to the rows of a group, and writes it into the ring: one flush at a time, each in turns of some rows. */
export class GroupFlush {
  readonly #options: GroupFlushOptions
  readonly #pending: PendingChanges
  /** For writing all rows anew, as one of the many objects that they are written from has changed. */
  readonly #wide = new TimeShare(1 / 20)
  #positions: Positions = {}
  /** The version of the followed kind that some rows have been written at, where others are written at that of the positions. */
  #latest: ResourceVersion = latestResourceVersion
  #flushing: Promise<void> | undefined

  constructor(options: GroupFlushOptions) {
    this.#options = options
    this.#pending = new PendingChanges(options.plan.previous.length > 0)
  }

  /** Where members are who have read all that has been written. */
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
    const { reading, filter } = this.#options
    this.#positions = reading.positions(filter)
    this.#latest = this.#versionAt(this.#positions)
  }

  /** Writes what is there, of which nobody has been told yet. Rejects with what makes that impossible. */
  async begin(settled: ReadSnapshot): Promise<void> {
    const { rows, reading, written } = this.#options
    this.reachPresent()
    const keys = rows.matching(reading.followed(settled), new PlanRun(reading.run(settled)))
    await this.#inChunks(keys, this.#positions, written)
  }

  /** Takes note of what has happened to objects of a kind. */
  take(type: string, { changes, position }: ListenerBatch): void {
    const { plan, rows } = this.#options
    if (type === plan.kind.typeName) this.#pending.add(changes)
    this.#pending.addRelated(type, position, changes, rows.dependencies)
  }

  /** Takes note of what is no change of an object, and may concern any row. */
  takeAll(): void {
    this.#pending.addAll()
  }

  /** Writes what there is to tell now. Rejects with what makes that impossible. */
  async flush(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- one at a time
    while (this.#flushing !== undefined) await this.#flushing
    const { filter, leaving } = this.#options
    if ((this.#pending.isEmpty && !filter.isDue) || leaving.aborted) return
    this.#flushing = this.#flushOnce().finally(() => {
      this.#flushing = undefined
    })
    await this.#flushing
  }

  async #flushOnce(): Promise<void> {
    const { rows, filter, writer, ring, announce, written } = this.#options
    const isWideDue = this.#pending.isWide && this.#wide.isDue
    const { keys, positions, ...seen } = this.#pending.take(isWideDue)
    if (this.#pending.isWide) this.#flushLater()
    const startMs = performance.now()
    const all = isWideDue ? new Set([...keys, ...rows.keys()]) : keys
    const decided = await filter.take(all)
    const before = this.#positions
    const after = { ...before, ...positions, ...decided.positions }
    let count = rows.page?.totalCount
    let isPageOpen = false
    await this.#inChunks(
      [...all, ...decided.rows],
      after,
      (changes, isLast) => {
        const { page } = rows
        const isAhead = this.#isAheadOf(this.#versionAt(after))
        const at = { reset: false, wasSynced: true, before, isAhead, page }
        const reached = isLast ? after : before
        if (changes.length > 0 || page?.totalCount !== count || (isLast && isPageOpen)) {
          isPageOpen = page !== undefined
          count = page?.totalCount
          for (const frame of writer.frames(changes, { ...at, positions: reached })) {
            ring.push(frame)
          }
          announce()
        }
        this.#positions = reached
        written()
      },
      seen,
      decided,
    )
    if (isWideDue) this.#wide.done(startMs)
  }

  #flushLater(): void {
    const { leaving, failed } = this.#options
    this.#wide.plan(() => void this.flush().catch(failed), leaving)
  }

  #versionAt(positions: Positions): ResourceVersion {
    return resourceVersion(positions[this.#options.plan.kind.typeName] ?? '')
  }

  #isAheadOf(version: ResourceVersion): boolean {
    if (this.#latest === version) return false
    // Where there is no order it may be.
    return !isBefore(this.#latest, version)
  }

  /**
   * Writes what is to be told of keys, a bounded number of them at a time, so that others get their turn in between. Those that have
   * not changed since are then as they were at the positions `after`.
   */
  async #inChunks(
    keys: readonly string[],
    after: Positions,
    tell: (changes: readonly SentChange[], isLast: boolean) => void,
    seen: SeenChanges = nothingSeen,
    decided: DecidedRows = nothingDecided,
  ): Promise<void> {
    const { maxFrameObjects, rows, reading, filter, enter, leaving } = this.#options
    const version = this.#versionAt(after)
    for (let start = 0; start === 0 || start < keys.length; start += maxFrameObjects) {
      const chunk = keys.slice(start, start + maxFrameObjects)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await enter()
      if (leaving.aborted) return
      // oxlint-disable-next-line no-await-in-loop -- as above
      const settled = await reading.settled()
      turns.run(() => {
        const part = reading.followed(settled)
        const run = reading.run(settled)
        const due = filter.due(chunk, decided, part, run)
        const changes = whole(run, () => rows.changes(due, part, run, seen))
        const written = reading.haveChanged(due, version) ? part.view.resourceVersion : version
        if (!this.#isAheadOf(written)) this.#latest = written
        tell(changes, start + maxFrameObjects >= keys.length)
      })
    }
  }
}

/** Where rows have led to where the group does not follow, that is what is wrong, whatever else has failed. */
function whole<T>({ check }: GroupRun, write: () => T): T {
  try {
    return write()
  } catch (error) {
    check()
    throw error
  }
}
