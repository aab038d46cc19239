import type { OperationReport, WriteReport } from 'informerql'
import { vi } from 'vitest'
import { type AccessCluster, rbac } from '../access/access-cluster.ts'
import { type Fields, inParallel } from '../gateway/test-cluster.ts'
import { type GatewayCaller, type GraphQLAnswer, serveGateway } from '../support/gateway.ts'

/** The namespace that these tests write to. */
export const namespace = 'shop'
export const core: string = `/api/v1/namespaces/${namespace}`
export const apps: string = `/apis/apps/v1/namespaces/${namespace}`
export const batch: string = `/apis/batch/v1/namespaces/${namespace}`

const labels = { app: 'web' }
const template = {
  metadata: { labels },
  spec: {
    containers: [
      { name: 'main', image: 'web:1' },
      { name: 'side', image: 'side:1' },
    ],
  },
}
const spec = { selector: { matchLabels: labels }, template }

/** Ann may write everything in the namespace, and patch nodes; Ben may read it; Cleo may do nothing. */
export async function populateShop({ must }: AccessCluster): Promise<void> {
  const make = (path: string, body: Fields): Promise<Fields> => must(path, { method: 'POST', body })
  const apiGroup = 'rbac.authorization.k8s.io'
  const allow = async (place: string, name: string, user: string, rules: Fields): Promise<void> => {
    const [roles, bindings, kind] = place.includes('/namespaces/')
      ? ['roles', 'rolebindings', 'Role']
      : ['clusterroles', 'clusterrolebindings', 'ClusterRole']
    await make(`${place}/${roles}`, { metadata: { name }, rules })
    await make(`${place}/${bindings}`, {
      metadata: { name },
      roleRef: { apiGroup, kind, name },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    })
  }
  await make('/api/v1/namespaces', { metadata: { name: namespace } })
  const here = `${rbac}/namespaces/${namespace}`
  const reads = ['get', 'list', 'watch']
  await allow(rbac, 'asks-who', 'gateway', [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  ])
  await allow(here, 'writes', 'ann', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  await allow(here, 'reads', 'ben', [{ apiGroups: ['*'], resources: ['*'], verbs: reads }])
  await allow(rbac, 'nodes', 'ann', [
    { apiGroups: [''], resources: ['nodes'], verbs: [...reads, 'patch'] },
    { apiGroups: [''], resources: ['pods'], verbs: reads },
  ])
  await inParallel(['deployments', 'statefulsets', 'daemonsets'], async (resource) => {
    const replicas = resource === 'daemonsets' ? {} : { replicas: 2 }
    await make(`${apps}/${resource}`, { metadata: { name: 'web' }, spec: { ...spec, ...replicas } })
  })
  const jobTemplate = {
    metadata: { labels: { from: 'nightly' } },
    spec: {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'job:1' }] },
      },
    },
  }
  await make(`${batch}/cronjobs`, {
    metadata: { name: 'nightly' },
    spec: { schedule: '0 0 * * *', jobTemplate },
  })
  await make('/api/v1/nodes', { metadata: { name: 'worker' } })
}

/**
 * Makes a pod of the namespace ready, and gives the pods of its labels a budget that lets none of them go. Returns a
 * function that says how many may.
 */
export async function guardPod(
  { must }: AccessCluster,
  {
    pod,
    labels: guarded,
  }: { readonly pod: string; readonly labels: Readonly<Record<string, string>> },
): Promise<(disruptionsAllowed: number) => Promise<void>> {
  await must(`${core}/pods/${pod}/status`, {
    method: 'PATCH',
    body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
  })
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
  const budget = { minAvailable: 1, selector: { matchLabels: guarded } }
  await must(budgets, { method: 'POST', body: { metadata: { name: pod }, spec: budget } })
  const allow = async (disruptionsAllowed: number): Promise<void> => {
    const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }
    const status = { observedGeneration: 1, disruptionsAllowed, ...counts }
    await must(`${budgets}/${pod}/status`, { method: 'PATCH', body: { status } })
  }
  await allow(0)
  return allow
}

/** A gateway that asks who its callers are, allows writes, and keeps what it reports. */
export async function serveShop(
  cluster: AccessCluster,
  options: Partial<Parameters<typeof serveGateway>[0]> = {},
): ReturnType<typeof serveGateway> {
  return await serveGateway(
    { clusters: [cluster.selection()], allowWrites: true, ...options },
    {},
    { auth: { mode: 'token-review' } },
  )
}

/** Keeps what a gateway reports of operations and writes. */
export class Reports {
  readonly operations: OperationReport[] = []
  readonly writes: WriteReport[] = []

  answered(report: OperationReport): void {
    this.operations.push(report)
  }

  wrote(report: WriteReport): void {
    this.writes.push(report)
  }
}

const payload = `{
  object { id name namespace json }
  preview { kind name namespace json }
  changes { path before after manager masked }
  resourceVersion warnings dryRun behind
}`

/** Makes one mutation, by its arguments as text. */
export async function write(
  caller: GatewayCaller,
  mutation: string,
  variables: Fields = {},
): Promise<GraphQLAnswer> {
  const declared = Object.keys(variables).map((name) => `$${name}: JSON!`)
  const names = declared.length === 0 ? '' : `(${declared.join(', ')})`
  return await caller.query(`mutation ${names} { ${mutation} ${payload} }`, variables)
}

/** The payload of a mutation that has to succeed. */
export async function written(...args: Parameters<typeof write>): Promise<Fields> {
  const { data, errors } = await write(...args)
  if (errors !== undefined) throw new Error(`${args[1]}: ${JSON.stringify(errors)}`)
  return Object.values(data)[0]
}

/** The error of a mutation that has to fail. */
export async function refused(...args: Parameters<typeof write>): Promise<Fields> {
  const { data, errors } = await write(...args)
  const [error, ...further] = errors ?? []
  if (error === undefined || further.length > 0) {
    throw new Error(`${args[1]}: ${JSON.stringify({ data, errors })}`)
  }
  return { message: error.message, path: error.path, ...error.extensions }
}

/** The `id` of an object by the field that looks it up, once the cache has it. */
export async function idOf(caller: GatewayCaller, lookup: string): Promise<string> {
  return await vi.waitFor(async () => {
    const { it } = await caller.data(`{ it: ${lookup} { id } }`)
    if (it === null) throw new Error(`the cache does not have ${lookup} yet`)
    return it.id
  }, 20_000)
}

/** The paths of a payload's changes, each with its value after. */
export function after({ changes }: Fields): Fields {
  return Object.fromEntries(changes.map(({ path, after: value }: Fields) => [path, value]))
}
