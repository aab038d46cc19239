import { CodedError } from '../../../lib/coded-error.ts'
import type { FairSlots } from '../../../lib/concurrency.ts'
import type { StreamEnd } from '../../../lib/frame-stream.ts'
import { ReadReport } from '../../../query/condition/read-report.ts'
import { explain } from '../../answer/explanation.ts'
import type { Kind } from '../../model/kind.ts'
import { ClientError } from '../../errors/client-error.ts'
import { type ByteHolder, type HeldBytes, NoRoomError } from '../../prepare/held-bytes.ts'
import { enterLive } from '../../prepare/operation-turns.ts'
import type { ViewerAccess } from '../../prepare/viewer-access.ts'
import {
  positionOfLists,
  positionPrefix,
  type Positions,
  type ResumePosition,
} from '../../reads/resume-token.ts'
import { closedGaps, gapOfError, staleSince } from '../../reads/places.ts'
import type { FollowedList } from '../followed-list.ts'
import type { FleetParts, FrameParts } from '../frame-plan.ts'
import { FrameWriter } from '../frame-writer.ts'
import {
  type AccessRequest,
  type DiscoveredReads,
  GroupAccess,
  ListAccess,
  MissingKindError,
  type WantedGroup,
  type WantedList,
} from './group-access.ts'
import { type ChangingGroup, GroupChanges } from './group-changes.ts'
import { bytesAhead, type FramedGroup, GroupFrames } from './group-frames.ts'
import { type GroupMember, type MemberGroup, MemberNotifier } from './group-member.ts'
import { type GroupContent, GroupList, type ListGap } from './group-list.ts'
import { GroupReading, type GroupReadingOptions } from './group-reading.ts'
import { GroupFacets, GroupProblems } from './group-reread.ts'
import { GroupRows } from './group-rows.ts'
import {
  GroupMemberships,
  JoiningClusters,
  type ListEntry,
  nameOfList,
  type ViewedGroup,
  type ViewerMembership,
} from './group-viewers.ts'
import type { LiveCounts, LiveLimits } from '../live-limits.ts'
import type { OpenSubscription } from '../open-subscriptions.ts'

/*
 * The life of a group. It starts for its first subscriber: it reads the rows of its lists and follows their changes
 * (`GroupChanges`, which writes them to the ring of `GroupFrames`). Subscribers join: each is a place in the ring
 * (`GroupMember`), before it a snapshot, or what it missed since its resume token. When the permissions of a viewer change,
 * `GroupMemberships` holds the viewer's members back, and those who may see something else now leave for another group; a
 * group that turns out to read too little is left by all. When the fleet changes, lists of clusters come and go. The group
 * ends with its last member, with a failure, or when its schema or its kind is gone.
 */

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
  /** The reads of lists to review a viewer's access for. */
  requestsOf(
    group: Pick<LiveGroupOptions, 'wanted' | 'discovered'>,
    lists: readonly WantedList[],
    identity: string | undefined,
  ): readonly AccessRequest[]
  /** The group follows these lists now: new members who ask for these join it. Returns what it follows. */
  rename(group: LiveGroup, lists: readonly WantedList[]): WantedGroup
  /** The group has ended. Called once. */
  ended(group: LiveGroup): void
}

export interface LiveGroupOptions extends Omit<
  GroupReadingOptions,
  'names' | 'leadsBack' | 'list' | 'listAccess' | 'report'
> {
  /** The key among the groups: equal for subscribers who share a group. */
  readonly key: string
  readonly owner: GroupOwner
  readonly groupAccess: GroupAccess
  /** The viewer whose reads the requests are; absent without viewers. */
  readonly identity: string | undefined
  /** The reads to review a viewer's access for, list by list. */
  readonly requests: readonly AccessRequest[]
  readonly discovered: DiscoveredReads
  /** The group among the open subscriptions. */
  readonly subscription: OpenSubscription
  readonly live: LiveLimits
}

/** The memory of a group besides its content, about: its listeners, readings, leases and names. */
const groupBytes = 30_000

/**
 * All subscribers with the same operation and the same access. They share the listeners of all lists, one set of rows,
 * and one text per object and per frame. A subscriber is a place in the ring of the last frames.
 */
