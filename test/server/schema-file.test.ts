import { get, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { buildSchema } from 'graphql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { operatorDefinition } from '../support/operator-definitions.ts'

let simulator: Simulator
let serving: ExampleProcess
let url: string
let origin: string

const program = (...args: readonly string[]): ExampleProcess =>
  startProgram(process.execPath, ['src/main.ts', ...args], { timeout: 120_000 })

interface PlainAnswer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A GET with exactly these headers; nothing decompresses the answer. */
async function plainGet(headers: Readonly<Record<string, string>>): Promise<PlainAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PlainAnswer>()
  get(url, { headers, timeout: 60_000 }, (response) => {
    const { statusCode: status, headers: answered } = response
    buffer(response).then((body) => resolve({ status, headers: answered, body }), reject)
  }).on('error', reject)
  return await promise
}

/** `informerql serve` of the simulator, and where it is. */
async function serve(...args: readonly string[]): Promise<[ExampleProcess, string]> {
  const started = program('serve', '--server', simulator.url, '--port', '0', ...args)
  await started.printed('/graphql')
  const [, place = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/graphql/.exec(started.lines.join('\n')) ?? []
  return [started, place]
}

async function define(number: number): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const response = await fetch(simulator.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(operatorDefinition(number)),
  })
  expect(response.status).toBe(201)
}

beforeAll(async () => {
  simulator = await startSimulator()
  await define(3)
  ;[serving, origin] = await serve()
  url = `${origin}/schema.graphql`
}, 120_000)
afterAll(async () => {
  await serving[Symbol.asyncDispose]()
  await simulator[Symbol.asyncDispose]()
})

describe('GET /schema.graphql', () => {
  it('is the text that `informerql schema` prints, as tools fetch it without further headers', async () => {
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/graphql; charset=utf-8')
    const text = await response.text()
    expect(buildSchema(text).getType('Group0OperatorsExampleComOperand3')).toBeDefined()
    const printing = program('schema', '--server', simulator.url, '--log-level', 'error')
    expect(await printing.ended).toBe(0)
    expect(`${printing.lines.join('\n')}\n`).toBe(text)
  })

  it('is compressed as the client accepts it', async () => {
    const plain = await plainGet({ 'accept-encoding': 'identity' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const [accepted, open] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const answer = await plainGet({ 'accept-encoding': accepted })
      expect(answer.headers['content-encoding']).toBe(accepted)
      expect(answer.headers['vary']).toContain('accept-encoding')
      expect(answer.body.length).toBeLessThan(plain.body.length / 5)
      expect(open(answer.body).equals(plain.body)).toBe(true)
    }
  })

  it('is not sent again to a client that has it, until the schema changes', async () => {
    const etag = (await fetch(url)).headers.get('etag') ?? ''
    const again = { headers: { 'if-none-match': etag } }
    const same = await fetch(url, again)
    expect([same.status, await same.text()]).toEqual([304, ''])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag])
    await define(4)
    await expect.poll(async () => (await fetch(url, again)).status).toBe(200)
    expect(await (await fetch(url)).text()).toContain('type Group0OperatorsExampleComOperand4 ')
  })

  it('is refused to other hosts, other methods, and pages of other sites', async () => {
    expect((await plainGet({ host: 'evil.example' })).status).toBe(403)
    expect((await plainGet({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await plainGet({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
  })

  it('is there for those who may introspect: not where introspection is off, and not for unknown callers', async () => {
    const [shut, place] = await serve('--no-introspection')
    expect((await fetch(`${place}/schema.graphql`)).status).toBe(404)
    await shut[Symbol.asyncDispose]()
    const [asking, known] = await serve('--auth', 'token-review', '--introspection')
    expect((await fetch(`${known}/schema.graphql`)).status).toBe(401)
    await asking[Symbol.asyncDispose]()
  })
})
