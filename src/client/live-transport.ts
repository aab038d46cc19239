/** A subscription as a transport sends it. `variables` is read anew each time that it is sent. */
export interface LiveRequest {
  readonly query: string
  readonly operationName?: string
  readonly variables: Record<string, unknown>
}

/** An error of an operation, as GraphQL tells it. */
export interface LiveError {
  readonly message: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** What one `next` message brings. */
export interface LiveResult {
  readonly data?: unknown
  readonly errors?: readonly unknown[] | undefined
}

/** Told what becomes of a subscription; `error` and `complete` end it. */
export interface LiveSink {
  next(result: LiveResult): void
  /** Errors of the operation, an `Error`, or how the socket was closed: `{ code, reason }`. */
  error(error: unknown): void
  complete(): void
}

/**
 * What subscriptions are sent by. The client of graphql-ws is one, and so is {@link WebSocketClient}. When a connection is
 * lost it may send its subscriptions again by itself, or end them with an error.
 */
export interface LiveTransport {
  /** Returns what ends the subscription from this side. */
  subscribe(request: LiveRequest, sink: LiveSink): () => void
  /** Tells when a connection is there, and when it is lost. Returns what ends the listening. */
  on?(event: 'connected' | 'closed', listener: () => void): () => void
  /** Connects anew with other credentials, as those before were refused. Returns whether there may be others. */
  renew?(): boolean
}
