/*
 * The frames of a subscription while it has holders, through lost connections and temporary failures, until it is
 * refused for good. It starts with the first holder and rests after the last one, with its resume token. `close` is
 * final.
 */

import type { ClusterGap, StreamFrame } from './frame-fold.ts'
import {
  failureOf,
  type LiveFailure,
  type LiveRequest,
  type LiveResult,
  type LiveTransport,
  retryDelayMs,
} from './live-transport.ts'

/**
 * State of a subscription: `idle` for a hook that is not `enabled`; `loading` before the first snapshot is complete; `live` while the rows are complete and
 * followed; `reconnecting`, with the previous rows, while the connection is lost, a new snapshot arrives, or it has no
 * subscribers; `failed` if the gateway refuses the subscription for good; `closed` after it was closed.
 */
export type LiveStatus = 'idle' | 'loading' | 'live' | 'reconnecting' | 'failed' | 'closed'

/** An immutable snapshot of rows. */
export interface LiveSnapshot<Row> {
  readonly rows: readonly Row[]
  readonly status: LiveStatus
  /** The reason of `failed`; while `loading` or `reconnecting`, the last error; `undefined` while `live`. */
  readonly error: Error | undefined
  /**
   * Since when the rows may be out of date because the gateway has lost its watch, by RFC 3339; `null` while they are
   * not, and for a subscription that does not select `staleSince`.
   */
  readonly staleSince: string | null
  /**
   * The clusters that are missing, or whose rows may be out of date; empty for a subscription that does not select
   * `incomplete`. The same array until it changes.
   */
  readonly incomplete: readonly ClusterGap[]
}

/** The state of a subscription besides its rows. */
export type LiveState = Omit<LiveSnapshot<unknown>, 'rows'>

/** The row type of a subscription's result: that of the objects in the changes of its root field. */
export type RowOf<Result> = Result extends object
  ? NonNullable<Result[keyof Result]> extends { readonly changes: readonly (infer Change)[] }
    ? Change extends { readonly object?: infer Row }
      ? NonNullable<Row>
      : never
    : never
  : never

/** A subscription, and the client that opens it. */
export interface LiveQuery<Result, Variables> {
  /** A client of graphql-ws, or a {@link WebSocketClient}. Subscriptions may share it. */
  readonly client: LiveTransport
  readonly query: LiveDocument<Result, Variables>
  readonly variables?: Omit<Variables, 'resumeFrom'>
  readonly operationName?: string
  /** Receives errors of listeners; by default they are reported as uncaught errors. */
  readonly listenerFailed?: ((error: unknown) => void) | undefined
}

/**
 * The result of a frame: whether the rows are complete after it, or it does not fit the previous frames, or its
 * subscription does not select a field that is needed.
 */
export type Received = 'synced' | 'incomplete' | 'unfit' | { readonly missing: string }

interface LiveStreamOptions<Frame> extends LiveQuery<unknown, unknown> {
  readonly received: (frame: Frame) => Received
  /** Called after a change of the {@link LiveState}. */
  readonly stateChanged: () => void
}

/**
 * How long a subscription stays open without a holder, in milliseconds: enough for a component that is mounted again, as
 * React does under StrictMode, and not enough for those of a search field to add up.
 */
export const graceMs = 100

export class LiveStream<Frame extends StreamFrame> {
  readonly #options: LiveStreamOptions<Frame>
  readonly #request: LiveRequest
  #synced = pendingSync()
  #forgetClosed: (() => void) | undefined
  #holders = 0
  #grace: ReturnType<typeof setTimeout> | undefined
  #isAwaited = false
  #resumeToken: string | undefined
  #unsubscribe: (() => void) | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #hasRenewed = false
  #wasLive = false
  #status: LiveStatus = 'loading'
  #error: Error | undefined
  #staleSince: string | null = null
  #incomplete: readonly ClusterGap[] = []

