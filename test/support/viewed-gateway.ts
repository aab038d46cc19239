import { createGateway, defaultServerOptions, startGraphQLServer } from 'informerql'
import type { Gateway, GatewayOptions } from 'informerql'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import type { GraphQLAnswer, Variables } from './gateway.ts'

/** Who asks. */
export interface Caller {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** A gateway that believes its callers who they are. */
export interface ViewedGateway extends AsyncDisposable {
  readonly gateway: Gateway
  readonly log: readonly string[]
  /** `http://127.0.0.1:PORT/graphql`. */
  readonly url: string
  /** One query by HTTP. */
  readonly query: (caller: Caller, query: string, variables?: Variables) => Promise<GraphQLAnswer>
  /** The same, explained. */
  readonly explained: (
    caller: Caller,
    query: string,
    variables?: Variables,
  ) => Promise<GraphQLAnswer>
  readonly connect: (caller: Caller) => Client
}

/** By name. */
export const caller = (username: string, ...groups: readonly string[]): Caller => ({
  username,
  uid: `${username}-uid`,
  groups: [...groups, 'system:authenticated'],
  extra: {},
})

/** A token that says itself whose it is. */
export const tokenOf = (who: Caller): string =>
  `Bearer ${Buffer.from(JSON.stringify(who)).toString('base64url')}`

const authenticator = {
  authenticate: ({ authorization = '' }: { readonly authorization: string | undefined }) => ({
    viewer: JSON.parse(
      Buffer.from(authorization.slice('Bearer '.length), 'base64url').toString(),
    ) as Caller,
    expiresAtMs: undefined,
  }),
}

/** Starts a gateway and serves it on a free port of loopback. */
export const serveViewers = async (options: GatewayOptions): Promise<ViewedGateway> => {
  const log: string[] = []
  const write = (message: string): void => void log.push(message)
  const lines = { info: write, warn: write, error: write }
  const gateway = await createGateway({
    reflector: { backoff: { initialMs: 50, factor: 1.5, maxMs: 500, resetAfterMs: 10_000 } },
    ...options,
    log: lines,
  })
  const running = await startGraphQLServer({
    server: { ...defaultServerOptions(), port: 0 },
    plugins: [gateway.plugin],
    planned: gateway.planned,
    authenticator,
    log: lines,
    readiness: gateway.readiness,
  })
  const asking =
    (further: Readonly<Record<string, string>>) =>
    async (who: Caller, query: string, variables: Variables = {}): Promise<GraphQLAnswer> => {
      const response = await fetch(running.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: tokenOf(who),
          ...further,
        },
        body: JSON.stringify({ query, variables }),
        signal: AbortSignal.timeout(30_000),
      })
      return (await response.json()) as GraphQLAnswer
    }
  const clients: Client[] = []
  return {
    gateway,
    log,
    url: running.url,
    query: asking({}),
    explained: asking({ 'x-informerql-explain': '1' }),
    connect: (who) => {
      const client = createClient({
        url: running.url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization: tokenOf(who) },
      })
      clients.push(client)
      return client
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map(async (client) => client.dispose()))
      await running[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}
