/*
 * The two ends of an operation by HTTP, whether a plan, the pipeline or an event stream answers it. `answerType` reads the
 * type of the answer from `Accept`, and `sentOperation` the operation from a GET's parameters or a POST's body. A body is
 * JSON whatever its `Content-Type` says: the guards have refused the requests that a foreign page could send. `sendAnswer`
 * sends the answer. It gets an ETag if the client may keep it, is compressed if it is large enough and the client accepts
 * that, and its bytes count as unsent while they wait for a slow reader.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib'
import { ClientError } from '../../graphql/errors/client-error.ts'
import { isRecord } from '../../lib/json.ts'
import { type RequestedOperation, requestMembers } from '../document-source.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ServedSdl } from '../operation-options.ts'
import type { Output, UnsentBytes } from '../user-limits.ts'

const json = 'application/json'
const graphqlJson = 'application/graphql-response+json'
/** The answer of a request that prefers server-sent events. */
export const eventStream = 'text/event-stream'

/**
 * The type of an answer: the first that the client accepts and the server supports; `undefined` if there is none, so that
 * the operation does not run. Server-sent events count only before all others: clients such as urql name them after JSON
 * for every query.
 */
export function answerType({ headers }: IncomingMessage): string | undefined {
  const { accept = '' } = headers
  if (accept === '' || accept === '*/*') return `${json}; charset=utf-8`
  const known = accept.split(',').find((range) => answerTypes.test(range))
  if (known !== undefined && eventType.test(known)) return eventStream
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    if (parameters.some((one) => refusing.test(one))) continue
    if (name === graphqlJson) return `${graphqlJson}; charset=utf-8`
    if (name === json || name === '*/*' || name === 'application/*') return `${json}; charset=utf-8`
  }
  return undefined
}

const eventType = /^\s*text\/event-stream\s*(;|$)/i
const answerTypes =
  /^\s*(text\/event-stream|application\/(graphql-response\+)?json|application\/\*|\*\/\*)\s*(;|$)/i
/** Matches another character set than UTF-8, and quality 0, by which a client refuses a type. */
const refusing = /^charset=(?!utf-8$)|^q=0(?:\.0*)?$/

/** The members of an operation as sent, in any form, or the error of an unreadable request. */
export type SentOperation = { readonly params: unknown } | { readonly error: unknown }

/**
 * The body of a POST, or the parameters of a GET's URL, including `idMembers`, which may name the document. Resolves with
 * `undefined` if the connection broke.
 */
export async function sentOperation(
  request: IncomingMessage,
  idMembers: readonly string[],
): Promise<SentOperation | undefined> {
  try {
    if (request.method === 'POST') {
      const body = await bodyOf(request)
      return body === undefined ? undefined : { params: parsed('the body', body) }
    }
    const { url = '' } = request
    const at = url.indexOf('?')
    const params: Record<string, unknown> = {}
    for (const [name, value] of new URLSearchParams(at < 0 ? '' : url.slice(at + 1))) {
      const isJson = name === 'variables' || name === 'extensions'
      if (isJson) params[name] = parsed(name, value)
      else if (requestMembers.has(name) || idMembers.includes(name)) params[name] = value
    }
    return { params }
  } catch (error) {
    return { error }
  }
}

function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const hint = 'send { "query": "…" } as JSON, or as parameters of the URL'
    throw new ClientError('BAD_USER_INPUT', `${what} is not JSON`, { hint, cause })
  }
}

/** The whole body, of bounded size; `undefined` if the connection broke. */
function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (request.destroyed) resolve(undefined)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const [only] = chunks
      resolve((chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)).toString())
    })
    request.once('error', () => resolve(undefined))
    request.once('close', () => resolve(undefined))
  })
}

/** Whether each member has the type of an operation's member. */
export function isOperation(params: unknown): params is RequestedOperation {
  if (!isRecord(params)) return false
  const { query, operationName, variables, extensions } = params
  return (
    typeof (query ?? '') === 'string' &&
    typeof (operationName ?? '') === 'string' &&
    isRecord(variables ?? {}) &&
    isRecord(extensions ?? {})
  )
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface SendOptions {
  /** Whether the client may keep the answer and revalidate it by its ETag. */
  readonly revalidates: boolean
  /** Answers from this size on are compressed if the client accepts it; 0 for none. */
  readonly compressFromBytes: number
  readonly unsent: UnsentBytes
  readonly viewer: Viewer | undefined
}

const brotliBytes = promisify(brotliCompress)
const gzipBytes = promisify(gzip)
const plainBytes = promisify(brotliDecompress)

// Quality 1 of Brotli compresses best of the fast settings, in half the time of gzip.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

type Encoding = 'br' | 'gzip'

const compressors: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes: Buffer) => brotliBytes(bytes, brotliOptions),
  gzip: (bytes: Buffer) => gzipBytes(bytes, { level: 1 }),
}

