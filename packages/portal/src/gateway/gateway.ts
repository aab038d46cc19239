import { WebSocketClient } from '@informerql/client'
import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useRef } from 'react'
import type { TypedDocumentString } from './documents.ts'

/** An entry of `errors`, as the gateway sends it. */
export interface AnswerError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: {
    readonly code?: string
    readonly hint?: string
    readonly [name: string]: unknown
  }
}

/** What the gateway answers: data, of which fields may be null by one of the errors. */
export interface Answer<Result> {
  readonly data: Result
  readonly errors: readonly AnswerError[]
}

/** The gateway refuses an operation, cannot be reached, or answers without data. */
export class GatewayError extends Error {
  readonly errors: readonly AnswerError[]
  readonly code: string

  constructor(errors: readonly AnswerError[]) {
    super(errors.map(({ message }) => message).join('; '))
    this.name = 'GatewayError'
    this.errors = errors
    this.code = errors[0]?.extensions?.code ?? 'UNREACHABLE'
  }
}

/** The errors of the gateway that ended a subscription or a query. */
export function errorsOf(error: Error | undefined): readonly AnswerError[] {
  if (error === undefined) return []
  const { errors = error.cause } = error as Error & { readonly errors?: unknown }
  return Array.isArray(errors) ? (errors as AnswerError[]) : [{ message: error.message }]
}

/** The headers, and the parameters of the WebSocket, that say who the user is. */
export interface Credentials {
  readonly authorization?: string
}

/** Which gateway the views ask, and for whom. */
export interface GatewayOptions {
  /** The address of its GraphQL, absolute or by that of the document: `/graphql`. */
  readonly url: string
  /** Read for each query and each connection. Default: none. */
  readonly credentials?: () => Credentials
  /** The gateway wants other credentials. A promise resolves when there may be some. */
  readonly onRefused?: () => void | Promise<void>
}

/** A gateway as the views use it: one WebSocket for all that is live, and the answers that are kept. */
export class Gateway {
  /** The address of its GraphQL. */
  readonly url: string
  readonly socket: WebSocketClient
  /** The answers that are kept. Live lists keep their own rows. */
  readonly answers: QueryClient = new QueryClient({
    // A browser without a network may still reach its gateway, and a write never waits until there is one again.
    defaultOptions: {
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        refetchOnWindowFocus: true,
        retry: 1,
        staleTime: 2_000,
      },
      mutations: { networkMode: 'always' },
    },
  })
  readonly credentials: () => Credentials
  readonly #onRefused: () => void | Promise<void>
  readonly #prolonged = new Set<(authorization: string) => void>()

  constructor({ url, credentials = () => ({}), onRefused = () => {} }: GatewayOptions) {
    this.url = url
    this.credentials = credentials
    this.#onRefused = onRefused
    this.socket = new WebSocketClient({
      url: () => new URL(url, location.href).href.replace(/^http/, 'ws'),
      connectionParams: async (refused) => {
        if (refused !== undefined) await onRefused()
        return { ...credentials() }
      },
    })
  }

  /** The user's session has newer credentials: tells the gateway, for all that is open. */
  prolong(authorization: string): void {
    this.socket.prolong({ authorization })
    for (const listener of this.#prolonged) listener(authorization)
  }

  /** Calls the listener with newer credentials. Returns a function that removes it. */
  onProlonged(listener: (authorization: string) => void): () => void {
    this.#prolonged.add(listener)
    return () => void this.#prolonged.delete(listener)
  }

  /** Sends a query. Rejects with {@link GatewayError} if the answer has no data. */
  async ask<Result, Variables>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): Promise<Answer<Result>> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.credentials() },
      body: JSON.stringify({ query: document.toString(), variables }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      if (signal?.aborted === true) throw error
      throw new GatewayError([{ message: 'The gateway cannot be reached.' }])
    })
    if (response.status === 401) await this.#onRefused()
    const answer: unknown = await response.json().catch((error: unknown) => {
      if (signal?.aborted === true) throw error
      // A proxy answers in the place of the gateway.
      throw new GatewayError([
        { message: `The gateway cannot be reached (HTTP ${response.status}).` },
      ])
    })
    const { data, errors = [] } = answer as Partial<Answer<Result | null>>
    if (data === undefined || data === null) throw new GatewayError(errors)
    return { data, errors }
  }
}

/** Of {@link useGateway}; `GatewayProvider` fills it. */
export const GatewayContext = createContext<Gateway | undefined>(undefined)

/** The gateway of a view. */
export function useGateway(): Gateway {
  const gateway = useContext(GatewayContext)
  if (gateway === undefined) throw new Error('no gateway: put the view into <PortalProvider>')
  return gateway
}

/** How a view asks: see {@link useAnswer}. */
export interface AskOptions<Result> {
  /** Asks again after this time, while the page is visible; a function says it by the last answer. */
  readonly everyMs?: number | ((data: Result | undefined) => number | false)
  /** False: does not ask. */
  readonly enabled?: boolean
  /** Asks again when this becomes another one: the version of what the answer depends on. Not at once if it has just asked. */
  readonly since?: unknown
}

/** What changes all the time is asked for no more often. */
const restMs = 2_000

/** What may be answered in a moment is asked for again after this time. */
const passingMs = 5_000

/** Whether the gateway says when to ask again: a cluster does not answer, or something is not read yet. */
function isPassing(errors: readonly AnswerError[]): boolean {
  return errors.some(({ extensions }) => extensions?.['retryAfterMs'] !== undefined)
}

/** The answer to a query for a component: kept by its document and variables; the previous one stays while the next is on its way. */
export function useAnswer<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { everyMs, enabled = true, since }: AskOptions<Result> = {},
): {
  readonly data: Result | undefined
  readonly errors: readonly AnswerError[]
  readonly isPending: boolean
  /** Whether the data answers the variables before these: the answer to these is on its way. */
  readonly isPrevious: boolean
  /** Asks again now, or as soon as a question that is under way is answered: its answer may be older than what the caller knows. */
  readonly again: () => void
} {
  const gateway = useGateway()
  const queryKey = [document.toString(), variables]
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => gateway.ask(document, variables, signal),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval({ state }) {
      const errors = state.error === null ? state.data?.errors : errorsOf(state.error)
      if (isPassing(errors ?? [])) return passingMs
      return typeof everyMs === 'function' ? everyMs(state.data?.data) : (everyMs ?? false)
    },
  })
  const again = (): void => {
    const isUnderWay = gateway.answers.isFetching({ queryKey, exact: true }) > 0
    // Several views may want it at once: they share a question.
    const answered = refetch({ cancelRefetch: false })
    if (isUnderWay) void answered.then(() => refetch({ cancelRefetch: false }))
  }
  const asked = useRef({ since, atMs: Date.now() })
  useEffect(() => {
    if (!enabled || asked.current.since === since) return
    const timer = setTimeout(
      () => {
        asked.current = { since, atMs: Date.now() }
        again()
      },
      asked.current.atMs + restMs - Date.now(),
    )
    return () => clearTimeout(timer)
  }, [since, enabled])
  const failed = error instanceof GatewayError ? error.errors : []
  return {
    data: data?.data,
    errors: data?.errors ?? failed,
    isPending: enabled && isPending,
    isPrevious: isPlaceholderData,
    again,
  }
}
