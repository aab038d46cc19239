/**
 * The gateway for one benchmark, with its pods cached, until its parent goes. Arguments: the API server's URL, and `unplanned`
 * where graphql-js is to answer everything. Tells its parent `{ url }`.
 */
import { createGateway, defaultServerOptions, startGraphQLServer } from '../../src/index.ts'
import { serveParent } from '../support/service.ts'

const [server = '', planned = 'planned'] = process.argv.slice(2)
const log = { info() {}, warn: console.error, error: console.error }
const gateway = await createGateway({
  clusters: [{ name: 'bench', server }],
  preload: ['pods'],
  limits: { syncDeadlineMs: 120_000 },
  log,
})
const graphql = await startGraphQLServer({
  server: { ...defaultServerOptions(), port: 0 },
  plugins: [gateway.plugin],
  ...(planned === 'planned' ? { planned: gateway.planned } : {}),
  log,
  readiness: gateway.readiness,
  defaultQuery: '{ __typename }',
})
await serveParent({ url: graphql.url })
await graphql[Symbol.asyncDispose]()
await gateway[Symbol.asyncDispose]()
