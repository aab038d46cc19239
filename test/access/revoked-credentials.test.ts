import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayMetrics } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { startCountedServer } from './counted-server.ts'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { startProgram } from '../support/example-process.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { serveGateway } from '../support/gateway.ts'
import { freePort } from '../support/service-proxy.ts'

const own = { token: 'the-gateway-itself', user: 'gateway', uid: 'u-0', groups: ['system:masters'] }
const ann = { token: 'a-secret-of-ann', user: 'ann', uid: 'u-1', groups: ['system:masters'] }
/** Longer than the gateway uses a token before it looks at its file again. */
const wait = { timeout: 60_000 }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'informerql-revoked-'))
})
afterAll(async () => rm(folder, { recursive: true, force: true }))

let files = 0
/** The same kubeconfig with its token in a file, which may be overwritten. */
const withTokenFile = async (
  text: string,
): Promise<{
  readonly kubeconfig: string
  readonly overwrite: (token: string) => Promise<void>
}> => {
  const kubeconfig = join(folder, `${++files}.yaml`)
  const tokenFile = join(folder, `${files}.token`)
  const overwrite = (token: string): Promise<void> => writeFile(tokenFile, `${token}\n`)
  const config = parse(text) as { users: { user: object }[] }
  const users = config.users.map((one) => ({ ...one, user: { tokenFile } }))
  await Promise.all([overwrite(own.token), writeFile(kubeconfig, stringify({ ...config, users }))])
  return { kubeconfig, overwrite }
}

const suite = (kubeconfigOfGateway: () => Promise<string>): void => {
  it('credentials that are revoked while the gateway runs are said at once: in the state, the log, the metrics and to callers; and pass with new ones', async () => {
    const { kubeconfig, overwrite } = await withTokenFile(await kubeconfigOfGateway())
    const metrics = new GatewayMetrics()
    await using gateway = await serveGateway(
      { clusters: [{ name: 'one', kubeconfig }], metrics },
      {},
      { auth: { mode: 'token-review' } },
    )
    const caller = gateway.as(ann.token)
    const state = async (): Promise<unknown> =>
      (await caller.data('{ gatewayClusters { state problem } }')).gatewayClusters[0]
    await caller.data('{ pods { totalCount } }')
    expect(await state()).toEqual({ state: 'CONNECTED', problem: null })

    await overwrite('of-nobody')
    let strangers = 0
    const refusal = async (): Promise<string | undefined> => {
      const { errors } = await gateway.as(`unknown-${strangers++}`).query('{ pods { totalCount } }')
      return errors?.[0]?.extensions.hint
    }
    await expect
      .poll(refusal, wait)
      .toContain("does not accept the gateway's own credentials: tell its operator")
    const { errors } = await caller.query('{ services { totalCount } }')
    expect(errors).toMatchObject([
      {
        message: "cluster one does not accept the gateway's credentials",
        extensions: { code: 'CLUSTER_UNAUTHORIZED', cluster: 'one' },
      },
    ])
    const refused = { state: 'UNAUTHORIZED', problem: 'CLUSTER_UNAUTHORIZED' }
    await expect.poll(state, wait).toEqual(refused)
    const said = (): readonly string[] =>
      gateway.log.filter((line) => line.includes("not accept the gateway's credentials"))
    expect(said()).toEqual([expect.stringContaining('one: the API server does not accept')])
    const text = await metrics.text()
    expect(text).toContain('informerql_cluster_unauthorized{cluster="one"} 1')
    expect(text).toContain('informerql_cluster_connected{cluster="one"} 0')

    await overwrite(own.token)
    await expect.poll(state, wait).toEqual({ state: 'CONNECTED', problem: null })
    expect((await caller.query('{ services { totalCount } }')).errors).toBeUndefined()
    expect(gateway.log.join('\n')).toContain("accepts the gateway's credentials again")
    expect(await metrics.text()).toContain('informerql_cluster_unauthorized{cluster="one"} 0')
    expect(said()).toHaveLength(1)
  })

  it('a cluster that refuses the credentials at the start is UNAUTHORIZED, and is served once they are renewed', async () => {
    const text = await kubeconfigOfGateway()
    const [late, good] = [await withTokenFile(text), await withTokenFile(text)]
    await late.overwrite('of-nobody')
    await using gateway = await serveGateway({
      clusters: [
        { name: 'good', kubeconfig: good.kubeconfig },
        { name: 'late', kubeconfig: late.kubeconfig },
      ],
      retryMs: 50,
    })
    const query = `{
      gatewayClusters { name state }
      namespaces(clusters: ["*"]) { incomplete { cluster code } }
    }`
    const rows = `{ problems(clusters: ["*"]) { nodes { kind severity reason message object { name } } } }`
    const first = async (): Promise<unknown> =>
      (await gateway.query(rows)).data.problems.nodes[0] ?? null
    expect(await first()).toEqual({
      kind: 'Cluster',
      severity: 'CRITICAL',
      reason: 'ClusterUnauthorized',
      message: 'its API server does not accept the credentials of the gateway',
      object: { name: 'late' },
    })
    const { data, errors } = await gateway.query(query)
    expect(data).toEqual({
      gatewayClusters: [
        { name: 'good', state: 'CONNECTED' },
        { name: 'late', state: 'UNAUTHORIZED' },
      ],
      namespaces: { incomplete: [{ cluster: 'late', code: 'CLUSTER_UNAUTHORIZED' }] },
    })
    expect(errors).toMatchObject([{ extensions: { code: 'CLUSTER_UNAUTHORIZED' } }])
    await late.overwrite(own.token)
    await expect
      .poll(async () => (await gateway.query(query)).data.namespaces.incomplete, wait)
      .toEqual([])
    await expect.poll(first, wait).not.toMatchObject({ kind: 'Cluster' })
  })
}

