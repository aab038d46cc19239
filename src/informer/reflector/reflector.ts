import { Backoff, sleep } from '../../lib/backoff.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { LinkedController } from '../../lib/linked-controller.ts'
import {
  anyResourceVersion,
  compareResourceVersions,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'
import { ApiStatusError, isExpired, isTooLargeResourceVersion } from '../../kubernetes/status.ts'
import { readErrorEvent, readWatchFrame } from '../../kubernetes/watch-event.ts'
import type { InformerFailure } from '../informer-observer.ts'
import { takeBase } from './archived-base.ts'
import { DeltaQueue, type DeltaSink, ListClock } from './delta-queue.ts'
import { InitialList, type ReceivedList, receiveInitialEvents } from './initial-list.ts'
import { type Selection, selectionOf, type WatchOptions } from './lister-watcher.ts'
import {
  isBrokenConnection,
  isRefusedConnection,
  isRetriedInPlace,
  isStreamingListRefusal,
  isUnreached,
  VeryShortWatchError,
} from './reflector-errors.ts'
import {
  reflectorDefaults,
  type ReflectorOptions,
  type ReflectorParts,
} from './reflector-options.ts'
import { abortOnSuspend, WatchStream } from './watch-stream.ts'

/**
 * The state of a reflector:
 * - `idle`: not started;
 * - `listing`: a list is in progress;
 * - `watching`: the list is complete, and nothing has failed since, whether or not a watch is open at this moment;
 * - `reconnecting`: a watch has failed and is being reopened;
 * - `waiting`: a request has failed and is repeated after a pause;
 * - `stopped`.
 */
export type ReflectorState =
  | 'idle'
  | 'listing'
  | 'watching'
  | 'reconnecting'
  | 'waiting'
  | 'stopped'

/** The first probe comes after so much silence, each further one after twice as much. */
const firstSilenceMs = 4000
const longestSilenceMs = 60_000

/**
 * How long a watch from an archive's position is silent once it has sent what happened since: an API server sends that at
 * once.
 */
const quietMs = 100
/** If it is never silent: how long until its events count as new. */
const catchUpMs = 1_000
/** How long such a watch may take to begin. */
const openingMs = 10_000

/** The reflector's next step. A streaming list that broke is tried once more. */
type Step = 'base' | 'stream' | 'stream again' | 'list' | 'watch'

/**
 * Turns a resource into deltas: lists it, watches it from there, and recovers when either fails (client-go's
 * `Reflector`; docs/informer.md has its rules).
 *
 * It works in steps. A watch follows each step that succeeds. A step that throws leads to `#recover`, the only place
 * that handles failures: it reports them and chooses the next step.
 */
export class Reflector {
  readonly #parts: ReflectorParts
  readonly #options: typeof reflectorDefaults
  readonly #selection: Selection
  readonly #list: InitialList
  readonly #backoff: Backoff
  readonly #rereading = new Rereading()
  #queue: DeltaSink = new DeltaQueue(0)
  #doing: Exclude<ReflectorState, 'reconnecting'> = 'idle'
  #lastError: Error | undefined
  #lastContactMs: number | undefined
  /** When a part of the first list last arrived, or the reflector began. */
  #heardMs = performance.now()
  readonly #position = new Position()
  /** The open watch. A streaming list leaves its stream open for the watch that follows. */
  #stream: WatchStream | undefined
  #opening: LinkedController | undefined
  /** Whether the server has ended the last watch at its time. */
  #hasRunItsTime = false
  /** Whether the server was unreachable and has sent no object since. */
  #wasUnreached = false
  #mayStream: boolean
  /** The archive to begin with; `undefined` once it was read or refused. */
  #base: ReflectorParts['base']
  /** The changes since the archive was written arrive, up to this version if it is known. */
  #catchingUp: { readonly until: ResourceVersion | undefined; sinceMs?: number } | undefined
  /** Whether the next run begins with a watch: see {@link follow}. */
  #follows = false

  constructor(given: ReflectorParts, options: ReflectorOptions) {
    const parts = { ...given, stage: () => given.stage(this.#rereading.isReread) }
    this.#parts = parts
    this.#base = given.base
    this.#options = { ...reflectorDefaults, ...options }
    this.#mayStream = this.#options.initialList === 'watchlist'
    this.#selection = selectionOf(options)
    if (parts.notBefore !== undefined) this.#position.moved(parts.notBefore)
    this.#backoff = new Backoff(this.#options.backoff)
    this.#list = new InitialList(parts, {
      ...options,
      retry: async (error, signal) => {
        this.#failed('list', error)
        await this.#pause(error, signal)
        this.#doing = 'listing'
      },
    })
  }

  get state(): ReflectorState {
    const hasFailed = this.#doing === 'watching' && this.#lastError !== undefined
    return hasFailed ? 'reconnecting' : this.#doing
  }

  get lastError(): Error | undefined {
    return this.#lastError
  }

  get lastContactMs(): number | undefined {
    return this.#lastContactMs
  }

  /** Whether it waits for the objects of the archive. */
  get awaitsBase(): boolean {
    return this.#base !== undefined
  }

  /** How long nothing of the first list has arrived that is asked for at present; 0 after it, and between two attempts. */
  get silentMs(): number {
    const isAsking = this.#lastContactMs === undefined && this.#doing !== 'waiting'
    return isAsking ? performance.now() - this.#heardMs : 0
  }

  /**
   * Lists and watches until the signal aborts. Reports and retries failures of the source; rejects only if the observer
   * throws. May be called again after it has ended.
   */
  async run(queue: DeltaSink, signal: AbortSignal): Promise<void> {
    this.#queue = queue
    this.#heardMs = performance.now()
    let step: Step = this.#base === undefined ? this.#listing() : 'base'
    if (this.#follows) step = 'watch'
    this.#follows = false
    try {
      while (!signal.aborted) {
        try {
          step = await this.#take(step, signal)
        } catch (error) {
          if (!signal.aborted) step = await this.#recover(step, error, signal)
        }
      }
    } finally {
      await this.#close()
      this.#doing = 'stopped'
    }
  }

  /**
   * The store has the objects of an archive at this position, and the server has reached `until`. The next run watches from
   * there, and ends what happened since with a bookmark.
   */
  follow(position: ResourceVersion, until: ResourceVersion | undefined): void {
    this.#follows = true
    this.#base = undefined
    this.#beginAt(position, until)
  }

  /** Lists again, and takes states with known resource versions as new. */
  reread(): void {
    this.#rereading.want()
    const reason = new RereadError()
    this.#opening?.abort(reason)
    this.#stream?.abort(reason)
  }

  #listing(): Step {
    return this.#mayStream ? 'stream' : 'list'
  }

  async #take(step: Step, signal: AbortSignal): Promise<Step> {
    switch (step) {
      case 'base':
        if (await this.#restore(signal)) return 'watch'
        this.#base = undefined
        return this.#listing()
      case 'stream':
      case 'stream again': {
        const streams = (await this.#parts.source.streamsLists?.(signal)) ?? true
        if (!streams) return 'list'
        await this.#streamList(signal)
        return 'watch'
      }
      case 'list':
        await this.#receiveList(signal)
        return 'watch'
      case 'watch':
        if (this.#rereading.isDue) await this.#close()
        else await this.#watch(signal)
        return this.#rereading.isDue ? this.#listing() : 'watch'
    }
  }

  /** Reports a failure, pauses if needed, and returns the next step. */
  async #recover(step: Step, error: unknown, signal: AbortSignal): Promise<Step> {
    const stream = this.#stream
    const hasBroken = stream !== undefined && isBrokenConnection(error)
    const isShort = stream?.isShort(this.#options.shortWatchMs) === true
    await this.#close()
    // Sources need not end an aborted watch with the reason.
    const isReread = error instanceof RereadError || (step === 'watch' && this.#rereading.isDue)
    if (isReread) {
      this.#base = undefined
      return this.#listing()
    }
    this.#failed(step === 'watch' || step === 'base' ? 'watch' : 'list', error)
    const isLate = this.#wasUnreached || this.#catchingUp !== undefined
    if (step === 'watch' && isLate && isExpired(error)) {
      // The server, or this program, is back. A list catches up with the changes that the server has forgotten.
      this.#wasUnreached = false
      this.#backoff.restart()
      return this.#listing()
    }
    if (isRetriedInPlace(error)) {
      if (isRefusedConnection(error)) this.#position.doubt = 'lost'
      await this.#pause(error, signal)
      return step
    }
    if (step === 'base') {
      this.#base = undefined
      return this.#listing()
    }
    if (step === 'stream' || step === 'stream again') {
      const isBehind = isExpired(error) || isTooLargeResourceVersion(error)
      if (isBehind && !this.#position.isUnavailable) {
        this.#position.isUnavailable = true
        return 'stream'
      }
      if (hasBroken && !isShort && step === 'stream') return 'stream again'
      if (isStreamingListRefusal(error)) {
        this.#mayStream = false
        this.#parts.source.streamingListRefused?.()
      }
      return 'list'
    }
    const isProbed = stream === undefined || this.#position.probeDue !== undefined
    if (isProbed && isTooLargeResourceVersion(error)) this.#position.isUnavailable = true
    if (hasBroken) {
      this.#position.doubt = 'lost'
      if (!isShort) return 'watch'
      // Prevents a tight loop if every connection breaks at once.
      this.#failed('watch', new VeryShortWatchError(this.#parts.resourceName, stream.ageMs))
    }
    await this.#pause(error, signal)
    return this.#listing()
  }

  /**
   * Begins with the objects of the archive, and opens a watch from their position, which sends what happened since. Returns
   * false if there are none to begin with. Throws if the server has forgotten the position: then nobody has seen them.
   */
  async #restore(signal: AbortSignal): Promise<boolean> {
    const base = await this.#base?.(signal, false)
    if (base === undefined) return false
    const { resourceVersion, reached } = base
    this.#doing = 'listing'
    const clock = new ListClock(() => this.#heard())
    this.#position.moved(resourceVersion)
    const leaving = new LinkedController(signal)
    const opening = clock.untilFirstByte(this.#open({ resourceVersion }, leaving))
    opening.catch(() => {})
    try {
      const { intake, stage } = this.#parts
      const contents = stage()
      await takeBase(base, { intake, contents }, clock.heard, signal)
      const stream = await withDeadline('the watch', opening, openingMs, signal)
      this.#stream = stream
      if (await stream.hasWithin(quietMs)) {
        const frames = (await stream.next()) ?? []
        this.#throwIfError(frames[0])
        stream.unread(frames)
      }
      clock.received()
      this.#base = undefined
      this.#observed()
      this.#doing = 'watching'
      this.#beginAt(resourceVersion, reached)
      const list = { contents, resourceVersion, clock, isReread: false }
      this.#queue.push({ type: 'REPLACED', ...list, isBase: true })
      this.#parts.observer.restored?.({ items: contents.size, durationMs: clock.ageMs })
      return true
    } catch (error) {
      leaving.abort()
      throw error
    }
  }

  #beginAt(position: ResourceVersion, until: ResourceVersion | undefined): void {
    this.#position.moved(position)
    // A server of another history may be silent.
    this.#position.doubt = until === undefined ? 'ended' : 'none'
    this.#catchingUp = { until }
  }

  #throwIfError(frame: Uint8Array | undefined): void {
    if (frame === undefined) return
    const { type, object } = readWatchFrame(frame)
    if (type === 'ERROR') throw readErrorEvent(this.#parts.resourceName, object)
  }

  /** The store is as the server was when the watch began. */
  #caughtUp(): void {
    if (this.#catchingUp === undefined) return
    this.#catchingUp = undefined
    this.#observed()
    const resourceVersion = this.#position.last
    this.#queue.push({ type: 'BOOKMARK', resourceVersion, endsBase: true })
  }

  /** Whether the server has sent what it had when the watch began. */
  async #isCaughtUp(stream: WatchStream): Promise<boolean> {
    const catchingUp = this.#catchingUp
    if (catchingUp === undefined) return true
    const { until } = catchingUp
    const order = until && compareResourceVersions(this.#position.last, until)
    if (typeof order === 'number' && order >= 0) return true
    catchingUp.sinceMs ??= performance.now()
    return performance.now() - catchingUp.sinceMs > catchUpMs || !(await stream.hasWithin(quietMs))
  }

  async #receiveList(signal: AbortSignal): Promise<void> {
    this.#doing = 'listing'
    this.#parts.observer.listing?.()
    const clock = new ListClock(() => this.#heard())
    const isReread = this.#rereading.listBegins()
    const list = await this.#list.receive(this.#position.listFrom, clock, signal, (error) => {
      this.#position.isUnavailable = true
      this.#failed('list', error)
    })
    signal.throwIfAborted()
    this.#replace(list, clock, isReread)
  }

  /** Leaves the stream open for the watch that follows. */
  async #streamList(signal: AbortSignal): Promise<void> {
    this.#doing = 'listing'
    this.#parts.observer.listing?.()
    const clock = new ListClock(() => this.#heard())
    const isReread = this.#rereading.listBegins()
    const opening = this.#open(
      {
        resourceVersion: this.#position.streamFrom,
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: true,
      },
      new LinkedController(signal),
    )
    this.#stream = await clock.untilFirstByte(opening)
    const list = await receiveInitialEvents(this.#stream, clock, this.#parts, this.#options)
    this.#replace(list, clock, isReread)
  }

  #replace(list: ReceivedList, clock: ListClock, isReread: boolean): void {
    const { contents, resourceVersion } = list
    clock.received()
    this.#wasUnreached = false
    this.#rereading.listed()
    this.#position.listed(resourceVersion)
    this.#catchingUp = undefined
    this.#observed()
    this.#doing = 'watching'
    this.#queue.push({ type: 'REPLACED', contents, resourceVersion, clock, isReread })
    this.#parts.observer.listed?.({ items: contents.size, durationMs: clock.ageMs })
  }

  /** Reads one watch to its end. Returns if the server ended it in order. */
  async #watch(signal: AbortSignal): Promise<void> {
    if (this.#stream === undefined) {
      this.#opening = new LinkedController(signal)
      this.#stream = await this.#openFromLast(this.#opening)
    }
    const stream = this.#stream
    await this.#consume(stream, signal)
    this.#hasRunItsTime = stream.hasRunItsTime
    if (!stream.hasRunItsTime && this.#position.doubt === 'none') this.#position.doubt = 'ended'
    if (stream.isShort(this.#options.shortWatchMs)) {
      throw new VeryShortWatchError(this.#parts.resourceName, stream.ageMs)
    }
    await this.#close()
  }

  async #openFromLast(controller: LinkedController): Promise<WatchStream> {
    if (this.#position.probeDue === 'first') await this.#probe(controller.signal)
    const stream = await this.#open({ resourceVersion: this.#position.last }, controller)
    this.#lastError = undefined
    return stream
  }

  async #open(options: WatchOptions, controller: LinkedController): Promise<WatchStream> {
    const continues = this.#hasRunItsTime
    this.#hasRunItsTime = false
    const { min, max } = this.#options.watchTimeoutSeconds
    const timeoutSeconds = Math.round(min + Math.random() * (max - min))
    const stream = await WatchStream.open(
      this.#parts.source,
      { ...this.#selection, ...options, allowWatchBookmarks: true, timeoutSeconds },
      controller,
    )
    this.#parts.observer.watching?.(this.#position.last, undefined, continues)
    return stream
  }

  /** Asks whether the server knows the position; {@link Position} says why. */
  async #probe(signal: AbortSignal): Promise<void> {
    const { source } = this.#parts
    const at = {
      resourceVersion: this.#position.last,
      resourceVersionMatch: 'NotOlderThan',
    } as const
    const response = await source.list({ ...this.#selection, ...at, limit: 1 }, signal)
    for await (const items of response) void items
    this.#position.doubt = 'none'
  }

  /**
   * While a watch is silent, probes whether its server has reached the position at which the watch began. If it has not,
   * breaks the watch with the server's error. A probe that fails otherwise proves nothing and is repeated. Never rejects.
   */
  async #probeWhileSilent(stream: WatchStream, signal: AbortSignal): Promise<void> {
    for (let waitMs = firstSilenceMs; ; waitMs = Math.min(longestSilenceMs, 2 * waitMs)) {
      await sleep(waitMs, signal)
      if (signal.aborted || stream.frames > 0) return
      try {
        return await this.#probe(signal)
      } catch (error) {
        if (signal.aborted) return
        if (isTooLargeResourceVersion(error)) return stream.abort(error as Error)
      }
    }
  }

  async #consume(stream: WatchStream, signal: AbortSignal): Promise<void> {
    this.#doing = 'watching'
    const queue = this.#queue
    const release = abortOnSuspend(stream, this.#options.suspendGapMs)
    const probing = this.#position.probeDue === undefined ? undefined : new LinkedController(signal)
    if (probing !== undefined) void this.#probeWhileSilent(stream, probing.signal)
    try {
      while (!signal.aborted) {
        if (this.#catchingUp !== undefined && (await this.#isCaughtUp(stream))) this.#caughtUp()
        const frames = await stream.next()
        if (frames === undefined) return
        this.#observed()
        for (const frame of frames) {
          this.#handle(frame)
          if (queue.isFull) await queue.room(signal)
        }
        this.#wasUnreached = false
      }
    } finally {
      release()
      probing?.abort()
      this.#rereading.watchEnded()
      const { frames: events, ageMs: durationMs } = stream
      const isShort = stream.isShort(this.#options.shortWatchMs)
      this.#parts.observer.watched?.({ events, durationMs, isShort })
    }
  }

  #handle(frame: Uint8Array): void {
    const { intake, resourceName } = this.#parts
    const { type, object } = readWatchFrame(frame)
    switch (type) {
      case 'ERROR':
        throw readErrorEvent(resourceName, object)
      case 'BOOKMARK': {
        const bookmark = intake.takeBookmark(object)
        if (bookmark === undefined) return
        const { resourceVersion } = bookmark
        this.#position.moved(resourceVersion)
        this.#queue.push({ type, resourceVersion })
        this.#caughtUp()
        return
      }
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const taken = intake.take(object, true)
        if (taken === undefined) return
        const { key, entry, resourceVersion: at } = taken
        if (at !== latestResourceVersion) this.#position.moved(at)
        const resourceVersion = this.#position.last
        this.#queue.push(
          entry === undefined
            ? { type: 'REFUSED', key, resourceVersion }
            : { type, entry, resourceVersion },
        )
      }
    }
  }

  #observed(): void {
    this.#lastError = undefined
    this.#lastContactMs = performance.now()
  }

  #heard(): void {
    this.#heardMs = performance.now()
  }

  #failed(failure: InformerFailure, error: unknown): void {
    this.#lastError = error instanceof Error ? error : new Error(String(error))
    this.#parts.failed(failure, this.#lastError)
  }

  async #close(): Promise<void> {
    const stream = this.#stream
    this.#stream = undefined
    await stream?.close()
    this.#opening?.abort()
    this.#opening = undefined
  }

  /** Waits for the server's `Retry-After`, else the back-off. Ends early when an unreachable server is back. */
  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    this.#doing = 'waiting'
    await this.#backingOff(error, signal)
    this.#heard()
  }

  async #backingOff(error: unknown, signal: AbortSignal): Promise<void> {
    const askedMs = (error instanceof ApiStatusError ? error.retryAfterMs : undefined) ?? 0
    const delayMs = this.#backoff.nextMs()
    if (askedMs > 0) return await sleep(Math.min(askedMs, this.#options.maxRetryAfterMs), signal)
    if (!isUnreached(error)) return await sleep(delayMs, signal)
    this.#wasUnreached = true
    const woken = new LinkedController(signal)
    const ends = woken.signal
    const back = (isBack: boolean): void => {
      if (isBack) this.#backoff.restart()
      woken.abort()
    }
    this.#parts.source.returned?.(ends).then(back, () => {})
    await sleep(delayMs, ends)
    woken.abort()
  }
}

