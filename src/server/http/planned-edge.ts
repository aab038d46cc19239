import type { IncomingMessage, ServerResponse } from 'node:http'
import { asksForExplanation } from '../guard/operation-request.ts'
import type { OperationOrigin } from '../operation-options.ts'

/** One operation, as a body of JSON asks for it. */
export interface OperationRequest {
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
}

/** Answers the operations that have a plan, which are most queries. */
export interface PlannedQueries {
  /**
   * The JSON text of the answer, without errors; `undefined` where the pipeline has to answer: what is no query, is not
   * covered by a plan, or has an error to tell. Never rejects. A promise only where something has to be waited for.
   */
  answer(
    operation: OperationRequest,
    origin: OperationOrigin,
  ): string | undefined | Promise<string | undefined>
}

const json = 'application/json'
const graphqlJson = 'application/graphql-response+json'
const members: ReadonlySet<string> = new Set(['query', 'operationName', 'variables'])

/**
 * Answers a POST by the shortest way: its body is read and parsed here, and where the operation has a plan its text goes to
 * the socket. Returns whether it did; if not, the request is left as the pipeline takes it, with its body in `body`. What a
 * client sees is the same either way.
 */
export async function answerPlanned(
  request: IncomingMessage & { body?: unknown },
  response: ServerResponse,
  planned: PlannedQueries,
): Promise<boolean> {
  const type = answerType(request.headers.accept)
  if (type === undefined || request.headers['content-encoding'] !== undefined) return false
  if (asksForExplanation(request)) return false
  const body = await bodyOf(request)
  if (body === undefined) return true
  const operation = operationOf(body)
  // The pipeline reads what is parsed already; a text that is no JSON it is given to refuse.
  request.body = operation.parsed ?? body
  if (operation.request === undefined) return false
  const origin = {
    transport: 'http',
    headers: request.headers,
    connectionParams: undefined,
  } as const
  const answered = planned.answer(operation.request, origin)
  const text = typeof answered === 'object' ? await answered : answered
  if (text === undefined) return false
  if (response.destroyed) return true
  const bytes = Buffer.from(text)
  response.writeHead(200, {
    'content-type': type,
    'content-length': bytes.length,
  })
  response.end(bytes)
  return true
}

/** The type of an answer that the request accepts, the first that it names; `undefined` where the pipeline has to choose. */
function answerType(accept: string | undefined): string | undefined {
  if (accept === undefined || accept === '*/*') return `${json}; charset=utf-8`
  for (const range of accept.split(',')) {
    const name = range.split(';', 1)[0]?.trim().toLowerCase()
    if (name === graphqlJson) return `${graphqlJson}; charset=utf-8`
    if (name === json || name === '*/*' || name === 'application/*') return `${json}; charset=utf-8`
    if (name !== 'text/html') return undefined
  }
  return undefined
}

/** The whole body, whose size the guards have bounded; `undefined` where the connection broke. */
function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
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

/** What a body asks for; without a request where it is anything but a plain operation. */
function operationOf(body: string): {
  readonly parsed?: object
  readonly request?: OperationRequest
} {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return {}
  }
  if (typeof parsed !== 'object' || parsed === null) return {}
  if (Array.isArray(parsed) || !Object.keys(parsed).every((name) => members.has(name))) {
    return { parsed }
  }
  const { query, operationName, variables } = parsed as Readonly<Record<string, unknown>>
  if (typeof query !== 'string') return { parsed }
  if (typeof (operationName ?? '') !== 'string') return { parsed }
  if (typeof (variables ?? {}) !== 'object' || Array.isArray(variables)) return { parsed }
  return { parsed, request: parsed as unknown as OperationRequest }
}
