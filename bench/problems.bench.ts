/**
 * `problems` over many pods of which some are broken, beside the list of the broken pods, which a client folds itself by their
 * owners; and what a change of a broken pod costs, without a subscriber, and with one to the list or to `problems`. Beside
 * the pods are Services, Ingresses, and Deployments that refer to a ConfigMap and a Secret: what is wrong between them is
 * looked for, too, and a hundredth of each is wrong.
 *
 *     npm run bench -- problems [--pods 100000] [--broken 500] [--related 2000] [--rounds 3] [--seconds 3] [--changes 500] [--record]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { askGraphQL } from './support/graphql-client.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    broken: { type: 'string', default: '500' },
    related: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    changes: { type: 'string', default: '500' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const warmUpMs = 500
const changesPerSecond = 50
/** The number of annotations so far: each is another change. */
let annotated = 0

interface PodName {
  readonly namespace: string
  readonly name: string
}

const row = 'id severity reason message since count ready wanted object { kind namespace name }'
const problems = `{ problems(first: 100) { totalCount nodes { ${row} } } }`
const noticed = `{ problems(first: 100) { totalCount nodes { ${row} behind { kind name } } } }`
const listed = `{ pods(where: { health: { eq: DEGRADED } }, first: ${Number(options.broken) + 500}) { totalCount
  nodes { metadata { namespace name } health { reason message } rootOwner { kind namespace name } } } }`

const livePods = `subscription { pods(where: { health: { eq: DEGRADED } }) {
  reset changes { type objectId object { id name namespace health { reason message } } } } }`
const problemFrames = `reset totalCount changes { type objectId object { ${row} } }`
const liveProblems = `subscription { problems(first: 100) { ${problemFrames} } }`
const gatheredProblems = `subscription { problems(first: 100, coalesceMs: 200) { ${problemFrames} } }`

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])

const pods = await somePods(Number(options.broken))
const healthy = await somePods(Number(options.broken), 1)
for (const pod of pods) await breakPod(pod, 'CrashLoopBackOff')
await relate(Number(options.related))
// The first request loads the kinds and builds the index.
console.log((await askGraphQL(gateway.url, { query: problems })).slice(0, 60))
console.log((await askGraphQL(gateway.url, { query: listed })).slice(0, 60))

const queries = await interleave(
  {
    problems: () => ask(problems),
    'problems, and who notices them': () => ask(noticed),
    'problems, while pods come and go': () => coming(() => ask(problems)),
    'the broken pods, to fold': () => ask(listed),
  },
  Number(options.rounds),
)
const changes = await interleave(
  {
    'of a broken pod, without a subscriber': () => change(),
    'of a broken pod, with a subscriber to the broken pods': () =>
      subscribed(livePods, () => change()),
    'of a broken pod, with a subscriber to problems': () =>
      subscribed(liveProblems, () => change()),
    'of a broken pod, as fast as they come, without a subscriber': () => change(breakAgain, 0),
    'of a broken pod, as fast as they come, with a subscriber to problems': () =>
      subscribed(gatheredProblems, () => change(breakAgain, 0)),
    'of a healthy pod, without a subscriber': () => change(annotate),
    'of a healthy pod, with a subscriber to problems': () =>
      subscribed(liveProblems, () => change(annotate)),
  },
  Number(options.rounds),
)

const tables: ResultTable[] = [
  { title: `first 100 problems, ${options.broken} of ${options.pods} pods broken`, rows: queries },
  { title: `a change, ${changesPerSecond} a second unless said otherwise`, rows: changes },
]
const [own, list] = [queries['problems'], queries['the broken pods, to fold']]
const more = (of: string, to: string): string => {
  const costOf = (title: string): number => changes[`${of}, ${title}`]?.['cpuUs'] ?? 0
  return (costOf(`with a subscriber to ${to}`) - costOf('without a subscriber')).toFixed(0)
}
const notes = [
  `the first page takes ${own?.['cpuMs']?.toPrecision(2)} ms CPU, ${ratio(list?.['cpuMs'], own?.['cpuMs'])} less than the list of the broken pods`,
  `a subscriber to problems costs ${more('of a healthy pod', 'problems')} us CPU for a change of a healthy pod; ${more('of a broken pod, as fast as they come', 'problems')} us for one of a broken pod where a frame has those of 200 ms, and ${more('of a broken pod', 'problems')} us where each change has a frame of its own; a subscriber to the list of broken pods then costs ${more('of a broken pod', 'the broken pods')} us`,
]
publish('problems', tables, notes, { record: options.record })

async function ask(query: string): Promise<Figures> {
  const body = JSON.stringify({ query })
  const durationMs = Number(options.seconds) * 1000
  const load = { connections: 1, warmUpMs, durationMs, reader: 'any', rows: 1 }
  const before = await gateway.cpuMs()
  const figures = await measure(`${processes}/load.ts`, [
    JSON.stringify({ url: gateway.url, body, ...load }),
  ])
  const used = (await gateway.cpuMs()) - before
  const { p50Ms = 0, p99Ms = 0, asked = 1 } = figures
  return { cpuMs: used / asked, p50Ms, p99Ms }
}

/** The CPU time of the gateway for a change, in microseconds. */
async function change(make = breakAgain, gapMs = 1000 / changesPerSecond): Promise<Figures> {
  const count = Number(options.changes)
  const before = await gateway.cpuMs()
  for (let at = 0; at < count; at++) {
    await make(at)
    if (gapMs > 0) await sleep(gapMs)
  }
  await sleep(500)
  return { cpuUs: (((await gateway.cpuMs()) - before) * 1000) / count }
}

