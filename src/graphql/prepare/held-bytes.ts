/*
 * The memory that subscriptions, logs and writes hold, against two limits: for all users together and for one user.
 * Holders report an upper bound of their own size. The sum is updated one holder at a time; only near a limit are all
 * holders counted again, since they may have shrunk. A refused holder gets `NoRoomError`, which the client may retry.
 */

import { ClientError } from '../errors/client-error.ts'

interface HeldBytesLimits {
  readonly maxHeldBytes: number
  readonly maxHeldBytesPerUser: number
}

/** How errors name the holders, and how a caller makes room. */
interface Holders {
  readonly name: string
  readonly hint: string
}

const subscriptions: Holders = {
  name: 'subscriptions',
  hint: 'select less of fewer objects, end other subscriptions, or try again later',
}

export interface ByteHolder {
  /** An upper bound of the memory that the holder has now, such as rows and unread frames. */
  readonly heldBytes: number
  /** The names of the users that share it; none without authentication. */
  readonly users: ReadonlySet<string>
  /** The share of one user: a part of the shared memory, and the frames for this user alone. Absent: all of it. */
  heldBytesFor?(user: string): number
}

export class NoRoomError extends ClientError {
  constructor({ name, hint }: Holders, maxBytes: number, isOfUser: boolean) {
    const holder = isOfUser ? `the ${name} of this user` : `all ${name} together`
    const message = `${holder} would hold more than ${maxBytes} bytes`
    super('QUERY_TOO_COSTLY', message, { value: maxBytes, hint, retryAfterMs: 10_000 })
  }
}

export class HeldBytes {
  readonly #limits: HeldBytesLimits
  readonly #holders: Holders
  readonly #ofGroup = new Map<ByteHolder, number>()
  #bytes = 0

  constructor(limits: HeldBytesLimits, holders: Holders = subscriptions) {
    this.#limits = limits
    this.#holders = holders
  }

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
    const user = ofUser ?? (another === undefined ? first : undefined)
    const { maxHeldBytes, maxHeldBytesPerUser } = this.#limits
    if (this.#bytes + more > Math.min(maxHeldBytes, maxHeldBytesPerUser)) this.#countAll()
    if (this.#bytes + more > maxHeldBytes)
      return new NoRoomError(this.#holders, maxHeldBytes, false)
    if (user === undefined || this.#bytes + more <= maxHeldBytesPerUser) return undefined
    if (this.#bytesFor(user) + more <= maxHeldBytesPerUser) return undefined
    return new NoRoomError(this.#holders, maxHeldBytesPerUser, true)
  }

  release(group: ByteHolder): void {
    this.#bytes -= this.#ofGroup.get(group) ?? 0
    this.#ofGroup.delete(group)
  }

  #bytesFor(user: string): number {
    let sum = 0
    for (const group of this.#ofGroup.keys()) {
      if (group.users.has(user)) sum += group.heldBytesFor?.(user) ?? group.heldBytes
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
