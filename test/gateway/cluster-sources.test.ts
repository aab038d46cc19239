import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions } from 'informerql'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { type FollowedSubscription, follow } from './followed-subscription.ts'
import { describeClusters, type Fields, kubeconfigText, must } from './test-cluster.ts'

const wait = { timeout: 60_000, interval: 100 }

/** May do everything but read Deployments, until its credentials are rotated. */
const before = { token: 'token-before', user: 'before', denied: ['deployments.apps'] }
const after = { token: 'token-after', user: 'after' }

const started = (): Promise<Simulator> => startSimulator({ users: [before, after] })

const configMap = async ({ url }: Simulator, name: string): Promise<void> => {
  const response = await fetch(`${url}/api/v1/namespaces/default/configmaps`, {
    method: 'POST',
    headers: { authorization: `Bearer ${after.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  })
  expect(response.status).toBe(201)
}

/** The fields of all clusters besides those that change by themselves. */
const clustersOf = async (gateway: ServedGateway): Promise<Fields> => {
  const { gatewayClusters } = await gateway.data(
    '{ gatewayClusters { name labels source state problem } }',
  )
  return gatewayClusters
}

const namesOf = async (gateway: ServedGateway): Promise<readonly string[]> =>
  (await clustersOf(gateway)).map(({ name }: Fields) => name)

const clusterNamed = async (gateway: ServedGateway, name: string): Promise<Fields> =>
  (await clustersOf(gateway)).find((one: Fields) => one.name === name)

const hasName =
  (name: string) =>
  (objects: ReadonlyMap<string, Fields>): boolean =>
    [...objects.values()].some(({ metadata }) => metadata.name === name)

const followed = async (gateway: ServedGateway, cluster: string): Promise<FollowedSubscription> => {
  const live = follow(
    gateway.connect(),
    `configMaps(cluster: "${cluster}", namespace: "default")`,
    'metadata { name }',
  )
  await live.until('snapshot', () => live.fold.synced)
  return live
}

describe('a directory of kubeconfigs', () => {
  let one: Simulator
  let two: Simulator
  let gateway: ServedGateway
  let dir: string

  beforeEach(async () => {
    ;[one, two] = await Promise.all([started(), started()])
    dir = await mkdtemp(join(tmpdir(), 'informerql-clusters-'))
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await one[Symbol.asyncDispose]()
    await two[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  /** As kubectl and most tools write a file: at once. */
  const put = async (name: string, text: string): Promise<void> => {
    await writeFile(join(dir, `.${name}`), text)
    await rename(join(dir, `.${name}`), join(dir, name))
  }
  const putCluster = (name: string, { url }: Simulator, token = before.token): Promise<void> =>
    put(name, kubeconfigText(url, token))

  it('serves each file, named as the file, and follows what comes and goes', async () => {
    await putCluster('one.yaml', one)
    await mkdir(join(dir, 'cache'))
    await put('ca.pem', 'not a kubeconfig')
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir, prefix: 'dir-', labels: { stage: 'dev' } }],
    })
    const served = {
      labels: { stage: 'dev' },
      state: 'CONNECTED',
      problem: null,
    }
    expect(await clustersOf(gateway)).toEqual([
      { name: 'dir-one', source: 'directory one.yaml', ...served },
    ])
    const live = await followed(gateway, 'dir-one')
    await putCluster('a-second.yaml', two)
    await expect
      .poll(() => clusterNamed(gateway, 'dir-a-second'), wait)
      .toEqual({ name: 'dir-a-second', source: 'directory a-second.yaml', ...served })
    // The default cluster is the same on all replicas, whichever they saw first.
    expect(await namesOf(gateway)).toEqual(['dir-a-second', 'dir-one'])
    const second = await followed(gateway, 'dir-a-second')
    await rm(join(dir, 'a-second.yaml'))
    await expect.poll(() => namesOf(gateway), wait).toEqual(['dir-one'])
    await expect.poll(() => second.ended(), wait).toBe(true)
    await configMap(one, 'later')
    await live.until('later', hasName('later'))
    expect(live.problems).toEqual([])
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
  })

  it('starts without a cluster, and serves the first one that comes', async () => {
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: join(dir, 'later') }],
    })
    expect(await clustersOf(gateway)).toEqual([])
    expect(gateway.gateway.readiness()).toMatchObject({
      ready: false,
      reasons: ['no cluster is known yet', expect.stringContaining('cannot be read')],
    })
    await mkdir(join(dir, 'later'))
    await writeFile(join(dir, 'later', 'one.yaml'), kubeconfigText(one.url, before.token))
    await expect.poll(() => namesOf(gateway), wait).toEqual(['one'])
    await expect
      .poll(() => gateway.query('{ configMaps { totalCount } }'), wait)
      .toMatchObject({ data: { configMaps: { totalCount: 0 } } })
    expect(gateway.gateway.readiness().ready).toBe(true)
  })

  it('keeps a cluster whose file is broken for a while, and says so', async () => {
    await putCluster('one.yaml', one)
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir }],
    })
    const live = await followed(gateway, 'one')
    await put('one.yaml', 'contexts: {')
    await put('two.yaml', 'contexts: []')
    await expect
      .poll(() => clusterNamed(gateway, 'two'), wait)
      .toMatchObject({
        state: 'MISCONFIGURED',
        problem: 'KUBECONFIG_INVALID',
      })
    expect(await clusterNamed(gateway, 'one')).toMatchObject({
      state: 'CONNECTED',
      problem: 'KUBECONFIG_INVALID',
    })
    await putCluster('one.yaml', one)
    await putCluster('two.yaml', two)
    await expect
      .poll(() => clusterNamed(gateway, 'one'), wait)
      .toMatchObject({ state: 'CONNECTED', problem: null })
    await expect
      .poll(() => clusterNamed(gateway, 'two'), wait)
      .toMatchObject({ state: 'CONNECTED', problem: null })
    await configMap(one, 'later')
    await live.until('later', hasName('later'))
    expect(live.problems).toEqual([])
  })

  it('keeps all clusters while the directory cannot be read', async () => {
    await putCluster('one.yaml', one)
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir }],
    })
    const live = await followed(gateway, 'one')
    await rename(dir, `${dir}-away`)
    await expect
      .poll(() => clusterNamed(gateway, 'one'), wait)
      .toMatchObject({ state: 'CONNECTED', problem: 'SOURCE_UNREADABLE' })
    await rename(`${dir}-away`, dir)
    await expect.poll(() => clusterNamed(gateway, 'one'), wait).toMatchObject({ problem: null })
    await configMap(one, 'later')
    await live.until('later', hasName('later'))
    expect(live.problems).toEqual([])
  })

  it('serves all contexts where it is asked to, with the labels that they have', async () => {
    const labelled = (name: string, labels: object): object => ({
      name,
      context: {
        cluster: 'test',
        user: 'test',
        extensions: [{ name: 'informerql', extension: { labels } }],
      },
    })
    const kubeconfig: Fields = JSON.parse(kubeconfigText(one.url, before.token))
    const contexts = [
      labelled('plain', {}),
      labelled('blue', { team: 'blue' }),
      labelled('odd', { 'no key': 'x' }),
    ]
    await put('all.yaml', JSON.stringify({ ...kubeconfig, contexts }))
    gateway = await serveGateway({
      clusters: [{ name: 'plain', server: two.url }],
      clusterSources: [{ type: 'directory', path: dir, contexts: 'all' }],
    })
    expect(await clustersOf(gateway)).toMatchObject([
      { name: 'plain', source: 'configuration' },
      { name: 'blue', labels: { team: 'blue' }, state: 'CONNECTED' },
      { name: 'odd', state: 'MISCONFIGURED', problem: 'KUBECONFIG_INVALID' },
    ])
    expect(gateway.log.join('\n')).toContain(
      'directory all.yaml: cluster "plain" is left out: configuration has the name already',
    )
  })

  it('a subscription to gatewayClusters has all of them again after each change, and nothing else', async () => {
    await putCluster('one.yaml', one)
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir }],
      retryMs: 100,
    })
    const frames: Fields[] = []
    const client = gateway.connect()
    const leave = client.subscribe(
      {
        query: `subscription ($coalesceMs: Int, $version: Boolean!) {
          fleet: gatewayClusters(coalesceMs: $coalesceMs) { name ...state }
        }
        fragment state on GatewayCluster { state version @include(if: $version) }`,
        variables: { coalesceMs: 20, version: false },
      },
      { next: (frame) => frames.push(frame), error: () => {}, complete: () => {} },
    )
    const connected = (name: string): object => ({ name, state: 'CONNECTED' })
    await expect.poll(() => frames, wait).toEqual([{ data: { fleet: [connected('one')] } }])
    await configMap(one, 'that-is-none-of-its-changes')
    await putCluster('two.yaml', two)
    const both = { data: { fleet: [connected('one'), connected('two')] } }
    await expect.poll(() => frames.at(-1), wait).toEqual(both)
    two.faults.inject({ fault: { type: 'refuse-connections', forMs: 3_000 } })
    const away = { name: 'two', state: 'UNREACHABLE' }
    await expect
      .poll(() => frames.at(-1), wait)
      .toEqual({ data: { fleet: [connected('one'), away] } })
    await expect.poll(() => frames.at(-1), wait).toEqual(both)
    await rm(join(dir, 'two.yaml'))
    await expect.poll(() => frames.at(-1), wait).toEqual({ data: { fleet: [connected('one')] } })
    for (const [at, frame] of frames.entries()) expect(frame).not.toEqual(frames[at - 1])
    leave()
  })

  it('takes over rotated credentials without throwing away what is cached', async () => {
    await putCluster('one.yaml', one)
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir }],
    })
    const live = await followed(gateway, 'one')
    const deployments = '{ deployments { totalCount } }'
    expect(await gateway.query(deployments)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
    await putCluster('one.yaml', one, after.token)
    await expect
      .poll(() => gateway.query(deployments), wait)
      .toMatchObject({ data: { deployments: { totalCount: 0 } } })
    await configMap(one, 'later')
    await live.until('later', hasName('later'))
    expect(live.frames.filter(({ reset }) => reset)).toHaveLength(1)
    expect(live.problems).toEqual([])
    expect(gateway.log.join('\n')).toContain('one: its credentials have changed')
    expect(gateway.log.join('\n')).not.toContain(after.token)
  })

  it('connects anew where the address changes, and answers meanwhile', async () => {
    await putCluster('one.yaml', one, after.token)
    await configMap(two, 'there')
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir }],
    })
    await followed(gateway, 'one')
    await putCluster('one.yaml', two, after.token)
    const names = async (): Promise<readonly string[]> => {
      const { configMaps } = await gateway.data(
        '{ configMaps(namespace: "default") { nodes { metadata { name } } } }',
      )
      return configMaps.nodes.map(({ metadata }: Fields) => metadata.name)
    }
    await expect.poll(names, wait).toContain('there')
  })

  it('has no cluster of a source review the tokens of callers', async () => {
    await putCluster('one.yaml', one, after.token)
    const clusterSources = [{ type: 'directory', path: dir }] as const
    const refused = async (options: GatewayOptions, auth: object): Promise<unknown> =>
      await serveGateway(options, {}, { auth: { mode: 'token-review', ...auth } }).then(
        async (served) => served[Symbol.asyncDispose](),
        (error: unknown) => error,
      )
    expect(await refused({ clusters: [], clusterSources }, {})).toMatchObject({
      code: 'NO_REVIEWER',
      hint: 'add the cluster that reviews tokens to clusters',
    })
    const configured = { name: 'two', server: two.url }
    expect(
      await refused({ clusters: [configured], clusterSources }, { cluster: 'one' }),
    ).toMatchObject({ code: 'NO_REVIEWER', value: 'one', hint: 'name one of these: two' })
    gateway = await serveGateway({ clusters: [], clusterSources })
  })

  it('makes the schema anew only where the API differs', async () => {
    await putCluster('one.yaml', one, after.token)
    gateway = await serveGateway({
      clusters: [],
      clusterSources: [{ type: 'directory', path: dir }],
    })
    const { schema } = gateway.gateway
    await putCluster('two.yaml', two, after.token)
    await expect
      .poll(() => clusterNamed(gateway, 'two'), wait)
      .toMatchObject({ state: 'CONNECTED' })
    expect(gateway.gateway.schema).toBe(schema)
    const response = await fetch(two.url + definitionsPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${after.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(definitionOf('Gear', 'hot.example.com', [versionOf('v1', {})])),
    })
    expect(response.status).toBe(201)
    await expect
      .poll(() => gateway.query('{ hotExampleComGears(cluster: "two") { totalCount } }'), wait)
      .toMatchObject({ data: { hotExampleComGears: { totalCount: 0 } } })
    expect(gateway.gateway.schema).not.toBe(schema)
  })
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describeClusters('clusters of the Secrets of a hub', (hub) => {
  let one: Simulator
  let two: Simulator
  let gateway: ServedGateway

  beforeAll(async () => {
    ;[one, two] = await Promise.all([started(), started()])
    for (const name of ['argocd', 'capi-a', 'capi-b']) {
      await must(hub(), '/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } })
    }
  })
  afterAll(async () => {
    await one[Symbol.asyncDispose]()
    await two[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const namespace of ['argocd', 'capi-a', 'capi-b']) {
      await must(hub(), `/api/v1/namespaces/${namespace}/secrets`, { method: 'DELETE' })
    }
  })

  const secret = (
    namespace: string,
    name: string,
    labels: object,
    values: Readonly<Record<string, string>>,
  ): Fields => ({
    metadata: { name, namespace, labels },
    data: Object.fromEntries(Object.entries(values).map(([key, text]) => [key, base64(text)])),
  })
  const create = (body: Fields): Promise<Fields> =>
    must(hub(), `/api/v1/namespaces/${body.metadata.namespace}/secrets`, { method: 'POST', body })
  const replace = (body: Fields): Promise<Fields> =>
    must(hub(), `/api/v1/namespaces/${body.metadata.namespace}/secrets/${body.metadata.name}`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body,
    })
  const remove = ({ metadata: { namespace, name } }: Fields): Promise<Fields> =>
    must(hub(), `/api/v1/namespaces/${namespace}/secrets/${name}`, { method: 'DELETE' })

  const argo = (name: string, server: string, config: object, labels: object = {}): Fields =>
    secret(
      'argocd',
      `cluster-${name}`,
      { 'argocd.argoproj.io/secret-type': 'cluster', ...labels },
      { name, server, config: JSON.stringify(config) },
    )
  const clusterApi = (namespace: string, name: string, value: string): Fields =>
    secret(namespace, `${name}-kubeconfig`, { 'cluster.x-k8s.io/cluster-name': name }, { value })

  const serve = async (
    source: 'argocd' | 'cluster-api',
    further: object = {},
  ): Promise<ServedGateway> =>
    await serveGateway({
      clusters: [{ name: 'hub', ...hub().selection }],
      clusterSources: [{ type: source, hub: 'hub', ...further }],
    })

  it("Argo CD's key `namespaces` limits what is cached of a cluster", async () => {
    const described = argo('one', one.url, { bearerToken: before.token })
    await create({
      ...described,
      data: { ...described.data, namespaces: base64('kube-system, default') },
    })
    gateway = await serve('argocd')
    const query = `{ namespaces: configMaps(cluster: "one", first: 500) { nodes { namespace } }
      gatewayClusters { name resources(loaded: true) { type namespaces } } }`
    const { data } = await gateway.query(query)
    const cached = new Set((data.namespaces.nodes as Fields[]).map(({ namespace }) => namespace))
    expect([...cached].every((name) => ['kube-system', 'default'].includes(name as string))).toBe(
      true,
    )
    const { resources } = data.gatewayClusters.find(({ name }: Fields) => name === 'one')
    expect(resources).toContainEqual({ type: 'ConfigMap', namespaces: ['default', 'kube-system'] })
  })

  it("Argo CD's come, are rotated and go, while the others go on", async () => {
    await create(argo('one', one.url, { bearerToken: before.token }, { region: 'eu' }))
    gateway = await serve('argocd')
    expect(await clustersOf(gateway)).toMatchObject([
      { name: 'hub', source: 'configuration', state: 'CONNECTED' },
      {
        name: 'one',
        source: 'argocd hub/argocd/cluster-one',
        labels: { region: 'eu', 'argocd.argoproj.io/secret-type': 'cluster' },
        state: 'CONNECTED',
      },
    ])
    const live = await followed(gateway, 'one')
    const second = argo('two', two.url, { bearerToken: before.token })
    await create(second)
    await expect
      .poll(() => clusterNamed(gateway, 'two'), wait)
      .toMatchObject({ state: 'CONNECTED' })
    const onTwo = await followed(gateway, 'two')
    const deployments = '{ deployments(cluster: "two") { totalCount } }'
    expect(await gateway.query(deployments)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
    await replace(argo('two', two.url, { bearerToken: after.token }, { region: 'us' }))
    await expect
      .poll(() => gateway.query(deployments), wait)
      .toMatchObject({ data: { deployments: { totalCount: 0 } } })
    expect((await clusterNamed(gateway, 'two')).labels).toMatchObject({ region: 'us' })
    await configMap(two, 'rotated')
    await onTwo.until('rotated', hasName('rotated'))
    expect(onTwo.frames.filter(({ reset }) => reset)).toHaveLength(1)
    await remove(second)
    await expect.poll(() => namesOf(gateway), wait).toEqual(['hub', 'one'])
    await expect.poll(() => onTwo.ended(), wait).toBe(true)
    await configMap(one, 'argo-later')
    await live.until('later', hasName('argo-later'))
    expect(live.problems).toEqual([])
    for (const { token } of [before, after]) expect(gateway.log.join('\n')).not.toContain(token)
  })

  it('those that cannot be used are told by a code, and quote no value', async () => {
    await create(argo('aws', 'https://127.0.0.1:1', { awsAuthConfig: { clusterName: 'eks' } }))
    await create(
      argo('exec', 'https://127.0.0.1:1', { execProviderConfig: { command: 'gke-auth' } }),
    )
    await create(argo('address', 'ftp://127.0.0.1', {}))
    await create(
      secret(
        'argocd',
        'cluster-text',
        { 'argocd.argoproj.io/secret-type': 'cluster' },
        { name: 'text', server: one.url, config: '{"bearerToken": "hidden-token' },
      ),
    )
    await create(argo('in-cluster', 'https://kubernetes.default.svc', {}))
    gateway = await serve('argocd')
    expect(
      (await clustersOf(gateway)).map(({ name, state, problem }: Fields) => [name, state, problem]),
    ).toEqual([
      ['hub', 'CONNECTED', null],
      ['address', 'MISCONFIGURED', 'SERVER_INVALID'],
      ['aws', 'MISCONFIGURED', 'CREDENTIALS_UNSUPPORTED'],
      ['exec', 'MISCONFIGURED', 'CREDENTIALS_UNSUPPORTED'],
      ['text', 'MISCONFIGURED', 'KUBECONFIG_INVALID'],
    ])
    expect(gateway.log.join('\n')).toContain('the program "gke-auth"')
    expect(gateway.log.join('\n')).not.toContain('hidden-token')
    await create(argo('good', one.url, { bearerToken: before.token }))
    await expect
      .poll(() => clusterNamed(gateway, 'good'), wait)
      .toMatchObject({ state: 'CONNECTED' })
    await replace(argo('address', two.url, { bearerToken: before.token }))
    await expect
      .poll(() => clusterNamed(gateway, 'address'), wait)
      .toMatchObject({ state: 'CONNECTED', problem: null })
  })

  it('those that run a program give it the arguments and variables that are allowed, and no others', async () => {
    const script = join(await mkdtemp(join(tmpdir(), 'informerql-plugin-')), 'plugin.cjs')
    await writeFile(
      script,
      `console.log(JSON.stringify({ kind: 'ExecCredential', status: { token: process.env.TOKEN },
        apiVersion: 'client.authentication.k8s.io/v1' }))`,
    )
    const withPlugin = (args: readonly string[], env: object): object => ({
      execProviderConfig: {
        command: process.execPath,
        args,
        env: { TOKEN: before.token, ...env },
        apiVersion: 'client.authentication.k8s.io/v1',
      },
    })
    const asked: Readonly<Record<string, object>> = {
      allowed: withPlugin([script, '--cluster', 'one'], {}),
      evaluated: withPlugin(['-e', '1', script], {}),
      fewer: withPlugin([script, '--cluster'], {}),
      further: withPlugin([script, '--cluster', 'one', '--to=elsewhere'], {}),
      option: withPlugin([script, '--cluster', '--to=elsewhere'], {}),
      variable: withPlugin([script, '--cluster', 'one'], { NODE_OPTIONS: '--require /tmp/x' }),
    }
    for (const [name, config] of Object.entries(asked)) await create(argo(name, one.url, config))
    const line = `TOKEN=* ${process.execPath} ${script} --cluster *`
    gateway = await serve('argocd', { execCommands: [line] })
    const clusters = (await clustersOf(gateway)).slice(1)
    const refused = ['MISCONFIGURED', 'CREDENTIALS_UNSUPPORTED']
    expect(clusters.map(({ name, state, problem }: Fields) => [name, state, problem])).toEqual([
      ['allowed', 'CONNECTED', null],
      ...Object.keys(asked)
        .slice(1)
        .map((name) => [name, ...refused]),
    ])
    expect(gateway.log.join('\n')).not.toContain('elsewhere')
  })

  it('a broken Secret leaves its cluster as it was, and says so', async () => {
    await create(argo('one', one.url, { bearerToken: before.token }))
    gateway = await serve('argocd')
    const live = await followed(gateway, 'one')
    await replace(argo('one', 'nowhere', {}))
    await expect
      .poll(() => clusterNamed(gateway, 'one'), wait)
      .toMatchObject({ state: 'CONNECTED', problem: 'SERVER_INVALID' })
    await configMap(one, 'still')
    await live.until('still', hasName('still'))
    await replace(argo('one', one.url, { bearerToken: before.token }))
    await expect.poll(() => clusterNamed(gateway, 'one'), wait).toMatchObject({ problem: null })
    expect(live.problems).toEqual([])
  })

  it("Cluster API's come, are rotated and go, in every namespace or in some", async () => {
    await create(clusterApi('capi-a', 'one', kubeconfigText(one.url, before.token)))
    await create(clusterApi('capi-b', 'one', kubeconfigText(two.url, before.token)))
    // Of the same label, and none of a cluster.
    await create(
      secret('capi-a', 'one-ca', { 'cluster.x-k8s.io/cluster-name': 'one' }, { value: 'a key' }),
    )
    gateway = await serveGateway({
      clusters: [{ name: 'hub', ...hub().selection }],
      clusterSources: [
        { type: 'cluster-api', hub: 'hub', namespaces: ['capi-a'], prefix: 'a-' },
        { type: 'cluster-api', hub: 'hub' },
      ],
    })
    expect(
      (await clustersOf(gateway)).map(({ name, source }: Fields) => [name, source]),
    ).toMatchObject([
      ['hub', 'configuration'],
      ['a-one', 'cluster-api hub/capi-a/one-kubeconfig'],
      ['one', expect.stringMatching(/^cluster-api hub\/capi-[ab]\/one-kubeconfig$/)],
    ])
    expect(gateway.log.join('\n')).toMatch(/cluster "one" is left out: cluster-api hub\/capi-/)
    const live = await followed(gateway, 'a-one')
    await replace(clusterApi('capi-a', 'one', kubeconfigText(one.url, after.token)))
    await expect
      .poll(() => gateway.query('{ deployments(cluster: "a-one") { totalCount } }'), wait)
      .toMatchObject({ data: { deployments: { totalCount: 0 } } })
    const other = clusterApi('capi-a', 'two', kubeconfigText(two.url, after.token))
    await create(other)
    await expect
      .poll(() => clusterNamed(gateway, 'two'), wait)
      .toMatchObject({ state: 'CONNECTED', labels: { 'cluster.x-k8s.io/cluster-name': 'two' } })
    await remove(other)
    await expect.poll(() => namesOf(gateway), wait).toEqual(['hub', 'a-one', 'one'])
    await configMap(one, 'capi-later')
    await live.until('later', hasName('capi-later'))
    expect(live.problems).toEqual([])
  })

  it('one whose kubeconfig names files or a program of the gateway is refused', async () => {
    const named: Fields = JSON.parse(kubeconfigText('https://127.0.0.1:1', 't'))
    const withUser = (user: object): string =>
      JSON.stringify({ ...named, users: [{ name: 'test', user }] })
    await create(clusterApi('capi-a', 'file', withUser({ tokenFile: '/etc/hostname' })))
    await create(clusterApi('capi-a', 'key', withUser({ 'client-key': '/etc/hostname' })))
    await create(clusterApi('capi-a', 'program', withUser({ exec: { command: '/bin/true' } })))
    await create(clusterApi('capi-a', 'text', 'users: [ { token: hidden-token'))
    gateway = await serve('cluster-api')
    const clusters = (await clustersOf(gateway)).slice(1)
    expect(clusters.map(({ name, problem }: Fields) => [name, problem])).toEqual([
      ['file', 'CREDENTIALS_UNSUPPORTED'],
      ['key', 'CREDENTIALS_UNSUPPORTED'],
      ['program', 'CREDENTIALS_UNSUPPORTED'],
      ['text', 'KUBECONFIG_INVALID'],
    ])
    expect(gateway.log.join('\n')).not.toContain('hidden-token')
  })

  it('stay while the hub is away, and the source says so', async () => {
    await create(argo('one', one.url, { bearerToken: before.token }))
    gateway = await serve('argocd')
    const live = await followed(gateway, 'one')
    await hub().outage({ forgetHistory: true })
    await expect.poll(() => gateway.log.join('\n'), wait).toContain('its 1 clusters stay')
    await expect.poll(() => gateway.log.join('\n'), wait).toContain('argocd hub: is followed again')
    expect(await clusterNamed(gateway, 'one')).toMatchObject({ state: 'CONNECTED', problem: null })
    await create(argo('two', two.url, { bearerToken: before.token }))
    await expect
      .poll(() => clusterNamed(gateway, 'two'), wait)
      .toMatchObject({ state: 'CONNECTED' })
    await configMap(one, 'after-outage')
    await live.until('later', hasName('after-outage'))
    expect(live.problems).toEqual([])
  })
})
