import type { DocumentNode, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../access/viewer.ts'
import type { KindAt } from '../operation/kind-part.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../operation/client-error.ts'
import {
  checkedCoalesceMs,
  type FollowedList,
  listToFollow,
  objectToFollow,
  pageToFollow,
} from '../operation/followed-list.ts'
import type { OpenSubscriptions } from '../operation/open-subscriptions.ts'
import { PreparedKinds } from '../operation/prepared-kinds.ts'
import { decodeResumeToken, type ResumePosition } from '../operation/resume-token.ts'
import type { OperationLimits, ServedSchema } from '../operation/served-schema.ts'
import { ViewerAccess } from '../operation/viewer-access.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import type {
  ListSubscriptionArguments,
  LookupSubscriptionArguments,
} from '../schema/read-arguments.ts'
import { decideSight, type Sought } from './decide-sight.ts'
import type { FramePlan } from './frame-plan.ts'
import { GroupMember } from './group-member.ts'
import { HeldTexts } from './held-texts.ts'
import { LiveGroup } from './live-group.ts'
import { BeyondSightError, type Sight } from './sight.ts'
import type { ViewerSeat } from './viewer-seat.ts'
import type { LiveCounts, LiveLimits, LiveState } from './live-limits.ts'

export interface LiveGroupsOptions {
  readonly limits: OperationLimits
  readonly live: LiveLimits
  readonly fragments: FragmentCache
  /** Where those that are open are known. */
  readonly subscriptions: OpenSubscriptions
  readonly counts: LiveCounts
}

/** One subscriber to come. */
export interface Joining {
  readonly served: ServedSchema
  readonly document: DocumentNode
  readonly plan: FramePlan
  readonly variables: VariableValues
  /** What is asked for by the variables. */
  readonly asked: string
  /** See `filteringKinds`, of what is asked for. */
  readonly filtering: (served: ServedSchema) => ReadonlySet<string>
  /** Who asks; absent where everything may be seen. */
  readonly viewer?: Viewer | undefined
}

interface KnownGroup {
  readonly group: LiveGroup
  readonly started: Promise<void>
}

/** So long graphql-js answers what has turned out to have errors to tell. */
const refusedMs = 30_000
const maxAttempts = 5

/** The groups of subscribers that there are: one for each plan, its variables, what may be seen, and how often frames come. */
export class LiveGroups {
  readonly #options: LiveGroupsOptions
  readonly #groups = new Map<string, KnownGroup>()
  readonly #refused = new LRUCache<string, true>({ max: 1000, ttl: refusedMs })
  readonly #numbers = new WeakMap<FramePlan, number>()
  /** The kinds that plans are led to from anywhere. */
  readonly #wide = new WeakMap<FramePlan, Set<Kind>>()
  readonly #texts: HeldTexts
  #plans = 0

  constructor(options: LiveGroupsOptions) {
    this.#options = options
    this.#texts = new HeldTexts(options.live.maxHeldBytes)
  }

