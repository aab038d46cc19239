/**
 * The gateway for one benchmark, with its pods cached, until its parent goes. Arguments: the URL of the API server, or those of
 * several with commas, and `portal` to serve the portal too. Tells its parent `{ url }`.
 */
import {
  createGateway,
  defaultServerOptions,
  portalFolder,
  startGraphQLServer,
} from '../../src/index.ts'
import { serveParent } from '../support/service.ts'

const [api = '', also = ''] = process.argv.slice(2)
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
  },
  log,
})
const graphql = await startGraphQLServer({
  // Subscribers that are measured answer no pings.
  server: { ...defaultServerOptions(), port: 0, pingIntervalMs: 600_000 },
  plugins: [gateway.plugin],
  planned: gateway.planned,
  ...(also === 'portal' ? { portalFolder } : {}),
  log,
  readiness: gateway.readiness,
})
await serveParent({ url: graphql.url })
await graphql[Symbol.asyncDispose]()
await gateway[Symbol.asyncDispose]()
