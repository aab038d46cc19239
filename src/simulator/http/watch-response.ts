import { randomInt } from 'node:crypto'
import { initialEventsEndAnnotation, type WatchEventType } from '../../kubernetes/watch-event.ts'
import type { StorageEvent } from '../storage/event-history.ts'
import type { ListQuery } from './list-options.ts'
import type { ObjectText } from './object-text.ts'
import { Refusal, tooLargeResourceVersion, watchExpired } from '../api/status-refusal.ts'
import type { ResourceStore } from '../storage/resource-store.ts'
import type { FrameRewriter, ResponseSink, WatchFrame } from '../faults/fault-effects.ts'
import { ChunkedWriter } from './response-sink.ts'
import { isSelected, type Selection } from './selection.ts'
import type { Storage } from '../storage/storage.ts'
import { type StoredObject, withRevision } from '../storage/stored-object.ts'

/** Everything that one watch needs. */
export interface Watch {
  readonly storage: Storage
  readonly store: ResourceStore
  readonly selection: Selection
  readonly query: ListQuery
  readonly text: ObjectText
  readonly sink: ResponseSink
  /** 0: none. */
  readonly bookmarkIntervalMs: number
  readonly rewrite: FrameRewriter | undefined
  /** Whether the resource is no longer served: its watches end, after the last event. */
  readonly isGone: () => boolean
  /** Aborted when the connection closes, the server stops, or a fault ends the watch with its reason, a Refusal. */
  readonly signal: AbortSignal
}

/**
 * Serves one watch to its end. It keeps no buffer of its own: it reads the resource's history as fast as the client
 * takes it, and one that falls behind the history is disconnected.
 */
export async function streamWatch(watch: Watch): Promise<void> {
  const stream = new WatchStream(watch)
  try {
    if (!(await stream.open())) return
    while (await stream.advance());
  } finally {
    stream.close()
  }
}

const lineEnd = Buffer.from('}\n')
const heads = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  ERROR: Buffer.from('{"type":"ERROR","object":'),
} satisfies Record<WatchEventType, Buffer>

/** As in kube-apiserver, the last bookmark comes this long before a watch is closed by its timeout. */
const lastBookmarkMs = 2000

class WatchStream {
  readonly #watch: Watch
  readonly #writer: ChunkedWriter
  readonly #unsubscribe: () => void
  readonly #timers: NodeJS.Timeout[] = []
  /** The number of the next event in the history. */
  #next = 0
  /** Events up to here are known to the client. */
  #since = 0
  #wake: () => void = () => undefined
  #woken = false
  #timedOut = false
  #bookmarkDue = false
  #ended = false

