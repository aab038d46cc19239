/*
 * Answers operations whose results are sent one by one, over a WebSocket or as server-sent events. `prepareOperation`
 * makes the context, finds the document, parses and validates it. `answerOperation` answers by the plan or the pipeline.
 * The transport then sends the returned answers. Frames of a plan bypass them: they go to `sendFrames` as bytes.
 */

import type { IncomingMessage } from 'node:http'
import {
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
  OperationTypeNode,
} from 'graphql'
import type { CallerToken, Credentials } from '../access/authentication/authenticator.ts'
import type { Viewer } from '../access/viewer.ts'
import type { OperationOptions } from '../graphql/answer/execution.ts'
import type { OperationTrace } from '../graphql/prepare/operation-trace.ts'
import { queryLane, turns } from '../graphql/prepare/user-shares.ts'
import { interruptible } from '../lib/generators.ts'
import { clientErrorOf, writeByGet } from '../graphql/errors/client-error.ts'
import { clustersAsked, type RequestedOperation, requestedDocument } from './document-source.ts'
import type { MadeContext, OperationPipeline, ServerParts } from './operation-pipeline.ts'
import type { FrameStream, StreamEnd } from '../lib/frame-stream.ts'
import { OneFrame } from './user-limits.ts'

export type Answers = AsyncGenerator<ExecutionResult, void, void>

export interface StreamedRequest {
  readonly transport: 'http' | 'websocket'
  /** The request, or the request that opened the WebSocket. */
  readonly request: IncomingMessage
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined
  readonly operation: RequestedOperation
  /** Whether the server may remember a document that comes with its hash. */
  readonly learns: boolean
  readonly viewer: Viewer | undefined
  readonly callerToken: CallerToken | undefined
  /** What the caller has sent to be known as the viewer. */
  readonly sent: Credentials | undefined
  readonly trace: OperationTrace
  /** Called when the operation has been answered, or its subscription has begun. */
  readonly begun?: (() => void) | undefined
  readonly made?: MadeContext
}

/** A valid operation, ready to be answered. */
export interface StreamedOperation extends ExecutionArgs {
  readonly asked: StreamedRequest
  readonly enveloped: ReturnType<OperationPipeline['getEnveloped']>
  readonly query: string
  readonly viewer: Viewer | undefined
  readonly isSubscription: boolean
  /** When it arrived, in `performance.now()` time. Its deadline counts from then. */
  readonly beganMs: number
}

/** Makes the context of an operation, parses it and validates it. Returns the errors of an invalid one. */
export async function prepareOperation(
  { pipeline, documents, planned, observer }: ServerParts,
  asked: StreamedRequest,
): Promise<StreamedOperation | readonly GraphQLError[]> {
  const beganMs = performance.now()
  const { request, ...origin } = asked
  const { operation, learns, trace } = asked
  // Passes the request as `req`: by `request`, yoga would take the GET that opened a WebSocket for the operation's method.
  const enveloped = pipeline.getEnveloped({ ...origin, req: request, params: operation })
  const contextValue = (await enveloped.contextFactory()) as OperationOptions
  const { viewer } = contextValue
  const isOfPeer = (text: string): boolean => planned?.isOfPeer?.(request.headers, text) === true
  const by = { learns, isOfPeer, viewer, trace, observer }
  const query = requestedDocument(documents, operation, by)
  // Takes turns, so that many operations at once do not block the other users.
  const lane = viewer === undefined ? request.socket : queryLane(viewer)
  await turns.enter(lane)
  const { document, errors } = turns.run(() => {
    const parsed = enveloped.parse(query)
    const found = enveloped.validate(enveloped.schema, parsed) as readonly GraphQLError[]
    return { document: parsed, errors: found }
  }, lane)
  if (errors.length > 0) return errors
  const { operationName, variables } = operation
  const kind = getOperationAST(document, operationName)?.operation
  if (kind === OperationTypeNode.MUTATION && isGet(asked)) return [clientErrorOf(writeByGet())]
  return {
    schema: enveloped.schema,
    document,
    operationName,
    variableValues: variables ?? undefined,
    contextValue,
    asked,
    enveloped,
    query,
    viewer,
    beganMs,
    isSubscription: kind === OperationTypeNode.SUBSCRIPTION,
  }
}

/** A link, a prefetch or a reload must not write. Messages of a WebSocket may, although a GET opened it. */
function isGet({ transport, request }: StreamedRequest): boolean {
  return transport === 'http' && request.method !== 'POST'
}

/**
 * Answers an operation by its plan, whose frames go to `sendFrames`, or by the pipeline. The caller has to send the
 * returned results.
 */
export async function answerOperation(
  { planned }: ServerParts,
  operation: StreamedOperation,
  sendFrames: (stream: FrameStream) => Promise<StreamEnd>,
): Promise<Answers> {
  const { asked, contextValue, query, operationName, viewer, isSubscription, beganMs } = operation
  const { transport, request, connectionParams, callerToken, trace } = asked
  const mayWrite = !isGet(asked)
  let stream: FrameStream | undefined
  if (planned !== undefined && (contextValue as OperationOptions).explain !== true) {
    const { variables } = asked.operation
    const clusters = clustersAsked(asked.operation)
    const planAsked = { query, operationName, variables: variables ?? {}, clusters }
    const origin = { transport, headers: request.headers, connectionParams, viewer }
    const { sent } = contextValue as OperationOptions
    const caller = { ...origin, callerToken, sent, trace, beganMs, mayWrite }
    if (isSubscription) stream = await planned.subscribe?.(planAsked, caller)
    else {
      const text = await planned.answer(planAsked, caller)
      if (text !== undefined) stream = new OneFrame(text)
    }
  }
  if (stream === undefined) {
    const { subscribe, execute } = operation.enveloped
    const options = { ...(contextValue as object), beganMs, mayWrite }
    const begun = { ...operation, contextValue: options }
    const answer: Answers | ExecutionResult = await (isSubscription ? subscribe : execute)(begun)
    return Symbol.asyncIterator in answer ? answer : only(answer)
  }
  const frames = stream
  const results = async function* (): Answers {
    const end = await sendFrames(frames)
    frames.close()
    if (end.form === 'failed') yield { errors: end.errors.map(clientErrorOf) }
  }
  return interruptible(results(), () => frames.close())
}

/** The answers of an operation with a single result. */
export async function* only(result: ExecutionResult): Answers {
  yield result
}
