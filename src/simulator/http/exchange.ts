/*
 * One request and its answer: the target of the path, the body within its bound, JSON, texts and refusals, and streams
 * that wait for their client.
 */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGzip, gzipSync } from 'node:zlib'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { type Fields, textOf } from '../../kubernetes/fields.ts'
import type { ObjectMeta, Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { readUpTo } from '../../lib/read-body.ts'
import type { ResourceAttributes } from '../access/authorization.ts'
import { parseJson, parseYaml } from '../api/json.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { badRequest, Refusal } from '../api/status-refusal.ts'
import type { FaultEffect } from '../faults/faults.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  readonly params: URLSearchParams
  /** The texts of the answer's `Warning` header. */
  readonly warnings: string[]
}

/** A boolean parameter. It is true unless its value says otherwise. */
export function flag(params: URLSearchParams, name: string): boolean {
  const value = params.get(name)
  return value !== null && !['0', 'false'].includes(value.toLowerCase())
}

/** An integer parameter; `undefined` if it is absent. Throws 400 in the words of Go, for an empty one, too. */
export function integer(params: URLSearchParams, name: string): number | undefined {
  const value = params.get(name)
  if (value === null) return undefined
  if (/^[+-]?\d{1,15}$/.test(value)) return Number(value)
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
}

/**
 * The target of a path: a resource of a group and version, and perhaps one object or a subresource. The verb is `''` for
 * methods that no resource has.
 */
export interface RequestTarget extends ResourceAttributes {
  readonly version: string
}

/**
 * Parses a path below `/api` or `/apis`, as kube-apiserver's RequestInfo does. `undefined` if the path names no
 * resource. The path of a collection ends in its resource: `/api/v1/namespaces/default/pods`.
 */
export function requestTarget({ method, params, path }: Exchange): RequestTarget | undefined {
  const [root, ...rest] = path.split('/').slice(1).map(decoded)
  if (root !== 'api' && root !== 'apis') return undefined
  const group = root === 'apis' ? rest.shift() : ''
  const version = rest.shift()
  if (group === undefined || version === undefined || rest.length === 0) return undefined
  const [first = '', namespace = '', inside] = rest
  // Namespaces and the resources in a namespace share a prefix; `status` and `finalize` are subresources of the
  // namespace.
  const scoped =
    first === 'namespaces' && inside !== undefined && !['status', 'finalize'].includes(inside)
  const [resource = '', name = '', subresource = '', ...more] = scoped ? rest.slice(2) : rest
  if (resource === '' || more.length > 0) return undefined
  const reads = flag(params, 'watch') ? 'watch' : 'list'
  const verbs: Readonly<Record<string, string>> =
    name === ''
      ? { GET: reads, POST: 'create', DELETE: 'deletecollection' }
      : { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }
  const verb = subresource !== '' && method === 'POST' ? 'create' : (verbs[method] ?? '')
  const scope = scoped ? namespace : ''
  return { verb, group, version, namespace: scope, resource, name, subresource }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const common = { 'cache-control': 'no-cache, private' }

export function beginJson(
  { response, warnings }: Exchange,
  status = 200,
  headers: object = {},
): void {
  const own: OutgoingHttpHeaders = { ...common, 'content-type': 'application/json', ...headers }
  // RFC 7234: code 299 is a persistent warning.
  if (warnings.length > 0)
    own['warning'] = [...new Set(warnings)]
      .map((text) => `299 - ${JSON.stringify(text)}`)
      .join(', ')
  response.writeHead(status, own)
}

/** Smaller answers are not compressed, as in a kube-apiserver. */
const smallestGzipBytes = 128 * 1024

/** Whether an answer of this size is compressed. Watches never are. */
export function isCompressed({ request }: Exchange, bytes: number): boolean {
  const encodings = (request.headers['accept-encoding'] ?? '').split(',')
  return bytes >= smallestGzipBytes && encodings.some((encoding) => encoding.trim() === 'gzip')
}

export const gzipHeaders = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' }

/** Answers with the bytes of a JSON document. Compresses large answers if the client accepts that. */
export function sendBytes(exchange: Exchange, bytes: Buffer): void {
  const compressed = isCompressed(exchange, bytes.length)
  beginJson(exchange, 200, compressed ? gzipHeaders : {})
  exchange.response.end(compressed ? gzipSync(bytes, { level: 1 }) : bytes)
}

export function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: object = {},
): void {
  beginJson(exchange, status, headers)
  exchange.response.end(`${JSON.stringify(body)}\n`)
}

export function sendSuccess(exchange: Exchange, code: number, more: object): void {
  const kind = { kind: 'Status', apiVersion: 'v1' }
  sendJson(exchange, code, { ...kind, metadata: {}, status: 'Success', ...more })
}