/** Sends an answer. Returns a promise only if it compresses the answer first. */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, text }: HttpAnswer,
  { revalidates, compressFromBytes, unsent, viewer }: SendOptions,
): void | Promise<void> {
  if (response.destroyed) return
  if (revalidates && status === 200) {
    const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`
    vary(response, 'accept')
    if (isRevalidated(request, response, etag)) return
  }
  const bytes = Buffer.from(text)
  const end = (encoding: object, body: Buffer): void => {
    response.writeHead(status, { ...headers, ...encoding, 'content-length': body.length })
    response.end(body)
    // Most readers have already taken the answer.
    if (response.writableLength > 0) countUnsent(request, response, { unsent, viewer })
  }
  if (compressFromBytes === 0 || bytes.length < compressFromBytes) {
    end({}, bytes)
    return
  }
  vary(response, 'accept-encoding')
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  if (encoding === undefined) {
    end({}, bytes)
    return
  }
  return compressors[encoding](bytes).then((compressed) => {
    if (!response.destroyed) end({ 'content-encoding': encoding }, compressed)
  })
}

/** Sends the schema in an encoding that the client accepts, or 304 if the client has it. */
export async function sendSdl(
  request: IncomingMessage,
  response: ServerResponse,
  { brotli, etag }: ServedSdl,
  { compressFromBytes, unsent, viewer }: Omit<SendOptions, 'revalidates'>,
): Promise<void> {
  if (response.destroyed) return
  vary(response, 'accept-encoding')
  if (isRevalidated(request, response, etag)) return
  const accepted = acceptedEncoding(request.headers['accept-encoding'])
  const encoding = compressFromBytes === 0 ? undefined : accepted
  let body = brotli
  if (encoding !== 'br') body = await plainBytes(brotli)
  if (encoding === 'gzip') body = await compressors.gzip(body)
  if (response.destroyed) return
  response.writeHead(200, {
    'content-type': 'application/graphql; charset=utf-8',
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    'content-length': body.length,
  })
  response.end(body)
  if (response.writableLength > 0) countUnsent(request, response, { unsent, viewer })
}

/** Lets the client keep the answer, as long as it asks again each time. Answers 304 if it has this one. */
function isRevalidated(request: IncomingMessage, response: ServerResponse, etag: string): boolean {
  response.setHeader('etag', etag)
  response.setHeader('cache-control', 'private, no-cache')
  vary(response, 'authorization, cookie')
  const isKnown = isSame(request.headers['if-none-match'], etag)
  if (isKnown) response.writeHead(304).end()
  return isKnown
}

export function countUnsent(
  request: IncomingMessage,
  response: ServerResponse,
  { unsent, viewer }: Pick<SendOptions, 'unsent' | 'viewer'>,
): Output {
  const output = unsent.open({
    transport: 'http',
    connection: request.socket,
    viewer: () => viewer,
    waitingBytes: () => response.writableLength,
    cutOff: () => request.socket.destroy(),
  })
  response.once('close', () => output.close())
  output.measure()
  return output
}

export function vary(response: ServerResponse, names: string): void {
  const before = response.getHeader('vary')
  response.setHeader('vary', before === undefined ? names : `${String(before)}, ${names}`)
}

/** Whether `If-None-Match` contains the tag, by weak comparison. */
export function isSame(tags: string | undefined, etag: string): boolean {
  if (tags === undefined) return false
  const opaque = etag.replace(/^W\//, '')
  return tags.split(',').some((tag) => {
    const given = tag.trim()
    return given === '*' || given.replace(/^W\//, '') === opaque
  })
}

/** The best encoding that the client accepts; `undefined` for none. */
export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const accepted = new Set<string>()
  for (const range of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (!parameters.some((one) => /^q=0(\.0*)?$/.test(one))) accepted.add(name)
  }
  return accepted.has('br') ? 'br' : accepted.has('gzip') ? 'gzip' : undefined
}
