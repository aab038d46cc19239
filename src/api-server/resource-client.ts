/*
 * Lists and watches one resource as byte frames (client-go's `ListerWatcher`). Both methods reject with
 * `ApiStatusError` if the server refuses, and with `ConnectionError` if it is unreachable. Reading may also fail
 * with `TruncatedFrameError`, `OversizedFrameError` and {@link MalformedListError}. An unread response holds its
 * connection: read it, leave its iteration, or abort the signal.
 */

import {
  apiVersionOf,
  groupResourceOf,
  resourcePath,
  type ApiResource,
} from '../kubernetes/api-resource.ts'
import { resourceVersion, type ResourceVersion } from '../kubernetes/resource-version.ts'
import { present } from '../lib/options.ts'
import { MalformedListError, WatchFrames } from './frames/watch-frames.ts'
import { ListFrames } from './frames/list-frames.ts'
import type { Reachability } from './transport/reachability.ts'
import type { Transport } from './transport/transport.ts'
import type { ServerFeatures } from './discovery/server-features.ts'

interface Selection {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: ResourceVersion
}

/** The parameters of a LIST. Absent or `''`: not sent. */
export interface ListRequest extends Selection {
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly limit?: number
  readonly continue?: string
}

/** The parameters of a WATCH. Absent or `''`: not sent. */
export interface WatchRequest extends Selection {
  readonly resourceVersionMatch?: 'NotOlderThan'
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
}

interface ListedMetadata {
  /** `''` if the server sends none, like some aggregated servers. */
  readonly resourceVersion: ResourceVersion
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** A list while it arrives: batches of items, each the UTF-8 text of one object, valid until the next step. */
export interface ListStream extends AsyncIterable<readonly Uint8Array[]> {
  /** The metadata of the list. Throws before the iteration has ended. */
  metadata(): ListedMetadata
}

export interface ResourceClientOptions {
  /** Requests `PartialObjectMetadata` and accepts nothing else: no other field enters this process. */
  readonly metadataOnly?: boolean
}

/** The parts that the resource clients of one server share. */
export interface ResourceClientConnection {
  readonly transport: Transport
  readonly features: ServerFeatures
  readonly reachability: Reachability
}

export interface ResourceClientLimits {
  /** Bounds each object. */
  readonly maxFrameBytes: number
  /** How long a list may be silent, in milliseconds. */
  readonly listIdleDeadlineMs: number
  /** How long a watch may be silent. Default: unlimited, because bookmarks are not guaranteed. */
  readonly watchIdleDeadlineMs: number | undefined
  /** How long a watch may exceed its `timeoutSeconds` before it is broken, in milliseconds. */
  readonly watchGraceMs: number
}

const partialObject = 'g=meta.k8s.io;v=v1'

export class ResourceClient {
  readonly resource: ApiResource
  readonly #transport: Transport
  readonly #features: ServerFeatures
  readonly #reachability: Reachability
  readonly #limits: ResourceClientLimits
  /** Whether it only requests the metadata of objects. */
  readonly metadataOnly: boolean

  constructor(
    resource: ApiResource,
    { transport, features, reachability }: ResourceClientConnection,
    limits: ResourceClientLimits,
    options: ResourceClientOptions = {},
  ) {
    this.resource = resource
    this.#transport = transport
    this.#features = features
    this.#reachability = reachability
    this.#limits = limits
    this.metadataOnly = options.metadataOnly ?? false
  }

