/*
 * The life of a group. It starts for its first subscriber, reads the rows of its lists and follows their changes
 * (`GroupChanges`, which writes them to the ring of `GroupFrames`). A subscriber joins as a place in the ring
 * (`GroupMember`). Before the ring, it takes a snapshot, or the changes since its resume token. When the permissions of a
 * viewer change, `GroupMemberships` holds the viewer's members back; if their access now differs, they leave for another
 * group. If the group turns out to read too little, all members leave it. When the fleet changes, lists of clusters come
 * and go. The group ends with its last member, with a failure, or when its schema or kind is gone.
 */

import type { DocumentNode } from 'graphql'
import { CodedError } from '../../../lib/coded-error.ts'
import type { FairSlots } from '../../../lib/concurrency.ts'
import { inSlices } from '../../../lib/event-loop.ts'
import type { StreamEnd } from '../../../lib/frame-stream.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { type HeldBytes, NoRoomError } from '../../prepare/user-shares.ts'
import { notLoaded } from '../../prepare/preparation.ts'
import type { FleetParts, WantedList } from '../frame-plan.ts'
import type { LiveCounts, LiveLimits } from '../live-limits.ts'
import type { OpenSubscription } from '../open-subscriptions.ts'
import {
  type AccessRequest,
  GroupAccess,
  isPassing,
  ListAccess,
  neededBy,
  type SeenList,
  type WantedGroup,
} from './group-access.ts'
import { GroupChanges } from './group-changes.ts'
import {
  bytesAhead,
  type Group,
  GroupFrames,
  type GroupMember,
  type LeavingMembers,
} from './group-frames.ts'
import { type GroupContent, GroupList } from './group-list.ts'
import { GroupReading, type GroupReadingOptions, MissingKindError } from './group-reading.ts'
import { GroupFacets, GroupProblems } from './group-reread.ts'
import { GroupRows } from './group-rows.ts'
import { type GroupEntry, GroupState } from './group-state.ts'
import {
  type DiscoveredReads,
  GroupMemberships,
  sharedAccess,
  type ViewerMembership,
} from './group-viewers.ts'

export interface GroupOwner {
  readonly held: HeldBytes
  /** The groups that start at the same time. */
  readonly starts: FairSlots
  /** Moves the remaining members to another group. Rejects if no group can take them. */
  regroup(group: LiveGroup, leaving: LeavingMembers): Promise<void>
  forget(group: LiveGroup): void
  /** The reads of lists that a review of a viewer's access needs. */
  requestsOf(
    group: Pick<LiveGroupOptions, 'wanted' | 'discovered' | 'identity'>,
    lists: readonly WantedList[],
  ): readonly AccessRequest[]
  /**
   * Records that the group follows these lists now, so that new members with the same lists join it. Returns its new
   * description.
   */
  rename(group: LiveGroup, lists: readonly WantedList[]): WantedGroup
  ended(group: LiveGroup): void
}

export interface LiveGroupOptions extends Omit<
  GroupReadingOptions,
  'names' | 'leadsBack' | 'list' | 'listAccess' | 'report'
> {
  /** Equal for subscribers who share a group. */
  readonly key: string
  readonly owner: GroupOwner
  readonly groupAccess: GroupAccess
  /** The identity of the viewer who asked for the group; absent without viewers. */
  readonly identity: string | undefined
  readonly discovered: DiscoveredReads
  readonly live: LiveLimits
  readonly counts: LiveCounts
}

/** The approximate memory of a group besides its content: its listeners, readings, leases and names. */
const groupBytes = 30_000

/**
 * All subscribers with the same operation and the same access. They share the listeners of all lists, one set of rows,
 * and one text per object and per frame.
 */
export class LiveGroup implements Group, OpenSubscription {
  readonly options: LiveGroupOptions
  /** Like {@link LiveGroupOptions.key}, for the present clusters. */
  key: string
  readonly state: GroupState
  readonly counts: LiveCounts
  readonly content: GroupContent
  readonly frames: GroupFrames
  readonly changes: GroupChanges
  readonly memberships: GroupMemberships
  readonly #owner: GroupOwner
  readonly #members = new Set<GroupMember>()
  /** Whether there are frames that the members have not been told of, and whether they are being told now. */
  #isNews = false
  #isTelling = false
  readonly #leaving = new AbortController()
  /** Aborted when other lists join instead. */
  #joining = new AbortController()
  /** The order of the present and joining lists, by name. */
  #order: ReadonlyMap<string, number> = new Map()
  #started: Promise<void> | undefined
  #expected = 0
  #end: StreamEnd | undefined
  /** Set once the group writes no more frames, because its members are moving to another group. */
  #isLeft = false

