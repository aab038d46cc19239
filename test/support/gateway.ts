import {
  createGateway,
  defaultAuthenticationOptions,
  defaultServerOptions,
  startGraphQLServer,
} from 'informerql'
import type {
  AuthenticationOptions,
  ExecOptions,
  Gateway,
  GatewayOptions,
  GraphQLServerOptions,
  ServerOptions,
} from 'informerql'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

/** An error in an answer, as the API promises it. */
export interface AnsweredError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: {
    readonly code: string
    readonly argument?: string
    readonly value?: unknown
    readonly hint?: string
    readonly cluster?: string
    readonly type?: string
    readonly retryAfterMs?: number
  }
}

/** An answer by either transport. */
export interface GraphQLAnswer {
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are read by the names that their query gives them
  readonly data?: any
  readonly errors?: readonly AnsweredError[]
  // oxlint-disable-next-line typescript/no-explicit-any -- as `data`
  readonly extensions?: any
}

export type Variables = Readonly<Record<string, unknown>>

/** How somebody asks a gateway. */
export interface GatewayCaller {
  /** A WebSocket of its own, which does not connect again by itself. */
  readonly connect: () => Client
  /** One operation by HTTP; any answer is one, with errors or without. */
  readonly query: (query: string, variables?: Variables) => Promise<GraphQLAnswer>
  /** The body of the answer, byte by byte as the server wrote it. */
  readonly queryText: (query: string, variables?: Variables) => Promise<string>
  /** The same by HTTP, where an error is a failure. */
  readonly data: (query: string, variables?: Variables) => Promise<GraphQLAnswer['data']>
}

/** A gateway with a server of its own, as a client sees it; asked by nobody in particular, unless {@link as} says by whom. */
export interface ServedGateway extends GatewayCaller, AsyncDisposable {
  /** `http://127.0.0.1:PORT/graphql`. */
  readonly url: string
  readonly gateway: Gateway
  /** What it has logged. */
  readonly log: readonly string[]
  /** Asks with a bearer token: by HTTP in its header, by WebSocket in `connection_init`. */
  readonly as: (token: string) => GatewayCaller
}

/** What a server is given besides its gateway and its options. */
export interface ServedParts extends Pick<
  GraphQLServerOptions,
  'context' | 'requireViewer' | 'observer' | 'metrics' | 'traces' | 'portalFolder' | 'refusal'
> {
  /** Besides the gateway's own. */
  readonly plugins?: GraphQLServerOptions['plugins']
  readonly auth?: Partial<AuthenticationOptions>
  /** Opens shells at `/exec`. */
  readonly exec?: Partial<ExecOptions>
}

const deadlineMs = 120_000

/** The details that begin a line of the log for people. */
interface LogDetails {
  readonly cluster?: string
  readonly kind?: string
}

/** The first answer to an operation by WebSocket; errors of the operation are an answer, too. */
export const firstAnswer = async (
  client: Client,
  query: string,
  variables: Variables = {},
  operationName?: string,
): Promise<GraphQLAnswer> => {
  const { promise, resolve, reject } = Promise.withResolvers<GraphQLAnswer>()
  const timer = setTimeout(() => reject(new Error(`no answer to ${query}`)), deadlineMs)
  const leave = client.subscribe(
    { query, variables, ...(operationName === undefined ? {} : { operationName }) },
    {
      next: (answer) => resolve(answer as GraphQLAnswer),
      error: (errors) =>
        Array.isArray(errors) ? resolve({ errors: errors as AnsweredError[] }) : reject(errors),
      complete: () => reject(new Error(`completed without an answer: ${query}`)),
    },
  )
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    leave()
  }
}

/** Starts a gateway and serves it on a free port of loopback. */
export const serveGateway = async (
  options: GatewayOptions,
  server: Partial<ServerOptions> = {},
  { auth = {}, plugins = [], exec, ...parts }: ServedParts = {},
): Promise<ServedGateway> => {
  const lines: string[] = []
  const write = (message: string, { cluster, kind }: LogDetails = {}): void => {
    lines.push([cluster, kind, message].filter((part) => part !== undefined).join(': '))
  }
  const log = { info: write, warn: write, error: write }
  await using stack = new AsyncDisposableStack()
  const gateway = await createGateway({
    // A cluster that comes back is to be found at once.
    reflector: { backoff: { initialMs: 50, factor: 1.5, maxMs: 500, resetAfterMs: 10_000 } },
    ...options,
    log,
  })
  stack.use(gateway)
  const running = await startGraphQLServer({
    server: { ...defaultServerOptions(), port: 0, ...server },
    plugins: [gateway.plugin, ...plugins],
    planned: gateway.planned,
    authenticator: gateway.authenticator({ ...defaultAuthenticationOptions(), ...auth }),
    ...parts,
    ...(exec && { exec: { ...exec, shells: gateway.shells } }),
    log,
    readiness: gateway.readiness,
  })
  stack.use(running)
  const clients: Client[] = []
  stack.defer(async () => {
    await Promise.all(clients.map(async (client) => client.dispose()))
  })
  const callerWith = (authorization?: string): GatewayCaller => {
    const headers = authorization === undefined ? {} : { authorization }
    const queryText = async (query: string, variables: Variables = {}): Promise<string> => {
      const response = await fetch(running.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(deadlineMs),
      })
      return await response.text()
    }
    const query = async (text: string, variables?: Variables): Promise<GraphQLAnswer> =>
      JSON.parse(await queryText(text, variables)) as GraphQLAnswer
    return {
      query,
      queryText,
      connect: () => {
        const url = running.url.replace('http', 'ws')
        const client = createClient({
          url,
          webSocketImpl: WebSocket,
          retryAttempts: 0,
          lazy: true,
          connectionParams: headers,
        })
        clients.push(client)
        return client
      },
      data: async (text, variables) => {
        const { data, errors } = await query(text, variables)
        if (errors !== undefined) throw new Error(`${text}: ${JSON.stringify(errors)}`)
        return data
      },
    }
  }
  const caller = callerWith()
  const started = stack.move()
  return {
    url: running.url,
    gateway,
    log: lines,
    ...caller,
    as: (token) => callerWith(`Bearer ${token}`),
    [Symbol.asyncDispose]: async () => started.disposeAsync(),
  }
}
