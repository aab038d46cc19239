/*
 * Which group a subscription joins. Its lists and its viewer's access make a key, and the
 * group of this key takes it, or a new one (`#groupFor`). A group that reads too little, or is over, makes the search
 * begin again, with the reads that it lacked (`#placed`). Members whose access has changed come here again (`regroup`). A
 * group whose clusters have changed gets another key (`rename`).
 */

import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { FairSlots } from '../../lib/concurrency.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { ClientError } from '../errors/client-error.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import { HeldBytes } from '../prepare/user-shares.ts'
import { KindLeases } from '../prepare/kind-leases.ts'
import { PermissionWait } from '../prepare/preparation.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import type { ResumePosition } from '../reads/resume-token.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import type { FramePlan, WantedList } from './frame-plan.ts'
import {
  type GroupAccess,
  type Joining,
  loadedAccess,
  placeOf,
  resolveGroupAccess,
  type WantedGroup,
} from './group/group-access.ts'
import type { CatchUpFrames } from './group/group-frames.ts'
import { GroupMember, type LeavingMembers, type ViewerMembership } from './group/group-members.ts'
import {
  DiscoveredReads,
  type GroupReadingOptions,
  MissingKindError,
} from './group/group-reading.ts'
import { type GroupOwner, LiveGroup, type LiveGroupOptions } from './group/live-group.ts'
import type { LiveCounts, LiveLimits, LiveState } from './live-limits.ts'
import type { OpenSubscriptions } from './open-subscriptions.ts'
import { resumed } from './resumption.ts'

export interface LiveGroupsOptions {
  readonly limits: OperationLimits
  readonly live: LiveLimits
  readonly fragments: FragmentCache
  readonly subscriptions: OpenSubscriptions
  readonly counts: LiveCounts
  readonly unexpected: GroupReadingOptions['unexpected']
}

interface Placing<T> {
  readonly wanted: WantedGroup
  readonly access: ViewerAccess | undefined
  /** The position of a member that resumes. */
  readonly resumeFrom?: ResumePosition | undefined
  readonly leaving?: LiveGroup
  /** Adds the members to the group. Called in a tick in which the group takes members. */
  readonly place: (
    group: LiveGroup,
    membership: ViewerMembership | undefined,
    catchUp: CatchUpFrames | undefined,
  ) => T
}

/** Attempts to find a group: each group may turn out to lack a kind that only its rows refer to. */
const maxAttempts = 60
/** Groups that start at the same time. Others wait, so that a change of permissions does not start hundreds at once. */
const maxStarting = 8

/** The groups of subscribers: one for each plan, variables, access and frame interval. */
export class LiveGroups implements GroupOwner {
  readonly held: HeldBytes
  readonly starts: FairSlots = new FairSlots({
    most: maxStarting,
    mostWaiting: Infinity,
    maxWaitMs: Infinity,
  })
  readonly #options: LiveGroupsOptions
  /** The groups that take members, by key. */
  readonly #groups = new Map<string, LiveGroup>()
  /** By operation, as long as the operation has groups or new members. */
  readonly #discovered = new Map<string, DiscoveredReads>()
  readonly #numbers = new WeakMap<FramePlan | ClusterCache, number>()
  #numbered = 0

  constructor(options: LiveGroupsOptions) {
    this.#options = options
    this.held = new HeldBytes(options.live)
  }