class RereadError extends CodedError {
  constructor() {
    super('REREAD', 'the resource is being listed again')
  }
}

/**
 * Tracks a request to list again although no resource version has changed: a custom resource has a new definition, by
 * which the server shows other fields.
 *
 * The list happens twice: at once, and when the watch after it has ended. For a moment after such a change an API
 * server still answers by the old definition. It ends the watches that it opened by the old one.
 */
class Rereading {
  #step: 'none' | 'list' | 'listing' | 'watch' | 'list once more' = 'none'

  get isDue(): boolean {
    return this.#step === 'list' || this.#step === 'list once more'
  }

  /** Whether objects with known resource versions may look different in the list that has begun. */
  get isReread(): boolean {
    return this.#step !== 'none'
  }

  want(): void {
    this.#step = 'list'
  }

  listBegins(): boolean {
    if (this.#step === 'list') this.#step = 'listing'
    return this.#step !== 'none'
  }

  listed(): void {
    if (this.#step === 'listing') this.#step = 'watch'
    else if (this.#step === 'list once more') this.#step = 'none'
  }

  watchEnded(): void {
    if (this.#step === 'watch') this.#step = 'list once more'
  }
}

/**
 * The position of a reflector in the history of its resource, and how reliable it is. Two doubts may affect a position.
 *
 * First, the server may have said that it cannot serve the position: it has forgotten that moment (410), or has not
 * reached it yet ("too large"). Then the next list asks for the most recent state, once.
 *
 * Second, the watch may have ended early; then the server that answers next may have been restored from a backup. Such
 * a server does not refuse a WATCH from a position in its future: it answers 200 and stays silent until it has seen as
 * many changes again, and the cache would believe that nothing happens. It refuses a LIST, as "too large". So the
 * reflector requests a list of one item at the position: the probe. If the connection was lost or refused, the probe
 * comes before the next watch. If the server ended the watch in order, it most likely is the same server, and the probe
 * only comes if the next watch is silent.
 */
class Position {
  /** The last seen resource version; `''` before the first, or if the server sends none. */
  last = latestResourceVersion
  isUnavailable = false
  /** How the last watch ended, until the server is known to continue from there. */
  doubt: 'none' | 'ended' | 'lost' = 'none'

  /** The position for a LIST: any state at first, later nothing older than the last seen version. */
  get listFrom(): ResourceVersion {
    if (this.isUnavailable) return latestResourceVersion
    return this.last === latestResourceVersion ? anyResourceVersion : this.last
  }

  /** The position for a streaming list; never `"0"`. */
  get streamFrom(): ResourceVersion {
    const { last } = this
    return this.isUnavailable || last === anyResourceVersion ? latestResourceVersion : last
  }

  /** When to probe: before the next watch, or once that watch is silent. */
  get probeDue(): 'first' | 'when silent' | undefined {
    if (this.doubt === 'none' || this.last === latestResourceVersion) return undefined
    return this.doubt === 'lost' ? 'first' : 'when silent'
  }

  /** A whole list arrived, which ends all doubts. */
  listed(at: ResourceVersion): void {
    this.last = at
    this.isUnavailable = false
    this.doubt = 'none'
  }

  /** An event or bookmark arrived: the server continues from here. */
  moved(to: ResourceVersion): void {
    this.last = to
    this.doubt = 'none'
  }
}
