/*
 * Reads the operation of an HTTP request once, before a plan, the pipeline or an event stream answers it. `answerType`
 * reads the type of the answer from `Accept`, and `sentOperation` the operation from a GET's parameters or a POST's body.
 * A body is JSON whatever its `Content-Type` says: the guards have refused the requests that a foreign page could send.
 */

import type { IncomingMessage } from 'node:http'
import { ClientError } from '../../graphql/errors/client-error.ts'
import { isRecord } from '../../lib/json.ts'
import { type RequestedOperation, requestMembers } from '../document-source.ts'

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
