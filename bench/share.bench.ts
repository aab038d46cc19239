/**
 * Gateways that share clusters out through a Postgres, beside one process that holds everything: the time to ready, questions over all
 * clusters, a live change through a gateway that does not hold its cluster; one gateway killed, one added, Postgres away for a while. All
 * are processes of one machine, so four gateways on two cores show what sharing costs, and not what it gains.
 *
 *     npm run bench -- share [--clusters 100] [--pods 440] [--small 0] [--gateways 4] [--updates 50] [--rounds 3] [--seconds 2] [--record]
 *
 * `--small 900` has so many clusters more, of 10 pods each. Above 300 clusters, one process is measured first and ended before the others
 * start, and only those that share are asked about every kind: one has not the connections for that (`ulimit -n` of 20,000).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { startPostgres } from '../test/support/postgres.ts'
import { askGraphQL } from './support/graphql-client.ts'
import { Latencies } from './support/latencies.ts'
import { type Figures, interleave } from './support/measured-process.ts'
import { writtenAnnotation } from './support/pod-updates.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    clusters: { type: 'string', default: '100' },
    pods: { type: 'string', default: '440' },
    small: { type: 'string', default: '0' },
    gateways: { type: 'string', default: '4' },
    updates: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
})
const largeCount = Number(options.clusters)
const smallCount = Number(options.small)
const clusterCount = largeCount + smallCount
const gatewayCount = Number(options.gateways)
const rounds = Number(options.rounds)
const durationMs = Number(options.seconds) * 1000
const startDeadlineMs = 300_000
const writtenDeadlineMs = 900_000
const wholeDeadlineMs = 120_000

const preload = ['pods', 'deployments', 'services', 'configMaps', 'events', 'nodes']
/** The kinds of {@link preload}. */
const sixTypes = '["Pod", "Deployment", "Service", "ConfigMap", "Event", "Node"]'
const searchOf = (where: string): string =>
  `{ search(text: "card", ${where}, first: 50) { totalCount nodes { object { kind namespace name } } } }`
/** What is asked about every kind. */
const everyKind: readonly string[] = ['search', 'problems']

/** What is asked, by title. */
const row = 'clusterName namespace name'
const all = 'clusters: ["*"]'
const questions: Readonly<Record<string, string>> = {
  '100 by restarts': `{ pods(${all}, first: 100, orderBy: [{ restarts: DESC }]) { nodes { ${row} status { phase } } } }`,
  '100 that wait, the youngest first': `{ pods(${all}, first: 100, where: { phase: { eq: "Pending" } }, orderBy: [{ creationTimestamp: DESC }]) { nodes { ${row} } } }`,
  'of one cluster, by its name': `{ pods(cluster: "cluster-1", first: 100, orderBy: [{ restarts: DESC }]) { nodes { ${row} } } }`,
  search: searchOf(all),
  problems: `{ problems(${all}, first: 50) { totalCount nodes { cluster type severity reason message } } }`,
  'search in six kinds': searchOf(`${all}, types: ${sixTypes}`),
  'facets of phase and node': `{ pods(${all}, first: 0) { facets(by: ["phase", "nodeName"]) { values { value count } } } }`,
  'count by cluster': `{ pods(${all}, first: 0) { totalCount facets(by: ["cluster"], top: 1000) { values { value count } } } }`,
}

/** The program, as `informerql serve`. */
interface Served extends AsyncDisposable {
  readonly url: string
  readonly address: string
  readonly readyMs: number
  kill(): Promise<void>
}

const one = 'one process'
const shared = `${gatewayCount} that share`
const live = `a change to its frame, of clusters that the gateway does not hold, ${options.updates} a second`
const tables: ResultTable[] = []
const notes: string[] = []

