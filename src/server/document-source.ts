import type { Viewer } from '../access/viewer.ts'
import { clientErrorOf } from '../graphql/errors/client-error.ts'
import { refusedDocument } from '../graphql/answer/operation-observer.ts'
import type { ServerObserver } from './server-observer.ts'

/** An operation as a request has it: with its document, or with what names one. */
export interface DocumentRequest {
  readonly query?: string | null | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

/** Finds the documents of operations, on both transports, before anything is parsed. */
export interface DocumentSource {
  /** Members of a request that name a document, besides `extensions.persistedQuery`. */
  readonly idMembers: readonly string[]
  /**
   * The document of a request; `undefined` where it has none and names none. With `learns`, one that comes with its hash may be
   * remembered. Throws `ClientError` where it may not be run, or is not known.
   */
  documentOf(request: DocumentRequest, learns: boolean): string | undefined
}

/** Who asks for a document, and who is told where it may not be run. */
export interface DocumentAsked {
  readonly learns: boolean
  readonly viewer: Viewer | undefined
  readonly observer: ServerObserver | undefined
}

const sha256 = /^[0-9a-f]{64}$/

/** As {@link DocumentSource.documentOf}. Tells the observer of a document that may not be run. */
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
    // Clients are expected to name a document first, and to send it where it is not known yet.
    if (code !== 'PERSISTED_QUERY_NOT_FOUND') {
      const refused = refusedDocument(request.query ?? '', [seen], viewer)
      const named = typeof value === 'string' && sha256.test(value) ? value : undefined
      observer?.rejected?.(refused.length > 0 ? refused : { ...refused, hash: named })
    }
    throw error
  }
}
