import { afterAll, beforeAll, vi } from 'vitest'
import type { GatewayOptions } from 'informerql'
import { makeNamespaces } from '../gateway/random-writes.ts'
import { must, startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { createProject, type Project } from './project.ts'

/** The namespace of the shop. */
export const shop = 'shop'
/** The names of its pods, all of them on the node `n-0`. */
export const podNames: readonly string[] = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(
  (letter) => `web-${letter}`,
)

/** A part of the schema, as the portal of a shop would have it. */
export const profile: NonNullable<GatewayOptions['profile']> = {
  include: { kinds: ['Pod', 'Node', 'Namespace', 'ReplicaSet', 'Deployment'] },
  descriptions: false,
}

/** A cluster with a few pods, a gateway to it, and the folder of a front end. */
export interface Shop {
  readonly cluster: TestCluster
  readonly gateway: ServedGateway
  readonly project: Project
  /** What `informerql schema` prints of this gateway's schema. */
  readonly schema: (...flags: readonly string[]) => Promise<string>
  readonly addPod: (name: string) => Promise<void>
  readonly deletePod: (name: string) => Promise<void>
  /** Gives a pod the label `app`; at first it is `web` for all. */
  readonly labelPod: (name: string, app: string) => Promise<void>
  /** Gives a pod the label `note`. */
  readonly notePod: (name: string, note: string) => Promise<void>
}

const pods = `/api/v1/namespaces/${shop}/pods`

/** What owns the pods. */
const replicaSet = 'web'

async function addReplicaSet(cluster: TestCluster): Promise<string> {
  const labels = { app: 'web' }
  const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
  const template = { metadata: { labels }, spec }
  const body = {
    metadata: { name: replicaSet },
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
  }
  const path = `/apis/apps/v1/namespaces/${shop}/replicasets`
  const made = await must(cluster, path, { method: 'POST', body })
  return made.metadata.uid
}

async function addPod(cluster: TestCluster, name: string, uid: string): Promise<void> {
  const containers = [{ name: 'main', image: 'nginx:1' }]
  const body = {
    metadata: {
      name,
      labels: { app: 'web' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: replicaSet, uid, controller: true },
      ],
    },
    spec: { nodeName: 'n-0', containers },
  }
  await must(cluster, pods, { method: 'POST', body })
}

async function openShop(options: Partial<GatewayOptions>): Promise<Shop & AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const cluster = parts.use(await startSimulatedCluster())
  await makeNamespaces(cluster, [shop])
  await must(cluster, '/api/v1/nodes', { method: 'POST', body: { metadata: { name: 'n-0' } } })
  const owner = await addReplicaSet(cluster)
  for (const name of podNames) await addPod(cluster, name, owner)
  const clusters = [{ name: 'default', ...cluster.selection }]
  const gateway = parts.use(await serveGateway({ profile, ...options, clusters }))
  const project = parts.use(await createProject())
  await project.write('informerql.yaml', JSON.stringify({ profile, clusters }))
  const label = (name: string, labels: object): Promise<void> =>
    must(cluster, `${pods}/${name}`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels } },
    })
  const all = parts.move()
  return {
    cluster,
    gateway,
    project,
    schema: (...flags) => project.informerql('schema', '--config', 'informerql.yaml', ...flags),
    addPod: (name) => addPod(cluster, name, owner),
    deletePod: (name) =>
      must(cluster, `${pods}/${name}?gracePeriodSeconds=0`, { method: 'DELETE' }),
    labelPod: (name, app) => label(name, { app }),
    notePod: (name, note) => label(name, { note }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Opens a shop for the tests of a suite. */
export function shopForTests(options: Partial<GatewayOptions> = {}): () => Shop {
  let opened: (Shop & AsyncDisposable) | undefined
  beforeAll(async () => {
    opened = await openShop(options)
  })
  afterAll(async () => opened?.[Symbol.asyncDispose]())
  return () => {
    if (opened === undefined) throw new Error('the shop opens before the first test')
    return opened
  }
}

/** What a library says on the console while it is watched. */
export function watchConsole(): { readonly lines: readonly string[] } & Disposable {
  const lines: string[] = []
  const spies = (['warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => {
      lines.push(parts.map(String).join(' '))
    }),
  )
  return { lines, [Symbol.dispose]: () => spies.forEach((spy) => spy.mockRestore()) }
}

/** A `fetch` with the headers that browsers add for a page of the gateway's own origin, and the methods that it was used with. */
export function pageFetch(): { readonly fetch: typeof fetch; readonly methods: string[] } {
  const methods: string[] = []
  return {
    methods,
    fetch: async (input, init) => {
      methods.push(init?.method ?? 'GET')
      const headers = new Headers(init?.headers)
      headers.set('sec-fetch-site', 'same-origin')
      headers.set('sec-fetch-dest', 'empty')
      return await fetch(input, { ...init, headers })
    },
  }
}
