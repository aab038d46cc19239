import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request as forward, type Server } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { startCountedServer } from '../access/counted-server.ts'
import { describeNamespacedAccount } from '../gateway/namespaced-account.ts'

interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly message: string
  readonly code?: string
  readonly hint?: string
}
interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** The most resident memory of the process, as far as it was seen. */
  readonly mostBytes: number
}

/** The resident memory of a process, where the system tells it. */
const residentBytes = (pid: number | undefined): number => {
  try {
    const [, kibibytes = 0] =
      /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kibibytes) * 1024
  } catch {
    return 0
  }
}

/** Runs `informerql doctor` as a process of its own. */
const doctor = (...args: readonly string[]): Promise<Ended> => {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent' }
  return new Promise((resolve) => {
    const program = ['src/main.ts', 'doctor', ...args]
    let mostBytes = 0
    const child = execFile(process.execPath, program, { env }, (error, stdout, stderr) => {
      clearInterval(looking)
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr, mostBytes })
    })
    const looking = setInterval(() => {
      mostBytes = Math.max(mostBytes, residentBytes(child.pid))
    }, 20)
  })
}

/** The findings of each cluster of a JSON report. */
const findingsIn = ({ stdout }: Ended): ReadonlyMap<string, readonly Finding[]> => {
  const { clusters } = JSON.parse(stdout) as {
    clusters: readonly { name: string; findings: readonly Finding[] }[]
  }
  return new Map(clusters.map(({ name, findings }) => [name, findings]))
}
const wrong = (findings: readonly Finding[] = []): readonly Finding[] =>
  findings.filter(({ state }) => state !== 'ok')

const jwt = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'signature-of-it']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

