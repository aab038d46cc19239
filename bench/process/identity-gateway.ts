/**
 * The gateway for one benchmark, with its pods cached, until its parent goes. Arguments: a kubeconfig, `none` or
 * `token-review`, and `unplanned` where graphql-js is to answer everything. Tells its parent `{ url }`.
 */
import { defaultAuthenticationOptions } from '../../src/access/authentication/authentication-options.ts'
import { createGateway, defaultServerOptions, startGraphQLServer } from '../../src/index.ts'
import { serveParent } from '../support/service.ts'

const [kubeconfig = '', mode = 'none', planned = 'planned'] = process.argv.slice(2)
const log = { info() {}, warn: console.error, error: console.error }
const gateway = await createGateway({
  clusters: [{ name: 'bench', kubeconfig }],
  preload: ['pods'],
  limits: { syncDeadlineMs: 120_000 },
  // What is measured is what they cost, not their bound.
  access: { maxNamespaces: 1_000 },
  log,
})
const auth = defaultAuthenticationOptions()
const asksWho = mode === 'token-review'
const authenticator = asksWho ? gateway.authenticator({ ...auth, mode }) : undefined
const server = await startGraphQLServer({
  server: {
    ...defaultServerOptions(),
    port: 0,
    maxSocketsPerUser: 100_000,
    maxSubscriptionsPerUser: 100_000,
  },
  plugins: [gateway.plugin],
  ...(planned === 'planned' ? { planned: gateway.planned } : {}),
  ...(authenticator === undefined ? {} : { authenticator }),
  log,
  readiness: gateway.readiness,
  defaultQuery: '{ __typename }',
})
await serveParent({ url: server.url })
await server[Symbol.asyncDispose]()
await gateway[Symbol.asyncDispose]()
