import { LRUCache } from 'lru-cache'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import { checkedCoalesceMs } from './followed-list.ts'
import { KindLeases } from '../prepare/kind-leases.ts'
import type { OpenSubscription, OpenSubscriptions } from './open-subscriptions.ts'
import { decodeResumeToken, type ResumePosition } from '../reads/resume-token.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import type { ListSubscriptionArguments } from '../schema/read-arguments.ts'
import type { FramePlan } from './frame-plan.ts'
import {
  type AccessRequest,
  type GroupAccess,
  MissingKindError,
  type MissingRead,
  resolveGroupAccess,
} from './group-access.ts'
import { GroupMember, type Resumption } from './group-member.ts'
import type { GroupReadingOptions } from './group-reading.ts'
import { HeldBytes, type NoRoomError } from './held-bytes.ts'
import { type GroupHost, type LeavingMembers, LiveGroup } from './live-group.ts'
import type { LiveCounts, LiveLimits, LiveState } from './live-limits.ts'
import type { ViewerMembership } from './viewer-membership.ts'
import {
  DiscoveredKinds,
  followedBy,
  type Joining,
  neededBy,
  type WantedGroup,
} from './wanted-group.ts'

export interface LiveGroupsOptions {
  readonly limits: OperationLimits
  readonly live: LiveLimits
  readonly fragments: FragmentCache
  /** The registry of open subscriptions. */
  readonly subscriptions: OpenSubscriptions
  readonly counts: LiveCounts
  /** Receives errors that clients see masked. */
  readonly unexpected: GroupReadingOptions['unexpected']
}

/** A group and the inputs it was made from. */
interface KnownGroup {
  readonly key: string
  readonly group: LiveGroup
  readonly started: Promise<void>
  readonly wanted: WantedGroup
  readonly request: AccessRequest
  readonly discovered: DiscoveredKinds
  /** Removes the group from the open subscriptions. */
  readonly closed: () => void
}

/** Uses the group that an attempt has found. Returns `undefined` to ask for another attempt. */
type Place<T> = (
  group: LiveGroup,
  membership: ViewerMembership | undefined,
  resumption: Resumption | undefined,
) => T | undefined

/** Attempts to find a group: each group may turn out to lack a kind that only its rows refer to. */
const maxAttempts = 60
/** Groups that start at the same time. Others wait, so that a change of permissions does not start hundreds at once. */
const maxStarting = 8

/** The groups of subscribers: one for each plan, variables, access and frame interval. */
export class LiveGroups implements GroupHost {
  readonly counts: LiveCounts
  readonly #options: LiveGroupsOptions
  readonly #byKey = new Map<string, KnownGroup>()
  readonly #known = new Map<LiveGroup, KnownGroup>()
  readonly #held: HeldBytes
  readonly #starts = new Slots(maxStarting)
  readonly #planNumbers = new WeakMap<FramePlan, number>()
  /** The discovered kinds of an operation, kept while it has a group. */
  readonly #discovered = new LRUCache<string, DiscoveredKinds>({ max: 1_000 })
  /** The kinds of which viewers may see single objects by name, by operation and viewer. */
  readonly #named = new LRUCache<string, Set<Kind>>({ max: 10_000 })
  #plans = 0

  constructor(options: LiveGroupsOptions) {
    this.#options = options
    this.counts = options.counts
    this.#held = new HeldBytes(options.live)
  }

  /** Adds a member. Rejects with the error for the subscriber. */
  async join(joining: Joining): Promise<GroupMember> {
    const { served, plan, variables, viewer } = joining
    const { limits, counts } = this.#options
    const args = plan.args.coerce(variables) as ListSubscriptionArguments
    const list = followedBy(joining, args, limits.maxPageSize)
    const coalesceMs = checkedCoalesceMs(args.coalesceMs) ?? limits.coalesceMs
    const { resumeFrom = null } = args
    const from = resumeFrom === null ? undefined : decodeResumeToken(resumeFrom)
    const access = viewer && new ViewerAccess(served, viewer)
    const wanted = { ...joining, list, coalesceMs }
    const place: Place<GroupMember> = (group, membership, resumption) => {
      // Members share a snapshot, but not these frames.
      const problem = resumption && this.#held.hold(group, resumption.bytes, viewer?.username)
      const begun = problem === undefined ? resumption : undefined
      if (begun !== undefined) counts.resumed += 1
      else if (from !== undefined) counts.notResumed += 1
      const member = new GroupMember(group, begun ?? group.snapshot(), membership)
      group.join(member, membership)
      return member
    }
    return this.#placed(wanted, access, place, from)
  }

