import { Backoff, sleep } from '../../lib/backoff.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { Change } from '../../informer/store/change.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import { type GroupAccess, MissingKindError, type NameDecisions } from './group-access.ts'
import type { GroupMember, MemberGate } from './group-member.ts'

/** What memberships need of their group. */
export interface MembershipGroup {
  readonly cluster: string
  readonly groupAccess: GroupAccess
  /** Whether rows depend on who the viewer is; then all members have the same. */
  readonly hasOnlyViewer: boolean
  /** What a viewer may see now. Rejects with the `ClientError` that ends the subscriptions. */
  resolve(access: ViewerAccess): Promise<GroupAccess>
  /** Writes all rows anew, where they depend on who the viewer is. Rejects where that is not possible. */
  rewrite(): Promise<void>
  /** A viewer may see objects of these kinds by their names. */
  nameKinds(access: ViewerAccess, kinds: Iterable<Kind>): void
  /** Finds another group for the members of a viewer. Rejects where there is none. */
  regroup(membership: ViewerMembership): Promise<void>
}

/** A viewer's access is reviewed again after so long at least, if no change is heard of. */
const minHoldsMs = 1_000
/** So many names are asked about again as soon as a permission may have changed; more only when the answers are too old. */
const fewNames = 50
/** Names that a group may withhold; each takes two access reviews for each viewer. */
const maxWithheld = 500

interface WithheldName {
  readonly at: ClusterKind
  readonly key: string
}

/** The names of objects that the texts of a group withhold: no rule for a whole namespace allows them. A rule may name one. */
export class WithheldNames implements NameDecisions {
  readonly all: Map<string, WithheldName> = new Map<string, WithheldName>()
  readonly #more: () => void

  /** `more` is called when there is a further one. */
  constructor(more: () => void) {
    this.#more = more
  }

  /** Throws `MissingKindError` where there are too many. */
  mayLook(at: ClusterKind, key: string): false {
    const name = `${at.kind.typeName} ${key}`
    if (this.all.has(name)) return false
    if (this.all.size === maxWithheld) throw new MissingKindError([{ form: 'viewer', at }])
    this.all.set(name, { at, key })
    this.#more()
    return false
  }
}

/**
 * The members of a group that have the same viewer. When that viewer's permissions may have changed, they are sent nothing until it is
 * known what the viewer may see. If that is something else than the group sees, they leave the group.
 */
export class ViewerMembership implements MemberGate {
  readonly access: ViewerAccess
  readonly members: Set<GroupMember> = new Set<GroupMember>()
  readonly #group: MembershipGroup
  readonly #withheld: WithheldNames
  readonly #leaving = new AbortController()
  readonly #unfollow: () => void
  #untilMs = Number.NEGATIVE_INFINITY
  #isSettled = false
  #isStale = false
  /** Whether permissions may have changed since rows were written. */
  #hasChanged = false
  #checking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Withheld names that the viewer may not see, as far as that was asked lately. */
  readonly #refused = new Set<string>()

