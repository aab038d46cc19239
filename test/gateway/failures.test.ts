import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import {
  describeClusters,
  must,
  startSimulatedCluster,
  type TestCluster,
  type TestUser,
} from './test-cluster.ts'

/** A port on which nobody listens. */
const refusedPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const names = '{ namespaces { nodes { clusterName metadata { name } } } }'
const reader: TestUser = { token: 'reader-token', user: 'reader' }

let dir: string
let gateway: ServedGateway | undefined
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-failures-'))
})
afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]()
  gateway = undefined
})
afterAll(async () => rm(dir, { recursive: true, force: true }))

const kubeconfigWith = async (name: string, cluster: object, user: object): Promise<string> => {
  const path = join(dir, name)
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(path, JSON.stringify(config))
  return path
}

describe('a gateway whose only cluster cannot be used says why at start', () => {
  const failureOf = async (selection: object): Promise<Error> =>
    createGateway({ clusters: [{ name: 'broken', ...selection }] }).then(
      async (started) => {
        await started[Symbol.asyncDispose]()
        throw new Error('it started')
      },
      (error: unknown) => error as Error,
    )

  it('for an address where nobody listens', async () => {
    const port = await refusedPort()
    const kubeconfig = await kubeconfigWith('refused', { server: `http://127.0.0.1:${port}` }, {})
    const error = await failureOf({ kubeconfig })
    expect(error).toMatchObject({ code: 'NO_CLUSTER', hint: expect.stringContaining('address') })
    expect(error.message).toContain(`broken: 127.0.0.1:${port}: `)
    expect(error.message).toMatch(/ECONNREFUSED/)
  })

  it('for a kubeconfig that is not there', async () => {
    const kubeconfig = join(dir, 'nowhere.yaml')
    const error = await failureOf({ kubeconfig })
    expect(error).toMatchObject({ code: 'NO_CLUSTER', hint: expect.stringContaining('kubeconfig') })
    expect(error.message).toContain(`broken: kubeconfig ${kubeconfig} does not exist`)
  })

  it('for a context that is not in the kubeconfig', async () => {
    const kubeconfig = await kubeconfigWith('contexts', { server: 'http://127.0.0.1:1' }, {})
    const error = await failureOf({ kubeconfig, context: 'y' })
    expect(error.message).toContain(`no context "y" in ${kubeconfig}; there are: x`)
  })

  it('for a client certificate that has expired', async () => {
    await using authority = await createCertificateAuthority()
    const validity = { from: new Date('2020-01-01'), to: new Date('2020-01-02') }
    const { certFile, keyFile } = await authority.issue({ name: 'expired', ...validity })
    const user = { 'client-certificate': certFile, 'client-key': keyFile }
    const kubeconfig = await kubeconfigWith('expired', { server: 'https://127.0.0.1:1' }, user)
    const error = await failureOf({ kubeconfig })
    expect(error.message).toContain(
      `the client certificate in ${certFile} expired at 2020-01-02T00:00:00.000Z`,
    )
    expect(error).toMatchObject({ hint: expect.stringContaining('renew it') })
  })

  it('for credentials that the cluster does not know', async () => {
    await using cluster = await startSimulatedCluster()
    const selection = await cluster.selectionFor({ token: 'wrong', user: 'stranger' })
    const error = await failureOf(selection)
    expect(error.message).toMatch(/broken: .*Unauthorized/)
    expect(error).toMatchObject({ hint: expect.stringContaining('log in again') })
  })
})

