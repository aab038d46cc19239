import type { ServedResource } from '../../api/served-resource.ts'
import { Refusal } from '../../api/status-refusal.ts'
import type { FaultEffect, FrameRewriter, ResponseSink } from '../../faults/fault-effects.ts'
import type { Storage } from '../../storage/storage.ts'
import { deleteObject } from '../../writes/object-deletion.ts'
import {
  type Representation,
  representationOf,
  type RepresentationRequest,
} from '../accept-header.ts'
import { type ListQuery, listQuery } from '../list-options.ts'
import { listPage, type Page, sendList } from '../list-page.ts'
import { objectText } from '../object-text.ts'
import { gzipSink, responseSink } from '../response-sink.ts'
import { selectionOf } from '../selection.ts'
import { beginJson, type Exchange, gzipHeaders, isCompressed } from '../exchange.ts'
import { streamWatch } from '../watch-response.ts'
import { readDeleteRequest } from './write-parameters.ts'

/** A request for the objects of a resource, in one namespace or in all (`''`). */
export interface CollectionRequest {
  readonly exchange: Exchange
  readonly storage: Storage
  readonly served: ServedResource
  readonly namespace: string
  /** The faults that strike the request. */
  readonly effects: readonly FaultEffect[]
}

/** An open watch, for faults that end it. */
export interface OpenWatch {
  readonly resource: string
  end(reason: Refusal): void
}

/** The part of the server that watches use. */
export interface WatchRegistry {
  readonly bookmarkIntervalMs: number
  /** Registers a watch. The returned function removes it. */
  add(watch: OpenWatch): () => void
}

function faultySink({ exchange, effects }: CollectionRequest): ResponseSink {
  return effects.reduce(
    (sink, effect) => effect.sink?.(sink) ?? sink,
    responseSink(exchange.response),
  )
}

const representationRequest = ({ request, params }: Exchange): RepresentationRequest => ({
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
  const shown = representationOf(representationRequest(exchange), true)
  await sendPage(
    request,
    listPage(storage, served, selectionOf(served, namespace, query), query),
    shown,
  )
}

export async function watchObjects(
  request: CollectionRequest,
  watches: WatchRegistry,
): Promise<void> {
  const { exchange, storage, served, namespace, effects } = request
  const { group, version, resource } = served
  const query: ListQuery = listQuery(exchange.params)
  const shown = watchRepresentation(representationRequest(exchange))
  const selection = selectionOf(served, namespace, query)
  const ending = new AbortController()
  exchange.response.once('close', () => ending.abort())
  const forget = watches.add({
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
      bookmarkIntervalMs: watches.bookmarkIntervalMs,
      rewrite: rewriterOf(effects),
      isGone: () => storage.registry.find(group, version, resource) !== served,
      signal: ending.signal,
    })
  } finally {
    forget()
  }
}

/** A watch sends single objects, but clients send the header of their lists. Accepts both forms. */
function watchRepresentation(accept: RepresentationRequest): Representation {
  try {
    return representationOf(accept, false)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return representationOf(accept, true)
  }
}

/** Chains the rewriters of all faults. */
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

/** Deletes the selected objects and answers with their last state. */
export async function deleteCollection(request: CollectionRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const { options, dryRun } = await readDeleteRequest(exchange)
  const query = listQuery(exchange.params)
  const shown = representationOf(representationRequest(exchange), true)
  const page = listPage(storage, served, selectionOf(served, namespace, query), query)
  for (const object of page.objects) {
    deleteObject(storage, { served, namespace: object.namespace, name: object.name }, options, {
      dryRun,
    })
  }
  await sendPage(request, page, shown)
}
