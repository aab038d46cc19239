import { documentText, type LiveDocument } from './live-document.ts'
import { failureOf, type LiveFailure } from './live-failure.ts'
import type { LiveStatus } from './live-snapshot.ts'
import type { LiveRequest, LiveResult, LiveTransport } from './live-transport.ts'
import { retryDelayMs } from './retry-delay.ts'

/** What is subscribed to, and by what. */
export interface LiveQuery<Result, Variables> {
  /** A client of graphql-ws, or a {@link WebSocketClient}. It may be shared by many. */
  readonly client: LiveTransport
  readonly query: LiveDocument<Result, Variables>
  readonly variables?: Omit<Variables, 'resumeFrom'>
  readonly operationName?: string
}

/** What becomes of a frame: whether what is shown is complete with it; or that it does not fit to those before it. */
export type Received = 'synced' | 'incomplete' | 'unfit'

interface LiveStreamOptions<Frame> {
  readonly client: LiveTransport
  readonly request: LiveRequest
  readonly received: (frame: Frame) => Received
  /** The status or the error is another one. */
  readonly stateChanged: () => void
}

/** The request of a query. Throws `TypeError` for a document that does not tell its text. */
export function liveRequest<Result, Variables>({
  query,
  variables,
  operationName,
}: LiveQuery<Result, Variables>): LiveRequest {
  return {
    query: documentText(query),
    variables: { ...variables },
    ...(operationName === undefined ? {} : { operationName }),
  }
}

/** The frames of a subscription, through lost connections and passing failures, until it is closed or refused for good. */
export class LiveStream<Frame extends { readonly resumeToken?: string }> {
  readonly #options: LiveStreamOptions<Frame>
  readonly #synced = Promise.withResolvers<void>()
  readonly #forgetClosed: (() => void) | undefined
  #resumeToken: string | undefined
  #unsubscribe: (() => void) | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #hasRenewed = false
  #status: LiveStatus = 'loading'
  #error: Error | undefined

  constructor(options: LiveStreamOptions<Frame>) {
    this.#options = options
    this.#synced.promise.catch(() => {})
    this.#forgetClosed = options.client.on?.('closed', () => this.#lost())
  }

  get status(): LiveStatus {
    return this.#status
  }

  get error(): Error | undefined {
    return this.#error
  }

  /** Resolves when what is shown is complete for the first time; rejects when that cannot be any more. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  close(): void {
    if (this.#status === 'closed') return
    this.#end()
    this.#become('closed', undefined)
    this.#synced.reject(new Error('the subscription was closed before it was complete'))
  }

  open(): void {
    this.#retry = undefined
    const { query, operationName, variables } = this.#options.request
    const token = (): string | undefined => this.#resumeToken
    const request: LiveRequest = {
      query,
      ...(operationName === undefined ? {} : { operationName }),
      // Read each time that it is sent: a transport that subscribes again by itself then goes on where this is.
      get variables() {
        const resumeFrom = token()
        return resumeFrom === undefined ? variables : { ...variables, resumeFrom }
      },
    }
    let over = false
    const ended = (reason: unknown): void => {
      if (over) return
      over = true
      this.#ended(failureOf(reason))
    }
    const unsubscribe = this.#options.client.subscribe(request, {
      next: (result) => {
        if (!over) this.#next(result, ended)
      },
      error: ended,
      complete: () => ended({ code: 1000, reason: 'the gateway ended the subscription' }),
    })
    // It may have ended before it returned.
    if (over) unsubscribe()
    else {
      this.#unsubscribe = () => {
        over = true
        unsubscribe()
      }
    }
  }

  #next({ data, errors }: LiveResult, ended: (reason: unknown) => void): void {
    const frame = Object.values((data ?? {}) as Record<string, Frame | null>)[0] ?? undefined
    if (frame === undefined) {
      this.#leave(() => ended(errors ?? [{ message: 'the subscription brought no frame' }]))
      return
    }
    const received = this.#options.received(frame)
    if (received === 'unfit') {
      // From the beginning: nothing may be built on what is held.
      this.#resumeToken = undefined
      this.#leave(() => ended(new Error('a frame did not fit to those before it')))
      return
    }
    this.#resumeToken = frame.resumeToken ?? this.#resumeToken
    this.#failures = 0
    this.#hasRenewed = false
    if (received === 'synced') {
      this.#become('live', undefined)
      this.#synced.resolve()
    } else if (this.#status === 'live') this.#become('reconnecting', undefined)
  }

  /** Ends what goes on at the transport, behind what it has ended by. */
  #leave(ended: () => void): void {
    const unsubscribe = this.#unsubscribe
    ended()
    unsubscribe?.()
  }

  /** The transport's connection is gone; it may come back by itself. */
  #lost(): void {
    if (this.#status === 'live') this.#become('reconnecting', undefined)
  }

  #ended({ error, code, remedy, retryAfterMs }: LiveFailure): void {
    this.#unsubscribe = undefined
    if (this.#status === 'closed') return
    if (remedy === 'none' || (remedy === 'renew' && !this.#renews())) {
      this.#end()
      this.#become('failed', error)
      this.#synced.reject(error)
      return
    }
    // What it stood for may be another thing now.
    if (code === 'SCHEMA_CHANGED') this.#resumeToken = undefined
    this.#become(this.#status === 'loading' ? 'loading' : 'reconnecting', error)
    const delayMs = Math.max(retryDelayMs(this.#failures++), retryAfterMs ?? 0)
    this.#retry = setTimeout(() => this.open(), delayMs)
  }

  /** Other credentials are tried once: who is refused with those is refused. */
  #renews(): boolean {
    if (this.#hasRenewed) return false
    this.#hasRenewed = true
    return this.#options.client.renew?.() ?? false
  }

  #end(): void {
    clearTimeout(this.#retry)
    this.#forgetClosed?.()
    const unsubscribe = this.#unsubscribe
    this.#unsubscribe = undefined
    unsubscribe?.()
  }

  #become(status: LiveStatus, error: Error | undefined): void {
    if (this.#status === status && this.#error === error) return
    this.#status = status
    this.#error = error
    this.#options.stateChanged()
  }
}
