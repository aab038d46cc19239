/*
 * The subscriptions that follow no list: the clusters of the fleet, changes, a drain, and the events of an extension. Each is a
 * source of events. It takes the next event when the subscriber has taken the frame of the previous one (`EventFrames`).
 * Clusters and drains have a state: their changes are gathered for a while, and a slow subscriber skips intermediate
 * states.
 */

import { sleep } from '../../lib/backoff.ts'
import { FrameStream } from '../../lib/frame-stream.ts'
import { OperationExtensionContext, shownError } from '../extensions/extension-calls.ts'
import type { ExtensionContext } from '../extensions/extension.ts'
import type { KindCachesOptions } from '../extensions/kind-caches.ts'
import type { FollowedChanges } from '../reads/past/followed-changes.ts'
import type { FleetChanges } from '../served/served-schema.ts'
import type { DrainProgress } from '../schema/gateway-types.ts'
import type { Drain } from '../writes/drain.ts'

export interface ClustersStreamOptions {
  readonly coalesceMs: number
  readonly fleet: FleetChanges
  /** Set if the subscription follows what the caches hold as well. */
  readonly caches: FollowedCaches | undefined
  readonly read: () => Promise<string>
}

/** A subscription that follows caches reads for this share of the time, also while they change all the time… */
const readingShare = 0.1
/** …but waits no longer than this: the state of a cluster is in its frames, too. */
const mostRestMs = 5_000

export interface FollowedCaches {
  readonly everyMs: number
  /** A text that differs whenever the caches may have changed. */
  readonly state: () => string
  /** Calls back when the rights of the subscriber may have changed. */
  readonly onRights: (listener: () => void) => () => void
}

/**
 * A subscription to `gatewayClusters`: the answer for the present clusters, and a new answer whenever a change of the
 * clusters changes it, or one of the caches that are followed. While the caches rest, nothing is read. Rejects with the
 * error that prevents the first answer.
 */
export async function clustersStream({
  coalesceMs,
  fleet,
  caches,
  read,
}: ClustersStreamOptions): Promise<FrameStream> {
  const leaving = new AbortController()
  const { signal } = leaving
  let change = Promise.withResolvers<void>()
  let isWithheld = false
  let state = caches?.state()
  const lookAtCaches = (): void => {
    const now = caches?.state()
    if (now === state) return
    state = now
    change.resolve()
  }
  const looking = caches && setInterval(lookAtCaches, caches.everyMs).unref()
  // Listens before it reads, so that no change is missed.
  const forget = [
    fleet.onChanged(() => change.resolve()),
    caches?.onRights(() => {
      isWithheld = true
      change.resolve()
    }),
  ]
  signal.addEventListener('abort', () => {
    clearInterval(looking)
    for (const one of forget) one?.()
    change.resolve()
  })
  async function* texts(first: string): AsyncGenerator<string, void, void> {
    let last = first
    let restMs = 0
    yield last
    while (!signal.aborted) {
      await change.promise
      await sleep(Math.max(coalesceMs, restMs), signal)
      if (signal.aborted) return
      change = Promise.withResolvers()
      if (isWithheld) last = ''
      isWithheld = false
      const beganMs = performance.now()
      const text = await read()
      if (caches !== undefined) {
        restMs = Math.min((performance.now() - beganMs) / readingShare, mostRestMs)
      }
      if (text !== last) yield (last = text)
    }
  }
  try {
    const events = texts(await read())
    return new EventFrames({
      events,
      write: (text) => Buffer.from(text),
      leaving,
      isWithheld: () => isWithheld,
    })
  } catch (error) {
    leaving.abort()
    throw error
  }
}

export interface ChangesStreamOptions {
  readonly followed: FollowedChanges
  readonly coalesceMs: number
  /** Call back when changes were written, and when the rights of the subscriber may have changed. */
  readonly onWritten: (listener: () => void) => () => void
  readonly onRights: (listener: () => void) => () => void
  readonly read: (followed: FollowedChanges) => Promise<string>
}

/**
 * A subscription to changes: a frame whenever the archive has written some that the subscriber may see. A frame that was not
 * taken when the rights changed is never sent: the next one begins anew.
 */
export async function changesStream({
  followed,
  coalesceMs,
  onWritten,
  onRights,
  read,
}: ChangesStreamOptions): Promise<FrameStream> {
  const leaving = new AbortController()
  const { signal } = leaving
  let change = Promise.withResolvers<void>()
  let isWithheld = false
  const forget = [
    onWritten(() => change.resolve()),
    onRights(() => {
      isWithheld = true
      followed.doubt()
      change.resolve()
    }),
  ]
  signal.addEventListener('abort', () => {
    for (const one of forget) one()
    change.resolve()
  })
  async function* texts(): AsyncGenerator<string, void, void> {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      change = Promise.withResolvers()
      isWithheld = false
      const text = await read(followed)
      const place = followed.advance()
      if (isFirst || place === undefined || place.isNews) yield text
      // The frame has an error in place of its changes.
      if (place === undefined && isFirst) return
      if (place?.hasMore === true) continue
      await change.promise
      await sleep(coalesceMs, signal)
    }
  }
  return new EventFrames({
    events: texts(),
    write: (text) => Buffer.from(text),
    leaving,
    isWithheld: () => isWithheld,
    withheld: () => followed.restart(),
  })
}

