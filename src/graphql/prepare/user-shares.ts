/*
 * What one user may take of what all share: memory and time. Subscriptions, logs and writes hold memory, against two
 * limits: for all users together and for one user. Holders report an upper bound of their own size. The sum is updated one
 * holder at a time; only near a limit are all holders counted again, since they may have shrunk. A refused holder gets
 * `NoRoomError`, which the client may retry. Work takes turns on the one event loop: a user's queries wait for each other,
 * so that other users need not wait for all of them.
 */

import { ClientError } from '../errors/client-error.ts'
import type { Viewer } from '../../access/viewer.ts'
import { type Lane, Turns } from '../../lib/event-loop.ts'

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

/** The turns of all operations of this process, which has one event loop. */
export const turns: Turns = new Turns()

/** The lane of a user's queries. They wait for each other, so that other users need not wait for all of them. */
export function queryLane(viewer: Viewer | undefined): Lane {
  return viewer === undefined ? 'queries' : `queries of ${viewer.username}`
}

/** Does long work for a user's operation, in turns with all other operations. The work yields where it may pause. */
export async function inTurns<T>(work: Iterator<void, T>, viewer: Viewer | undefined): Promise<T> {
  const lane = queryLane(viewer)
  while (true) {
    await turns.enter(lane)
    const step = turns.run(() => work.next(), lane)
    if (step.done === true) return step.value
  }
}

/** The lane of all subscriptions. */
export const liveLane: Lane = 'subscriptions'

/**
 * Resolves when work for the subscriptions of some users may begin; `undefined` if it may begin now. All subscriptions
 * together share the time with the queries like one more user. Among subscriptions the users take turns, and work for
 * several users takes the turn of the first of them. No users: the server does not authenticate callers.
 */
export function enterLive(users: Iterable<string>): Promise<void> | undefined {
  return turns.enter(liveLane, users)
}

/** Runs work for subscriptions that {@link enterLive} let begin. */
export function runLive<T>(work: () => T): T {
  return turns.run(work, liveLane)
}
