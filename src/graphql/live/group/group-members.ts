/*
 * The members of a group: who takes its frames, when, and the memory that this needs. A subscriber is a `GroupMember`, a
 * place in the ring of `GroupFrames`. `GroupMembers` tells all of them of new frames, lets the ring drop what everybody has
 * read, and sees to it that the group has room. If it has none, the frames of slow readers go first, and these readers
 * start again with a snapshot; if that is not enough, the group ends.
 *
 * The members of one viewer have a `ViewerMembership`. When the viewer's permissions may have changed, they get no frames
 * until a review says what the viewer may see now (`group-access.ts`). If that differs from the access of the group, they
 * move to another group (`live-groups.ts`). Rows omit objects that only a rule for a single name could allow; a viewer
 * with such a rule leaves the group.
 */

import type { ClusterAccess } from '../../../access/cluster-access.ts'
import type { Change } from '../../../informer/store/change.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { Backoff, sleep } from '../../../lib/backoff.ts'
import { DeadlineError, withDeadline } from '../../../lib/deadline.ts'
import { inSlices } from '../../../lib/event-loop.ts'
import { FrameStream, type StreamEnd } from '../../../lib/frame-stream.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import type { ByteHolder, HeldBytes, NoRoomError } from '../../prepare/user-shares.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { ViewerAccess } from '../../prepare/viewer-access.ts'
import type { LiveCounts } from '../live-limits.ts'
import { isPassing, type NameDecisions, resolveGroupAccess } from './group-access.ts'
import {
  type CatchUpFrames,
  GroupFrames,
  type GroupFramesOptions,
  type GroupPositions,
  type GroupState,
} from './group-frames.ts'
import type { GroupContent } from './group-list.ts'
import type { DiscoveredKinds } from './group-reading.ts'

/** Members that leave a group together: the members of one viewer, or the members without a viewer. */
export interface LeavingMembers {
  readonly access: ViewerAccess | undefined
  readonly members: ReadonlySet<GroupMember>
}

/** The group of some members. `LiveGroup` implements it. */
export interface MembersGroup {
  readonly state: GroupState
  readonly content: GroupContent
  /** Called when its last member has left, and when it has no room. */
  end(end: StreamEnd): void
  /**
   * Rewrites all rows after a change of the viewer's permissions. Resolves to whether it has: a failure ends the group
   * or moves its members. Never rejects.
   */
  rewrite(): Promise<boolean>
  /** Moves the members of a viewer to another group. Rejects if no group can take them. */
  regroup(leaving: LeavingMembers): Promise<void>
}

/** The approximate memory of a group besides its content: its listeners, readings, leases and names. */
const groupBytes = 30_000

export class GroupMembers implements ByteHolder {
  readonly frames: GroupFrames
  readonly counts: LiveCounts
  /** The names of the users that have members; none without authentication. */
  readonly users: Set<string> = new Set<string>()
  readonly #group: MembersGroup
  readonly #held: HeldBytes
  /** By identity. One review of a viewer's access serves all members of the viewer. */
  readonly #memberships = new Map<string, ViewerMembership>()
  readonly #withheld = new Map<string, WithheldName>()
  /** The namespaces of added objects, by cluster and kind. */
  readonly #namespaces = new Map<string, Set<string>>()
  readonly #all = new Set<GroupMember>()
  /** Whether there are frames that the members have not been told of, and whether they are being told now. */
  #isNews = false
  #isTelling = false
  #expected = 0
  #end: StreamEnd | undefined

