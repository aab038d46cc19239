import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { Change } from '../../informer/store/change.ts'
import type { Kind } from '../model/kind.ts'
import { followedNeeds } from './followed-filter.ts'
import type { FollowedList } from './followed-list.ts'
import { enterLive } from '../prepare/operation-turns.ts'
import type { Positions, ResumePosition } from '../reads/resume-token.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import type { FramePlan } from './frame-plan.ts'
import { FrameRing, type FrameRingLimits } from './frame-ring.ts'
import { FrameWriter } from './frame-writer.ts'
import { type GroupAccess, MissingKindError, type MissingRead } from './group-access.ts'
import type { GroupContent } from './group-content.ts'
import { type FlushedGroup, GroupFlush } from './group-flush.ts'
import { GroupFilter } from './group-filter.ts'
import { GroupListeners, type ListeningGroup } from './group-listeners.ts'
import type {
  GroupMember,
  MemberCounts,
  MemberGroup,
  Resumption,
  StreamEnd,
} from './group-member.ts'
import { GroupPage } from './group-page.ts'
import { GroupReading, type GroupReadingOptions } from './group-reading.ts'
import { GroupRows } from './group-rows.ts'
import { GroupSnapshot, GroupSnapshots } from './group-snapshot.ts'
import { type ByteHolder, NoRoomError } from './held-bytes.ts'
import { MemberNotifier } from './member-notifier.ts'
import { MergedFrames } from './merged-frames.ts'
import { resumed, type ResumedGroup } from './resumption.ts'
import {
  GroupMemberships,
  type MembershipGroup,
  type ViewerMembership,
  WithheldNames,
} from './viewer-membership.ts'

/** Members that leave a group together: the members of one viewer, or the members without a viewer. */
export interface LeavingMembers {
  readonly access: ViewerAccess | undefined
  readonly members: ReadonlySet<GroupMember>
}

/** The owner of the groups. */
export interface GroupHost {
  readonly counts: MemberCounts
  /** Counts the memory of a group again, with bytes that it is about to hold. Returns the error if there is no room. */
  hold(group: LiveGroup, moreBytes?: number): NoRoomError | undefined
  /**
   * The viewer's current access to the kinds that a group reads. Rejects with the `ClientError` that ends the
   * subscriptions.
   */
  resolve(group: LiveGroup, access: ViewerAccess): Promise<GroupAccess>
  /** Records reads that the rows need and the group does not follow. Later groups of the same operation follow them. */
  learn(group: LiveGroup, missing: readonly MissingRead[]): void
  /** Records that a viewer may see objects of these kinds by name. */
  nameKinds(group: LiveGroup, access: ViewerAccess, kinds: Iterable<Kind>): void
  /** Moves members that are still there to another group. Rejects if no group can take them. */
  regroup(group: LiveGroup, leaving: LeavingMembers): Promise<void>
  /** The group takes no more members. */
  forget(group: LiveGroup): void
  /** The group has ended. Called once. */
  ended(group: LiveGroup): void
}

export interface LiveGroupOptions extends Omit<GroupReadingOptions, 'names' | 'leadsBack'> {
  readonly plan: FramePlan
  readonly host: GroupHost
  /** Whether rows have led to objects of the followed kind outside the list. */
  readonly leadsBack: boolean
  /** The kinds that objects refer to and the operation does not name. */
  readonly further: ReadonlySet<Kind>
  /** The user that started the group; absent without viewers. */
  readonly user: string | undefined
  readonly coalesceMs: number
  readonly ring: FrameRingLimits
}

/**
 * All subscribers with the same operation and the same access. They share one listener per kind, one set of rows, and
 * one text per object and per frame. A subscriber is a place in the ring of the last frames.
 */