  constructor(access: ViewerAccess, group: MembershipGroup, withheld: WithheldNames) {
    this.access = access
    this.#group = group
    this.#withheld = withheld
    this.#unfollow = access.onChange(group.cluster, () => {
      if (this.#refused.size <= fewNames) this.#refused.clear()
      this.#hasChanged = true
      this.recheck()
    })
  }

  /** Whether the viewer sees what the group does, as far as is known. */
  get isOpen(): boolean {
    return this.#isSettled && performance.now() < this.#untilMs
  }

  /** Sends nothing until it is known again what the viewer may see. */
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

  /** The group withholds a further name. */
  askMore(): void {
    if (!this.isOpen) return
    void this.#seesWithheld().then(
      (sees) => {
        if (sees) this.recheck()
      },
      () => this.recheck(),
    )
  }

  /** The group is over: members may take the rest until the viewer's permissions may have changed, which closes it for good. */
  retire(): void {
    this.#leaving.abort()
  }

  /** It has no members any more. */
  close(): void {
    this.#leaving.abort()
    this.#isSettled = false
    clearTimeout(this.#timer)
    this.#unfollow()
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
          for (const member of this.members) member.finish({ form: 'failed', errors: [error] })
          return
        }
        this.#isStale = true
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(backoff.nextMs(), signal).catch(() => {})
      }
    }
  }

  async #checkOnce(): Promise<void> {
    const group = this.#group
    const groupAccess = await group.resolve(this.access)
    if (this.#isStale || this.#leaving.signal.aborted) return
    const isOther = groupAccess.fingerprint !== group.groupAccess.fingerprint
    if (isOther || (await this.#seesWithheld())) {
      if (this.members.size > 0) await group.regroup(this)
      return
    }
    if (this.#isStale) return
    if (group.hasOnlyViewer && this.#hasChanged) {
      this.#hasChanged = false
      await group.rewrite()
      if (this.#isStale) return
    }
    const longestMs = group.hasOnlyViewer ? this.access.longestMs(group.cluster) : Infinity
    const untilMs = Math.min(groupAccess.untilMs, performance.now() + longestMs)
    this.#untilMs = Math.max(untilMs, performance.now() + minHoldsMs)
    this.#isSettled = true
    this.#expire()
    for (const member of this.members) member.announce()
  }

  /** Reviews access again when the answers are too old. */
  #expire(): void {
    const restMs = this.#untilMs - performance.now()
    clearTimeout(this.#timer)
    if (restMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => {
      this.#refused.clear()
      this.#hasChanged = true
      this.recheck()
    }, restMs)
    this.#timer.unref()
  }

  /** Whether the viewer may see an object that the group withholds; the viewer then needs rows of their own. */
  async #seesWithheld(): Promise<boolean> {
    const { all } = this.#withheld
    while (this.#refused.size < all.size) {
      const further = [...all].filter(([name]) => !this.#refused.has(name))
      // oxlint-disable-next-line no-await-in-loop -- there may be more by then
      const seen = await Promise.all(
        further.map(async ([, { at, key }]) =>
          (await this.access.mayLook(at, key)) ? at.kind : undefined,
        ),
      )
      const kinds = seen.filter((kind) => kind !== undefined)
      if (kinds.length > 0) {
        this.#group.nameKinds(this.access, kinds)
        return true
      }
      for (const [name] of further) this.#refused.add(name)
    }
    return false
  }
}

/** A cluster that cannot be asked for a while is asked again, while nothing is sent; that it may not be asked lasts. */
function isPassing(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'CLUSTER_UNREACHABLE'
}

/** The members of a group by viewer: a viewer's access is reviewed once for all of them. */
export class GroupMemberships {
  readonly #group: MembershipGroup
  readonly #withheld: WithheldNames
  readonly #memberships = new Map<string, ViewerMembership>()
  readonly #users = new Set<string>()
  readonly #membershipOf = new WeakMap<GroupMember, ViewerMembership>()
  /** The namespaces of objects that have been heard of, by kind. */
  readonly #places = new Map<Kind, Set<string>>()

  constructor(group: MembershipGroup, withheld: WithheldNames) {
    this.#group = group
    this.#withheld = withheld
  }

  /** The membership of a viewer, made where there is none. */
  of(access: ViewerAccess): ViewerMembership {
    let membership = this.#memberships.get(access.identity)
    if (membership === undefined) {
      membership = new ViewerMembership(access, this.#group, this.#withheld)
      this.#memberships.set(access.identity, membership)
      this.#users.add(access.viewer.username)
    }
    return membership
  }

  [Symbol.iterator](): Iterator<ViewerMembership> {
    return this.#memberships.values()
  }

  /** The names of the users who have members. */
  get users(): ReadonlySet<string> {
    return this.#users
  }

  /** The members of a user. */
  *membersOf(user: string): Generator<GroupMember, void> {
    for (const { access, members } of this.#memberships.values()) {
      if (access.viewer.username === user) yield* members
    }
  }

  /** A member is one of a viewer's. */
  join(member: GroupMember, membership: ViewerMembership): void {
    membership.members.add(member)
    this.#membershipOf.set(member, membership)
  }

  /** A member leaves. A membership ends with its last member. */
  leave(member: GroupMember): void {
    const membership = this.#membershipOf.get(member)
    if (membership?.members.delete(member) === true) this.drop(membership)
  }

  /** Ends a membership that has no members. */
  drop(membership: ViewerMembership): void {
    const { identity, viewer } = membership.access
    if (membership.members.size > 0 || this.#memberships.get(identity) !== membership) return
    membership.close()
    this.#memberships.delete(identity)
    for (const { access } of this.#memberships.values()) {
      if (access.viewer.username === viewer.username) return
    }
    this.#users.delete(viewer.username)
  }

  /** The group withholds a further name. */
  askMore(): void {
    for (const membership of this.#memberships.values()) membership.askMore()
  }

  /** Objects have come to namespaces that had none: access to them has not been reviewed yet. */
  heard(kind: Kind, changes: readonly Change[]): void {
    if (this.#memberships.size === 0 || !this.#group.groupAccess.isPlaceBound(kind)) return
    let places = this.#places.get(kind)
    if (places === undefined) this.#places.set(kind, (places = new Set()))
    const known = places.size
    for (const { type, key } of changes) {
      if (type === 'ADDED') places.add(splitObjectKey(key).namespace)
    }
    if (places.size === known) return
    for (const membership of this.#memberships.values()) membership.recheck()
  }

  /** The group is over. */
  retire(): void {
    for (const membership of this.#memberships.values()) membership.retire()
  }
}
