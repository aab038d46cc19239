import type { ServedResource } from '../../api/served-resource.ts'
import { Refusal } from '../../api/status-refusal.ts'
import type { FaultEffect, FrameRewriter, ResponseSink } from '../../faults/fault-effects.ts'
import type { Storage } from '../../storage/storage.ts'
import { deleteObject } from '../../writes/object-deletion.ts'
import { type Representation, representationOf, type Shown } from '../accept-header.ts'
import { type ListQuery, listQuery } from '../list-options.ts'
import { listPage, type Page, sendList } from '../list-page.ts'
import { objectText } from '../object-text.ts'
import { gzipSink, responseSink } from '../response-sink.ts'
import { selectionOf } from '../selection.ts'
import { beginJson, type Exchange, gzipHeaders, isCompressed } from '../exchange.ts'
import { streamWatch } from '../watch-response.ts'
import { readDeleteRequest } from './write-parameters.ts'

/** A request about the objects of a resource, in one namespace or in all (`''`). */
export interface CollectionRequest {
  readonly exchange: Exchange
  readonly storage: Storage
  readonly served: ServedResource
  readonly namespace: string
  /** What was ordered to go wrong with it. */
  readonly effects: readonly FaultEffect[]
}

/** A watch that is being served: what can end it from outside. */
export interface OpenWatch {
  readonly resource: string
  end(reason: Refusal): void
}

/** What watches need of the server. */
export interface WatchRoom {
  readonly bookmarkIntervalMs: number
  /** Makes a watch known; the returned function forgets it. */
  add(watch: OpenWatch): () => void
}

function faultySink({ exchange, effects }: CollectionRequest): ResponseSink {
  return effects.reduce(
    (sink, effect) => effect.sink?.(sink) ?? sink,
    responseSink(exchange.response),
  )
}

const shownBy = ({ request, params }: Exchange): Shown => ({
  accept: request.headers.accept,
  params,
})

async function sendPage(
  request: CollectionRequest,
  page: Page,
  shown: Representation,
): Promise<void> {
  const { exchange, storage, served } = request
  const bytes = page.objects.reduce((sum, { text }) => sum + text.length, 0)
  const compressed = isCompressed(exchange, bytes)
  beginJson(exchange, 200, compressed ? gzipHeaders : {})
  const sink = faultySink(request)
  const text = objectText(storage.registry.captured, served, shown)
  await sendList(page, text, compressed ? gzipSink(sink) : sink)
}

export async function listObjects(request: CollectionRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const query = listQuery(exchange.params)
  const shown = representationOf(shownBy(exchange), true)
  await sendPage(
    request,
    listPage(storage, served, selectionOf(served, namespace, query), query),
    shown,
  )
}

export async function watchObjects(request: CollectionRequest, room: WatchRoom): Promise<void> {
  const { exchange, storage, served, namespace, effects } = request
  const { group, version, resource } = served
  const query: ListQuery = listQuery(exchange.params)
  const shown = watchRepresentation(shownBy(exchange))
  const selection = selectionOf(served, namespace, query)
  const ending = new AbortController()
  exchange.response.once('close', () => ending.abort())
  const forget = room.add({
    resource,
    end: (reason) => ending.abort(reason),
  })
  beginJson(exchange)
  exchange.response.flushHeaders()
  try {
    await streamWatch({
      storage,
      store: storage.store(served.stored),
      selection,
      query,
      text: objectText(storage.registry.captured, served, shown),
      sink: faultySink(request),
      bookmarkIntervalMs: room.bookmarkIntervalMs,
      rewrite: rewriterOf(effects),
      isGone: () => storage.registry.find(group, version, resource) !== served,
      signal: ending.signal,
    })
  } finally {
    forget()
  }
}

/** A watch shows single objects, but clients send the header that they list with: both forms mean metadata. */
function watchRepresentation(accept: Shown): Representation {
  try {
    return representationOf(accept, false)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return representationOf(accept, true)
  }
}

/** All rewriters one after the other, each on what the one before made of a frame. */
function rewriterOf(effects: readonly FaultEffect[]): FrameRewriter | undefined {
  const rewriters = effects.flatMap(({ rewrite }) => (rewrite === undefined ? [] : [rewrite]))
  if (rewriters.length === 0) return undefined
  return ({ kind, bytes }) => {
    let frames: readonly Buffer[] = [bytes]
    let end = false
    for (const rewrite of rewriters) {
      const results = frames.map((one) => rewrite({ kind, bytes: one }))
      frames = results.flatMap((result) => result.bytes)
      end ||= results.some((result) => result.end)
    }
    return { bytes: frames, end }
  }
}

/** Deletes what is selected, and answers with what was there. */
export async function deleteCollection(request: CollectionRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const { options, dryRun } = await readDeleteRequest(exchange)
  const query = listQuery(exchange.params)
  const shown = representationOf(shownBy(exchange), true)
  const page = listPage(storage, served, selectionOf(served, namespace, query), query)
  for (const object of page.objects) {
    deleteObject(storage, { served, namespace: object.namespace, name: object.name }, options, {
      dryRun,
    })
  }
  await sendPage(request, page, shown)
}
