import { sleep } from '../../lib/backoff.ts'
import type { Listener } from '../../informer/delivery/listener.ts'
import { QueryTooCostlyError } from '../../query/condition/work-budget.ts'
import type { ResumePosition } from '../operation/resume-token.ts'
import type { FramePlan } from './frame-plan.ts'
import { FrameRing, type FrameRingLimits } from './frame-ring.ts'
import { FrameWriter, type Positions } from './frame-writer.ts'
import type {
  GroupMember,
  MemberCounts,
  MemberGroup,
  Resumption,
  StreamEnd,
} from './group-member.ts'
import { GroupFilter } from './group-filter.ts'
import { GroupFlush } from './group-flush.ts'
import { contentOf, type HeldContent, missedBy } from './group-forms.ts'
import { GroupSnapshot } from './group-snapshot.ts'
import { GroupSnapshots } from './group-snapshots.ts'
import { MergedFrames } from './merged-frames.ts'
import { isReached, reachMs } from './resumption.ts'
import { Announcer } from './announcer.ts'
import { GroupReading, type GroupReadingOptions } from './group-reading.ts'
import { GroupSeats, type Leaving } from './group-seats.ts'
import { GroupMoves } from './group-moves.ts'
import { type Beyond, BeyondSightError, type Sight } from './sight.ts'
import type { Privilege } from './privilege.ts'
import type { ViewerSeat } from './viewer-seat.ts'
import { WithheldPrivileges } from './withheld-privileges.ts'
import type { Kind } from '../model/kind.ts'
import type { ViewerAccess } from '../operation/viewer-access.ts'

export interface LiveGroupOptions extends GroupReadingOptions {
  readonly plan: FramePlan
  /** What a viewer sees now. Rejects with the `ClientError` that ends the subscriptions. */
  readonly decide: (access: ViewerAccess) => Promise<Sight>
  /** What is withheld of whom has to be known by names, as somebody has it; false where that is too much. */
  readonly named: (privileges: ReadonlyMap<string, Privilege>) => boolean
  /** Finds another group for members whose viewer sees something else now. */
  readonly move: (from: LiveGroup, seat: ViewerSeat) => Promise<void>
  /** More or less may be held than before; false where there is no room for it. */
  readonly hold: () => boolean
  /** The kinds that only objects have named. */
  readonly further: ReadonlySet<Kind>
  /** Rows have led to where the group does not follow. */
  readonly beyond: (beyond: readonly Beyond[]) => void
  /** Finds another group for all members, which follows that, too; or ends them. Never rejects. */
  readonly leave: (from: LiveGroup) => Promise<void>
  readonly coalesceMs: number
  readonly ring: FrameRingLimits
  readonly counts: MemberCounts
  /** Called once, when it is over. */
  readonly ended: (end: StreamEnd) => void
}

/**
 * All subscribers who ask the same and may see the same: they share one listener for each kind that is read, one live set, one
 * text of each object and of each frame. A subscriber is a place in the ring of what has been sent.
 */
export class LiveGroup implements MemberGroup {
  readonly ring: FrameRing
  readonly writer: FrameWriter
  readonly counts: MemberCounts
  readonly rows: HeldContent
  readonly merged: MergedFrames
  readonly #options: LiveGroupOptions
  readonly #members = new Set<GroupMember>()
  readonly #announcer = new Announcer(this.#members)
  readonly #leaving = new AbortController()
  readonly #seats: GroupSeats
  readonly #reading: GroupReading
  readonly #filter: GroupFilter
  #listeners: Listener[] = []
  #forgetAround = (): void => {}
  readonly #snapshots: GroupSnapshots
  readonly #flush: GroupFlush
  #expected = 0
  #end: StreamEnd | undefined
  /** Nothing is told any more: its members are finding another group. */
  #isLeft = false

