/**
 * The query engine over many pods: the gateway's CPU time per request, beside (a) bare node:http with the same bytes,
 * (b) for filtered and ordered pages, plain objects, and (c) a plain client of the API server, whose own CPU time it is:
 *
 *     npm run bench -- plans [--pods 100000] [--rounds 3] [--seconds 2] [--record]
 *
 * Before each round a tenth of the pods changes. `cold` queries have a new document, or no cached texts. It takes some six minutes.
 */
import { parseArgs } from 'node:util'
import { type Figures, measure, medianOf, mediansOf, runRound } from './support/measured-process.ts'
import { changeTenth } from './support/changed-pods.ts'
import { askGraphQL } from './support/graphql-client.ts'
import {
  newDocuments,
  newTexts,
  queryQuestions,
  type QueryOperation,
} from './support/query-load.ts'
import { querySubjects } from './support/query-subjects.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const warmUpMs = 500
const durationMs = Number(options.seconds) * 1000

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using plans = await startService(`${processes}/gateway.ts`, [simulator.url])
await using sameBytes = await startService(`${processes}/same-bytes.ts`, [plans.url])
await using plainObjects = await startService(`${processes}/plain-objects.ts`, [simulator.url])

interface Contender {
  readonly service: Service
  readonly url?: string
  readonly operations?: readonly QueryOperation[]
}

async function ask(
  { service, url = service.url, operations }: Contender,
  connections: number,
): Promise<Figures> {
  const load = { url, connections, warmUpMs, durationMs, reader: 'any', rows: 1 }
  const bodies = operations?.map((operation) => JSON.stringify(operation))
  const before = await service.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [JSON.stringify({ ...load, bodies })])
  const used = (await service.cpuMs()) - before
  const { p50Ms = 0, p99Ms = 0, 'requests/s': perSecond = 0, asked = 0 } = figures
  return { cpuMs: used / asked, p50Ms, p99Ms, 'requests/s': perSecond }
}

/** The CPU time is the client's own: it does the work of the gateway itself. */
async function askPlainly(path: string, connections: number): Promise<Figures> {
  const url = `${simulator.url}${path}`
  const load = { url, connections, warmUpMs, durationMs, reader: 'json', rows: 1 }
  const figures = await measure(`${processes}/load.ts`, [JSON.stringify(load)])
  const { p50Ms = 0, p99Ms = 0, 'requests/s': perSecond = 0, clientCpuMs = 0 } = figures
  return { cpuMs: clientCpuMs, p50Ms, p99Ms, 'requests/s': perSecond }
}

/** Sent one after the other, each once. */
async function askOnce(service: Service, operations: readonly QueryOperation[]): Promise<Figures> {
  const runs: Figures[] = []
  for (const operation of operations) {
    const [before, started] = [await service.cpuMs(), performance.now()]
    await askGraphQL(service.url, operation)
    const p50Ms = performance.now() - started
    runs.push({ cpuMs: (await service.cpuMs()) - before, p50Ms })
  }
  return medianOf(runs)
}

const floor = 'same bytes (a)'
const planned = 'plan'
const plain = 'plain objects (b)'
const direct = 'plain client (c)'
const questions = Object.entries(queryQuestions(await querySubjects(plans.url)))
for (const [, { operations, fails }] of questions) {
  for (const operation of operations) await askGraphQL(plans.url, operation, fails)
}

const runs = questions.map((): Record<string, Figures[]> => ({}))
for (let round = 1; round <= Number(options.rounds); round++) {
  await changeTenth(simulator.url, plans.url)
  for (const [at, [title, question]] of questions.entries()) {
    const { operations, connections = 1, plainObjects: path, api, fails } = question
    console.error(`\n${title}`)
    // What has been changed is made anew by the first.
    await askGraphQL(plans.url, operations[0], fails)
    const contenders = {
      [floor]: () => ask({ service: sameBytes, operations }, connections),
      [planned]: () => ask({ service: plans, operations }, connections),
      ...(path === undefined
        ? {}
        : {
            [plain]: () =>
              ask({ service: plainObjects, url: `${plainObjects.url}${path}` }, connections),
          }),
      ...(api === undefined ? {} : { [direct]: () => askPlainly(api, connections) }),
    }
    await runRound(contenders, round, runs[at] ?? {})
  }
}

const tables: ResultTable[] = []
const notes: string[] = []
for (const [at, [title, { connections = 1 }]] of questions.entries()) {
  const rows = mediansOf(runs[at] ?? {})
  tables.push({ title: `${title}, warm, connections: ${connections}`, rows })
  const cpu = (name: string): number | undefined => rows[name]?.['cpuMs']
  const others = [plain, direct]
    .filter((name) => cpu(name) !== undefined)
    .map((name) => `${ratio(cpu(name), cpu(planned))} less than ${name}`)
  notes.push([`${title}: ${ratio(cpu(planned), cpu(floor))} of ${floor}`, ...others].join(', '))
}
for (const [first, count] of [
  [100, 50],
  [5000, 10],
] as const) {
  for (const [what, operations] of Object.entries({
    'new documents': newDocuments(count, first),
    'new texts of a known document': newTexts(count, first),
  })) {
    const plan = await askOnce(plans, operations)
    const title = `${first} pods, 10 fields, cold: ${what}`
    tables.push({ title, rows: { [planned]: plan } })
  }
}
publish('plans', tables, [`${options.pods} pods`, ...notes], { record: options.record })