await using parts = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'informerql-share-'))
parts.defer(() => rm(folder, { recursive: true }))
const postgres = parts.use(await startPostgres())
const servers = await simulate(largeCount, options.pods, options.updates)
// A process has one loop for all of its servers.
for (let left = smallCount; left > 0; left -= 300) {
  servers.push(...(await simulate(Math.min(left, 300), '10', '0')))
}
const clusters = servers.map((server, at) => ({ name: `cluster-${at}`, server }))

const alone = await start(false)
await isWhole(alone)
const objects = await count(alone)
const isApart = clusterCount > 300
const first = new Map<string, Figures>()
if (isApart) {
  for (const [title, query] of Object.entries(questions)) {
    if (!everyKind.includes(title)) first.set(title, await measure(one, () => ask(alone, query)))
  }
  first.set(live, await measure(one, () => follow(alone)))
  await alone.kill()
}
const gateways = await Promise.all(Array.from({ length: gatewayCount }, () => start(true)))
for (const gateway of gateways) await isWhole(gateway)
const writtenMs = await isWritten()
await sleep(20_000)
notes.push(
  `all kinds that the archive keeps were loaded and written ${(writtenMs / 1000).toFixed(1)} s after the gateways were whole; what follows was asked 20 s after that`,
)
tables.push({
  title: 'until ready, from nothing',
  rows: {
    [one]: { seconds: alone.readyMs / 1000 },
    [shared]: { seconds: Math.max(...gateways.map(({ readyMs }) => readyMs)) / 1000 },
  },
})

const [asked = alone] = gateways
for (const [title, query] of Object.entries(questions)) {
  const rows = await compare(title, (gateway) => ask(gateway, query))
  const [time, times] = [rows[shared]?.['p50Ms'], rows[one]?.['p50Ms']]
  if (times !== undefined) notes.push(`${title}: ${ratio(time, times)} the time of ${one}`)
}
await compare(live, follow)

{
  const killed = gateways.pop()
  const before = await holders(asked)
  await killed?.kill()
  const goneMs = await isWhole(asked, killed?.address)
  const after = await holders(asked)
  const lost = [...before.values()].filter((holder) => holder === killed?.address).length
  notes.push(
    `one killed, which held ${lost} clusters: whole again after ${(goneMs / 1000).toFixed(1)} s; ${moved(before, after) - lost} other clusters moved`,
  )
  const added = await start(true)
  gateways.push(added)
  const startedMs = performance.now()
  while ((await loads(asked, added.address)) < clusterCount / gatewayCount / 4) await sleep(200)
  await settled(asked)
  const joined = await holders(asked)
  notes.push(
    `one added: ready after ${(added.readyMs / 1000).toFixed(1)} s, then ${((performance.now() - startedMs) / 1000).toFixed(1)} s until clusters stood still; ${moved(after, joined)} of ${clusterCount} moved, ${[...joined.values()].filter((holder) => holder === added.address).length} of them to it`,
  )
}
await isWhole(asked)
{
  await postgres.stop()
  let whole = 0
  const questionsMs = performance.now() + 20_000
  let times = 0
  for (; performance.now() < questionsMs; times += 1) {
    if (await answersWhole(asked)) whole += 1
    await sleep(200)
  }
  await postgres.start()
  const backMs = await isWhole(asked)
  notes.push(
    `Postgres away for 20 s: ${whole} of ${times} answers were whole meanwhile; whole ${(backMs / 1000).toFixed(1)} s after it was back`,
  )
}
publish(
  'share',
  tables,
  [
    `${objects.toLocaleString('en')} objects in ${clusterCount} clusters, all processes on one machine`,
    ...notes,
  ],
  { record: options.record },
)

/** Adds a table of both. */
async function compare(
  title: string,
  work: (gateway: Served) => Promise<Figures>,
): Promise<Readonly<Record<string, Figures>>> {
  const before = first.get(title)
  const rows = isApart
    ? { ...(before && { [one]: before }), [shared]: await measure(shared, () => work(asked)) }
    : await interleave({ [one]: () => work(alone), [shared]: () => work(asked) }, rounds)
  tables.push({ title, rows })
  return rows
}