  constructor(
    group: MembersGroup,
    { live, counts }: Pick<GroupFramesOptions, 'live' | 'counts'>,
    held: HeldBytes,
  ) {
    this.#group = group
    this.#held = held
    this.counts = counts
    const { state, content } = group
    const roomProblem = (more?: number): NoRoomError | undefined => this.roomProblem(more)
    this.frames = new GroupFrames({ state, content, live, counts, roomProblem })
  }

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): Iterator<GroupMember> {
    return this.#all.values()
  }

  /** Adds a subscriber. If the group has ended, ends the subscriber, too. */
  join(member: GroupMember): void {
    if (this.#end === undefined) {
      this.#all.add(member)
      member.membership?.members.add(member)
    } else member.finish(this.#end)
  }

  leave(member: GroupMember): void {
    const { membership } = member
    if (membership?.members.delete(member) === true) this.drop(membership)
    if (this.#all.delete(member)) this.#endIfEmpty()
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
    if (this.#all.size + this.#expected === 0) this.#group.end({ form: 'complete' })
  }

  /** Ends all members. */
  finish(end: StreamEnd): void {
    this.#end = end
    this.frames.close()
    for (const membership of this.#memberships.values()) {
      membership.retire()
      this.drop(membership)
    }
    for (const member of this.#all) member.finish(end)
    this.#all.clear()
  }

  /**
   * Tells all members of new frames, in slices between which the event loop runs. All frames that come meanwhile lead to
   * one more round.
   */
  announce(): void {
    this.#isNews = true
    if (!this.#isTelling) void this.#tell()
  }

  async #tell(): Promise<void> {
    const members = this.#all
    function* round(): Generator<void, void> {
      for (const member of members) {
        member.announce()
        yield
      }
    }
    this.#isTelling = true
    try {
      while (this.#isNews) {
        this.#isNews = false
        await inSlices(round(), () => false)
      }
    } finally {
      this.#isTelling = false
    }
  }

  /** Call after writing some rows, which may change the memory that the group holds. */
  written(): void {
    this.frames.dropSnapshots()
    // A subscriber that is about to join may already have a place.
    if (this.#expected === 0) this.frames.dropRead(this.#all)
    this.hold()
  }

  /** Makes room over the limit: drops the frames kept for slow readers, or ends the group. */
  hold(): void {
    if (this.roomProblem() === undefined) return
    this.frames.dropAll()
    const error = this.roomProblem()
    if (error !== undefined) this.#group.end({ form: 'failed', errors: [error] })
  }

  /**
   * The error if there is no room for so many more bytes. Skips a group that is over: its readers soon read the rest, or
   * the server cuts them off.
   */
  roomProblem(more?: number): NoRoomError | undefined {
    return this.#group.state.leaving.aborted ? undefined : this.#held.hold(this, more)
  }

  get heldBytes(): number {
    return this.#sharedBytes + bytesAhead(this.#all, this.frames.merges)
  }

  heldBytesFor(user: string): number {
    const own = [...this.#all].filter(
      ({ membership }) => membership?.access.viewer.username === user,
    )
    return this.#sharedBytes / this.users.size + bytesAhead(own)
  }

  get #sharedBytes(): number {
    return groupBytes + this.#group.content.bytes + this.frames.sharedBytes
  }

  get memberships(): Iterable<ViewerMembership> {
    return this.#memberships.values()
  }

  membershipOf(access: ViewerAccess): ViewerMembership {
    return getOrInsert(this.#memberships, access.identity, () => {
      this.users.add(access.viewer.username)
      return new ViewerMembership(access, this.#group, this.#withheld)
    })
  }

  /** Ends a membership if it has no members. */
  drop(membership: ViewerMembership): void {
    const { identity, viewer } = membership.access
    if (membership.members.size > 0 || this.#memberships.get(identity) !== membership) return
    membership.close()
    this.#memberships.delete(identity)
    for (const { access } of this.#memberships.values()) {
      if (access.viewer.username === viewer.username) return
    }
    this.users.delete(viewer.username)
  }

  /** Decides about the names that rows lead to, whose reads are `discovered`. */
  decisions(discovered: DiscoveredKinds): NameDecisions {
    return {
      mayLook: (at, key) => {
        const name = `${at.cluster} ${at.kind.typeName} ${key}`
        if (this.#withheld.has(name)) return false
        if (this.#withheld.size === maxWithheld) return undefined
        this.#withheld.set(name, { at, key, discovered })
        for (const membership of this.#memberships.values()) membership.askMore()
        return false
      },
    }
  }

  /** Rechecks all viewers if objects appear in further namespaces, where access may not have been reviewed yet. */
  recheckNamespaces({ cluster, kind }: ClusterKind, changes: readonly Change[]): void {
    if (this.#memberships.size === 0) return
    const name = `${cluster} ${kind.typeName}`
    const namespaces = getOrInsert(this.#namespaces, name, () => new Set())
    const known = namespaces.size
    for (const { type, key } of changes) {
      if (type === 'ADDED') namespaces.add(splitObjectKey(key).namespace)
    }
    if (namespaces.size === known) return
    for (const membership of this.#memberships.values()) membership.recheck()
  }
}

/**
 * The bytes of some frames, and of those that members take before the ring, each counted once. Snapshots count as shared.
 */
function bytesAhead(members: Iterable<GroupMember>, frames: readonly CatchUpFrames[] = []): number {
  const all = new Set(frames)
  for (const { catchUp } of members) if (catchUp?.isSnapshot === false) all.add(catchUp)
  let sum = 0
  for (const { bytes } of all) sum += bytes
  return sum
}

/**
 * A member that is more frames behind receives one merged frame, written once for all members at its place. Separate
 * frames would cost each member more messages, and add to the load that made it fall behind.
 */
const maxFramesBehind = 2

/**
 * One subscriber of a group: only a place in the group's ring while it keeps up. The transport takes a frame when it has
 * room.
 */
export class GroupMember extends FrameStream {
  #group: GroupMembers
  #membership: ViewerMembership | undefined
  /** The frames to take before the ring is read. */
  #catchUp: CatchUpFrames | undefined
  #taken = 0
  #next = 0
  #positions: GroupPositions = new Map()
  #rows = 0

  /** Starts with a snapshot, or with frames that lead from a resume token to a place in the ring. */
  constructor(
    group: GroupMembers,
    catchUp: CatchUpFrames,
    membership: ViewerMembership | undefined,
  ) {
    super()
    this.#group = group
    this.#membership = membership
    this.#begin(catchUp)
  }

  get catchUp(): CatchUpFrames | undefined {
    return this.#catchUp
  }

  get membership(): ViewerMembership | undefined {
    return this.#membership
  }

  override get rows(): number {
    return this.#rows
  }

  /** The number of the first ring frame that the member may still take. */
  get place(): number {
    return this.#next
  }

  get isBehind(): boolean {
    return this.#catchUp !== undefined || this.#next < this.#group.frames.next
  }

  /** The payload of the next frame, UTF-8; `undefined` if there is none yet or the subscription has ended. */
  take(): Buffer | undefined {
    if (this.isClosed || this.#membership?.isOpen === false) return undefined
    if (this.#next < this.#group.frames.first) this.beginAnew()
    const frame = this.#nextOfCatchUp() ?? this.#nextOfRing()
    if (frame !== undefined) this.#group.counts.frames += 1
    return frame
  }

  #nextOfCatchUp(): Buffer | undefined {
    const catchUp = this.#catchUp
    const frame = catchUp?.frame(this.#taken)
    this.#rows += frame?.rows ?? 0
    this.#taken += 1
    if (catchUp?.isRead(this.#taken) === true) this.#catchUp = undefined
    if (frame === undefined && catchUp?.problem !== undefined) {
      this.finish({ form: 'failed', errors: [catchUp.problem] })
    }
    return frame?.payload
  }

  #nextOfRing(): Buffer | undefined {
    if (this.isClosed) return undefined
    const { frames, counts } = this.#group
    if (frames.next - this.#next > maxFramesBehind) {
      const merged = frames.merged(this.#next, this.#positions)
      if (merged === undefined) this.beginAnew()
      else {
        counts.merged += 1
        this.#begin(merged)
      }
      return this.#nextOfCatchUp()
    }
    const frame = frames.get(this.#next)
    if (frame === undefined) return undefined
    this.#next += 1
    this.#positions = frame.positions
    this.#rows += frame.changes.length
    return frame.payload
  }

  /** Starts again with a snapshot and skips the unread frames. */
  beginAnew(): void {
    this.#group.counts.resets += 1
    this.#begin(this.#group.frames.snapshot())
  }

  #begin(catchUp: CatchUpFrames): void {
    this.#catchUp = catchUp
    this.#taken = 0
    this.#next = catchUp.next
    this.#positions = catchUp.positions
  }

  move(group: GroupMembers, membership: ViewerMembership | undefined): void {
    this.#group.leave(this)
    this.#group = group
    this.#membership = membership
    this.#begin(group.frames.snapshot())
  }

  protected leave(): void {
    this.#catchUp = undefined
    this.#group.leave(this)
  }
}

/** The minimum time until the next review of a viewer's access, if no change is reported. */
const minHoldsMs = 1_000
/**
 * Up to this many names get a new review when a permission may have changed; more names wait until the answers expire.
 */
const fewNames = 50
/** The names that a group may withhold. Each costs two access reviews per viewer. */
const maxWithheld = 500

interface WithheldName {
  readonly at: ClusterKind
  readonly key: string
  /** The reads of the rows that lack it. */
  readonly discovered: DiscoveredKinds
}

/** The members of a group that have the same viewer. */
export class ViewerMembership {
  readonly access: ViewerAccess
  readonly members: Set<GroupMember> = new Set<GroupMember>()
  /** The expiry of the latest review that found the viewer's access equal to the group's. */
  #openUntilMs = Number.NEGATIVE_INFINITY
  readonly #group: MembersGroup
  /** The clusters whose permissions it follows, each with the function that stops it. */
  readonly #followed = new Map<ClusterAccess, () => void>()
  readonly #withheld: ReadonlyMap<string, WithheldName>
  readonly #leaving = new AbortController()
  #isStale = false
  #hasChanged = false
  #checking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Withheld names that recent reviews have denied to the viewer. */
  readonly #refused = new Set<string>()

  constructor(
    access: ViewerAccess,
    group: MembersGroup,
    withheld: ReadonlyMap<string, WithheldName>,
  ) {
    this.access = new ViewerAccess(group.state.served, access.viewer)
    this.#group = group
    this.#withheld = withheld
    this.#followClusters()
  }

  /** Follows the permissions in the present clusters of the group, whose frames wait for a new review. */
  followClusters(): void {
    this.#followClusters()
    this.recheck()
  }

  #followClusters(): void {
    const { requests } = this.#group.state
    const clusters = new Set(
      requests.map(({ wanted: { list } }) => this.access.in(list.at.cluster)),
    )
    for (const [cluster, unfollow] of this.#followed) {
      if (clusters.has(cluster)) continue
      unfollow()
      this.#followed.delete(cluster)
    }
    for (const cluster of clusters) {
      if (this.#followed.has(cluster)) continue
      const unfollow = cluster.onChange(this.access.viewer, () => {
        if (this.#refused.size <= fewNames) this.#refused.clear()
        this.#hasChanged = true
        this.recheck()
      })
      this.#followed.set(cluster, unfollow)
    }
  }

  /** Whether its members may receive frames now. */
  get isOpen(): boolean {
    return performance.now() < this.#openUntilMs
  }

  /** Holds frames back until a new review of the viewer's access is done. */
  recheck(): void {
    this.#openUntilMs = Number.NEGATIVE_INFINITY
    this.#isStale = true
    clearTimeout(this.#timer)
    if (this.#leaving.signal.aborted) return
    if (this.#checking !== undefined) return
    this.#checking = this.#check().finally(() => {
      this.#checking = undefined
    })
    // `ready` reports the error.
    this.#checking.catch(() => {})
  }

  /**
   * Waits for the review of the viewer's access, at most until the deadline. Rejects with the error of a failed review
   * while the membership has no members. With members, a failed review is tried again until it succeeds.
   */
  async ready(deadlineMs: number): Promise<void> {
    if (!this.isOpen && this.#checking === undefined) this.recheck()
    const checked = this.#checking ?? Promise.resolve()
    await withDeadline('what a viewer may see', checked, deadlineMs).catch((error: unknown) => {
      if (!(error instanceof DeadlineError)) throw error
    })
  }

  askMore(): void {
    if (!this.isOpen) return
    void this.#seesWithheld().then(
      (sees) => {
        if (sees) this.recheck()
      },
      () => this.recheck(),
    )
  }

  /**
   * Marks the group as over. Members may take the remaining frames until permissions may have changed, which closes the
   * gate for good.
   */
  retire(): void {
    this.#leaving.abort()
  }

  close(): void {
    this.#leaving.abort()
    this.#openUntilMs = Number.NEGATIVE_INFINITY
    clearTimeout(this.#timer)
    for (const unfollow of this.#followed.values()) unfollow()
  }

  async #check(): Promise<void> {
    const { signal } = this.#leaving
    const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 })
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false
      try {
        this.access.begin()
        await this.#checkOnce()
      } catch (error) {
        if (signal.aborted) return
        // The clusters have changed meanwhile.
        if (this.#isStale) continue
        if (this.members.size === 0) throw error
        if (!isPassing(error)) {
          for (const member of this.members) member.finish({ form: 'failed', errors: [error] })
          return
        }
        this.#isStale = true
        await sleep(backoff.nextMs(), signal)
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const group = this.#group
    const { requests, access: shared, onlyViewer } = group.state
    const groupAccess = await resolveGroupAccess(this.access, requests)
    if (this.#isStale || this.#leaving.signal.aborted) return
    const isOther = groupAccess.fingerprint !== shared.fingerprint
    if (isOther || (await this.#seesWithheld())) {
      if (this.members.size > 0) await group.regroup(this)
      return
    }
    if (this.#isStale) return
    const isAlone = onlyViewer !== undefined
    if (isAlone && this.#hasChanged) {
      this.#hasChanged = false
      const isRewritten = await group.rewrite()
      if (!isRewritten) this.#hasChanged = true
      if (!isRewritten || this.#isStale) return
    }
    const longestMs = isAlone
      ? Math.min(...Array.from(this.#followed.keys(), ({ limits }) => limits.allowMs))
      : Infinity
    const now = performance.now()
    this.#openUntilMs = Math.max(Math.min(groupAccess.untilMs, now + longestMs), now + minHoldsMs)
    clearTimeout(this.#timer)
    if (this.#openUntilMs < Infinity) {
      this.#timer = setTimeout(() => {
        this.#refused.clear()
        this.#hasChanged = true
        this.recheck()
      }, this.#openUntilMs - now).unref()
    }
    for (const member of this.members) member.announce()
  }

  /** Whether the viewer may see an object that the group withholds. Such a viewer needs separate rows. */
  async #seesWithheld(): Promise<boolean> {
    while (this.#refused.size < this.#withheld.size) {
      const further = [...this.#withheld].filter(([name]) => !this.#refused.has(name))
      const seen = await Promise.all(
        further.map(async ([, { at, key, discovered }]) => {
          const isSeen = await this.access.mayLook(at, splitObjectKey(key))
          if (isSeen) discovered.nameKinds(this.access.identity, [at.kind])
          return isSeen
        }),
      )
      if (seen.includes(true)) return true
      for (const [name] of further) this.#refused.add(name)
    }
    return false
  }
}
