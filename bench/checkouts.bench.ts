/**
 * What this checkout costs beside another one, whose gateway runs at the same time over the same simulated cluster: queries, users
 * with RBAC, subscriptions, and live pages, as the benchmarks of these names have them:
 *
 *     npm run bench -- checkouts --other DIR [--pods 100000] [--rounds 5] [--seconds 1.5] [--only TITLE] [--record]
 *
 * DIR is a checkout with its packages installed. Each figure is the gateway's CPU time, in milliseconds for each query, and in
 * microseconds for each change that a subscriber gets. `ratio` is the median of the ratios of all rounds: this checkout to the other.
 * The two take turns, and who begins changes from round to round. It takes some twenty minutes.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { busiestNamespaces, pageQuery } from './support/application-page.ts'
import { changeTenth } from './support/changed-pods.ts'
import {
  deploymentIds,
  graphOperation,
  loadGraphKinds,
  namedRelations,
} from './support/graph-operation.ts'
import { askGraphQL } from './support/graphql-client.ts'
import { kubeconfigOf, viewerTokens } from './support/identities.ts'
import { type Figures, measure, medianOf } from './support/measured-process.ts'
import { podByName, podsBySelector } from './support/pod-questions.ts'
import {
  newDocuments,
  newTexts,
  queryQuestions,
  type QueryOperation,
} from './support/query-load.ts'
import { querySubjects } from './support/query-subjects.ts'
import { publish } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    other: { type: 'string', default: '' },
    pods: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
})
if (options.other === '') throw new Error('--other names the checkout to compare with')
const processes = `${import.meta.dirname}/process`
const checkouts = { other: resolve(options.other, 'bench/process'), this: processes } as const
const queryMs = Number(options.seconds) * 1000
const followMs = 3 * queryMs
const rounds = Number(options.rounds)
const updates = 50
const sockets = 500

type Cost = (gateway: Service) => Promise<number>
type Pair = AsyncDisposable & Readonly<Record<keyof typeof checkouts, Service>>

/** Starts a gateway of each checkout. */
async function startBoth(script: string, args: readonly (string | number)[]): Promise<Pair> {
  await using stack = new AsyncDisposableStack()
  const [other, own] = [
    stack.use(await startService(`${checkouts.other}/${script}`, args)),
    stack.use(await startService(`${checkouts.this}/${script}`, args)),
  ]
  const kept = stack.move()
  return { other, this: own, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const results: Record<string, Record<string, Figures>> = {}
const notes: string[] = []

async function compare(table: string, title: string, both: Pair, cost: Cost): Promise<void> {
  if (!`${table}: ${title}`.includes(options.only)) return
  const runs: { other: number; this: number; ratio: number }[] = []
  // The first round compiles what the others run.
  for (let round = 0; round <= rounds; round++) {
    const costs = { other: 0, this: 0 }
    const order = round % 2 === 0 ? (['other', 'this'] as const) : (['this', 'other'] as const)
    for (const checkout of order) costs[checkout] = await cost(both[checkout])
    if (round > 0) runs.push({ ...costs, ratio: costs.this / costs.other })
  }
  const ratios = runs.map(({ ratio }) => ratio)
  const spread = { least: Math.min(...ratios), most: Math.max(...ratios) }
  const row = { ...medianOf(runs), ...spread }
  console.error(`${table}: ${title}: ${JSON.stringify(row)}`)
  ;(results[table] ??= {})[title] = row
}

interface Asking {
  readonly operations: readonly QueryOperation[]
  readonly connections?: number
  readonly authorization?: string
}

/** Milliseconds of CPU for each query. */
const queried =
  ({ operations, connections = 1, authorization }: Asking): Cost =>
  async (gateway) => {
    const load = {
      url: gateway.url,
      bodies: operations.map((operation) => JSON.stringify(operation)),
      ...(authorization === undefined ? {} : { authorization }),
      connections,
      warmUpMs: 500,
      durationMs: queryMs,
      reader: 'any',
      rows: 1,
    }
    const before = await gateway.cpuMs()
    const { asked = 0 } = await measure(`${processes}/load.ts`, [JSON.stringify(load)])
    return ((await gateway.cpuMs()) - before) / asked
  }

/** Microseconds of CPU for each change that a subscriber gets. */
const followed =
  (script: string, figure: string, args: readonly (string | number)[]): Cost =>
  async (gateway) => {
    let before = Promise.resolve(0)
    const onLine = (): void => {
      before = gateway.cpuMs()
    }
    const figures = await measure(`${processes}/${script}`, [gateway.url, ...args], { onLine })
    const used = (await gateway.cpuMs()) - (await before)
    return (used * 1000) / (((figures[figure] ?? 0) * followMs) / 1000)
  }

async function compareQueries(): Promise<void> {
  await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
  await using both = await startBoth('gateway.ts', [simulator.url])
  const { url } = both.this
  for (const gateway of [both.other, both.this]) await loadGraphKinds(gateway.url)
  const namespaces = await busiestNamespaces(url)
  const roots = await deploymentIds(url, 10)
  const questions: Record<string, Asking> = {
    ...queryQuestions(await querySubjects(url)),
    'the page of an application': {
      operations: [{ query: pageQuery, variables: { namespaces } }],
    },
    'graph of depth 4, relations by name': { operations: [graphOperation(roots, namedRelations)] },
    'graph of depth 4, all relations': { operations: [graphOperation(roots, null)] },
  }
  for (const [title, { operations }] of Object.entries(questions)) {
    for (const operation of operations) {
      if ((await answer(both.other, operation)) === (await answer(both.this, operation))) continue
      notes.push(`${title}: the answers differ`)
      break
    }
  }
  // Each lists all pods for it, so that both have the same texts in memory.
  for (const gateway of [both.other, both.this]) await changeTenth(simulator.url, gateway.url)
  for (const [title, question] of Object.entries(questions)) {
    await compare('queries', title, both, queried(question))
  }
  for (const [title, operationsOf] of Object.entries({
    'new documents': newDocuments,
    'new texts of a known document': newTexts,
  })) {
    const operations = operationsOf((rounds + 1) * coldQueries, 100)
    const rest = { other: [...operations], this: [...operations] }
    const checkoutOf = (gateway: Service): keyof typeof rest =>
      gateway === both.this ? 'this' : 'other'
    await compare('queries', `100 pods, 10 fields, cold: ${title}`, both, async (gateway) => {
      const before = await gateway.cpuMs()
      for (const operation of rest[checkoutOf(gateway)].splice(0, coldQueries)) {
        await askGraphQL(gateway.url, operation)
      }
      return ((await gateway.cpuMs()) - before) / coldQueries
    })
  }
}

/** With its errors, if it has some. */
async function answer(gateway: Service, operation: QueryOperation): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const asked = { method: 'POST', headers, body: JSON.stringify(operation) }
  return await (await fetch(gateway.url, asked)).text()
}

const coldQueries = 100

async function compareUsers(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-bench-'))
  const kubeconfig = join(folder, 'gateway.json')
  {
    await using simulator = await startService(`${processes}/rbac-simulator.ts`, [10_000, 200])
    await writeFile(kubeconfig, kubeconfigOf(simulator.url))
    await using both = await startBoth('identity-gateway.ts', [kubeconfig, 'token-review'])
    const authorization = `Bearer ${viewerTokens.everywhere}`
    const selected = { query: podsBySelector, variables: { labelSelector: 'team=storefront' } }
    const asks = async (query: QueryOperation): Promise<void> =>
      compare(
        'users',
        query === selected ? '100 pods by a selector' : 'one pod by its name',
        both,
        queried({ operations: [query], connections: 32, authorization }),
      )
    const response = await fetch(both.this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({
        query: '{ pods(first: 1) { nodes { metadata { namespace name } } } }',
      }),
    })
    const { data } = (await response.json()) as {
      data: { pods: { nodes: [{ metadata: { namespace: string; name: string } }] } }
    }
    await asks({ query: podByName, variables: { ...data.pods.nodes[0].metadata } })
    await asks(selected)
  }
  {
    const served = [260, 0, sockets, updates]
    await using simulator = await startService(`${processes}/rbac-simulator.ts`, served)
    await writeFile(kubeconfig, kubeconfigOf(simulator.url))
    await using both = await startBoth('identity-gateway.ts', [kubeconfig, 'token-review'])
    for (const users of [1, sockets]) {
      const args = [sockets, followMs, 100, 1, 0, users]
      const title = users === 1 ? 'of one user' : 'each of another user with the same access'
      const cost = followed('fanout-subscribers.ts', 'changes/s', args)
      await compare('users', `${sockets} sockets, ${title}`, both, cost)
    }
  }
  await rm(folder, { recursive: true })
}

