/**
 * Questions about pods, asked of the gateway and, by a good plain client (a limit, a selector, kept connections), of the
 * API server itself:
 *
 *     npm run bench -- query [--pods 10000] [--rounds 3] [--seconds 5] [--record]
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { ListClient } from './support/list-client.ts'
import type { Load } from './support/load.ts'
import { podByName, podsBySelector, podsOfNode } from './support/pod-questions.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const connectionCounts = [1, 32]
const gatewayRow = 'informerql'
const directRow = 'plain client'
const serverRow = 'API server, answers not parsed'

/** One question as each contender asks it. */
type Question = Readonly<Record<string, Pick<Load, 'url' | 'body' | 'reader' | 'rows'>>>

interface Sample {
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly spec: { readonly nodeName: string }
}

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])
const questions = await questionsOf(simulator.url, gateway.url)

const tables: ResultTable[] = []
const notes: string[] = []
for (const [title, question] of Object.entries(questions)) {
  for (const connections of connectionCounts) {
    const contenders = Object.fromEntries(
      Object.entries(question).map(([name, load]) => [name, () => ask(name, load, connections)]),
    )
    const rows = await interleave(contenders, Number(options.rounds))
    const caption = `${title}, ${connections} connection${connections === 1 ? '' : 's'}`
    tables.push({ title: caption, rows })
    const [own, direct] = [rows[gatewayRow], rows[directRow]]
    const faster = ratio(own?.['requests/s'], direct?.['requests/s'])
    const later = ratio(own?.['p50Ms'], direct?.['p50Ms'])
    notes.push(`${caption}: ${faster} the plain client's requests per second, ${later} its p50`)
  }
}
publish('query', tables, notes, { record: options.record })

async function ask(name: string, load: Question[string], connections: number): Promise<Figures> {
  const server: Service = name === gatewayRow ? gateway : simulator
  const durationMs = Number(options.seconds) * 1000
  const whole: Load = { ...load, connections, warmUpMs: 1500, durationMs }
  const before = await server.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [JSON.stringify(whole)])
  const used = (await server.cpuMs()) - before
  // The server also worked during the warm-up.
  const { asked = 0, ...rest } = figures
  return { ...rest, serverCpuMs: used / asked }
}

async function questionsOf(api: string, graphql: string): Promise<Record<string, Question>> {
  const client = new ListClient(api, 1)
  const selector = 'team=storefront'
  const query = `labelSelector=${encodeURIComponent(selector)}&limit=100`
  const selected = await list(client, query)
  const [sample] = selected
  if (sample === undefined || selected.length !== 100)
    throw new Error(`no 100 pods with ${selector}`)
  const { namespace, name } = sample.metadata
  const { nodeName } = sample.spec
  const onNode = `fieldSelector=${encodeURIComponent(`spec.nodeName=${nodeName}`)}`
  const podsOnNode = (await list(client, onNode)).length
  const ofGateway = (text: string, variables: object, rows: number): Question[string] => ({
    url: graphql,
    body: JSON.stringify({ query: text, variables }),
    reader: 'graphql',
    rows,
  })
  const ofApi = (
    path: string,
    reader: 'list' | 'object' | 'bytes',
    rows: number,
  ): Question[string] => ({ url: `${api}${path}`, reader, rows })
  return {
    '100 pods by label selector, 10 fields': {
      [gatewayRow]: ofGateway(podsBySelector, { labelSelector: selector }, 100),
      [directRow]: ofApi(`/api/v1/pods?${query}`, 'list', 100),
      [serverRow]: ofApi(`/api/v1/pods?${query}`, 'bytes', 100),
    },
    'one pod by name, 6 fields': {
      [gatewayRow]: ofGateway(podByName, { namespace, name }, 1),
      [directRow]: ofApi(`/api/v1/namespaces/${namespace}/pods/${name}`, 'object', 1),
    },
    [`the ${podsOnNode} pods of a node, 10 fields`]: {
      [gatewayRow]: ofGateway(podsOfNode, { nodeName }, podsOnNode),
      [directRow]: ofApi(`/api/v1/pods?${onNode}`, 'list', podsOnNode),
    },
  }
}

async function list(client: ListClient, query: string): Promise<readonly Sample[]> {
  const { items } = JSON.parse(await client.text(`/api/v1/pods?${query}`)) as {
    readonly items: readonly Sample[]
  }
  return items
}
