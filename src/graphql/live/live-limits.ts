import { heapShare } from '../../lib/process-memory.ts'
import { ClientError } from '../errors/client-error.ts'

/** Bounds of the memory that groups of subscribers hold. */
export interface LiveLimits {
  /** The frames that a group keeps for members that have not read them. A member further behind starts again. */
  readonly maxFrames: number
  /** The bytes of these frames. */
  readonly maxBytes: number
  /**
   * The memory of all groups: rows, snapshots and unread frames. More is refused with `QUERY_TOO_COSTLY`. Default: 15 % of
   * the heap.
   */
  readonly maxHeldBytes: number
  /** The same for one user, who counts for a part of what users share. Default: a half of that. */
  readonly maxHeldBytesPerUser: number
}

export const defaultLiveLimits: LiveLimits = {
  maxFrames: 256,
  maxBytes: 8 << 20,
  maxHeldBytes: heapShare('subscriptions'),
  maxHeldBytesPerUser: Math.floor(heapShare('subscriptions') / 2),
}

export interface LiveState extends Readonly<LiveCounts> {
  readonly groups: number
  readonly members: number
  /** The memory of all groups: rows, snapshots and unread frames. */
  readonly heldBytes: number
}

/** Counts since the process began. */
export interface LiveCounts {
  /** Merges of several frames into one, for a reader that was behind. */
  merged: number
  /** Frames of changes that groups have written, each once for all its readers. */
  written: number
  /** The bytes of these. */
  writtenBytes: number
  /** Frames that readers have taken. */
  frames: number
  /** Readers that were too far behind and started again. */
  resets: number
  /** Subscriptions that resumed from their token. */
  resumed: number
  /** Subscriptions that had a token and started again. */
  notResumed: number
}

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
      retryAfterMs: 10_000,
    })
  }
}

/** Counts the memory of all groups, in total and per user, and refuses more than the limits. */
export class HeldBytes {
  readonly #limits: LiveLimits
  readonly #ofGroup = new Map<ByteHolder, number>()
  #bytes = 0

  constructor(limits: LiveLimits) {
    this.#limits = limits
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
    // Other groups may hold less than at their last count.
    if (this.#bytes + more > Math.min(maxHeldBytes, maxHeldBytesPerUser)) this.#countAll()
    if (this.#bytes + more > maxHeldBytes) return new NoRoomError(maxHeldBytes, false)
    if (user === undefined || this.#bytes + more <= maxHeldBytesPerUser) return undefined
    if (this.#bytesFor(user) + more <= maxHeldBytesPerUser) return undefined
    return new NoRoomError(maxHeldBytesPerUser, true)
  }

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
