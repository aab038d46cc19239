import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const core = { group: '', version: 'v1' }
const account = 'system:serviceaccount:argocd:argocd-application-controller'

/** Who is known by a token, in both clusters. */
const users = [
  { user: 'gateway', token: 'of-gateway', groups: ['system:masters'] },
  { user: 'root', token: 'of-root', groups: ['system:masters', 'developers'] },
  { user: 'ann', token: 'of-ann', groups: ['system:nodes'] },
]

/** Which kinds are read by whom, in either cluster. */
const bound: Readonly<Record<string, object>> = {
  nodes: { kind: 'User', name: account },
  pods: { kind: 'Group', name: 'system:serviceaccounts' },
  services: { kind: 'Group', name: 'system:nodes' },
  configmaps: { kind: 'Group', name: 'developers' },
  events: { kind: 'Group', name: 'system:authenticated' },
  leases: { kind: 'Group', name: 'system:unauthenticated' },
}

const query = (cluster: string): string => `{
  nodes(cluster: "${cluster}") { totalCount } pods(cluster: "${cluster}") { totalCount }
  services(cluster: "${cluster}") { totalCount } configMaps(cluster: "${cluster}") { totalCount }
  events(cluster: "${cluster}") { totalCount } leases(cluster: "${cluster}") { totalCount }
  can(cluster: "${cluster}", verb: "delete", resource: "pods") }`

describe('the identities of one cluster', () => {
  const simulators: AsyncDisposable[] = []
  let clusters: { readonly name: string; readonly kubeconfig: string }[] = []
  let accountToken = ''
  let folder = ''

  const start = async (name: string): Promise<void> => {
    const simulator = await startSimulator({
      authorization: 'rbac',
      users,
      populate(storage) {
        storage.create(
          { ...core, resource: 'namespaces' },
          {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: 'argocd' },
          },
        )
        storage.create(
          { ...core, resource: 'serviceaccounts' },
          {
            apiVersion: 'v1',
            kind: 'ServiceAccount',
            metadata: { name: 'argocd-application-controller', namespace: 'argocd' },
          },
        )
        const apiVersion = `${rbac.group}/v1`
        for (const [resource, subject] of Object.entries(bound)) {
          const metadata = { name: resource }
          const rules = [
            { apiGroups: ['*'], resources: [resource], verbs: ['get', 'list', 'watch'] },
          ]
          storage.create(
            { ...rbac, resource: 'clusterroles' },
            {
              apiVersion,
              kind: 'ClusterRole',
              metadata,
              rules,
            },
          )
          storage.create(
            { ...rbac, resource: 'clusterrolebindings' },
            {
              apiVersion,
              kind: 'ClusterRoleBinding',
              metadata,
              roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: resource },
              subjects: [subject],
            },
          )
        }
      },
    })
    simulators.push(simulator)
    const kubeconfig = join(folder, `${name}.json`)
    await writeFile(kubeconfig, kubeconfigText(simulator.url, 'of-gateway'))
    clusters.push({ name, kubeconfig })
    if (name !== 'one') return
    const path = '/api/v1/namespaces/argocd/serviceaccounts/argocd-application-controller/token'
    const response = await fetch(new URL(path, simulator.url), {
      method: 'POST',
      headers: { authorization: 'Bearer of-root', 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      }),
    })
    const { status } = (await response.json()) as { readonly status: { readonly token: string } }
    accountToken = status.token
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'informerql-identities-'))
    for (const name of ['one', 'two']) await start(name)
  })
  afterAll(async () => {
    for (const one of simulators) await one[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const serve = (auth: object = {}): Promise<ServedGateway> =>
    serveGateway({ clusters }, {}, { auth: { mode: 'token-review', ...auth } })

  /** The fields that have an answer. */
  const readable = async (
    gateway: ServedGateway,
    token: string,
    cluster: string,
  ): Promise<readonly string[]> => {
    const { data, errors = [] } = await gateway.as(token).query(query(cluster))
    for (const { extensions } of errors) expect(extensions.code).toBe('FORBIDDEN')
    return Object.keys(data).filter((field) => data[field] !== null && data[field] !== false)
  }

  it('mean nothing in another, where a ServiceAccount is anonymous and everybody else has no system: groups', async () => {
    await using gateway = await serve()
    expect(await readable(gateway, accountToken, 'one')).toEqual(['nodes', 'pods', 'events'])
    expect(await readable(gateway, accountToken, 'two')).toEqual(['leases'])
    const everything = ['nodes', 'pods', 'services', 'configMaps', 'events', 'leases', 'can']
    expect(await readable(gateway, 'of-root', 'one')).toEqual(everything)
    expect(await readable(gateway, 'of-root', 'two')).toEqual(['configMaps', 'events'])
    expect(await readable(gateway, 'of-ann', 'one')).toEqual(['services', 'events'])
    expect(await readable(gateway, 'of-ann', 'two')).toEqual(['events'])
    for (const field of ['nodes', 'pods']) {
      const live = (cluster: string): string =>
        `subscription { ${field}(cluster: "${cluster}") { synced } }`
      const asked = gateway.as(accountToken).connect()
      expect(await firstAnswer(asked, live('one'))).toHaveProperty('data')
      expect(await firstAnswer(asked, live('two'))).toMatchObject({
        errors: [{ extensions: { code: 'FORBIDDEN' } }],
      })
    }
  })

  it('are those of auth.cluster, where it is given', async () => {
    await using gateway = await serve({ cluster: 'two' })
    expect(await readable(gateway, 'of-ann', 'one')).toEqual(['events'])
    expect(await readable(gateway, 'of-ann', 'two')).toEqual(['services', 'events'])
  })

  it.each([[['one', 'two']], [['*']]])(
    'count in the clusters of auth.systemIdentityClusters: %j',
    async (systemIdentityClusters) => {
      await using gateway = await serve({ systemIdentityClusters })
      for (const cluster of ['one', 'two']) {
        const read = ['nodes', 'pods', 'events']
        expect(await readable(gateway, accountToken, cluster), cluster).toEqual(read)
      }
    },
  )

  it('are those of the default cluster, where an authenticator of one’s own does not say', async () => {
    await using gateway = await serveViewers({ clusters })
    const masters = caller('root', 'system:masters')
    const answers = await Promise.all(
      ['one', 'two'].map((cluster) =>
        gateway.query(masters, `{ nodes(cluster: "${cluster}") { totalCount } }`),
      ),
    )
    expect(answers.map(({ data }) => data.nodes)).toEqual([{ totalCount: 0 }, null])
  })
})