  /** The current state. */
  state(): LiveState {
    const groups = [...this.#byKey.values()]
    return {
      ...this.counts,
      groups: groups.length,
      members: groups.reduce((sum, { group }) => sum + group.members, 0),
      heldBytes: this.#held.bytes,
    }
  }

  hold(group: LiveGroup, moreBytes?: number): NoRoomError | undefined {
    return this.#held.hold(group, moreBytes)
  }

  async resolve(group: LiveGroup, access: ViewerAccess): Promise<GroupAccess> {
    return resolveGroupAccess(access, this.#of(group).request)
  }

  learn(group: LiveGroup, missing: readonly MissingRead[]): void {
    const { wanted, discovered } = this.#of(group)
    for (const one of missing) {
      discovered.add(one)
      const { viewer } = wanted
      if (one.form !== 'name' || viewer === undefined) continue
      this.nameKinds(group, new ViewerAccess(wanted.served, viewer), [one.at.kind])
    }
  }

  nameKinds(group: LiveGroup, { identity }: ViewerAccess, kinds: Iterable<Kind>): void {
    const name = namedKey(this.#askedBy(this.#of(group).wanted), identity)
    const known = this.#named.get(name) ?? []
    this.#named.set(name, new Set([...known, ...kinds]))
  }

  async regroup(from: LiveGroup, { access, members }: LeavingMembers): Promise<void> {
    if (members.size === 0) return
    const { wanted } = this.#of(from)
    await this.#placed(
      wanted,
      access,
      (group, membership) => {
        if (group !== from) group.takeOver(members, membership)
        return true
      },
      undefined,
      from,
    )
  }

  forget(group: LiveGroup): void {
    const { key } = this.#of(group)
    if (this.#byKey.get(key)?.group === group) this.#byKey.delete(key)
  }

  ended(group: LiveGroup): void {
    const { wanted, discovered, closed } = this.#of(group)
    closed()
    this.#held.release(group)
    this.forget(group)
    this.#known.delete(group)
    this.#unused(wanted, discovered)
  }

  #of(group: LiveGroup): KnownGroup {
    const known = this.#known.get(group)
    if (known === undefined) throw new TypeError('the group is over')
    return known
  }

  /** Finds the wanted group and calls `place` in a tick in which the group takes members. */
  async #placed<T>(
    wanted: WantedGroup,
    access: ViewerAccess | undefined,
    place: Place<T>,
    resumeFrom?: ResumePosition,
    leaving?: LiveGroup,
  ): Promise<T> {
    // Keeps the discovered kinds for the next attempt, even if the group ends in between.
    const discovered = this.#discoveredOf(wanted)
    discovered.users += 1
    try {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        // oxlint-disable-next-line no-await-in-loop -- a group may end while it is waited for
        const placed = await this.#placedOnce(wanted, access, place, resumeFrom, leaving)
        if (placed !== undefined) return placed
      }
    } finally {
      this.#unused(wanted, discovered)
    }
    const { cluster } = wanted.list.at
    throw new ClientError('NOT_SYNCED', 'the rows keep leading to further kinds', {
      cluster,
      kind: wanted.plan.kind.typeName,
      retryAfterMs: 1_000,
    })
  }

