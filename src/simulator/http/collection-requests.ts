/*
 * Lists and watches. A list is a snapshot of one revision, in pages that carry their position in a token. A watch reads
 * the history of its resource at the speed of its client, and ends when it falls behind. Both check their parameters as
 * a kube-apiserver does.
 */

import { randomInt } from 'node:crypto'
import { FieldSelectorError, parseFieldSelector } from '../../kubernetes/field-selector.ts'
import {
  LabelSelectorError,
  matchesLabels,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import { initialEventsEndAnnotation, type WatchEventType } from '../../kubernetes/watch-event.ts'
import type { ServedResource } from '../api/served-resource.ts'
import {
  badRequest,
  type FieldProblem,
  forbiddenAt,
  Refusal,
  refuseInvalid,
  tooLargeResourceVersion,
  unsupportedAt,
} from '../api/status-refusal.ts'
import type { FaultEffect, FrameRewriter, ResponseSink, WatchFrame } from '../faults/faults.ts'
import {
  type ResourceStore,
  type StorageEvent,
  type StoredObject,
  withRevision,
} from '../storage/resource-store.ts'
import type { Storage } from '../storage/storage.ts'
import { deleteObject } from '../writes/object-writes.ts'
import {
  beginJson,
  ChunkedWriter,
  flag,
  gzipHeaders,
  gzipSink,
  integer,
  isCompressed,
  responseSink,
} from './exchange.ts'
import {
  objectText,
  type ObjectText,
  readDeleteOptions,
  type Representation,
  representationOf,
  type ResourceRequest,
} from './resource-request.ts'

export async function listObjects(request: ResourceRequest): Promise<void> {
  const shown = representationOf(request.exchange, true)
  await sendPage(request, listPage(request), shown)
}

/** Deletes the selected objects and answers with their last state. */
export async function deleteCollection(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served } = request
  const options = await readDeleteOptions(exchange)
  const shown = representationOf(exchange, true)
  const page = listPage(request)
  for (const { namespace, name } of page.objects) {
    deleteObject(storage, { served, namespace, name }, options)
  }
  await sendPage(request, page, shown)
}

/** Streams a page at the speed of the client. */
async function sendPage(
  request: ResourceRequest,
  { objects, metadata }: Page,
  shown: Representation,
): Promise<void> {
  const { exchange, storage, served } = request
  const bytes = objects.reduce((sum, { text }) => sum + text.length, 0)
  const compressed = isCompressed(exchange, bytes)
  beginJson(exchange, 200, compressed ? gzipHeaders : {})
  const sink = compressed ? gzipSink(faultySink(request)) : faultySink(request)
  const text = objectText(storage.registry.captured, served, shown)
  const writer = new ChunkedWriter(sink)
  writer.add(Buffer.from(text.listHead(metadata)))
  let isFirst = true
  for (const object of objects) {
    if (!isFirst) writer.add(comma)
    isFirst = false
    if (writer.add(...text.item(object)) && !(await writer.flush())) return
  }
  writer.add(Buffer.from(']}\n'))
  if (await writer.flush()) sink.end()
}

const comma = Buffer.from(',')

export function faultySink({ exchange, effects }: ResourceRequest): ResponseSink {
  return effects.reduce(
    (sink, effect) => effect.sink?.(sink) ?? sink,
    responseSink(exchange.response),
  )
}

/** One page of a list: the whole list if the request has no limit. */
interface Page {
  readonly objects: readonly StoredObject[]
  readonly metadata: object
}

/** Reads a page within one tick. Throws 410 for revisions before the history and 504 for future revisions. */
function listPage({ exchange, storage, served, namespace }: ResourceRequest): Page {
  const query = listQuery(exchange.params)
  const { test } = selectionOf(served, namespace, query)
  const { revision, from } = pageStart(storage.revision, namespace, query)
  const snapshot = storage.store(served.stored).snapshot(revision, { namespace, from })
  if (snapshot === undefined) throw expired(query, from, namespace)
  // Revision 0 asks for a cached list, which has no pages.
  const limit = query.revision === 0 || query.limit === 0 ? Infinity : query.limit
  const objects: StoredObject[] = []
  let hasMore = false
  for (const object of snapshot.objects) {
    hasMore = objects.length === limit
    if (hasMore) break
    if (test === undefined || test(object)) objects.push(object)
  }
  const resourceVersion = String(revision)
  const last = objects.at(-1)
  if (!hasMore || last === undefined) return { objects, metadata: { resourceVersion } }
  return {
    objects,
    metadata: {
      resourceVersion,
      continue: encodeContinue({ revision, from: `${last.key}\0` }, namespace),
      ...(test === undefined ? { remainingItemCount: snapshot.size - objects.length } : {}),
    },
  }
}

