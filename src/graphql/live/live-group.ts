import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { FairSlots } from '../../lib/concurrency.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import { enterLive } from '../prepare/operation-turns.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import type { ResumePosition } from '../reads/resume-token.ts'
import type { FollowedList } from './followed-list.ts'
import type { FramePlan } from './frame-plan.ts'
import { FrameWriter } from './frame-writer.ts'
import { type AccessRequest, type DiscoveredKinds, MissingKindError } from './group-access.ts'
import { type ChangingGroup, GroupChanges } from './group-changes.ts'
import type { GroupContent } from './group-content.ts'
import { bytesAhead, type FramedGroup, GroupFrames } from './group-frames.ts'
import {
  type GroupMember,
  type MemberGroup,
  MemberNotifier,
  type StreamEnd,
} from './group-member.ts'
import { GroupFacets } from './group-facets.ts'
import { GroupPage } from './group-page.ts'
import { GroupReading, type GroupReadingOptions } from './group-reading.ts'
import { GroupRows } from './group-rows.ts'
import {
  type ByteHolder,
  type HeldBytes,
  type LiveCounts,
  type LiveLimits,
  NoRoomError,
} from './live-limits.ts'
import type { OpenSubscription } from './open-subscriptions.ts'
import {
  GroupMemberships,
  type MembershipGroup,
  type ViewerMembership,
} from './viewer-membership.ts'

/** Members that leave a group together: the members of one viewer, or the members without a viewer. */
export interface LeavingMembers {
  readonly access: ViewerAccess | undefined
  readonly members: ReadonlySet<GroupMember>
}

/** The owner of the groups. */
export interface GroupOwner {
  readonly counts: LiveCounts
  readonly held: HeldBytes
  /** The groups that start at the same time. */
  readonly starts: FairSlots
  /** Moves members that are still there to another group. Rejects if no group can take them. */
  regroup(group: LiveGroup, leaving: LeavingMembers): Promise<void>
  /** The group takes no more members. */
  forget(group: LiveGroup): void
  /** The group has ended. Called once. */
  ended(group: LiveGroup): void
}

export interface LiveGroupOptions extends Omit<GroupReadingOptions, 'names' | 'leadsBack'> {
  /** The key among the groups: equal for subscribers who share a group. */
  readonly key: string
  readonly owner: GroupOwner
  /** The reads to review a viewer's access for. */
  readonly request: AccessRequest
  readonly discovered: DiscoveredKinds
  /** The group among the open subscriptions. */
  readonly subscription: OpenSubscription
  readonly live: LiveLimits
}

/**
 * All subscribers with the same operation and the same access. They share one listener per kind, one set of rows, and
 * one text per object and per frame. A subscriber is a place in the ring of the last frames.
 */