async function measure(name: string, work: () => Promise<Figures>): Promise<Figures> {
  const { [name]: figures = {} } = await interleave({ [name]: work }, rounds)
  return figures
}

/** Starts API servers, and gives their addresses. */
async function simulate(number: number, pods: string, updates: string): Promise<string[]> {
  const script = `${import.meta.dirname}/process/simulator.ts`
  const service = parts.use(await startService(script, [pods, updates, 0, number]))
  return [...service.urls]
}

async function start(shares: boolean): Promise<Served> {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const file = join(folder, `${port}.json`)
  const sharing = shares ? { archive: { url: postgres.url }, share: { address } } : {}
  const limits = { syncDeadlineMs: 300_000, preloadDeadlineMs: startDeadlineMs }
  // Some thirty for each cluster, with those of search and problems, and one gateway may hold all of them.
  const cache = { maxInformers: 40_000 }
  const config = {
    clusters,
    ...sharing,
    preload,
    cache,
    ...limits,
    server: { port, metricsOnApiPort: true },
    logLevel: 'error',
  }
  await writeFile(file, JSON.stringify(config))
  const startMs = performance.now()
  const args = [`${import.meta.dirname}/../src/main.ts`, 'serve', '--config', file]
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const ended = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  parts.defer(kill)
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${address}/readyz`).catch(() => undefined))?.ok === true
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`a gateway ended with ${child.exitCode}`)
    await sleep(50)
  }
  const readyMs = performance.now() - startMs
  return { url: `${address}/graphql`, address, readyMs, kill, [Symbol.asyncDispose]: kill }
}

/** The latency of a question, asked again and again. */
async function ask({ url }: Served, query: string): Promise<Figures> {
  await loaded(url, query)
  const times = new Latencies()
  for (const untilMs = performance.now() + durationMs; performance.now() < untilMs;) {
    const startMs = performance.now()
    await askGraphQL(url, { query })
    times.add(performance.now() - startMs)
  }
  return { p50Ms: times.percentile(0.5), p99Ms: times.percentile(0.99) }
}

/** Asks until there is an answer: the first question about a kind loads it, of each cluster. */
async function loaded(url: string, query: string): Promise<void> {
  for (const untilMs = performance.now() + startDeadlineMs; ;) {
    try {
      await askGraphQL(url, { query })
      return
    } catch (error) {
      if (performance.now() > untilMs) throw error
    }
  }
}

/** The time from the write of a pod to the frame that has it. */
async function follow(gateway: Served): Promise<Figures> {
  const held = await holders(gateway)
  const isElsewhere = (cluster: string): boolean => {
    const holder = held.get(cluster) ?? null
    return holder === null || holder !== gateway.address
  }
  const client = createClient({
    url: gateway.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  })
  const query = `subscription { pods(${all}, coalesceMs: 0) { synced changes { object { clusterName metadata { annotation(key: "${writtenAnnotation}") } } } } }`
  const frames = client.iterate<{ readonly pods: Frame }>({ query })
  const times = new Latencies()
  let endMs = Infinity
  let snapshotAt = 0n
  for await (const frame of frames) {
    const { pods } = frame.data ?? {}
    if (pods === undefined) throw new Error(JSON.stringify(frame.errors))
    const { synced, changes } = pods
    const now = process.hrtime.bigint()
    if (performance.now() > endMs) break
    if (endMs === Infinity) {
      if (synced) {
        endMs = performance.now() + durationMs * 2
        snapshotAt = now
      }
      continue
    }
    for (const { object } of changes) {
      const written = object?.metadata.annotation
      if (object === null || written === null || written === undefined) continue
      // What was written while the snapshot was made is told after it.
      if (BigInt(written) < snapshotAt || !isElsewhere(object.clusterName)) continue
      times.add(Number(now - BigInt(written)) / 1e6)
    }
  }
  await client.dispose()
  const { count: changes } = times
  return { changes, p50Ms: times.percentile(0.5), p99Ms: times.percentile(0.99) }
}

interface Frame {
  readonly synced: boolean
  readonly changes: readonly {
    readonly object: {
      readonly clusterName: string
      readonly metadata: { readonly annotation: string | null }
    } | null
  }[]
}

async function data<T>({ url }: Served, query: string): Promise<T> {
  return (JSON.parse(await askGraphQL(url, { query })) as { readonly data: T }).data
}

/** The holder of each cluster, as a gateway says. */
async function holders(gateway: Served): Promise<ReadonlyMap<string, string | null>> {
  const { gatewayClusters } = await data<{
    readonly gatewayClusters: readonly { readonly name: string; readonly holder: string | null }[]
  }>(gateway, '{ gatewayClusters { name holder } }')
  return new Map(gatewayClusters.map(({ name, holder }) => [name, holder]))
}

async function loads(gateway: Served, address: string): Promise<number> {
  return [...(await holders(gateway)).values()].filter((holder) => holder === address).length
}

function moved(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): number {
  return [...before].filter(([name, holder]) => after.get(name) !== holder).length
}

/** Resolves once no cluster has moved for five seconds. */
async function settled(gateway: Served): Promise<void> {
  let before = await holders(gateway)
  for (let quiet = 0; quiet < 5; quiet += 1) {
    await sleep(1_000)
    const now = await holders(gateway)
    if (moved(before, now) > 0) quiet = -1
    before = now
  }
}

async function answersWhole(gateway: Served): Promise<boolean> {
  const query = `{ pods(${all}, first: 0) { totalCount incomplete { cluster } } }`
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data: answer, errors } = (await response.json()) as {
    readonly data?: { readonly pods: { readonly incomplete: readonly object[] } | null } | null
    readonly errors?: readonly object[]
  }
  return errors === undefined && answer?.pods?.incomplete.length === 0
}

/** Resolves once a gateway answers for all clusters, and none is that of `except`; with the time that took. */
async function isWhole(gateway: Served, except?: string): Promise<number> {
  const startMs = performance.now()
  for (;;) {
    const isHeld = except === undefined || (await loads(gateway, except)) === 0
    if (isHeld && (await answersWhole(gateway))) return performance.now() - startMs
    if (performance.now() - startMs > wholeDeadlineMs) throw new Error('clusters stay missing')
    await sleep(250)
  }
}

/** All objects in memory. */
async function count(gateway: Served): Promise<number> {
  const { gatewayClusters } = await data<{
    readonly gatewayClusters: readonly {
      readonly resources: readonly { readonly objects: number | null }[]
    }[]
  }>(gateway, '{ gatewayClusters { resources(loaded: true) { objects } } }')
  return gatewayClusters
    .flatMap(({ resources }) => resources)
    .reduce((sum, resource) => sum + (resource.objects ?? 0), 0)
}

/** Resolves once the gateways have loaded no further kind for ten seconds, and what they have seen is written; with the time that took. */
async function isWritten(): Promise<number> {
  const startMs = performance.now()
  let before = -1
  for (let quiet = 0; quiet < 2; quiet += 1) {
    await sleep(5_000)
    const texts = await Promise.all(
      gateways.map(async ({ address }) => await (await fetch(`${address}/metrics`)).text()),
    )
    const lags = texts.map((text) =>
      Number(/^informerql_archive_lag_seconds (\S+)$/m.exec(text)?.[1]),
    )
    const kinds = texts.flatMap((text) => text.match(/^informerql_informer_synced.* 1$/gm) ?? [])
    if (kinds.length !== before || !lags.every((lag) => lag < 2)) quiet = -1
    before = kinds.length
    if (performance.now() - startMs > writtenDeadlineMs)
      throw new Error(`${before} kinds, and still loading or written ${lags.join(', ')} s late`)
  }
  return performance.now() - startMs
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { readonly port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
