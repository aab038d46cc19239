import { randomInt } from 'node:crypto'
import { initialEventsEndAnnotation, type WatchEventType } from '../../kubernetes/watch-event.ts'
import { Refusal, tooLargeResourceVersion } from '../api/status-refusal.ts'
import type { FrameRewriter, ResponseSink, WatchFrame } from '../faults/fault-effects.ts'
import type { ResourceStore, StorageEvent } from '../storage/resource-store.ts'
import type { ResourceRequest } from './resource-request.ts'
import type { Storage } from '../storage/storage.ts'
import { type StoredObject, withRevision } from '../storage/stored-object.ts'
import { isSelected, type ListQuery, type Selection } from './list-query.ts'
import type { ObjectText } from './representation.ts'
import { ChunkedWriter } from './response-sink.ts'

/** A watch request, and the parts of the server that it uses. */
export interface Watch {
  readonly request: ResourceRequest
  readonly selection: Selection
  readonly query: ListQuery
  readonly text: ObjectText
  readonly sink: ResponseSink
  readonly rewrite: FrameRewriter | undefined
  /** Aborts when the connection closes or the server stops, or with a Refusal when a fault ends the watch. */
  readonly signal: AbortSignal
}

/**
 * Serves one watch to its end. It has no buffer: it reads the resource's history at the speed of the client, and
 * disconnects a client that falls behind the history.
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

/** The last bookmark comes this long before the timeout of a watch, as in a kube-apiserver. */
const lastBookmarkMs = 2000

class WatchStream {
  readonly #watch: Watch
  readonly #storage: Storage
  readonly #store: ResourceStore
  readonly #writer: ChunkedWriter
  readonly #unsubscribe: () => void
  readonly #timers: NodeJS.Timeout[] = []
  /** The number of the next event in the history. */
  #next = 0
  /** The client knows all events up to this revision. */
  #since = 0
  #wake: () => void = () => undefined
  #woken = false
  #timedOut = false
  #bookmarkDue = false
  #ended = false

  constructor(watch: Watch) {
    const { served, storage } = watch.request
    this.#watch = watch
    this.#storage = storage
    this.#store = storage.store(served.stored)
    this.#writer = new ChunkedWriter(watch.sink)
    this.#unsubscribe = this.#store.subscribe(this.#notify)
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

  /** Sends the initial events, if any. Returns `false` if the watch has ended. */
  async open(): Promise<boolean> {
    const [storage, store] = [this.#storage, this.#store]
    const { revision = 0, sendInitialEvents } = this.#watch.query
    this.#setTimers()
    // A watch from '' or '0' without `sendInitialEvents` gets initial events, as in a kube-apiserver.
    const initial = sendInitialEvents ?? revision === 0
    if (initial && revision > storage.revision) {
      return this.#fail(tooLargeResourceVersion(revision, storage.revision))
    }
    this.#since = revision === 0 || initial ? storage.revision : revision
    const next = store.history.after(this.#since)
    if (next === undefined) {
      const message = `too old resource version: ${revision} (${store.history.floor})`
      return this.#fail(new Refusal(410, message))
    }
    this.#next = next
    return !initial || this.#sendInitial()
  }

  #setTimers(): void {
    const { timeoutSeconds, allowWatchBookmarks } = this.#watch.query
    const timeoutMs = (timeoutSeconds > 0 ? timeoutSeconds : randomInt(1800, 3600)) * 1000
    const { bookmarkIntervalMs } = this.#watch.request.watches
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
    const { query, selection } = this.#watch
    const { namespace } = selection
    const { revision } = this.#storage
    const snapshot = this.#store.snapshot(revision, { namespace, from: '' })
    // Copies the objects of one moment. Later changes follow as events.
    for (const object of Array.from(snapshot?.objects ?? [])) {
      if (isSelected(selection, object) && !(await this.#sendObject('ADDED', object))) return false
    }
    if (query.allowWatchBookmarks) {
      return this.#send('initial-events-end', [this.#bookmark(revision, true)])
    }
    return true
  }

  /** Sends pending events, then waits for more. Returns `false` when the watch has ended. */
  async advance(): Promise<boolean> {
    const { history } = this.#store
    this.#woken = false
    while (this.#next < history.end) {
      const event = history.at(this.#next++)
      if (event === undefined) return this.#fallenBehind()
      if (event.revision > this.#since && !(await this.#sendEvent(event))) return false
    }
    if (this.#next < history.start || this.#next > history.end) return this.#fallenBehind()
    if (this.#bookmarkDue) {
      this.#bookmarkDue = false
      const at = Math.max(this.#since, this.#storage.revision)
      if (!(await this.#send('bookmark', [this.#bookmark(at, false)]))) return false
    }
    if (!(await this.#writer.flush())) return false
    const { signal, sink } = this.#watch
    const reason: unknown = signal.reason
    if (reason instanceof Refusal) return this.#fail(reason)
    const { group, version, resource } = this.#watch.request.served
    // A watch of a resource that is no longer served ends after its last event.
    const isServed =
      this.#storage.registry.find(group, version, resource) === this.#watch.request.served
    if (signal.aborted || this.#timedOut || (!this.#woken && !isServed)) {
      sink.end()
      return false
    }
    if (!this.#woken) await new Promise<void>((resolve) => (this.#wake = resolve))
    return true
  }

  #fallenBehind(): false {
    this.#watch.sink.destroy()
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
    // An object that leaves the selection is deleted for this client: its last selected state, at the revision of the
    // change.
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

  /** Returns `false` when the connection is closed or a fault has ended the stream. */
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