export function sendText({ response }: Exchange, status: number, text: string): void {
  response.writeHead(status, { ...common, 'content-type': 'text/plain; charset=utf-8' })
  response.end(text)
}

/** Answers with the Status of a refusal. Breaks the connection if the answer has already begun. */
export function sendRefusal(exchange: Exchange, error: unknown): void {
  if (exchange.response.headersSent) {
    exchange.response.destroy()
    return
  }
  const message = error instanceof Error ? error.message : String(error)
  const { httpStatus, status, headers } =
    error instanceof Refusal
      ? error
      : new Refusal(500, `Internal error occurred: ${message}`, { reason: 'InternalError' })
  sendJson(exchange, httpStatus, status, headers)
}

/** The limit of a kube-apiserver. */
const maxBodyBytes = 3 * 1024 * 1024

/** The whole body of a request. Throws 413 beyond 3 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const body = await readUpTo(maxBodyBytes, request)
  if (body.length <= maxBodyBytes) return body
  throw new Refusal(413, `Request entity too large: limit is ${maxBodyBytes}`)
}

/** The media type of a request's body, without its parameters. */
export function contentType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim() ?? ''
}

/** Reads JSON or YAML, by the media type; `undefined` for an empty body. Throws 415 and 400. */
export function parseBody(body: Buffer, mediaType: string, mustBe: string): unknown {
  if (body.length === 0) return undefined
  const text = body.toString()
  const isYaml = mediaType === 'application/yaml'
  if (!isYaml && mediaType !== 'application/json' && mediaType !== '') {
    throw new Refusal(
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    )
  }
  try {
    return isYaml ? parseYaml(text) : parseJson(text)
  } catch (error) {
    const problem = `json parse error: ${(error as Error).message} (${text.slice(0, 30)} ...)`
    throw unrecognized(mustBe, problem)
  }
}

/** Reads a body that is an object of `kind`; an empty body is an empty object. Throws 400, 413 and 415. */
export async function readFields(request: IncomingMessage, kind: string): Promise<Fields> {
  const value = parseBody(await readBody(request), contentType(request), kind) ?? {}
  if (isJsonObject(value)) return value
  throw unrecognized(kind)
}

export const unrecognized = (kind: string, problem?: string): Refusal => {
  const why = problem === undefined ? '' : `: couldn't get version/kind; ${problem}`
  return badRequest(`the object provided is unrecognized (must be of type ${kind})${why}`)
}

/** An object of a resource, with `kind` and `apiVersion` filled in. Throws 400 for another kind, version or shape. */
export function checkedObject(value: unknown, { kind, apiVersion }: ServedResource): Unstructured {
  if (!isJsonObject(value)) throw unrecognized(kind, 'it is not a JSON object')
  const given = {
    ...value,
    kind: textOf(value['kind']) ?? kind,
    apiVersion: textOf(value['apiVersion']) ?? apiVersion,
  }
  const { version } = splitApiVersion(given.apiVersion)
  const unfit = `${given.kind} in version "${version}" cannot be handled as a ${kind}`
  if (given.kind !== kind) throw badRequest(`${unfit}: it is of another kind`)
  if (given.apiVersion !== apiVersion) {
    throw badRequest(`${unfit}: no kind "${kind}" is registered for version "${version}"`)
  }
  const metadata = value['metadata'] ?? {}
  if (!isJsonObject(metadata)) {
    throw badRequest(`${unfit}: metadata is not an object`)
  }
  return { ...given, metadata: metadata as unknown as ObjectMeta }
}

/** The chunks of a streamed answer. Each is written when the client has taken those before it. */
type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>

/** Streams an answer at the speed of the client. What strikes the request changes the bytes of the connection. */
export async function sendStream(
  { response }: Exchange,
  effects: readonly FaultEffect[],
  chunks: Chunks,
  compressed = false,
): Promise<void> {
  const stages = [
    chunks,
    ...(compressed ? [createGzip({ level: 1 })] : []),
    ...effects.flatMap(({ stream }) => stream ?? []),
    response,
  ]
  // The types of Node know lists of streams only; iterables and generator functions are stages, too.
  await pipeline(stages as unknown as NodeJS.ReadWriteStream[])
}

/** Small pieces of an answer, in chunks of about this size. */
export function* gathered(
  pieces: Iterable<Buffer>,
  chunkBytes: number = 128 * 1024,
): Generator<Buffer> {
  let parts: Buffer[] = []
  let bytes = 0
  for (const piece of pieces) {
    parts.push(piece)
    bytes += piece.length
    if (bytes < chunkBytes) continue
    yield Buffer.concat(parts, bytes)
    parts = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes)
}
