import type { Change } from '../../informer/store/change.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { Kind } from '../model/kind.ts'
import type { ViewerAccess } from '../operation/viewer-access.ts'
import type { GroupMember } from './group-member.ts'
import type { Sight } from './sight.ts'
import { ViewerSeat, type ViewerSeatOptions } from './viewer-seat.ts'

export interface GroupSeatsOptions extends Omit<ViewerSeatOptions, 'access' | 'fingerprint'> {
  readonly sight: Sight
}

/** Members of a group, all of one viewer or of nobody who is asked. */
export interface Leaving {
  readonly access: ViewerAccess | undefined
  readonly members: ReadonlySet<GroupMember>
}

/** The members of a group by whose they are: what is to be found out about a viewer is found out once for all of them. */
export class GroupSeats {
  readonly #options: GroupSeatsOptions
  readonly #seats = new Map<string, ViewerSeat>()
  readonly #users = new Set<string>()
  readonly #seatOf = new WeakMap<GroupMember, ViewerSeat>()
  /** The namespaces of objects that have been heard of, by kind. */
  readonly #places = new Map<Kind, Set<string>>()

  constructor(options: GroupSeatsOptions) {
    this.#options = options
  }

  /** The seat of a viewer, which may have to be found out about first. */
  of(access: ViewerAccess): ViewerSeat {
    let seat = this.#seats.get(access.identity)
    if (seat === undefined) {
      const { sight, ...options } = this.#options
      seat = new ViewerSeat({ ...options, access, fingerprint: sight.fingerprint })
      this.#seats.set(access.identity, seat)
      this.#users.add(access.viewer.username)
    }
    return seat
  }

  /** The names of those who sit here. */
  get users(): ReadonlySet<string> {
    return this.#users
  }

  /** The members of a user. */
  *membersOf(user: string): Generator<GroupMember, void> {
    for (const { access, members } of this.#seats.values()) {
      if (access.viewer.username === user) yield* members
    }
  }

  /** A member leaves, and its seat with it where it was the last one there. */
  leave(member: GroupMember): void {
    const seat = this.#seatOf.get(member)
    if (seat?.members.delete(member) === true) this.drop(seat)
  }

  /** A member takes its seat. */
  sit(member: GroupMember, seat: ViewerSeat): void {
    seat.members.add(member)
    this.#seatOf.set(member, seat)
  }

  /** Nobody sits there after all. */
  drop(seat: ViewerSeat): void {
    if (seat.members.size === 0 && this.#seats.get(seat.access.identity) === seat) {
      this.#close(seat.access.identity, seat)
    }
  }

  /** All members of the group by whose they are. */
  leaving(members: ReadonlySet<GroupMember>): readonly Leaving[] {
    const others = [...members].filter((member) => this.#seatOf.get(member) === undefined)
    return [...this.#seats.values(), { access: undefined, members: new Set(others) }]
  }

  /** There is more that the group withholds. */
  askMore(): void {
    for (const seat of this.#seats.values()) seat.askMore()
  }

  /** Objects have come to where there were none: nobody has asked yet what may be seen there. */
  heard(kind: Kind, changes: readonly Change[]): void {
    if (this.#seats.size === 0 || !this.#options.sight.isPlaceBound(kind)) return
    let places = this.#places.get(kind)
    if (places === undefined) this.#places.set(kind, (places = new Set()))
    const known = places.size
    for (const { type, key } of changes) {
      if (type === 'ADDED') places.add(splitObjectKey(key).namespace)
    }
    if (places.size > known) for (const seat of this.#seats.values()) seat.recheck()
  }

  /** The group is over. Each seat is there until its last member has left. */
  retire(): void {
    for (const seat of this.#seats.values()) seat.retire()
  }

  #close(identity: string, seat: ViewerSeat): void {
    seat.close()
    this.#seats.delete(identity)
    const { username } = seat.access.viewer
    const others = [...this.#seats.values()]
    if (others.some(({ access }) => access.viewer.username === username)) return
    this.#users.delete(username)
  }
}
