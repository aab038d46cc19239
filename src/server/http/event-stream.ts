import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
} from 'graphql'
import type { CallerToken } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { clientErrorOf } from '../../graphql/errors/client-error.ts'
import { interruptible } from '../../lib/generators.ts'
import { type DocumentSource, observedDocument } from '../document-source.ts'
import { FrameSink } from '../frame-sink.ts'
import { asksForExplanation } from '../guard/operation-request.ts'
import { type MadeContext, type OperationPipeline, sentResult } from '../operation-pipeline.ts'
import { type PlannedStream, type StreamEnd, streamedResults } from '../planned-stream.ts'
import type { ServerObserver } from '../server-observer.ts'
import type { UnsentBytes } from '../unsent-bytes.ts'
import { countUnsent } from './http-answer.ts'
import type { HashedOperation, PlannedQueries } from './query-fast-path.ts'

/**
 * Whether a request prefers server-sent events: whether they are its first accepted type that the server supports.
 * Clients such as urql name them after JSON for every query.
 */
export function asksForEvents({ headers: { accept = '' } }: IncomingMessage): boolean {
  const known = accept.split(',').find((range) => answerTypes.test(range))
  return known !== undefined && eventType.test(known)
}

const eventType = /^\s*text\/event-stream\s*(;|$)/i
const answerTypes =
  /^\s*(text\/event-stream|application\/(graphql-response\+)?json|application\/\*|\*\/\*)\s*(;|$)/i

export interface EventStreamOptions {
  readonly pipeline: OperationPipeline
  readonly documents: DocumentSource
  readonly planned: PlannedQueries | undefined
  readonly viewer: Viewer | undefined
  readonly callerToken: CallerToken | undefined
  readonly made: MadeContext
  /** The interval of comments that keep proxies from closing the connection. */
  readonly keepAliveMs: number
  readonly unsent: UnsentBytes
  readonly observer: ServerObserver | undefined
}

type Results = AsyncGenerator<ExecutionResult, void, void>

/** The text around each result. */
const ahead = Buffer.from('event: next\ndata: ')
const behind = Buffer.from('\n\n')

/**
 * Answers one operation by server-sent events: `next` with each result, `complete` after the last (the distinct
 * connections mode of GraphQL over SSE). Frames have the same bounds as over a WebSocket. Resolves when the connection
 * is closed.
 */
export async function answerEvents(
  request: IncomingMessage,
  response: ServerResponse,
  operation: HashedOperation,
  options: EventStreamOptions,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
  const output = countUnsent(request, response, options)
  const sink = new FrameSink(output)
  const sendFrames = (stream: PlannedStream): Promise<StreamEnd> =>
    sink.send(stream, (payload) => {
      if (response.writableEnded) return
      response.cork()
      response.write(ahead)
      response.write(payload)
      response.write(behind, () => sink.drained())
      response.uncork()
    })
  const write = (text: string | Buffer, sent?: () => void): void => {
    response.write(text, sent)
    output.measure()
  }
  const keepAlive = setInterval(() => write(':\n\n'), options.keepAliveMs)
  const results = resultsOf(request, operation, sendFrames, options)
  response.once('close', () => {
    clearInterval(keepAlive)
    sink.close()
    void results.return()
  })
  for await (const result of results) {
    const text = Buffer.from(JSON.stringify(sentResult(result)))
    await new Promise<void>((resolve) => {
      write(Buffer.concat([ahead, text, behind]), resolve)
    })
    sink.drained()
  }
  if (!response.writableEnded && !response.destroyed) response.end('event: complete\ndata:\n\n')
}

function resultsOf(
  request: IncomingMessage,
  operation: HashedOperation,
  sendFrames: (stream: PlannedStream) => Promise<StreamEnd>,
  { pipeline, documents, planned, viewer, callerToken, made, observer }: EventStreamOptions,
): Results {
  let running: Results | undefined
  let isLeft = false
  async function* results(): Results {
    let answered: Results | ExecutionResult
    try {
      answered = await answer()
    } catch (error) {
      answered = { errors: [clientErrorOf(error)] }
    }
    if (!(Symbol.asyncIterator in answered)) {
      yield answered
      return
    }
    running = answered
    if (isLeft) await running.return()
    else yield* running
  }
  const answer = async (): Promise<Results | ExecutionResult> => {
    const { operationName, variables } = operation
    const asking = { learns: request.method === 'POST', viewer, observer }
    const query = observedDocument(documents, operation, asking) ?? ''
    const enveloped = pipeline.getEnveloped({
      req: request,
      transport: 'http',
      viewer,
      callerToken,
      made,
      params: operation,
    })
    const document = enveloped.parse(query)
    const errors = enveloped.validate(enveloped.schema, document) as readonly GraphQLError[]
    if (errors.length > 0) return { errors }
    const args: ExecutionArgs = {
      schema: enveloped.schema,
      document,
      operationName,
      variableValues: variables ?? undefined,
      contextValue: await enveloped.contextFactory(),
    }
    if (getOperationAST(document, operationName)?.operation !== 'subscription') {
      return (await enveloped.execute(args)) as ExecutionResult
    }
    if (planned?.subscribe === undefined || asksForExplanation(request)) {
      return (await enveloped.subscribe(args)) as Results | ExecutionResult
    }
    const { headers } = request
    const origin = { transport: 'http', headers, connectionParams: undefined, viewer } as const
    const stream = await planned.subscribe({ query, operationName, variables }, origin)
    return streamedResults(stream, sendFrames)
  }
  return interruptible(results(), () => {
    isLeft = true
    void running?.return()
  })
}
