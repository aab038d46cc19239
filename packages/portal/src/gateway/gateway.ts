import { WebSocketClient } from '@informerql/client'
import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query'
import { credentials, credentialsRefused } from './credentials.ts'
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

/** The address of the gateway: that which served the page. */
export const endpoint = '/graphql'

/** The one WebSocket of the page, for all that is live. */
export const socket: WebSocketClient = new WebSocketClient({
  url: () => new URL(endpoint, location.href.replace(/^http/, 'ws')).href,
  connectionParams: (refused) => {
    if (refused !== undefined) credentialsRefused()
    return credentials()
  },
})

/** Sends a query. Rejects with {@link GatewayError} if the answer has no data. */
export async function ask<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Result>> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials() },
    body: JSON.stringify({ query: document.toString(), variables }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new GatewayError([{ message: 'The gateway cannot be reached.' }])
  })
  if (response.status === 401) credentialsRefused()
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

/** The answers that the page keeps. Live lists keep their own rows. */
export const answers: QueryClient = new QueryClient({
  defaultOptions: { queries: { retry: 1, staleTime: 2_000, refetchOnWindowFocus: true } },
})

/** How a view asks: see {@link useAnswer}. */
export interface AskOptions<Result> {
  /** Asks again after this time, while the page is visible; a function says it by the last answer. */
  readonly everyMs?: number | ((data: Result | undefined) => number)
  /** False: does not ask. */
  readonly enabled?: boolean
}

/** The answer to a query for a component: kept by its document and variables; the previous one stays while the next is on its way. */
export function useAnswer<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { everyMs, enabled = true }: AskOptions<Result> = {},
): {
  readonly data: Result | undefined
  readonly errors: readonly AnswerError[]
  readonly isPending: boolean
  /** Whether the data answers the variables before these: the answer to these is on its way. */
  readonly isPrevious: boolean
  /** Asks again now. */
  readonly again: () => void
} {
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: [document.toString(), variables],
    queryFn: ({ signal }) => ask(document, variables, signal),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state }) =>
      typeof everyMs === 'function' ? everyMs(state.data?.data) : (everyMs ?? false),
  })
  const failed = error instanceof GatewayError ? error.errors : []
  return {
    data: data?.data,
    errors: data?.errors ?? failed,
    isPending: enabled && isPending,
    isPrevious: isPlaceholderData,
    again: () => void refetch(),
  }
}