function pageStart(current: number, namespace: string, query: ListQuery): ContinueToken {
  const { revision = 0, match } = query
  if (query.continue !== '') {
    const token = decodeContinue(query.continue, namespace)
    if (revision !== 0) {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    const at = token.revision === -1 ? current : token.revision
    if (at > current) throw tooLargeResourceVersion(at, current)
    return { revision: at, from: token.from }
  }
  if (revision > current) throw tooLargeResourceVersion(revision, current)
  // A limit without a match asks for exactly this revision, as in a kube-apiserver: all pages show one state.
  const exact = match === 'Exact' || (match === '' && query.limit > 0 && revision > 0)
  return { revision: exact ? revision : current, from: '' }
}

function expired(query: ListQuery, from: string, namespace: string): Refusal {
  if (query.continue === '') {
    return new Refusal(410, 'The resourceVersion for the provided list is too old.')
  }
  // The new token continues from the present state.
  return new Refusal(
    410,
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
      'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
      'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { metadata: { continue: encodeContinue({ revision: -1, from }, namespace) } },
  )
}

/** The position at which a list continues. */
interface ContinueToken {
  /** -1 for the present state, which differs from the state of earlier pages. */
  readonly revision: number
  /** The lowest possible key of the next page. */
  readonly from: string
}

const tokenVersion = 'meta.k8s.io/v1'

/** Writes a token in kube-apiserver's form. Its key is relative to the listed namespace. */
function encodeContinue({ revision, from }: ContinueToken, namespace: string): string {
  const start = `/${namespace === '' ? from : from.slice(namespace.length + 1)}`
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: revision, start })).toString('base64url')
}

/** Reads a token. Throws 400. */
function decodeContinue(token: string, namespace: string): ContinueToken {
  let value: { v?: unknown; rv?: unknown; start?: unknown } | null
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString()) as typeof value
  } catch (error) {
    throw invalidToken(`continue key is not valid: ${(error as Error).message}`)
  }
  if (value?.v !== tokenVersion) {
    throw invalidToken('continue key is not valid: server does not recognize this encoded version')
  }
  const { rv, start } = value
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken('continue key is not valid: incorrect encoded start resourceVersion')
  }
  if (typeof start !== 'string' || start === '') {
    throw invalidToken('continue key is not valid: encoded start key empty')
  }
  const key = start.replace(/^\//, '')
  return { revision: rv, from: namespace === '' ? key : `${namespace}/${key}` }
}

const invalidToken = (problem: string): Error => badRequest(`invalid continue token: ${problem}`)

export async function watchObjects(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, namespace, effects, watches } = request
  const query = listQuery(exchange.params)
  let shown: Representation
  try {
    shown = representationOf(exchange, false)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // A watch sends single objects, but clients send the header of their lists.
    shown = representationOf(exchange, true)
  }
  const selection = selectionOf(served, namespace, query)
  const ending = new AbortController()
  exchange.response.once('close', () => ending.abort())
  const forget = watches.add({
    resource: served.resource,
    end: (reason) => ending.abort(reason),
  })
  beginJson(exchange)
  exchange.response.flushHeaders()
  const stream = new WatchStream({
    request,
    selection,
    query,
    text: objectText(storage.registry.captured, served, shown),
    sink: faultySink(request),
    rewrite: rewriterOf(effects),
    signal: ending.signal,
  })
  try {
    // It has no buffer: it reads the history at the speed of the client, and disconnects one that falls behind it.
    let isOpen = await stream.open()
    while (isOpen) isOpen = await stream.advance()
  } finally {
    stream.close()
    forget()
  }
}

/** Chains the rewriters of all faults. */
function rewriterOf(effects: readonly FaultEffect[]): FrameRewriter | undefined {
  const rewriters = effects.flatMap(({ rewrite }) => (rewrite === undefined ? [] : [rewrite]))
  if (rewriters.length < 2) return rewriters[0]
  return rewriters.reduce((first, second) => ({ kind, bytes }) => {
    const { bytes: frames, end } = first({ kind, bytes })
    const results = frames.map((one) => second({ kind, bytes: one }))
    return {
      bytes: results.flatMap((result) => result.bytes),
      end: end || results.some((result) => result.end),
    }
  })
}

/** The query parameters of LIST and WATCH, checked. */
interface ListQuery {
  readonly watch: boolean
  readonly labelSelector: string
  readonly fieldSelector: string
  /** `undefined` if it is absent or `''`. */
  readonly revision: number | undefined
  readonly match: '' | 'Exact' | 'NotOlderThan'
  /** 0: no limit. */
  readonly limit: number
  /** `''` if it is absent. */
  readonly continue: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** 0: the server's default. */
  readonly timeoutSeconds: number
}

