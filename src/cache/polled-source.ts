/*
 * A source of measurements from metrics.k8s.io, which can be listed but not watched. It lists at an interval, and makes
 * watch events from the measurements with a new timestamp. It keeps the name and the values, and drops the labels, since
 * the measured object has the same. It numbers the lists, since the server gives no resource versions. Only one informer
 * may read it.
 */

import type {
  ListerWatcher,
  ListMetadata,
  ListOptions,
  ListResponse,
  WatchOptions,
} from '../informer/reflector/lister-watcher.ts'
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import { fieldsOf, itemsOf, textOf } from '../kubernetes/fields.ts'
import { objectKey, splitObjectKey } from '../kubernetes/object.ts'
import { resourceVersion } from '../kubernetes/resource-version.ts'
import { ApiStatusError, failureStatus } from '../kubernetes/status.ts'
import { quantityOf } from '../kubernetes/decimal.ts'
import { sleep } from '../lib/backoff.ts'
import type { UsageRecorder } from './usage-rings.ts'

interface PolledSourceOptions {
  readonly resource: ApiResource
  readonly source: Pick<ListerWatcher, 'list' | 'returned'>
  /** The time from the start of one list to the start of the next. */
  readonly intervalMs: number
  /** Receives each measurement. */
  readonly recorder: UsageRecorder
}

/** The state after the last list of one namespace, or of all. */
interface Polled {
  /** The version of the first list that an informer has read. Its watch may continue from there. */
  readonly base: number
  version: number
  /** When each object was measured, by key. */
  measured: Map<string, string>
  /** `performance.now()` when the next list is due. */
  dueMs: number
}

export function polledSource(options: PolledSourceOptions): ListerWatcher {
  const { resource, source, intervalMs, recorder } = options
  const places = new Map<string | undefined, Polled>()
  const request = (namespace: string | undefined, signal: AbortSignal): Promise<ListResponse> =>
    source.list(namespace === undefined ? {} : { namespace }, signal)

  async function list(
    { namespace, limit }: ListOptions,
    signal: AbortSignal,
  ): Promise<ListResponse> {
    const known = places.get(namespace)
    // By a list of one object, a reflector may ask whether the server has reached a version.
    if (known !== undefined && limit === 1) return emptyList(known.version)
    const version = nextVersion(known)
    const measured = new Map<string, string>()
    const dueMs = performance.now() + intervalMs
    const response = await request(namespace, signal)
    async function* items(): AsyncGenerator<readonly Uint8Array[], void> {
      for await (const batch of response) {
        yield batch.map((text) => {
          const { key, timestamp, values } = readItem(text)
          measured.set(key, timestamp)
          record(recorder, key, timestamp, values)
          return Buffer.from(objectText(key, version, values))
        })
      }
      recorder.listed(namespace, measured)
      places.set(namespace, { base: version, version, measured, dueMs })
    }
    return { ...emptyList(version), [Symbol.asyncIterator]: items }
  }

  async function watch(
    { namespace, resourceVersion: from, timeoutSeconds = 300 }: WatchOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly Uint8Array[]>> {
    const place = places.get(namespace)
    if (place === undefined || !(Number(from) >= place.base)) throw expired(resource)
    const endMs = performance.now() + timeoutSeconds * 1_000
    const next = async (): Promise<ListResponse> => {
      const nowMs = performance.now()
      place.dueMs = nowMs + intervalMs
      try {
        return await request(namespace, signal)
      } catch (error) {
        // The reflector retries after its back-off.
        place.dueMs = nowMs
        throw error
      }
    }
    // After a failure, the watch begins when the server answers again.
    const first = performance.now() < place.dueMs ? undefined : await next()
    async function* events(of: Polled): AsyncGenerator<readonly Uint8Array[], void> {
      if (first !== undefined) yield* changes(of, first, options)
      for (;;) {
        const restMs = Math.max(0, endMs - performance.now())
        const waitMs = Math.max(0, of.dueMs - performance.now())
        await sleep(Math.min(waitMs, restMs), signal)
        if (signal.aborted || waitMs > restMs) return
        yield* changes(of, await next(), options)
      }
    }
    return events(place)
  }

  return {
    resource,
    list,
    watch,
    streamsLists: () => Promise.resolve(false),
    ordersResourceVersions: () => Promise.resolve(true),
    ...(source.returned === undefined ? {} : { returned: source.returned.bind(source) }),
  }
}

/** The same source for other readers than the informer. They have no watch: it would miss events that the informer took. */
export function unwatched(source: ListerWatcher, resource: ApiResource): ListerWatcher {
  return { ...source, watch: () => Promise.reject(expired(resource)) }
}

/** The events that lead from the last list to this one, and the bookmark that ends them. */
async function* changes(
  place: Polled,
  response: ListResponse,
  { resource, recorder }: PolledSourceOptions,
): AsyncGenerator<readonly Uint8Array[], void> {
  const version = nextVersion(place)
  const measured = new Map<string, string>()
  for await (const batch of response) {
    const frames: Uint8Array[] = []
    for (const text of batch) {
      const { key, timestamp, values } = readItem(text)
      const before = place.measured.get(key)
      measured.set(key, timestamp)
      if (before === timestamp && timestamp !== '') continue
      record(recorder, key, timestamp, values)
      const object = objectText(key, version, values)
      frames.push(eventText(before === undefined ? 'ADDED' : 'MODIFIED', object))
      // A list that breaks off is repeated. Events already sent must not be sent again.
      place.measured.set(key, timestamp)
    }
    if (frames.length > 0) yield frames
  }
  const last: Uint8Array[] = []
  for (const key of place.measured.keys()) {
    if (measured.has(key)) continue
    last.push(eventText('DELETED', objectText(key, version, {})))
    recorder.ended(key)
  }
  place.measured = measured
  place.version = version
  const type = { kind: resource.kind, apiVersion: apiVersionOf(resource) }
  const bookmark = { ...type, metadata: { resourceVersion: String(version) } }
  yield [...last, eventText('BOOKMARK', JSON.stringify(bookmark))]
}

/** Takes the version from the clock, so that versions grow from one process to the next. */
function nextVersion(place: Polled | undefined): number {
  return Math.max(Date.now(), (place?.version ?? 0) + 1)
}

interface Item {
  readonly key: string
  /** The time of the measurement; `''` if the server does not give it. */
  readonly timestamp: string
  readonly values: Values
}

interface Values {
  readonly timestamp: unknown
  readonly window: unknown
  /** Of a node. */
  readonly usage: unknown
  /** Of a pod. */
  readonly containers: unknown
}

function readItem(text: Uint8Array): Item {
  const { metadata, timestamp, window, usage, containers } = fieldsOf(
    JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString()),
  )
  const { name, namespace } = fieldsOf(metadata)
  return {
    key: objectKey({ name: textOf(name) ?? '', namespace: textOf(namespace) ?? '' }),
    timestamp: textOf(timestamp) ?? '',
    values: { timestamp, window, usage, containers },
  }
}

