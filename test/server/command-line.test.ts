import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { post } from './small-api.ts'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The program as a process of its own. */
interface Started {
  readonly child: ChildProcess
  /** Resolves when it has printed what matches; rejects where it ends before. */
  readonly printed: (
    pattern: RegExp,
    where?: { readonly from?: 'stdout' | 'stderr' },
  ) => Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
}

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(args: readonly string[], env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    env: { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    stdout,
    stderr,
  }))
  const printed = (
    pattern: RegExp,
    { from = 'stdout' }: { readonly from?: 'stdout' | 'stderr' } = {},
  ): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(from === 'stdout' ? stdout : stderr)
        if (match !== null) resolve(match)
      }
      child[from].on('data', look)
      look()
      ended.then(
        () => reject(new Error(`ended without ${String(pattern)}: ${stdout}${stderr}`)),
        reject,
      )
    })
  return { child, printed, ended }
}

const run = (args: readonly string[], env?: Record<string, string>): Promise<Ended> =>
  start(args, env).ended

describe('informerql schema --gateway', () => {
  it('says why a port is refused that belongs to another protocol', async () => {
    const { code, stderr } = await run(['schema', '--gateway', 'http://127.0.0.1:6000/graphql'])
    expect(code).not.toBe(0)
    expect(stderr).toContain(
      'clients and browsers refuse port 6000, which belongs to another protocol',
    )
    expect(stderr).toContain('serve the gateway on another port')
  })
})

describe('informerql, stopped', () => {
  it('ends when a stop has outlasted its deadlines, whatever it waits for', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = createServer(() => asked.resolve()).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const { child, ended } = start(['schema', '--gateway', `http://127.0.0.1:${port}/graphql`], {
      INFORMERQL_SERVER_DRAIN_SPREAD_MS: '0',
      INFORMERQL_SERVER_STOP_DEADLINE_MS: '1',
    })
    await asked.promise
    child.kill('SIGTERM')
    const { code, stderr } = await ended
    expect(code).toBe(1)
    expect(stderr).toContain('the stop took longer than 4001 ms and is cut short')
    silent.close()
  })
})

describe('informerql demo', () => {
  it('serves a simulated cluster, says how to ask it, shows `schema --gateway` its schema, and stops on SIGTERM', async () => {
    const { child, printed, ended } = start(['demo', '--port', '0', '--pods', '40'])
    const [, url = ''] = await printed(/(http:\/\/127\.0\.0\.1:\d+\/graphql)[\s\S]*Ctrl-C/)
    const [, body = ''] = await printed(/-d '(.+)'/)
    const response = await post(url, body)
    expect(await response.json()).toMatchObject({
      data: { pods: { nodes: [{ node: { metadata: {} } }, { node: { metadata: {} } }] } },
    })

    const [, portal = ''] = await printed(/portal.* (http:\S+)/)
    const page = await fetch(portal, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('<div id="root">')

    const schema = await run(['schema', '--gateway', url])
    expect(schema).toMatchObject({ code: 0, stderr: '' })
    expect(schema.stdout).toContain('type Pod implements KubernetesObject')
    expect(schema.stdout).toContain('@semanticNonNull')
    const apollo = await run(['schema', '--gateway', url, '--for', 'apollo'])
    expect(apollo.stdout).toContain("Pod: { keyFields: ['id'], fields: {")
    expect(apollo.stdout).toContain('PodFrame: whole,')
    expect(apollo.stdout).toContain("GatewayCluster: { keyFields: ['name'] }")
    const relay = await run(['schema', '--gateway', url, '--for', 'relay'])
    expect(relay).toMatchObject({ code: 1, stdout: '' })
    expect(relay.stderr).toMatch(/does not support refetching by Relay\n  start it with --relay/)

    child.kill('SIGTERM')
    const { code, stdout } = await ended
    expect(code).toBe(0)
    expect(stdout).toContain('40 pods')
  })

  it('shows no portal with --no-portal, and no schema without introspection, which it says', async () => {
    const without = ['--no-portal', '--no-introspection']
    const { printed } = start(['demo', '--port', '0', '--pods', '40', ...without])
    const [said, url = ''] = await printed(/[^]*(http:\/\/127\.0\.0\.1:\d+\/graphql)[^]*Ctrl-C/)
    expect(said).not.toContain('portal')
    const answer = await fetch(new URL('/', url), { redirect: 'manual' })
    expect(answer.headers.get('location')).toBe('/graphql')
    const { code, stderr } = await run(['schema', '--gateway', url])
    expect(code).toBe(1)
    expect(stderr).toMatch(/schema: 404 .*\n  .*introspection/)
  })

  it('says that its port is taken, and what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const { code, stderr } = await run(['demo', '--pods', '10', '--port', String(port)])
    other.close()
    expect(code).toBe(1)
    expect(stderr).toContain(`cannot listen on 127.0.0.1, port ${port}: the port is already in use`)
    expect(stderr).toContain('--port 0')
  })
})