/** Reads and checks the parameters. Throws 400 and 422, as a kube-apiserver does. */
export function listQuery(params: URLSearchParams): ListQuery {
  const watch = flag(params, 'watch')
  const initial = params.has('sendInitialEvents') ? flag(params, 'sendInitialEvents') : undefined
  const match = params.get('resourceVersionMatch') ?? ''
  const version = params.get('resourceVersion') ?? ''
  const continued = watch ? '' : (params.get('continue') ?? '')
  const problems: FieldProblem[] = []
  const forbid = (what: string, message: string, at = what): void => {
    problems.push(forbiddenAt(at, `${what} ${message}`))
  }
  const field = 'resourceVersionMatch'
  if (watch) {
    if (match !== (initial === undefined ? '' : 'NotOlderThan')) {
      if (initial === undefined) {
        forbid(field, 'is forbidden for watch unless sendInitialEvents is provided')
      } else forbid('sendInitialEvents', `requires setting ${field} to NotOlderThan`, field)
    }
  } else if (match !== '') {
    if (version === '') forbid(field, 'is forbidden unless resourceVersion is provided')
    if (continued !== '') forbid(field, 'is forbidden when continue is provided')
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      problems.push(unsupportedAt(field, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && version === '0') {
      forbid(field, '"exact" is forbidden for resourceVersion "0"')
    }
  }
  if (!watch && initial !== undefined) forbid('sendInitialEvents', 'is forbidden for list')
  refuseInvalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems)
  if (version !== '' && !/^\d{1,15}$/.test(version)) {
    const given = JSON.stringify(version)
    const problem = `resourceVersion: Invalid value: ${given}: strconv.ParseUint: parsing ${given}: invalid syntax`
    throw watch ? new Refusal(500, problem) : badRequest(`invalid resource version: ${problem}`)
  }
  return {
    watch,
    labelSelector: params.get('labelSelector') ?? '',
    fieldSelector: params.get('fieldSelector') ?? '',
    revision: version === '' ? undefined : Number(version),
    match: match as ListQuery['match'],
    limit: Math.max(0, integer(params, 'limit') ?? 0),
    continue: continued,
    allowWatchBookmarks: flag(params, 'allowWatchBookmarks'),
    sendInitialEvents: initial,
    timeoutSeconds: integer(params, 'timeoutSeconds') ?? 0,
  }
}

interface Selection {
  /** `''` for all namespaces. */
  readonly namespace: string
  /** `undefined` without selectors: every object of the namespace matches. */
  readonly test: ((object: StoredObject) => boolean) | undefined
}

/** The selection of a request. Throws 400 for invalid selectors. */
export function selectionOf(
  { stored }: ServedResource,
  namespace: string,
  { labelSelector, fieldSelector }: ListQuery,
): Selection {
  try {
    const labels = parseLabelSelector(labelSelector)
    const fields = parseFieldSelector(fieldSelector)
    const { paths, unsupported } = stored.fields
    const tests = fields.map(({ path, operator, value }) => {
      const position = paths.indexOf(path)
      const own = path === 'metadata.name' || path === 'metadata.namespace'
      if (position < 0 && !own) throw badRequest(unsupported(path))
      const key = path === 'metadata.name' ? 'name' : 'namespace'
      return (object: StoredObject): boolean =>
        ((own ? object[key] : (object.fields[position] ?? '')) === value) === (operator === '=')
    })
    if (labels.length === 0 && tests.length === 0) return { namespace, test: undefined }
    const test = (object: StoredObject): boolean =>
      matchesLabels(labels, object.labels) && tests.every((one) => one(object))
    return { namespace, test }
  } catch (error) {
    if (error instanceof LabelSelectorError) {
      throw badRequest(`unable to parse requirement: ${error.message}`)
    }
    if (error instanceof FieldSelectorError) {
      throw badRequest(`invalid selector: '${fieldSelector}'; can't understand '${fieldSelector}'`)
    }
    throw error
  }
}

function isSelected(
  { namespace, test }: Selection,
  object: StoredObject | undefined,
): object is StoredObject {
  return (
    object !== undefined &&
    (namespace === '' || object.namespace === namespace) &&
    (test === undefined || test(object))
  )
}

/** A watch request, and the parts of the server that it uses. */
interface Watch {
  readonly request: ResourceRequest
  readonly selection: Selection
  readonly query: ListQuery
  readonly text: ObjectText
  readonly sink: ResponseSink
  readonly rewrite: FrameRewriter | undefined
  /** Aborts when the connection closes or the server stops, or with a Refusal when a fault ends the watch. */
  readonly signal: AbortSignal
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
    if (!initial) return true
    const { query, selection } = this.#watch
    const snapshot = store.snapshot(storage.revision, { namespace: selection.namespace, from: '' })
    // Copies the objects of one moment. Later changes follow as events.
    const end = this.#bookmark(storage.revision, true)
    for (const object of Array.from(snapshot?.objects ?? [])) {
      if (isSelected(selection, object) && !(await this.#sendObject('ADDED', object))) return false
    }
    return query.allowWatchBookmarks ? this.#send('initial-events-end', [end]) : true
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