  /** One more member; `undefined` where graphql-js has to answer. Rejects with whatever it has to tell. */
  async join(joining: Joining): Promise<GroupMember | undefined> {
    const { served, plan, variables, viewer } = joining
    const args = plan.args.coerce(variables) as ListSubscriptionArguments
    const list = this.#followed(served, plan, args)
    const coalesceMs = checkedCoalesceMs(args.coalesceMs) ?? this.#options.limits.coalesceMs
    const { resumeFrom = null } = args
    const from = resumeFrom === null ? undefined : decodeResumeToken(resumeFrom)
    const wanted = { ...joining, list, coalesceMs }
    const access = viewer && new ViewerAccess(served, viewer)
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- a group may end while one waits for it to begin
      const known = await this.#groupFor(wanted, access)
      if (known === undefined) return undefined
      // oxlint-disable-next-line no-await-in-loop -- as above
      const member = await this.#joined(known, access, from)
      if (member !== 'again') return member
    }
    return undefined
  }

  #followed(served: ServedSchema, { form, kind }: FramePlan, args: object): FollowedList {
    switch (form) {
      case 'listFrames':
        return listToFollow(served, kind, args)
      case 'lookupFrames':
        return objectToFollow(served, kind, args as LookupSubscriptionArguments)
      case 'livePages':
        return pageToFollow(served, kind, args, this.#options.limits.maxPageSize)
    }
  }

  /** `again` where the group has ended meanwhile, or is not the viewer's any more. */
  async #joined(
    { group, started }: KnownGroup,
    access: ViewerAccess | undefined,
    from: ResumePosition | undefined,
  ): Promise<GroupMember | undefined | 'again'> {
    const joined = group.expect()
    const seat = access && group.seatOf(access)
    const { syncDeadlineMs } = this.#options.limits
    try {
      await started
      const resumed = from === undefined ? undefined : await group.resume(from)
      await seat?.ready(syncDeadlineMs)
      if (seat?.isAllowedMore === true) return undefined
      if (group.isOver || seat?.isOpen === false) return 'again'
      const { counts } = this.#options
      if (resumed !== undefined) counts.resumed += 1
      else if (from !== undefined) counts.notResumed += 1
      return group.join((one) => new GroupMember(one, resumed ?? one.snapshot(), seat), seat)
    } catch (error) {
      if (error instanceof BeyondSightError) return 'again'
      throw error
    } finally {
      joined()
      if (seat !== undefined) group.dropSeat(seat)
    }
  }

  /** How they are now. */
  state(): LiveState {
    const groups = Array.from(this.#groups.values(), ({ group }) => group)
    return {
      ...this.#options.counts,
      groups: groups.length,
      members: groups.reduce((sum, { members }) => sum + members, 0),
      heldBytes: this.#texts.bytes,
    }
  }

  /** The group of those who ask the same and see the same, which may have to be started. Rejects where nothing is seen. */
  async #groupFor(
    wanted: WantedGroup,
    access: ViewerAccess | undefined,
  ): Promise<KnownGroup | undefined> {
    const { served, plan, list } = wanted
    const { syncDeadlineMs } = this.#options.limits
    // What may be seen of kinds is decided beside them.
    const prepared = new PreparedKinds({ served, syncDeadlineMs })
    const sought = this.#soughtBy(wanted)
    let isHandedOver = false
    try {
      access?.begin()
      let sight = await decideSight(access, sought)
      await prepared.prepare(sight.visible)
      // What is there is known now, so that nobody is asked about anything else.
      if (access !== undefined) {
        sight = await decideSight(access, sought)
        await prepared.prepare(sight.visible)
      }
      const key = JSON.stringify([
        this.#numberOf(plan),
        list.at.cluster,
        wanted.asked,
        sight.fingerprint,
        wanted.coalesceMs,
      ])
      if (this.#refused.has(key)) return undefined
      const known = this.#groups.get(key)
      if (known !== undefined) return known
      if (!isReadable(prepared, sight)) return undefined
      isHandedOver = true
      return this.#start(key, { ...wanted, sought, sight, prepared })
    } finally {
      if (!isHandedOver) prepared[Symbol.dispose]()
    }
  }

  #soughtBy({ plan, list }: WantedGroup): Sought {
    let wide = this.#wide.get(plan)
    if (wide === undefined) this.#wide.set(plan, (wide = new Set()))
    // What the list is filtered by may be anywhere.
    for (const { kind } of list.needs) wide.add(kind)
    const { syncDeadlineMs } = this.#options.limits
    return { list, needs: neededBy(plan, list), wide, syncDeadlineMs }
  }

  #start(key: string, wanted: StartedGroup): KnownGroup {
    const { served, document, filtering, sought } = wanted
    const { limits, live, fragments, subscriptions, counts } = this.#options
    const wideBefore = sought.wide.size
    const group = new LiveGroup({
      ...wanted,
      limits,
      fragments,
      ring: live,
      counts,
      decide: (access) => decideSight(access, sought),
      move: (from, seat) => this.#move(from, seat, wanted),
      hold: (bytes) => this.#texts.hold(group, bytes),
      beyond: (kind) => this.#wide.get(wanted.plan)?.add(kind),
      ended: (end) => {
        closed()
        this.#texts.release(group)
        if (this.#groups.get(key)?.group === group) this.#groups.delete(key)
        // What may be seen everywhere is asked next.
        const isDecidedAnew = sought.wide.size > wideBefore
        if (end.form === 'refused' && !isDecidedAnew) this.#refused.set(key, true)
      },
    })
    const closed = subscriptions.add({
      served,
      document,
      filtering,
      kinds: sought.needs,
      end: (error) => group.end({ form: 'failed', error }),
    })
    const started = group.start()
    // Nobody need wait for it.
    started.catch(() => {})
    const known = { group, started }
    this.#groups.set(key, known)
    return known
  }

  /** Finds members of a group another one, as their viewer sees something else now. Rejects where that is nothing. */
  async #move(from: LiveGroup, left: ViewerSeat, wanted: WantedGroup): Promise<void> {
    const known = await this.#groupFor(wanted, left.access)
    if (known === undefined) {
      left.finish({ form: 'refused' })
      return
    }
    const { group, started } = known
    // It sees again what it saw before.
    if (group === from) {
      left.recheck()
      return
    }
    const joined = group.expect()
    const seat = group.seatOf(left.access)
    try {
      const isStarted = await started.then(
        () => true,
        () => false,
      )
      // What has been told is not to be told as it was before.
      if (isStarted) await group.hasReached(from.positions)
      await seat.ready(this.#options.limits.syncDeadlineMs)
      if (!isStarted || seat.isAllowedMore) left.finish({ form: 'refused' })
      else if (group.isOver || from.isOver || !seat.isOpen) left.recheck()
      else group.takeOver(from, left, seat)
    } finally {
      joined()
      group.dropSeat(seat)
    }
  }

  #numberOf(plan: FramePlan): number {
    let number = this.#numbers.get(plan)
    if (number === undefined) this.#numbers.set(plan, (number = ++this.#plans))
    return number
  }
}

/** The kinds that a plan reads, and those that the list's filter rests on; the followed one first. */
function neededBy(plan: FramePlan, list: FollowedList): readonly KindAt[] {
  const { cluster } = list.at
  const needs = new Map<Kind, KindAt & { readonly indexes: { readonly needed: Set<string> } }>()
  for (const { kind, indexes } of [...plan.needs, ...list.needs]) {
    const known = needs.get(kind)
    const needed = known?.indexes.needed ?? new Set<string>()
    for (const name of indexes.needed ?? []) needed.add(name)
    if (known === undefined) needs.set(kind, { cluster, kind, indexes: { ...indexes, needed } })
  }
  return [...needs.values()]
}

/** Whether all kinds can be read of which something may be seen; else graphql-js tells which fields that is the error of. */
function isReadable(prepared: PreparedKinds, { visible }: Sight): boolean {
  const settled = prepared.settle()
  try {
    for (const at of visible) settled.part(at)
    return true
  } catch (error) {
    // What passes is waited for by those who are members already.
    if (error instanceof ClientError && error.code !== 'CLUSTER_UNREACHABLE') return false
    throw error
  }
}

interface WantedGroup extends Joining {
  readonly list: FollowedList
  readonly coalesceMs: number
}

interface StartedGroup extends WantedGroup {
  readonly sought: Sought
  readonly sight: Sight
  readonly prepared: PreparedKinds
}
