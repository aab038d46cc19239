import { QueryTooCostlyError } from '../../query/condition/work-budget.ts'
import type { ResumePosition } from '../reads/resume-token.ts'
import type { FramePlan } from './frame-plan.ts'
import { FrameRing, type FrameRingLimits } from './frame-ring.ts'
import type { Viewer } from '../../access/viewer.ts'
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
import { contentOf, type HeldContent } from './group-forms.ts'
import { GroupListeners } from './group-listeners.ts'
import { GroupResumption } from './group-resumption.ts'
import { GroupSnapshot } from './group-snapshot.ts'
import { GroupSnapshots } from './group-snapshots.ts'
import { type ByteHolder, NoRoomError } from './held-bytes.ts'
import { MergedFrames } from './merged-frames.ts'
import { MemberNotifier } from './member-notifier.ts'
import { GroupReading, type GroupReadingOptions } from './group-reading.ts'
import { GroupMemberships, type Leaving } from './group-memberships.ts'
import { GroupMoves } from './group-moves.ts'
import { type MissingRead, MissingKindError, type GroupAccess } from './group-access.ts'
import type { PermissionCheck } from './permission-check.ts'
import type { ViewerMembership } from './viewer-membership.ts'
import { WithheldChecks } from './withheld-checks.ts'
import type { Kind } from '../model/kind.ts'
import { enterLive } from '../prepare/operation-turns.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'

export interface LiveGroupOptions extends GroupReadingOptions {
  readonly plan: FramePlan
  /** What a viewer sees now. Rejects with the `ClientError` that ends the subscriptions. */
  readonly decide: (access: ViewerAccess) => Promise<GroupAccess>
  /** What is withheld of whom has to be known by names, as somebody has it; false where that is too much. */
  readonly named: (privileges: ReadonlyMap<string, PermissionCheck>) => boolean
  /** Finds another group for members whose viewer sees something else now. */
  readonly move: (from: LiveGroup, membership: ViewerMembership) => Promise<void>
  /** Who began it; absent where nobody is asked who they are. */
  readonly viewer?: Viewer | undefined
  /** More or less may be held than before, or is about to be: why there is no room for it, where there is none. */
  readonly hold: (moreBytes?: number) => NoRoomError | undefined
  /** The kinds that only objects have named. */
  readonly further: ReadonlySet<Kind>
  /** Rows have led to where the group does not follow. */
  readonly beyond: (beyond: readonly MissingRead[]) => void
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
export class LiveGroup implements MemberGroup, ByteHolder {
  readonly ring: FrameRing
  readonly writer: FrameWriter
  /** Which cluster it reads, and which of its histories. */
  readonly incarnation: string
  readonly counts: MemberCounts
  readonly rows: HeldContent
  readonly merged: MergedFrames
  readonly #options: LiveGroupOptions
  readonly #members = new Set<GroupMember>()
  readonly #announcer = new MemberNotifier(this.#members)
  readonly #leaving = new AbortController()
  readonly #memberships: GroupMemberships
  readonly #reading: GroupReading
  readonly #filter: GroupFilter
  readonly #listeners: GroupListeners
  readonly #resumption: GroupResumption
  readonly #snapshots: GroupSnapshots
  readonly #flush: GroupFlush
  #expected = 0
  #end: StreamEnd | undefined
  /** Nothing is told any more: its members are finding another group. */
  #isLeft = false

