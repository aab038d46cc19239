import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { createClient } from 'graphql-ws'
import { GatewayTraces } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'

const traceId = 'a'.repeat(32)
const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`

/** Before an API server: remembers the `traceparent` of each request, by its method and path. */
const startRecorder = async (
  target: string,
): Promise<AsyncDisposable & { url: string; seen: Map<string, string | undefined> }> => {
  const seen = new Map<string, string | undefined>()
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    seen.set(`${method} ${url.split('?')[0]}`, headers['traceparent'] as string | undefined)
    const passed = forward(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      pipeline(answer, response, () => {})
    })
    pipeline(request, passed, () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('without an SDK', () => {
  it('no trace is handed on, and operations are answered', async () => {
    await using simulator = await startSimulator()
    await using server = await startRecorder(simulator.url)
    const traces = new GatewayTraces()
    const clusters = [{ name: 'one', server: server.url }]
    await using gateway = await serveGateway({ clusters, traces }, {}, { traces })
    const answer = await gateway.query('{ pods { totalCount } }')
    expect(answer).toEqual({ data: { pods: { totalCount: 0 } } })
    expect(traces.begin({ method: 'POST', path: '/', requestId: '', carrier: () => ({}) })).toBe(
      undefined,
    )
    expect(server.seen.has('GET /api/v1/pods')).toBe(true)
    expect([...new Set(server.seen.values())]).toEqual([undefined])
  })
})

describe('with an SDK', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  let gateway: ServedGateway
  /** The `traceparent` of requests to the API server. */
  let seen: ReadonlyMap<string, string | undefined>
  const stack = new AsyncDisposableStack()

  const post = async (query: string): Promise<unknown> => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent, 'x-request-id': 'asked-here' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  /** The spans of the trace that the caller has begun, once that of the operation has ended. */
  const traced = async (name: string): Promise<readonly ReadableSpan[]> => {
    const spans = (): readonly ReadableSpan[] =>
      exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)
    await expect.poll(() => spans().map((span) => span.name)).toContain(name)
    return spans()
  }
  const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
    const found = spans.find((span) => span.name === name)
    if (found === undefined) throw new Error(`no ${name}: ${spans.map((one) => one.name).join()}`)
    return found
  }

  beforeAll(async () => {
    provider.register()
    const simulator = stack.use(await startSimulator())
    const recorder = stack.use(await startRecorder(simulator.url))
    ;({ seen } = recorder)
    const traces = new GatewayTraces()
    gateway = stack.use(
      await serveGateway(
        {
          clusters: [{ name: 'one', server: recorder.url }],
          allowWrites: true,
          traces,
        },
        {},
        { traces },
      ),
    )
  })
  afterEach(() => exporter.reset())
  afterAll(async () => {
    await stack[Symbol.asyncDispose]()
    await provider.shutdown()
    trace.disable()
    context.disable()
    propagation.disable()
  })

  it('an operation is a span of its caller’s trace, with its name and type, and its parts below', async () => {
    await post('query HowMany { configMaps { totalCount } }')
    const spans = await traced('query HowMany')
    const root = named(spans, 'query HowMany')
    expect(root.kind).toBe(SpanKind.SERVER)
    expect(root.parentSpanContext?.spanId).toBe('b'.repeat(16))
    expect(root.attributes).toMatchObject({
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'HowMany',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.path': '/graphql',
      'informerql.by': 'plan',
      'informerql.request_id': 'asked-here',
    })
    for (const part of ['plan', 'wait', 'run']) {
      expect(named(spans, part).parentSpanContext?.spanId).toBe(root.spanContext().spanId)
    }
    expect(named(spans, 'wait').attributes).toEqual({
      'k8s.cluster.name': 'one',
      'informerql.type': 'ConfigMap',
    })
    // The informer outlives the operation: its list is a trace of its own.
    const list = '/api/v1/configmaps'
    expect(spans.map(({ name }) => name)).not.toContain(`GET ${list}`)
    const own = named(exporter.getFinishedSpans(), `GET ${list}`)
    expect(own.parentSpanContext).toBeUndefined()
    expect(own).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: { 'k8s.cluster.name': 'one', 'http.response.status_code': 200 },
    })
  })

  it('a write is a part, with its requests to the API server below', async () => {
    const manifest =
      '{ apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: default } }'
    await post(`mutation Make { apply(manifest: ${JSON.stringify(manifest)}) { object { id } } }`)
    const spans = await traced('mutation Make')
    const write = named(spans, 'write')
    expect(write.attributes).toEqual({
      'k8s.cluster.name': 'one',
      'informerql.type': 'ConfigMap',
      'informerql.mutation': 'apply',
    })
    const patch = named(spans, 'PATCH /api/v1/namespaces/default/configmaps/a')
    expect(patch.parentSpanContext?.spanId).toBe(write.spanContext().spanId)
    const handedOn = `00-${traceId}-${patch.spanContext().spanId}-01`
    expect(seen.get(patch.name)).toBe(handedOn)
  })

  it('a failed operation has its code', async () => {
    await post('query Wrong { pods(first: -1) { totalCount } }')
    const spans = await traced('query Wrong')
    expect(named(spans, 'query Wrong').attributes['error.type']).toBe('BAD_USER_INPUT')
  })

  it.each([
    ['connection_init', { connectionParams: { traceparent } }, {}],
    ['a message', {}, { extensions: { traceparent } }],
  ])('an operation of a WebSocket follows the trace of %s', async (_, options, more) => {
    const client = createClient({
      url: gateway.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      ...options,
    })
    const query = 'query BySocket { configMaps { totalCount } }'
    const answers = client.iterate({ query, ...more })
    expect((await answers.next()).value).toMatchObject({ data: {} })
    const spans = await traced('query BySocket')
    expect(named(spans, 'query BySocket').attributes['informerql.request_id']).toMatch(/\.1$/)
    await firstAnswer(client, 'subscription Following { configMaps { synced } }')
    if (Object.keys(options).length > 0) await traced('subscription Following')
    await client.dispose()
  })
})

it('The guide’s way to register an SDK records the operations of `serve`', async () => {
  await using simulator = await startSimulator()
  const guide = await readFile('docs/observability.md', 'utf8')
  const [, program = ''] = /```js\n\/\/ tracing\.mjs\n(.*?)```/s.exec(guide) ?? []
  expect(program).toContain('register()')
  await mkdir('.cache', { recursive: true })
  // In the folder of the package, where its imports are found.
  const folder = await mkdtemp(resolve('.cache/tracing-'))
  const file = join(folder, 'tracing.mjs')
  await writeFile(file, program)
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(
    process.execPath,
    ['--import', file, 'src/main.ts', 'serve', '--server', simulator.url, '--port', '0'],
    { env: { PATH, NODE_COMPILE_CACHE }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  try {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    const url = await vi.waitUntil(() => /answers at (\S+)/.exec(said)?.[1], { timeout: 60_000 })
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'query FromTheGuide { pods { totalCount } }' }),
    })
    await vi.waitUntil(() => said.includes("'graphql.operation.name': 'FromTheGuide'"), {
      timeout: 60_000,
    })
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  }
})
