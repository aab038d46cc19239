import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fields, kubeconfigText } from '../gateway/test-cluster.ts'
import { company } from '../support/company.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { gets, reads } from './small-world.ts'

const gatewayToken = 'gateway-token'
const admin = caller('admin', 'system:masters')
/** Reads the namespaces `payments` and `storefront`. */
const ben = caller('ben')
/** Reads one pod of `payments` by its name, and the ServiceAccounts there. */
const carla = caller('carla')

let cluster: Simulator
let folder: string
let ids: ReadonlyMap<string, string>

const serve = (): Promise<ViewedGateway> =>
  serveViewers({ clusters: [{ name: 'demo', kubeconfig: join(folder, 'kubeconfig.json') }] })

const idOf = (object: string): string => {
  const id = ids.get(object)
  if (id === undefined) throw new Error(`there is no ${object} among ${[...ids.keys()].join()}`)
  return id
}

const rbac = 'rbac.authorization.k8s.io'

const bind = (namespace: string, user: string, kind: string, role: string): void => {
  cluster.storage.create(
    { group: rbac, version: 'v1', resource: 'rolebindings' },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: user, namespace },
      roleRef: { apiGroup: rbac, kind, name: role },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    },
  )
}

beforeAll(async () => {
  cluster = await startSimulator({
    populate: company({ pods: 60, seed: 'fresh' }),
    authorization: 'rbac',
    users: [{ token: gatewayToken, user: 'gateway', groups: ['system:masters'] }],
  })
  for (const namespace of ['payments', 'storefront']) bind(namespace, 'ben', 'ClusterRole', 'view')
  cluster.storage.create(
    { group: rbac, version: 'v1', resource: 'roles' },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'carla', namespace: 'payments' },
      rules: [gets('pods', 'ledger-db-0'), reads('', 'serviceaccounts')],
    },
  )
  bind('payments', 'carla', 'Role', 'carla')
  folder = await mkdtemp(join(tmpdir(), 'informerql-fresh-'))
  await writeFile(join(folder, 'kubeconfig.json'), kubeconfigText(cluster.url, gatewayToken))
  await using gateway = await serve()
  const lists = ['serviceAccounts', 'deployments', 'configMaps', 'services', 'pods', 'ingresses']
  const { data } = await gateway.query(
    admin,
    `{ ${lists.map((list) => `${list}(namespace: "payments", first: 200) { nodes { id kind name } }`).join(' ')} }`,
  )
  ids = new Map(
    Object.values<Fields>(data).flatMap(({ nodes }) =>
      nodes.map(({ id, kind, name }: Fields) => [`${kind} ${name}`, id]),
    ),
  )
})

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const looked = 'types complete notLookedAt'
const graphOf = (
  root: string,
  args: string,
): string => `{ graph(roots: ["${idOf(root)}"], ${args}) {
  ${looked} nodes { kind namespace name depth } edges { relation from to } truncated notFollowed } }`

/** Every list, without the relations of its kind. */
const everyList = `{ ${[
  'pods',
  'deployments',
  'replicaSets',
  'statefulSets',
  'jobs',
  'services',
  'ingresses',
  'configMaps',
  'serviceAccounts',
  'horizontalPodAutoscalers',
]
  .map((list) => `${list} { totalCount }`)
  .join(' ')} }`

const questions: readonly (readonly [string, () => string])[] = [
  ['a graph around a ServiceAccount', () => graphOf('ServiceAccount invoice-worker', 'depth: 1')],
  ['a graph around a Service', () => graphOf('Service checkout-api', 'depth: 1')],
  ['a graph around a Deployment', () => graphOf('Deployment invoice-worker', 'depth: 2')],
  ['a graph around a ConfigMap', () => graphOf('ConfigMap invoice-worker-config', 'depth: 3')],
  ['a deep graph', () => graphOf('ServiceAccount checkout-api', 'depth: 8')],
  [
    'a graph of named relations',
    () =>
      graphOf(
        'Pod ledger-db-0',
        'depth: 4, relations: ["configMaps", "Pod.serviceAccount", "pods", "owners", "owned"]',
      ),
  ],
  ['a search', () => `{ search(text: "invoice") { ${looked} totalCount counts { type count } } }`],
  [
    'what an object owns',
    () => `{ deployment(namespace: "payments", name: "invoice-worker") {
      owned { ${looked} totalCount } instanceObjects { ${looked} nodes { id } } } }`,
  ],
  [
    'who uses an object',
    () => `{ configMap(namespace: "payments", name: "invoice-worker-config") {
      usedBy(types: ["Pod", "Deployment"]) { ${looked} totalCount } } }`,
  ],
]

describe('A viewer of some namespaces', () => {
  it.each(questions)('gets from a gateway that has just started, as later: %s', async (_, ask) => {
    const question = ask()
    await using fresh = await serve()
    const first = await fresh.query(ben, question)
    await fresh.query(admin, everyList)
    await fresh.query(admin, question)
    expect(first).toEqual(await fresh.query(ben, question))
  })

  it('gets the whole graph where others have loaded its kinds for other questions', async () => {
    await using fresh = await serve()
    const ask = fresh.query
    await ask(admin, everyList)
    await ask(ben, everyList)
    const { data } = await ask(ben, graphOf('ServiceAccount invoice-worker', 'depth: 1'))
    expect(data.graph.nodes.map(({ kind }: Fields) => kind)).toContain('Pod')
    const named = graphOf('Pod ledger-db-0', 'depth: 1, relations: ["configMaps"]')
    expect((await ask(ben, named)).data.graph.notFollowed).toEqual([])
  })
})

it('a viewer of one object by its name gets the graph around it, though others have loaded its kind without the indexes', async () => {
  await using fresh = await serve()
  await fresh.query(admin, everyList)
  const relations = '["Pod.serviceAccount", "ServiceAccount.pods"]'
  const { data, errors } = await fresh.query(
    carla,
    graphOf('Pod ledger-db-0', `depth: 2, relations: ${relations}`),
  )
  expect(data.graph.nodes.map(({ kind }: Fields) => kind)).toEqual(['Pod', 'ServiceAccount'])
  expect(data.graph.notFollowed).toEqual(['ServiceAccount.pods'])
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', type: 'Pod' } }])
})
