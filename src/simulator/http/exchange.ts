import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { badRequest, Refusal } from '../api/status-refusal.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  readonly params: URLSearchParams
  /** The texts of the answer's `Warning` header. */
  readonly warnings: string[]
}

/** Reads the request line. Ignores its host. */
export function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    params: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    warnings: [],
  }
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

/** The target of a path: a resource of a group and version, and perhaps one object or a subresource. */
export interface RequestTarget {
  /** The RBAC verb; `''` for methods that no resource has. */
  readonly verb: string
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** `''` if the path has no namespace. */
  readonly namespace: string
  readonly resource: string
  /** `''` for a collection. */
  readonly name: string
  /** `''` for the object itself. */
  readonly subresource: string
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
