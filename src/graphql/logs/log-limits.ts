/*
 * The bounds of logs, in one table, and the places for streams (`LogPlaces`). Each stream holds a connection to an API
 * server and its kubelet open, so a user and the gateway have only so many at once. When a place becomes free, the
 * waiting followers are woken.
 */

import { Counts } from '../../lib/counts.ts'
import { defaultsOf, heldBytesOptions, type NumberOptions } from '../../lib/options.ts'
import { heapShare } from '../../lib/process-memory.ts'

/** Bounds of logs. The gateway keeps nothing of a log beyond them. */
export interface LogLimits {
  /** The streams of logs of all users together: each is a connection to an API server and its kubelet. */
  readonly maxStreams: number
  /** The streams of one user. */
  readonly maxStreamsPerUser: number
  /** The largest `tailLines`. */
  readonly maxTailLines: number
  /** Longer lines are cut. */
  readonly maxLineBytes: number
  /** The lines that wait for one slow reader, and the lines of the answer to one query. */
  readonly maxLines: number
  /** The bytes of these lines. */
  readonly maxBytes: number
  /**
   * The memory of all readers of logs: lines and containers. More is refused with `QUERY_TOO_COSTLY`. Default: 2 % of the
   * heap, up to 64 MiB.
   */
  readonly maxHeldBytes: number
  /** The same for the readers of one user. Default: a half of that. */
  readonly maxHeldBytesPerUser: number
}

/** Every default and bound of {@link LogLimits}. */
export const logOptions: NumberOptions<LogLimits> = {
  maxStreams: { byDefault: 500, least: 0, most: 100_000 },
  maxStreamsPerUser: { byDefault: 100, least: 0, most: 100_000 },
  maxTailLines: { byDefault: 5_000, least: 1, most: 1_000_000 },
  maxLineBytes: { byDefault: 16_384, least: 256, most: 1_048_576 },
  maxLines: { byDefault: 5_000, least: 100, most: 1_000_000 },
  maxBytes: { byDefault: 2 << 20, least: 65_536, most: 1_099_511_627_776 },
  ...heldBytesOptions(heapShare('logs', 64 << 20)),
}

export const defaultLogLimits: LogLimits = defaultsOf(logOptions)

/** Counts since the process began, and what is open and held now. */
export interface LogCounts {
  readonly streams: number
  readonly heldBytes: number
  /** Lines that were read, those that `contains` leaves out as well. */
  readonly read: number
  readonly lines: number
  readonly skipped: number
  readonly reopened: number
}

export class LogPlaces {
  readonly #limits: LogLimits
  readonly #ofUser = new Counts()
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor(limits: LogLimits) {
    this.#limits = limits
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes a place; the reason if there is none. Without authentication all callers are one user. */
  take(user: string): string | undefined {
    const { maxStreams, maxStreamsPerUser } = this.#limits
    if (this.#ofUser.of(user) >= maxStreamsPerUser) {
      return `a user may follow ${maxStreamsPerUser} containers at once (logs.maxStreamsPerUser)`
    }
    if (this.#taken >= maxStreams) {
      return `the gateway follows ${maxStreams} containers at once (logs.maxStreams)`
    }
    this.#ofUser.add(user)
    this.#taken += 1
    return undefined
  }

  free(user: string): void {
    this.#ofUser.remove(user)
    this.#taken -= 1
    for (const wake of this.#waiting) wake()
  }

  /** Calls `wake` whenever a place becomes free. Returns a function that stops this. */
  onFree(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => void this.#waiting.delete(wake)
  }
}
