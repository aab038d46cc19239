import { Backoff, sleep } from '../../lib/backoff.ts'
import { latestResourceVersion, type ResourceVersion } from '../../kubernetes/resource-version.ts'
import { ApiStatusError, isExpired, isTooLargeResourceVersion } from '../../kubernetes/status.ts'
import { readBookmark, readErrorEvent, readWatchFrame } from '../../kubernetes/watch-event.ts'
import type { InformerFailure, InformerObserver } from '../informer-observer.ts'
import { InitialList } from './initial-list.ts'
import { ListClock } from './list-stages.ts'
import type { ListerWatcher, Selection } from './lister-watcher.ts'
import {
  isFatalForWatch,
  isRetriedInPlace,
  isStreamingListRefusal,
  VeryShortWatchError,
} from './reflector-errors.ts'
import { reflectorDefaults, type ReflectorOptions } from './reflector-options.ts'
import type { ReflectorTarget } from './reflector-target.ts'
import type { StoreContents } from '../store/store-contents.ts'
import { receiveInitialEvents } from './streaming-list.ts'
import { abortOnSuspend, WatchStream } from './watch-stream.ts'

export interface ReflectorParts {
  /** For messages: `pods`, `deployments.apps`. */
  readonly resourceName: string
  readonly source: ListerWatcher
  readonly target: ReflectorTarget
  readonly observer: InformerObserver
  /** Shared by the reflectors of one cluster: whether its server has refused a streaming list. */
  readonly watchListSupport: { refused: boolean }
}

/** What a reflector is doing. */
export type ReflectorState = 'idle' | 'listing' | 'watching' | 'waiting' | 'stopped'

/**
 * Keeps a target in step with a resource: lists it, watches it from there, and does whatever is needed when either
 * fails (client-go's `Reflector`; the numbers in the comments are those of its rules in docs/informer.md).
 */
export class Reflector {
  readonly #parts: ReflectorParts
  readonly #options: typeof reflectorDefaults
  readonly #selection: Selection
  readonly #list: InitialList
  readonly #backoff: Backoff
  #last = latestResourceVersion
  /** The server could not serve {@link #last}: the next list asks for the most recent state. */
  #lastUnavailable = false
  /** The last watch broke: the server may have come back with an older state. */
  #probeDue = false
  #state: ReflectorState = 'idle'
  #lastError: Error | undefined
  #lastContactMs: number | undefined

