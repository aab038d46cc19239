import { badRequest, Refusal, tooLargeResourceVersion } from '../api/status-refusal.ts'
import type { FaultEffect, FrameRewriter, ResponseSink } from '../faults/fault-effects.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { deleteObject } from '../writes/object-writes.ts'
import { beginJson, gzipHeaders, isCompressed } from './exchange.ts'
import { listQuery, type ListQuery, selectionOf } from './list-query.ts'
import { objectText, type Representation, representationOf } from './representation.ts'
import { readDeleteOptions, type ResourceRequest } from './resource-request.ts'
import { ChunkedWriter, gzipSink, responseSink } from './response-sink.ts'
import { streamWatch } from './watch-response.ts'

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

const version = 'meta.k8s.io/v1'

/** Writes a token in kube-apiserver's form. Its key is relative to the listed namespace. */
function encodeContinue({ revision, from }: ContinueToken, namespace: string): string {
  const start = `/${namespace === '' ? from : from.slice(namespace.length + 1)}`
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url')
}

/** Reads a token. Throws 400. */
function decodeContinue(token: string, namespace: string): ContinueToken {
  let value: { v?: unknown; rv?: unknown; start?: unknown } | null
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString()) as typeof value
  } catch (error) {
    throw invalidToken(`continue key is not valid: ${(error as Error).message}`)
  }
  if (value?.v !== version) {
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
  try {
    await streamWatch({
      request,
      selection,
      query,
      text: objectText(storage.registry.captured, served, shown),
      sink: faultySink(request),
      rewrite: rewriterOf(effects),
      signal: ending.signal,
    })
  } finally {
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
