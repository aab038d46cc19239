import type { Viewer } from '../access/viewer.ts'
import { clientErrorOf } from '../graphql/errors/client-error.ts'
import { refusedDocument } from '../graphql/answer/operation-observer.ts'
import type { ServerObserver } from './operation-options.ts'

/** An operation of a request, with its document or an id of one. */
export interface DocumentRequest {
  readonly query?: string | null | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

/** Finds the documents of operations before they are parsed, on both transports. */
export interface DocumentSource {
  /** Members of a request that name a document, besides `extensions.persistedQuery`. */
  readonly idMembers: readonly string[]
  /**
   * The document of a request; `undefined` if it has and names none. With `learns`, a document that comes with its hash
   * may be remembered. Throws `ClientError` if the document is unknown or may not run.
   */
  documentOf(request: DocumentRequest, learns: boolean): string | undefined
}

/** The caller of a document, and the observer of refusals. */
export interface DocumentAsked {
  readonly learns: boolean
  readonly viewer: Viewer | undefined
  readonly observer: ServerObserver | undefined
}

const sha256 = /^[0-9a-f]{64}$/

/** As {@link DocumentSource.documentOf}. Reports refused documents to the observer. */
export function observedDocument(
  source: DocumentSource,
  request: DocumentRequest,
  { learns, viewer, observer }: DocumentAsked,
): string | undefined {
  try {
    return source.documentOf(request, learns)
  } catch (error) {
    const seen = clientErrorOf(error)
    const { code, value } = seen.extensions
    // Clients name a document first, and send it if it is unknown: this is not a refusal.
    if (code !== 'PERSISTED_QUERY_NOT_FOUND') {
      const refused = refusedDocument(request.query ?? '', [seen], viewer)
      const named = typeof value === 'string' && sha256.test(value) ? value : undefined
      observer?.rejected?.(refused.length > 0 ? refused : { ...refused, hash: named })
    }
    throw error
  }
}