describe('informerql doctor', () => {
  const users = [
    { token: 'hidden-token-of-root', user: 'root', groups: ['system:masters'] },
    { token: 'hidden-token-of-nobody', user: 'nobody' },
    { token: 'hidden-token-of-reader', user: 'reader' },
  ]
  let folder: string
  let simulator: Simulator
  let silent: Simulator
  /** Between the gateway and the simulator, with a clock of its own. */
  let skewed: Server
  let skewedUrl: string
  /** With a certificate of an authority that no kubeconfig names. */
  let other: SecureServer
  let otherUrl: string
  let authority: CertificateAuthority

  const admin: object = { token: users[0]?.token }
  const kubeconfig = async (
    name: string,
    { server = simulator.url, user = admin, cluster = {} } = {},
  ): Promise<object> => {
    const file = join(folder, `${name}.json`)
    const config = {
      clusters: [{ name, cluster: { server, ...cluster } }],
      users: [{ name, user }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    }
    await writeFile(file, JSON.stringify(config))
    return { name, kubeconfig: file }
  }
  const configured = async (config: object): Promise<string> => {
    const file = join(folder, 'config.json')
    await writeFile(file, JSON.stringify(config))
    return file
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'informerql-doctor-'))
    simulator = await startSimulator({ authorization: 'rbac', users })
    silent = await startSimulator()
    silent.faults.inject({ fault: { type: 'hang' } })
    skewed = createServer({}, (request, response) => {
      const { method, headers, url = '' } = request
      const passed = forward(new URL(url, simulator.url), { method, headers }, (answer) => {
        const date = new Date(Date.now() + 300_000).toUTCString()
        response.writeHead(answer.statusCode ?? 500, { ...answer.headers, date })
        pipeline(answer, response, () => {})
      })
      pipeline(request, passed, () => {})
    })
    skewed.listen(0, '127.0.0.1')
    await once(skewed, 'listening')
    authority = await createCertificateAuthority()
    other = createSecureServer(await authority.issue({ name: 'other' }))
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    otherUrl = `https://127.0.0.1:${(other.address() as AddressInfo).port}`
    skewedUrl = `http://127.0.0.1:${(skewed.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    for (const server of [skewed, other]) {
      server.closeAllConnections()
      server.close()
    }
    await authority[Symbol.asyncDispose]()
    await silent[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  it('finds nothing wrong with a cluster that can be served, and exits with 0', async () => {
    const clusters = [await kubeconfig('prod')]
    const file = await configured({ clusters, preload: ['namespaces'] })
    const ended = await doctor('--config', file)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    for (const line of [
      /^informerql \d\S*, Node v\d/,
      /^prod$/m,
      /^ {2}ok {7}configuration {3}\S+prod\.json, context prod: http:/m,
      /^ {2}ok {7}credentials {5}a token of user prod$/m,
      /^ {2}ok {7}reach {11}port \d+ is open, in \d+ ms$/m,
      /^ {2}ok {7}versions {8}Kubernetes v1\.\d+/m,
      /^ {2}ok {7}clock /m,
      /^ {2}ok {7}rights {10}lists and watches (\d+) of \1 kinds$/m,
      /^ {2}ok {7}start {11}made a schema of \d+ types in \d+ ms$/m,
      /^ {2}ok {7}start {11}listed namespaces: \d+ objects, the first in \d+ ms$/m,
      /^1 cluster: 0 problems, 0 warnings$/m,
    ]) {
      expect(ended.stdout).toMatch(line)
    }
    expect(ended.stdout).not.toContain('hidden-token')
  })

  it('lists no kind as a whole, and needs no more memory for a large cluster than for an empty one', async () => {
    const startWith = (configMaps: number): Promise<Simulator> =>
      startSimulator({
        populate(storage) {
          const resource = {
            group: '',
            version: 'v1',
            resource: 'configmaps',
            kind: 'ConfigMap',
            namespaced: true,
          }
          for (let at = 0; at < configMaps; at += 1) {
            const metadata = { name: `c-${at}`, namespace: 'large' }
            const data = { text: `${at} `.repeat(20_000) }
            storage.create(resource, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
          }
        },
      })
    const examined = async (configMaps: number) => {
      await using cluster = await startWith(configMaps)
      await using counted = await startCountedServer(cluster.url)
      const clusters = [await kubeconfig(`with-${configMaps}`, { server: counted.url })]
      const file = await configured({ clusters, preload: ['configMaps'] })
      const ended = await doctor('--config', file, '--json')
      expect(ended.code).toBe(0)
      const [, count] = /listed configMaps: (\d+) objects/.exec(ended.stdout) ?? []
      expect(counted.counted(/configmaps\?(?!limit=1$)/)).toBe(0)
      return { count: Number(count), mostBytes: ended.mostBytes }
    }
    const empty = await examined(0)
    const large = await examined(2_000)
    expect({ empty: empty.count, large: large.count }).toEqual({ empty: 0, large: 2_000 })
    expect(large.mostBytes - empty.mostBytes).toBeLessThan(50_000_000)
  })

  it('names what is wrong with each of several clusters, and the way out, and exits with 1', async () => {
    const expired = jwt({ exp: 1_700_000_000 })
    const clusters = [
      await kubeconfig('unauthorized', { user: { token: 'hidden-token-of-a-stranger' } }),
      await kubeconfig('forbidden', { user: { token: users[1]?.token } }),
      await kubeconfig('expired', { user: { token: expired } }),
      await kubeconfig('no-plugin', {
        user: {
          exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin' },
        },
      }),
      await kubeconfig('unreachable', { server: 'http://127.0.0.1:1' }),
      await kubeconfig('unknown-name', { server: 'https://nowhere.invalid' }),
      await kubeconfig('no-tls', { server: simulator.url.replace('http:', 'https:') }),
      await kubeconfig('other-ca', { server: otherUrl }),
      await kubeconfig('silent', { server: silent.url }),
      await kubeconfig('skewed', { server: skewedUrl }),
      { name: 'no-file', kubeconfig: join(folder, 'nowhere.json') },
    ]
    const file = await configured({ clusters, auth: { mode: 'token-review' } })
    const ended = await doctor('--config', file, '--json')
    expect(ended).toMatchObject({ code: 1, stderr: '' })
    expect(ended.stdout).not.toMatch(/hidden-token/)
    expect(ended.stdout).not.toContain(expired)
    const found = findingsIn(ended)
    const problem = (check: string, message: RegExp, hint: RegExp, code?: string): object => ({
      check,
      state: 'problem',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
      ...(code === undefined ? {} : { code }),
    })
    expect(wrong(found.get('unauthorized'))).toEqual([
      problem('credentials', /401/, /log in again/, 'API_STATUS'),
    ])
    expect(wrong(found.get('forbidden'))).toContainEqual(
      problem('rights', /none of \d+ kinds/, /ClusterRole/),
    )
    expect(wrong(found.get('forbidden'))).toContainEqual(
      problem('access', /may not create subjectaccessreviews/, /system:auth-delegator/),
    )
    expect(wrong(found.get('expired'))[0]).toEqual(
      problem('credentials', /has expired at 2023-11-14/, /renewed/),
    )
    expect(wrong(found.get('no-plugin'))[0]).toEqual(
      problem('credentials', /"no-such-plugin" of the kubeconfig is not on/, /install it/),
    )
    expect(wrong(found.get('unreachable'))).toEqual([
      problem('reach', /ECONNREFUSED 127\.0\.0\.1:1/, /firewalls/),
    ])
    expect(wrong(found.get('unknown-name'))).toEqual([problem('reach', /nowhere\.invalid/, /DNS/)])
    expect(wrong(found.get('no-tls'))).toEqual([
      problem('reach', /./, /https its protocol/, 'CONNECTION_TLS'),
    ])
    expect(wrong(found.get('other-ca'))).toEqual([
      problem('reach', /./, /certificate-authority/, 'CONNECTION_UNKNOWN_AUTHORITY'),
    ])
    expect(wrong(found.get('silent'))).toEqual([
      problem('reach', /took longer than \d+ ms/, /./, 'CONNECTION_TIMEOUT'),
    ])
    expect(wrong(found.get('skewed'))[0]).toEqual(
      problem('clock', /^the server's clock is (299|300|301) s ahead/, /NTP/),
    )
    expect(wrong(found.get('no-file'))).toEqual([
      problem('configuration', /nowhere\.json does not exist/, /./, 'KUBECONFIG_MISSING'),
    ])
  })

  it('shows no password of an address, reads on after an end that is no date, and names what it cannot preload', async () => {
    const server = simulator.url.replace('//', '//someone:hidden-password@')
    const token = jwt({ exp: 1e300 })
    const clusters = [
      await kubeconfig('address', { server: `${server}/?key=hidden-key` }),
      await kubeconfig('endless', { user: { token } }),
    ]
    const ended = await doctor(
      '--config',
      await configured({ clusters, preload: ['podz'] }),
      '--json',
    )
    expect(ended.stdout).not.toMatch(/hidden-/)
    const found = findingsIn(ended)
    expect(found.get('address')?.[0]?.message).toMatch(new RegExp(`: ${simulator.url}$`))
    expect(wrong(found.get('address'))).toEqual([
      {
        check: 'start',
        state: 'warning',
        message: expect.stringContaining('preload has podz'),
        hint: 'give pods',
      },
    ])
    expect(wrong(found.get('endless'))).toEqual([
      expect.objectContaining({ check: 'credentials', code: 'API_STATUS' }),
    ])
  })

  const programOf = ({ stdout }: Ended): readonly Finding[] =>
    (JSON.parse(stdout) as { program: readonly Finding[] }).program

  it('names what would stop `serve` before it looks at a cluster, each with its way out', async () => {
    await writeFile(join(folder, 'text'), 'no certificate')
    const file = await configured({
      clusters: [await kubeconfig('prod')],
      clusterSources: [{ type: 'directory', path: join(folder, 'no-folder') }],
      server: {
        tlsCert: join(folder, 'text'),
        tlsKey: join(folder, 'no-key'),
        trustedDocuments: 'no-file',
      },
      auth: { mode: 'oidc', audiences: ['a'], oidc: { issuer: 'http://127.0.0.1:1' } },
      audit: { file: join(folder, 'text', 'audit.log') },
      archive: { url: `file:${join(folder, 'text', 'archive.db')}` },
      schemaFiles: ['no.graphql'],
    })
    const ended = await doctor('--config', file, '--json')
    expect(ended.code).toBe(1)
    const hint = expect.stringMatching(/./) as string
    const problem = (check: string, message: RegExp): object =>
      expect.objectContaining({
        check,
        state: 'problem',
        message: expect.stringMatching(message),
        hint,
      })
    expect(programOf(ended)).toEqual([
      problem('tls', /no-key/),
      problem('authentication', /127\.0\.0\.1:1.*ECONNREFUSED/),
      problem('documents', /no-file/),
      problem('schema', /no\.graphql cannot be read/),
      problem('audit', /text is not a folder/),
      problem('archive', /archive\.db cannot be used/),
      problem('sources', /no-folder/),
    ])
    const open = await configured({
      clusters: [],
      clusterSources: [{ type: 'directory', path: folder }],
      server: { host: '0.0.0.0' },
    })
    expect(programOf(await doctor('--config', open, '--json'))).toContainEqual(
      problem('address', /0\.0\.0\.0 is not a loopback address/),
    )
  })

  it('finds nothing wrong with a program that can be served, and writes no file', async () => {
    const certificate = await authority.issue({ name: 'informerql' })
    const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
    await writeFile(cert, certificate.cert)
    await writeFile(key, certificate.key)
    const issuer = createServer((request, response) => {
      const { host } = request.headers
      response.end(JSON.stringify({ issuer: `http://${host}`, jwks_uri: `http://${host}/keys` }))
    }).listen(0, '127.0.0.1')
    await once(issuer, 'listening')
    const { port } = issuer.address() as AddressInfo
    const kubeconfigs = await mkdtemp(join(folder, 'clusters-'))
    const file = await configured({
      clusters: [await kubeconfig('prod')],
      clusterSources: [{ type: 'directory', path: kubeconfigs }],
      server: { tlsCert: cert, tlsKey: key },
      auth: { mode: 'oidc', audiences: ['a'], oidc: { issuer: `http://127.0.0.1:${port}` } },
      audit: { file: join(folder, 'log', 'audit.log') },
      archive: { url: `file:${join(folder, 'log', 'archive.db')}` },
    })
    const ended = await doctor('--config', file, '--json')
    issuer.close()
    issuer.closeAllConnections()
    const sound = (check: string, message: RegExp, state = 'ok'): object => ({
      check,
      state,
      message: expect.stringMatching(message),
    })
    expect(programOf(ended).filter(({ check }) => check !== 'tls')).toEqual([
      sound('authentication', /callers come by oidc; .* says where its keys are/),
      sound('audit', /audit\.log can be written/),
      sound('archive', /archive\.db, which is made at the start/),
      sound('sources', /names 0 clusters, which are not examined/, 'skipped'),
    ])
    expect(programOf(ended)).toContainEqual(
      expect.objectContaining({
        check: 'tls',
        message: expect.stringMatching(/tls\.crt, until 20/),
      }),
    )
    expect(ended.code).toBe(0)
    await expect(readdir(folder)).resolves.not.toContain('log')
  })

  it('takes a cluster whose lists are long for a healthy one', async () => {
    await using large = await startSimulator()
    const match = { resource: 'namespaces', verb: 'list' } as const
    large.faults.inject({ fault: { type: 'slow', bytesPerSecond: 50 }, match, times: 100 })
    const clusters = [await kubeconfig('large', { server: large.url })]
    const file = await configured({ clusters, preload: ['namespaces'], syncDeadlineMs: 100 })
    const ended = await doctor('--config', file, '--json')
    expect(ended.code).toBe(0)
    const found = findingsIn(ended).get('large') ?? []
    expect(found.filter(({ state }) => state === 'problem')).toEqual([])
    expect(found).toContainEqual(expect.objectContaining({ check: 'start', state: 'ok' }))
  })

  it('says who grants what the rights of deploy/kubernetes.yaml leave out', async () => {
    const manifests = parseAllDocuments(await readFile('deploy/kubernetes.yaml', 'utf8'))
    const roles = manifests.map((one) => one.toJS()).filter((one) => one?.kind === 'ClusterRole')
    const post = async (resource: string, body: object): Promise<void> => {
      const url = new URL(`/apis/rbac.authorization.k8s.io/v1/${resource}`, simulator.url)
      const headers = {
        authorization: `Bearer ${users[0]?.token}`,
        'content-type': 'application/json',
      }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(response.status).toBe(201)
    }
    for (const role of roles) {
      const { name } = role.metadata
      await post('clusterroles', role)
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
      const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'reader' }]
      await post('clusterrolebindings', { metadata: { name }, roleRef, subjects })
    }
    const clusters = [await kubeconfig('read', { user: { token: users[2]?.token } })]
    const clusterSources = [{ type: 'argocd', hub: 'read' }]
    const auth = { mode: 'token-review' }
    const file = await configured({ clusters, clusterSources, auth })
    const found = wrong(findingsIn(await doctor('--config', file, '--json')).get('read'))
    expect(found).toContainEqual({
      check: 'rights',
      state: 'warning',
      message: 'may not list or watch secrets',
      hint: expect.stringMatching(/^rbac\.secrets of the chart/),
    })
    expect(found).toContainEqual({
      check: 'sources',
      state: 'problem',
      message: 'may not list and watch the Secrets of argocd in namespace argocd',
      hint: expect.stringMatching(/^rbac\.clusterSecretNamespaces of the chart/),
    })
  })

  it('exits with 2 if its options are not valid', async () => {
    const ended = await doctor('--config', await configured({ clusters: [], colour: 'red' }))
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('colour: there is no such option')
  })
})

