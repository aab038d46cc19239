import { Refusal } from '../api/status-refusal.ts'
import type { FaultEffect, FrameRewriter, ResponseSink } from '../faults/fault-effects.ts'
import { deleteObject } from '../writes/object-writes.ts'
import { beginJson, type Exchange, gzipHeaders, isCompressed } from './exchange.ts'
import { listPage, type Page, sendList } from './list-page.ts'
import { listQuery, selectionOf } from './list-query.ts'
import { objectText, type Representation, representationOf } from './representation.ts'
import { readDeleteRequest, type ResourceRequest } from './resource-request.ts'
import { gzipSink, responseSink } from './response-sink.ts'
import { streamWatch } from './watch-response.ts'

function faultySink({ exchange, effects }: ResourceRequest): ResponseSink {
  return effects.reduce(
    (sink, effect) => effect.sink?.(sink) ?? sink,
    responseSink(exchange.response),
  )
}

async function sendPage(
  request: ResourceRequest,
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

export async function listObjects(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const query = listQuery(exchange.params)
  const shown = representationOf(exchange, true)
  const page = listPage(storage, served, selectionOf(served, namespace, query), query)
  await sendPage(request, page, shown)
}

export async function watchObjects(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, namespace, effects, watches } = request
  const { group, version, resource } = served
  const query = listQuery(exchange.params)
  const shown = watchRepresentation(exchange)
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
function watchRepresentation(exchange: Exchange): Representation {
  try {
    return representationOf(exchange, false)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return representationOf(exchange, true)
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

/** Deletes the selected objects and answers with their last state. */
export async function deleteCollection(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const { options, dryRun } = await readDeleteRequest(exchange)
  const query = listQuery(exchange.params)
  const shown = representationOf(exchange, true)
  const page = listPage(storage, served, selectionOf(served, namespace, query), query)
  for (const object of page.objects) {
    const target = { served, namespace: object.namespace, name: object.name }
    deleteObject(storage, target, options, { dryRun })
  }
  await sendPage(request, page, shown)
}
