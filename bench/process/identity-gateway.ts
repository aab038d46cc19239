/**
 * The gateway of one benchmark, with its pods cached, until its parent exits. Arguments: a kubeconfig, `none` or `token-review`,
 * and as JSON the options of its server and whether introspection is on. It sends its parent `{ url }`.
 */
import { defaultAuthenticationOptions } from '../../src/access/authentication/authentication-options.ts'
import { createGateway, defaultServerOptions, startGraphQLServer } from '../../src/index.ts'
import type { ServerOptions } from '../../src/index.ts'
import { serveParent } from '../support/service.ts'

const [kubeconfig = '', mode = 'none', more = '{}'] = process.argv.slice(2)
const { introspection = true, ...options } = JSON.parse(more) as Partial<ServerOptions> & {
  readonly introspection?: boolean
}
const log = { info() {}, warn: console.error, error: console.error }
const gateway = await createGateway({
  clusters: [{ name: 'bench', kubeconfig }],
  preload: ['pods'],
  allowWrites: true,
  limits: { syncDeadlineMs: 120_000, introspection },
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
    ...options,
  },
  plugins: [gateway.plugin],
  planned: gateway.planned,
  ...(authenticator === undefined ? {} : { authenticator }),
  log,
  readiness: gateway.readiness,
})
await serveParent({ url: server.url })
await server[Symbol.asyncDispose]()
await gateway[Symbol.asyncDispose]()
