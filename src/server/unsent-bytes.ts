import type { Socket } from 'node:net'
import type { Viewer } from '../access/viewer.ts'
import type { ServerObserver } from './server-observer.ts'

/** What may wait for readers that do not keep up, on all transports together. */
export interface UnsentLimits {
  /** Bytes that may wait to be sent to one user, over all connections; beyond it, the user's connections that take nothing are cut off. */
  readonly maxUnsentBytesPerUser: number
  /** The same for all users together; beyond it, those of the user with the most are cut off. */
  readonly maxUnsentBytes: number
  /** How long a connection may take nothing of what waits on it, and a second more for each 256 KiB of that; then it is cut off. */
  readonly writeDeadlineMs: number
}

/** What is written to one reader: an answer by HTTP, a stream of events, or a WebSocket. */
export interface OutputChannel {
  readonly transport: 'http' | 'websocket'
  /** The connection that carries it. */
  readonly connection: Socket
  /** The user who reads; `undefined` where it is not known. */
  viewer(): Viewer | undefined
  /** How many bytes wait to leave the process. */
  waitingBytes(): number
  /** Ends the connection at once, with whatever waits on it. */
  cutOff(): void
}

/** A reader that takes an answer at this pace is not cut off, however large the answer is. */
const bytesPerSecond = 262_144

/**
 * Bounds the bytes that wait to be sent, by whatever transport. Where there are more than a user may have waiting, that user's
 * connections are cut off; where there are more than all may have, those of the user with the most. The connection that has
 * taken nothing for the longest time goes first.
 */
export class UnsentBytes {
  readonly #limits: UnsentLimits
  readonly #observer: ServerObserver | undefined
  readonly #byUser = new Map<string | undefined, number>()
  /** The outputs that something waits on. The one that has taken nothing for the longest time is the first. */
  readonly #waiting = new Set<Output>()
  #total = 0

  constructor(limits: UnsentLimits, observer?: ServerObserver) {
    this.#limits = limits
    this.#observer = observer
    observer?.unsent?.(() => this.#total)
  }

  /** Follows what waits on a channel, from the next {@link Output.measure} until {@link Output.close}. */
  open(channel: OutputChannel): Output {
    const output: Output = new Output(channel, {
      writeDeadlineMs: this.#limits.writeDeadlineMs,
      changed: (difference) => this.#changed(output, difference),
      late: () => this.#cutOff(output),
    })
    return output
  }

  #changed(output: Output, difference: number): void {
    const { user, bytes } = output
    const ofUser = (this.#byUser.get(user) ?? 0) + difference
    if (ofUser === 0) this.#byUser.delete(user)
    else this.#byUser.set(user, ofUser)
    this.#total += difference
    if (difference < 0) this.#waiting.delete(output)
    if (bytes > 0) this.#waiting.add(output)
    if (difference > 0) this.#makeRoom(user)
  }

  #makeRoom(user: string | undefined): void {
    const { maxUnsentBytesPerUser, maxUnsentBytes } = this.#limits
    const bytesOf = (): number => (user === undefined ? 0 : (this.#byUser.get(user) ?? 0))
    while (bytesOf() > maxUnsentBytesPerUser) this.#cutOffOneOf(user)
    while (this.#total > maxUnsentBytes) {
      const [most] = [...this.#byUser].reduce((a, b) => (b[1] > a[1] ? b : a))
      this.#cutOffOneOf(most)
    }
  }

  #cutOffOneOf(user: string | undefined): void {
    for (const output of this.#waiting) {
      if (output.user === user) {
        this.#cutOff(output)
        return
      }
    }
  }

  #cutOff(output: Output): void {
    const { channel } = output
    output.close()
    this.#observer?.cutOff?.(channel.transport)
    channel.cutOff()
  }
}

interface OutputOptions {
  readonly writeDeadlineMs: number
  /** Called with how many bytes more wait than before. */
  readonly changed: (difference: number) => void
  /** Called when the reader has taken nothing for too long. */
  readonly late: () => void
}

/** One channel, and what was found waiting on it last. */
export class Output {
  readonly channel: OutputChannel
  readonly #options: OutputOptions
  #bytes = 0
  #user: string | undefined
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(channel: OutputChannel, options: OutputOptions) {
    this.channel = channel
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The name of the user whom the bytes are counted for. */
  get user(): string | undefined {
    return this.#user
  }

  /** Counts what waits now: to be called after something was written, and when some of it has left. */
  measure(): number {
    const now = this.#isClosed ? 0 : this.channel.waitingBytes()
    if (now !== this.#bytes) this.#found(now)
    return now
  }

  /** The channel has been closed: nothing waits any more. */
  close(): void {
    this.#isClosed = true
    this.measure()
  }

  #found(now: number): void {
    const before = this.#bytes
    // Whoever began to be counted stays so until nothing waits.
    if (before === 0) this.#user = this.channel.viewer()?.username
    this.#bytes = now
    if (now === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else this.#timer ??= this.#deadline()
    this.#options.changed(now - before)
  }

  #deadline(): NodeJS.Timeout {
    const sent = this.#sentBytes()
    const deadlineMs = this.#options.writeDeadlineMs + (this.#bytes * 1_000) / bytesPerSecond
    return setTimeout(() => {
      this.#timer = undefined
      if (this.measure() === 0) return
      if (this.#sentBytes() === sent) this.#options.late()
      else this.#timer ??= this.#deadline()
    }, deadlineMs)
  }

  /** How many bytes the connection has taken. A slow reader is not one who reads nothing. */
  #sentBytes(): number {
    const { bytesWritten, writableLength } = this.channel.connection
    return bytesWritten - writableLength
  }
}
