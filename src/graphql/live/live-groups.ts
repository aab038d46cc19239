import { LRUCache } from 'lru-cache'
import type { Kind } from '../model/kind.ts'
import { checkedCoalesceMs } from '../operation/followed-list.ts'
import type { OpenSubscription, OpenSubscriptions } from '../operation/open-subscriptions.ts'
import { KindLeases } from '../prepare/kind-leases.ts'
import { decodeResumeToken, type ResumePosition } from '../reads/resume-token.ts'
import type { OperationLimits } from '../served/served-schema.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import type { ListSubscriptionArguments } from '../schema/read-arguments.ts'
import { resolveGroupAccess, type Sought } from './resolve-group-access.ts'
import type { FramePlan } from './frame-plan.ts'
import { GroupMember, type StreamEnd } from './group-member.ts'
import { HeldBytes, NoRoomError } from './held-bytes.ts'
import { Attempts } from './attempts.ts'
import type { Leaving } from './group-memberships.ts'
import { LiveGroup } from './live-group.ts'
import { isReadable, neededBy } from './needed-kinds.ts'
import { DiscoveredKinds } from './discovered-kinds.ts'
import { MissingKindError, type GroupAccess } from './group-access.ts'
import type { ViewerMembership } from './viewer-membership.ts'
import type { LiveCounts, LiveLimits, LiveState } from './live-limits.ts'
import { followedBy, type Joining, type StartedGroup, type WantedGroup } from './wanted-group.ts'

export interface LiveGroupsOptions {
  readonly limits: OperationLimits
  readonly live: LiveLimits
  readonly fragments: FragmentCache
  /** Where those that are open are known. */
  readonly subscriptions: OpenSubscriptions
  readonly counts: LiveCounts
}

interface KnownGroup {
  readonly group: LiveGroup
  readonly started: Promise<void>
}

/** So long graphql-js answers what has turned out to have errors to tell. */
const refusedMs = 30_000

/** The groups of subscribers that there are: one for each plan, its variables, what may be seen, and how often frames come. */
export class LiveGroups {
  readonly #options: LiveGroupsOptions
  readonly #groups = new Map<string, KnownGroup>()
  readonly #refused = new LRUCache<string, true>({ max: 1000, ttl: refusedMs })
  readonly #numbers = new WeakMap<FramePlan, number>()
  /** The kinds that plans are led to from anywhere. */
  readonly #wide = new WeakMap<FramePlan, Set<Kind>>()
  readonly #held: HeldBytes
  /** Of those who ask the same, as long as there is a group of them. */
  readonly #discovered = new LRUCache<string, DiscoveredKinds>({ max: 1000 })
  #plans = 0

  constructor(options: LiveGroupsOptions) {
    this.#options = options
    this.#held = new HeldBytes(options.live)
  }