describe('a gateway with a broken cluster beside a good one', () => {
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await startSimulatedCluster()
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  it('answers for the good one, and says of the broken one what is the matter', async () => {
    const kubeconfig = join(dir, 'missing.yaml')
    gateway = await serveGateway({
      clusters: [
        { name: 'good', ...cluster.selection },
        { name: 'broken', kubeconfig },
      ],
    })
    const answer = await gateway.query(`{
      byDefault: namespace(name: "default") { clusterName metadata { name } }
      named: namespace(cluster: "good", name: "default") { clusterName }
      broken: namespaces(cluster: "broken") { totalCount }
      gatewayClusters { name state version }
    }`)
    expect(answer.data).toEqual({
      byDefault: { clusterName: 'good', metadata: { name: 'default' } },
      named: { clusterName: 'good' },
      broken: null,
      gatewayClusters: [
        { name: 'good', state: 'CONNECTED', version: expect.stringMatching(/^v1\./) },
        { name: 'broken', state: 'MISCONFIGURED', version: null },
      ],
    })
    expect(answer.errors).toMatchObject([
      {
        path: ['broken'],
        message: `kubeconfig ${kubeconfig} does not exist`,
        extensions: { code: 'CLUSTER_UNREACHABLE', cluster: 'broken', type: 'Namespace' },
      },
    ])
    const live = await firstAnswer(
      gateway.connect(),
      'subscription { namespaces(cluster: "broken") { synced } }',
    )
    expect(live.errors).toMatchObject([{ extensions: { code: 'CLUSTER_UNREACHABLE' } }])
    expect(gateway.log.join('\n')).toContain(`broken: kubeconfig ${kubeconfig} does not exist`)
  })

  it('does not fall back on the good one where the broken one is the default', async () => {
    const port = await refusedPort()
    const refused = await kubeconfigWith('down', { server: `http://127.0.0.1:${port}` }, {})
    gateway = await serveGateway({
      clusters: [
        { name: 'broken', kubeconfig: refused },
        { name: 'good', ...cluster.selection },
      ],
    })
    const answer = await gateway.query(`{
      broken: namespaces { totalCount }
      good: namespace(cluster: "good", name: "default") { clusterName }
    }`)
    expect(answer.data).toEqual({ broken: null, good: { clusterName: 'good' } })
    expect(answer.errors).toMatchObject([
      {
        path: ['broken'],
        message: 'cluster broken cannot be reached',
        extensions: { code: 'CLUSTER_UNREACHABLE', cluster: 'broken', hint: expect.any(String) },
      },
    ])
    // The address is for the operator.
    expect(gateway.log.join('\n')).toContain(`127.0.0.1:${port}`)
    const ready = await fetch(new URL('/readyz', gateway.url))
    expect(ready.status).toBe(200)
  })

  it('says which name of a kind to preload nothing has, with the nearest one', async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'good', ...cluster.selection }],
      preload: ['podz', 'services'],
    })
    expect(gateway.log).toContain('preload: no served kind has the list field podz; give pods')
  })

  it('finds a cluster that comes up later', async () => {
    const port = await refusedPort()
    const later = await kubeconfigWith('later', { server: `http://127.0.0.1:${port}` }, {})
    gateway = await serveGateway({
      clusters: [
        { name: 'later', kubeconfig: later },
        { name: 'good', ...cluster.selection },
      ],
      retryMs: 50,
    })
    expect((await gateway.query(names)).errors).toMatchObject([
      { extensions: { code: 'CLUSTER_UNREACHABLE', cluster: 'later' } },
    ])
    const held = follow('good')
    await using _simulator = await startSimulator({ port })
    const served = gateway
    await expect
      .poll(async () => (await served.query(names)).data.namespaces?.nodes[0])
      .toMatchObject({ clusterName: 'later' })
    expect(await served.data('{ gatewayClusters { name state } }')).toEqual({
      gatewayClusters: [
        { name: 'later', state: 'CONNECTED' },
        { name: 'good', state: 'CONNECTED' },
      ],
    })
    // What was under way at the other cluster goes on.
    await held
    await gateway[Symbol.asyncDispose]()
    gateway = undefined
  })

  it('tries a cluster that could not be connected again soon, and less often after that', async () => {
    const port = await refusedPort()
    const later = await kubeconfigWith('later', { server: `http://127.0.0.1:${port}` }, {})
    gateway = await serveGateway({
      clusters: [
        { name: 'later', kubeconfig: later },
        { name: 'good', ...cluster.selection },
      ],
    })
    await using _simulator = await startSimulator({ port })
    const served = gateway
    const states = (): Promise<object | undefined | null> =>
      served.data('{ gatewayClusters { name state } }')
    await expect.poll(states, { timeout: 10_000 }).toMatchObject({
      gatewayClusters: [{ name: 'later', state: 'CONNECTED' }, {}],
    })
    await gateway[Symbol.asyncDispose]()
    gateway = undefined
  })

  /** A subscription that is open while the schema changes, and hears of a namespace that is made afterwards. */
  const follow = async (name: string): Promise<void> => {
    const served = gateway
    if (served === undefined) throw new Error('no gateway')
    const query = `subscription { namespaces(cluster: "${name}", coalesceMs: 0) { changes { object { metadata { name } } } } }`
    const frames = served
      .connect()
      .iterate<{ namespaces: { changes: { object: unknown }[] } }>({ query })
    await frames.next()
    const next = frames.next()
    await expect
      .poll(async () => (await served.data('{ gatewayClusters { state } }')).gatewayClusters[0], {
        timeout: 60_000,
      })
      .toEqual({ state: 'CONNECTED' })
    const body = { metadata: { name: 'made-later' } }
    await must(cluster, '/api/v1/namespaces', { method: 'POST', body })
    expect((await next).value?.data?.namespaces.changes).toMatchObject([
      { object: { metadata: { name: 'made-later' } } },
    ])
    await frames.return?.()
  }

  it('takes the name of the cluster from variables and their defaults, live as well', async () => {
    await using second = await startSimulatedCluster()
    gateway = await serveGateway({
      clusters: [
        { name: 'good', ...cluster.selection },
        { name: 'second', ...second.selection },
      ],
    })
    const field = 'namespace(cluster: $cluster, name: "default")'
    const live = `{ ${field} { changes { object { clusterName } } } }`
    const forms = [
      ['$cluster: String', { cluster: 'second' }],
      ['$cluster: String = "second"', {}],
    ] as const
    for (const [declaration, variables] of forms) {
      const { namespace } = await gateway.data(
        `query (${declaration}) { ${field} { clusterName } }`,
        variables,
      )
      expect(namespace, declaration).toEqual({ clusterName: 'second' })
      const answer = await firstAnswer(
        gateway.connect(),
        `subscription (${declaration}) ${live}`,
        variables,
      )
      expect([declaration, answer]).toEqual([
        declaration,
        { data: { namespace: { changes: [{ object: { clusterName: 'second' } }] } } },
      ])
    }
    const fragment = `fragment Live on Subscription ${live.replace('$cluster', '"second"')}`
    expect(await firstAnswer(gateway.connect(), `subscription { ...Live } ${fragment}`)).toEqual({
      data: { namespace: { changes: [{ object: { clusterName: 'second' } }] } },
    })
  })
})

