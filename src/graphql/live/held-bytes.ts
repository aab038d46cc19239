import { ClientError } from '../errors/client-error.ts'

/** The memory of a group. */
export interface ByteHolder {
  /** An upper bound of the memory that the group holds now: rows, and unread frames. */
  readonly heldBytes: number
  /** The names of the users that share the group; none without authentication. */
  readonly users: ReadonlySet<string>
  /** The share of one user: a part of the shared memory, and the frames for this user alone. */
  heldBytesFor(user: string): number
}

/** There is no room for a subscription now. The client may try again. */
export class NoRoomError extends ClientError {
  constructor(maxBytes: number, isOfUser: boolean) {
    const holder = isOfUser ? 'the subscriptions of this user' : 'all subscriptions together'
    super('QUERY_TOO_COSTLY', `${holder} would hold more than ${maxBytes} bytes`, {
      value: maxBytes,
      hint: 'select less of fewer objects, end other subscriptions, or ask again later',
      retryAfterMs,
    })
  }
}

const retryAfterMs = 10_000

/** How much memory groups may hold. */
export interface HeldBytesLimits {
  readonly maxHeldBytes: number
  readonly maxHeldBytesPerUser: number
}

/** Counts the memory of all groups, in total and per user, and refuses more than the limits. */
export class HeldBytes {
  readonly #limits: HeldBytesLimits
  readonly #ofGroup = new Map<ByteHolder, number>()
  #bytes = 0

  constructor(limits: HeldBytesLimits) {
    this.#limits = limits
  }

  /** The memory of all groups. */
  get bytes(): number {
    this.#countAll()
    return this.#bytes
  }

  /**
   * Counts a group again, with `more` bytes that it is about to hold, for one user or for all its users. Returns the
   * error if there is no room.
   */
  hold(group: ByteHolder, more = 0, ofUser?: string): NoRoomError | undefined {
    this.#count(group)
    // A group of several users does not end because one of them holds too much.
    const [first, another] = group.users
    return this.#problemFor(ofUser ?? (another === undefined ? first : undefined), more)
  }

  #problemFor(user: string | undefined, more: number): NoRoomError | undefined {
    const { maxHeldBytes, maxHeldBytesPerUser } = this.#limits
    // Other groups may hold less than at their last count.
    if (this.#bytes + more > Math.min(maxHeldBytes, maxHeldBytesPerUser)) this.#countAll()
    if (this.#bytes + more > maxHeldBytes) return new NoRoomError(maxHeldBytes, false)
    if (user === undefined || this.#bytes + more <= maxHeldBytesPerUser) return undefined
    if (this.#bytesFor(user) + more <= maxHeldBytesPerUser) return undefined
    return new NoRoomError(maxHeldBytesPerUser, true)
  }

  /** Removes a group that is over. */
  release(group: ByteHolder): void {
    this.#bytes -= this.#ofGroup.get(group) ?? 0
    this.#ofGroup.delete(group)
  }

  #bytesFor(user: string): number {
    let sum = 0
    for (const group of this.#ofGroup.keys()) {
      if (group.users.has(user)) sum += group.heldBytesFor(user)
    }
    return sum
  }

  #countAll(): void {
    for (const group of this.#ofGroup.keys()) this.#count(group)
  }

  #count(group: ByteHolder): void {
    const bytes = group.heldBytes
    this.#bytes += bytes - (this.#ofGroup.get(group) ?? 0)
    this.#ofGroup.set(group, bytes)
  }
}
