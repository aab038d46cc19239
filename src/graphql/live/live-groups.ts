import type { DocumentNode, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import { accessFingerprint } from '../operation/access-fingerprint.ts'
import {
  checkedCoalesceMs,
  type FollowedList,
  listToFollow,
  objectToFollow,
} from '../operation/followed-list.ts'
import type { KindAt } from '../operation/kind-part.ts'
import type { OpenSubscriptions } from '../operation/open-subscriptions.ts'
import { PreparedKinds } from '../operation/prepared-kinds.ts'
import { decodeResumeToken, type ResumePosition } from '../operation/resume-token.ts'
import type { OperationLimits, ServedSchema } from '../operation/served-schema.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import type {
  ListSubscriptionArguments,
  LookupSubscriptionArguments,
} from '../schema/read-context.ts'
import type { FramePlan } from './frame-plan.ts'
import { GroupMember } from './group-member.ts'
import { LiveGroup } from './live-group.ts'
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
}

interface KnownGroup {
  readonly group: LiveGroup
  readonly started: Promise<void>
}

/** So long graphql-js answers what has turned out to have errors to tell. */
const refusedMs = 30_000
const maxAttempts = 3

/** The groups of subscribers that there are: one for each plan, its variables, what may be seen, and how often frames come. */
export class LiveGroups {
  readonly #options: LiveGroupsOptions
  readonly #groups = new Map<string, KnownGroup>()
  readonly #refused = new LRUCache<string, true>({ max: 1000, ttl: refusedMs })
  readonly #numbers = new WeakMap<FramePlan, number>()
  #plans = 0

  constructor(options: LiveGroupsOptions) {
    this.#options = options
  }

  /** One more member; `undefined` where graphql-js has to answer. Rejects with whatever it has to tell. */
  async join(joining: Joining): Promise<GroupMember | undefined> {
    const { served, plan, variables } = joining
    const args = plan.args.coerce(variables) as ListSubscriptionArguments
    const list =
      plan.form === 'listFrames'
        ? listToFollow(served, plan.kind, args)
        : objectToFollow(served, plan.kind, args as unknown as LookupSubscriptionArguments)
    const coalesceMs = checkedCoalesceMs(args.coalesceMs) ?? this.#options.limits.coalesceMs
    const { resumeFrom = null } = args
    const from = resumeFrom === null ? undefined : decodeResumeToken(resumeFrom)
    const wanted = { ...joining, list, coalesceMs, from }
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- a group may end while one waits for it to begin
      const known = await this.#groupFor(wanted)
      if (known === undefined) return undefined
      // oxlint-disable-next-line no-await-in-loop -- as above
      const member = await this.#joined(known, from)
      if (member !== undefined) return member
    }
    return undefined
  }

  /** `undefined` where the group has ended meanwhile. */
  async #joined(
    { group, started }: KnownGroup,
    from: ResumePosition | undefined,
  ): Promise<GroupMember | undefined> {
    const joined = group.expect()
    try {
      await started
      const resumed = from === undefined ? undefined : await group.resume(from)
      if (group.isOver) return undefined
      const { counts } = this.#options
      if (resumed !== undefined) counts.resumed += 1
      else if (from !== undefined) counts.notResumed += 1
      return group.join((one) => new GroupMember(one, resumed ?? one.snapshot()))
    } finally {
      joined()
    }
  }

  /** How they are now. */
  state(): LiveState {
    const groups = Array.from(this.#groups.values(), ({ group }) => group)
    return {
      ...this.#options.counts,
      groups: groups.length,
      members: groups.reduce((sum, { members }) => sum + members, 0),
      heldBytes: groups.reduce((sum, { rows }) => sum + rows.bytes, 0),
    }
  }

  /** The group of those who ask the same, which may have to be started. */
  async #groupFor(wanted: WantedGroup): Promise<KnownGroup | undefined> {
    const { served, plan, list } = wanted
    const { syncDeadlineMs } = this.#options.limits
    const prepared = new PreparedKinds({ served, syncDeadlineMs })
    const kinds = plan.needs.map((need): KindAt => ({ cluster: list.at.cluster, ...need }))
    let isHandedOver = false
    try {
      await prepared.prepare(kinds)
      const settled = prepared.settle()
      const access = accessFingerprint(kinds.map((at) => settled.part(at)))
      const key = JSON.stringify([this.#numberOf(plan), wanted.asked, access, wanted.coalesceMs])
      if (this.#refused.has(key)) return undefined
      const known = this.#groups.get(key)
      if (known !== undefined) return known
      isHandedOver = true
      return this.#start(key, { ...wanted, access, prepared, kinds })
    } finally {
      if (!isHandedOver) prepared[Symbol.dispose]()
    }
  }

  #start(key: string, wanted: StartedGroup): KnownGroup {
    const { served, document, kinds } = wanted
    const { limits, live, fragments, subscriptions, counts } = this.#options
    const group = new LiveGroup({
      ...wanted,
      limits,
      fragments,
      ring: live,
      counts,
      ended: (end) => {
        closed()
        if (this.#groups.get(key)?.group === group) this.#groups.delete(key)
        if (end.form === 'refused') this.#refused.set(key, true)
      },
    })
    const closed = subscriptions.add({
      served,
      document,
      kinds,
      end: (error) => group.end({ form: 'failed', error }),
    })
    const started = group.start().then(() => {
      // Graphql-js keeps no texts.
      if (this.state().heldBytes > live.maxHeldBytes) group.end({ form: 'refused' })
    })
    // Nobody need wait for it.
    started.catch(() => {})
    const known = { group, started }
    this.#groups.set(key, known)
    return known
  }

  #numberOf(plan: FramePlan): number {
    let number = this.#numbers.get(plan)
    if (number === undefined) this.#numbers.set(plan, (number = ++this.#plans))
    return number
  }
}

interface WantedGroup extends Joining {
  readonly list: FollowedList
  readonly coalesceMs: number
  readonly from: ResumePosition | undefined
}

interface StartedGroup extends WantedGroup {
  readonly access: string
  readonly prepared: PreparedKinds
  readonly kinds: readonly KindAt[]
}
