/**
 * What one writes by hand to search pods: their names, labels, addresses and images in an array, which each request filters and
 * sorts. Argument: the API server's URL. Answers `search` and `complete` of the benchmark `search`, and tells its parent `{ url }`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ListClient } from '../support/list-client.ts'
import { serveParent } from '../support/service.ts'

interface ScannedPod {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly others: readonly string[]
}

interface ListedPod {
  readonly metadata: {
    readonly namespace: string
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: { readonly containers: readonly { readonly image: string }[] }
  readonly status: { readonly podIPs?: readonly { readonly ip: string }[] }
}

interface Asked {
  readonly text: string
  readonly namespaces?: readonly string[]
}

const [api = ''] = process.argv.slice(2)
const pods = await listPods()

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly query: string
      readonly variables: Asked
    }
    const data = query.includes('complete(') ? complete(variables) : search(variables)
    const body = Buffer.from(JSON.stringify({ data }))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
await serveParent({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` })
server.closeAllConnections()
server.close()

async function listPods(): Promise<readonly ScannedPod[]> {
  const client = new ListClient(api, 1)
  const all: ScannedPod[] = []
  let next = ''
  do {
    const path = `/api/v1/pods?limit=1000&continue=${encodeURIComponent(next)}`
    const list = JSON.parse(await client.text(path)) as {
      readonly metadata: { readonly continue?: string }
      readonly items: readonly ListedPod[]
    }
    for (const { metadata, spec, status } of list.items) {
      const { namespace, name, labels = {} } = metadata
      const images = spec.containers.map(({ image }) => image)
      const others = [...(status.podIPs ?? []).map(({ ip }) => ip), ...images]
      all.push({ namespace, name, labels, others })
    }
    next = list.metadata.continue ?? ''
  } while (next !== '')
  return all
}

function search({ text, namespaces }: Asked): object {
  const words = text.toLowerCase().split(' ')
  const found = pods.flatMap((pod) => {
    if (namespaces?.includes(pod.namespace) === false) return []
    const ranks = words.map((word) => rankOf(word, pod))
    return ranks.includes(9) ? [] : { pod, rank: Math.max(...ranks) }
  })
  found.sort(
    (a, b) =>
      a.rank - b.rank ||
      compare(a.pod.namespace, b.pod.namespace) ||
      compare(a.pod.name, b.pod.name),
  )
  const nodes = found.slice(0, 20).map(({ pod: { namespace, name } }) => {
    return { object: { namespace, name } }
  })
  return { search: { totalCount: found.length, nodes } }
}

function rankOf(word: string, { name, labels, others }: ScannedPod): number {
  const [key, value] = word.split('=')
  if (key !== undefined && value !== undefined) return labels[key] === value ? 0 : 9
  const own = qualityOf(word, name)
  if (own < 9) return own
  let best = 9
  for (const one of Object.values(labels)) best = Math.min(best, 3 + qualityOf(word, one))
  for (const one of others) best = Math.min(best, 3 + qualityOf(word, one))
  return Math.min(best, 9)
}

function qualityOf(word: string, value: string): number {
  const at = value.toLowerCase().indexOf(word)
  return at < 0 ? 9 : at > 0 ? 2 : value.length === word.length ? 0 : 1
}

function complete({ text, namespaces }: Asked): object {
  const [key = '', start] = text.split('=')
  const found = new Set<string>()
  for (const pod of pods) {
    if (namespaces?.includes(pod.namespace) === false) continue
    if (start !== undefined) {
      const value = pod.labels[key]
      if (value?.startsWith(start) === true) found.add(`${key}=${value}`)
      continue
    }
    if (pod.name.startsWith(text)) found.add(pod.name)
    if (pod.namespace.startsWith(text)) found.add(`namespace:${pod.namespace}`)
    for (const [label, value] of Object.entries(pod.labels)) {
      if (label.startsWith(text)) found.add(`${label}=`)
      if (value.startsWith(text)) found.add(`${label}=${value}`)
    }
  }
  const completions = [...found]
    .toSorted(compare)
    .slice(0, 10)
    .map((insert) => ({ insert }))
  return { complete: { completions } }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