  async #placedOnce<T>(
    wanted: WantedGroup,
    access: ViewerAccess | undefined,
    place: Place<T>,
    resumeFrom: ResumePosition | undefined,
    leaving: LiveGroup | undefined,
  ): Promise<T | undefined> {
    const { group, started } = await this.#groupFor(wanted, access)
    if (group === leaving) {
      // The viewer's access equals the group's again. The membership reopens after its own check.
      if (access !== undefined) group.membershipOf(access).recheck()
      return place(group, undefined, undefined)
    }
    const joined = group.expect()
    const membership = access && group.membershipOf(access)
    try {
      await started
      const resumption = resumeFrom === undefined ? undefined : await group.resume(resumeFrom)
      await membership?.ready(this.#options.limits.syncDeadlineMs)
      if (group.problem !== undefined) throw group.problem
      if (group.isOver || membership?.isOpen === false) return undefined
      return place(group, membership, resumption)
    } catch (error) {
      if (error instanceof MissingKindError) return undefined
      throw error
    } finally {
      joined()
      if (membership !== undefined) group.dropMembership(membership)
    }
  }

  /** The group with this operation and this access, started if there is none. Rejects if the viewer may see nothing. */
  async #groupFor(wanted: WantedGroup, access: ViewerAccess | undefined): Promise<KnownGroup> {
    const { served, plan, explains } = wanted
    const { syncDeadlineMs, operationDeadlineMs: deadlineMs } = this.#options.limits
    const isViewed = access !== undefined
    const prepared = new KindLeases({ served, syncDeadlineMs, isViewed })
    const discovered = this.#discoveredOf(wanted)
    const asked = this.#askedBy(wanted)
    const named = this.#named.get(namedKey(asked, access?.identity ?? '')) ?? noKinds
    const needs = neededBy(wanted, discovered.further)
    const wide = new Set(discovered.wide)
    const request = { list: wanted.list, needs, wide, named, deadlineMs }
    let isHandedOver = false
    try {
      access?.begin()
      let groupAccess = await resolveGroupAccess(access, request)
      await prepared.prepare(groupAccess.visible)
      // The namespaces that have objects are known now, so the review is limited to them.
      if (access !== undefined) {
        groupAccess = await resolveGroupAccess(access, request)
        await prepared.prepare(groupAccess.visible)
      }
      const dependsOnViewer =
        plan.needsViewer || discovered.needsViewer || named.size > 0 || explains
      const onlyViewer = dependsOnViewer ? access : undefined
      const key = JSON.stringify([
        asked,
        served.clusters.get(wanted.list.at.cluster)?.incarnation,
        isViewed,
        groupAccess.fingerprint,
        onlyViewer?.identity,
        Array.from(named, ({ typeName }) => typeName),
        discovered.text,
        wanted.coalesceMs,
        explains,
      ])
      const known = this.#byKey.get(key)
      if (known !== undefined) return known
      isHandedOver = true
      return this.#start(
        { key, wanted, request, discovered },
        {
          groupAccess,
          prepared,
          isViewed,
          onlyViewer,
        },
      )
    } finally {
      if (!isHandedOver) prepared[Symbol.dispose]()
    }
  }

  #start(
    from: Pick<KnownGroup, 'key' | 'wanted' | 'request' | 'discovered'>,
    reading: Pick<GroupReadingOptions, 'groupAccess' | 'prepared' | 'isViewed' | 'onlyViewer'>,
  ): KnownGroup {
    const { wanted, discovered } = from
    const { served, document, supporting, plan, list, variables, viewer } = wanted
    const { limits, live, fragments, subscriptions, unexpected } = this.#options
    const open: OpenSubscription = {
      served,
      document,
      supporting,
      kinds: neededBy(wanted, []),
      end: (error) => group.end({ form: 'failed', errors: [error] }),
    }
    const group: LiveGroup = new LiveGroup({
      ...reading,
      host: this,
      plan,
      list,
      variables,
      coalesceMs: wanted.coalesceMs,
      explains: wanted.explains,
      served: subscriptions.reading(open),
      limits,
      fragments,
      unexpected,
      ring: live,
      leadsBack: plan.leadsBack || discovered.leadsBack,
      further: new Set(discovered.further.map(({ kind }) => kind)),
      user: viewer?.username,
    })
    discovered.users += 1
    this.#discovered.set(this.#askedBy(wanted), discovered)
    const started = Promise.withResolvers<void>()
    const known = { ...from, group, started: started.promise, closed: subscriptions.add(open) }
    this.#byKey.set(from.key, known)
    this.#known.set(group, known)
    // Waiting callers get the error. This avoids an unhandled rejection without them.
    started.promise.catch(() => {})
    started.resolve(this.#starts.run(() => group.start()))
    return known
  }

  #askedBy({ plan, list, asked }: WantedGroup): string {
    let number = this.#planNumbers.get(plan)
    if (number === undefined) this.#planNumbers.set(plan, (number = this.#plans += 1))
    return JSON.stringify([number, list.at.cluster, asked])
  }

  #discoveredOf(wanted: WantedGroup): DiscoveredKinds {
    const asked = this.#askedBy(wanted)
    let discovered = this.#discovered.get(asked)
    if (discovered === undefined) this.#discovered.set(asked, (discovered = new DiscoveredKinds()))
    return discovered
  }

  #unused(wanted: WantedGroup, discovered: DiscoveredKinds): void {
    discovered.users -= 1
    const asked = this.#askedBy(wanted)
    if (discovered.users === 0 && this.#discovered.get(asked) === discovered) {
      this.#discovered.delete(asked)
    }
  }
}

const noKinds: ReadonlySet<Kind> = new Set()

function namedKey(asked: string, identity: string): string {
  return `${asked} ${identity}`
}

/** Limits concurrent work; the rest waits in order. */
class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free -= 1
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
