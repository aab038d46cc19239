/**
 * What attacks cost other users. One authenticated user runs each attack of `test/abuse` in a loop, over each transport and many
 * connections, while another user queries a page at a steady rate:
 *
 *     npm run bench -- attacks [--pods 2000] [--seconds 1.5] [--rate 100] [--only TITLE] [--record]
 *
 * The attackers, the user and the gateway have a process each. A wait begins at the moment when the query was due, so that the
 * figures include the time in which a busy gateway delays queries.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultServerOptions } from '../src/index.ts'
import { type Attack, attacks, type Target } from './support/attacks.ts'
import { kubeconfigOf, viewerTokens } from './support/identities.ts'
import { type Figures, measure } from './support/measured-process.ts'
import { publish } from './support/results.ts'
import { startService } from './support/service.ts'
import type { SteadyUser } from './support/steady-user.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '1.5' },
    rate: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
})
const mebibyte = 2 ** 20
const processes = `${import.meta.dirname}/process`
const folder = await mkdtemp(join(tmpdir(), 'informerql-bench-'))
await using simulator = await startService(`${processes}/rbac-simulator.ts`, [options.pods, '0'])
const kubeconfig = join(folder, 'gateway.json')
await writeFile(kubeconfig, kubeconfigOf(simulator.url))
const { maxSocketsPerUser, maxSubscriptionsPerUser } = defaultServerOptions()
const quotas = { maxSocketsPerUser, maxSubscriptionsPerUser }
/** Shorter than by default, so that what has to wait for them fits in. */
const deadlines = { requestDeadlineMs: 1_000, connectionInitDeadlineMs: 1_000 }
await using gateway = await startService(`${processes}/identity-gateway.ts`, [
  kubeconfig,
  'token-review',
  JSON.stringify({ ...deadlines, ...quotas, introspection: false }),
])
const target: Target = {
  url: gateway.url,
  authorization: `Bearer ${viewerTokens.mallory}`,
  cluster: simulator.url,
}
const user: SteadyUser = {
  url: gateway.url,
  authorization: `Bearer ${viewerTokens.everywhere}`,
  body: JSON.stringify({
    query:
      '{ pods(first: 20) { totalCount nodes { metadata { namespace name } status { phase } node { metadata { name } } } } }',
  }),
  perSecond: Number(options.rate),
  warmUpMs: 300,
  durationMs: Number(options.seconds) * 1_000,
}
const steady = (): Promise<Figures> =>
  measure(`${processes}/steady-user.ts`, [JSON.stringify(user)], { deadlineMs: 60_000 })

/** Counts the answers of one lane until it is stopped. */
async function attackOn(attack: Attack, signal: AbortSignal, said: Map<string, number>) {
  while (!signal.aborted) {
    try {
      const attempt = await attack.open(target, signal)
      while (!signal.aborted) {
        const code = await attempt()
        said.set(code, (said.get(code) ?? 0) + 1)
      }
    } catch (error) {
      // A connection that is cut while it is written to tells no code.
      if (!signal.aborted) said.set(codeOf(error), (said.get(codeOf(error)) ?? 0) + 1)
    }
  }
}

function codeOf(error: unknown): string {
  const { cause = error } = error as { readonly cause?: unknown }
  return (cause as { readonly code?: string }).code ?? String(cause)
}

const alone: Record<string, Figures> = {}
const beside: Record<string, Figures> = {}
// Twice: what comes first compiles what the others run.
await steady()
alone['nobody'] = await steady()
for (const attack of attacks.filter(({ title }) => title.includes(options.only))) {
  const stop = new AbortController()
  const said = new Map<string, number>()
  const startMs = performance.now()
  const before = await gateway.usage()
  const lanes = Array.from({ length: attack.lanes }, () => attackOn(attack, stop.signal, said))
  const figures = await steady()
  const elapsedMs = performance.now() - startMs
  const after = await gateway.usage()
  const usedMs = after.cpuMs - before.cpuMs
  stop.abort()
  await Promise.all(lanes)
  const attempts = [...said.values()].reduce((sum, count) => sum + count, 0)
  const codes = [...said].toSorted(([, a], [, b]) => b - a).map(([code]) => code)
  const title = `${attack.title}, ${attack.transport}: ${codes.join(', ') || 'held'}`
  beside[title] = {
    ...figures,
    'attempts/s': (attempts * 1_000) / elapsedMs,
    'gatewayCpu%': (usedMs * 100) / elapsedMs,
    rssMiB: after.rssBytes / mebibyte,
    'rssMiB more': (after.rssBytes - before.rssBytes) / mebibyte,
  }
  console.log(title, beside[title])
}
alone['nobody, afterwards'] = await steady()
await rm(folder, { recursive: true })
publish(
  'attacks',
  [
    { title: `A page of 20 of ${options.pods} pods, ${options.rate} times a second`, rows: alone },
    { title: 'The same beside an attack, and what that is answered with', rows: beside },
  ],
  [
    'each attack: 16 connections, or 60 of those that only wait, which begin anew as soon as they are answered; one known user',
    'attempts/s, and gatewayCpu% of one core, with the pages of the user, include the time in which that process starts',
    'rssMiB: resident memory of the gateway at the end of the attack, and how much it grew in it; one process for all attacks',
  ],
  { record: options.record },
)
