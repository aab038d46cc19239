/**
 * A gateway that loads all pods and lets them go again, some times over. Arguments: the API server's URL, and how often.
 * Reports its memory, live and resident, before, while the pods are held (the first and the last time), and after the stop.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createGateway, defaultServerOptions, startGraphQLServer } from '../../src/index.ts'
import { liveMemory } from '../support/memory.ts'

const [server = '', cycles = '3'] = process.argv.slice(2)
const idleStopMs = 4_000
const log = { info() {}, warn() {}, error: console.error }
const gateway = await createGateway({
  clusters: [{ name: 'bench', server }],
  limits: { syncDeadlineMs: 120_000 },
  cache: { idleStopMs },
  log,
})
const graphql = await startGraphQLServer({
  server: { ...defaultServerOptions(), port: 0 },
  plugins: [gateway.plugin],
  log,
  readiness: gateway.readiness,
})

async function ask(query: string): Promise<string> {
  const response = await fetch(graphql.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return await response.text()
}

const megabytes = (bytes: number): number => bytes / 1e6
const memory = (when: string): Record<string, number> => ({
  [`${when} live MB`]: megabytes(liveMemory()),
  [`${when} RSS MB`]: megabytes(process.memoryUsage().rss),
})

let figures = memory('before')
for (let cycle = 1; cycle <= Number(cycles); cycle++) {
  const answer = await ask('{ pods(first: 1) { totalCount } }')
  if (answer.includes('errors')) throw new Error(answer)
  const held = memory('held')
  await sleep(idleStopMs + 500)
  const states = await ask('{ gatewayClusters { resources(loaded: true) { type } } }')
  if (states.includes('Pod')) throw new Error(`not stopped: ${states}`)
  figures = { ...figures, ...held, ...memory(cycle === 1 ? 'after' : 'after the last') }
}
console.log(JSON.stringify(figures))
await graphql[Symbol.asyncDispose]()
await gateway[Symbol.asyncDispose]()