describeClusters(
  'a kind that RBAC forbids',
  (cluster) => {
    const forbidden = (path: string, kind: string): object => ({
      path: [path],
      message: expect.stringContaining('forbidden'),
      extensions: {
        code: 'FORBIDDEN',
        cluster: 'one',
        type: kind,
        hint: expect.stringContaining('list and watch'),
      },
    })

    it('fails its own fields and leaves the rest of the answer whole, by either transport', async () => {
      const selection = await cluster().selectionFor(reader)
      const path = '/api/v1/namespaces/default/pods'
      const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
      await must(cluster(), path, { method: 'POST', body: { metadata: { name: 'seen' }, spec } })
      gateway = await serveGateway({ clusters: [{ name: 'one', ...selection }] })
      const query = `{
        pods { nodes { metadata { name } secrets { totalCount } replicaSet { id } } }
        secrets { totalCount }
        deployments { totalCount }
        services { totalCount }
      }`
      for (const answer of [
        await gateway.query(query),
        await firstAnswer(gateway.connect(), query),
      ]) {
        expect(answer.data).toEqual({
          pods: { nodes: [{ metadata: { name: 'seen' }, secrets: null, replicaSet: null }] },
          secrets: null,
          deployments: null,
          services: { totalCount: expect.any(Number) },
        })
        expect(answer.errors).toHaveLength(3)
        expect(answer.errors).toEqual(
          expect.arrayContaining(
            [
              forbidden('secrets', 'Secret'),
              forbidden('deployments', 'Deployment'),
              { ...forbidden('', 'Secret'), path: ['pods', 'nodes', 0, 'secrets'] },
            ].map((one) => expect.objectContaining(one)),
          ),
        )
      }
      const live = await firstAnswer(gateway.connect(), 'subscription { secrets { synced } }')
      expect(live.errors).toMatchObject([forbidden('secrets', 'Secret')])
      const { gatewayClusters } = await gateway.data(
        '{ gatewayClusters { state resources(loaded: true) { type objects lastError } } }',
      )
      expect(gatewayClusters[0].state).toBe('CONNECTED')
      expect(gatewayClusters[0].resources).toContainEqual({
        type: 'Secret',
        objects: null,
        lastError: expect.stringContaining('forbidden'),
      })
      expect((await fetch(new URL('/healthz', gateway.url))).status).toBe(200)
    })
  },
  { users: [reader] },
)