describe('a gateway whose credentials are refused, on the simulator', () => {
  const resources = new AsyncDisposableStack()
  let shared: Simulator
  beforeAll(async () => {
    shared = resources.use(await startSimulator({ users: [own, ann] }))
  })
  afterAll(async () => resources.disposeAsync())
  suite(async () => kubeconfigText(shared.url, own.token))

  it('is CONNECTED all the same if only one API refuses it', async () => {
    await using simulator = await startSimulator({ users: [own, ann] })
    await using between = await startCountedServer(simulator.url)
    const { kubeconfig } = await withTokenFile(kubeconfigText(between.url, own.token))
    const match = { resource: 'configmaps' }
    simulator.faults.inject({ fault: { type: 'status', code: 401 }, match, times: 1_000_000 })
    await using gateway = await serveGateway({ clusters: [{ name: 'one', kubeconfig }] })
    const asked = between.count('/version')
    const { errors } = await gateway.query('{ configMaps { totalCount } }')
    expect(errors).toMatchObject([{ extensions: { code: 'CLUSTER_UNAUTHORIZED' } }])
    // It asks whether all requests are refused.
    await expect.poll(() => between.count('/version')).toBeGreaterThan(asked)
    const state = '{ gatewayClusters { state } }'
    expect((await gateway.data(state)).gatewayClusters).toEqual([{ state: 'CONNECTED' }])
  })

  it('is in the same state when the credentials can no longer be read', async () => {
    await using simulator = await startSimulator({ users: [own, ann] })
    const { kubeconfig, overwrite } = await withTokenFile(kubeconfigText(simulator.url, own.token))
    await using gateway = await serveGateway({ clusters: [{ name: 'one', kubeconfig }] })
    const states = async (): Promise<unknown> => {
      // A read that needs the API server, whatever is cached.
      await gateway.query('{ node(name: "none", live: true) { kind } }')
      return (await gateway.data('{ gatewayClusters { state } }')).gatewayClusters[0].state
    }
    expect(await states()).toBe('CONNECTED')
    await rm(kubeconfig.replace('.yaml', '.token'))
    await expect.poll(states, wait).toBe('UNAUTHORIZED')
    await overwrite(own.token)
    await expect.poll(states, wait).toBe('CONNECTED')
  })

  it('knows how long the credentials and certificates of the gateway still count', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 7_200
    const claims = Buffer.from(JSON.stringify({ exp })).toString('base64url')
    const token = `e30.${claims}.signature`
    await using simulator = await startSimulator({ users: [{ ...own, token }] })
    await using authority = await createCertificateAuthority()
    const to = new Date(exp * 1_000)
    const client = await authority.issue({ name: 'client', to })
    const server = await authority.issue({ name: 'server', to })
    const inText = join(folder, 'credentials.json')
    const config = parse(kubeconfigText(simulator.url, token)) as { users: object[] }
    const [certificate, key] = [client.certFile, client.keyFile]
    const user = { token, 'client-certificate': certificate, 'client-key': key }
    await writeFile(inText, JSON.stringify({ ...config, users: [{ name: 'test', user }] }))
    const inFile = await withTokenFile(kubeconfigText(simulator.url, token))
    await inFile.overwrite(token)
    const metrics = new GatewayMetrics()
    await using _gateway = await serveGateway(
      {
        clusters: [
          { name: 'one', kubeconfig: inText },
          { name: 'two', kubeconfig: inFile.kubeconfig },
        ],
        metrics,
      },
      { tlsCert: server.certFile, tlsKey: server.keyFile },
      { metrics, observer: metrics.server },
    )
    const text = await metrics.text()
    const name = 'informerql_credentials_expire_seconds'
    for (const [cluster, credential] of [
      ['one', 'client-certificate'],
      ['one', 'token'],
      ['two', 'token-file'],
      ['', 'serving-certificate'],
    ]) {
      const labels = `${name}{cluster="${cluster}",credential="${credential}"} `
      const line = text.split('\n').find((one) => one.startsWith(labels))
      const seconds = Number(line?.slice(labels.length))
      expect(seconds, labels).toBeGreaterThan(0)
      expect(seconds, labels).toBeLessThanOrEqual(7_200)
    }
  })

  it('writes one line without a stack for a flood of tokens that cannot be verified', async () => {
    await using simulator = await startSimulator({ users: [own, ann] })
    const { kubeconfig } = await withTokenFile(kubeconfigText(simulator.url, own.token))
    const port = await freePort()
    const args = ['src/main.ts', 'serve', '--kubeconfig', kubeconfig, '--port', String(port)]
    const options = ['--auth', 'token-review', '--log-format', 'json']
    await using gateway = startProgram(process.execPath, [...args, ...options], { timeout: 60_000 })
    await gateway.printed('informerql answers at')
    simulator.faults.inject({ fault: { type: 'cut' } })
    const ask = async (token: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const body = JSON.stringify({ query: '{ pods { totalCount } }' })
      const address = `http://127.0.0.1:${port}/graphql`
      return (await fetch(address, { method: 'POST', headers, body })).status
    }
    for (let round = 0; round < 10; round++) {
      const tokens = Array.from({ length: 30 }, (_, at) => `unknown-${round}-${at}`)
      expect(new Set(await Promise.all(tokens.map(ask)))).toEqual(new Set([503]))
    }
    const lines = gateway.lines.filter((line) => line.includes('tokens cannot be verified'))
    const causes = new Set(lines.map((line) => (JSON.parse(line) as { msg: string }).msg))
    expect(lines).toHaveLength(causes.size)
    expect(causes.size).toBeLessThanOrEqual(3)
    expect(lines.join('\n')).not.toContain('stack')
  })
})

describeWithControlPlane(
  'a gateway whose credentials are refused',
  (plane) => {
    suite(async () => readFile(await plane().kubeconfigFor(own.token), 'utf8'))
  },
  { tokens: [own, ann] },
)
