import { defaultServerOptions, startGraphQLServer } from 'informerql'
import { expect } from 'vitest'
import type { GraphQLAnswer, ServedGateway, Variables } from './gateway.ts'

/** A gateway that is asked by a plan and by graphql-js. */
export interface BothWays extends AsyncDisposable {
  /** What a plan answers, which has to be what graphql-js answers. */
  readonly ask: (query: string, variables?: Variables) => Promise<GraphQLAnswer>
}

const log = { info() {}, warn() {}, error() {} }

/** Serves a gateway a second time, without plans. */
export const serveBothWays = async (served: ServedGateway): Promise<BothWays> => {
  const resolvers = await startGraphQLServer({
    server: { ...defaultServerOptions(), port: 0 },
    plugins: [served.gateway.plugin],
    log,
    readiness: served.gateway.readiness,
  })
  return {
    ask: async (query, variables = {}) => {
      // Loads what both read.
      await served.query(query, variables)
      const planned = await served.queryText(query, variables)
      const response = await fetch(resolvers.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      expect(planned).toBe(await response.text())
      return JSON.parse(planned) as GraphQLAnswer
    },
    [Symbol.asyncDispose]: async () => resolvers[Symbol.asyncDispose](),
  }
}