async function subscribed(query: string, work: () => Promise<Figures>): Promise<Figures> {
  const client = createClient({ url: gateway.url.replace('http', 'ws'), webSocketImpl: WebSocket })
  const frames = client.iterate({ query })
  await frames.next()
  const reading = (async () => {
    for await (const _ of frames);
  })()
  try {
    return await work()
  } finally {
    await frames.return?.()
    await reading
    await client.dispose()
  }
}

/** Makes pods and deletes them during some work: what was found between objects must be found again. */
async function coming(work: () => Promise<Figures>): Promise<Figures> {
  const [{ namespace } = { namespace: 'default' }] = pods
  const path = `/api/v1/namespaces/${namespace}/pods`
  const over = new AbortController()
  const churn = (async () => {
    for (let at = 0; !over.signal.aborted; at += 1) {
      const name = `coming-${at % 2}`
      const spec = { containers: [{ name: 'main', image: 'main' }] }
      await send('POST', path, { metadata: { name }, spec })
      await sleep(1000 / changesPerSecond)
      await send('DELETE', `${path}/${name}`)
    }
  })()
  try {
    return await work()
  } finally {
    over.abort()
    await churn
  }
}

/** Services of some pods, Ingresses that lead to them, and Deployments with references. A hundredth refers to nothing. */
async function relate(count: number): Promise<void> {
  const namespaces = [...new Set(pods.map(({ namespace }) => namespace))]
  for (const namespace of namespaces) {
    const core = `/api/v1/namespaces/${namespace}`
    for (const kind of ['configmaps', 'secrets']) {
      await send('POST', `${core}/${kind}`, { metadata: { name: 'related' } })
    }
  }
  const labels = await Promise.all(pods.slice(0, 100).map((pod) => labelsOf(pod)))
  for (let at = 0; at < count; at += 1) {
    const name = `related-${at}`
    const { namespace, of = {} } = labels[at % labels.length] ?? { namespace: 'default' }
    const isWrong = at % 100 === 0
    const ports = [{ port: 80 }]
    await send('POST', `/api/v1/namespaces/${namespace}/services`, {
      metadata: { name },
      spec: { selector: isWrong ? { related: name } : of, ports },
    })
    const service = { name: isWrong ? `${name}-gone` : name, port: { number: 80 } }
    await send('POST', `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`, {
      metadata: { name },
      spec: { defaultBackend: { service } },
    })
    const envFrom = [
      { configMapRef: { name: isWrong ? 'related-gone' : 'related' } },
      { secretRef: { name: 'related' } },
    ]
    const selector = { deployment: name }
    await send('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name },
      spec: {
        selector: { matchLabels: selector },
        template: {
          metadata: { labels: selector },
          spec: { containers: [{ name: 'main', image: 'main', envFrom }] },
        },
      },
    })
  }
}

async function labelsOf({ namespace, name }: PodName): Promise<{
  readonly namespace: string
  readonly of?: Readonly<Record<string, string>>
}> {
  const response = await fetch(`${simulator.url}/api/v1/namespaces/${namespace}/pods/${name}`)
  const { metadata } = (await response.json()) as {
    readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
  }
  const { 'pod-template-hash': _, ...of } = metadata.labels ?? {}
  return { namespace, of }
}

/** Pods all over the cluster. */
async function somePods(count: number, from = 0): Promise<readonly PodName[]> {
  const found: PodName[] = []
  const every = Math.max(1, Math.floor(Number(options.pods) / count))
  for (let offset = from; found.length < count && offset < Number(options.pods); offset += every) {
    const query = `{ pods(first: 1, offset: ${offset}) { nodes { namespace name } } }`
    const { data } = JSON.parse(await askGraphQL(gateway.url, { query })) as {
      data: { pods: { nodes: readonly PodName[] } }
    }
    found.push(...data.pods.nodes)
  }
  return found
}

/** Breaks a pod for the other reason. */
async function breakAgain(at: number): Promise<void> {
  const pod = pods[at % pods.length]
  const round = Math.floor(at / pods.length)
  const reason = (round + at) % 2 === 0 ? 'ImagePullBackOff' : 'CrashLoopBackOff'
  if (pod !== undefined) await breakPod(pod, reason)
}

/** Annotates a pod that is not broken. */
async function annotate(at: number): Promise<void> {
  const pod = healthy[at % healthy.length]
  annotated += 1
  const annotations = { 'bench/at': `${annotated}` }
  if (pod !== undefined) await patch(pod, '', { metadata: { annotations } })
}

async function breakPod({ namespace, name }: PodName, reason: string): Promise<void> {
  const state = { waiting: { reason, message: `back-off of ${name}` } }
  const main = { name: 'main', image: 'main', imageID: '', ready: false, restartCount: 3, state }
  const ready = { type: 'Ready', status: 'False', lastTransitionTime: new Date().toISOString() }
  const status = { phase: 'Running', conditions: [ready], containerStatuses: [main] }
  await patch({ namespace, name }, '/status', { status })
}

async function patch({ namespace, name }: PodName, part: string, body: object): Promise<void> {
  await send('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}${part}`, body)
}

async function send(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const response = await fetch(simulator.url + path, {
    method,
    ...(body && { headers: { 'content-type': type }, body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  await response.arrayBuffer()
}