  /**
   * One more member; `undefined` where graphql-js has to answer. Rejects with `NoRoomError` where too much is held already, and
   * with whatever graphql-js has to tell.
   */
  async join(joining: Joining): Promise<GroupMember | undefined> {
    const { served, plan, variables, viewer } = joining
    const args = plan.args.coerce(variables) as ListSubscriptionArguments
    const list = followedBy(joining, args, this.#options.limits.maxPageSize)
    const coalesceMs = checkedCoalesceMs(args.coalesceMs) ?? this.#options.limits.coalesceMs
    const { resumeFrom = null } = args
    const from = resumeFrom === null ? undefined : decodeResumeToken(resumeFrom)
    const wanted = { ...joining, list, coalesceMs }
    const access = viewer && new ViewerAccess(served, viewer)
    const attempts = new Attempts(() => this.#discoveredOf(wanted).learnt)
    const discovered = this.#discoveredOf(wanted)
    // What one attempt has learnt is there for the next one, though the group between them ends.
    discovered.users += 1
    try {
      while (attempts.another()) {
        // oxlint-disable-next-line no-await-in-loop -- a group may end while one waits for it to begin
        const known = await this.#groupFor(wanted, access)
        if (known === undefined) return undefined
        // oxlint-disable-next-line no-await-in-loop -- as above
        const member = await this.#joined(known, access, from)
        if (member !== 'again') return member
      }
      return undefined
    } finally {
      discovered.users -= 1
    }
  }

  /** `again` where the group has ended meanwhile, or is not the viewer's any more. */
  async #joined(
    { group, started }: KnownGroup,
    access: ViewerAccess | undefined,
    from: ResumePosition | undefined,
  ): Promise<GroupMember | undefined | 'again'> {
    const joined = group.expect()
    const membership = access && group.membershipOf(access)
    const { syncDeadlineMs } = this.#options.limits
    try {
      await started
      const resumed = from === undefined ? undefined : await group.resume(from)
      await membership?.ready(syncDeadlineMs)
      if (membership?.isAllowedMore === true) return undefined
      if (group.problem !== undefined) throw group.problem
      if (group.isOver || membership?.isOpen === false) return 'again'
      const { counts } = this.#options
      // A snapshot is shared, and these frames are not.
      const problem = resumed && this.#held.hold(group, resumed.bytes, access?.viewer.username)
      const begun = problem === undefined ? resumed : undefined
      if (begun !== undefined) counts.resumed += 1
      else if (from !== undefined) counts.notResumed += 1
      return group.join(
        (one) => new GroupMember(one, begun ?? one.snapshot(), membership),
        membership,
      )
    } catch (error) {
      if (error instanceof MissingKindError) return 'again'
      throw error
    } finally {
      joined()
      if (membership !== undefined) group.dropMembership(membership)
    }
  }

  /** How they are now. */
  state(): LiveState {
    const groups = Array.from(this.#groups.values(), ({ group }) => group)
    return {
      ...this.#options.counts,
      groups: groups.length,
      members: groups.reduce((sum, { members }) => sum + members, 0),
      heldBytes: this.#held.bytes,
    }
  }

  /** The group of those who ask the same and see the same, which may have to be started. Rejects where nothing is seen. */
  async #groupFor(
    wanted: WantedGroup,
    access: ViewerAccess | undefined,
  ): Promise<KnownGroup | undefined> {
    const { served } = wanted
    const { syncDeadlineMs } = this.#options.limits
    // What may be seen of kinds is decided beside them.
    const prepared = new KindLeases({ served, syncDeadlineMs })
    const discovered = this.#discoveredOf(wanted)
    const { text } = discovered
    const sought = this.#soughtBy(wanted, discovered)
    let isHandedOver = false
    try {
      access?.begin()
      let groupAccess = await resolveGroupAccess(access, sought)
      await prepared.prepare(groupAccess.visible)
      // What is there is known now, so that nobody is asked about anything else.
      if (access !== undefined) {
        groupAccess = await resolveGroupAccess(access, sought)
        await prepared.prepare(groupAccess.visible)
      }
      if (discovered.isFull) return undefined
      const key = this.#keyOf(wanted, groupAccess, text)
      if (this.#refused.has(key)) return undefined
      const known = this.#groups.get(key)
      if (known !== undefined) return known
      if (!isReadable(prepared, groupAccess)) {
        if (text !== '') {
          // What leads there will do so again.
          this.#discovered.delete(this.#askedBy(wanted))
          this.#refused.set(this.#keyOf(wanted, groupAccess, ''), true)
        }
        return undefined
      }
      isHandedOver = true
      return this.#start(key, { ...wanted, sought, groupAccess, prepared, discovered })
    } finally {
      if (!isHandedOver) prepared[Symbol.dispose]()
    }
  }

  #keyOf(wanted: WantedGroup, { fingerprint }: GroupAccess, discovered: string): string {
    const { served, list, coalesceMs, viewer } = wanted
    const isAnybody = viewer === undefined
    const incarnation = served.clusters.get(list.at.cluster)?.incarnation
    const sees = [isAnybody, fingerprint, discovered]
    return JSON.stringify([this.#askedBy(wanted), incarnation, ...sees, coalesceMs])
  }

  #askedBy({ plan, list, asked }: WantedGroup): string {
    return JSON.stringify([this.#numberOf(plan), list.at.cluster, asked])
  }

  #discoveredOf(wanted: WantedGroup): DiscoveredKinds {
    const asked = this.#askedBy(wanted)
    const known = this.#discovered.get(asked)
    if (known !== undefined) return known
    const { plan } = wanted
    let wide = this.#wide.get(plan)
    if (wide === undefined) this.#wide.set(plan, (wide = new Set()))
    const discovered = new DiscoveredKinds(wide)
    this.#discovered.set(asked, discovered)
    return discovered
  }

  #soughtBy(wanted: WantedGroup, { wide, further, privileges }: DiscoveredKinds): Sought {
    const { list } = wanted
    const { syncDeadlineMs } = this.#options.limits
    // What the list is filtered by may be anywhere.
    const everywhere = new Set([...wide, ...list.needs.map(({ kind }) => kind)])
    const needs = neededBy(wanted, further)
    return { list, needs, wide: everywhere, privileges, syncDeadlineMs }
  }

  #start(key: string, wanted: StartedGroup): KnownGroup {
    const { served, document, supporting, plan, sought, discovered } = wanted
    const { limits, live, fragments, subscriptions, counts } = this.#options
    const forget = (): void => {
      if (this.#groups.get(key)?.group === group) this.#groups.delete(key)
    }
    let isBeyond = false
    discovered.users += 1
    this.#discovered.set(this.#askedBy(wanted), discovered)
    const open: OpenSubscription = {
      served,
      document,
      supporting,
      kinds: neededBy(wanted, []),
      end: (error) => group.end({ form: 'failed', error }),
    }
    const group: LiveGroup = new LiveGroup({
      ...wanted,
      served: subscriptions.reading(open),
      limits,
      fragments,
      ring: live,
      counts,
      decide: (access) => {
        const { privileges } = this.#discoveredOf(wanted)
        return resolveGroupAccess(access, { ...sought, privileges })
      },
      leadsBack: plan.leadsBack || discovered.leadsBack,
      further: new Set(discovered.further.map(({ kind }) => kind)),
      named: (privileges) => this.#discoveredOf(wanted).addNames(privileges),
      move: (from, membership) => this.#move(from, membership, wanted),
      hold: (moreBytes) => this.#held.hold(group, moreBytes),
      beyond: (beyond) => {
        // Whoever comes finds a group that follows that, too.
        isBeyond = true
        forget()
        discovered.add(beyond)
      },
      leave: (from) => {
        forget()
        return this.#leave(from, wanted)
      },
      ended: (end) => {
        closed()
        this.#held.release(group)
        forget()
        discovered.users -= 1
        if (isBeyond) return
        if (discovered.users === 0) this.#discovered.delete(this.#askedBy(wanted))
        if (end.form === 'refused') this.#refused.set(key, true)
      },
    })
    const closed = subscriptions.add(open)
    const started = group.start()
    // Nobody need wait for it.
    started.catch(() => {})
    const known = { group, started }
    this.#groups.set(key, known)
    return known
  }

  /** Finds members of a group another one, as their viewer sees something else now. Rejects where that is nothing. */
  async #move(from: LiveGroup, left: ViewerMembership, wanted: WantedGroup): Promise<void> {
    const outcome = await this.#moved(from, left, wanted)
    if (outcome === 'refused') left.finish({ form: 'refused' })
    if (outcome === 'again') left.recheck()
  }

  /** Finds all members of a group another one, which follows more; or ends them. Never rejects. */
  async #leave(from: LiveGroup, wanted: WantedGroup): Promise<void> {
    await Promise.all(
      from.leaving.map(async (left) => {
        const attempts = new Attempts(() => this.#discoveredOf(wanted).learnt)
        let outcome: MoveOutcome | NoRoomError = 'again'
        while (outcome === 'again' && left.members.size > 0 && attempts.another()) {
          // oxlint-disable-next-line no-await-in-loop -- a group may end while one waits for it to begin
          outcome = await this.#moved(from, left, wanted).catch((error: unknown) =>
            error instanceof NoRoomError ? error : 'refused',
          )
        }
        if (outcome === 'moved') return
        const end: StreamEnd =
          outcome instanceof NoRoomError ? { form: 'failed', error: outcome } : { form: 'refused' }
        for (const member of left.members) member.finish(end)
      }),
    )
  }

