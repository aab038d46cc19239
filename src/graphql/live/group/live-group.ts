/*
 * The life of a group. It starts for its first subscriber, reads the rows of its lists and follows their changes
 * (`GroupChanges`, which writes them to the ring of `GroupFrames`). Subscribers join it as `GroupMembers`. When the
 * permissions of a viewer change so that they differ from the group's, the viewer's members leave for another group. If
 * the group turns out to read too little, all members leave it. When the fleet changes, lists of clusters come and go: a
 * list that joins is an entry without access first, and is followed once that access is known. The group ends with its
 * last member, with a failure, or when its schema or kind is gone.
 */

import type { DocumentNode } from 'graphql'
import { CodedError } from '../../../lib/coded-error.ts'
import type { FairSlots } from '../../../lib/concurrency.ts'
import type { StreamEnd } from '../../../lib/frame-stream.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { type HeldBytes, NoRoomError } from '../../prepare/user-shares.ts'
import { notLoaded } from '../../prepare/preparation.ts'
import { ViewerAccess } from '../../prepare/viewer-access.ts'
import type { FleetParts, WantedList } from '../frame-plan.ts'
import type { LiveCounts, LiveLimits } from '../live-limits.ts'
import type { OpenSubscription } from '../open-subscriptions.ts'
import {
  type GroupAccess,
  isPassing,
  ListAccess,
  loadedAccess,
  neededBy,
  type SeenList,
  sharedAccess,
  type WantedGroup,
} from './group-access.ts'
import { type ChangingGroup, GroupChanges } from './group-changes.ts'
import { type GroupEntry, GroupState } from './group-frames.ts'
import { type GroupContent, GroupList } from './group-list.ts'
import {
  type DiscoveredReads,
  GroupReading,
  type GroupReadingOptions,
  MissingKindError,
} from './group-reading.ts'
import { GroupFacets, GroupProblems } from './group-reread.ts'
import { GroupRows } from './group-rows.ts'
import {
  GroupMembers,
  type LeavingMembers,
  type GroupMember,
  type ViewerMembership,
} from './group-members.ts'

export interface GroupOwner {
  readonly held: HeldBytes
  /** The groups that start at the same time. */
  readonly starts: FairSlots
  /** Moves the remaining members to another group. Rejects if no group can take them. */
  regroup(group: LiveGroup, leaving: LeavingMembers): Promise<void>
  forget(group: LiveGroup): void
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

/**
 * All subscribers with the same operation and the same access. They share the listeners of all lists, one set of rows,
 * and one text per object and per frame.
 */
export class LiveGroup implements ChangingGroup, OpenSubscription {
  readonly options: LiveGroupOptions
  /** Like {@link LiveGroupOptions.key}, for the present clusters. */
  key: string
  readonly state: GroupState
  readonly content: GroupContent
  readonly members: GroupMembers
  readonly changes: GroupChanges
  readonly #owner: GroupOwner
  readonly #leaving = new AbortController()
  /** Aborted when other lists join instead. */
  #joining = new AbortController()
  #started: Promise<void> | undefined
  #end: StreamEnd | undefined