  /** Resolves when the response begins. */
  async list(options: ListRequest, signal: AbortSignal): Promise<ListStream> {
    const { namespace, ...parameters } = options
    const { body } = await this.#transport.send(
      {
        method: 'GET',
        path: this.#path(namespace, parameters),
        headers: { Accept: this.#accept('PartialObjectMetadataList') },
        idleDeadlineMs: this.#limits.listIdleDeadlineMs,
      },
      signal,
    )
    const frames = new ListFrames(this.#limits)
    let isComplete = false
    const received = (isEnd: boolean): void => {
      if (isEnd || frames.envelope.kind !== undefined) this.#checkKind(frames)
      isComplete = isEnd
    }
    return {
      [Symbol.asyncIterator]: () => framesIn(body, frames, received),
      metadata: () => {
        if (!isComplete) {
          throw new TypeError('the metadata of a list is known only after the list was read')
        }
        const metadata = (frames.envelope.metadata ?? {}) as Readonly<Record<string, unknown>>
        const next = textOf(metadata, 'continue')
        const { remainingItemCount } = metadata
        return {
          resourceVersion: resourceVersion(textOf(metadata, 'resourceVersion')),
          ...(next === '' ? {} : { continue: next }),
          ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
        }
      },
    }
  }

  /**
   * Resolves when the response begins. Reading rejects some time after `timeoutSeconds` if the server does not end the
   * watch.
   */
  async watch(
    options: WatchRequest,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly Uint8Array[]>> {
    const { namespace, ...parameters } = options
    const { timeoutSeconds } = options
    const { watchGraceMs, watchIdleDeadlineMs } = this.#limits
    const { body } = await this.#transport.send(
      {
        method: 'GET',
        path: this.#path(namespace, { watch: true, ...parameters }),
        headers: { Accept: this.#accept('PartialObjectMetadata') },
        // Compression would delay events.
        gzip: false,
        ...present({
          idleDeadlineMs: watchIdleDeadlineMs,
          totalDeadlineMs:
            timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000 + watchGraceMs,
        }),
      },
      signal,
    )
    return framesIn(body, new WatchFrames(this.#limits))
  }

  /** Whether the server supports streaming lists. Rejects as {@link list} does if the server cannot be asked. */
  streamsLists(signal: AbortSignal): Promise<boolean> {
    return this.#features.streamsLists(signal)
  }

  /** Records that the server refused a streaming list. All clients of the connection stop requesting them. */
  streamingListRefused(): void {
    this.#features.streamingListRefused()
  }

  /** Whether the server promises an order of resource versions. Rejects as {@link streamsLists} does. */
  ordersResourceVersions(signal: AbortSignal): Promise<boolean> {
    return this.#features.ordersResourceVersions(signal)
  }

  /** Aborted when the connection to the API server is closed. */
  get closed(): AbortSignal {
    return this.#transport.closed
  }

  /** Resolves with `true` when an unreachable server answers again, with `false` when the signal aborts. */
  returned(signal: AbortSignal): Promise<boolean> {
    return this.#reachability.returned(signal)
  }

  /**
   * Checks the kind of a list, to reveal two mistakes. A server without metadata-only lists may answer with whole objects,
   * which must not be held. And if the resource's kind differs from the server's in case, the list would pass, since its
   * items have no kind, but no event would.
   */
  #checkKind({ envelope: { kind } }: ListFrames): void {
    const expected = this.metadataOnly ? 'PartialObjectMetadataList' : `${this.resource.kind}List`
    if (kind === expected) return
    const isSameButCase = typeof kind === 'string' && kind.toLowerCase() === expected.toLowerCase()
    if (!this.metadataOnly && !isSameButCase) return
    throw new MalformedListError(
      `its kind is ${JSON.stringify(kind)}, not ${expected}`,
      kind,
      this.metadataOnly ? undefined : `write the resource's kind as the server does`,
    )
  }

  #accept(kind: string): string {
    return this.metadataOnly ? `application/json;as=${kind};${partialObject}` : 'application/json'
  }

  #path(
    namespace: string | undefined,
    parameters: Readonly<Record<string, string | number | boolean | undefined>>,
  ): string {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined && value !== '') query.set(name, String(value))
    }
    const path = resourcePath(this.resource, present({ namespace }))
    return query.size === 0 ? path : `${path}?${query}`
  }

  /** `deployments.apps (apps/v1)`, for messages. */
  toString(): string {
    return `${groupResourceOf(this.resource)} (${apiVersionOf(this.resource)})`
  }
}

/** The frames that end in each chunk. Calls `received` before it yields them, and at the end. */
async function* framesIn(
  body: AsyncIterable<Buffer>,
  frames: ListFrames | WatchFrames,
  received?: (isEnd: boolean) => void,
): AsyncGenerator<readonly Uint8Array[], void, undefined> {
  for await (const chunk of body) {
    const batch = frames.push(chunk)
    if (batch.length === 0) continue
    received?.(false)
    yield batch
  }
  frames.end()
  received?.(true)
}

/** Returns `''` if absent. If another type counted as absent, a part of a list could look like a whole list. */
function textOf(metadata: Readonly<Record<string, unknown>>, member: string): string {
  const value = metadata[member] ?? ''
  if (typeof value === 'string') return value
  throw new MalformedListError(`its metadata.${member} is not a string`, value)
}