  async join(joining: Joining): Promise<GroupMember> {
    const { served, viewer, resumeFrom } = joining
    const { counts } = this.#options
    const access = viewer && new ViewerAccess(served, viewer)
    return this.#placed({
      wanted: { ...joining, operation: this.#operationOf(joining) },
      access,
      resumeFrom,
      place: (group, membership, catchUp) => {
        for (const { at, reading } of group.state.lists) {
          if (at.isOptional !== true) reading.requireCovered()
        }
        // Members share a snapshot, but not the frames of a resumption.
        const problem = catchUp && this.held.hold(group.members, catchUp.bytes, viewer?.username)
        const begun = problem === undefined ? catchUp : undefined
        if (begun !== undefined) counts.resumed += 1
        else if (resumeFrom !== undefined) counts.notResumed += 1
        const { members } = group
        const member = new GroupMember(members, begun ?? members.frames.snapshot(), membership)
        members.join(member)
        return member
      },
    })
  }

  state(): LiveState {
    const groups = [...this.#groups.values()]
    return {
      ...this.#options.counts,
      groups: groups.length,
      members: groups.reduce((sum, { members }) => sum + members.size, 0),
      heldBytes: this.held.bytes,
    }
  }

  async regroup(leaving: LiveGroup, { access, members }: LeavingMembers): Promise<void> {
    if (members.size === 0) return
    const { wanted } = leaving.state
    await this.#placed({
      wanted,
      access: access && new ViewerAccess(wanted.served, access.viewer),
      leaving,
      place(group, membership) {
        if (group !== leaving) group.takeOver(members, membership)
        return group
      },
    })
  }

  forget(group: LiveGroup): void {
    if (this.#groups.get(group.key) === group) this.#groups.delete(group.key)
  }

  ended(group: LiveGroup): void {
    const { discovered } = group.options
    this.#options.subscriptions.remove(group)
    this.held.release(group.members)
    this.forget(group)
    this.#unused(discovered)
  }

  rename(group: LiveGroup, lists: readonly WantedList[]): WantedGroup {
    const { discovered } = group.options
    const asked = { ...group.state.wanted, lists }
    const wanted = { ...asked, operation: this.#operationOf(asked) }
    if (group.isOver) return wanted
    this.forget(group)
    group.key = this.#keyOf({ ...group.options, wanted, groupAccess: group.state.access })
    if (!this.#groups.has(group.key)) this.#groups.set(group.key, group)
    if (!this.#discovered.has(wanted.operation)) this.#use(wanted, discovered)
    return wanted
  }

  async #placed<T>(placing: Placing<T>): Promise<T> {
    const { wanted } = placing
    // Keeps the discovered kinds for the next attempt, even if the group ends in between.
    const discovered = this.#discovered.get(wanted.operation) ?? new DiscoveredReads()
    this.#use(wanted, discovered)
    discovered.users += 1
    const permissions = new PermissionWait(this.#options.limits.operationDeadlineMs)
    try {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const placed = await this.#placedOnce(placing, discovered, permissions)
        if (placed !== undefined) return placed
      }
    } finally {
      this.#unused(discovered)
    }
    throw new ClientError('NOT_SYNCED', 'the rows keep leading to further kinds', {
      ...placeOf(wanted),
      retryAfterMs: 1_000,
    })
  }

  /** `undefined`: the group cannot take the members, but another one may. */
  async #placedOnce<T>(
    { wanted, access, resumeFrom, leaving, place }: Placing<T>,
    discovered: DiscoveredReads,
    permissions: PermissionWait,
  ): Promise<T | undefined> {
    const group = await this.#groupFor(wanted, access, discovered)
    if (group === leaving) {
      // The viewer's access equals the group's again. The membership reopens after its own check.
      const isOfViewer = ({ access: of }: ViewerMembership): boolean =>
        of.identity === access?.identity
      ;[...group.members.memberships].find(isOfViewer)?.recheck()
      return place(group, undefined, undefined)
    }
    const joined = group.members.expect()
    const membership = access && group.members.membershipOf(access)
    try {
      await group.start()
      const resumes = resumeFrom !== undefined && !group.isOver
      const catchUp = resumes ? await resumed(group, resumeFrom) : undefined
      await membership?.ready(this.#options.limits.syncDeadlineMs)
      if (group.problem !== undefined) throw group.problem
      if (group.isOver) return undefined
      if (membership?.isOpen === false) {
        if (!permissions.isOver()) return undefined
        const { cluster } = placeOf(wanted)
        const message = 'the permissions could not be reviewed in time'
        throw new ClientError('CLUSTER_UNREACHABLE', message, { cluster, retryAfterMs: 1_000 })
      }
      return place(group, membership, catchUp)
    } catch (error) {
      if (error instanceof MissingKindError) return undefined
      throw error
    } finally {
      joined()
      if (membership !== undefined) group.members.drop(membership)
    }
  }

  /** The group with this operation and this access, created if there is none. Rejects if the viewer may see nothing. */
  async #groupFor(
    wanted: WantedGroup,
    access: ViewerAccess | undefined,
    discovered: DiscoveredReads,
  ): Promise<LiveGroup> {
    const { lists, explains } = wanted
    const { syncDeadlineMs, silenceMs } = this.#options.limits
    const isViewed = access !== undefined
    // The clusters of the group change in place.
    const served = { ...wanted.served }
    const prepared = new KindLeases({ served, syncDeadlineMs, silenceMs, isViewed })
    const identity = access?.identity
    const { limits } = this.#options
    const requests = discovered.requestsOf(lists, { wanted, identity, limits })
    let isHandedOver = false
    try {
      access?.begin()
      const resolve = (): Promise<GroupAccess> => resolveGroupAccess(access, requests)
      const groupAccess = await loadedAccess(prepared, isViewed, resolve)
      await prepared.prepare(groupAccess.visible)
      const dependsOnViewer =
        explains ||
        discovered.needsViewer ||
        [wanted, ...lists].some(({ plan }) => plan.needsViewer) ||
        requests.some(({ named }) => named.size > 0)
      const onlyViewer =
        dependsOnViewer && access !== undefined
          ? new ViewerAccess(served, access.viewer)
          : undefined
      const viewing = { served, groupAccess, prepared, isViewed, identity, onlyViewer }
      const key = this.#keyOf({ ...viewing, wanted, discovered })
      const known = this.#groups.get(key)
      if (known !== undefined) return known
      isHandedOver = true
      const owned = { ...this.#options, owner: this, key, wanted, discovered }
      const group = new LiveGroup({ ...owned, ...viewing })
      discovered.users += 1
      this.#groups.set(key, group)
      const { subscriptions } = this.#options
      subscriptions.record(group, served)
      // May end the group.
      subscriptions.add(group)
      return group
    } finally {
      if (!isHandedOver) prepared[Symbol.dispose]()
    }
  }

  /** A text that is equal for subscriptions with the same plans, variables and clusters. */
  #operationOf({ asked, plan: frames, lists }: Pick<Joining, 'asked' | 'plan' | 'lists'>): string {
    const parts = lists.map(({ plan, list }) => [this.#numberOf(plan), list.at.cluster])
    return JSON.stringify([asked, this.#numberOf(frames), ...parts])
  }

  #numberOf(one: FramePlan | ClusterCache): number {
    return getOrInsert(this.#numbers, one, () => (this.#numbered += 1))
  }

  /** Equal for subscribers who share a group. */
  #keyOf({
    wanted,
    served: { clusters },
    isViewed,
    groupAccess,
    onlyViewer,
    discovered,
    identity,
  }: Pick<
    LiveGroupOptions,
    'wanted' | 'served' | 'isViewed' | 'groupAccess' | 'onlyViewer' | 'discovered' | 'identity'
  >): string {
    const caches = wanted.lists.map(({ list }) => clusters.get(list.at.cluster))
    return JSON.stringify([
      wanted.operation,
      caches.map((cache) => cache && [this.#numberOf(cache), cache.incarnation]),
      isViewed,
      groupAccess.fingerprint,
      onlyViewer?.identity,
      discovered.textFor(identity),
      wanted.coalesceMs,
      wanted.explains,
    ])
  }

  #use({ operation }: WantedGroup, discovered: DiscoveredReads): void {
    this.#discovered.set(operation, discovered)
    discovered.operations.add(operation)
  }

  #unused(discovered: DiscoveredReads): void {
    discovered.users -= 1
    if (discovered.users > 0) return
    for (const operation of discovered.operations) this.#discovered.delete(operation)
  }
}
