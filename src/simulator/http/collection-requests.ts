/*
 * Lists and watches. A list is a snapshot of one revision, in pages that carry their position in a token. A watch reads
 * the history of its resource at the speed of its client, and ends when it falls behind. Both check their parameters as
 * a kube-apiserver does.
 */

import { randomInt } from 'node:crypto'
import { fieldsOf } from '../../kubernetes/fields.ts'
import { jsonIn } from '../../lib/json.ts'
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
  forbiddenAt,
  Refusal,
  tooLargeResourceVersion,
  unsupportedAt,
} from '../api/status-refusal.ts'
import type { WatchFrame } from '../faults/faults.ts'
import { type StorageEvent, type StoredObject, withRevision } from '../storage/storage.ts'
import { deleteObject } from '../writes/object-writes.ts'
import {
  beginJson,
  flag,
  gathered,
  gzipHeaders,
  integer,
  isCompressed,
  sendStream,
} from './exchange.ts'
import {
  objectText,
  type ObjectText,
  readDeleteOptions,
  refuseOptions,
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
  { exchange, storage, served, effects }: ResourceRequest,
  { objects, metadata }: Page,
  shown: Representation,
): Promise<void> {
  const bytes = objects.reduce((sum, { text }) => sum + text.length, 0)
  const compressed = isCompressed(exchange, bytes)
  const text = objectText(storage.registry.captured, served, shown)
  function* pieces(): Generator<Buffer> {
    yield Buffer.from(text.listHead(metadata))
    for (const [at, object] of objects.entries()) {
      if (at > 0) yield comma
      yield* text.item(object)
    }
    yield Buffer.from(']}\n')
  }
  beginJson(exchange, 200, compressed ? gzipHeaders : {})
  await sendStream(exchange, effects, gathered(pieces()), compressed)
}

const comma = Buffer.from(',')

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
  const message =
    'The provided continue parameter is too old to display a consistent list result. Start a new list, or use the ' +
    'token of this answer: it continues from the present state.'
  const present = encodeContinue({ revision: -1, from }, namespace)
  return new Refusal(410, message, { metadata: { continue: present } })
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
  const { v, rv, start } = fieldsOf(jsonIn(Buffer.from(token, 'base64url').toString()))
  const isKnown = v === tokenVersion && typeof start === 'string' && start !== ''
  if (!isKnown || typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw badRequest('invalid continue token: continue key is not valid')
  }
  const key = start.replace(/^\//, '')
  return { revision: rv, from: namespace === '' ? key : `${namespace}/${key}` }
}

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
  const text = objectText(storage.registry.captured, served, shown)
  const watch = { request, selection, query, text, signal: ending.signal }
  try {
    await sendStream(exchange, effects, watchFrames(watch))
  } finally {
    forget()
  }
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
  const field = 'resourceVersionMatch'
  const isInitial = initial !== undefined
  refuseOptions(
    'ListOptions',
    watch
      ? match !== (isInitial ? 'NotOlderThan' : '') &&
          forbiddenAt(field, 'is NotOlderThan for watches with sendInitialEvents, and for no other')
      : [
          match !== '' && [
            version === '' && forbiddenAt(field, 'is forbidden unless resourceVersion is provided'),
            continued !== '' && forbiddenAt(field, 'is forbidden when continue is provided'),
            match !== 'Exact' &&
              match !== 'NotOlderThan' &&
              unsupportedAt(field, match, ['Exact', 'NotOlderThan', '']),
            match === 'Exact' &&
              version === '0' &&
              forbiddenAt(field, '"exact" is forbidden for resourceVersion "0"'),
          ],
          isInitial && forbiddenAt('sendInitialEvents', 'is forbidden for list'),
        ],
  )
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
const mostMs = 2 ** 31 - 1
const chunkBytes = 128 * 1024

/**
 * The frames of a watch, in chunks: initial events, if any, then the events of the history as they come. It has no
 * buffer but a chunk: it reads the history at the speed of the client, and disconnects one that falls behind it.
 */