  constructor(watch: Watch) {
    this.#watch = watch
    this.#writer = new ChunkedWriter(watch.sink)
    this.#unsubscribe = watch.store.subscribe(this.#notify)
    watch.signal.addEventListener('abort', this.#notify)
  }

  close(): void {
    this.#unsubscribe()
    this.#watch.signal.removeEventListener('abort', this.#notify)
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #notify = (): void => {
    this.#woken = true
    this.#wake()
  }

  /** Sends the initial events, if any; `false` where the watch is over already. */
  async open(): Promise<boolean> {
    const { query, storage, store } = this.#watch
    const { revision = 0, sendInitialEvents } = query
    this.#setTimers()
    // A kube-apiserver takes a watch from '' or '0' that says nothing about initial events for one that wants them.
    const initial = sendInitialEvents ?? revision === 0
    if (initial && revision > storage.revision) {
      return this.#fail(tooLargeResourceVersion(revision, storage.revision))
    }
    this.#since = revision === 0 || initial ? storage.revision : revision
    const next = store.history.after(this.#since)
    if (next === undefined) return this.#fail(watchExpired(revision, store.history.floor))
    this.#next = next
    return !initial || this.#sendInitial()
  }

  #setTimers(): void {
    const { timeoutSeconds, allowWatchBookmarks } = this.#watch.query
    const timeoutMs = (timeoutSeconds > 0 ? timeoutSeconds : randomInt(1800, 3600)) * 1000
    const { bookmarkIntervalMs } = this.#watch
    const bookmark = (): void => {
      this.#bookmarkDue = true
      this.#notify()
    }
    const atEnd = (): void => {
      this.#timedOut = true
      this.#notify()
    }
    this.#timers.push(setTimeout(atEnd, Math.min(timeoutMs, 2 ** 31 - 1)))
    if (!allowWatchBookmarks || bookmarkIntervalMs === 0) return
    this.#timers.push(setInterval(bookmark, bookmarkIntervalMs))
    if (timeoutMs > lastBookmarkMs) {
      this.#timers.push(setTimeout(bookmark, Math.min(timeoutMs - lastBookmarkMs, 2 ** 31 - 1)))
    }
  }

  async #sendInitial(): Promise<boolean> {
    const { query, selection, storage, store } = this.#watch
    const { namespace } = selection
    const revision = storage.revision
    const snapshot = store.snapshot(revision, { namespace, from: '' })
    // The objects of one moment: what changes while they are sent follows as events.
    for (const object of Array.from(snapshot?.objects ?? [])) {
      if (isSelected(selection, object) && !(await this.#sendObject('ADDED', object))) return false
    }
    if (query.allowWatchBookmarks) {
      return this.#send('initial-events-end', [this.#bookmark(revision, true)])
    }
    return true
  }

  /** Sends what there is, then waits for more; `false` when the watch is over. */
  async advance(): Promise<boolean> {
    const { history } = this.#watch.store
    this.#woken = false
    while (this.#next < history.end) {
      const event = history.at(this.#next++)
      if (event === undefined) return this.#fallenBehind()
      if (event.revision > this.#since && !(await this.#sendEvent(event))) return false
    }
    if (this.#next < history.start || this.#next > history.end) return this.#fallenBehind()
    if (this.#bookmarkDue) {
      this.#bookmarkDue = false
      const at = Math.max(this.#since, this.#watch.storage.revision)
      if (!(await this.#send('bookmark', [this.#bookmark(at, false)]))) return false
    }
    if (!(await this.#writer.flush())) return false
    const { signal, sink } = this.#watch
    if (signal.aborted) return this.#aborted()
    if (this.#timedOut) {
      sink.end()
      return false
    }
    if (this.#woken) return true
    if (this.#watch.isGone()) {
      sink.end()
      return false
    }
    await new Promise<void>((resolve) => (this.#wake = resolve))
    return true
  }

  #fallenBehind(): false {
    this.#watch.sink.destroy()
    return false
  }

  async #aborted(): Promise<false> {
    const { signal, sink } = this.#watch
    const reason: unknown = signal.reason
    if (reason instanceof Refusal) return this.#fail(reason)
    sink.end()
    return false
  }

  async #fail({ status }: Refusal): Promise<false> {
    const body = Buffer.from(JSON.stringify(status))
    await this.#send('error', [heads.ERROR, body, lineEnd])
    if (await this.#writer.flush()) this.#watch.sink.end()
    return false
  }

  async #sendEvent(event: StorageEvent): Promise<boolean> {
    const { selection } = this.#watch
    const before = isSelected(selection, event.previous) ? event.previous : undefined
    if (event.type !== 'DELETED' && isSelected(selection, event.object)) {
      return this.#sendObject(before === undefined ? 'ADDED' : 'MODIFIED', event.object)
    }
    // What leaves the selection is deleted for this client: as it was, at the revision at which it left.
    if (before === undefined) return true
    const gone = event.type === 'DELETED' ? event.object : withRevision(before, event.revision)
    return this.#sendObject('DELETED', gone)
  }

  async #sendObject(
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    object: StoredObject,
  ): Promise<boolean> {
    return this.#send('event', [heads[type], ...this.#watch.text.whole(object), lineEnd])
  }

  #bookmark(revision: number, endsInitial: boolean): Buffer {
    const { kind, apiVersion } = this.#watch.text
    const annotations = endsInitial ? { annotations: { [initialEventsEndAnnotation]: 'true' } } : {}
    const metadata = { resourceVersion: String(revision), ...annotations }
    const object = JSON.stringify({ kind, apiVersion, metadata })
    return Buffer.from(`{"type":"BOOKMARK","object":${object}}\n`)
  }

  /** `false` when the stream is over: the connection is gone, or a fault has ended it. */
  async #send(kind: WatchFrame['kind'], parts: readonly Buffer[]): Promise<boolean> {
    const { rewrite, sink } = this.#watch
    if (this.#ended) return false
    if (rewrite === undefined) return this.#writer.add(...parts) ? this.#writer.flush() : true
    const { bytes, end } = rewrite({ kind, bytes: Buffer.concat(parts) })
    const full = this.#writer.add(...bytes)
    if (!end) return full ? this.#writer.flush() : true
    this.#ended = true
    if (await this.#writer.flush()) sink.end()
    return false
  }
}
