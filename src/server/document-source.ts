/*
 * Finds the document of a request: its text, the text of a hash that was sent before (automatic persisted queries), or a
 * trusted document by its id. HTTP and WebSockets both call {@link requestedDocument}, whose errors name the missing
 * member.
 */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../access/viewer.ts'
import type { OperationTrace } from '../graphql/prepare/operation-trace.ts'
import { ClientError, clientErrorOf } from '../graphql/errors/client-error.ts'
import { refusedDocument } from '../graphql/answer/operation-observer.ts'
import type { QueryRequest } from '../graphql/answer/planned-queries.ts'
import { isRecord } from '../lib/json.ts'
import { quoted } from '../lib/text.ts'
import type { ServerObserver } from './operation-options.ts'

/** An operation of a request, with its document or an id of one. */
export interface DocumentRequest {
  readonly query?: string | null | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

/** An operation of a request, which may name its document by an id. */
export type RequestedOperation = Omit<QueryRequest, 'query'> & DocumentRequest

export const requestMembers: ReadonlySet<string> = new Set([
  'query',
  'operationName',
  'variables',
  'extensions',
])

/** The clusters to which a request restricts its operation by `extensions.clusters`. Throws `ClientError`. */
export function clustersAsked({ extensions }: DocumentRequest): readonly string[] | undefined {
  const value = extensions?.['clusters']
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value
  throw new ClientError('BAD_USER_INPUT', 'extensions.clusters is no list of names', {
    argument: 'extensions.clusters',
    value,
    hint: 'name the clusters that the answer is to be about, or leave it out',
  })
}

/** Finds the documents of operations before they are parsed, on both transports. */
export interface DocumentSource {
  /** Members of a request that name a document, in addition to `extensions.persistedQuery`. */
  readonly idMembers: readonly string[]
  /**
   * The document of a request; `undefined` if the request neither has nor names one. With `learns`, the source may remember
   * a document that comes with its hash. Throws `ClientError` if the document is unknown or may not run.
   */
  documentOf(request: DocumentRequest, learns: boolean): string | undefined
}

export interface DocumentAsked {
  readonly learns: boolean
  /** Whether another gateway has made a document, so that it may run. */
  readonly isOfPeer: (document: string) => boolean
  readonly viewer: Viewer | undefined
  readonly trace: OperationTrace | undefined
  readonly observer: ServerObserver | undefined
}

const sha256 = /^[0-9a-f]{64}$/

/**
 * Calls {@link DocumentSource.documentOf}, and reports refused documents to the observer. Throws `ClientError` for a
 * request without a document, or with a wrong restriction. The error lists the members that have no meaning here.
 */
export function requestedDocument(
  source: DocumentSource,
  request: DocumentRequest,
  { learns, isOfPeer, viewer, trace, observer }: DocumentAsked,
): string {
  clustersAsked(request)
  if (typeof request.query === 'string' && isOfPeer(request.query)) return request.query
  let query: string | undefined
  try {
    query = source.documentOf(request, learns)
  } catch (error) {
    const seen = clientErrorOf(error)
    const { code, value } = seen.extensions
    // Not a refusal: clients first send a hash, and then the document if the hash is unknown.
    if (code !== 'PERSISTED_QUERY_NOT_FOUND') {
      const refused = refusedDocument(request.query ?? '', [seen], { viewer, trace })
      const named = typeof value === 'string' && sha256.test(value) ? value : undefined
      observer?.rejected?.(refused.length > 0 ? refused : { ...refused, hash: named })
    }
    throw error
  }
  if (query !== undefined) return query
  const unknown = Object.keys(request).filter((name) => !requestMembers.has(name))
  const names = unknown.map(quoted).join(', ')
  const besides = unknown.length === 0 ? '' : `, and the gateway does not know its ${names}`
  throw new ClientError('BAD_USER_INPUT', `the request has no query${besides}`, {
    argument: 'query',
    hint: 'send the text of the document as `query`',
  })
}

/** The maximum size of all documents, in UTF-16 units. */
const maxUnits = 1_000_000
const maxDocuments = 1_000

const extension = 'persistedQuery'

/**
 * Remembers documents that were sent with their hash, for requests that name only the hash: `extensions: {
 * persistedQuery: { version: 1, sha256Hash } }`, as Apollo's clients do. Drops the least recently used document first.
 * After PERSISTED_QUERY_NOT_FOUND a client sends its document again.
 */
export class KnownDocuments implements DocumentSource {
  readonly idMembers: readonly string[] = []
  readonly #documents = new LRUCache<string, string>({
    max: maxDocuments,
    maxSize: maxUnits,
    sizeCalculation: (document) => document.length + 1,
  })

  /** Throws PERSISTED_QUERY_NOT_FOUND, and BAD_USER_INPUT for an invalid or wrong hash. */
  documentOf({ query, extensions }: DocumentRequest, learns: boolean): string | undefined {
    const given = extensions?.[extension]
    if (given === undefined || given === null) return query ?? undefined
    const hash = hashOf(given)
    if (query === undefined || query === null || query === '') {
      const document = this.#documents.get(hash)
      if (document !== undefined) return document
      throw new ClientError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', {
        hint: 'send the document once by POST, together with its hash',
      })
    }
    if (this.#documents.peek(hash) === query) return query
    if (createHash('sha256').update(query).digest('hex') !== hash) {
      throw hashError(hash, 'is not the SHA-256 of the document')
    }
    if (learns) this.#documents.set(hash, query)
    return query
  }
}

/** Whether the members of an operation name its document by a hash. */
export function namesHash(params: unknown): boolean {
  if (!isRecord(params)) return false
  const { extensions } = params
  return isRecord(extensions) && extension in extensions
}

function hashOf(given: unknown): string {
  const { version, sha256Hash } = given as { readonly version?: unknown; sha256Hash?: unknown }
  if (version !== 1) throw hashError(version, 'is not of version 1')
  if (typeof sha256Hash === 'string' && sha256.test(sha256Hash)) return sha256Hash
  throw hashError(sha256Hash, 'has no sha256Hash of 64 hexadecimal digits')
}

function hashError(value: unknown, problem: string): ClientError {
  const argument = `extensions.${extension}`
  return new ClientError('BAD_USER_INPUT', `${argument} ${problem}`, {
    argument,
    value,
    hint: 'write it as { "version": 1, "sha256Hash": the SHA-256 of the document }',
  })
}
