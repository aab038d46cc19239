import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { firstAnswer, type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Holders, sharedBetween } from './settled-holders.ts'
import { freePort, type SharingGateway } from './shared-gateways.ts'

const users = [
  { user: 'gateway', token: 'of-gateway', groups: ['system:masters'] },
  { user: 'ann', token: 'of-ann', groups: [] },
  { user: 'bob', token: 'of-bob', groups: [] },
]

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const apiVersion = 'rbac.authorization.k8s.io/v1'

/** A cluster in which ann may list pods and get Secrets. */
const startCluster = async (name: string): Promise<Simulator> => {
  const simulator = await startSimulator({
    authorization: 'rbac',
    users,
    populate(storage) {
      const metadata = { name: 'pods' }
      const rules = [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
      ]
      const role = { apiVersion, kind: 'ClusterRole', metadata, rules }
      storage.create({ ...rbac, resource: 'clusterroles' }, role)
      const roleRef = { apiGroup: rbac.group, kind: 'ClusterRole', name: 'pods' }
      const subjects = [{ kind: 'User', name: 'ann' }]
      const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects }
      storage.create({ ...rbac, resource: 'clusterrolebindings' }, binding)
    },
  })
  const door = { metadata: { name: 'door' }, type: 'example.com/key', stringData: { [name]: 'x' } }
  for (const [path, body] of [
    [podsPath, podOf(`pod-of-${name}`)],
    ['/api/v1/namespaces/default/secrets', door],
  ] as const) {
    await fetch(new URL(path, simulator.url), {
      method: 'POST',
      headers: { authorization: 'Bearer of-gateway', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
  return simulator
}

describe('the callers of gateways that share clusters', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  let postgres: PostgresServer
  /** The first one reviews tokens, so that each gateway holds it. */
  const clusters: { readonly name: string; readonly kubeconfig: string; everywhere: boolean }[] = []
  let archive = ''
  let here: SharingGateway
  let there: SharingGateway
  let held: Holders

  const serve = async (): Promise<SharingGateway> => {
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const options = {
      clusters,
      archive: { url: archive, kinds: ['pods'] },
      share: { address },
      preload: ['pods'],
    }
    const gateway = await serveGateway(options, { port }, { auth: { mode: 'token-review' } })
    const callers = { ...gateway, ...gateway.as('of-ann') }
    return { ...callers, address }
  }

  beforeAll(async () => {
    postgres = stack.use(await startPostgres())
    archive = await postgres.database()
    const folder = await mkdtemp(join(tmpdir(), 'informerql-callers-'))
    stack.defer(async () => rm(folder, { recursive: true }))
    for (const name of ['c-0', 'c-1', 'c-2', 'c-3', 'c-4']) {
      const simulator = stack.use(await startCluster(name))
      const kubeconfig = join(folder, `${name}.json`)
      await writeFile(kubeconfig, kubeconfigText(simulator.url, 'of-gateway'))
      clusters.push({ name, kubeconfig, everywhere: name === 'c-0' })
    }
    here = stack.use(await serve())
    const between = await sharedBetween(here, serve)
    held = between.held
    there = stack.use(between.there)
  }, 240_000)

  afterAll(async () => {
    await stack.disposeAsync()
  })

  it('read the type and the keys of a Secret at each gateway, where they may get it', async () => {
    for (const name of Object.keys(held)) {
      const query = `{ secret(cluster: "${name}", namespace: "default", name: "door") { type keys } }`
      for (const gateway of [here, there]) {
        const secret = { type: 'example.com/key', keys: [name] }
        expect(await gateway.as('of-ann').query(query), name).toEqual({ data: { secret } })
        const bob = await gateway.as('of-bob').query(query)
        expect(bob.data, name).toEqual({ secret: null })
      }
    }
  })

  it('see at each gateway what they may see, and no more, by every transport', async () => {
    for (const name of Object.keys(held)) {
      const query = `{ viewer { username } pods(cluster: "${name}") { nodes { metadata { name } } } }`
      for (const gateway of [here, there]) {
        const ann = {
          viewer: { username: 'ann' },
          pods: { nodes: [{ metadata: { name: `pod-of-${name}` } }] },
        }
        expect(await gateway.as('of-ann').query(query), name).toEqual({ data: ann })
        expect(await firstAnswer(gateway.as('of-ann').connect(), query), name).toEqual({
          data: ann,
        })
        const refused = {
          data: { viewer: { username: 'bob' }, pods: null },
          errors: [{ extensions: { code: 'FORBIDDEN' } }],
        }
        expect(await gateway.as('of-bob').query(query), name).toMatchObject(refused)
        expect(await firstAnswer(gateway.as('of-bob').connect(), query), name).toMatchObject(
          refused,
        )
        expect(await gateway.as('of-nobody').query(query), name).toMatchObject({
          errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
        })
      }
    }
  })

  it('gain nothing by what only gateways send', async () => {
    for (const name of Object.keys(held)) {
      const pods = '{ totalCount nodes { metadata { name } } }'
      for (const query of [
        `{ pods(cluster: "${name}") ${pods} }`,
        `{ pods(clusters: ["*"]) ${pods} }`,
        `{ search(clusters: ["*"], text: "pod-of") { totalCount nodes { object { name } } } }`,
      ]) {
        for (const [gateway, other] of [
          [here, there],
          [there, here],
        ] as const) {
          const response = await fetch(gateway.url, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: 'Bearer of-bob',
              'informerql-forwarded': other.address,
              'informerql-proof': '0'.repeat(64),
            },
            body: JSON.stringify({ query, extensions: { clusters: [name] } }),
          })
          const { data } = (await response.json()) as GraphQLAnswer
          const counted = data?.pods?.totalCount ?? data?.search?.totalCount ?? 0
          expect(counted).toBe(0)
          expect(JSON.stringify(data)).not.toContain('pod-of')
        }
      }
    }
  })

  it('need a cluster that each gateway holds to review their tokens', async () => {
    const port = await freePort()
    const options = {
      clusters: clusters.map((one) => ({ ...one, everywhere: false })),
      archive: { url: await postgres.database() },
      share: { address: `http://127.0.0.1:${port}` },
    }
    for (const cluster of [undefined, 'c-1']) {
      const auth = { mode: 'token-review' as const, cluster }
      await expect(serveGateway(options, { port }, { auth })).rejects.toMatchObject({
        code: 'NO_REVIEWER',
        hint: `set everywhere: true for the cluster ${cluster ?? 'c-0'}`,
      })
    }
  })
})
