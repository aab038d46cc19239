import { once } from 'node:events'
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { createInterface } from 'node:readline'
import { buffer, text } from 'node:stream/consumers'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe } from 'vitest'
import type { ControlPlaneToken } from '../support/control-plane-api-server.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'

/** Any JSON object, as tests read it. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers are read by the names that the contract gives them
export type Fields = any

export interface ContractRequest {
  readonly method?: string
  readonly body?: unknown
  /** Of the body; `application/json` unless given. */
  readonly contentType?: string | undefined
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ContractAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: Fields
}

/** A server under the contract: a base URL with what it takes to be let in, and a way to make its history expire. */
export interface ContractServer {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly ca?: string
  readonly expireHistory: () => Promise<void>
}

const deadlineMs = 30_000

async function open(
  server: ContractServer,
  path: string,
  options: ContractRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = server.ca === undefined ? requestHttp : requestHttps
  const body =
    typeof options.body === 'string' || options.body === undefined
      ? options.body
      : JSON.stringify(options.body)
  const message = send(new URL(path, server.url), {
    method: options.method ?? 'GET',
    ...(server.ca === undefined ? {} : { ca: server.ca }),
    headers: {
      'user-agent': 'informerql-contract',
      accept: options.accept ?? 'application/json',
      ...(body !== undefined && {
        'content-type': options.contentType ?? 'application/json',
        // Node sends the body of a DELETE without its length unless told.
        'content-length': Buffer.byteLength(body),
      }),
      ...server.headers,
      ...options.headers,
    },
    signal,
  })
  const answered = once(message, 'response')
  message.end(body)
  const [response] = (await answered) as [IncomingMessage]
  return response
}

/** Sends one request and reads its whole answer. */
export async function ask(
  server: ContractServer,
  path: string,
  options: ContractRequest = {},
): Promise<ContractAnswer> {
  const response = await open(server, path, options, AbortSignal.timeout(deadlineMs))
  const answer = await text(response)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: answer,
    get json(): Fields {
      return JSON.parse(answer)
    },
  }
}

/** Sends one request of a suite, mostly a write. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  contentType?: string,
) => Promise<ContractAnswer>

/** Sends to the server of a suite as {@link ask} does. */
export function sendTo(server: () => ContractServer): Send {
  return (method, path, body, contentType) => ask(server(), path, { method, body, contentType })
}

/** Sends a GET and reads the bytes of its answer, as they come. */
export async function askBytes(
  server: ContractServer,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> {
  const response = await open(server, path, { headers }, AbortSignal.timeout(deadlineMs))
  return { headers: response.headers, body: await buffer(response) }
}

/** One event of a watch. */
export interface ContractEvent {
  readonly type: string
  readonly object: Fields
}

/** A watch that is read event by event. */
export interface ContractWatch extends AsyncDisposable {
  /** The next event; `undefined` at the end of the stream. Rejects after the deadline. */
  readonly next: () => Promise<ContractEvent | undefined>
  /** All further events up to the end of the stream. */
  readonly rest: () => Promise<ContractEvent[]>
}

export async function watch(
  server: ContractServer,
  path: string,
  options: ContractRequest = {},
): Promise<ContractWatch> {
  const closing = new AbortController()
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(deadlineMs)])
  const response = await open(server, path, options, signal)
  const lines = createInterface({ input: response })[Symbol.asyncIterator]()
  const next = async (): Promise<ContractEvent | undefined> => {
    const { value, done } = await lines.next()
    return done === true ? undefined : (JSON.parse(value) as ContractEvent)
  }
  return {
    next,
    rest: async () => {
      const events: ContractEvent[] = []
      for (let event = await next(); event !== undefined; event = await next()) events.push(event)
      return events
    },
    [Symbol.asyncDispose]: async () => {
      response.on('error', () => undefined)
      response.destroy()
      closing.abort()
    },
  }
}

/** What a suite needs of its servers. */
interface ContractOptions {
  /** Users beside the administrator; what they may do is RBAC's business. */
  readonly tokens?: readonly ControlPlaneToken[]
}

const administrator = { token: 'admin-token', user: 'admin', groups: ['system:masters'] }

/** Declares a suite twice: for the simulator, and for a real API server where there is one. */
export function describeContract(
  name: string,
  body: (server: () => ContractServer) => void,
  { tokens }: ContractOptions = {},
): void {
  describe(`${name}, on the simulator`, () => {
    let simulator: Simulator
    beforeAll(async () => {
      simulator = await startSimulator(
        tokens === undefined ? {} : { users: [administrator, ...tokens], authorization: 'rbac' },
      )
    })
    afterAll(async () => simulator[Symbol.asyncDispose]())
    body(() => ({
      url: simulator.url,
      headers: tokens === undefined ? {} : { authorization: `Bearer ${administrator.token}` },
      expireHistory: async () => simulator.faults.inject({ fault: { type: 'compact-history' } }),
    }))
  })
  describeWithControlPlane(
    name,
    (plane) => {
      body(() => ({
        url: plane().url,
        ca: plane().ca,
        headers: { authorization: `Bearer ${plane().token}` },
        // A running server serves older positions from its cache: only a new one knows of the compaction.
        expireHistory: async () => {
          await plane().compact()
          await plane().killServer()
          await plane().startServer()
        },
      }))
    },
    tokens === undefined ? { isShared: true } : { tokens },
  )
}

let namespaces = 0

/** Makes a namespace for one test and answers with its name. */
export async function newNamespace(server: ContractServer): Promise<string> {
  const name = `contract-${++namespaces}`
  const answer = await ask(server, '/api/v1/namespaces', {
    method: 'POST',
    body: { metadata: { name } },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return name
}

/** Makes a ConfigMap and answers with it. */
export async function newConfigMap(
  server: ContractServer,
  namespace: string,
  name: string,
  more: {
    readonly labels?: object
    readonly annotations?: object
    readonly finalizers?: readonly string[]
    readonly data?: object
  } = {},
): Promise<Fields> {
  const { data = { a: '1' }, ...metadata } = more
  const answer = await ask(server, `/api/v1/namespaces/${namespace}/configmaps`, {
    method: 'POST',
    body: { metadata: { name, ...metadata }, data },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json
}