  constructor(options: LiveGroupOptions) {
    const { page, facets, problems } = options.wanted
    this.options = options
    this.key = options.key
    this.#owner = options.owner
    this.state = new GroupState(options, this.#leaving.signal)
    if (facets !== undefined) this.content = new GroupFacets(this.state, facets)
    else if (problems === undefined) this.content = new GroupRows(page)
    else this.content = new GroupProblems(this.state, problems, () => this.changes.flushSoon())
    this.members = new GroupMembers(this, options, options.owner.held)
    this.state.entries = options.groupAccess.lists.map((seen) => this.#entryOf(seen))
    this.content.follow(this.state.lists)
    this.changes = new GroupChanges(this)
  }

  #entryOf(seen: SeenList): GroupEntry {
    const { access } = seen
    const { wanted } = seen.request
    const { plan, list } = wanted
    const { served, discovered } = this.options
    if (!(access instanceof ListAccess)) return { wanted, seen, list: undefined, error: access }
    const ofKind = discovered.of(list.at.kind)
    const reading = new GroupReading({
      ...this.options,
      list,
      listAccess: access,
      leadsBack: plan.leadsBack || ofKind.leadsBack,
      names: this.members.decisions(ofKind),
      report: () => this.state.report,
    })
    const entry = { wanted, seen, error: undefined }
    if (reading.isNowhere) return { ...entry, list: undefined }
    const cache = served.clusters.get(list.at.cluster)
    const { content } = this
    const followed = new GroupList({ content, served, list, plan, cache, access, reading })
    return { ...entry, list: followed }
  }

  /** Reads the current objects and follows their changes. Rejects with the error that prevents this. */
  start(): Promise<void> {
    this.#started ??= this.#owner.starts.run(
      this.options.wanted.viewer?.username ?? '',
      async () => {
        if (this.#end !== undefined) return
        try {
          await this.changes.start()
        } catch (error) {
          if (error instanceof MissingKindError) this.#learn(error)
          this.end({ form: 'failed', errors: [error] })
          throw error
        }
      },
    )
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

  /** Whether it writes no more frames: it has ended, or its members are moving to another group. */
  get isOver(): boolean {
    return this.#leaving.signal.aborted
  }

  /** The error that ended the group, if it would end any other group, too: lack of room, or the schema. */
  get problem(): ClientError | undefined {
    if (this.#end?.form !== 'failed') return undefined
    return this.#end.errors
      .filter((error) => error instanceof ClientError)
      .find((error) => error instanceof NoRoomError || error.code === 'SCHEMA_CHANGED')
  }

  /** Takes members of another group. They start again with a snapshot. */
  takeOver(members: ReadonlySet<GroupMember>, membership: ViewerMembership | undefined): void {
    for (const member of members) {
      if (member.isClosed) continue
      member.move(this.members, membership)
      this.members.join(member)
    }
    this.members.announce()
    this.members.hold()
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
    const behind = [...this.members].filter(({ isBehind }) => isBehind)
    try {
      await this.changes.rewrite()
    } catch (error) {
      this.failed(error)
    }
    if (this.isOver) return false
    this.members.frames.renewSnapshot()
    for (const member of behind) if (!member.isClosed) member.beginAnew()
    return true
  }

  /** Follows a change of the fleet: removes the rows of clusters that have left, and adds rows of clusters that join. */
  fleetChanged(now: FleetParts): void {
    const { state } = this
    if (!state.isOptional || this.isOver) return
    const { served, wanted } = state
    const { clusters, access, members } = now
    const isKept = ({ wanted: { list } }: GroupEntry): boolean =>
      clusters.get(list.at.cluster) === served.clusters.get(list.at.cluster)
    const kept = state.entries.filter((one) => one.seen === undefined || isKept(one))
    let lists: readonly WantedList[] = state.settled.filter(isKept).map((one) => one.wanted)
    try {
      lists = wanted.listsIn(now)
    } catch (error) {
      // The arguments name a cluster that is gone.
      if (!(error instanceof CodedError)) throw error
    }
    Object.assign(served, { clusters, access, members })
    state.wanted = { ...wanted, served: { ...wanted.served, clusters, access, members } }
    const known = new Map(kept.map((one) => [nameOfList(one.wanted), one]))
    const entries = lists.map((one): GroupEntry => {
      const found = known.get(nameOfList(one))
      if (found?.seen !== undefined) return found
      return { wanted: one, seen: undefined, list: undefined, error: found?.error }
    })
    const joining = entries.flatMap((one) => (one.seen === undefined ? one.wanted : []))
    if (joining.length > 0 && this.#started === undefined) {
      state.wanted = this.#owner.rename(this, lists)
      this.#outdated()
      return
    }
    this.#adopt(entries)
    this.#joining.abort()
    this.#joining = new AbortController()
    for (const ofCluster of Map.groupBy(joining, ({ list }) => list.at.cluster).values()) {
      void this.#join(ofCluster, this.#joining.signal).catch((error: unknown) => this.failed(error))
    }
  }

  /** Waits until the members' access to the lists of a joining cluster is known. Then the group takes these lists. */
  async #join(lists: readonly WantedList[], signal: AbortSignal): Promise<void> {
    const { state, options, changes } = this
    const { isViewed, prepared, wanted } = options
    await this.#started
    const requests = options.discovered.requestsOf(lists, options)
    const resolve = (): Promise<GroupAccess> => {
      const { viewer } = wanted
      const members = Array.from(this.members.memberships, ({ access }) => access)
      const first = viewer && new ViewerAccess(state.served, viewer)
      const viewers = members.length > 0 ? members : [first]
      for (const access of viewers) access?.begin()
      return sharedAccess(viewers, requests)
    }
    // If it takes longer, frames report these lists as gaps.
    for (const one of lists) this.#waits(one, notLoaded(one.list.at))
    const known = await changes.retried(signal, false, async () => {
      const { lists: seen } = await loadedAccess(prepared, isViewed, resolve)
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
    const joined = new Map(known.map((one) => [nameOfList(one.request.wanted), one]))
    this.#adopt(
      state.entries.map((entry) => {
        const seen = joined.get(nameOfList(entry.wanted))
        return seen === undefined ? entry : this.#entryOf(seen)
      }),
    )
  }

  /** Records why a list that joins is not there yet. */
  #waits({ list }: WantedList, error: ClientError | undefined): void {
    const { state } = this
    state.entries = state.entries.map((one) =>
      one.seen === undefined && one.wanted.list === list ? { ...one, error } : one,
    )
  }

  /** Takes the entries after a change of the fleet: the lists of gone clusters end, and others begin. */
  #adopt(entries: readonly GroupEntry[]): void {
    const { state, changes } = this
    const { settled: before, lists: listsBefore } = state
    state.entries = entries
    const { settled, lists } = state
    if (settled.length === before.length && settled.every((one) => before.includes(one))) return
    state.wanted = this.#owner.rename(
      this,
      settled.map(({ wanted }) => wanted),
    )
    // A member gets rows of a new cluster once its access there is known to equal the group's.
    for (const membership of this.members.memberships) membership.followClusters()
    const gone = listsBefore.filter((list) => !lists.includes(list))
    const joined = lists.filter((list) => !listsBefore.includes(list))
    if (gone.length > 0) changes.remove(gone)
    if (joined.length > 0) changes.add(joined)
  }

  #outdated(): void {
    if (this.isOver) return
    this.#leaving.abort()
    this.#joining.abort()
    this.#owner.forget(this)
    const withViewer = [...this.members.memberships]
    const others = new Set(this.members)
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
    this.options.prepared[Symbol.dispose]()
    this.#owner.ended(this)
    this.members.finish(end)
  }
}

function nameOfList({ list: { at } }: WantedList): string {
  return JSON.stringify([at.cluster, at.kind.typeName])
}
