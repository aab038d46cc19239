/**
 * A gateway with fields of its own: what a pod costs, from a REST service, and who is on call for a namespace, from a table of
 * SQLite. docs/extending.md explains the two extensions.
 *
 *     npm exec -- node --conditions=informerql-source examples/extension.ts --costs=URL --on-call=FILE [--server=…] [--port=4000]
 *     node node_modules/informerql/dist/examples/extension.js --costs=URL --on-call=FILE   # where the package is installed
 */
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import {
  createGateway,
  defaultServerOptions,
  type GatewayExtension,
  startGraphQLServer,
} from 'informerql'
import type { Namespace, Pod } from 'informerql/kubernetes'

const costs = (service: string): GatewayExtension => ({
  name: 'costs',
  typeDefs: `
    extend type Pod { "What it costs a month." cost: Cost @cost(weight: 20) }
    type Cost { monthly: Float! currency: String! }
  `,
  resolvers: {
    Pod: {
      cost: ({ metadata }: Pod, _, { loader, signal }) =>
        loader('costs', async (uids: readonly string[]) => {
          const body = JSON.stringify({ uids })
          const response = await fetch(service, { method: 'POST', body, signal })
          const found = (await response.json()) as Record<string, object>
          return uids.map((uid) => found[uid] ?? null)
        }).load(metadata.uid ?? ''),
    },
  },
})

const onCall = (database: DatabaseSync): GatewayExtension => ({
  name: 'on-call',
  typeDefs: `
    extend type Namespace { onCall: Person }
    extend type Query { person(name: String!): Person }
    type Person { name: String! phone: String! namespaces: [Namespace!]! }
  `,
  needs: { kinds: ['namespaces'] },
  resolvers: {
    Namespace: {
      onCall: ({ metadata }: Namespace, _, { loader }) =>
        loader('on call', async (names: readonly string[]) => {
          const marks = names.map(() => '?').join()
          const rows = database
            .prepare(`SELECT namespace, name, phone FROM on_call WHERE namespace IN (${marks})`)
            .all(...names)
          const people = new Map(rows.map((row) => [row['namespace'], row]))
          return names.map((name) => people.get(name) ?? null)
        }).load(metadata.name ?? ''),
    },
    Query: {
      person: (_, { name }: { name: string }) =>
        database.prepare('SELECT name, phone FROM on_call WHERE name = ? LIMIT 1').get(name),
    },
    Person: {
      namespaces: async ({ name }: { name: string }, _, { cache }) => {
        const rows = database.prepare('SELECT namespace FROM on_call WHERE name = ?').all(name)
        const names = new Set(rows.map((row) => row['namespace']))
        return (await cache.namespaces.list()).filter(({ metadata }) =>
          names.has(metadata.name ?? ''),
        )
      },
    },
  },
})

const { values } = parseArgs({
  options: {
    costs: { type: 'string', default: 'http://127.0.0.1:8080/costs' },
    'on-call': { type: 'string', default: 'on-call.db' },
    server: { type: 'string' },
    port: { type: 'string', default: '4000' },
  },
})
const stop = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.resolve())

using database = new DatabaseSync(values['on-call'], { readOnly: true })
const { server } = values
await using gateway = await createGateway({
  clusters: [{ name: 'one', ...(server !== undefined && { server }) }],
  extend: [costs(values.costs), onCall(database)],
})
await using running = await startGraphQLServer({
  server: { ...defaultServerOptions(), port: Number(values.port) },
  plugins: [gateway.plugin],
  planned: gateway.planned,
  readiness: gateway.readiness,
  log: console,
})
console.log(`serving ${running.url}`)
await stop.promise