function record(recorder: UsageRecorder, key: string, timestamp: string, values: Values): void {
  const { usage, containers } = values
  const parts = containers === undefined ? [usage] : itemsOf(containers).map((one) => one['usage'])
  let cpu = 0
  let memory = 0
  for (const part of parts) {
    const used = fieldsOf(part)
    cpu += amountOf(used['cpu'])
    memory += amountOf(used['memory'])
  }
  const atMs = Date.parse(timestamp)
  recorder.measured(key, { atMs: Number.isNaN(atMs) ? Date.now() : atMs, cpu, memory })
}

/** A quantity as a number. metrics-server writes nearly all with these two suffixes; reading any quantity costs ten times as much. */
function amountOf(quantity: unknown): number {
  const text = textOf(quantity) ?? ''
  if (text.endsWith('n')) return Number(text.slice(0, -1)) / 1e9
  return text.endsWith('Ki') ? Number(text.slice(0, -2)) * 1_024 : quantityOf(text)
}

function objectText(key: string, version: number, values: object): string {
  const { namespace, name } = splitObjectKey(key)
  const place = namespace === '' ? { name } : { name, namespace }
  return JSON.stringify({ metadata: { ...place, resourceVersion: String(version) }, ...values })
}

function eventText(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}`)
}

function emptyList(version: number): ListResponse {
  const metadata: ListMetadata = { resourceVersion: resourceVersion(String(version)) }
  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<readonly Uint8Array[], void> {},
    metadata: () => metadata,
  }
}

function expired({ resource }: ApiResource): ApiStatusError {
  const message = 'the resource is listed at an interval: begin with a list'
  return new ApiStatusError(`watch ${resource}`, 410, failureStatus(410, 'Expired', message))
}
