import { Backoff, sleep } from '../../lib/backoff.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import type { GroupMember, MemberGate } from './group-member.ts'
import type { GroupAccess } from './group-access.ts'
import { askPermissions, isPermitted, type PermissionCheck } from './permission-check.ts'
import type { WithheldChecks } from './withheld-checks.ts'

export interface ViewerMembershipOptions {
  readonly access: ViewerAccess
  readonly cluster: string
  /** What the group sees. */
  readonly fingerprint: string
  readonly withheld: WithheldChecks
  /** What the viewer sees now. Rejects with the `ClientError` that ends the subscriptions. */
  readonly decide: (access: ViewerAccess) => Promise<GroupAccess>
  /** The viewer has something that the group withholds: it is to be decided with that. False where there is too much of it. */
  readonly named: (privileges: ReadonlyMap<string, PermissionCheck>) => boolean
  /** The viewer sees something else now: finds its members another group, or ends them. */
  readonly move: (membership: ViewerMembership) => Promise<void>
}

/** So long at least passes before a viewer is asked about again of whom nothing is heard. */
const minHoldsMs = 1_000
const fewNames = 50

/**
 * The members of a group that are one viewer's. Whenever that viewer's permissions may have changed, nothing is sent to them until
 * it is known that they still see what the group does; whoever sees something else leaves the group.
 */
export class ViewerMembership implements MemberGate {
  readonly access: ViewerAccess
  readonly members: Set<GroupMember> = new Set<GroupMember>()
  readonly #options: ViewerMembershipOptions
  readonly #leaving = new AbortController()
  readonly #unfollow: () => void
  #untilMs = Number.NEGATIVE_INFINITY
  #isSettled = false
  #isStale = false
  #checking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** What the group withholds and the viewer does not have, as it was asked lately. */
  readonly #refused = new Set<string>()
  #isAllowedMore = false

  constructor(options: ViewerMembershipOptions) {
    this.#options = options
    this.access = options.access
    this.#unfollow = this.access.onChange(options.cluster, () => this.#changed())
  }

  /** Whether the viewer sees what the group does, as far as anybody knows. */
  get isOpen(): boolean {
    return this.#isSettled && performance.now() < this.#untilMs
  }

  /** Whether the viewer has too much of what the group withholds: then its members are to be answered one by one. */
  get isAllowedMore(): boolean {
    return this.#isAllowedMore
  }

  /** Nothing is sent until it is known again what the viewer sees. */
  recheck(): void {
    this.#isSettled = false
    this.#isStale = true
    clearTimeout(this.#timer)
    if (this.#leaving.signal.aborted) return
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
  }

  /** Resolves when it is known whether it is open, or after so long. Never rejects. */
  async ready(deadlineMs: number): Promise<void> {
    if (!this.isOpen && this.#checking === undefined) this.recheck()
    const checked = this.#checking ?? Promise.resolve()
    await withDeadline('what a viewer may see', checked, deadlineMs).catch(() => {})
  }

  /** There is more that the group withholds. */
  askMore(): void {
    if (!this.isOpen) return
    void this.#mayStay().then(
      (stays) => {
        if (!stays && !this.#isAllowedMore) this.recheck()
      },
      () => this.recheck(),
    )
  }

  /** The group is over: its members may take the rest until the viewer's permissions may have changed, which closes it for good. */
  retire(): void {
    this.#leaving.abort()
  }

  /** Nobody sits here any more. */
  close(): void {
    this.#leaving.abort()
    this.#isSettled = false
    clearTimeout(this.#timer)
    this.#unfollow()
  }

  /** Ends all its members. */
  finish(end: Parameters<GroupMember['finish']>[0]): void {
    for (const member of this.members) member.finish(end)
  }

  /** A permission may have changed. So few names are asked about again at once, more when what is known of them is too old. */
  #changed(): void {
    if (this.#refused.size <= fewNames) this.#refused.clear()
    this.recheck()
  }

  async #check(): Promise<void> {
    const { signal } = this.#leaving
    const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 })
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false
      try {
        this.access.begin()
        // oxlint-disable-next-line no-await-in-loop -- again, as it has changed meanwhile
        await this.#checkOnce()
      } catch (error) {
        if (signal.aborted || this.members.size === 0) return
        if (!isPassing(error)) {
          this.finish({ form: 'failed', error: error as Error })
          return
        }
        this.#isStale = true
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(backoff.nextMs(), signal).catch(() => {})
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const { decide, fingerprint, move } = this.#options
    const groupAccess = await decide(this.access)
    if (this.#isStale || this.#leaving.signal.aborted) return
    if (groupAccess.fingerprint !== fingerprint) {
      if (this.members.size > 0) await move(this)
      return
    }
    if (!(await this.#mayStay()) || this.#isStale) return
    this.#untilMs = Math.max(groupAccess.untilMs, performance.now() + minHoldsMs)
    this.#isSettled = true
    this.#expire()
    for (const member of this.members) member.announce()
  }

  /** Asks again when what is known is too old. */
  #expire(): void {
    const restMs = this.#untilMs - performance.now()
    clearTimeout(this.#timer)
    if (restMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => {
      this.#refused.clear()
      this.recheck()
    }, restMs)
    this.#timer.unref()
  }

  /**
   * Whether the viewer has nothing of what the group withholds. Else what they see is decided anew with that, or they are answered one
   * by one where it is too much.
   */
  async #mayStay(): Promise<boolean> {
    const { withheld, named } = this.#options
    while (this.#refused.size < withheld.size) {
      const further = [...withheld.all()].filter(([key]) => !this.#refused.has(key))
      const unknown = further.filter(([, one]) => isPermitted(this.access, one) === undefined)
      // oxlint-disable-next-line no-await-in-loop -- there may be more by then
      await askPermissions(
        this.access,
        Array.from(unknown, ([, one]) => one),
      )
      const held = further.filter(([, one]) => isPermitted(this.access, one) === true)
      if (held.length > 0) {
        if (named(new Map(held))) this.#isStale = true
        else {
          this.#isAllowedMore = true
          this.finish({ form: 'refused' })
        }
        return false
      }
      for (const [key] of further) this.#refused.add(key)
    }
    return true
  }
}

/** A cluster that cannot be asked for a while is asked again, while nothing is sent; that it may not be asked lasts. */
function isPassing(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'CLUSTER_UNREACHABLE'
}