async function compareSubscriptions(): Promise<void> {
  await using simulator = await startService(`${processes}/simulator.ts`, [260, updates])
  await using both = await startBoth('gateway.ts', [simulator.url])
  for (const [title, args] of Object.entries({
    'one group, coalesceMs 0': [sockets, followMs, 0, 1, 0],
    'one group, coalesceMs 100': [sockets, followMs, 100, 1, 0],
    [`${sockets} selections, coalesceMs 100`]: [sockets, followMs, 100, sockets, 0],
    '5000 sockets, coalesceMs 100': [5000, followMs, 100, 1, 0],
  })) {
    const cost = followed('fanout-subscribers.ts', 'changes/s', args)
    await compare('subscriptions', title, both, cost)
  }
}

async function comparePages(): Promise<void> {
  const hot = 40
  const served = [options.pods, updates, hot]
  await using simulator = await startService(`${processes}/simulator.ts`, served)
  await using both = await startBoth('gateway.ts', [simulator.url])
  for (const pages of [1, 50]) {
    const cost = followed('page-subscribers.ts', 'moves/s', ['live', 50, pages, followMs])
    await compare(
      'live pages',
      `50 sockets, ${pages} live page${pages === 1 ? '' : 's'}`,
      both,
      cost,
    )
  }
}

await compareQueries()
await compareUsers()
await compareSubscriptions()
await comparePages()
const tables = Object.entries(results).map(([title, rows]) => ({ title, rows }))
publish('checkouts', tables, [`${options.pods} pods, ${rounds} rounds`, ...notes], {
  record: options.record,
})