  constructor(options: LiveGroupOptions) {
    const { page, facets, problems } = options.wanted
    this.options = options
    this.key = options.key
    this.#owner = options.owner
    this.counts = options.counts
    this.state = new GroupState(options, this.#leaving.signal)
    this.memberships = new GroupMemberships(this)
    if (facets !== undefined) this.content = new GroupFacets(this.state, facets)
    else if (problems === undefined) this.content = new GroupRows(page)
    else this.content = new GroupProblems(this.state, problems, () => this.changes.flushSoon())
    this.state.entries = options.groupAccess.lists.map((seen) => this.#entryOf(seen))
    this.content.follow(this.state.lists)
    this.frames = new GroupFrames(this, options.live)
    this.changes = new GroupChanges(this, this.memberships)
  }

  #entryOf(seen: SeenList): GroupEntry {
    const { request, access } = seen
    const { plan, list } = request.wanted
    const { served, discovered } = this.options
    if (!(access instanceof ListAccess)) return { ...seen, list: undefined }
    const ofKind = discovered.of(list.at.kind)
    const reading = new GroupReading({
      ...this.options,
      list,
      listAccess: access,
      leadsBack: plan.leadsBack || ofKind.leadsBack,
      names: this.memberships.decisions(ofKind),
      report: () => this.state.report,
    })
    if (reading.isNowhere) return { ...seen, list: undefined }
    const cache = served.clusters.get(list.at.cluster)
    const { content } = this
    return { ...seen, list: new GroupList({ content, served, list, plan, cache, access, reading }) }
  }

  /** Reads the current objects and follows their changes. Rejects with the error that prevents this. */
  start(): Promise<void> {
    this.#started ??= this.#owner.starts.run(this.#user ?? '', async () => {
      if (this.#end !== undefined) return
      try {
        await this.changes.start()
      } catch (error) {
        if (error instanceof MissingKindError) this.#learn(error)
        this.end({ form: 'failed', errors: [error] })
        throw error
      }
    })
    return this.#started
  }

