import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FrameFold } from 'informerql/client'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reads, startSmallWorld } from '../access/small-world.ts'
import { created, sent } from '../gateway/created.ts'
import { type Fields, kubeconfigText } from '../gateway/test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'

const wait = { timeout: 60_000, interval: 20 }
const container = { name: 'main', image: 'a' }
const selector = { app: 'web' }

const deployment = (secret: string): Fields => ({
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: selector },
    template: {
      metadata: { labels: selector },
      spec: {
        containers: [{ ...container, envFrom: [{ secretRef: { name: secret } }] }],
      },
    },
  },
})

const ingress = {
  metadata: { name: 'shop' },
  spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
}

const rowsOf = (nodes: readonly Fields[]): readonly string[] =>
  nodes.map(({ kind, reason, object }) => `${kind}/${object.name} ${reason}`).toSorted()

describe('problems between objects, live', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  beforeAll(async () => {
    simulator = await startSimulator({ bookmarkIntervalMs: 0 })
    await created(simulator, '/api/v1/namespaces', { metadata: { name: 'live' } })
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const core = '/api/v1/namespaces/live'
  const ingresses = '/apis/networking.k8s.io/v1/namespaces/live/ingresses'
  const deployments = '/apis/apps/v1/namespaces/live/deployments'

  it('come and go with each of the objects that they are between', async () => {
    const fold = new FrameFold<Fields>()
    const client = gateway.connect()
    const frames = client.iterate<Fields>({
      query: `subscription { problems(namespace: "live", coalesceMs: 10) { reset synced changes {
        type removal objectId object { id kind reason object { name } } } } }`,
    })
    const reading = (async () => {
      for await (const { data } of frames) fold.apply(data?.['problems'])
    })()
    const shown = async (rows: readonly string[]): Promise<void> => {
      await expect.poll(() => rowsOf([...fold.objects.values()]), wait).toEqual(rows)
      const { problems } = await gateway.data(
        '{ problems(namespace: "live") { nodes { kind reason object { name } } } }',
      )
      expect(rowsOf(problems.nodes)).toEqual(rows)
    }
    const steps: readonly (readonly [() => Promise<unknown>, readonly string[]])[] = [
      [() => created(simulator, ingresses, ingress), ['Ingress/shop MissingService']],
      [
        () =>
          created(simulator, `${core}/services`, {
            metadata: { name: 'web' },
            spec: { selector, ports: [{ port: 8080 }] },
          }),
        ['Ingress/shop MissingServicePort', 'Service/web NoPods'],
      ],
      [
        () =>
          sent(simulator, 'PATCH', `${core}/services/web`, {
            spec: { ports: [{ port: 80 }] },
          }),
        ['Service/web NoPods'],
      ],
      [
        () =>
          created(simulator, `${core}/pods`, {
            metadata: { name: 'one', labels: selector },
            spec: { containers: [container] },
          }),
        [],
      ],
      [
        () =>
          sent(simulator, 'PATCH', `${core}/pods/one/status`, {
            status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
          }),
        [],
      ],
      [
        () =>
          sent(simulator, 'PATCH', `${core}/pods/one`, { metadata: { labels: { app: 'other' } } }),
        ['Service/web NoPods'],
      ],
      [() => sent(simulator, 'PATCH', `${core}/pods/one`, { metadata: { labels: selector } }), []],
      [() => sent(simulator, 'DELETE', `${core}/pods/one`), ['Service/web NoPods']],
      [
        () => created(simulator, deployments, deployment('token')),
        ['Deployment/web MissingSecret'],
      ],
      [() => created(simulator, `${core}/secrets`, { metadata: { name: 'token' } }), []],
      [() => sent(simulator, 'DELETE', `${core}/secrets/token`), ['Deployment/web MissingSecret']],
      [() => sent(simulator, 'DELETE', `${deployments}/web`), ['Service/web NoPods']],
      [() => sent(simulator, 'DELETE', `${ingresses}/shop`), ['Service/web NoPods']],
      [() => sent(simulator, 'DELETE', `${core}/services/web`), []],
    ]
    for (const [step, rows] of steps) {
      await step()
      await shown(rows)
    }
    await frames.return?.()
    await reading
    await client.dispose()
  })

  it('are not looked for by rules that are off', async () => {
    await created(simulator, ingresses, ingress)
    const clusters = [{ name: 'one', server: simulator.url }]
    const query = '{ problems(namespace: "live") { nodes { kind reason object { name } } } }'
    const { problems } = await gateway.data(query)
    expect(rowsOf(problems.nodes)).toEqual(['Ingress/shop MissingService'])
    await using off = await serveGateway({ clusters, problemRules: { off: ['brokenRoutes'] } })
    expect((await off.data(query)).problems.nodes).toEqual([])
  })
})

it('a missing Secret is told to nobody who may not list Secrets, who is told that they were not looked at', async () => {
  await using world = await startSmallWorld()
  await world.make('/apis/apps/v1/namespaces/one/deployments', {
    ...deployment('token'),
    metadata: { name: 'needy' },
  })
  await world.allow('one', 'alice', 'alice', [reads('apps', 'deployments')])
  await world.allow('one', 'bob', 'bob', [reads('apps', 'deployments'), reads('', 'secrets')])
  await using served = await serveViewers({ clusters: [world.selection] })
  const ask = async (name: string): Promise<Fields> => {
    const { data } = await served.query(
      caller(name),
      '{ problems { totalCount notLookedAt nodes { kind reason object { name } } } }',
    )
    return data.problems
  }
  const [alice, bob] = [await ask('alice'), await ask('bob')]
  expect(rowsOf(bob['nodes'])).toEqual(['Deployment/needy MissingSecret'])
  expect(bob['notLookedAt']).not.toContain('Secret')
  expect(alice['totalCount']).toBe(0)
  expect(alice['notLookedAt']).toContain('Secret')
})

it('a gateway whose account may not list Secrets looks at all that it means to: the answers are complete, but where Secrets are named', async () => {
  const own = { token: 'own', user: 'gateway', uid: 'u-0', groups: ['system:masters'] }
  await using simulator = await startSimulator({ users: [{ ...own, denied: ['secrets'] }] })
  const kubeconfig = join(await mkdtemp(join(tmpdir(), 'informerql-')), 'config.yaml')
  await writeFile(kubeconfig, kubeconfigText(simulator.url, own.token))
  await using gateway = await serveGateway({ clusters: [{ name: 'one', kubeconfig }] })
  const asked = 'lookedAt notLookedAt complete incomplete { type code }'
  const whole = { complete: true, notLookedAt: [], incomplete: [] }
  const { data, errors } = await gateway.query(`{ problems { ${asked} } }`)
  expect(errors).toBeUndefined()
  expect(data?.problems).toMatchObject(whole)
  expect(data?.problems.lookedAt).not.toContain('Secret')
  const overAll = await gateway.query(`{ problems(clusters: ["*"]) { ${asked} } }`)
  expect(overAll.data?.problems).toMatchObject(whole)
  for (const args of ['', '(clusters: ["*"])']) {
    const live = await firstAnswer(
      gateway.connect(),
      `subscription { problems${args} { synced ${asked} } }`,
    )
    expect(live.data?.['problems']).toMatchObject({ ...whole, synced: true })
  }
  const named = await gateway.query(`{ problems(types: ["Secret"]) { ${asked} } }`)
  expect(named.data?.problems).toMatchObject({ complete: false, notLookedAt: ['Secret'] })
  expect(named.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', type: 'Secret' } }])
})

it('a Secret of another namespace than those that its reader may list is not told as missing', async () => {
  await using world = await startSmallWorld()
  for (const namespace of ['one', 'two']) {
    await world.make(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
      ...deployment('token'),
      metadata: { name: 'needy' },
    })
    await world.allow(namespace, 'carol', 'carol', [reads('apps', 'deployments')])
  }
  await world.allow('two', 'carol-secrets', 'carol', [reads('', 'secrets')])
  await using served = await serveViewers({ clusters: [world.selection] })
  const { data } = await served.query(
    caller('carol'),
    '{ problems { nodes { reason object { namespace name } } } }',
  )
  expect(data.problems.nodes).toEqual([
    { reason: 'MissingSecret', object: { namespace: 'two', name: 'needy' } },
  ])
})

describe('a cluster that cannot be read', () => {
  const row = `{ problems(cluster: "gone") { totalCount
    nodes { id kind severity reason message object { kind name } objects { name } lastEvent { reason } } } }`

  it('is the first problem, where nothing was ever known of it, too', async () => {
    await using simulator = await startSimulator()
    const silent = { name: 'gone', server: 'http://127.0.0.1:9' }
    const clusters = [{ name: 'one', server: simulator.url }, silent]
    await using gateway = await serveGateway({ clusters })
    const { data } = await gateway.query(row)
    expect(data?.problems.nodes).toMatchObject([
      {
        kind: 'Cluster',
        severity: 'CRITICAL',
        reason: 'ClusterUnreachable',
        object: { kind: 'Cluster', name: 'gone' },
        objects: [{ name: 'gone' }],
        lastEvent: null,
      },
    ])
    expect(JSON.stringify(data)).not.toContain('127.0.0.1')
    await using off = await serveGateway({
      clusters,
      problemRules: { off: ['unreachableClusters'] },
    })
    const { data: none } = await off.query('{ problems(clusters: ["*"]) { nodes { kind } } }')
    expect(none?.problems.nodes).toEqual([])
  })

  it('is told where the gateway cannot use what it is told of it: its kubeconfig, its address, its certificate', async () => {
    await using simulator = await startSimulator()
    const config = (cluster: Fields, user: Fields = {}): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        clusters: [{ name: 'a', cluster: { server: simulator.url, ...cluster } }],
        users: [{ name: 'a', user }],
      })
    const folder = await mkdtemp(join(tmpdir(), 'informerql-clusters-'))
    const file = async (name: string, text: string): Promise<Fields> => {
      const kubeconfig = join(folder, `${name}.yaml`)
      await writeFile(kubeconfig, text)
      return { name, kubeconfig }
    }
    const clusters = [
      { name: 'good', server: simulator.url },
      { name: 'absent', kubeconfig: join(folder, 'absent.yaml') },
      await file('odd', '{'),
      await file('address', config({ server: 'none' })),
      await file(
        'authority',
        config({ server: 'https://127.0.0.1:9', 'certificate-authority-data': 'bm9uZQ==' }),
      ),
      await file('user', config({}, { 'client-certificate': join(folder, 'absent.crt') })),
    ]
    await using gateway = await serveGateway({ clusters: clusters as never })
    const { data } = await gateway.query(
      '{ problems(clusters: ["*"]) { nodes { kind severity reason object { name } } } }',
    )
    expect(rowsOf(data?.problems.nodes)).toEqual(
      ['absent', 'address', 'authority', 'odd', 'user'].map(
        (name) => `Cluster/${name} ClusterMisconfigured`,
      ),
    )
    expect(JSON.stringify(data)).not.toContain(folder)
  })
})