export class LiveGroup implements ByteHolder, ChangingGroup, FramedGroup, MemberGroup, ViewedGroup {
  readonly options: LiveGroupOptions
  /** As {@link LiveGroupOptions.key}, for the present clusters. */
  key: string
  /** What the members follow, of the present clusters. So are their access and its requests. */
  wanted: WantedGroup
  groupAccess: GroupAccess
  requests: readonly AccessRequest[]
  readonly maxFrameObjects: number
  readonly coalesceMs: number
  readonly counts: LiveCounts
  readonly isPlural: boolean
  readonly tellsStaleness: boolean
  readonly tellsGaps: boolean
  readonly leaving: AbortSignal
  readonly content: GroupContent
  readonly writer: FrameWriter
  readonly frames: GroupFrames
  readonly changes: GroupChanges
  readonly memberships: GroupMemberships
  readonly #owner: GroupOwner
  readonly #members = new Set<GroupMember>()
  readonly #notifier = new MemberNotifier(this.#members)
  readonly #leaving = new AbortController()
  #lists: readonly GroupList[] = []
  /** The lists that the group has had so far. Each has a number of its own. */
  #begun = 0
  readonly #joining: JoiningClusters = new JoiningClusters(this)
  #report = new ReadReport()
  #token: { readonly text: string; readonly token: LiveGroup['token'] } | undefined
  #started: Promise<void> | undefined
  #expected = 0
  #end: StreamEnd | undefined
  /** The group writes no more frames: its members are moving to another group. */
  #isLeft = false

  constructor(options: LiveGroupOptions) {
    const { wanted, limits } = options
    const { plan } = wanted
    this.options = options
    this.key = options.key
    this.wanted = wanted
    this.groupAccess = options.groupAccess
    this.requests = options.requests
    this.#owner = options.owner
    this.maxFrameObjects = limits.maxFrameObjects
    this.coalesceMs = wanted.coalesceMs
    this.counts = options.owner.counts
    this.leaving = this.#leaving.signal
    this.memberships = new GroupMemberships(this)
    this.content = this.#newContent()
    this.#lists = this.#listsOf(wanted.lists, options.groupAccess)
    this.content.follow(this.lists)
    this.isPlural = wanted.isPlural
    this.tellsStaleness = plan.tellsStaleness
    this.tellsGaps = plan.tellsGaps
    this.writer = new FrameWriter({
      ...limits,
      plan,
      token: () => this.token,
      positionsIn: (positions) => this.#inToken(positions),
      ownPosition: wanted.isPlural ? undefined : this.lists[0]?.ownPosition,
      explanation: () => this.#explanation(),
      staleSince: () => this.changes.staleSince,
      gaps: () => this.changes.gaps,
      lookedAt: () => this.#lookedAt(),
    })
    this.frames = new GroupFrames(this, options.live)
    this.changes = new GroupChanges(this)
  }

  /** The lists that the members may see, in part or whole. */
  get lists(): readonly GroupList[] {
    return this.#lists
  }

