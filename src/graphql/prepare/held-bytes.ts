import { ClientError } from '../errors/client-error.ts'

/** Bounds of the memory that some holders may hold together. */
export interface HeldLimits {
  readonly maxHeldBytes: number
  readonly maxHeldBytesPerUser: number
}

/** Holds memory for users: a group of subscribers, or a reader of logs. */
export interface ByteHolder {
  /** An upper bound of the memory that it holds now. */
  readonly heldBytes: number
  /** The names of the users that share it; none without authentication. */
  readonly users: ReadonlySet<string>
  /** The share of one user: a part of the shared memory, and what is for this user alone. */
  heldBytesFor(user: string): number
}

/** There is no room now. The client may try again. */
export class NoRoomError extends ClientError {
  constructor(maxBytes: number, holder: string) {
    super('QUERY_TOO_COSTLY', `${holder} would hold more than ${maxBytes} bytes`, {
      value: maxBytes,
      hint: 'select less of fewer objects, end other subscriptions, or ask again later',
      retryAfterMs: 10_000,
    })
  }
}

/** Counts the memory of all holders of one sort, in total and per user, and refuses more than the limits. */
export class HeldBytes {
  readonly #limits: HeldLimits
  readonly #what: string
  readonly #of = new Map<ByteHolder, number>()
  #bytes = 0

  /** `what`: what they are in an error, such as `subscriptions`. */
  constructor(limits: HeldLimits, what: string) {
    this.#limits = limits
    this.#what = what
  }

  get bytes(): number {
    this.#countAll()
    return this.#bytes
  }

  /**
   * Counts a holder again, with `more` bytes that it is about to hold, for one user or for all its users. Returns the
   * error if there is no room.
   */
  hold(holder: ByteHolder, more = 0, ofUser?: string): NoRoomError | undefined {
    this.#count(holder)
    // A holder of several users does not end because one of them holds too much.
    const [first, another] = holder.users
    const user = ofUser ?? (another === undefined ? first : undefined)
    const { maxHeldBytes, maxHeldBytesPerUser } = this.#limits
    // Others may hold less than at their last count.
    if (this.#bytes + more > Math.min(maxHeldBytes, maxHeldBytesPerUser)) this.#countAll()
    if (this.#bytes + more > maxHeldBytes)
      return new NoRoomError(maxHeldBytes, `all ${this.#what} together`)
    if (user === undefined || this.#bytes + more <= maxHeldBytesPerUser) return undefined
    if (this.#bytesFor(user) + more <= maxHeldBytesPerUser) return undefined
    return new NoRoomError(maxHeldBytesPerUser, `the ${this.#what} of this user`)
  }

  release(holder: ByteHolder): void {
    this.#bytes -= this.#of.get(holder) ?? 0
    this.#of.delete(holder)
  }

  #bytesFor(user: string): number {
    let sum = 0
    for (const holder of this.#of.keys()) {
      if (holder.users.has(user)) sum += holder.heldBytesFor(user)
    }
    return sum
  }

  #countAll(): void {
    for (const holder of this.#of.keys()) this.#count(holder)
  }

  #count(holder: ByteHolder): void {
    const bytes = holder.heldBytes
    this.#bytes += bytes - (this.#of.get(holder) ?? 0)
    this.#of.set(holder, bytes)
  }
}
