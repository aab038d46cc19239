/**
 * Lists over many clusters beside the same lists of one cluster with as many pods: the gateway's CPU time per request, and for each
 * change behind a live page, which both sides have as many of; the moves on the page differ, as the pods are others.
 *
 *     npm run bench -- fleet [--clusters 20] [--pods 100000] [--updates 50] [--rounds 5] [--seconds 2] [--record]
 */
import { parseArgs } from 'node:util'
import { askGraphQL } from './support/graphql-client.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    clusters: { type: 'string', default: '20' },
    pods: { type: 'string', default: '100000' },
    updates: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const clusters = Number(options.clusters)
const pods = Number(options.pods)
const rounds = Number(options.rounds)
const durationMs = Number(options.seconds) * 1000
const updates = Number(options.updates)
const everywhere = 'clusters: ["*"]'

/** A gateway over its simulators, and how a request names all its clusters. */
interface Side {
  readonly gateway: Service
  readonly place: string
}

const row = 'clusterName metadata { namespace name } status { phase }'

/** What is asked, by title. */
const questions: Readonly<Record<string, (place: string) => string>> = {
  'first 100 by restarts': (place) =>
    `{ pods(first: 100, orderBy: [{ restarts: DESC }]${place}) { nodes { ${row} } } }`,
  'first 100 as they come': (place) => `{ pods(first: 100${place}) { nodes { ${row} } } }`,
  'the 100 youngest of those that wait': (place) =>
    `{ pods(first: 100, where: { phase: { eq: "Pending" } }, orderBy: [{ creationTimestamp: DESC }]${place}) { nodes { ${row} } } }`,
  totalCount: (place) => `{ pods(where: { phase: { eq: "Running" } }${place}) { totalCount } }`,
  'facets of phase and node': (place) =>
    `{ pods(first: 0${place}) { facets(by: ["phase", "nodeName"]) { values { value count } } } }`,
  'requests by namespace': (place) =>
    `{ pods(first: 0${place}) { facets(by: ["namespace"], sum: ["cpuRequests"]) { values { value count } } } }`,
}

async function ask({ gateway, place }: Side, query: string): Promise<Figures> {
  const url = gateway.url
  const body = JSON.stringify({ query })
  const load = { url, connections: 1, warmUpMs: 500, durationMs, reader: 'any', rows: 1 }
  const before = await gateway.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [
    JSON.stringify({ ...load, bodies: [body] }),
  ])
  const used = (await gateway.cpuMs()) - before
  const { p50Ms = 0, p99Ms = 0, asked = 1 } = figures
  return { cpuMs: used / asked, p50Ms, p99Ms, clusters: place === '' ? 1 : clusters }
}

async function follow({ gateway, place }: Side): Promise<Figures> {
  let before = Promise.resolve(0)
  const args = [gateway.url, 'live', 10, 1, durationMs * 2, place]
  const figures = await measure(`${processes}/page-subscribers.ts`, args, {
    onLine() {
      before = gateway.cpuMs()
    },
  })
  const used = (await gateway.cpuMs()) - (await before)
  const perSecond = figures['moves/s'] ?? 0
  const seconds = (durationMs * 2) / 1000
  return {
    'moves/s': perSecond,
    cpuUsPerMove: (used * 1000) / (perSecond * seconds),
    cpuUsPerChange: (used * 1000) / (updates * seconds),
  }
}

const one = 'one cluster'
const many = `${clusters} clusters`
const tables: ResultTable[] = []
const notes: string[] = []

function compare(title: string, figure: string, rows: Record<string, Figures>): void {
  tables.push({ title, rows })
  notes.push(`${title}: ${ratio(rows[many]?.[figure], rows[one]?.[figure])} of one cluster`)
}

{
  await using single = await startService(`${processes}/simulator.ts`, [pods])
  await using fleet = await startService(`${processes}/simulator.ts`, [
    pods / clusters,
    0,
    0,
    clusters,
  ])
  await using ofOne = await startService(`${processes}/gateway.ts`, [single.url])
  await using ofMany = await startService(`${processes}/gateway.ts`, [fleet.urls.join()])
  const sides = {
    [one]: { gateway: ofOne, place: '' },
    [many]: { gateway: ofMany, place: `, ${everywhere}` },
  }
  for (const [title, query] of Object.entries(questions)) {
    // The first request loads the kinds and builds the indexes.
    for (const { gateway, place } of Object.values(sides)) {
      await askGraphQL(gateway.url, { query: query(place) })
    }
    const contenders = Object.fromEntries(
      Object.entries(sides).map(([name, side]) => [name, () => ask(side, query(side.place))]),
    )
    compare(title, 'cpuMs', await interleave(contenders, rounds))
  }
}
{
  const hot = 40
  await using single = await startService(`${processes}/simulator.ts`, [pods, updates, hot])
  await using ofOne = await startService(`${processes}/gateway.ts`, [single.url])
  await using fleet = await startService(`${processes}/simulator.ts`, [
    pods / clusters,
    updates,
    Math.max(1, hot / clusters),
    clusters,
  ])
  await using ofMany = await startService(`${processes}/gateway.ts`, [fleet.urls.join()])
  const rows = await interleave(
    {
      [one]: () => follow({ gateway: ofOne, place: '' }),
      [many]: () => follow({ gateway: ofMany, place: `, ${everywhere}` }),
    },
    rounds,
  )
  compare(`a live page, ${updates} changes a second`, 'cpuUsPerChange', rows)
}
publish(
  'fleet',
  tables,
  [`${pods} pods in one cluster, and in ${clusters} of equal size`, ...notes],
  { record: options.record },
)
