import { ClientError } from '../errors/client-error.ts'

/** A group, as far as its memory is counted. */
export interface ByteHolder {
  /** The memory that it holds now, at the most: rows, and frames on their way. */
  readonly heldBytes: number
  /** The names of the users who share it; none without authentication. */
  readonly users: ReadonlySet<string>
  /** The share of one user: a part of what all share, and the frames for this user alone. */
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

/** Counts the memory of all groups, in all and for each user. Bounded: what would exceed the bound is refused. */
export class HeldBytes {
  readonly #limits: HeldBytesLimits
  readonly #ofGroup = new Map<ByteHolder, number>()
  #bytes = 0

  constructor(limits: HeldBytesLimits) {
    this.#limits = limits
  }

  /** Of all groups. */
  get bytes(): number {
    this.#countAll()
    return this.#bytes
  }

  /**
   * Counts a group again, with `more` bytes that it is about to hold, for one user or for all who share it. Returns why there is no
   * room, if there is none.
   */
  hold(group: ByteHolder, more = 0, ofUser?: string): NoRoomError | undefined {
    this.#count(group)
    // A group of several users does not end because one of them holds too much.
    const [first, another] = group.users
    return this.#problemFor(ofUser ?? (another === undefined ? first : undefined), more)
  }

  #problemFor(user: string | undefined, more: number): NoRoomError | undefined {
    const { maxHeldBytes, maxHeldBytesPerUser } = this.#limits
    // Other groups may hold less than when they were counted.
    if (this.#bytes + more > Math.min(maxHeldBytes, maxHeldBytesPerUser)) this.#countAll()
    if (this.#bytes + more > maxHeldBytes) return new NoRoomError(maxHeldBytes, false)
    if (user === undefined || this.#bytes + more <= maxHeldBytesPerUser) return undefined
    if (this.#bytesFor(user) + more <= maxHeldBytesPerUser) return undefined
    return new NoRoomError(maxHeldBytesPerUser, true)
  }

  /** A group is over. */
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