describeNamespacedAccount('informerql doctor as an account with few rights', (world) => {
  it('says what the account may not list, and what it may in its namespace', async () => {
    const { selection, grant } = world()
    const { kubeconfig } = await selection('examined')
    await grant('examined', 'green')
    const everywhere = await doctor('--kubeconfig', kubeconfig, '--json')
    expect(everywhere.code).toBe(1)
    expect(findingsIn(everywhere).get('default')).toContainEqual({
      check: 'rights',
      state: 'problem',
      message: expect.stringMatching(/may list and watch none of \d+ kinds$/),
      hint: expect.stringContaining('deploy/kubernetes.yaml'),
    })
    const folder = await mkdtemp(join(tmpdir(), 'informerql-doctor-'))
    try {
      const config = join(folder, 'config.json')
      const cache = { namespaces: ['green'] }
      const clusters = [{ name: 'limited', kubeconfig }]
      await writeFile(config, JSON.stringify({ clusters, cache, preload: ['configMaps'] }))
      const inGreen = await doctor('--config', config, '--json')
      const found = findingsIn(inGreen).get('limited')
      expect(found).toContainEqual({
        check: 'rights',
        state: 'ok',
        message: expect.stringMatching(/^lists and watches \d+ of \d+ kinds in green$/),
      })
      expect(found).toContainEqual({
        check: 'rights',
        state: 'warning',
        message: expect.stringMatching(/^may not list or watch .*nodes/),
        hint: expect.any(String),
      })
      expect(found).toContainEqual({
        check: 'start',
        state: 'ok',
        message: expect.stringMatching(/^listed configMaps: \d+ objects/),
      })
      expect(inGreen.code).toBe(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
