/**
 * Pods as plain objects in an array, filtered, sorted, cut and stringified for each request: what a backend does that lists
 * everything. Arguments: the API server's URL. Answers `GET /running` and `GET /broken`. Tells its parent `{ url }`.
 */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { ListClient } from '../support/list-client.ts'
import type { Pod } from '../support/pod-questions.ts'
import { serveParent } from '../support/service.ts'

const [api = ''] = process.argv.slice(2)
const client = new ListClient(api, 1)
const pods: Pod[] = []
let next = ''
do {
  const page = JSON.parse(await client.text(`/api/v1/pods?limit=500${next}`)) as {
    readonly items: readonly Pod[]
    readonly metadata: { readonly continue?: string }
  }
  pods.push(...page.items)
  const { continue: token = '' } = page.metadata
  next = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
} while (next !== '')

const restarts = ({ status }: Pod): number =>
  (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0)
const byName = (a: Pod, b: Pod): number =>
  a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0
const latestFirst = (a: Pod, b: Pod): number =>
  a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1
const rowOf = ({ metadata, spec, status }: Pod): object => ({
  metadata: {
    name: metadata.name,
    namespace: metadata.namespace,
    creationTimestamp: metadata.creationTimestamp,
    label: metadata.labels?.['app.kubernetes.io/name'],
  },
  spec: {
    nodeName: spec.nodeName,
    containers: spec.containers.map(({ name, image }) => ({ name, image })),
  },
  status: {
    phase: status.phase,
    podIP: status.podIP,
    containerStatuses: status.containerStatuses?.map(({ restartCount }) => ({ restartCount })),
  },
})

const server = createServer((request, response) => {
  const running = request.url === '/running'
  const found = pods
    .filter(({ status }) => (status.phase === 'Running') === running)
    .toSorted(running ? latestFirst : (a, b) => restarts(b) - restarts(a) || byName(a, b))
    .slice(0, 100)
  const body = Buffer.from(JSON.stringify({ data: { pods: { nodes: found.map(rowOf) } } }))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
await serveParent({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
server.closeAllConnections()
server.close()