  #newContent(): GroupContent {
    const { plan, page, facets, problems } = this.wanted
    if (facets !== undefined) return new GroupFacets(plan, facets)
    if (problems === undefined) return new GroupRows(page)
    return new GroupProblems(this, plan, problems)
  }

  /** The lists that the members may see, in part or whole. */
  #listsOf(lists: readonly WantedList[], groupAccess: GroupAccess): readonly GroupList[] {
    const { wanted, served, discovered } = this.options
    return lists.flatMap(({ plan, list }, at) => {
      const number = this.#begun++
      const listAccess = groupAccess.lists[at]
      if (!(listAccess instanceof ListAccess)) return []
      const ofKind = discovered.of(list.at.kind)
      const reading = new GroupReading({
        ...this.options,
        list,
        listAccess,
        leadsBack: plan.leadsBack || ofKind.leadsBack,
        names: this.memberships.decisions(ofKind),
        report: () => this.#report,
      })
      // The list is within no namespace, and stays empty.
      if (reading.isNowhere) return []
      const cache = served.clusters.get(list.at.cluster)
      const prefix = wanted.isPlural ? positionPrefix(number) : ''
      const { content } = this
      const own = { content, served, list, plan, cache, access: listAccess, reading, prefix }
      return [new GroupList(own)]
    })
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
  #learn({ followed, missing }: MissingKindError): void {
    const { discovered, onlyViewer } = this.options
    for (const one of missing) discovered.of(followed).add(one, onlyViewer?.identity)
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

  stopped(groupList: GroupList, kind: Kind | undefined): void {
    if (this.isPlural) {
      this.changes.restart(groupList)
      return
    }
    const { list, reading } = groupList
    if (kind !== undefined) {
      const isNamed = this.options.subscription.kinds.some((at) => at.kind === kind)
      if (isNamed) this.end({ form: 'complete' })
      // The operation does not name the kind, so the subscription outlives the kind's informer.
      else this.#outdated()
      return
    }
    try {
      const snapshot = reading.now()
      // Throws if one of them has become unreadable.
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

  /** One list of several begins anew by itself. Members of a single one find another group. */
  outdated(list: GroupList): void {
    if (this.isPlural) this.changes.restart(list)
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

  /** Follows a change of the fleet: removes the rows of clusters that are gone, and adds those of clusters that join. */
  fleetChanged(now: FleetParts): void {
    if (!this.isPlural || this.isOver) return
    const { served } = this.options
    const { clusters, access, members } = now
    const kept = this.wanted.lists.filter(
      ({ list: { at } }) => clusters.get(at.cluster) === served.clusters.get(at.cluster),
    )
    const lists = listsIn(this.wanted, now) ?? kept
    Object.assign(served, { clusters, access, members })
    this.wanted = { ...this.wanted, served: { ...this.wanted.served, clusters, access, members } }
    const order = new Map(lists.map((one, at) => [nameOfList(one), at]))
    const stay = new Set(kept.filter((one) => order.has(nameOfList(one))))
    const known = new Set(Array.from(stay, nameOfList))
    const joining = lists.filter((one) => !known.has(nameOfList(one)))
    if (joining.length > 0 && this.#started === undefined) {
      this.wanted = this.#owner.rename(this, lists)
      this.#outdated()
      return
    }
    this.#adopt(
      this.#entries().filter(({ wanted }) => stay.has(wanted)),
      order,
    )
    this.#joining.begin(joining, (entries) => this.#adopt([...this.#entries(), ...entries], order))
  }

  requestsOf(lists: readonly WantedList[]): readonly AccessRequest[] {
    return this.#owner.requestsOf(this.options, lists, this.options.identity)
  }

  async begun(): Promise<void> {
    await this.#started
  }

  #entries(): readonly ListEntry[] {
    return this.wanted.lists.flatMap((wanted, at) => {
      const [access, request] = [this.groupAccess.lists[at], this.requests[at]]
      return access && request ? [{ wanted, access, request }] : []
    })
  }

  /** Follows these lists from now on. `order`: their order, by name. */
  #adopt(entries: readonly ListEntry[], order: ReadonlyMap<string, number>): void {
    const before = new Set(this.wanted.lists)
    if (entries.length === before.size && entries.every(({ wanted }) => before.has(wanted))) return
    const placeOf = ({ wanted }: ListEntry): number => order.get(nameOfList(wanted)) ?? 0
    const ordered = entries.toSorted((a, b) => placeOf(a) - placeOf(b))
    const added = ordered.filter(({ wanted }) => !before.has(wanted))
    const joined = this.#listsOf(
      added.map(({ wanted }) => wanted),
      new GroupAccess(added.map(({ access }) => access)),
    )
    const places = new Map(ordered.map(({ wanted }, at) => [wanted.list, at]))
    const gone = this.#lists.filter(({ list }) => !places.has(list))
    this.#lists = [...this.#lists, ...joined]
      .filter(({ list }) => places.has(list))
      .toSorted((a, b) => (places.get(a.list) ?? 0) - (places.get(b.list) ?? 0))
    this.groupAccess = new GroupAccess(ordered.map(({ access }) => access))
    this.requests = ordered.map(({ request }) => request)
    this.wanted = this.#owner.rename(
      this,
      ordered.map(({ wanted }) => wanted),
    )
    this.#token = undefined
    // A member gets rows of a new cluster once its access there is known to equal the others'.
    for (const membership of this.memberships) membership.followClusters()
    if (gone.length > 0) this.changes.remove(gone)
    if (joined.length > 0) this.changes.add(joined)
  }

  /** Finds another group for all members. */
  #outdated(): void {
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

  /** Ends all its subscriptions. Idempotent. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#leaving.abort()
    this.#joining.close()
    this.changes.close()
    this.frames.close()
    this.options.prepared[Symbol.dispose]()
    this.memberships.retire()
    this.#owner.ended(this)
    for (const member of this.#members) member.finish(end)
    this.#members.clear()
  }

  /** The contents of the group's resume tokens besides the positions. */
  get token(): Omit<ResumePosition, 'positions' | 'isAhead'> {
    const incarnations = this.lists.map((list) => list.incarnation)
    const text = incarnations.join(' ')
    if (this.#token?.text !== text) this.#token = { text, token: this.#tokenOf(incarnations) }
    return this.#token.token
  }

  #tokenOf(incarnations: readonly string[]): LiveGroup['token'] {
    const { wanted, groupAccess } = this
    const { onlyViewer } = this.options
    const access = [groupAccess.fingerprint, ...(onlyViewer ? [onlyViewer.identity] : [])].join(' ')
    const [first] = wanted.lists
    const [incarnation = ''] = incarnations
    if (first !== undefined && !wanted.isPlural) {
      const { list, at } = first.list
      return { cluster: at.cluster, incarnation, list, access }
    }
    return positionOfLists({
      lists: wanted.lists.map((one) => one.list.list),
      incarnations,
      access,
    })
  }

  /** Positions of the group as its tokens have them: with the numbers of the present lists. */
  #inToken(positions: Positions): Positions {
    return this.isPlural
      ? this.#renamed(positions, ({ prefix }, number) => [prefix, number])
      : positions
  }

  /** Positions of a token as the group has them. */
  positionsOf(token: Positions): Positions {
    return this.isPlural ? this.#renamed(token, ({ prefix }, number) => [number, prefix]) : token
  }

  #renamed(
    positions: Positions,
    names: (list: GroupList, number: string) => readonly [from: string, to: string],
  ): Positions {
    const numbers = new Map(this.wanted.lists.map(({ list }, at) => [list, positionPrefix(at)]))
    const prefixes = new Map(this.lists.map((one) => names(one, numbers.get(one.list) ?? '')))
    return Object.fromEntries(
      Object.entries(positions).flatMap(([name, position]) => {
        const end = name.indexOf(' ') + 1
        const prefix = prefixes.get(name.slice(0, end))
        return prefix === undefined ? [] : [[prefix + name.slice(end), position]]
      }),
    )
  }

  /** How rows were read since the last call, as JSON; `undefined` if frames carry no explanation. */
  #explanation(): string | undefined {
    const { wanted, served, onlyViewer: access } = this.options
    if (!wanted.explains) return undefined
    const report = this.#report
    this.#report = new ReadReport()
    const kinds = this.lists.flatMap(({ reading }) => reading.needs)
    return JSON.stringify(explain({ served, report, access, kinds }))
  }

  staleSince(): string | null {
    const reads = this.lists.flatMap(({ reading, list }) => [...reading.needs, ...list.needs])
    return staleSince(this.options.served, reads)
  }

  gaps(): readonly ListGap[] {
    const { wanted } = this
    const missing = this.#unreadable().map(({ list, error }) => {
      return { list, gap: { gap: gapOfError(this.options.served, list.at, error), error } }
    })
    const held = this.lists.map(({ list, gap }) => ({ list, gap }))
    const all = [...missing, ...held].flatMap(({ list, gap }) => (gap ? [{ list, gap }] : []))
    if (wanted.problems === undefined) return all.map(({ gap }) => gap)
    const told = new Set<string>()
    const refused: string[] = []
    const gaps = all.flatMap(({ list: { at, problems }, gap: { gap, error } }): ListGap[] => {
      // The viewer need not be allowed to list what the arguments do not name.
      if (gap.code === 'FORBIDDEN' && problems?.isNamed !== true) {
        refused.push(at.cluster)
        return []
      }
      const name = `${at.cluster} ${gap.code}`
      const isAsked = problems?.isNamed === true || problems?.isOver === true
      if (error === undefined || !isAsked || told.has(name)) return [{ gap }]
      told.add(name)
      return [{ gap, error }]
    })
    const read = this.lists.flatMap(({ at, isFollowing }) => (isFollowing ? [at] : []))
    const others = gaps.map(({ gap }) => gap)
    return [...gaps, ...closedGaps(refused, read, others).map((gap) => ({ gap }))]
  }

  /** The lists that the members may not read, or not yet. */
  #unreadable(): readonly { readonly list: FollowedList; readonly error: ClientError }[] {
    const refused = this.wanted.lists.flatMap(({ list }, at) => {
      const error = this.groupAccess.lists[at]
      return error instanceof ClientError ? [{ list, error }] : []
    })
    return [...refused, ...this.#joining.waiting]
  }

  #lookedAt(): Pick<FrameParts, 'lookedAt' | 'notLookedAt'> {
    const { wanted } = this
    if (wanted.problems === undefined) return { lookedAt: [], notLookedAt: [] }
    const lists = (): readonly GroupList[] => this.lists
    const unreadable = (): readonly FollowedList[] => this.#unreadable().map(({ list }) => list)
    // Most frames are written without them.
    return {
      get lookedAt() {
        return countedTypes(lists().flatMap(({ isFollowing, list }) => (isFollowing ? [list] : [])))
      },
      get notLookedAt() {
        const missing = lists().filter(
          ({ isFollowing, gap }) => !isFollowing && gap?.gap.code !== 'NOT_SERVED',
        )
        return countedTypes([...unreadable(), ...missing.map(({ list }) => list)])
      },
    }
  }

  flush(): Promise<void> {
    return this.changes.flush()
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

/** The lists after a change of the fleet; `undefined` if the arguments name a cluster that is gone. */
function listsIn(
  { listsIn: listsOf }: WantedGroup,
  now: FleetParts,
): readonly WantedList[] | undefined {
  try {
    return listsOf(now)
  } catch (error) {
    if (error instanceof CodedError) return undefined
    throw error
  }
}

/** The types of the lists whose objects count as problems. */
function countedTypes(lists: readonly FollowedList[]): readonly string[] {
  const counted = lists.filter(({ problems }) => problems?.counts === true)
  return [...new Set(counted.map(({ at }) => at.kind.typeName))].toSorted()
}
