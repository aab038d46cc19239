/**
 * Writes to a real API server through a gateway, each followed at once by a list, beside the same patches sent to the API server itself.
 * Arguments: writes, callers at a time. Reports milliseconds: the whole mutation, the part of it that waits until the cache has the write,
 * and the bare patch.
 */
import {
  createGateway,
  defaultServerOptions,
  startGraphQLServer,
  type WriteReport,
} from '../../src/index.ts'
import { startControlPlane } from '../../test/support/control-plane.ts'
import { Latencies } from '../support/latencies.ts'

const [count = '1000', lanes = '1'] = process.argv.slice(2)
await using plane = await startControlPlane()
const waits = new Latencies()
const audit = {
  answered() {},
  wrote: ({ code, waitedMs }: WriteReport): void => {
    if (code === '') waits.add(waitedMs)
  },
}
await using gateway = await createGateway({
  clusters: [{ name: 'real', kubeconfig: plane.kubeconfigPath }],
  allowWrites: true,
  writes: { writesPerMinute: 1_000_000 },
  audit,
})
const log = { warn() {}, error: console.error }
await using server = await startGraphQLServer({
  server: { ...defaultServerOptions(), port: 0 },
  plugins: [gateway.plugin],
  planned: gateway.planned,
  readiness: gateway.readiness,
  log,
})

async function ask(query: string, variables: object = {}): Promise<Record<string, never>> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = (await response.json()) as { data: never; errors?: unknown }
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return data
}

interface Listed {
  readonly configMaps: {
    readonly nodes: readonly { readonly name: string; readonly data: { readonly at?: string } }[]
  }
}

const names = Array.from({ length: 20 }, (_, at) => `bench-${at}`)
const applied = (await ask(
  'mutation ($manifest: JSON!) { apply(manifest: $manifest, namespace: "default") { object { id name } } }',
  {
    manifest: names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
  },
)) as unknown as { apply: readonly { object: { id: string; name: string } }[] }
const ids = new Map(applied.apply.map(({ object }) => [object.name, object.id]))
const list = '{ configMaps(namespace: "default") { nodes { name data } } }'
await ask(list)

const mutations = new Latencies()
const patches = new Latencies()
let older = 0
let written = 0

async function writeAndList(lane: number): Promise<void> {
  while (written < Number(count)) {
    const at = written++
    // Lanes have names of their own, so that each knows what it has written last.
    const name = names[lane % names.length] ?? ''
    const began = performance.now()
    await ask(
      'mutation ($id: ID!, $patch: JSON!) { patch(id: $id, type: MERGE, patch: $patch) { behind } }',
      { id: ids.get(name), patch: { data: { at: String(at) } } },
    )
    mutations.add(performance.now() - began)
    const { configMaps } = (await ask(list)) as unknown as Listed
    if (configMaps.nodes.find((one) => one.name === name)?.data.at !== String(at)) older += 1
    const direct = performance.now()
    await plane.request(`/api/v1/namespaces/default/configmaps/direct-${lane}?fieldManager=bench`, {
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `direct-${lane}` },
        data: { at: String(at) },
      },
    })
    patches.add(performance.now() - direct)
  }
}

await Promise.all(Array.from({ length: Number(lanes) }, (_, lane) => writeAndList(lane)))
console.log(
  JSON.stringify({
    writeP50Ms: mutations.percentile(0.5),
    writeP99Ms: mutations.percentile(0.99),
    waitP50Ms: waits.percentile(0.5),
    waitP99Ms: waits.percentile(0.99),
    directP50Ms: patches.percentile(0.5),
    directP99Ms: patches.percentile(0.99),
    olderLists: older,
  }),
)