export class LiveGroup
  implements MemberGroup, ByteHolder, FlushedGroup, ListeningGroup, MembershipGroup, ResumedGroup
{
  readonly plan: FramePlan
  readonly list: FollowedList
  readonly cluster: string
  readonly cache: ClusterCache | undefined
  readonly groupAccess: GroupAccess
  readonly hasOnlyViewer: boolean
  readonly maxFrameObjects: number
  readonly coalesceMs: number
  readonly token: ResumedGroup['token']
  readonly leaving: AbortSignal
  readonly counts: MemberCounts
  readonly content: GroupContent
  readonly reading: GroupReading
  readonly filter: GroupFilter
  readonly ring: FrameRing
  readonly writer: FrameWriter
  readonly flush: GroupFlush
  readonly merged: MergedFrames
  readonly #options: LiveGroupOptions
  readonly #host: GroupHost
  readonly #listeners: GroupListeners
  readonly #snapshots: GroupSnapshots
  readonly #members = new Set<GroupMember>()
  readonly #memberships: GroupMemberships
  readonly #notifier = new MemberNotifier(this.#members)
  readonly #leaving = new AbortController()
  #expected = 0
  #end: StreamEnd | undefined
  /** The group writes no more frames: its members are moving to another group. */
  #isLeft = false

  constructor(options: LiveGroupOptions) {
    const { plan, list, groupAccess, limits, host, served, onlyViewer } = options
    this.#options = options
    this.#host = host
    this.plan = plan
    this.list = list
    this.cluster = list.at.cluster
    this.cache = served.clusters.get(this.cluster)
    this.groupAccess = groupAccess
    this.hasOnlyViewer = onlyViewer !== undefined
    this.maxFrameObjects = limits.maxFrameObjects
    this.coalesceMs = options.coalesceMs
    this.leaving = this.#leaving.signal
    this.counts = host.counts
    const incarnation = this.cache?.incarnation ?? ''
    const access = [groupAccess.fingerprint, ...(onlyViewer ? [onlyViewer.identity] : [])].join(' ')
    this.token = { cluster: this.cluster, incarnation, list: list.list, access }
    const { page } = list
    this.content =
      page === undefined ? new GroupRows(plan, list.condition) : new GroupPage(plan, list, page)
    const withheld = new WithheldNames(() => this.#memberships.askMore())
    this.#memberships = new GroupMemberships(this, withheld)
    const reading = (this.reading = new GroupReading({ ...options, names: withheld }))
    this.filter = new GroupFilter(list, this.content, reading, () => this.enter())
    this.ring = new FrameRing(options.ring)
    const explanation = (): string | undefined => reading.explanation()
    this.writer = new FrameWriter({ ...limits, ...this.token, plan, explanation })
    this.flush = new GroupFlush(this)
    this.#listeners = new GroupListeners(this)
    this.#snapshots = new GroupSnapshots(this.ring)
    this.merged = new MergedFrames(this)
  }

  /** Reads the current objects and follows their changes. Rejects with the error that prevents this. */
  async start(): Promise<void> {
    if (this.#end !== undefined) return
    this.#listeners.begin()
    try {
      await this.flush.begin((settled) => this.#listeners.listen(settled))
    } catch (error) {
      if (error instanceof MissingKindError) this.#host.learn(this, error.missing)
      this.end({ form: 'failed', errors: [error] })
      throw error
    }
    this.#listeners.follow()
  }

  /** The membership of a viewer. {@link dropMembership} ends a membership without members. */
  membershipOf(access: ViewerAccess): ViewerMembership {
    return this.#memberships.of(access)
  }

  dropMembership(membership: ViewerMembership): void {
    this.#memberships.drop(membership)
  }

  /** The positions of a member that has read every frame. */
  get positions(): Positions {
    // If no change waits, the group has sent everything up to the present.
    const stages = [this.flush, this.#listeners, this.filter]
    if (!this.#isLeft && stages.every(({ isDrained }) => isDrained)) this.flush.reachPresent()
    return this.flush.positions
  }

  get isAhead(): boolean {
    return this.flush.isAhead
  }

  /** The number of subscribers. */
  get members(): number {
    return this.#members.size
  }

  /** Whether the group takes no more members. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#isLeft
  }

  /** Whether the group has ended its members' subscriptions. */
  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** The error, if the group ended for lack of room. */
  get problem(): NoRoomError | undefined {
    if (this.#end?.form !== 'failed') return undefined
    return this.#end.errors.find((error) => error instanceof NoRoomError)
  }

  /** Adds a subscriber, which starts from a snapshot or resumes. If the group has ended, ends the subscriber, too. */
  join(member: GroupMember, membership: ViewerMembership | undefined): void {
    if (this.#end === undefined) {
      this.#members.add(member)
      if (membership !== undefined) this.#memberships.join(member, membership)
    } else member.finish(this.#end)
  }

  /** Takes members of another group. They start again with a snapshot. */
  takeOver(members: ReadonlySet<GroupMember>, membership: ViewerMembership | undefined): void {
    for (const member of members) {
      if (member.isClosed) continue
      member.move(this, membership)
      this.join(member, membership)
    }
    this.announce()
    this.#hold()
  }

  /**
   * The frames that lead a subscriber from `from` to the members' positions; `undefined` if they are unknown. Rejects
   * if the followed kind cannot be read.
   */
  resume(from: ResumePosition): Promise<Resumption | undefined> {
    return resumed(this, from)
  }

  outdated(): void {
    this.#leave()
  }

  leave(member: GroupMember): void {
    this.#memberships.leave(member)
    if (this.#members.delete(member)) this.#endIfEmpty()
  }

  /** Keeps the group alive for a subscriber that is about to join, until the caller calls the returned function. */
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

  /** All rows, with a place in the ring that is not far behind. */
  snapshot(): GroupSnapshot {
    const { writer, positions, ring, content, isAhead } = this
    const written = (): NoRoomError | undefined => this.#problemOfHolding()
    const at = { writer, next: ring.next, positions, isAhead, written }
    return this.#snapshots.current(() => new GroupSnapshot(content, at))
  }

  enter(): Promise<void> | undefined {
    return enterLive(this.users)
  }

  announce(): void {
    this.#notifier.announce()
  }

  written(): void {
    this.#snapshots.moved()
    this.merged.moved()
    this.#forgetRead()
    this.#hold()
  }

  /** Drops frames that all members have read. */
  #forgetRead(): void {
    const { ring } = this
    // A subscriber that is about to join may already have a place.
    if (this.#expected > 0) return
    let place = this.#snapshots.place ?? ring.next
    for (const member of this.#members) {
      place = Math.min(place, member.place)
      if (place <= ring.first) return
    }
    ring.forgetBefore(place)
  }

  heard(kind: Kind, changes: readonly Change[]): void {
    this.#memberships.heard(kind, changes)
  }

  stopped(kind: Kind): void {
    // The operation does not name a further kind, so the subscription outlives that kind's informer.
    if (this.#options.further.has(kind)) this.#leave()
    else this.end({ form: 'complete' })
  }

  filterStopped(): void {
    const { list, reading } = this
    try {
      const settled = reading.now()
      // Throws if one of them has become unreadable.
      for (const at of followedNeeds(list)) settled.part(at)
      this.end({ form: 'complete' })
    } catch (error) {
      this.failed(error)
    }
  }

  resolve(access: ViewerAccess): Promise<GroupAccess> {
    return this.#host.resolve(this, access)
  }

  nameKinds(access: ViewerAccess, kinds: Iterable<Kind>): void {
    this.#host.nameKinds(this, access, kinds)
  }

  async regroup(membership: ViewerMembership): Promise<void> {
    await this.#host.regroup(this, membership)
  }

  async rewrite(): Promise<void> {
    // Unread frames may contain data that the viewer may no longer see.
    const behind = [...this.#members].filter(({ isBehind }) => isBehind)
    await this.flush.rewrite()
    this.#snapshots.forget()
    for (const member of behind) if (!member.isClosed) member.beginAnew()
  }

  /** The memory of the rows and of unread frames. */
  get heldBytes(): number {
    return this.#sharedBytes + bytesAhead(this.#members, this.merged.kept)
  }

  get users(): ReadonlySet<string> {
    const { user } = this.#options
    const { users } = this.#memberships
    // The group has no members before it has written the rows.
    return users.size > 0 || user === undefined ? users : new Set([user])
  }

  heldBytesFor(user: string): number {
    return this.#sharedBytes / this.users.size + bytesAhead(this.#memberships.membersOf(user))
  }

  get #sharedBytes(): number {
    return this.content.bytes + this.ring.bytes + this.#snapshots.bytes
  }

  /** Whether there is room for `bytes` more bytes of frames. */
  hasRoomFor(bytes: number): boolean {
    return this.#problemOfHolding(bytes) === undefined
  }

  /**
   * Over the limit, drops the frames kept for slow readers, which then start again. If that is not enough, ends the
   * group.
   */
  #hold(): void {
    if (this.#problemOfHolding() === undefined) return
    this.ring.forgetBefore(this.ring.next)
    this.#snapshots.moved()
    const error = this.#problemOfHolding()
    if (error !== undefined) this.end({ form: 'failed', errors: [error] })
  }

  /** Skips a group that is over: its readers soon read the rest, or the server cuts them off. */
  #problemOfHolding(more?: number): NoRoomError | undefined {
    return this.isOver ? undefined : this.#host.hold(this, more)
  }

  /** Ends all its subscriptions. Idempotent. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#leaving.abort()
    this.#listeners.close()
    this.#options.prepared[Symbol.dispose]()
    this.#memberships.retire()
    this.#host.ended(this)
    for (const member of this.#members) member.finish(end)
    this.#members.clear()
  }

  failed(error: unknown): void {
    if (this.isOver) return
    if (error instanceof MissingKindError) {
      this.#host.learn(this, error.missing)
      this.#leave()
    } else this.end({ form: 'failed', errors: [error] })
  }

  /** Finds another group for all members. */
  #leave(): void {
    if (this.isOver) return
    this.#isLeft = true
    this.#leaving.abort()
    this.#host.forget(this)
    const withViewer = [...this.#memberships]
    const others = new Set(this.#members)
    for (const { members } of withViewer) for (const member of members) others.delete(member)
    const all: readonly LeavingMembers[] = [...withViewer, { access: undefined, members: others }]
    const moved = all.map(async (leaving) => {
      try {
        await this.#host.regroup(this, leaving)
      } catch (error) {
        for (const member of leaving.members) member.finish({ form: 'failed', errors: [error] })
      }
    })
    void Promise.all(moved).then(() => this.end({ form: 'complete' }))
  }
}

/** The bytes of the frames that members have yet to take, each counted once. */
function bytesAhead(members: Iterable<GroupMember>, others: Iterable<Resumption> = []): number {
  const all = new Set(others)
  for (const { ahead } of members) if (ahead !== undefined) all.add(ahead)
  let sum = 0
  for (const { bytes } of all) sum += bytes
  return sum
}
