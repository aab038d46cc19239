/**
 * `search` and `complete` over many pods, beside an array of the same values that is filtered and sorted for each request:
 *
 *     npm run bench -- search [--pods 100000] [--rounds 3] [--seconds 3] [--record]
 */
import { parseArgs } from 'node:util'
import { askGraphQL } from './support/graphql-client.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import type { QueryOperation } from './support/query-load.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const warmUpMs = 500

const searched = `query ($text: String!, $namespaces: [String!]) {
  search(text: $text, types: ["Pod"], namespaces: $namespaces, first: 20) {
    totalCount nodes { object { namespace name } } } }`
const completed = `query ($text: String!, $namespaces: [String!]) {
  complete(text: $text, types: ["Pod"], namespaces: $namespaces) { completions { term insert count } } }`

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
// Both read all pods at once.
const starting = [
  startService(`${processes}/gateway.ts`, [simulator.url]),
  startService(`${processes}/scanned-pods.ts`, [simulator.url]),
] as const
await using gateway = await starting[0]
await using scan = await starting[1]

const some = await someNamespaces()
const inSome = `in ${some.length} namespaces`
const questions: Readonly<Record<string, QueryOperation>> = {
  'search "cart"': { query: searched, variables: { text: 'cart' } },
  'search "cart api"': { query: searched, variables: { text: 'cart api' } },
  'search "zzzz", which nothing has': { query: searched, variables: { text: 'zzzz' } },
  'search "team=storefront api"': { query: searched, variables: { text: 'team=storefront api' } },
  [`search "cart" ${inSome}`]: { query: searched, variables: { text: 'cart', namespaces: some } },
  'complete "ca"': { query: completed, variables: { text: 'ca' } },
  'complete "team=s"': { query: completed, variables: { text: 'team=s' } },
  [`complete "ca" ${inSome}`]: { query: completed, variables: { text: 'ca', namespaces: some } },
  [`complete "a" ${inSome}`]: { query: completed, variables: { text: 'a', namespaces: some } },
}

const tables: ResultTable[] = []
const notes: string[] = []
for (const [title, operation] of Object.entries(questions)) {
  // The first request sorts the terms that it reads.
  const own = await askGraphQL(gateway.url, operation)
  const other = await askGraphQL(scan.url, operation)
  if (countIn(own) !== countIn(other)) throw new Error(`${title}: ${own} ${other}`)
  const body = JSON.stringify(operation)
  const rows = await interleave(
    { informerql: () => ask(gateway, body), 'filter and sort': () => ask(scan, body) },
    Number(options.rounds),
  )
  tables.push({ title: `${title}, of ${options.pods} pods`, rows })
  const [mine, plain] = [rows['informerql'], rows['filter and sort']]
  notes.push(
    `${title}: ${mine?.['cpuMs']?.toPrecision(2)} ms CPU, ${ratio(plain?.['cpuMs'], mine?.['cpuMs'])} less than to filter and sort`,
  )
}
publish('search', tables, notes, { record: options.record })

function countIn(text: string): string | undefined {
  return /"totalCount":(\d+)/.exec(text)?.[1]
}

/** Every twentieth namespace with pods. */
async function someNamespaces(): Promise<readonly string[]> {
  const query = '{ pods(first: 0) { facets(by: ["namespace"], top: 1000) { values { value } } } }'
  const { data } = JSON.parse(await askGraphQL(gateway.url, { query })) as {
    data: { pods: { facets: [{ values: { value: string }[] }] } }
  }
  const all = data.pods.facets[0].values.map(({ value }) => value).toSorted()
  return all.filter((_, at) => at % 20 === 0)
}

async function ask(service: Service, body: string): Promise<Figures> {
  const durationMs = Number(options.seconds) * 1000
  const load = { connections: 1, warmUpMs, durationMs, reader: 'any', rows: 1 }
  const before = await service.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [
    JSON.stringify({ url: service.url, body, ...load }),
  ])
  const used = (await service.cpuMs()) - before
  const { p50Ms = 0, p99Ms = 0, asked = 1 } = figures
  return { cpuMs: used / asked, p50Ms, p99Ms }
}
