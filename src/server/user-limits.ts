/*
 * What one user may occupy, over all connections and transports. Users are identified by name, which identity providers
 * keep unique.
 *
 * - `UserQuotas` counts the running work of each user, and refuses more than the limits.
 * - `UnsentBytes` bounds the bytes that wait to be sent. Over a user's bound, it cuts off connections of that user; over
 *   the total bound, connections of the user with the most waiting bytes. It begins with the connection that has taken
 *   nothing for the longest time.
 * - `FrameSink` sends the frames of planned subscriptions over one connection. It takes a frame from a stream only when
 *   the connection has room, so that it holds no frames for a slow reader. All streams of a connection share its room.
 */

import type { Socket } from 'node:net'
import type { Viewer } from '../access/viewer.ts'
import { ClientError } from '../graphql/errors/client-error.ts'
import { Counts } from '../lib/counts.ts'
import type { ServerObserver } from './operation-options.ts'
import { FrameStream, type StreamEnd } from '../lib/frame-stream.ts'

/** Limits per user over all connections. Anonymous callers are not counted. */
export interface UserQuotaLimits {
  /** The maximum number of running HTTP requests and WebSocket queries per user. */
  readonly maxOperationsPerUser: number
  /** The maximum number of subscriptions per user, by either transport. */
  readonly maxSubscriptionsPerUser: number
  /** The maximum number of open WebSockets per user. */
  readonly maxSocketsPerUser: number
}

type Counted = 'operations' | 'subscriptions' | 'WebSockets'

const limitOf: Readonly<Record<Counted, keyof UserQuotaLimits>> = {
  operations: 'maxOperationsPerUser',
  subscriptions: 'maxSubscriptionsPerUser',
  WebSockets: 'maxSocketsPerUser',
}

const nothing = (): void => {}
/** The usual time of a query, including waits. */
const retryAfterMs = 1_000

/** Counts running work. While the server has a refusal of its own, no work begins. */
export class UserQuotas {
  readonly #limits: UserQuotaLimits
  readonly #refusal: () => Error | undefined
  readonly #counts: Readonly<Record<Counted, Counts>> = {
    operations: new Counts(),
    subscriptions: new Counts(),
    WebSockets: new Counts(),
  }

  constructor(limits: UserQuotaLimits, refusal: () => Error | undefined) {
    this.#limits = limits
    this.#refusal = refusal
  }

  /**
   * Takes one unit. The returned function gives it back, once. Throws `ClientError` TOO_MANY_OPERATIONS at the limit, or
   * the refusal.
   */
  take(counted: Counted, viewer: Viewer | undefined): () => void {
    const refused = counted === 'WebSockets' ? undefined : this.#refusal()
    if (refused !== undefined) throw refused
    if (viewer === undefined) return nothing
    const counts = this.#counts[counted]
    const { username } = viewer
    const limit = this.#limits[limitOf[counted]]
    if (counts.of(username) >= limit) {
      throw new ClientError(
        'TOO_MANY_OPERATIONS',
        `this user already has ${limit} ${counted} running`,
        {
          value: limit,
          hint: 'wait until some of them have ended',
          retryAfterMs,
        },
      )
    }
    counts.add(username)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      counts.remove(username)
    }
  }
}

/** Bounds of the bytes that wait for slow readers, on all transports. */
export interface UnsentLimits {
  /**
   * The maximum number of bytes that wait to be sent to one user, over all connections. Beyond it, the user's slowest
   * connections are cut off. Default: 64 MiB, less in a small container.
   */
  readonly maxUnsentBytesPerUser: number
  /**
   * The maximum number of bytes that wait to be sent to all users. Beyond it, connections of the user with the most
   * waiting bytes are cut off. Default: 256 MiB, at most a third of the memory beside the heap, and at least 64 MiB.
   */
  readonly maxUnsentBytes: number
  /**
   * How long a connection may take no bytes while some wait, plus a second for each 256 KiB of them. Then it is cut
   * off.
   */
  readonly writeDeadlineMs: number
}

/** An output to one reader: an HTTP answer, an event stream, or a WebSocket. */
export interface OutputChannel {
  readonly transport: 'http' | 'websocket'
  readonly connection: Socket
  /** The reading user; `undefined` if unknown. */
  viewer(): Viewer | undefined
  /** The number of bytes that wait to leave the process. */
  waitingBytes(): number
  /** Ends the connection at once and drops the waiting bytes. */
  cutOff(): void
}

/** A reader at this pace is never cut off, however large the answer is. */
const bytesPerSecond = 262_144

export class UnsentBytes {
  readonly #limits: UnsentLimits
  readonly #observer: ServerObserver | undefined
  readonly #byUser = new Map<string | undefined, number>()
  /** Outputs with waiting bytes, ordered by the time since they last took any; the longest is first. */
  readonly #waiting = new Set<Output>()
  #total = 0