async function* watchFrames({
  request,
  selection,
  query,
  text,
  signal,
}: Watch): AsyncGenerator<Buffer, undefined, undefined> {
  const { served, storage, watches } = request
  const { revision = 0, sendInitialEvents, allowWatchBookmarks, timeoutSeconds } = query
  const store = storage.store(served.stored)
  const { history } = store
  const rewriters = request.effects.flatMap(({ rewrite }) => rewrite ?? [])
  let parts: Buffer[] = []
  let bytes = 0
  let [isEnded, isTimedOut, isBookmarkDue, isWoken] = [false, false, false, false]
  let wake: (() => void) | undefined
  const notify = (): void => {
    isWoken = true
    wake?.()
  }
  const add = (kind: WatchFrame['kind'], frame: readonly Buffer[]): void => {
    if (isEnded) return
    let added = rewriters.length === 0 ? frame : [Buffer.concat(frame)]
    for (const rewrite of rewriters) {
      const changed = added.map((one) => rewrite({ kind, bytes: one }))
      added = changed.flatMap((one) => one.bytes)
      isEnded ||= changed.some(({ end }) => end)
    }
    for (const part of added) {
      parts.push(part)
      bytes += part.length
    }
  }
  const addObject = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: StoredObject): void =>
    add('event', [heads[type], ...text.whole(object), lineEnd])
  const addBookmark = (kind: 'bookmark' | 'initial-events-end', at: number): void => {
    const isEnd = kind === 'initial-events-end'
    const annotations = isEnd ? { annotations: { [initialEventsEndAnnotation]: 'true' } } : {}
    const metadata = { resourceVersion: String(at), ...annotations }
    const object = JSON.stringify({ kind: text.kind, apiVersion: text.apiVersion, metadata })
    add(kind, [heads.BOOKMARK, Buffer.from(object), lineEnd])
  }
  const taken = (error?: Refusal): Buffer => {
    if (error !== undefined) {
      add('error', [heads.ERROR, Buffer.from(JSON.stringify(error.status)), lineEnd])
    }
    const chunk = Buffer.concat(parts, bytes)
    parts = []
    bytes = 0
    return chunk
  }
  const timeoutMs = (timeoutSeconds > 0 ? timeoutSeconds : randomInt(1800, 3600)) * 1000
  const { bookmarkIntervalMs } = watches
  const dueBookmark = (): void => {
    isBookmarkDue = true
    notify()
  }
  const atEnd = (): void => {
    isTimedOut = true
    notify()
  }
  const timers = [setTimeout(atEnd, Math.min(timeoutMs, mostMs))]
  if (allowWatchBookmarks && bookmarkIntervalMs > 0) {
    timers.push(setInterval(dueBookmark, bookmarkIntervalMs))
    const lastMs = Math.min(timeoutMs - lastBookmarkMs, mostMs)
    if (lastMs > 0) timers.push(setTimeout(dueBookmark, lastMs))
  }
  const unsubscribe = store.subscribe(notify)
  signal.addEventListener('abort', notify)
  try {
    // A watch from '' or '0' without `sendInitialEvents` gets initial events, as in a kube-apiserver.
    const initial = sendInitialEvents ?? revision === 0
    const from = storage.revision
    if (initial && revision > from) return yield taken(tooLargeResourceVersion(revision, from))
    const since = revision === 0 || initial ? from : revision
    let next = history.after(since)
    if (next === undefined) {
      const message = `too old resource version: ${revision} (${history.floor})`
      return yield taken(new Refusal(410, message))
    }
    if (initial) {
      // Copies the objects of one moment. Later changes follow as events.
      const snapshot = store.snapshot(from, { namespace: selection.namespace, from: '' })
      for (const object of Array.from(snapshot?.objects ?? [])) {
        if (isSelected(selection, object)) addObject('ADDED', object)
        if (bytes >= chunkBytes) yield taken()
      }
      if (allowWatchBookmarks) addBookmark('initial-events-end', from)
    }
    for (;;) {
      isWoken = false
      while (next < history.end) {
        const event = history.at(next++)
        if (event === undefined) throw new Error('the watch has fallen behind')
        if (event.revision > since) addEvent(event)
        if (bytes >= chunkBytes) yield taken()
      }
      if (next < history.start || next > history.end) throw new Error('the watch has fallen behind')
      if (isBookmarkDue) addBookmark('bookmark', Math.max(since, storage.revision))
      isBookmarkDue = false
      if (bytes > 0) yield taken()
      if (isEnded) return
      const reason: unknown = signal.reason
      if (reason instanceof Refusal) return yield taken(reason)
      // A watch of a resource that is no longer served ends after its last event.
      const { group, version, resource } = served
      const isServed = storage.registry.find(group, version, resource) === served
      if (signal.aborted || isTimedOut || (!isWoken && !isServed)) return
      if (!isWoken) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', notify)
    for (const timer of timers) clearTimeout(timer)
  }

  function addEvent(event: StorageEvent): void {
    const before = isSelected(selection, event.previous) ? event.previous : undefined
    if (event.type !== 'DELETED' && isSelected(selection, event.object)) {
      return addObject(before === undefined ? 'ADDED' : 'MODIFIED', event.object)
    }
    // An object that leaves the selection is deleted for this client: its last selected state, at the revision of the
    // change.
    if (before === undefined) return
    addObject(
      'DELETED',
      event.type === 'DELETED' ? event.object : withRevision(before, event.revision),
    )
  }
}
