/*
 * The OpenAPI v3 documents of one server. Each call reads the index, fetches the documents whose hashes have changed, and
 * forgets documents that the server no longer lists. Equal documents of several servers are held once.
 */

import { createHash } from 'node:crypto'
import type { OpenApiDocument, OpenApiDocuments } from '../../kubernetes/open-api.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { boundedParallel } from '../../lib/concurrency.ts'
import { SharedValues } from '../../lib/shared-values.ts'

/** An OpenAPI document could not be fetched. The other documents are unaffected. */
export class OpenApiDocumentError extends CodedError {
  constructor(path: string, cause: unknown) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    super('OPENAPI_DOCUMENT', `OpenAPI document ${path}: ${problem}`, { value: path, cause })
  }
}

export interface FetchedOpenApi {
  readonly documents: OpenApiDocuments
  readonly failures: readonly OpenApiDocumentError[]
}

/** Fetches a document; `read` reads its text. */
export type GetDocument = (
  path: string,
  signal: AbortSignal,
  read?: (text: string) => unknown,
) => Promise<unknown>

export interface OpenApiRequest {
  /** Selects documents by path: `api/v1`, `apis/apps/v1`. Default: all. */
  readonly isWanted?: (path: string) => boolean
  readonly signal: AbortSignal
}

/** The number of documents requested at once. */
const maxParallel = 4

interface CachedDocument {
  /** The address with its hash: the same address means the same content. */
  readonly url: string
  readonly document: OpenApiDocument
}

export class OpenApi {
  readonly #get: GetDocument
  #cache: ReadonlyMap<string, CachedDocument> = new Map()

  constructor(get: GetDocument) {
    this.#get = get
  }

  /**
   * The selected documents. Rejects if the index cannot be fetched, such as with `ApiStatusError` 404 from servers before
   * Kubernetes 1.24.
   */
  async documents({ isWanted = () => true, signal }: OpenApiRequest): Promise<FetchedOpenApi> {
    const index = (await this.#get('/openapi/v3', signal)) as {
      readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: string }>>
    }
    const wanted = Object.entries(index?.paths ?? {}).filter(([path]) => isWanted(path))
    const cache = new Map<string, CachedDocument>()
    const documents: Record<string, OpenApiDocument> = {}
    const failures: OpenApiDocumentError[] = []
    const fetched = await boundedParallel(wanted, maxParallel, async ([path, entry]) => {
      const url = entry.serverRelativeURL ?? `/openapi/v3/${path}`
      const known = this.#cache.get(path)
      if (known?.url === url) return known
      try {
        return await this.#document(url, signal).catch(async (error: unknown) => {
          // The document has changed since the index was read. Its old address redirects to the new one.
          const isMoved =
            error instanceof ApiStatusError && error.httpStatus >= 300 && error.httpStatus < 400
          if (!isMoved) throw error
          return await this.#document(url.replace(/\?.*/, ''), signal)
        })
      } catch (error) {
        signal.throwIfAborted()
        return new OpenApiDocumentError(path, error)
      }
    })
    for (const [at, result] of fetched.entries()) {
      const [path = ''] = wanted[at] ?? []
      if (result instanceof OpenApiDocumentError) {
        failures.push(result)
        continue
      }
      documents[path] = result.document
      if (result.url.includes('hash=')) cache.set(path, result)
    }
    this.#cache = cache
    return { documents, failures }
  }

  async #document(url: string, signal: AbortSignal): Promise<CachedDocument> {
    const document = await this.#get(url, signal, sharedDocument)
    if (typeof document === 'object' && document !== null && 'openapi' in document) {
      return { url, document: document as OpenApiDocument }
    }
    throw new TypeError('the answer is not an OpenAPI document')
  }
}

/** Clusters of one version serve equal documents, of some megabytes. All connections hold the same one, parsed once. */
const shared = new SharedValues<object>()
const hashes = new WeakMap<object, string>()

/** This process hashes the text, so that no server can pass off its document as another server's. */
function sharedDocument(text: string): unknown {
  const hash = sha256(text)
  const known = shared.get(hash)
  if (known !== undefined) return known
  const document: unknown = JSON.parse(text)
  if (typeof document !== 'object' || document === null) return document
  hashes.set(document, hash)
  return shared.add(hash, document)
}

/** A hash of the content, which is equal for documents that were fetched with the same text. */
export function documentHash(document: OpenApiDocument): string {
  return hashes.get(document) ?? sha256(JSON.stringify(document))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
