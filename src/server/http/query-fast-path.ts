import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OperationOptions } from '../../graphql/answer/execution.ts'
import type { QueryRequest } from '../../graphql/answer/planned-queries.ts'
import { isRecord } from '../../lib/json.ts'
import { asksForExplanation } from '../guard/operation-request.ts'
import type { OperationOrigin, ServerPlugin } from '../operation-options.ts'
import type { PlannedStream } from '../planned-stream.ts'
import { sendAnswer, type SendOptions } from './http-answer.ts'
import {
  type DocumentRequest,
  type DocumentSource,
  namesHash,
  onlyNamesHash,
} from '../document-source.ts'

/** The caller's token, the callback for an answer that no browser may keep, and the request. */
type OperationCaller = Pick<OperationOptions, 'callerToken' | 'forbidKeeping' | 'trace'>

/** Answers operations that have a plan, as most queries do. */
export interface PlannedQueries {
  /** The plugin that it replaces. */
  readonly plugin?: ServerPlugin | undefined
  /**
   * The JSON text of the answer; `undefined` if the pipeline has to answer: the operation is not a query, has no plan,
   * or has errors. Returns a promise only if it has to wait. Never rejects.
   */
  answer(
    operation: QueryRequest,
    origin: OperationOrigin & OperationCaller,
  ): string | undefined | Promise<string | undefined>
  /** The frames of a subscription. The last are its errors, if it fails. Never rejects. */
  subscribe?(
    operation: QueryRequest,
    origin: OperationOrigin &
      Omit<OperationCaller, 'forbidKeeping'> & { readonly mayWrite: boolean },
  ): Promise<PlannedStream>
}

const json = 'application/json'
const graphqlJson = 'application/graphql-response+json'
const members: ReadonlySet<string> = new Set(['query', 'operationName', 'variables', 'extensions'])

export interface PlannedEdge
  extends Omit<SendOptions, 'revalidates'>, Omit<OperationCaller, 'forbidKeeping'> {
  readonly planned: PlannedQueries
  readonly documents: DocumentSource
}

/**
 * Answers a request on the fast path: parses the operation here and writes the answer of its plan to the socket.
 * Returns whether it did; otherwise the pipeline takes the request, with its body in `body`. Clients see no difference.
 */
export async function answerPlanned(
  request: IncomingMessage & { body?: unknown },
  response: ServerResponse,
  { planned, documents, callerToken, trace, ...sending }: PlannedEdge,
): Promise<boolean> {
  const type = answerType(request)
  if (type === undefined || request.headers['content-encoding'] !== undefined) return false
  if (asksForExplanation(request)) return false
  const isPost = request.method === 'POST'
  let asked: AskedOperation
  if (isPost) {
    const body = await bodyOf(request)
    if (body === undefined) return true
    asked = operationOf(parsed(body), documents.idMembers)
    // The pipeline reads the parsed body. It gets invalid JSON as text, to refuse it, and also an empty object, which
    // it would take for an unread body.
    const { parsed: object = {} } = asked
    request.body = Object.keys(object).length === 0 ? body : object
  } else {
    asked = operationOf(searchOf(request), documents.idMembers)
  }
  const operation = withDocument(asked.request, documents, isPost)
  if (operation === undefined) return false
  let mayBeKept = true
  const origin = {
    transport: 'http',
    headers: request.headers,
    connectionParams: undefined,
    viewer: sending.viewer,
    callerToken,
    trace,
    forbidKeeping: () => void (mayBeKept = false),
  } as const
  const answered = planned.answer(operation, origin)
  const text = typeof answered === 'object' ? await answered : answered
  if (text === undefined) return false
  const answer = { status: 200, headers: { 'content-type': type }, text }
  const revalidates = mayBeKept && !isPost && namesHash(asked.request?.extensions)
  await sendAnswer(request, response, answer, { ...sending, revalidates })
  return true
}

/** The operation of a request, in its body or URL, with whatever extensions; `undefined` if there is none. */
export async function operationAsked(
  request: IncomingMessage,
): Promise<HashedOperation | undefined> {
  const isPost = request.method === 'POST'
  const given = isPost ? parsed((await bodyOf(request)) ?? '') : searchOf(request)
  return isOperation(given) ? given : undefined
}

/** Whether a GET names its document by a hash, so that its answer may be revalidated. */
export function isHashNamed(request: IncomingMessage): boolean {
  return request.method === 'GET' && namesHash(searchOf(request)?.['extensions'])
}

/**
 * The type of an answer: the first that the client accepts and the server supports, as the pipeline chooses it; `undefined`
 * if there is none, so that nothing is executed.
 */
export function answerType({ headers }: IncomingMessage): string | undefined {
  const { accept = '' } = headers
  if (accept === '' || accept === '*/*') return `${json}; charset=utf-8`
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    if (parameters.some((one) => refusing.test(one))) continue
    if (name === graphqlJson) return `${graphqlJson}; charset=utf-8`
    if (name === json || name === '*/*' || name === 'application/*') return `${json}; charset=utf-8`
  }
  return undefined
}

/** Another character set than UTF-8, and a type that is named in order to refuse it. */
const refusing = /^charset=(?!utf-8$)|^q=0(?:\.0*)?$/

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

/** A parsed request. `request` is absent if it is not a plain operation. */
interface AskedOperation {
  readonly parsed?: object
  readonly request?: HashedOperation
}

/** An operation that may name its document by a hash. */
export type HashedOperation = Omit<QueryRequest, 'query'> & DocumentRequest

/** The operation with its document; `undefined` if there is none or it is refused. */
function withDocument(
  request: HashedOperation | undefined,
  documents: DocumentSource,
  learns: boolean,
): QueryRequest | undefined {
  if (request === undefined) return undefined
  try {
    const query = documents.documentOf(request, learns)
    return query === undefined ? undefined : { ...request, query }
  } catch {
    return undefined
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The parameters of a GET; `undefined` if one is invalid. */
function searchOf({ url = '' }: IncomingMessage): Readonly<Record<string, unknown>> | undefined {
  const at = url.indexOf('?')
  const search = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  const given: Record<string, unknown> = {}
  for (const [name, value] of search) {
    const isJson = name === 'variables' || name === 'extensions'
    given[name] = isJson ? parsed(value) : value
    if (given[name] === undefined) return undefined
  }
  return given
}

function operationOf(asked: unknown, idMembers: readonly string[]): AskedOperation {
  if (typeof asked !== 'object' || asked === null) return {}
  const isMember = (name: string): boolean => members.has(name) || idMembers.includes(name)
  if (Array.isArray(asked) || !Object.keys(asked).every(isMember)) {
    return { parsed: asked }
  }
  const isPlain = isOperation(asked) && onlyNamesHash(asked.extensions ?? {})
  return isPlain ? { parsed: asked, request: asked } : { parsed: asked }
}

function isOperation(asked: unknown): asked is HashedOperation {
  if (!isRecord(asked)) return false
  const { query, operationName, variables, extensions } = asked
  return (
    typeof (query ?? '') === 'string' &&
    typeof (operationName ?? '') === 'string' &&
    isRecord(variables ?? {}) &&
    isRecord(extensions ?? {})
  )
}
