/*
 * Reads from the API server past the caches: single objects, pages of a list, and tables in the form of `kubectl get`.
 * Each object passes the codec, so that it has the form of a cached object: without `managedFields`, and for
 * metadata-only resources only the metadata.
 */

import type { ApiServer } from '../api-server/api-server.ts'
import type { ListRequest } from '../api-server/resource-client.ts'
import { createObjectCodec } from '../informer/codec/object-codec.ts'
import { type ApiResource, resourcePath } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { type Fields, fieldsOf, itemsOf, numberOf, textOf } from '../kubernetes/fields.ts'
import { present } from '../lib/options.ts'

export interface DirectResource {
  readonly resource: ApiResource
  readonly metadataOnly: boolean
}

export interface DirectListRequest {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  /** The server's `continue` token from the page before. */
  readonly continue?: string | undefined
  /** Reads at most this many objects, even from a server that ignores `limit`. */
  readonly limit: number
}

/** A page of a list, as the server has it now. */
export interface DirectList {
  readonly objects: readonly KubernetesObject[]
  /** Whether the server ignored `limit` and sent more objects. The rest was not read. */
  readonly isCut: boolean
  /** `undefined` at the end, and if the list was cut. */
  readonly continue: string | undefined
  /** `''` if the server sends none, or the list was cut. */
  readonly resourceVersion: string
  readonly remainingItemCount: number | undefined
}

export type DirectTableRequest = { readonly namespace?: string } & (
  | { readonly name: string }
  | { readonly limit: number; readonly next?: string; readonly fieldSelector?: string }
)

const partialObject = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

/** Reads without a cache. All methods reject as `ResourceClient.list` does, or with the signal's reason. */
export class DirectApi {
  readonly #server: Pick<ApiServer, 'request' | 'resource'>

  constructor(server: Pick<ApiServer, 'request' | 'resource'>) {
    this.#server = server
  }

  /** Resolves with `undefined` if there is no such object. */
  object(
    of: DirectResource,
    at: { readonly namespace?: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const accept = of.metadataOnly ? { accept: partialObject } : {}
    return unlessNotFound(async () => {
      const path = resourcePath(of.resource, at)
      const read = await this.#server.request('GET', path, { exact: true, signal, ...accept })
      return createObjectCodec(of).encode(Buffer.from(JSON.stringify(read))).object
    })
  }

  /** Who manages which fields of an object (`metadata.managedFields`); `undefined` if there is no such object. */
  managers(
    { resource }: DirectResource,
    at: { readonly namespace?: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<readonly Fields[] | undefined> {
    return unlessNotFound(async () => {
      const path = resourcePath(resource, at)
      const read = await this.#server.request('GET', path, { accept: partialObject, signal })
      return itemsOf(fieldsOf(fieldsOf(read)['metadata'])['managedFields'])
    })
  }

  /** Objects as the server prints them; `undefined` if the server prints no tables. */
  table(
    { resource }: DirectResource,
    request: DirectTableRequest,
    signal: AbortSignal,
  ): Promise<DirectTable | undefined> {
    const { namespace } = request
    const place = namespace === undefined ? {} : { namespace }
    let path = resourcePath(resource, 'name' in request ? { ...place, name: request.name } : place)
    if ('limit' in request) {
      const { limit, next, fieldSelector } = request
      const asked = present({ limit: String(limit), continue: next, fieldSelector })
      path += `?${new URLSearchParams(asked)}`
    }
    return unlessNotFound(async () =>
      readTable(await this.#server.request('GET', path, { accept: tableType, signal })),
    )
  }

  async list(
    of: DirectResource,
    request: DirectListRequest,
    signal: AbortSignal,
  ): Promise<DirectList> {
    const { namespace, labelSelector, fieldSelector, limit } = request
    const client = this.#server.resource(of.resource, { metadataOnly: of.metadataOnly })
    const selected = { limit, namespace, labelSelector, fieldSelector, continue: request.continue }
    const stream = await client.list(present(selected as ListRequest), signal)
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
  }
}

async function unlessNotFound<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiStatusError && error.httpStatus === 404) return undefined
    throw error
  }
}

const cut = {
  isCut: true,
  continue: undefined,
  resourceVersion: '',
  remainingItemCount: undefined,
} as const

/** A column of a table that the API server prints. */
export interface DirectColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly priority: number
}

export interface DirectTableRow {
  readonly namespace: string
  readonly name: string
  readonly creationTimestamp: string | undefined
  /** All of the object's metadata, with `managedFields`. */
  readonly metadata: Fields
  readonly cells: readonly unknown[]
}

/** Objects as the API server prints them: the columns and rows of `kubectl get`. */
export interface DirectTable {
  readonly columns: readonly DirectColumn[]
  readonly rows: readonly DirectTableRow[]
  /** The server's `continue` token; absent at the end. */
  readonly continue: string | undefined
}

const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1'

/** Reads a server's answer; `undefined` if the server does not print tables. */
function readTable(answer: unknown): DirectTable | undefined {
  const table = fieldsOf(answer)
  if (table['kind'] !== 'Table') return undefined
  return {
    columns: itemsOf(table['columnDefinitions']).map(({ name, type, format, priority }) => ({
      name: textOf(name) ?? '',
      type: textOf(type) ?? 'string',
      format: textOf(format) ?? '',
      priority: numberOf(priority) ?? 0,
    })),
    rows: itemsOf(table['rows']).map(({ cells, object }) => {
      const metadata = fieldsOf(fieldsOf(object)['metadata'])
      const { name, namespace, creationTimestamp } = metadata
      return {
        metadata,
        namespace: textOf(namespace) ?? '',
        name: textOf(name) ?? '',
        creationTimestamp: textOf(creationTimestamp),
        cells: Array.isArray(cells) ? cells : [],
      }
    }),
    continue: textOf(fieldsOf(table['metadata'])['continue']),
  }
}