  constructor(limits: UnsentLimits, observer?: ServerObserver) {
    this.#limits = limits
    this.#observer = observer
    observer?.unsent?.(() => this.#total)
  }

  /** Counts the waiting bytes of a channel, from the next {@link Output.measure} until {@link Output.close}. */
  open(channel: OutputChannel): Output {
    return new Output(channel, this, this.#limits.writeDeadlineMs)
  }

  /** Adds a change of an output's waiting bytes to the sums. */
  changed(output: Output, difference: number): void {
    const { user, bytes } = output
    const ofUser = (this.#byUser.get(user) ?? 0) + difference
    if (ofUser === 0) this.#byUser.delete(user)
    else this.#byUser.set(user, ofUser)
    this.#total += difference
    if (difference < 0) this.#waiting.delete(output)
    if (bytes > 0) this.#waiting.add(output)
    if (difference <= 0) return
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
        this.cutOff(output)
        return
      }
    }
  }

  cutOff(output: Output): void {
    const { channel } = output
    output.close()
    this.#observer?.cutOff?.(channel.transport)
    channel.cutOff()
  }
}

/** One channel, and its last measured number of waiting bytes. */
export class Output {
  readonly channel: OutputChannel
  readonly #all: UnsentBytes
  readonly #writeDeadlineMs: number
  #bytes = 0
  #user: string | undefined
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(channel: OutputChannel, all: UnsentBytes, writeDeadlineMs: number) {
    this.channel = channel
    this.#all = all
    this.#writeDeadlineMs = writeDeadlineMs
  }

  get bytes(): number {
    return this.#bytes
  }

  get user(): string | undefined {
    return this.#user
  }

  /** Measures the waiting bytes. Call it after each write, and after bytes have been sent. */
  measure(): number {
    const now = this.#isClosed ? 0 : this.channel.waitingBytes()
    const before = this.#bytes
    if (now === before) return now
    // The user stays the same until nothing waits.
    if (before === 0) this.#user = this.channel.viewer()?.username
    this.#bytes = now
    if (now === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else this.#timer ??= this.#deadline()
    this.#all.changed(this, now - before)
    return now
  }

  close(): void {
    this.#isClosed = true
    this.measure()
  }

  #deadline(): NodeJS.Timeout {
    const sent = this.#sentBytes()
    const deadlineMs = this.#writeDeadlineMs + (this.#bytes * 1_000) / bytesPerSecond
    return setTimeout(() => {
      this.#timer = undefined
      if (this.measure() === 0) return
      if (this.#sentBytes() === sent) this.#all.cutOff(this)
      else this.#timer ??= this.#deadline()
    }, deadlineMs)
  }

  /** The number of bytes that the connection has taken. A slow reader takes some; a stuck one none. */
  #sentBytes(): number {
    const { bytesWritten, writableLength } = this.channel.connection
    return bytesWritten - writableLength
  }
}

export class OneFrame extends FrameStream {
  #frame: Buffer | undefined

  constructor(text: string) {
    super()
    this.#frame = Buffer.from(text)
    this.finish({ form: 'complete' })
  }

  override get isHeld(): boolean {
    return this.#frame !== undefined
  }

  override take(): Buffer | undefined {
    const frame = this.#frame
    this.leave()
    return frame
  }

  protected override leave(): void {
    this.#frame = undefined
  }
}

/** The number of waiting bytes beyond which a connection takes no more frames. */
const maxWaitingBytes = 262_144

export class FrameSink {
  readonly #output: Output
  #waiting = new Set<() => void>()

  constructor(output: Output) {
    this.#output = output
  }

  /** Call when the connection is closed. */
  close(): void {
    this.#output.close()
    this.#waiting.clear()
  }

  /**
   * Sends all frames of a stream. `write` writes one frame as a message of its operation; subscribers share the
   * payload, so it must not change. Resolves when the stream has ended.
   */
  send(stream: FrameStream, write: (payload: Buffer) => void): Promise<StreamEnd> {
    return new Promise((resolve) => {
      const pump = (): void => {
        while (stream.isHeld || this.#hasRoom(pump)) {
          const payload = stream.take()
          if (payload !== undefined) {
            write(payload)
            continue
          }
          if (stream.end !== undefined) resolve(stream.end)
          return
        }
        // A closed stream does not wait for room.
        if (stream.isClosed && stream.end !== undefined) resolve(stream.end)
      }
      stream.onReady(pump)
      pump()
    })
  }

  /** Call when waiting bytes have been sent, or at least when none are left. */
  drained(): void {
    if (this.#output.measure() > maxWaitingBytes / 2 || this.#waiting.size === 0) return
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const pump of waiting) pump()
  }

  #hasRoom(pump: () => void): boolean {
    if (this.#output.measure() <= maxWaitingBytes) return true
    this.#waiting.add(pump)
    return false
  }
}
