/**
 * Which files of `src` a cold query, a warm query and a change on its way to a subscriber cross: the files of which V8 ran a function.
 *
 *     npm run bench -- crossed-files
 *
 * Prints counts and the files by name. The API server is a process of its own. A change comes as one patch of one pod; what the gateway
 * does by itself meanwhile counts as well.
 */
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { createGateway, defaultServerOptions, startGraphQLServer } from '../src/index.ts'
import { startService } from './support/service.ts'

const source = `${import.meta.dirname}/../src`
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** The files whose functions have run since the last call. */
async function crossed(): Promise<readonly string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url, functions }) => {
      // The function that begins with the file is the module itself, which runs when it is loaded.
      const ran = functions.some(
        ({ ranges: [range] }) => range !== undefined && range.startOffset > 0 && range.count > 0,
      )
      return ran && url.startsWith('file:') && url.includes('/src/')
    })
    .map(({ url }) => relative(source, fileURLToPath(url)))
    .filter((file) => !file.startsWith('..'))
    .toSorted()
}

function print(title: string, files: readonly string[]): void {
  console.log(`\n${title}: ${files.length} files\n  ${files.join('\n  ')}`)
}

await using simulator = await startService(`${import.meta.dirname}/process/simulator.ts`, [200, 0])
await using gateway = await createGateway({ clusters: [{ name: 'a', server: simulator.url }] })
await using server = await startGraphQLServer({
  server: { ...defaultServerOptions(), port: 0 },
  plugins: [gateway.plugin],
  planned: gateway.planned,
  readiness: gateway.readiness,
  log: { warn() {}, error() {} },
})
const query =
  '{ pods(where: { phase: { eq: "Running" } }, first: 20) { nodes { metadata { name } } } }'
const ask = async (): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(server.url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  })
  const { errors } = (await response.json()) as { errors?: unknown }
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
}
await crossed()
await ask()
print('A cold query', await crossed())
for (let turn = 0; turn < 20; turn++) await ask()
await crossed()
await ask()
print('A warm query', await crossed())

const client = createClient({ url: server.url.replace('http', 'ws'), webSocketImpl: WebSocket })
const frames = client.iterate({
  query: 'subscription { pods { changes { type object { metadata { name resourceVersion } } } } }',
})
await frames.next()
const pods = `${simulator.url}/api/v1/pods?limit=1`
const { items } = (await (await fetch(pods)).json()) as {
  items: readonly { metadata: { namespace: string; name: string } }[]
}
const { namespace = '', name = '' } = items[0]?.metadata ?? {}
const change = async (value: number): Promise<void> => {
  const next = frames.next()
  await fetch(`${simulator.url}/api/v1/namespaces/${namespace}/pods/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { annotations: { change: String(value) } } }),
  })
  await next
}
for (let turn = 0; turn < 20; turn++) await change(turn)
await crossed()
await change(100)
print('A change', await crossed())
await client.dispose()