export class LiveGroup
  implements ByteHolder, ChangingGroup, FramedGroup, MemberGroup, MembershipGroup
{
  readonly options: LiveGroupOptions
  readonly plan: FramePlan
  readonly list: FollowedList
  readonly cache: ClusterCache | undefined
  readonly maxFrameObjects: number
  readonly coalesceMs: number
  readonly counts: LiveCounts
  /** The contents of the group's resume tokens. */
  readonly token: Pick<ResumePosition, 'cluster' | 'incarnation' | 'list' | 'access'>
  readonly leaving: AbortSignal
  readonly content: GroupContent
  readonly reading: GroupReading
  readonly writer: FrameWriter
  readonly frames: GroupFrames
  readonly changes: GroupChanges
  readonly memberships: GroupMemberships
  readonly #owner: GroupOwner
  readonly #members = new Set<GroupMember>()
  readonly #notifier = new MemberNotifier(this.#members)
  readonly #leaving = new AbortController()
  #started: Promise<void> | undefined
  #expected = 0
  #end: StreamEnd | undefined
  /** The group writes no more frames: its members are moving to another group. */
  #isLeft = false

  constructor(options: LiveGroupOptions) {
    const { wanted, groupAccess, limits, served, onlyViewer, discovered } = options
    const { plan, list } = wanted
    const { cluster } = list.at
    this.options = options
    this.#owner = options.owner
    this.plan = plan
    this.list = list
    this.cache = served.clusters.get(cluster)
    this.maxFrameObjects = limits.maxFrameObjects
    this.coalesceMs = wanted.coalesceMs
    this.counts = options.owner.counts
    this.leaving = this.#leaving.signal
    const incarnation = this.cache?.incarnation ?? ''
    const access = [groupAccess.fingerprint, ...(onlyViewer ? [onlyViewer.identity] : [])].join(' ')
    this.token = { cluster, incarnation, list: list.list, access }
    this.content = contentOf(plan, list)
    this.memberships = new GroupMemberships(this)
    const leadsBack = plan.leadsBack || discovered.leadsBack
    const reading = new GroupReading({ ...options, leadsBack, names: this.memberships })
    this.reading = reading
    const explanation = (): string | undefined => reading.explanation()
    const staleSince = (): string | null => this.changes.staleSince
    this.writer = new FrameWriter({ ...limits, ...this.token, plan, explanation, staleSince })
    this.frames = new GroupFrames(this, options.live)
    this.changes = new GroupChanges(this)
  }

  /** Reads the current objects and follows their changes. Rejects with the error that prevents this. */
  start(): Promise<void> {
    this.#started ??= this.#owner.starts.run(this.#user ?? '', () => this.#start())
    return this.#started
  }

  async #start(): Promise<void> {
    if (this.#end !== undefined) return
    try {
      await this.changes.start()
    } catch (error) {
      if (error instanceof MissingKindError) this.#learn(error)
      this.end({ form: 'failed', errors: [error] })
      throw error
    }
  }

  /** Records reads that the rows need and the group does not follow. Later groups of the operation follow them. */
  #learn({ missing }: MissingKindError): void {
    const { discovered, onlyViewer } = this.options
    for (const one of missing) discovered.add(one, onlyViewer?.identity)
  }

  get members(): number {
    return this.#members.size
  }

  /** Whether the group takes no more members. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#isLeft
  }

  /** The error that ended the group, if another group would end for the same reason: lack of room, or the schema. */
  get problem(): ClientError | undefined {
    if (this.#end?.form !== 'failed') return undefined
    return this.#end.errors
      .filter((error) => error instanceof ClientError)
      .find((error) => error instanceof NoRoomError || error.code === 'SCHEMA_CHANGED')
  }

  /** Adds a subscriber. If the group has ended, ends the subscriber, too. */
  join(member: GroupMember, membership: ViewerMembership | undefined): void {
    if (this.#end === undefined) {
      this.#members.add(member)
      membership?.members.add(member)
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

  leave(member: GroupMember): void {
    this.memberships.leave(member)
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

  enter(): Promise<void> | undefined {
    return enterLive(this.users)
  }

  announce(): void {
    this.#notifier.announce()
  }

  written(): void {
    this.frames.dropSnapshots()
    // A subscriber that is about to join may already have a place.
    if (this.#expected === 0) this.frames.dropRead(this.#members)
    this.#hold()
  }

  stopped(kind: Kind): void {
    const isNamed = this.options.subscription.kinds.some((at) => at.kind === kind)
    if (isNamed) this.end({ form: 'complete' })
    // The operation does not name the kind, so the subscription outlives the kind's informer.
    else this.outdated()
  }

  filterStopped(): void {
    try {
      const snapshot = this.reading.now()
      // Throws if one of them has become unreadable.
      for (const at of this.list.needs) snapshot.part(at)
      this.end({ form: 'complete' })
    } catch (error) {
      this.failed(error)
    }
  }

  regroup(leaving: LeavingMembers): Promise<void> {
    return this.#owner.regroup(this, leaving)
  }

  async rewrite(): Promise<boolean> {
    // Unread frames may contain data that the viewer may no longer see.
    const behind = [...this.#members].filter(({ isBehind }) => isBehind)
    try {
      await this.changes.rewrite()
    } catch (error) {
      this.failed(error)
    }
    if (this.isOver) return false
    this.frames.renewSnapshot()
    for (const member of behind) if (!member.isClosed) member.beginAnew()
    return true
  }

  /** The memory of the rows and of unread frames. */
  get heldBytes(): number {
    return this.#sharedBytes + this.frames.bytesAhead(this.#members)
  }

  get users(): ReadonlySet<string> {
    const { users } = this.memberships
    // The group has no members before it has written the rows.
    return users.size > 0 || this.#user === undefined ? users : new Set([this.#user])
  }

  /** The user that started the group; absent without viewers. */
  get #user(): string | undefined {
    return this.options.wanted.viewer?.username
  }

  heldBytesFor(user: string): number {
    return this.#sharedBytes / this.users.size + bytesAhead(this.memberships.membersOf(user))
  }

  get #sharedBytes(): number {
    return this.content.bytes + this.frames.sharedBytes
  }

  /** Skips a group that is over: its readers soon read the rest, or the server cuts them off. */
  roomProblem(more?: number): NoRoomError | undefined {
    return this.isOver ? undefined : this.#owner.held.hold(this, more)
  }

  /**
   * Over the limit, drops the frames kept for slow readers, which then start again. If that is not enough, ends the
   * group.
   */
  #hold(): void {
    if (this.roomProblem() === undefined) return
    this.frames.dropAll()
    const error = this.roomProblem()
    if (error !== undefined) this.end({ form: 'failed', errors: [error] })
  }

  /** Ends all its subscriptions. Idempotent. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#leaving.abort()
    this.changes.close()
    this.options.prepared[Symbol.dispose]()
    this.memberships.retire()
    this.#owner.ended(this)
    for (const member of this.#members) member.finish(end)
    this.#members.clear()
  }

  failed(error: unknown): void {
    if (this.isOver) return
    if (error instanceof MissingKindError) {
      this.#learn(error)
      this.outdated()
    } else this.end({ form: 'failed', errors: [error] })
  }

  /** Finds another group for all members. */
  outdated(): void {
    if (this.isOver) return
    this.#isLeft = true
    this.#leaving.abort()
    this.#owner.forget(this)
    const withViewer = [...this.memberships]
    const others = new Set(this.#members)
    for (const { members } of withViewer) for (const member of members) others.delete(member)
    const all: readonly LeavingMembers[] = [...withViewer, { access: undefined, members: others }]
    const moved = all.map(async (leaving) => {
      try {
        await this.#owner.regroup(this, leaving)
      } catch (error) {
        for (const member of leaving.members) member.finish({ form: 'failed', errors: [error] })
      }
    })
    void Promise.all(moved).then(() => this.end({ form: 'complete' }))
  }
}

function contentOf(plan: FramePlan, list: FollowedList): GroupContent {
  const { page, facets } = list
  if (page !== undefined) return new GroupPage(plan, list, page)
  if (facets !== undefined) return new GroupFacets(plan, list, facets)
  return new GroupRows(plan, list.condition)
}
