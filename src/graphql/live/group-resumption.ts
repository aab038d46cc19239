import { sleep } from '../../lib/backoff.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { ResumePosition } from '../reads/resume-token.ts'
import type { FrameRing } from './frame-ring.ts'
import type { FrameWriter, FrameWriterOptions, Positions } from './frame-writer.ts'
import { type HeldContent, missedBy } from './group-forms.ts'
import { type Resumption, resumptionBy } from './group-member.ts'
import type { GroupReading } from './group-reading.ts'
import { isReached, reachMs } from './resumption.ts'

/** What tells those who stood in the same list, as the same may be seen of it. */
type Known = Pick<FrameWriterOptions, 'cluster' | 'incarnation' | 'list' | 'access'>

export interface GroupResumptionOptions extends Known {
  readonly followed: FollowedList
  readonly reading: GroupReading
  readonly rows: HeldContent
  readonly ring: FrameRing
  readonly writer: FrameWriter
  readonly coalesceMs: number
  /** Where the members are when they have read all. */
  readonly positions: () => Positions
  readonly isAhead: () => boolean
  /** Aborted when the group is over. */
  readonly leaving: AbortSignal
}

/** How subscribers who stood somewhere come to be members of a group without beginning anew. */
export class GroupResumption {
  readonly #options: GroupResumptionOptions

  constructor(options: GroupResumptionOptions) {
    this.#options = options
  }

  /**
   * The frames that lead from where one stood to where the members are; `undefined` where that is not known, and one has to begin
   * anew. Rejects where a kind cannot be read.
   */
  async from(from: ResumePosition): Promise<Resumption | undefined> {
    const { reading, rows, ring, writer, followed, positions: current } = this.#options
    if (!this.#isOfGroup(from)) return undefined
    const settled = await reading.settled()
    await reading.reach(settled, from.positions)
    if (!(await this.hasReached(from.positions))) return undefined
    // From here on in one tick.
    const positions = current()
    // What was told of a kind that was in memory then is to be taken back.
    const mayHaveShownMore = reading.looksAround && !reading.followsAll(from.positions)
    const moment = { ...reading.moment(), mayHaveShownMore }
    const missed = missedBy({ ...moment, list: followed, rows, ring, from })
    if (missed === undefined) return undefined
    const { page } = rows
    const known = { before: from.positions, positions, isAhead: this.#options.isAhead(), page }
    const frames = writer.frames(missed, { reset: false, wasSynced: true, ...known })
    return resumptionBy(frames, { rows: missed.length, next: ring.next, positions })
  }

  /** Waits for a while until the members have been told of all that leads to a position. */
  async hasReached(wanted: Positions): Promise<boolean> {
    const { coalesceMs, positions, leaving } = this.#options
    const deadlineMs = performance.now() + 2 * coalesceMs + reachMs
    while (!isReached(wanted, positions())) {
      if (leaving.aborted || performance.now() > deadlineMs) return false
      // oxlint-disable-next-line no-await-in-loop -- looks again and again
      await sleep(10, leaving)
    }
    return !leaving.aborted
  }

  #isOfGroup(from: ResumePosition): boolean {
    const { cluster, incarnation, list, access } = this.#options
    const isThere = from.cluster === cluster && from.incarnation === incarnation
    return isThere && from.list === list && from.access === access
  }
}
