import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from 'informerql'
import { startSimulator, type SimulatorOptions, type SimulatorUser } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import type { ControlPlane } from '../support/control-plane.ts'

/** Any JSON object of an API server, as tests read it. */
// oxlint-disable-next-line typescript/no-explicit-any -- objects are read by the names that the API gives them
export type Fields = any

export interface RawRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
}

export interface RawAnswer {
  readonly status: number
  readonly text: string
  readonly json: () => Fields
}

type ClusterSelection = Omit<GatewayOptions['clusters'][number], 'name'>

/** A cluster to point a gateway at, and its raw API beside it. */
export interface TestCluster extends AsyncDisposable {
  readonly selection: ClusterSelection
  readonly isSimulated: boolean
  /** As the administrator. */
  readonly request: (path: string, options?: RawRequest) => Promise<RawAnswer>
  /** What the cluster is reached with by somebody else. */
  readonly selectionFor: (user: TestUser) => Promise<ClusterSelection>
  /**
   * Breaks every connection and refuses new ones for a while. `meanwhile` may put pods past the API. With
   * `forgetHistory`, all that went before is 410 afterwards.
   */
  readonly outage: (options: Outage) => Promise<void>
}

export interface Outage {
  readonly forgetHistory: boolean
  readonly meanwhile?: (putPod: (pod: Fields) => Promise<void>) => Promise<void>
}

/** Somebody who may list and watch everything but Secrets and Deployments. */
export interface TestUser {
  readonly token: string
  readonly user: string
}

/** Sends a request that has to succeed. */
export const must = async (
  cluster: Pick<TestCluster, 'request'>,
  path: string,
  options?: RawRequest,
): Promise<Fields> => {
  const answer = await cluster.request(path, options)
  const json = answer.json()
  expect(
    answer.status,
    `${options?.method ?? 'GET'} ${path}: ${JSON.stringify(json)}`,
  ).toBeLessThan(300)
  return json
}

/** A whole LIST, in pages so that it takes the same way as a large one. */
export const listAll = async (cluster: TestCluster, path: string): Promise<readonly Fields[]> => {
  const items: Fields[] = []
  let token = ''
  do {
    const query = new URLSearchParams({
      limit: '400',
      ...(token === '' ? {} : { continue: token }),
    })
    const page = await must(cluster, `${path}?${query}`)
    items.push(...page.items)
    token = page.metadata.continue ?? ''
  } while (token !== '')
  return items
}

/** Runs `work` for each item, some at a time. */
export const inParallel = async <T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  lanes = 12,
): Promise<void> => {
  const rest = items[Symbol.iterator]()
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** What RBAC forbids a {@link TestUser}, and nothing else. */
export const forbiddenResources: readonly string[] = ['secrets', 'deployments.apps']

/** A kubeconfig for one server and one token. */
export const kubeconfigText = (server: string, token: string): string =>
  JSON.stringify({
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })

const administrator: SimulatorUser = { token: 'admin-token', user: 'admin' }
/** Longer than the pauses between a client's attempts. */
const outageMs = 700

/** A simulated API server, reached through a kubeconfig file. */
export const startSimulatedCluster = async (
  options: SimulatorOptions = {},
  users: readonly TestUser[] = [],
): Promise<TestCluster> => {
  const simulator = await startSimulator({
    ...options,
    users: [administrator, ...users.map((user) => ({ ...user, denied: forbiddenResources }))],
  })
  const dir = await mkdtemp(join(tmpdir(), 'informerql-gateway-'))
  const selectionFor = async ({ token, user }: TestUser): Promise<ClusterSelection> => {
    const kubeconfig = join(dir, `${user}.json`)
    await writeFile(kubeconfig, kubeconfigText(simulator.url, token))
    return { kubeconfig }
  }
  return {
    selection: await selectionFor(administrator),
    isSimulated: true,
    selectionFor,
    request: async (
      path,
      { method = 'GET', body, contentType = 'application/json', accept } = {},
    ) => {
      const response = await fetch(new URL(path, simulator.url), {
        method,
        headers: {
          authorization: `Bearer ${administrator.token}`,
          ...(accept === undefined ? {} : { accept }),
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      })
      const text = await response.text()
      return { status: response.status, text, json: () => JSON.parse(text) }
    },
    outage: async ({ forgetHistory, meanwhile }) => {
      const pods = { group: '', version: 'v1', resource: 'pods' }
      simulator.faults.inject({ fault: { type: 'refuse-connections', forMs: outageMs } })
      await meanwhile?.(async (pod: Fields) => {
        const { namespace, name } = pod.metadata
        if (simulator.storage.get(pods, namespace, name) !== undefined)
          simulator.storage.delete(pods, namespace, name)
        simulator.storage.create(pods, pod)
      })
      if (forgetHistory) simulator.faults.inject({ fault: { type: 'compact-history' } })
      await sleep(outageMs)
    },
    [Symbol.asyncDispose]: async () => {
      await simulator[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

const groupReader = 'gateway-tests'

/** Lets the test users read all but what is forbidden them. RBAC only adds, so the rest is spelled out. */
const grant = async (plane: ControlPlane): Promise<void> => {
  const rules = [
    { apiGroups: [''], resources: ['pods', 'nodes', 'services', 'configmaps', 'events'] },
    { apiGroups: ['apps'], resources: ['replicasets', 'statefulsets'] },
  ]
  const role = {
    metadata: { name: groupReader },
    rules: rules.map((rule) => ({ ...rule, verbs: ['list', 'watch'] })),
  }
  const binding = {
    metadata: { name: groupReader },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: groupReader },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: groupReader }],
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  for (const [path, body] of [
    [`${rbac}/clusterroles`, role],
    [`${rbac}/clusterrolebindings`, binding],
  ] as const) {
    const { status, text } = await plane.request(path, { method: 'POST', body })
    expect(status, text).toBe(201)
  }
}

const realCluster = (plane: ControlPlane): TestCluster => ({
  selection: { kubeconfig: plane.kubeconfigPath },
  isSimulated: false,
  request: plane.request,
  selectionFor: async ({ token }) => ({ kubeconfig: await plane.kubeconfigFor(token) }),
  outage: async ({ forgetHistory, meanwhile }) => {
    await plane.killServer()
    await meanwhile?.(async (pod: Fields) => {
      const { namespace, name } = pod.metadata
      await plane.put(`/registry/pods/${namespace}/${name}`, pod)
    })
    if (forgetHistory) await plane.compact()
    await plane.startServer()
  },
  [Symbol.asyncDispose]: async () => {},
})

export interface ClusterSuiteOptions {
  readonly simulator?: SimulatorOptions
  readonly users?: readonly TestUser[]
}

/** Declares a suite twice: for the simulator, and for a real API server where there is one. */
export const describeClusters = (
  name: string,
  body: (cluster: () => TestCluster) => void,
  { simulator = {}, users = [] }: ClusterSuiteOptions = {},
): void => {
  describe(`${name}, on the simulator`, () => {
    let cluster: TestCluster
    beforeAll(async () => {
      cluster = await startSimulatedCluster(simulator, users)
    })
    afterAll(async () => cluster[Symbol.asyncDispose]())
    body(() => cluster)
  })
  describeWithControlPlane(
    name,
    (plane) => {
      let cluster: TestCluster
      beforeAll(async () => {
        cluster = realCluster(plane())
        if (users.length > 0) await grant(plane())
      })
      body(() => cluster)
    },
    { tokens: users.map((one) => ({ ...one, uid: one.user, groups: [groupReader] })) },
  )
}