describe('informerql simulate', () => {
  it('runs an API server that a gateway can serve, one of the clusters of its scenario', async () => {
    const flags = ['--pods', '10', '--rate', '0', '--cluster', 'prod-us', '--host', '127.0.0.1']
    const simulated = start(['simulate', '--port', '0', ...flags])
    const [, server = ''] = await simulated.printed(/--server=(\S+)/)
    const served = start(['serve', '--server', server, '--port', '0'])
    const [, url = ''] = await served.printed(/at (\S+)/)
    const query = '{ pods(first: 1) { totalCount } gatewayClusters { version } }'
    const response = await post(url, { query })
    const gatewayClusters = [{ version: 'v1.33.13' }]
    expect(await response.json()).toEqual({ data: { pods: { totalCount: 10 }, gatewayClusters } })
    served.child.kill('SIGINT')
    simulated.child.kill('SIGINT')
    expect((await served.ended).code).toBe(0)
    expect((await simulated.ended).code).toBe(0)
  })

  it('serves the scenario of a directory, with its custom resources', async () => {
    const args = ['--port', '0', '--rate', '0', '--scenario', 'examples/scenario']
    const { child, printed, ended } = start(['simulate', ...args])
    const [, server = ''] = await printed(/Crumb, a bakery: 1 team[\s\S]*--server=(\S+)/)
    const ovens = await fetch(`${server}/apis/crumb.example/v1/namespaces/bakery/ovens/stone-oven`)
    expect(await ovens.json()).toMatchObject({ kind: 'Oven', spec: { celsius: 230 } })
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  it('says what is wrong with a scenario, and in which file', async () => {
    const { code, stderr } = await run(['simulate', '--scenario', 'test/nowhere'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('nowhere/scenario.yaml')])
  })
})

describe('informerql serve', () => {
  it('answers on SIGTERM that it is not ready, and goes on serving until callers are sent elsewhere', async () => {
    await using simulator = await startSimulator()
    const args = ['serve', '--server', simulator.url, '--port', '0', '--drain-delay', '3600000']
    const { child, printed, ended } = start(args)
    const [, url = ''] = await printed(/at (\S+)/)
    const readyz = (): Promise<Response> => fetch(new URL('/readyz', url))
    expect((await readyz()).status).toBe(200)
    child.kill('SIGTERM')
    await expect.poll(async () => (await readyz()).status).toBe(503)
    expect(await (await readyz()).text()).toBe('not ready\nthe gateway is stopping\n')
    const answer = await post(url, { query: '{ namespaces { totalCount } }' })
    expect(await answer.json()).toMatchObject({ data: { namespaces: {} } })
    expect((await fetch(new URL('/livez', url))).status).toBe(200)
    // Whoever cannot wait asks again.
    child.kill('SIGTERM')
    expect((await ended).code).toBe(128 + 15)
  })

  it('takes over the clusters of its configuration file when they change, and only what can be used', async () => {
    await using one = await startSimulator()
    await using two = await startSimulator()
    const folder = await mkdtemp(join(tmpdir(), 'informerql-config-'))
    const file = join(folder, 'config.yaml')
    const write = (...clusters: readonly object[]): Promise<void> =>
      writeFile(file, JSON.stringify({ server: { port: 0 }, clusters }))
    const first = { name: 'first', server: one.url }
    await write(first)
    const { child, printed, ended } = start(['serve', '--config', file])
    const [, url = ''] = await printed(/(http:\/\/127\.0\.0\.1:\d+\/graphql)/)
    const names = async (): Promise<unknown> =>
      await (await post(url, { query: '{ gatewayClusters { name } }' })).json()
    const answer = (...given: readonly string[]): object => ({
      data: { gatewayClusters: given.map((name) => ({ name })) },
    })
    expect(await names()).toEqual(answer('first'))
    await write(first, { name: 'second', sever: two.url })
    await write(first, { name: 'second', server: two.url })
    await expect.poll(names).toEqual(answer('first', 'second'))
    await writeFile(file, 'clusters: [')
    await printed(/is invalid.*flow/i, { from: 'stderr' })
    expect(await names()).toEqual(answer('first', 'second'))
    // As a writer leaves it for a moment.
    await writeFile(file, '\n')
    await printed(/config\.yaml is empty/, { from: 'stderr' })
    expect(await names()).toEqual(answer('first', 'second'))
    await write(first)
    await expect.poll(names).toEqual(answer('first'))
    child.kill('SIGTERM')
    expect((await ended).stderr).toContain('is invalid')
    await rm(folder, { recursive: true })
  })
})

describe('informerql schema', () => {
  it('prints the schema of the built-in kinds, and nothing else', async () => {
    const { code, stdout, stderr } = await run(['schema'])
    expect(code).toBe(0)
    expect(stderr).toBe('')
    expect(stdout).toContain('type Deployment implements KubernetesObject')
    expect(stdout).toContain('type Subscription {')
  })
})

describe('informerql says what is wrong when', () => {
  it.each([
    {
      when: 'there is no cluster',
      args: ['serve', '--port', '0'],
      code: 1,
      says: /no cluster is configured.*tried/,
    },
    {
      when: 'the cluster does not answer',
      args: ['serve', '--port', '0', '--server', 'http://127.0.0.1:1'],
      code: 1,
      says: /127\.0\.0\.1:1: connect ECONNREFUSED/,
    },
    {
      when: 'the kubeconfig is not there',
      args: ['serve', '--port', '0', '--kubeconfig', '/nowhere/config'],
      code: 1,
      says: /\/nowhere\/config/,
    },
    {
      when: 'others could reach it',
      args: ['serve', '--host', '0.0.0.0'],
      code: 2,
      says: /--insecure-no-auth[\s\S]*0\.0\.0\.0 is not a loopback address/,
    },
    {
      when: 'a flag has a wrong value',
      args: ['demo', '--pods', 'many'],
      code: 2,
      says: /--pods: simulator\.pods = "many": expected number/,
    },
    { when: 'there is no such flag', args: ['demo', '--prot', '1'], code: 2, says: /--prot/ },
    { when: 'there is no such command', args: ['server'], code: 2, says: /server/ },
  ])('$when', async ({ args, code, says }) => {
    const ended = await run(args)
    expect(ended.stderr).toMatch(says)
    expect(ended.stderr).not.toMatch(/^\s+at /m)
    expect(ended.code).toBe(code)
    expect(ended.stdout).toBe('')
  })
})

describe('informerql serve ends with exit code 2 and one line for each wrong option', () => {
  let simulator: Simulator
  let folder: string
  beforeAll(async () => {
    simulator = await startSimulator()
    folder = await mkdtemp(join(tmpdir(), 'informerql-wrong-'))
    await writeFile(join(folder, 'wrong.graphql'), 'type Pod {')
    await writeFile(join(folder, 'text'), 'no certificate')
  })
  afterAll(async () => {
    await simulator[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  it.each([
    ['auth: { mode: oidc, audiences: [a] }', /auth\.oidc is missing/],
    [
      'auth: { mode: oidc, oidc: { issuer: "https://id.example.com" } }',
      /auth\.audiences is empty/,
    ],
    ['auth: { mode: oidc-login, oidc: { issuer: "https://a.b" } }', /auth\.login is missing/],
    [
      'auth: { mode: token-review, cluster: prod }',
      /auth\.cluster = "prod": there is no such cluster/,
    ],
    [
      'auth: { tokenClusters: [prod] }',
      /auth\.tokenClusters\[0\] = "prod": there is no such cluster/,
    ],
    ['aliases: { stable.example.com: my-own }', /aliases.*"my-own": an alias is a capital/],
    ['server: { tlsCert: text }', /needs both server\.tlsCert and server\.tlsKey/],
    ['server: { tlsCert: nowhere, tlsKey: text }', /TLS: .*nowhere/],
    ['server: { tlsCert: text, tlsKey: text }', /TLS: /],
    ['server: { publicUrl: portal.example.com }', /server\.publicUrl.*expected https:\/\/HOST/],
    ['server: { host: 0.0.0.0 }', /0\.0\.0\.0 is not a loopback address/],
    ['server: { trustedDocuments: nowhere.json }', /trusted documents .*nowhere\.json/],
    ['schemaFiles: [nowhere.graphql]', /nowhere\.graphql cannot be read/],
    ['schemaFiles: [wrong.graphql]', /wrong\.graphql:1/],
    ['cache: { maxHeldBytes: 2GB }', /"2GB": expected number.*a size such as 500Mi/],
  ])('%s', async (text, says) => {
    const file = join(folder, 'informerql.yaml')
    await writeFile(file, text)
    const args = ['serve', '--server', simulator.url, '--port', '0', '--config', file]
    const { code, stdout, stderr } = await run(args)
    const wrong = stderr.split('\n').filter((line) => says.test(line))
    expect(wrong, stderr).toHaveLength(1)
    expect(stderr).not.toMatch(/\n? {4}at /)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})
