/*
 * The allowed documents, from a manifest: `{ hash: document }` of graphql-codegen and Relay, or Apollo's `{ format:
 * "apollo-persisted-query-manifest", operations: [{ id, body }] }`. A request names a document by `documentId`,
 * `doc_id`, `id` or `extensions.persistedQuery.sha256Hash`, or sends its exact text.
 */

import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { CodedError } from '../../lib/coded-error.ts'
import { FollowedFiles } from '../../lib/file-follower.ts'
import { ClientError } from '../../graphql/errors/client-error.ts'
import type { DocumentRequest, DocumentSource } from '../document-source.ts'
import type { ServerLog } from '../operation-options.ts'

function manifestError(file: string, problem: string, cause?: unknown): CodedError {
  return new CodedError('TRUSTED_DOCUMENTS', `trusted documents ${file}: ${problem}`, {
    value: file,
    cause,
    hint: 'give the file that graphql-codegen (client-preset, persistedDocuments), generate-persisted-query-manifest or relay-compiler (persistConfig) writes',
  })
}

/** The names of ids in the draft of GraphQL over HTTP and in Relay's examples. */
const idMembers = ['documentId', 'doc_id', 'id'] as const

export class TrustedDocuments implements DocumentSource, Disposable {
  readonly idMembers: readonly string[] = idMembers
  readonly #byId: FollowedFiles<ReadonlyMap<string, string>>
  #texts: ReadonlySet<string> = new Set()

  /**
   * Reads the file, now and after each change. `further` documents, such as the portal's, may run in addition. Throws
   * TRUSTED_DOCUMENTS.
   */
  constructor(file: string, log: ServerLog, further: Readonly<Record<string, string>> = {}) {
    const read = (): ReadonlyMap<string, string> => {
      const byId = new Map([...Object.entries(further), ...readTrustedDocuments(file)])
      this.#texts = new Set(byId.values())
      return byId
    }
    this.#byId = new FollowedFiles([file], read, (error) =>
      log.error('the previous trusted documents stay in use', { error }),
    )
  }

  documentOf(request: DocumentRequest): string | undefined {
    const { query } = request
    const hasText = query !== undefined && query !== null && query !== ''
    const id = idOf(request)
    if (id === undefined) {
      if (!hasText) return undefined
      if (this.#texts.has(query)) return query
      throw untrusted('this document is not among the trusted documents')
    }
    const document = this.#byId.value.get(id)
    if (document === undefined) throw untrusted('no trusted document has this id', id)
    if (hasText && query !== document) throw untrusted('the document does not match its id', id)
    return document
  }

  [Symbol.dispose](): void {
    this.#byId[Symbol.dispose]()
  }
}

function untrusted(message: string, value?: string): ClientError {
  const hint = 'this gateway runs only the documents that its operator has registered'
  return new ClientError('UNTRUSTED_DOCUMENT', message, { value, hint })
}

/** The id of a document. Drops the algorithm before a hash. */
function idOf(request: DocumentRequest): string | undefined {
  const members = request as Readonly<Record<string, unknown>>
  const named = request.extensions?.['persistedQuery'] as
    | { sha256Hash?: unknown }
    | undefined
    | null
  const given = [...idMembers.map((member) => members[member]), named?.sha256Hash]
  const id = given.find((one) => one !== undefined && one !== null)
  if (id === undefined) return undefined
  // An id that is not a text matches no document.
  return typeof id === 'string' ? id.replace(/^sha256:/, '') : ''
}

/** The documents of a manifest, by id. Throws TRUSTED_DOCUMENTS. */
export function readTrustedDocuments(file: string): ReadonlyMap<string, string> {
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw manifestError(file, (cause as Error).message, cause)
  }
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) {
    throw manifestError(file, 'the manifest is not an object of documents')
  }
  const documents = new Map<string, string>()
  const { format, operations } = manifest as { format?: unknown; operations?: unknown }
  const isApollo = format === 'apollo-persisted-query-manifest' && Array.isArray(operations)
  const entries: readonly (readonly [unknown, unknown])[] = isApollo
    ? operations.map((operation: { id?: unknown; body?: unknown } | null) => [
        operation?.id,
        operation?.body,
      ])
    : Object.entries(manifest)
  for (const [id, document] of entries) {
    if (typeof id !== 'string' || typeof document !== 'string') {
      throw manifestError(file, `the document of ${JSON.stringify(id)} is not a string`)
    }
    try {
      parse(document, { noLocation: true })
    } catch (cause) {
      const problem = `the document of ${JSON.stringify(id)}: ${(cause as Error).message}`
      throw manifestError(file, problem, cause)
    }
    documents.set(id.replace(/^sha256:/, ''), document)
  }
  return documents
}