  constructor(options: LiveGroupOptions) {
    const { plan, list, sight, limits, ring, counts } = options
    const { fingerprint: access } = sight
    this.#options = options
    this.ring = new FrameRing(ring)
    this.#snapshots = new GroupSnapshots(this.ring)
    this.counts = counts
    const { cluster } = list.at
    this.writer = new FrameWriter({ ...limits, cluster, list: list.list, access, plan })
    this.rows = contentOf(plan, list)
    this.merged = new MergedFrames({
      ring: this.ring,
      writer: this.writer,
      rows: this.rows,
      written: this.#hold,
    })
    const withheld = new WithheldPrivileges(() => this.#seats.askMore())
    this.#reading = new GroupReading(options, withheld)
    this.#filter = new GroupFilter(list, this.rows, this.#reading)
    this.#flush = new GroupFlush({
      plan,
      maxFrameObjects: limits.maxFrameObjects,
      rows: this.rows,
      reading: this.#reading,
      filter: this.#filter,
      writer: this.writer,
      ring: this.ring,
      leaving: this.#leaving.signal,
      announce: () => this.#announcer.announce(),
      written: () => {
        this.#snapshots.moved()
        this.merged.moved()
        this.#forgetRead()
        this.#hold()
      },
      failed: (error) => this.#failed(error),
    })
    const move = async (seat: ViewerSeat): Promise<void> => options.move(this, seat)
    const { decide, named } = options
    this.#seats = new GroupSeats({ cluster, sight, withheld, decide, named, move })
  }

  /** Where the members of a viewer sit. */
  seatOf(access: ViewerAccess): ViewerSeat {
    return this.#seats.of(access)
  }

  /** Nobody is to sit there any more, where nobody does. */
  dropSeat(seat: ViewerSeat): void {
    this.#seats.drop(seat)
  }

  /** Where the members are when they have read all. */
  get positions(): Positions {
    // Where nothing waits, everything up to the present has been told.
    const stages = [this.#flush, ...this.#listeners, this.#filter]
    if (!this.#isLeft && stages.every(({ isDrained }) => isDrained)) this.#flush.reachPresent()
    return this.#flush.positions
  }

  /** How many subscribers there are. */
  get members(): number {
    return this.#members.size
  }

  /** Whether nobody is to join it any more. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#isLeft
  }

  /** Whether its members have been told that it is over. */
  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** Its members by whose they are, while they are finding another group. */
  get leaving(): readonly Leaving[] {
    return this.#seats.leaving(this.#members)
  }

  /**
   * Reads what is there, and follows it from then on. Rejects with what makes that impossible, and then graphql-js is to say why.
   */
  async start(): Promise<void> {
    this.#lookAround()
    try {
      const settled = await this.#reading.settled()
      // In one tick: whatever is not in the snapshot reaches the listeners.
      this.#listeners = this.#reading.listeners(settled)
      this.#filter.listen(settled)
      await this.#flush.begin(settled)
    } catch (error) {
      this.#refused(error)
      throw error
    }
    for (const [number, { kind }] of this.#reading.needs.entries()) {
      const listener = this.#listeners[number]
      if (listener !== undefined) void this.#follow(kind, listener)
    }
    void this.#flush.flush().catch((error: unknown) => this.#failed(error))
    void this.#filter
      .follow(this.#pause, () => this.#flush.flush())
      .then(
        (end) => end && this.end(end),
        (error: unknown) => this.#failed(error),
      )
  }

  /** One more subscriber, from the beginning or from where it stood. */
  join(member: (group: MemberGroup) => GroupMember, seat?: ViewerSeat): GroupMember {
    const joined = member(this)
    if (this.#end === undefined) {
      this.#members.add(joined)
      if (seat !== undefined) this.#seats.sit(joined, seat)
    } else joined.finish(this.#end)
    return joined
  }

  /**
   * Takes over the members of a viewer who sees what this group does now, each told what that changes; within one tick, in which
   * the seat here is open. Without a seat they are those who are not asked who they are.
   */
  takeOver(from: LiveGroup, left: Leaving, seat: ViewerSeat | undefined): void {
    const part = this.#reading.followed()
    const { positions, rows, writer, ring } = this
    const moves = new GroupMoves({ from, to: { positions, rows, writer, next: ring.next }, part })
    for (const member of left.members) {
      const { standsAt } = member
      this.join((group) => {
        member.move(group, standsAt === undefined ? this.snapshot() : moves.from(standsAt), seat)
        return member
      }, seat)
      member.announce()
    }
  }

  /**
   * The frames that lead a subscriber from where it stood to where the members are; `undefined` where that is not known, and it has
   * to begin anew. Rejects where a kind cannot be read.
   */
  async resume(from: ResumePosition): Promise<Resumption | undefined> {
    const { list, sight } = this.#options
    const { fingerprint: access } = sight
    const { cluster } = list.at
    if (from.cluster !== cluster || from.list !== list.list || from.access !== access) {
      return undefined
    }
    const settled = await this.#reading.settled()
    await this.#reading.reach(settled, from.positions)
    if (!(await this.hasReached(from.positions))) return undefined
    // What has been told of a kind that was in memory then would never be taken back.
    if (this.#reading.looksAround && !this.#reading.followsAll(from.positions)) return undefined
    // From here on in one tick.
    const { positions, rows, ring } = this
    const missed = missedBy({ ...this.#reading.moment(), list, rows, ring, from })
    if (missed === undefined) return undefined
    const { page } = rows
    const at = { reset: false, wasSynced: true, before: from.positions, positions, page }
    const frames = Array.from(this.writer.frames(missed, at), ({ payload }) => payload)
    return { frames, rows: missed.length, next: ring.next, positions }
  }

  /** Waits for a while until the members have been told of all that leads to a position. */
  async hasReached(wanted: Positions): Promise<boolean> {
    const deadlineMs = performance.now() + 2 * this.#options.coalesceMs + reachMs
    while (!isReached(wanted, this.positions)) {
      if (this.isOver || performance.now() > deadlineMs) return false
      // oxlint-disable-next-line no-await-in-loop -- looks again and again
      await sleep(10, this.#leaving.signal)
    }
    return !this.isOver
  }

  leave(member: GroupMember): void {
    this.#seats.leave(member)
    if (this.#members.delete(member)) this.#endIfEmpty()
  }

  /** Somebody is about to join: until that is called which this returns, the group does not end for want of members. */
  expect(): () => void {
    this.#expected += 1
    return () => {
      this.#expected -= 1
      this.#endIfEmpty()
    }
  }

  #endIfEmpty(): void {
    if (this.#members.size + this.#expected === 0) this.end({ form: 'complete' })
  }

  /** All that there is, at a place in the ring that is not far behind. */
  snapshot(): GroupSnapshot {
    const { writer, positions, ring, rows } = this
    const at = { writer, next: ring.next, positions, written: this.#hold }
    return this.#snapshots.current(() => new GroupSnapshot(rows, at))
  }

  /** Frames that all have read are of no more use; but by those of a page one finds out who held which rows. */
  #forgetRead(): void {
    const { ring, rows } = this
    // Whoever is about to join may have been told a place already.
    if (rows.page !== undefined || this.#expected > 0) return
    let place = this.#snapshots.place ?? ring.next
    for (const member of this.#members) {
      place = Math.min(place, member.place)
      if (place <= ring.first) return
    }
    ring.forgetBefore(place)
  }

  /** What its texts take, at the most. */
  get heldBytes(): number {
    return this.rows.bytes + this.#snapshots.bytes + this.merged.bytes
  }

  /** More may be held than there is room for. Graphql-js keeps no texts. */
  readonly #hold = (): void => {
    if (!this.isOver && !this.#options.hold()) this.end({ form: 'refused' })
  }

  /** Ends all its subscriptions. Idempotent. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#leaving.abort()
    this.#forgetAround()
    for (const listener of [...this.#listeners, this.#filter]) listener.close()
    this.#options.prepared[Symbol.dispose]()
    this.#seats.retire()
    this.#options.ended(end)
    for (const member of this.#members) member.finish(end)
    this.#members.clear()
  }

  /** A further kind in memory may be one that rows lead to. */
  #lookAround(): void {
    const { served, list } = this.#options
    const cache = served.clusters.get(list.at.cluster)
    const leave = cache?.onSynced(() => {
      if (!this.#reading.looksAround || this.isOver) return
      this.#flush.takeAll()
      void this.#flush.flush().catch((error: unknown) => this.#failed(error))
    })
    this.#forgetAround = leave ?? (() => {})
  }

  async #follow(kind: Kind, listener: Listener): Promise<void> {
    try {
      for await (const batch of listener.gathered(this.#pause)) {
        this.#seats.heard(kind, batch.changes)
        this.#flush.take(kind.typeName, batch)
        // What the listeners of other kinds have at the same time goes into the same frame.
        if (this.#reading.needs.length > 1)
          await new Promise<void>((resolve) => setImmediate(resolve))
        await this.#flush.flush()
      }
      // Its informer has stopped. That of a kind which only objects named ends nothing that was asked for.
      if (this.#options.further.has(kind)) await this.#reading.settled()
      this.end({ form: 'complete' })
    } catch (error) {
      this.#failed(error)
    }
  }

  readonly #pause = (): Promise<void> | undefined => {
    const { coalesceMs } = this.#options
    return coalesceMs === 0 ? undefined : sleep(coalesceMs, this.#leaving.signal)
  }

  /** Whatever it is, graphql-js finds it too, and says which field it belongs to. */
  #failed(error: unknown): void {
    if (this.#isLeft) return
    if (error instanceof BeyondSightError && !this.isOver) this.#left(error)
    else if (error instanceof QueryTooCostlyError) this.end({ form: 'failed', error })
    else this.#refused(error)
  }

  #refused(error: unknown): void {
    if (error instanceof BeyondSightError) this.#options.beyond(error.beyond)
    this.end({ form: 'refused' })
  }

  /** Members go on in a group that follows more. What has been told here is what they hold. */
  #left({ beyond }: BeyondSightError): void {
    this.#isLeft = true
    this.#leaving.abort()
    this.#options.beyond(beyond)
    void this.#options.leave(this).then(() => this.end({ form: 'complete' }))
  }
}
