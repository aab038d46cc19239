/**
 * The gateway for one benchmark, with its pods cached, until its parent goes. Arguments: the URL of the API server, or those of
 * several with commas, and `unplanned`
 * where graphql-js is to answer everything, or `yoga` where it is to do so behind yoga as it comes, or `portal` to serve the
 * portal too. Tells its parent `{ url }`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createYoga, type Plugin } from 'graphql-yoga'
import {
  createGateway,
  defaultServerOptions,
  portalFolder,
  startGraphQLServer,
} from '../../src/index.ts'
import { serveParent } from '../support/service.ts'

const [api = '', planned = 'planned'] = process.argv.slice(2)
const log = { info() {}, warn: console.error, error: console.error }
const gateway = await createGateway({
  clusters: api
    .split(',')
    .map((server, at) => ({ name: at === 0 ? 'bench' : `bench-${at}`, server })),
  preload: ['pods'],
  limits: {
    syncDeadlineMs: 120_000,
    operationDeadlineMs: 120_000,
    maxPageSize: 5_000,
    // What is measured is the work, not its bound.
    ...(planned === 'yoga' ? { work: { rows: 1e6, fields: 1e7, bytes: 1e9 } } : {}),
  },
  log,
})
const graphql = planned === 'yoga' ? await serveYoga() : await serveGateway()
await serveParent({ url: graphql.url })
await graphql[Symbol.asyncDispose]()
await gateway[Symbol.asyncDispose]()

async function serveGateway(): Promise<AsyncDisposable & { readonly url: string }> {
  return await startGraphQLServer({
    // Subscribers that are measured answer no pings.
    server: { ...defaultServerOptions(), port: 0, pingIntervalMs: 600_000 },
    plugins: [gateway.plugin],
    ...(planned === 'unplanned' ? {} : { planned: gateway.planned }),
    ...(planned === 'portal' ? { portalFolder } : {}),
    log,
    readiness: gateway.readiness,
  })
}

async function serveYoga(): Promise<AsyncDisposable & { readonly url: string }> {
  const yoga = createYoga({ plugins: [gateway.plugin as Plugin], logging: false })
  const server = createServer((request, response) => void yoga(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await yoga.dispose()
    },
  }
}
