import { Counts } from '../../lib/counts.ts'

/** Bounds of logs. Nothing of a log is kept beyond them. */
export interface LogLimits {
  /** The streams of logs of all users together: each is a connection to an API server and its kubelet. */
  readonly maxStreams: number
  /** The streams of one user. */
  readonly maxStreamsPerUser: number
  /** The largest `tailLines`. */
  readonly maxTailLines: number
  /** The lines that wait for one slow reader, and the lines of the answer to one query. */
  readonly maxHeldLines: number
  /** The bytes of these lines. */
  readonly maxHeldBytes: number
  /** Longer lines are cut. */
  readonly maxLineBytes: number
}

export const defaultLogLimits: LogLimits = {
  maxStreams: 500,
  maxStreamsPerUser: 100,
  maxTailLines: 5_000,
  maxHeldLines: 5_000,
  maxHeldBytes: 2 << 20,
  maxLineBytes: 16_384,
}

/** Counts since the process began, and what is open now. */
export interface LogCounts {
  readonly streams: number
  readonly lines: number
  readonly skipped: number
  readonly reopened: number
}

/** The places for streams: as many as a user and the gateway may have at once. */
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
