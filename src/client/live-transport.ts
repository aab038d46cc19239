/** A subscription for a transport. The transport reads `variables` each time it sends the request. */
export interface LiveRequest {
  readonly query: string
  readonly operationName?: string
  readonly variables: Record<string, unknown>
}

/** A GraphQL error of an operation. */
export interface LiveError {
  readonly message: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** The payload of a `next` message. */
export interface LiveResult {
  readonly data?: unknown
  readonly errors?: readonly unknown[] | undefined
}

/** Receives the events of a subscription; `error` and `complete` end it. */
export interface LiveSink {
  next(result: LiveResult): void
  /** Errors of the operation, an `Error`, or the close code of the socket: `{ code, reason }`. */
  error(error: unknown): void
  complete(): void
}

/**
 * Sends subscriptions: the client of graphql-ws, or a {@link WebSocketClient}. After a lost connection it may send its
 * subscriptions again by itself, or end them with an error.
 */
export interface LiveTransport {
  /** Returns a function that ends the subscription from this side. */
  subscribe(request: LiveRequest, sink: LiveSink): () => void
  /**
   * Calls `listener` when a connection is established, or lost or refused, with the `Error` or `{ code, reason }`.
   * Returns a function that removes it.
   */
  on?(event: 'connected' | 'closed', listener: (reason?: unknown) => void): () => void
  /** Reconnects with other credentials after a refusal. Returns whether there may be others. */
  renew?(): boolean
}
