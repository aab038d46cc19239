import type { Change } from '../../informer/store/change.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { Kind } from '../model/kind.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import type { GroupMember } from './group-member.ts'
import type { GroupAccess } from './group-access.ts'
import { ViewerMembership, type ViewerMembershipOptions } from './viewer-membership.ts'

export interface GroupMembershipsOptions extends Omit<
  ViewerMembershipOptions,
  'access' | 'fingerprint'
> {
  readonly groupAccess: GroupAccess
}

/** Members of a group, all of one viewer or of nobody who is asked. */
export interface Leaving {
  readonly access: ViewerAccess | undefined
  readonly members: ReadonlySet<GroupMember>
}

/** The members of a group by whose they are: what is to be found out about a viewer is found out once for all of them. */
export class GroupMemberships {
  readonly #options: GroupMembershipsOptions
  readonly #memberships = new Map<string, ViewerMembership>()
  readonly #users = new Set<string>()
  readonly #membershipOf = new WeakMap<GroupMember, ViewerMembership>()
  /** The namespaces of objects that have been heard of, by kind. */
  readonly #places = new Map<Kind, Set<string>>()

  constructor(options: GroupMembershipsOptions) {
    this.#options = options
  }

  /** The membership of a viewer, which may have to be found out about first. */
  of(access: ViewerAccess): ViewerMembership {
    let membership = this.#memberships.get(access.identity)
    if (membership === undefined) {
      const { groupAccess, ...options } = this.#options
      membership = new ViewerMembership({
        ...options,
        access,
        fingerprint: groupAccess.fingerprint,
      })
      this.#memberships.set(access.identity, membership)
      this.#users.add(access.viewer.username)
    }
    return membership
  }

  /** The names of those who sit here. */
  get users(): ReadonlySet<string> {
    return this.#users
  }

  /** The members of a user. */
  *membersOf(user: string): Generator<GroupMember, void> {
    for (const { access, members } of this.#memberships.values()) {
      if (access.viewer.username === user) yield* members
    }
  }

  /** A member leaves, and its membership with it where it was the last one there. */
  leave(member: GroupMember): void {
    const membership = this.#membershipOf.get(member)
    if (membership?.members.delete(member) === true) this.drop(membership)
  }

  /** A member takes its membership. */
  sit(member: GroupMember, membership: ViewerMembership): void {
    membership.members.add(member)
    this.#membershipOf.set(member, membership)
  }

  /** Nobody sits there after all. */
  drop(membership: ViewerMembership): void {
    if (
      membership.members.size === 0 &&
      this.#memberships.get(membership.access.identity) === membership
    ) {
      this.#close(membership.access.identity, membership)
    }
  }

  /** All members of the group by whose they are. */
  leaving(members: ReadonlySet<GroupMember>): readonly Leaving[] {
    const others = [...members].filter((member) => this.#membershipOf.get(member) === undefined)
    return [...this.#memberships.values(), { access: undefined, members: new Set(others) }]
  }

  /** There is more that the group withholds. */
  askMore(): void {
    for (const membership of this.#memberships.values()) membership.askMore()
  }

  /** Objects have come to where there were none: nobody has asked yet what may be seen there. */
  heard(kind: Kind, changes: readonly Change[]): void {
    if (this.#memberships.size === 0 || !this.#options.groupAccess.isPlaceBound(kind)) return
    let places = this.#places.get(kind)
    if (places === undefined) this.#places.set(kind, (places = new Set()))
    const known = places.size
    for (const { type, key } of changes) {
      if (type === 'ADDED') places.add(splitObjectKey(key).namespace)
    }
    if (places.size > known)
      for (const membership of this.#memberships.values()) membership.recheck()
  }

  /** The group is over. Each membership is there until its last member has left. */
  retire(): void {
    for (const membership of this.#memberships.values()) membership.retire()
  }

  #close(identity: string, membership: ViewerMembership): void {
    membership.close()
    this.#memberships.delete(identity)
    const { username } = membership.access.viewer
    const others = [...this.#memberships.values()]
    if (others.some(({ access }) => access.viewer.username === username)) return
    this.#users.delete(username)
  }
}
