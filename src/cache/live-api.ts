import type { ApiRequestOptions } from '../api-server/api-server.ts'
import type {
  ListRequest,
  ListStream,
  ResourceClientOptions,
} from '../api-server/resource-client.ts'
import { createObjectCodec } from '../informer/codec/object-codec.ts'
import { type ApiResource, resourcePath } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { type LiveTable, readTable, tableType } from './live-table.ts'
import { ApiStatusError } from '../kubernetes/status.ts'

/** What live reads ask of the connection to a cluster. */
export interface LiveRequests {
  request(method: 'GET', path: string, options: ApiRequestOptions): Promise<unknown>
  resource(
    resource: ApiResource,
    options: ResourceClientOptions,
  ): { list(request: ListRequest, signal: AbortSignal): Promise<ListStream> }
}

/** Which resource is read, and how much of its objects. */
export interface LiveResource {
  readonly resource: ApiResource
  readonly metadataOnly: boolean
}

/** Which part of a list is read. */
export interface LiveListRequest {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  /** The server's `continue`: only what comes behind it. */
  readonly continue?: string | undefined
  /** Not more objects than these are read, whether or not the server keeps to it. */
  readonly limit: number
}

/** Objects of a list as the server has them now. */
export interface LiveList {
  readonly objects: readonly KubernetesObject[]
  /** The server has sent more than was asked for, as those do that know no `limit`; the rest was not read. */
  readonly isCut: boolean
  /** Not known of a list that was cut. */
  readonly continue: string | undefined
  /** `''` where the server gives none, or the list was cut. */
  readonly resourceVersion: string
  readonly remainingItemCount: number | undefined
}

/**
 * Reads straight from the API server what no cache holds, in the same form as caches do: without `managedFields`, and of
 * metadata-only resources nothing else. Both reject as `ResourceClient.list` does, and with the signal's reason.
 */
export interface LiveApi {
  /** `undefined` where there is no such object. */
  object(
    of: LiveResource,
    at: { readonly namespace?: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined>
  list(of: LiveResource, request: LiveListRequest, signal: AbortSignal): Promise<LiveList>
  /** As the server prints them: one object, or a part of a list; `undefined` where there is none. */
  table(of: LiveResource, at: LiveTableRequest, signal: AbortSignal): Promise<LiveTable | undefined>
}

/** What a table is read of: the object of a name, or a page of a list. */
export type LiveTableRequest = { readonly namespace?: string } & (
  | { readonly name: string }
  | { readonly limit: number; readonly next?: string }
)

const partialObject = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

/** Reads over a connection. */
export function createLiveApi(server: LiveRequests): LiveApi {
  return {
    async object(of, at, signal) {
      const accept = of.metadataOnly ? { accept: partialObject } : {}
      try {
        const path = resourcePath(of.resource, at)
        const read = await server.request('GET', path, { exact: true, signal, ...accept })
        return createObjectCodec(of).encode(Buffer.from(JSON.stringify(read))).object
      } catch (error) {
        if (error instanceof ApiStatusError && error.httpStatus === 404) return undefined
        throw error
      }
    },
    async table({ resource }, request, signal) {
      const path = tablePath(resource, request)
      try {
        return readTable(await server.request('GET', path, { accept: tableType, signal }))
      } catch (error) {
        if (error instanceof ApiStatusError && error.httpStatus === 404) return undefined
        throw error
      }
    },
    async list(of, request, signal) {
      const { namespace, labelSelector, limit } = request
      const stream = await server.resource(of.resource, { metadataOnly: of.metadataOnly }).list(
        {
          limit,
          ...(namespace === undefined ? {} : { namespace }),
          ...(labelSelector === undefined ? {} : { labelSelector }),
          ...(request.continue === undefined ? {} : { continue: request.continue }),
        },
        signal,
      )
      const codec = createObjectCodec(of)
      const objects: KubernetesObject[] = []
      for await (const batch of stream) {
        for (const text of batch) {
          if (objects.length === limit) return { ...cut, objects }
          objects.push(codec.encode(text).object)
        }
      }
      const { resourceVersion, remainingItemCount, continue: next } = stream.metadata()
      return { objects, isCut: false, continue: next, resourceVersion, remainingItemCount }
    },
  }
}

function tablePath(resource: ApiResource, request: LiveTableRequest): string {
  const { namespace } = request
  const place = namespace === undefined ? {} : { namespace }
  if ('name' in request) return resourcePath(resource, { ...place, name: request.name })
  const { limit, next } = request
  const query = new URLSearchParams({
    limit: String(limit),
    ...(next === undefined ? {} : { continue: next }),
  })
  return `${resourcePath(resource, place)}?${query}`
}

const cut = {
  isCut: true,
  continue: undefined,
  resourceVersion: '',
  remainingItemCount: undefined,
} as const