  /** `again` where the other group is not there any more, or is not the viewer's. */
  async #moved(from: LiveGroup, left: Leaving, wanted: WantedGroup): Promise<MoveOutcome> {
    const { access } = left
    const known = await this.#groupFor(wanted, access)
    if (known === undefined) return 'refused'
    const { group, started } = known
    // It sees again what it saw before.
    if (group === from) return 'again'
    const joined = group.expect()
    const membership = access && group.membershipOf(access)
    try {
      const failure = await started.then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure !== undefined) return failure instanceof MissingKindError ? 'again' : 'refused'
      // What has been told is not to be told as it was before.
      if (group.incarnation === from.incarnation) await group.hasReached(from.positions)
      await membership?.ready(this.#options.limits.syncDeadlineMs)
      if (membership?.isAllowedMore === true) return 'refused'
      if (group.problem !== undefined) throw group.problem
      if (group.isOver || from.hasEnded || membership?.isOpen === false) return 'again'
      group.takeOver(from, left, membership)
      return 'moved'
    } finally {
      joined()
      if (membership !== undefined) group.dropMembership(membership)
    }
  }

  #numberOf(plan: FramePlan): number {
    let number = this.#numbers.get(plan)
    if (number === undefined) this.#numbers.set(plan, (number = ++this.#plans))
    return number
  }
}

type MoveOutcome = 'moved' | 'refused' | 'again'
