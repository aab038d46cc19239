import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { GatewayMetrics } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { firstAnswer } from '../support/gateway.ts'

const users = [
  { token: 'secret-of-the-gateway', user: 'gateway' },
  { token: 'secret-of-ann', user: 'ann', uid: 'u-1', groups: ['developers'] },
]
const query = 'query HowManyPods { pods { totalCount nodes { metadata { name } } } }'
const logs = '{ podLogs(namespace: "shop") { lines { text } } }'
const subscription = 'subscription Follow { nodes { synced } }'

/** No GraphQL; not of the schema; too long to be hashed. */
const refusedDocuments = [
  '{ secret-of-a-document',
  '{ secretOfADocument }',
  `{ ${' '.repeat(70_000)} secretOfADocument }`,
] as const

type Entry = Readonly<Record<string, unknown>>

describe('informerql serve, observed', () => {
  let simulator: Simulator
  let folder: string
  let child: ChildProcess
  let url = ''
  let metricsUrl = ''
  let said = ''
  let printed = ''

  const post = async (body: object, token?: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
  const entries = async (): Promise<readonly Entry[]> => {
    const text = await readFile(join(folder, 'audit.log'), 'utf8')
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry)
  }
  const metrics = async (): Promise<string> => (await fetch(metricsUrl)).text()

  beforeAll(async () => {
    simulator = await startSimulator({ users })
    folder = await mkdtemp(join(tmpdir(), 'informerql-observed-'))
    const kubeconfig = join(folder, 'kubeconfig.json')
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: simulator.url } }],
        users: [{ name: 'a', user: { token: users[0]?.token } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      }),
    )
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    child = spawn(
      process.execPath,
      [
        'src/main.ts',
        'serve',
        '--kubeconfig',
        kubeconfig,
        '--port',
        '0',
        '--auth',
        'token-review',
        '--audit-file',
        join(folder, 'audit.log'),
        '--metrics-port',
        '0',
        '--log-level',
        'debug',
        '--log-format',
        'json',
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH, NODE_COMPILE_CACHE } },
    )
    const hear = (chunk: Buffer): void => void (said += chunk.toString())
    child.stdout?.on('data', (chunk: Buffer) => void (printed += chunk.toString()))
    child.stderr?.on('data', hear)
    await vi.waitUntil(() => /answers at \S+\n/.test(said) && said.includes('metrics are at'), {
      timeout: 60_000,
    })
    url = /answers at ([^"\s]+)/.exec(said)?.[1] ?? ''
    metricsUrl = /metrics are at ([^"\s]+)/.exec(said)?.[1] ?? ''
    const ann = users[1]?.token
    await post({ query }, ann)
    await post({ query: '{ nodes(first: -1) { totalCount } }' }, ann)
    await post({ query })
    await post({ query }, 'secret-of-nobody')
    await post({ query: logs }, ann)
    for (const document of refusedDocuments) await post({ query: document }, ann)
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${ann}` },
    })
    await firstAnswer(client, subscription, { password: 'secret-of-a-variable' })
    await client.dispose()
    const wrong = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
    await once(wrong, 'open')
    const payload = { authorization: 'Bearer secret-of-nobody-else' }
    wrong.send(JSON.stringify({ type: 'connection_init', payload }))
    await once(wrong, 'close')
  })
  afterAll(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
    await simulator[Symbol.asyncDispose]()
  })

  it('writes down who has asked for what, and who was refused', async () => {
    await expect.poll(async () => (await entries()).length).toBe(11)
    const all = await entries()
    const ann = { user: 'ann', uid: 'u-1', groups: ['developers', 'system:authenticated'] }
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string
    const durationMs = expect.any(Number) as number
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as string
    const log = 'audit'
    const requestId = expect.stringMatching(/^[\w-]{36}(\.1)?$/) as string
    const who = { log, ...ann, requestId, time }
    const answered = { ...who, hash, durationMs, decision: 'allowed' }
    const pods = { event: 'query', operation: 'HowManyPods', types: ['default/Pod'], rows: 0 }
    expect(all.slice(0, 9)).toEqual([
      { ...answered, ...pods, by: 'plan' },
      {
        ...answered,
        event: 'query',
        types: ['default/Node'],
        by: 'plan',
        codes: ['BAD_USER_INPUT'],
        rows: 0,
      },
      refused('http'),
      refused('http'),
      {
        ...answered,
        event: 'query',
        types: ['default/Pod'],
        logs: [{ cluster: 'default', type: 'Pod', namespace: 'shop' }],
        by: 'plan',
        rows: 0,
      },
      refusedDocument(refusedDocuments[0], 'BAD_USER_INPUT'),
      refusedDocument(refusedDocuments[1], 'BAD_USER_INPUT'),
      refusedDocument(refusedDocuments[2], 'BAD_USER_INPUT'),
      {
        ...answered,
        event: 'subscription',
        operation: 'Follow',
        types: ['default/Node'],
        by: 'plan',
        rows: 0,
      },
    ])
    // The end of one connection and the refusal of another come in either order.
    const ended = expect.objectContaining({ event: 'subscription-ended', operation: 'Follow' })
    expect(all.slice(9)).toEqual(expect.arrayContaining([ended, refused('websocket')]))
    function refusedDocument({ length }: string, code: string): Entry {
      const isHashed = length < 65_536
      const told = { ...(isHashed ? { hash } : {}), length, decision: 'refused', codes: [code] }
      return { ...who, event: 'refused-document', ...told }
    }
    function refused(transport: string): Entry {
      const code = 'UNAUTHENTICATED'
      return { log, event: 'refused', time, requestId, transport, code, address: '127.0.0.1' }
    }
  })

  it('logs a JSON object a line, with the level by name, the time by ISO 8601, and what it is about', () => {
    expect(printed).toBe('')
    const lines = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) as string
    for (const line of lines) {
      expect(line).toMatchObject({ time, msg: expect.any(String) })
      expect(['debug', 'info', 'warn', 'error']).toContain(line['level'])
    }
    const msg = '0 objects in'
    expect(
      lines.map(({ msg: text, ...rest }) => ({ ...rest, msg: String(text).slice(0, 12) })),
    ).toContainEqual({ level: 'info', time, cluster: 'default', kind: 'Pod', msg })
  })

  it('tells its metrics on a port of their own', async () => {
    const text = await metrics()
    for (const line of [
      /^informerql_operation_duration_seconds_count\{operation="query",by="plan",code=""\} 2$/m,
      /^informerql_operation_duration_seconds_count\{.*code="BAD_USER_INPUT"\} 1$/m,
      /^informerql_refusals_total\{transport="http",code="UNAUTHENTICATED"\} 2$/m,
      /^informerql_refusals_total\{transport="websocket",code="UNAUTHENTICATED"\} 1$/m,
      /^informerql_token_verifications_total\{outcome="accepted"\} 1$/m,
      /^informerql_token_verifications_total\{outcome="refused"\} 2$/m,
      /^informerql_subscriptions 0$/m,
      /^informerql_websockets 0$/m,
      /^informerql_informer_synced\{cluster="default",resource="pods"\} 1$/m,
      /^reflector_lists_total\{cluster="default",resource="nodes"\} 1$/m,
      /^informerql_access_reviews_total\{cluster="default"\} [1-9]/m,
      /^process_resident_memory_bytes [1-9]/m,
      /^nodejs_eventloop_lag_seconds /m,
    ]) {
      expect(text).toMatch(line)
    }
    // A histogram has a line for each bucket, so it has no line for each kind of each cluster.
    expect(text).toMatch(/^reflector_list_duration_seconds_count\{cluster="default"\} [1-9]/m)
    expect(text).toMatch(/^reflector_items_per_list_count\{resource="nodes"\} 1$/m)
    expect(text).not.toMatch(/_bucket\{.*(cluster=.*resource=|resource=.*cluster=)/)
    expect((await fetch(new URL('/graphql', metricsUrl))).status).toBe(404)
    expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405)
    expect((await fetch(new URL('/metrics', url))).status).toBe(404)
  })

  it('says no token, no value of a variable and no user but to the audit log', async () => {
    const told = await metrics()
    expect(`${said}${told}`).not.toMatch(/secret|\bann\b|developers/)
    expect(JSON.stringify(await entries())).not.toMatch(/secret/)
  })
})

describe('Scrapes of metrics', () => {
  it('share what is being measured, so that many cost as much as one', async () => {
    const metrics = new GatewayMetrics({ process: true })
    const first = metrics.text()
    expect(metrics.text()).toBe(first)
    await first
    const next = metrics.text()
    expect(next).not.toBe(first)
    expect(await next).toMatch(/^process_cpu_seconds_total /m)
  })
})

describe('docs/metrics.md', () => {
  it('lists every metric with its type, its labels and what it says', async () => {
    const text = await new GatewayMetrics().text()
    const types = new Map(
      Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => [
        name,
        type,
      ]),
    )
    const helps = new Map(
      Array.from(text.matchAll(/^# HELP (\S+) (.+)$/gm), ([, name = '', help = '']) => [
        name,
        help,
      ]),
    )
    const rows = (await readFile('docs/metrics.md', 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    const listed = rows.map(([, name = '', type = '', , help = '']) => [name, type, help])
    const there = Array.from(types, ([name, type]) => [name, type, helps.get(name)])
    const byName = (a: readonly unknown[], b: readonly unknown[]): number =>
      String(a[0]).localeCompare(String(b[0]))
    expect(listed.toSorted(byName)).toEqual(there.toSorted(byName))
  })
})