  /** Records reads that the rows need and the group does not follow. Later groups of the operation follow them. */
  #learn({ followed, missing }: MissingKindError): void {
    const { discovered, onlyViewer } = this.options
    for (const one of missing) discovered.of(followed).add(one, onlyViewer?.identity)
  }

  /** See {@link OpenSubscription.served}. The group itself reads a copy of it. */
  get served(): ServedSchema {
    return this.options.wanted.served
  }

  get document(): DocumentNode {
    return this.options.wanted.document
  }

  get kinds(): readonly ClusterKind[] {
    const { lists, variables } = this.state.wanted
    return lists.flatMap((one) => neededBy(one, variables))
  }

  get supporting(): OpenSubscription['supporting'] {
    return this.options.wanted.supporting
  }

  get members(): number {
    return this.#members.size
  }

  get isOver(): boolean {
    return this.#end !== undefined || this.#isLeft
  }

  /** The error that ended the group, if it would end any other group, too: lack of room, or the schema. */
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

  /**
   * Tells all members of new frames, in slices between which the event loop runs. All frames that come meanwhile lead to
   * one more round.
   */
  announce(): void {
    this.#isNews = true
    if (!this.#isTelling) void this.#tell()
  }

  async #tell(): Promise<void> {
    const members = this.#members
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
        // oxlint-disable-next-line no-await-in-loop -- one round after the other
        await inSlices(round(), () => false)
      }
    } finally {
      this.#isTelling = false
    }
  }

  written(): void {
    this.frames.dropSnapshots()
    // A subscriber that is about to join may already have a place.
    if (this.#expected === 0) this.frames.dropRead(this.#members)
    this.#hold()
  }

  stopped(groupList: GroupList, kind: Kind | undefined): void {
    if (groupList.at.isOptional === true) {
      this.changes.restart(groupList)
      return
    }
    const { list, reading } = groupList
    if (kind !== undefined) {
      const isNamed = this.kinds.some((at) => at.kind === kind)
      if (isNamed) this.end({ form: 'complete' })
      // The operation does not name the kind, so the subscription outlives the kind's informer.
      else this.#outdated()
      return
    }
    try {
      const snapshot = reading.now()
      // Throws if one of these kinds has become unreadable.
      for (const at of list.needs) snapshot.part(at)
      this.end({ form: 'complete' })
    } catch (error) {
      this.failed(error)
    }
  }

  failed(error: unknown): void {
    if (this.isOver) return
    if (error instanceof MissingKindError) {
      this.#learn(error)
      this.#outdated()
    } else this.end({ form: 'failed', errors: [error] })
  }

  /** An optional list begins anew by itself. Otherwise the members move to another group. */
  outdated(list: GroupList): void {
    if (list.at.isOptional === true) this.changes.restart(list)
    else this.#outdated()
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

  /** Follows a change of the fleet: removes the rows of clusters that have left, and adds rows of clusters that join. */
  fleetChanged(now: FleetParts): void {
    const { state } = this
    if (!state.isOptional || this.isOver) return
    const { served, wanted } = state
    const { clusters, access, members } = now
    const kept = state.entries.filter(({ request }) => {
      const { cluster } = request.wanted.list.at
      return clusters.get(cluster) === served.clusters.get(cluster)
    })
    let lists: readonly WantedList[] = kept.map(({ request }) => request.wanted)
    try {
      lists = wanted.listsIn(now)
    } catch (error) {
      // The arguments name a cluster that is gone.
      if (!(error instanceof CodedError)) throw error
    }
    Object.assign(served, { clusters, access, members })
    state.wanted = { ...wanted, served: { ...wanted.served, clusters, access, members } }
    this.#order = new Map(lists.map((one, at) => [nameOfList(one), at]))
    const stay = new Map(
      kept
        .map((one) => [nameOfList(one.request.wanted), one] as const)
        .filter(([name]) => this.#order.has(name)),
    )
    const joining = lists.filter((one) => !stay.has(nameOfList(one)))
    if (joining.length > 0 && this.#started === undefined) {
      state.wanted = this.#owner.rename(this, lists)
      this.#outdated()
      return
    }
    this.#adopt([...stay.values()])
    this.#joining.abort()
    this.#joining = new AbortController()
    const names = new Set(joining.map(nameOfList))
    for (const name of state.joining.keys()) if (!names.has(name)) state.joining.delete(name)
    for (const ofCluster of Map.groupBy(joining, ({ list }) => list.at.cluster).values()) {
      void this.#join(ofCluster, this.#joining.signal).catch((error: unknown) => this.failed(error))
    }
  }

  /** Waits until the members' access to the lists of a joining cluster is known. Then the group takes these lists. */
  async #join(lists: readonly WantedList[], signal: AbortSignal): Promise<void> {
    const { state, memberships, options, changes } = this
    const { isViewed, prepared } = options
    await this.#started
    const requests = this.#owner.requestsOf(options, lists)
    // If it takes longer, frames report these lists as gaps.
    for (const one of lists) this.#waits(one, notLoaded(one.list.at))
    const known = await changes.retried(signal, false, async () => {
      let seen = await sharedAccess(memberships, state, requests)
      if (isViewed) {
        await prepared.prepare(new GroupAccess(seen).visible)
        // The namespaces that have objects are known now.
        seen = await sharedAccess(memberships, state, requests)
      }
      if (signal.aborted || this.isOver) return []
      let isKnown = true
      for (const { request, access } of seen) {
        const isLost = access instanceof ClientError && isPassing(access)
        this.#waits(request.wanted, isLost ? access : undefined)
        if (isLost) isKnown = false
      }
      return isKnown ? seen : undefined
    })
    if (known === undefined || signal.aborted || this.isOver) return
    this.#adopt([...state.entries, ...known.map((one) => this.#entryOf(one))])
  }

  /** Records why a list that joins is not there yet. */
  #waits(wanted: WantedList, error: ClientError | undefined): void {
    const { joining } = this.state
    const name = nameOfList(wanted)
    if (error === undefined) joining.delete(name)
    else joining.set(name, { list: wanted.list, error })
  }

  #adopt(entries: readonly GroupEntry[]): void {
    const { state, changes } = this
    const before = new Set(state.entries)
    if (entries.length === before.size && entries.every((one) => before.has(one))) return
    const placeOf = ({ request }: GroupEntry): number =>
      this.#order.get(nameOfList(request.wanted)) ?? 0
    const listsBefore = state.lists
    state.entries = entries.toSorted((a, b) => placeOf(a) - placeOf(b))
    const lists = state.entries.map(({ request }) => request.wanted)
    state.wanted = this.#owner.rename(this, lists)
    // A member gets rows of a new cluster once its access there is known to equal the group's.
    for (const membership of this.memberships) membership.followClusters()
    const gone = listsBefore.filter((list) => !state.lists.includes(list))
    const joined = state.lists.filter((list) => !listsBefore.includes(list))
    if (gone.length > 0) changes.remove(gone)
    if (joined.length > 0) changes.add(joined)
  }

  #outdated(): void {
    if (this.isOver) return
    this.#isLeft = true
    this.#leaving.abort()
    this.#joining.abort()
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

  /** Ends all its subscriptions. Idempotent. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#leaving.abort()
    this.#joining.abort()
    this.changes.close()
    this.frames.close()
    this.options.prepared[Symbol.dispose]()
    this.memberships.retire()
    this.#owner.ended(this)
    for (const member of this.#members) member.finish(end)
    this.#members.clear()
  }

  get heldBytes(): number {
    return this.#sharedBytes + this.frames.bytesAhead(this.#members)
  }

  get users(): ReadonlySet<string> {
    const { users } = this.memberships
    // The group has no members before it has written the rows.
    return users.size > 0 || this.#user === undefined ? users : new Set([this.#user])
  }

  get #user(): string | undefined {
    return this.options.wanted.viewer?.username
  }

  heldBytesFor(user: string): number {
    return this.#sharedBytes / this.users.size + bytesAhead(this.memberships.membersOf(user))
  }

  get #sharedBytes(): number {
    return groupBytes + this.content.bytes + this.frames.sharedBytes
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
}

function nameOfList({ list: { at } }: WantedList): string {
  return JSON.stringify([at.cluster, at.kind.typeName])
}
