/**
 * The query engine over many pods: the gateway's CPU time per request, beside the same reads by graphql-js behind yoga as it
 * comes, beside bare node:http with the same bytes, and for filtered and ordered pages beside plain objects:
 *
 *     npm run bench -- plans [--pods 100000] [--rounds 3] [--seconds 3] [--record]
 *
 * Between the rounds a tenth of the pods is changed. `cold` are selections that nobody has asked before.
 */
import { parseArgs } from 'node:util'
import { ListClient } from './support/list-client.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { coldQuestions, queryQuestions, type QueryQuestion } from './support/query-load.ts'
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
const warmUpMs = 1000
const durationMs = Number(options.seconds) * 1000

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using plans = await startService(`${processes}/gateway.ts`, [simulator.url])
await using graphqlJs = await startService(`${processes}/gateway.ts`, [simulator.url, 'yoga'])
await using sameBytes = await startService(`${processes}/same-bytes.ts`, [plans.url])
await using plainObjects = await startService(`${processes}/plain-objects.ts`, [simulator.url])

interface Contender {
  readonly service: Service
  readonly url: string
  readonly body?: string
}

async function ask({ service, url, body }: Contender, connections: number): Promise<Figures> {
  const load = { url, connections, warmUpMs, durationMs, reader: 'any', rows: 1 }
  const before = await service.cpuMs()
  const whole = body === undefined ? load : { ...load, body }
  const figures = await measure(`${processes}/load.ts`, [JSON.stringify(whole)])
  const used = (await service.cpuMs()) - before
  const requests = ((figures['requests/s'] ?? 0) * (durationMs + warmUpMs)) / 1000
  const { p50Ms = 0, p99Ms = 0, 'requests/s': perSecond = 0 } = figures
  return { cpuMs: used / requests, p50Ms, p99Ms, 'requests/s': perSecond }
}

/** Asked one after the other, each once. */
async function askOnce(service: Service, questions: readonly QueryQuestion[]): Promise<Figures> {
  const before = await service.cpuMs()
  const started = performance.now()
  for (const question of questions) await answer(service.url, question)
  const cpuMs = ((await service.cpuMs()) - before) / questions.length
  return { cpuMs, p50Ms: (performance.now() - started) / questions.length }
}

async function answer(url: string, question: QueryQuestion): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(question) })
  const text = await response.text()
  if (!response.ok || text.includes('"errors"')) throw new Error(text.slice(0, 500))
  return text
}

/** Changes every tenth pod, so that what is kept of it is of no more use. */
async function changeTenth(): Promise<void> {
  const client = new ListClient(simulator.url, 16)
  const { data } = JSON.parse(
    await answer(plans.url, {
      query: '{ namespaces(first: 500) { nodes { metadata { name } } } }',
    }),
  ) as { data: { namespaces: { nodes: { metadata: { name: string } }[] } } }
  const stamp = String(Date.now())
  for (const { metadata } of data.namespaces.nodes) {
    const path = `/api/v1/namespaces/${metadata.name}/pods`
    const { items } = JSON.parse(await client.text(path)) as {
      items: readonly { metadata: { name: string } }[]
    }
    const tenth = items.filter((_, at) => at % 10 === 0)
    for (let at = 0; at < tenth.length; at += 16) {
      await Promise.all(
        tenth.slice(at, at + 16).map(({ metadata: pod }) =>
          fetch(`${simulator.url}${path}/${pod.name}`, {
            method: 'PATCH',
            headers: { 'content-type': 'application/merge-patch+json' },
            body: JSON.stringify({ metadata: { annotations: { 'bench/changed': stamp } } }),
          }),
        ),
      )
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000))
}

async function subjects() {
  const text = await answer(plans.url, {
    query: `{ pods(first: 1, where: { phase: { eq: "Running" } }) { nodes { metadata { name namespace } spec { nodeName } } }
      deployments(first: 300) { nodes { metadata { name namespace } pods(first: 1) { totalCount } } } }`,
  })
  const { data } = JSON.parse(text) as {
    data: {
      pods: { nodes: { metadata: Record<string, string>; spec: { nodeName: string } }[] }
      deployments: { nodes: { metadata: Record<string, string>; pods: { totalCount: number } }[] }
    }
  }
  const [pod] = data.pods.nodes
  const found = data.deployments.nodes.find(({ pods }) => pods.totalCount >= 20)
  if (pod === undefined || found === undefined) throw new Error('no pod, or no large Deployment')
  return {
    namespace: pod.metadata['namespace'] ?? '',
    pod: pod.metadata['name'] ?? '',
    nodeName: pod.spec.nodeName,
    deploymentNamespace: found.metadata['namespace'] ?? '',
    deployment: found.metadata['name'] ?? '',
  }
}

const tables: ResultTable[] = []
const notes: string[] = []
for (const [title, question] of Object.entries(queryQuestions(await subjects()))) {
  const body = JSON.stringify(question)
  const [own, other] = [await answer(plans.url, question), await answer(graphqlJs.url, question)]
  if (own !== other) throw new Error(`${title}: the answers differ`)
  const connections = title.startsWith('one pod') ? 32 : 1
  const plain = title.includes('90 %')
    ? '/running'
    : title.includes('a few %')
      ? '/broken'
      : undefined
  await changeTenth()
  const rows = await interleave(
    {
      'same bytes (a)': () => ask({ service: sameBytes, url: sameBytes.url, body }, connections),
      plan: () => ask({ service: plans, url: plans.url, body }, connections),
      'graphql-js (b)': () => ask({ service: graphqlJs, url: graphqlJs.url, body }, connections),
      ...(plain === undefined
        ? {}
        : {
            'plain objects (c)': () =>
              ask({ service: plainObjects, url: `${plainObjects.url}${plain}` }, connections),
          }),
    },
    Number(options.rounds),
  )
  tables.push({ title: `${title}, warm, ${connections} connections`, rows })
  const cpu = (name: string): number | undefined => rows[name]?.['cpuMs']
  const [plan, floor, js] = [cpu('plan'), cpu('same bytes (a)'), cpu('graphql-js (b)')]
  const sorted =
    plain === undefined ? '' : `, ${ratio(cpu('plain objects (c)'), plan)} less than (c)`
  notes.push(`${title}: ${ratio(plan, floor)} of (a), ${ratio(js, plan)} less than (b)${sorted}`)
}
for (const [first, count] of [
  [100, 50],
  [5000, 10],
] as const) {
  const questions = coldQuestions(count, first)
  // graphql-js first, so that both have what they need in place.
  const js = await askOnce(graphqlJs, questions)
  const plan = await askOnce(plans, questions)
  tables.push({ title: `${first} pods, 10 fields, cold`, rows: { plan, 'graphql-js (b)': js } })
  notes.push(`${first} pods, cold: ${ratio(js['cpuMs'], plan['cpuMs'])} less than (b)`)
}
publish('plans', tables, notes, { record: options.record })
