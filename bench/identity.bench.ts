/**
 * The cost of authentication and access reviews: the queries of the query benchmark, warm, with `token-review` beside `none`; and the
 * first answer to a user that may read only some of many namespaces:
 *
 *     npm run bench -- identity [--pods 10000] [--namespaces 200] [--rounds 5] [--seconds 3] [--record]
 *
 * The figure is the CPU time of each gateway per request. The gateways take turns within a round, so that a busy minute affects both.
 * Both get the same queries from their start on, so that neither has more compiled code, and warm up before the first round.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCountedServer } from './support/counted-reviews.ts'
import { askGraphQL } from './support/graphql-client.ts'
import { kubeconfigOf, viewerTokens } from './support/identities.ts'
import { type Figures, measure, medianOf, runRound } from './support/measured-process.ts'
import type { Load } from './support/load.ts'
import { podByName, podsBySelector } from './support/pod-questions.ts'
import { publish, type ResultTable } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    namespaces: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const simulatorArguments = [options.pods, options.namespaces]
const folder = await mkdtemp(join(tmpdir(), 'informerql-bench-'))
await using simulator = await startService(`${processes}/rbac-simulator.ts`, simulatorArguments)
await using counted = await startCountedServer(simulator.url)
const kubeconfig = join(folder, 'gateway.json')
await writeFile(kubeconfig, kubeconfigOf(counted.url))
const gatewayOf = (mode: string): Promise<Service> =>
  startService(`${processes}/identity-gateway.ts`, [kubeconfig, mode])
await using open = await gatewayOf('none')
await using asking = await gatewayOf('token-review')

const bearer = (token: string): string => `Bearer ${token}`
const everywhere = bearer(viewerTokens.everywhere)

/** A query as the body of a request, and the number of objects that the answer must have. */
interface Question {
  readonly title: string
  readonly body: string
  readonly rows: number
}

const durationMs = Number(options.seconds) * 1000

async function ask(gateway: Service, { body, rows }: Question): Promise<Figures> {
  const load: Load = {
    url: gateway.url,
    body,
    // Sent to both, so that both parse it.
    authorization: everywhere,
    reader: 'graphql',
    rows,
    connections: 32,
    warmUpMs: 200,
    durationMs,
  }
  const before = await gateway.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [JSON.stringify(load)])
  const used = (await gateway.cpuMs()) - before
  return { ...figures, gatewayCpuMs: used / (figures['asked'] ?? Number.NaN) }
}

/** Rounds for warming up, which are not counted. */
const warmUpRounds = 2

/** The median figures of both gateways, and the median of the difference within a round, in percent. */
interface Compared {
  readonly table: ResultTable
  readonly morePercent: number
}

async function compare(question: Question): Promise<Compared> {
  const contenders = {
    none: () => ask(open, question),
    'token-review': () => ask(asking, question),
  }
  const backwards = Object.fromEntries(Object.entries(contenders).toReversed())
  for (let round = 0; round < warmUpRounds; round++) await runRound(contenders, 0, {})
  const none: Figures[] = []
  const review: Figures[] = []
  const runs: Record<string, Figures[]> = { none, 'token-review': review }
  for (let round = 1; round <= Number(options.rounds); round++) {
    await runRound(round % 2 === 0 ? backwards : contenders, round, runs)
  }
  const ratios = none.map((figures, round) => ({
    more: (review[round]?.['gatewayCpuMs'] ?? Number.NaN) / (figures['gatewayCpuMs'] ?? Number.NaN),
  }))
  return {
    table: {
      title: `${question.title}, warm, 32 connections`,
      rows: { none: medianOf(none), 'token-review': medianOf(review) },
    },
    morePercent: ((medianOf(ratios)['more'] ?? Number.NaN) - 1) * 100,
  }
}

/** The namespace and name of some pod. */
async function somePod(): Promise<unknown> {
  const query = '{ pods(first: 1) { nodes { metadata { namespace name } } } }'
  const { data } = JSON.parse(await askGraphQL(open.url, { query })) as {
    readonly data: { readonly pods: { readonly nodes: readonly { readonly metadata: unknown }[] } }
  }
  return data.pods.nodes[0]?.metadata
}

async function firstAnswerMs(): Promise<Figures> {
  const query = '{ pods { totalCount } }'
  // A query without cached reviews.
  await fetch(asking.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: everywhere },
    body: JSON.stringify({ query }),
  })
  const before = counted.reviews()
  const startMs = performance.now()
  const response = await fetch(asking.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: bearer(viewerTokens.namespaces),
    },
    body: JSON.stringify({ query }),
  })
  await response.text()
  return { firstAnswerMs: performance.now() - startMs, reviews: counted.reviews() - before }
}

const questions: readonly Question[] = [
  {
    title: 'One pod by its name',
    body: JSON.stringify({ query: podByName, variables: await somePod() }),
    rows: 1,
  },
  {
    title: '100 pods by a selector',
    body: JSON.stringify({
      query: podsBySelector,
      variables: { labelSelector: 'team=storefront' },
    }),
    rows: 100,
  },
]
const compared: Compared[] = []
for (const question of questions) compared.push(await compare(question))
// Last, as it uses one gateway only.
const cold = await firstAnswerMs()
await rm(folder, { recursive: true })
publish(
  'identity',
  [
    ...compared.map(({ table }) => table),
    { title: `The first answer to a viewer of ${options.namespaces} namespaces`, rows: { cold } },
  ],
  compared.map(
    ({ table, morePercent }) =>
      `${table.title}: token-review takes ${morePercent.toFixed(0)} % more CPU time per request than none, the median of the rounds`,
  ),
  { record: options.record },
)
