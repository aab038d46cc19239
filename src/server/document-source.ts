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