  constructor(options: LiveGroupOptions) {
    const { plan, list, groupAccess, limits, counts, coalesceMs } = options
    const { cluster } = list.at
    const cache = options.served.clusters.get(cluster)
    const leaving = this.#leaving.signal
    const failed = (error: unknown): void => this.#failed(error)
    this.#options = options
    this.counts = counts
    this.incarnation = cache?.incarnation ?? ''
    const { fingerprint: access } = groupAccess
    const known = { cluster, incarnation: this.incarnation, list: list.list, access }
    const ring = (this.ring = new FrameRing(options.ring))
    const rows = (this.rows = contentOf(plan, list))
    const writer = (this.writer = new FrameWriter({ ...limits, ...known, plan }))
    this.merged = new MergedFrames({
      ring,
      writer,
      rows,
      hasRoomFor: (bytes) => this.#problemOfHolding(bytes) === undefined,
    })
    this.#snapshots = new GroupSnapshots(ring)
    const withheld = new WithheldChecks(() => this.#memberships.askMore())
    const enter = (): Promise<void> | undefined => enterLive(this.users)
    const reading = (this.#reading = new GroupReading(options, withheld))
    const filter = (this.#filter = new GroupFilter(list, rows, reading, enter))
    const parts = { reading, rows, ring, writer, filter, enter, leaving, failed, coalesceMs }
    const flush = (this.#flush = new GroupFlush({
      ...parts,
      plan,
      maxFrameObjects: limits.maxFrameObjects,
      announce: () => this.#announcer.announce(),
      written: () => this.#written(),
    }))
    const { decide, named, further } = options
    const move = async (membership: ViewerMembership): Promise<void> =>
      options.move(this, membership)
    const memberships = (this.#memberships = new GroupMemberships({
      cluster,
      groupAccess,
      withheld,
      decide,
      named,
      move,
    }))
    this.#listeners = new GroupListeners({
      ...parts,
      flush,
      memberships,
      cache,
      further,
      ended: (end) => this.end(end),
      renewed: () => this.#leave(),
    })
    this.#resumption = new GroupResumption({
      ...parts,
      ...known,
      followed: list,
      positions: () => this.positions,
      isAhead: () => flush.isAhead,
    })
  }

  /** Where the members of a viewer sit. */
  membershipOf(access: ViewerAccess): ViewerMembership {
    return this.#memberships.of(access)
  }

  /** Nobody is to sit there any more, where nobody does. */
  dropMembership(membership: ViewerMembership): void {
    this.#memberships.drop(membership)
  }

  /** Where the members are when they have read all. */
  get positions(): Positions {
    // Where nothing waits, everything up to the present has been told.
    const stages = [this.#flush, this.#listeners, this.#filter]
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

  /** Why there was no room for it, if that is how it ended. */
  get problem(): NoRoomError | undefined {
    if (this.#end?.form !== 'failed') return undefined
    return this.#end.error instanceof NoRoomError ? this.#end.error : undefined
  }

  /** Whether its members have been told that it is over. */
  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** Its members by whose they are, while they are finding another group. */
  get leaving(): readonly Leaving[] {
    return this.#memberships.leaving(this.#members)
  }

  /**
   * Reads what is there, and follows it from then on. Rejects with what makes that impossible, and then graphql-js is to say why.
   */
  async start(): Promise<void> {
    this.#listeners.lookAround()
    try {
      const settled = await this.#reading.settled()
      // In one tick: whatever is not in the snapshot reaches the listeners.
      this.#listeners.listen(settled)
      await this.#flush.begin(settled)
    } catch (error) {
      this.#refused(error)
      throw error
    }
    this.#listeners.follow()
  }

  /** One more subscriber, from the beginning or from where it stood. */
  join(member: (group: MemberGroup) => GroupMember, membership?: ViewerMembership): GroupMember {
    const joined = member(this)
    if (this.#end === undefined) {
      this.#members.add(joined)
      if (membership !== undefined) this.#memberships.sit(joined, membership)
    } else joined.finish(this.#end)
    return joined
  }

  /**
   * Takes over the members of a viewer who sees what this group does now, each told what that changes; within one tick, in which
   * the membership here is open. Without a membership they are those who are not asked who they are.
   */
  takeOver(from: LiveGroup, left: Leaving, membership: ViewerMembership | undefined): void {
    const part = this.#reading.followed()
    const { positions, rows, writer, ring } = this
    const { isAhead } = this.#flush
    const to = { positions, isAhead, rows, writer, next: ring.next }
    const moves = new GroupMoves({ from, to, part })
    for (const member of left.members) {
      const { standsAt } = member
      this.join((group) => {
        member.move(
          group,
          standsAt === undefined ? this.snapshot() : moves.from(standsAt),
          membership,
        )
        return member
      }, membership)
      member.announce()
    }
    this.#hold()
  }

  /**
   * The frames that lead a subscriber from where it stood to where the members are; `undefined` where that is not known, and it has
   * to begin anew. Rejects where a kind cannot be read.
   */
  resume(from: ResumePosition): Promise<Resumption | undefined> {
    return this.#resumption.from(from)
  }

  /** Waits for a while until the members have been told of all that leads to a position. */
  hasReached(wanted: Positions): Promise<boolean> {
    return this.#resumption.hasReached(wanted)
  }

  leave(member: GroupMember): void {
    this.#memberships.leave(member)
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
    const { isAhead } = this.#flush
    const written = (): NoRoomError | undefined => this.#problemOfHolding()
    const at = { writer, next: ring.next, positions, isAhead, written }
    return this.#snapshots.current(() => new GroupSnapshot(rows, at))
  }

  /** Some rows have been written, and what is held may be more or less than before. */
  #written(): void {
    this.#snapshots.moved()
    this.merged.moved()
    this.#forgetRead()
    this.#hold()
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

  get heldBytes(): number {
    return this.#sharedBytes + bytesAhead(this.#members, this.merged.kept)
  }

  get users(): ReadonlySet<string> {
    const { viewer } = this.#options
    const { users } = this.#memberships
    // Nobody sits there before it is known what there is.
    return users.size > 0 || viewer === undefined ? users : new Set([viewer.username])
  }

  heldBytesFor(user: string): number {
    return this.#sharedBytes / this.users.size + bytesAhead(this.#memberships.membersOf(user))
  }

  get #sharedBytes(): number {
    return this.rows.bytes + this.ring.bytes + this.#snapshots.bytes
  }

  /** More may be held than there is room for. What is kept for slow readers goes first: they begin anew. */
  #hold(): void {
    if (this.#problemOfHolding() === undefined) return
    this.ring.forgetBefore(this.ring.next)
    this.#snapshots.moved()
    const error = this.#problemOfHolding()
    if (error !== undefined) this.end({ form: 'failed', error })
  }

  /** A group that is over is not counted: what is left of it is read soon, or its readers are cut off. */
  #problemOfHolding(more?: number): NoRoomError | undefined {
    return this.isOver ? undefined : this.#options.hold(more)
  }

  /** Ends all its subscriptions. Idempotent. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#leaving.abort()
    this.#listeners.close()
    this.#options.prepared[Symbol.dispose]()
    this.#memberships.retire()
    this.#options.ended(end)
    for (const member of this.#members) member.finish(end)
    this.#members.clear()
  }

  /** Whatever it is, graphql-js finds it too, and says which field it belongs to. */
  #failed(error: unknown): void {
    if (this.#isLeft) return
    if (error instanceof MissingKindError && !this.isOver) this.#left(error)
    else if (error instanceof QueryTooCostlyError) this.end({ form: 'failed', error })
    else this.#refused(error)
  }

  #refused(error: unknown): void {
    if (error instanceof MissingKindError) this.#options.beyond(error.beyond)
    this.end({ form: 'refused' })
  }

  /** Members go on in a group that follows more. */
  #left({ beyond }: MissingKindError): void {
    this.#options.beyond(beyond)
    this.#leave()
  }

  /** What has been told here is what they hold. */
  #leave(): void {
    this.#isLeft = true
    this.#leaving.abort()
    void this.#options.leave(this).then(() => this.end({ form: 'complete' }))
  }
}

/** What the frames take that members are still to be given, each counted once. */
function bytesAhead(members: Iterable<GroupMember>, others: Iterable<Resumption> = []): number {
  const all = new Set(others)
  for (const { ahead } of members) if (ahead !== undefined) all.add(ahead)
  let sum = 0
  for (const { bytes } of all) sum += bytes
  return sum
}
