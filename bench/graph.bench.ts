/**
 * `graph(depth: 4)` over many objects, from Deployments that reach at least 300 of them: beside bare node:http with
 * the same bytes:
 *
 *     npm run bench -- graph [--pods 100000] [--rounds 3] [--seconds 2] [--record]
 */
import { parseArgs } from 'node:util'
import {
  deploymentIds,
  graphOperation,
  loadGraphKinds,
  namedRelations,
} from './support/graph-operation.ts'
import { askGraphQL } from './support/graphql-client.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import type { QueryOperation } from './support/query-load.ts'
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
const fewestNodes = 300

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using plans = await startService(`${processes}/gateway.ts`, [simulator.url])
await using sameBytes = await startService(`${processes}/same-bytes.ts`, [plans.url])

const ways: Readonly<Record<string, readonly string[] | null>> = {
  'relations by name': namedRelations,
  'all relations': null,
}

await loadGraphKinds(plans.url)
const tables: ResultTable[] = []
const notes: string[] = []
for (const [way, relations] of Object.entries(ways)) {
  const { operation, nodes, edges } = await largeGraph(relations)
  const answer = await askGraphQL(plans.url, operation)
  const body = JSON.stringify(operation)
  const rows = await interleave(
    {
      'same bytes': () => ask(sameBytes, body),
      plan: () => ask(plans, body),
    },
    Number(options.rounds),
  )
  const size = `${nodes} nodes, ${edges} edges, ${Math.round(answer.length / 1000)} KB`
  tables.push({ title: `${way}: ${size}, of ${options.pods} pods`, rows })
  const p50 = (name: string): number | undefined => rows[name]?.['p50Ms']
  notes.push(
    `${way}: p50 ${p50('plan')?.toPrecision(2)} ms, ${ratio(p50('plan'), p50('same bytes'))} of the same bytes`,
  )
}
publish('graph', tables, notes, { record: options.record })

async function ask(service: Service, body: string): Promise<Figures> {
  const durationMs = Number(options.seconds) * 1000
  const load = {
    url: service.url,
    body,
    connections: 1,
    warmUpMs,
    durationMs,
    reader: 'any',
    rows: 1,
  }
  const before = await service.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [JSON.stringify(load)])
  const used = (await service.cpuMs()) - before
  const { p50Ms = 0, p99Ms = 0, 'requests/s': perSecond = 0 } = figures
  return { cpuMs: used / ((perSecond * (durationMs + warmUpMs)) / 1000), p50Ms, p99Ms }
}

interface LargeGraph {
  readonly operation: QueryOperation
  readonly nodes: number
  readonly edges: number
}

/** From as few Deployments as reach enough objects. */
async function largeGraph(relations: readonly string[] | null): Promise<LargeGraph> {
  const ids = await deploymentIds(plans.url, 100)
  for (let count = 1; count <= ids.length; count++) {
    const operation = graphOperation(ids.slice(0, count), relations)
    const answer = JSON.parse(await askGraphQL(plans.url, operation)) as {
      data: { graph: { nodes: unknown[]; edges: unknown[] } }
    }
    const { nodes, edges } = answer.data.graph
    if (nodes.length >= fewestNodes) {
      return { operation, nodes: nodes.length, edges: edges.length }
    }
  }
  throw new Error(`the Deployments do not reach ${fewestNodes} objects`)
}