  /** Throws `TypeError` for a document without its text. */
  constructor(options: LiveStreamOptions<Frame>) {
    this.#options = options
    const { query, variables, operationName } = options
    const token = (): string | undefined => this.#resumeToken
    this.#request = {
      query: documentText(query),
      ...(operationName === undefined ? {} : { operationName }),
      // Read for each send, so a transport that subscribes again by itself continues from the last token.
      get variables() {
        const resumeFrom = token()
        return { ...variables, ...(resumeFrom === undefined ? {} : { resumeFrom }) }
      },
    }
  }

  get status(): LiveStatus {
    return this.#status
  }

  get error(): Error | undefined {
    return this.#error
  }

  get state(): LiveState {
    return {
      status: this.#status,
      error: this.#error,
      staleSince: this.#staleSince,
      incomplete: this.#incomplete,
    }
  }

  /**
   * Resolves when the rows are complete for the first time; rejects if that cannot happen any more. Holds the stream
   * until it is closed.
   */
  get synced(): Promise<void> {
    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.hold()
    }
    return this.#synced.promise
  }

  /** Keeps the subscription open until the returned function is called, once. Works without `this`. */
  readonly hold = (): (() => void) => {
    this.#holders++
    if (this.#grace !== undefined) {
      clearTimeout(this.#grace)
      this.#grace = undefined
    } else if (this.#holders === 1 && this.#status !== 'closed') {
      this.#forgetClosed = this.#options.client.on?.('closed', (reason) => {
        // A subscription that waits for its own next attempt knows why. Else the transport may reconnect by itself.
        if (this.#retry === undefined) this.#become(this.#waiting, failureOf(reason).error)
      })
      this.#open()
    }
    return () => {
      if (--this.#holders > 0 || this.#status === 'closed') return
      this.#grace = setTimeout(() => {
        // Ends the subscription until the next holder comes, who may ask again for what was refused.
        this.#grace = undefined
        this.#end()
        if (this.#status === 'failed') this.#synced = pendingSync()
        this.#failures = 0
        this.#hasRenewed = false
        this.#become(this.#waiting, undefined)
      }, graceMs)
    }
  }

  close(): void {
    if (this.#status === 'closed') return
    clearTimeout(this.#grace)
    this.#end()
    this.#become('closed', undefined)
    this.#synced.reject(new Error('the subscription was closed before it was complete'))
  }

  #open(): void {
    this.#retry = undefined
    let over = false
    const ended = (reason: unknown): void => {
      if (over) return
      over = true
      this.#ended(failureOf(reason))
    }
    const unsubscribe = this.#options.client.subscribe(this.#request, {
      next: (result) => {
        if (!over) this.#next(result, ended)
      },
      error: ended,
      complete: () => ended({ code: 1000, reason: 'the gateway ended the subscription' }),
    })
    // The subscription may have ended before `subscribe` returned.
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
      this.#leave(() => ended(errors ?? [{ message: 'the subscription sent no frame' }]))
      return
    }
    const received = this.#options.received(frame)
    if (typeof received === 'object') {
      const message = `the subscription must select \`${received.missing}\`: without it, its rows cannot be followed`
      this.#leave(() => ended([{ message }]))
      return
    }
    if (received === 'unfit') {
      // Starts over: the held rows are out of step.
      this.#resumeToken = undefined
      this.#leave(() => ended(new Error('a frame did not fit the previous frames')))
      return
    }
    this.#resumeToken = frame.resumeToken ?? this.#resumeToken
    this.#failures = 0
    this.#hasRenewed = false
    const { staleSince = null, incomplete = [] } = frame
    const isOther = JSON.stringify(incomplete) !== JSON.stringify(this.#incomplete)
    if (isOther) this.#incomplete = incomplete
    if (isOther || staleSince !== this.#staleSince) {
      this.#staleSince = staleSince
      this.#options.stateChanged()
    }
    if (received === 'synced') {
      this.#wasLive = true
      this.#become('live', undefined)
      this.#synced.resolve()
    } else if (this.#status === 'live') this.#become('reconnecting', undefined)
  }

  /** Ends the subscription at the transport after reporting its end. */
  #leave(ended: () => void): void {
    const unsubscribe = this.#unsubscribe
    ended()
    unsubscribe?.()
  }

  #ended({ error, code, remedy, retryAfterMs }: LiveFailure): void {
    this.#unsubscribe = undefined
    if (this.#status === 'closed') return
    let isOver = remedy === 'none'
    if (remedy === 'renew') {
      // Tries other credentials once.
      isOver = this.#hasRenewed || this.#options.client.renew?.() !== true
      this.#hasRenewed = true
    }
    if (isOver) {
      this.#end()
      this.#become('failed', error)
      this.#synced.reject(error)
      return
    }
    // The token may mean something else in the new schema.
    if (code === 'SCHEMA_CHANGED') this.#resumeToken = undefined
    this.#become(this.#waiting, error)
    const delayMs = Math.max(retryDelayMs(this.#failures++), retryAfterMs ?? 0)
    this.#retry = setTimeout(() => this.#open(), delayMs)
  }

  /** The status of a subscription that is not live, but may become so. */
  get #waiting(): 'loading' | 'reconnecting' {
    return this.#wasLive ? 'reconnecting' : 'loading'
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

function pendingSync(): PromiseWithResolvers<void> {
  const pending = Promise.withResolvers<void>()
  // A subscriber may never ask for it.
  pending.promise.catch(() => {})
  return pending
}

/**
 * A document with typed result and variables, of gql.tada or of graphql-codegen's client preset, in either of its
 * modes.
 */
export interface TypedDocument<Result, Variables> {
  // A method, as in gql.tada and graphql-codegen: documents with fewer variables are then accepted where more are
  // given.
  __apiType?(variables: Variables): Result
}

/** The document of a subscription: its text, a typed document, or a parsed one. */
export type LiveDocument<Result, Variables> = string | TypedDocument<Result, Variables>

/**
 * The text of a document; for a parsed document, the text that it was parsed from. Throws `TypeError` for a parsed
 * document without its text: print it first.
 */
export function documentText(document: string | object): string {
  if (typeof document === 'string') return document
  // The client preset of graphql-codegen writes a String object in its mode `string`.
  const value: unknown = document.valueOf()
  if (typeof value === 'string') return value
  const { loc } = document as {
    readonly loc?: { readonly source?: { readonly body?: unknown } | undefined } | undefined
  }
  const text = loc?.source?.body
  if (typeof text === 'string') return text
  throw new TypeError(
    'the document has no text: pass its text, such as print(document) of the package graphql',
  )
}

/** A JSON value as text: equal values have the same one, whatever the order of their keys. */
export function valueText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : part,
  )
}
