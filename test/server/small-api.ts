import {
  execute,
  GraphQLError,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  subscribe,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import {
  type GraphQLServer,
  type GraphQLServerOptions,
  startGraphQLServer,
  defaultServerOptions,
  type ServerOptions,
} from 'informerql'

/** A schema with fields that wait until the test lets them go on. */
export interface SmallApi {
  readonly plugin: Plugin
  /** Calls of `held` and subscriptions to `held` that are under way. */
  readonly underWay: () => number
  readonly release: () => void
}

async function* count(_: unknown, { to }: { to: number }): AsyncGenerator<{ count: number }> {
  for (let at = 1; at <= to; at++) yield { count: at }
}

export function smallApi(): SmallApi {
  let underWay = 0
  const released = Promise.withResolvers<void>()

  async function* held(): AsyncGenerator<{ held: string }> {
    underWay += 1
    try {
      yield { held: 'first' }
      await released.promise
      yield { held: 'last' }
    } finally {
      underWay -= 1
    }
  }
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: {
      hello: {
        type: GraphQLString,
        args: { name: { type: GraphQLString } },
        resolve: (_, { name }: { name?: string }) => `hello ${name ?? 'you'}`,
      },
      square: {
        type: GraphQLInt,
        args: { of: { type: new GraphQLNonNull(GraphQLInt) } },
        resolve: (_, { of }: { of: number }) => of * of,
      },
      transport: {
        type: GraphQLString,
        resolve: (_, _args, context: { transport?: string }) => context.transport,
      },
      held: {
        type: GraphQLString,
        resolve: async () => {
          underWay += 1
          await released.promise
          underWay -= 1
          return 'released'
        },
      },
      refused: {
        type: GraphQLString,
        resolve: () => {
          throw new GraphQLError('not you', { extensions: { code: 'FORBIDDEN' } })
        },
      },
      broken: {
        type: GraphQLString,
        resolve: () => {
          throw new Error('the password is hunter2')
        },
      },
    },
  })
  const subscription = new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      count: { type: GraphQLInt, args: { to: { type: GraphQLInt } }, subscribe: count },
      held: { type: GraphQLString, subscribe: held },
    },
  })
  const schema = new GraphQLSchema({ query, subscription })
  return {
    plugin: {
      onEnveloped: ({ setSchema }) => setSchema(schema),
      onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
      onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe),
    },
    underWay: () => underWay,
    release: () => released.resolve(),
  }
}

/** Starts a server of a small API on a free port. */
export function serve(
  api: SmallApi,
  server: Partial<ServerOptions> = {},
  rest: Partial<GraphQLServerOptions> = {},
): Promise<GraphQLServer> {
  return startGraphQLServer({
    plugins: [api.plugin],
    context: ({ transport }) => ({ transport }),
    requireViewer: false,
    readiness: () => ({ ready: true, reasons: [] }),
    log: { warn: () => {}, error: () => {} },
    server: { ...defaultServerOptions(), port: 0, ...server },
    ...rest,
  })
}

/** Sends an operation as clients do. */
export function post(
  url: string,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Waits until something holds, for at most ten seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('waited ten seconds in vain')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