  constructor(parts: ReflectorParts, options: ReflectorOptions) {
    this.#parts = parts
    this.#options = { ...reflectorDefaults, ...options }
    const { namespace, labelSelector, fieldSelector } = options
    this.#selection = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    }
    this.#backoff = new Backoff(this.#options.backoff)
    this.#list = new InitialList({
      source: parts.source,
      target: parts.target,
      selection: this.#selection,
      pageSize: options.pageSize,
      defaultPageSize: reflectorDefaults.pageSize,
      retry: async (error, signal) => {
        this.#report('list', error)
        await this.#pause(error, signal)
        this.#state = 'listing'
      },
    })
  }

  get state(): ReflectorState {
    return this.#state
  }

  /** `performance.now()` at the last list, event or bookmark; `undefined` before the first. */
  get lastContactMs(): number | undefined {
    return this.#lastContactMs
  }

  /** The last failure; `undefined` since the last success. */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  /** Lists and watches until the signal is aborted. Never rejects: every failure is reported and tried again. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#listAndWatch(signal)
      } catch (error) {
        if (signal.aborted) break
        await this.#pause(error, signal)
      }
    }
    this.#state = 'stopped'
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const streamed =
      this.#options.initialList === 'watchlist' && !this.#parts.watchListSupport.refused
        ? await this.#streamList(signal)
        : undefined
    if (streamed === undefined) await this.#receiveList(signal)
    await this.#watchOn(streamed, signal)
  }

  async #receiveList(signal: AbortSignal): Promise<void> {
    this.#state = 'listing'
    this.#parts.observer.listing?.()
    const clock = new ListClock()
    try {
      const last = this.#lastUnavailable ? undefined : this.#last
      const list = await this.#list.receive(last, clock, signal, (error) => {
        this.#lastUnavailable = true
        this.#report('list', error)
      })
      if (signal.aborted) return
      this.#replace(list.contents, list.resourceVersion, clock)
    } catch (error) {
      if (!signal.aborted) this.#report('list', error)
      throw error
    }
  }

  #replace(contents: StoreContents, at: ResourceVersion, clock: ListClock): void {
    clock.received()
    this.#last = at
    this.#lastUnavailable = false
    this.#probeDue = false
    this.#lastError = undefined
    this.#lastContactMs = performance.now()
    this.#parts.target.push({ type: 'REPLACED', contents, resourceVersion: at, clock })
    this.#parts.observer.listed?.({ items: contents.size, durationMs: clock.ageMs })
  }

  /** Watches from the last resource version, again and again, until only a list can help: then it throws. */
  async #watchOn(opened: WatchStream | undefined, signal: AbortSignal): Promise<void> {
    let stream = opened
    while (!signal.aborted) {
      try {
        stream ??= await this.#open(signal)
        await this.#consume(stream, signal)
        this.#probeDue ||= !stream.hasRunItsTime
        this.#checkLength(stream)
      } catch (error) {
        if (signal.aborted) return
        this.#report('watch', error)
        if (isRetriedInPlace(error)) {
          await this.#pause(error, signal)
        } else if (stream === undefined || isFatalForWatch(error)) {
          throw error
        } else {
          this.#probeDue = true
          this.#checkBroken(stream)
        }
      } finally {
        await stream?.close()
        stream = undefined
      }
    }
  }

  async #open(signal: AbortSignal): Promise<WatchStream> {
    // Without a position there is nothing that the server could have lost.
    if (this.#probeDue && this.#last !== latestResourceVersion) await this.#probe(signal)
    const stream = await this.#start(
      { ...this.#selection, resourceVersion: this.#last, allowWatchBookmarks: true },
      signal,
    )
    this.#lastError = undefined
    return stream
  }

  async #start(
    options: Parameters<ListerWatcher['watch']>[0],
    signal: AbortSignal,
  ): Promise<WatchStream> {
    const { min, max } = this.#options.watchTimeoutSeconds
    const timeoutSeconds = Math.round(min + Math.random() * (max - min))
    const stream = await WatchStream.open(
      this.#parts.source,
      { ...options, timeoutSeconds },
      signal,
    )
    this.#parts.observer.watching?.(this.#last)
    return stream
  }

  /**
   * A server restored from a backup answers a watch from the future with silence. A list of one item at the last
   * position, which it refuses as too large, tells.
   */
  async #probe(signal: AbortSignal): Promise<void> {
    try {
      const response = await this.#parts.source.list(
        {
          ...this.#selection,
          resourceVersion: this.#last,
          resourceVersionMatch: 'NotOlderThan',
          limit: 1,
        },
        signal,
      )
      for await (const items of response) void items
      this.#probeDue = false
    } catch (error) {
      if (isTooLargeResourceVersion(error)) this.#lastUnavailable = true
      throw error
    }
  }

  async #consume(stream: WatchStream, signal: AbortSignal): Promise<void> {
    this.#state = 'watching'
    const release = abortOnSuspend(stream, this.#options.suspendGapMs)
    try {
      while (!signal.aborted) {
        const frames = await stream.next()
        if (frames === undefined) return
        this.#lastError = undefined
        this.#lastContactMs = performance.now()
        for (const frame of frames) this.#handle(frame)
        await this.#parts.target.room(signal)
      }
    } finally {
      release()
      const { frames: events, ageMs: durationMs } = stream
      const isShort = stream.isShort(this.#options.shortWatchMs)
      this.#parts.observer.watched?.({ events, durationMs, isShort })
    }
  }

  #handle(frame: Uint8Array): void {
    const { type, object } = readWatchFrame(frame)
    switch (type) {
      case 'ERROR':
        throw readErrorEvent(this.#parts.resourceName, object)
      case 'BOOKMARK': {
        const bookmark = readBookmark(object)
        this.#last = bookmark.resourceVersion
        this.#parts.target.push({ type, resourceVersion: bookmark.resourceVersion })
        return
      }
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const intake = this.#parts.target.take(object)
        if (intake === undefined) return
        if (intake.resourceVersion !== latestResourceVersion) this.#last = intake.resourceVersion
        const { key, entry } = intake
        const at = { resourceVersion: this.#last }
        this.#parts.target.push(
          entry === undefined ? { type: 'REFUSED', key, ...at } : { type, entry, ...at },
        )
      }
    }
  }

  /** A streaming list; `undefined` where a LIST has to do in this cycle. */
  async #streamList(signal: AbortSignal): Promise<WatchStream | undefined> {
    this.#state = 'listing'
    while (!signal.aborted) {
      this.#parts.observer.listing?.()
      const clock = new ListClock()
      const from = this.#lastUnavailable ? latestResourceVersion : this.#last
      let stream: WatchStream | undefined
      try {
        stream = await clock.untilFirstByte(
          this.#start(
            {
              ...this.#selection,
              resourceVersion: from,
              resourceVersionMatch: 'NotOlderThan',
              sendInitialEvents: true,
              allowWatchBookmarks: true,
            },
            signal,
          ),
        )
        const list = await receiveInitialEvents(stream, {
          resourceName: this.#parts.resourceName,
          target: this.#parts.target,
          clock,
          silenceMs: this.#options.watchListSilenceMs,
        })
        this.#replace(list.contents, list.resourceVersion, clock)
        return stream
      } catch (error) {
        await stream?.close()
        if (signal.aborted) throw error
        this.#report('list', error)
        if (isRetriedInPlace(error)) {
          await this.#pause(error, signal)
        } else if (
          from !== latestResourceVersion &&
          (isExpired(error) || isTooLargeResourceVersion(error))
        ) {
          this.#lastUnavailable = true
        } else {
          if (isStreamingListRefusal(error)) this.#parts.watchListSupport.refused = true
          return undefined
        }
      }
    }
    return undefined
  }

  /** A server that ends watches at once must not be asked in a tight loop. */
  #checkLength(stream: WatchStream): void {
    if (stream.isShort(this.#options.shortWatchMs)) {
      throw new VeryShortWatchError(this.#parts.resourceName, stream.ageMs)
    }
  }

  /** The same for a connection that broke, which has been reported already. */
  #checkBroken(stream: WatchStream): void {
    try {
      this.#checkLength(stream)
    } catch (error) {
      this.#report('watch', error)
      throw error
    }
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    this.#state = 'waiting'
    const askedMs = (error instanceof ApiStatusError ? error.retryAfterMs : undefined) ?? 0
    const delayMs = this.#backoff.nextMs()
    await sleep(askedMs > 0 ? Math.min(askedMs, this.#options.maxRetryAfterMs) : delayMs, signal)
  }

  #report(failure: InformerFailure, error: unknown): void {
    this.#lastError = error instanceof Error ? error : new Error(String(error))
    this.#parts.observer.failed?.(failure, this.#lastError)
  }
}