const drainCoalesceMs = 100

/**
 * The progress of a drain, whole in each frame. The drain begins with the subscription and stops when the subscriber
 * leaves: the node stays cordoned, and evicted pods stay evicted.
 */
export function drainStream(drain: Drain, write: (progress: DrainProgress) => Buffer): FrameStream {
  const leaving = new AbortController()
  const { signal } = leaving
  let change = Promise.withResolvers<void>()
  let isOver = false
  const over = drain
    .run(() => change.resolve(), signal)
    .then(() => {
      isOver = true
      change.resolve()
    })
  async function* states(): AsyncGenerator<DrainProgress, void, void> {
    for (;;) {
      const isLast = isOver
      change = Promise.withResolvers()
      yield drain.progress
      if (isLast) return
      await change.promise
      await Promise.race([sleep(drainCoalesceMs, signal), over])
    }
  }
  return new EventFrames({ events: states(), write, leaving })
}

export interface ExtensionStreamOptions {
  readonly caller: KindCachesOptions
  /** By `performance.now()`. The resolver's signal aborts if it gives no events by then. */
  readonly endsAtMs: number
  readonly subscribe: (
    context: ExtensionContext,
  ) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>
  readonly write: (event: unknown) => Promise<string>
}

/** A subscription of an extension. Rejects with the error of the resolver. */
export async function extensionStream({
  caller,
  endsAtMs,
  subscribe,
  write,
}: ExtensionStreamOptions): Promise<FrameStream> {
  const leaving = new AbortController()
  const late = setTimeout(() => leaving.abort(), Math.max(0, endsAtMs - performance.now()))
  const context = new OperationExtensionContext(caller, leaving.signal)
  try {
    const events = await subscribe(context)
    return new EventFrames({
      events: events[Symbol.asyncIterator](),
      write: async (event) => Buffer.from(await write(event)),
      leaving,
      taken: () => context.renew(),
      shown: shownError,
    })
  } catch (error) {
    leaving.abort()
    throw shownError(error)
  } finally {
    clearTimeout(late)
  }
}

interface EventFramesOptions<T> {
  readonly events: AsyncIterator<T>
  readonly write: (event: T) => Buffer | Promise<Buffer>
  /** Aborted when the subscriber leaves, and when the events fail. */
  readonly leaving: AbortController
  /** Called when the subscriber has taken a frame, before the next event is taken. */
  readonly taken?: () => void
  readonly shown?: (error: unknown) => unknown
  /** Whether the frame that waits may not be sent any more. */
  readonly isWithheld?: () => boolean
  /** Called when such a frame is dropped. */
  readonly withheld?: () => void
}

/** Frames of events, one after the other: a slow subscriber slows the events, and one frame is held. */
class EventFrames<T> extends FrameStream {
  readonly #options: EventFramesOptions<T>
  #frame: Buffer | undefined
  #taken: () => void = () => {}
  #rows = 0

  constructor(options: EventFramesOptions<T>) {
    super()
    this.#options = options
    void this.#follow()
  }

  override get rows(): number {
    return this.#rows
  }

  take(): Buffer | undefined {
    const frame = this.#frame
    if (frame === undefined) return undefined
    this.#frame = undefined
    if (this.#options.isWithheld?.() === true) {
      this.#options.withheld?.()
      this.#taken()
      return undefined
    }
    this.#rows += 1
    this.#taken()
    return frame
  }

  protected leave(): void {
    const { events, leaving } = this.#options
    this.#frame = undefined
    leaving.abort()
    this.#taken()
    // Not awaited: an iterator that waits for an event may end only after it.
    void (async () => await events.return?.())().catch(() => {})
  }

  async #follow(): Promise<void> {
    const { events, write, leaving, taken = () => {}, shown = (error) => error } = this.#options
    try {
      for (;;) {
        const next = await events.next()
        if (next.done === true || this.isClosed) break
        const frame = await write(next.value)
        if (this.isClosed) return
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#taken = resolve
        this.#frame = frame
        this.announce()
        await promise
        taken()
      }
      if (!this.isClosed) this.finish({ form: 'complete' })
    } catch (error) {
      leaving.abort()
      if (!this.isClosed) this.finish({ form: 'failed', errors: [shown(error)] })
    }
  }
}

/** The stream of a subscription that is refused. */
export class FailedStream extends FrameStream {
  constructor(errors: readonly unknown[]) {
    super()
    this.finish({ form: 'failed', errors })
  }

  take(): undefined {
    return undefined
  }

  protected leave(): void {}
}
