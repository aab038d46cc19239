/*
 * Answers the operations of the program itself, without a port (`Gateway.execute`). It finds the caller, reads the
 * document, and takes the same steps as over HTTP, with the same bounds and access. The results have the form that JSON
 * would give them. When the request's signal aborts, the wait and any subscription end.
 */

import {
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  getOperationAST,
  GraphQLError,
  OperationTypeNode,
} from 'graphql'
import {
  type Authenticator,
  type CallerToken,
  noViewer,
} from '../access/authentication/authenticator.ts'
import type { Viewer } from '../access/viewer.ts'
import { ClientError, clientErrorOf } from '../graphql/errors/client-error.ts'
import { type OperationOptions, type OperationSteps, textOf } from '../graphql/answer/execution.ts'
import type { QueryRequest } from '../graphql/answer/planned-queries.ts'
import type { PlannedOperations } from '../graphql/live/planned-subscriptions.ts'
import { queryLane, turns } from '../graphql/prepare/user-shares.ts'
import { interruptible } from '../lib/generators.ts'
import { parseExact } from '../lib/json.ts'
import { sentResult } from '../server/operation-pipeline.ts'

/** The caller of an operation in this process. */
export interface RequestCaller {
  /** The caller, if the program knows them. Takes precedence over `headers` and `token`. */
  readonly viewer?: Viewer | undefined
  /** The caller's own token for API servers, which mutations and the data of Secrets need. */
  readonly callerToken?: CallerToken | undefined
  /** Verifies `token` or `headers`: `gateway.authenticator(…)`. */
  readonly authenticator?: Authenticator | undefined
  /** A bearer token, without `Bearer`. */
  readonly token?: string | undefined
  /** The headers of the request that the program answers. */
  readonly headers?: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

/** An operation of the program itself. */
export interface ExecuteRequest extends RequestCaller {
  /** A text, or the document that a `gql` tag makes. */
  readonly query: string | DocumentNode
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
  /** Whether the answer has `extensions.explain`. */
  readonly explain?: boolean
  /** Aborts the wait for an answer, and ends a subscription. */
  readonly signal?: AbortSignal | undefined
}

/** The frames of a subscription. Leaving the loop, `return()` and the request's signal end it. */
export type SubscriptionResults = AsyncGenerator<FormattedExecutionResult, void, void>

type Answer = ExecutionResult | FormattedExecutionResult | Frames
type Frames = AsyncGenerator<ExecutionResult, void, void>

export function executeInProcess(
  steps: OperationSteps,
  planned: PlannedOperations,
  requireViewer: boolean,
): (request: ExecuteRequest) => Promise<FormattedExecutionResult | SubscriptionResults> {
  const answerTo = async (request: ExecuteRequest): Promise<Answer> => {
    const beganMs = performance.now()
    const { variables, operationName, explain = false } = request
    const caller = await callerOf(request)
    if (requireViewer && caller.viewer === undefined) throw noViewer()
    const query = typeof request.query === 'string' ? request.query : textOf(request.query)
    if (!explain) {
      const asked = { query, variables, operationName }
      const text = await planned.answer(asked, { ...caller, beganMs, mayWrite: true })
      if (text !== undefined) return parseExact(text) as FormattedExecutionResult
    }
    const contextValue: OperationOptions = { ...caller, beganMs, explain, mayWrite: true }
    return await bySteps(steps, { query, variables, operationName }, contextValue)
  }
  return async (request) => {
    const { signal } = request
    signal?.throwIfAborted()
    const answering = answerTo(request).catch((error: unknown): Answer => {
      if (error instanceof InvalidCallerError) throw error
      return { errors: [clientErrorOf(error)] }
    })
    const answer = await unlessAborted(answering, signal)
    return Symbol.asyncIterator in answer ? untilAborted(answer, signal) : sent(answer)
  }
}

/** The answer of the steps, without the short way of the plans. Rejects with the error of a text that is no document. */
export async function bySteps(
  steps: OperationSteps,
  { query, operationName, variables }: QueryRequest,
  contextValue: OperationOptions,
): Promise<Answer> {
  const { served } = steps
  const lane = queryLane(contextValue.viewer)
  await turns.enter(lane)
  const { document, errors } = turns.run(() => {
    const parsed = steps.parse(query, contextValue)
    return { document: parsed, errors: steps.validate(served.schema, parsed, contextValue) }
  }, lane)
  if (errors.length > 0) return { errors }
  const args = { schema: served.schema, document, operationName, contextValue }
  const whole = { ...args, variableValues: variables ?? undefined }
  const operation = getOperationAST(document, operationName)?.operation
  return operation === OperationTypeNode.SUBSCRIPTION
    ? steps.subscribe(whole)
    : steps.execute(served, whole)
}

/** The program has named a caller that cannot be checked. Thrown, since the mistake is the program's, not a client's. */
class InvalidCallerError extends ClientError {
  constructor() {
    super('UNAUTHENTICATED', 'token and headers need an authenticator to check them', {
      hint: 'pass `authenticator: gateway.authenticator({ … })`, or the `viewer` that you know',
    })
  }
}

async function callerOf(
  caller: RequestCaller,
): Promise<Pick<OperationOptions, 'viewer' | 'callerToken' | 'sent'>> {
  const { viewer, callerToken, authenticator, token, headers } = caller
  if (viewer !== undefined) return { viewer, callerToken }
  if (authenticator === undefined) {
    if (token !== undefined || headers !== undefined) throw new InvalidCallerError()
    return { viewer, callerToken }
  }
  const given = headers instanceof Headers ? [...headers] : Object.entries(headers ?? {})
  const sentHeaders: Record<string, readonly string[]> = {}
  for (const [name, value] of given) {
    if (value !== undefined) sentHeaders[name.toLowerCase()] = [value].flat()
  }
  const authorization = token === undefined ? sentHeaders['authorization']?.[0] : `Bearer ${token}`
  const credentials = { authorization, headers: () => sentHeaders }
  const admitted = await authenticator.authenticate(credentials)
  return {
    viewer: admitted.viewer,
    callerToken: callerToken ?? authenticator.tokenOf?.(credentials),
    sent: credentials,
  }
}

/** Rejects with the signal's reason when it aborts. A subscription that begins after that is ended. */
async function unlessAborted<T extends object>(
  answering: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return answering
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([answering, aborted.promise])
  } catch (error) {
    const end = (answer: object): void => {
      if (Symbol.asyncIterator in answer) void (answer as Frames).return()
    }
    void answering.then(end, () => {})
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The frames as clients see them, until the signal aborts. */
function untilAborted(frames: Frames, signal: AbortSignal | undefined): SubscriptionResults {
  const end = (): void => {
    signal?.removeEventListener('abort', end)
    void frames.return()
  }
  // Listens before the first frame is requested: a subscription without a reader must end, too.
  signal?.addEventListener('abort', end, { once: true })
  async function* results(): SubscriptionResults {
    try {
      for await (const frame of frames) yield sent(frame)
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }
  return interruptible(results(), end)
}

/** The JSON text of the answer to a query. Never rejects. */
export async function textBySteps(
  steps: OperationSteps,
  request: QueryRequest,
  contextValue: OperationOptions,
): Promise<string> {
  try {
    return JSON.stringify(sent((await bySteps(steps, request, contextValue)) as ExecutionResult))
  } catch (error) {
    return JSON.stringify(sent({ errors: [clientErrorOf(error)] }))
  }
}

/** A result in the form that JSON would give it. Errors of frames, which were text, have it already. */
function sent(result: ExecutionResult | FormattedExecutionResult): FormattedExecutionResult {
  const [first] = result.errors ?? []
  return first instanceof GraphQLError
    ? sentResult(result as ExecutionResult)
    : (result as FormattedExecutionResult)
}
