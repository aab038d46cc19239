/**
 * What it costs to ask callers who they are, and the API server what they may see: the questions of the query benchmark, warm, with
 * `token-review` beside `none`; and the first answer to somebody who reads in many namespaces and nowhere else:
 *
 *     npm run bench -- identity [--pods 10000] [--namespaces 200] [--rounds 3] [--seconds 5] [--record]
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCountedServer } from './support/counted-reviews.ts'
import { gatewayToken, viewerTokens } from './support/identities.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import type { Load } from './support/load.ts'
import { podsBySelector } from './support/pod-questions.ts'
import { publish, ratio } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    namespaces: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const simulatorArguments = [options.pods, options.namespaces]
const folder = await mkdtemp(join(tmpdir(), 'informerql-bench-'))
await using simulator = await startService(`${processes}/rbac-simulator.ts`, simulatorArguments)
await using counted = await startCountedServer(simulator.url)
const kubeconfig = join(folder, 'gateway.json')
await writeFile(
  kubeconfig,
  JSON.stringify({
    clusters: [{ name: 'a', cluster: { server: counted.url } }],
    users: [{ name: 'a', user: { token: gatewayToken } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  }),
)
const gatewayOf = (mode: string): Promise<Service> =>
  startService(`${processes}/identity-gateway.ts`, [kubeconfig, mode])
await using open = await gatewayOf('none')
await using asking = await gatewayOf('token-review')

const variables = { labelSelector: 'team=storefront' }
const body = JSON.stringify({ query: podsBySelector, variables })
const bearer = (token: string): string => `Bearer ${token}`
const everywhere = bearer(viewerTokens.everywhere)

async function ask(gateway: Service, authorization: string): Promise<Figures> {
  const durationMs = Number(options.seconds) * 1000
  const load: Load = {
    url: gateway.url,
    body,
    authorization,
    reader: 'any',
    rows: 1,
    connections: 32,
    warmUpMs: 1500,
    durationMs,
  }
  const before = await gateway.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [
    JSON.stringify({ ...load, reader: 'any' }),
  ])
  const used = (await gateway.cpuMs()) - before
  return { ...figures, gatewayCpuMs: used / (figures['asked'] ?? Number.NaN) }
}

async function firstAnswerMs(): Promise<Figures> {
  const query = '{ pods { totalCount } }'
  // What has been asked of nobody before.
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

const cold = await firstAnswerMs()
const rows = await interleave(
  { none: () => ask(open, everywhere), 'token-review': () => ask(asking, everywhere) },
  Number(options.rounds),
)
await rm(folder, { recursive: true })
const more = ratio(rows['token-review']?.['gatewayCpuMs'], rows['none']?.['gatewayCpuMs'])
publish(
  'identity',
  [
    { title: '100 pods by a selector, warm, 32 connections', rows },
    { title: `The first answer to a viewer of ${options.namespaces} namespaces`, rows: { cold } },
  ],
  [`with token-review ${more} the CPU time of none per request`],
  { record: options.record },
)
