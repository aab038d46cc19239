/*
 * Answers HTTP requests, with the cheapest and most general checks first. Probes come first, since a kubelet knows no host
 * name. Then come host and origin, the path, the form of the request (method, content type, size, Accept), the caller and
 * the caller's quota, the operation, and its document. Then a plan, the pipeline, or an event stream answers. A request
 * that is refused before the caller is known costs no authentication; one refused before the operation is read, no body.
 */

import { type Admitted, isOfCaller } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { QueryRequest } from '../../graphql/answer/planned-queries.ts'
import type { OperationTrace } from '../../graphql/prepare/operation-trace.ts'
import { isRecord } from '../../lib/json.ts'
import {
  clustersAsked,
  type DocumentAsked,
  namesHash,
  requestedDocument,
  requestMembers,
} from '../document-source.ts'
import { credentialsOf, FollowedIdentity } from '../guard/followed-identity.ts'
import {
  allowedRequestHeaders,
  answeredRequestId,
  asksForExplanation,
  operationRefusal,
  pathOf,
  readRefusal,
  refuseOperation,
  refuseRequest,
  requestIdHeader,
  requestIdOf,
  startingRefusal,
} from '../guard/request-guard.ts'
import {
  graphqlPath,
  type Readiness,
  type Routes,
  sdlPaths,
  type ServedSdl,
} from '../operation-options.ts'
import { type MadeContext, requestError, type ServerParts } from '../operation-pipeline.ts'
import { answerEvents } from './event-stream.ts'
import { GraphiqlPage } from './graphiql-page.ts'
import {
  answerType,
  eventStream,
  type HttpAnswer,
  isOperation,
  sendAnswer,
  sendSdl,
  type SentOperation,
  sentOperation,
} from './http-operation.ts'
import { answerMetrics, metricsPath, type MetricsSource } from './metrics-endpoint.ts'
import type { PortalFiles } from './portal-files.ts'
import type { StreamedRequest } from '../streamed-operation.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface HttpTransportOptions extends ServerParts {
  /** The first documents of GraphiQL; `undefined` for no GraphiQL. */
  readonly graphiqlTabs: readonly string[] | undefined
  /** The page at `/`; `undefined` for none. */
  readonly portal: PortalFiles | undefined
  /** The schema; `undefined` if the server does not show it. */
  readonly sdl: (() => Promise<ServedSdl>) | undefined
  readonly readiness: () => Readiness
  /** Whether `/readyz` shows reasons, which name clusters, addresses and files. */
  readonly tellsReasons: boolean
  /** `undefined` for no metrics on this port. */
  readonly metrics: MetricsSource | undefined
  readonly routes: Routes
}

interface AcceptedRequest {
  readonly trace: OperationTrace
  /** The type of the answer to an operation; `undefined` for a request for the schema. */
  readonly type: string | undefined
  readonly sdl: (() => Promise<ServedSdl>) | undefined
  /** Called when a subscription has begun: its span ends there. */
  readonly begun?: (() => void) | undefined
}

/** The caller of an operation: the viewer, if authenticated, the token, and the context. */
type OperationCaller = Pick<StreamedRequest, 'viewer' | 'callerToken' | 'sent' | 'trace'> & {
  readonly made: MadeContext
}

export class HttpTransport {
  readonly #options: HttpTransportOptions
  readonly #graphiql: GraphiqlPage | undefined

  constructor(options: HttpTransportOptions) {
    this.#options = options
    const { graphiqlTabs } = options
    this.#graphiql = graphiqlTabs === undefined ? undefined : new GraphiqlPage(graphiqlTabs)
  }

  /** Answers a request. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response)
    } catch (error) {
      const requestId = answeredRequestId(response)
      this.#options.log.error('a request failed unexpectedly', { requestId, error })
      if (response.headersSent) response.destroy()
      else refuseRequest(response, { status: 500, reason: 'The gateway failed; its log says why.' })
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origins } = this.#options
    const { headers } = request
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    response.setHeader('x-frame-options', 'DENY')
    response.setHeader('cross-origin-resource-policy', 'same-origin')
    response.setHeader('referrer-policy', 'no-referrer')
    response.setHeader(requestIdHeader, requestIdOf(headers))
    const refusal = origins.refusal(headers)
    if (this.#answerProbe(request, response, refusal === undefined)) return
    if (refusal !== undefined) {
      refuseRequest(response, refusal)
      return
    }
    const origin = origins.allowedOrigin(headers)
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin)
      response.setHeader('vary', 'origin')
      response.setHeader('access-control-expose-headers', requestIdHeader)
    }
    const { portal, routes } = this.#options
    if (!this.#options.isStarted() && pathOf(request) !== metricsPath) {
      // The portal says no more than its files. It asks the gateway until that has started.
      const isPage = pathOf(request) !== graphqlPath && !Object.hasOwn(routes, pathOf(request))
      if (isPage && (await portal?.answer(request, response)) === true) return
      refuseRequest(response, startingRefusal)
      return
    }
    if (sdlPaths.includes(pathOf(request)) && this.#options.sdl !== undefined) {
      await this.#answerGraphQL(request, response, origin, this.#options.sdl)
      return
    }
    switch (pathOf(request)) {
      case graphqlPath:
        await this.#answerGraphQL(request, response, origin)
        return
      case metricsPath:
        if (this.#options.metrics === undefined) break
        await answerMetrics(request, response, this.#options.metrics)
        return
    }
    const route = Object.hasOwn(routes, pathOf(request)) ? routes[pathOf(request)] : undefined
    if (route !== undefined) {
      await route(request, response)
      return
    }
    if (portal !== undefined) {
      if (await portal.answer(request, response)) return
    } else if (pathOf(request) === '/' && this.#graphiql !== undefined) {
      response.writeHead(302, { location: graphqlPath }).end()
      return
    }
    const hint = `send operations to ${graphqlPath}`
    refuseRequest(response, { status: 404, reason: 'There is nothing here.', hint })
  }

  /**
   * Answers `/livez` and `/healthz` (the process runs) and `/readyz` (it can answer). Returns whether the request was a
   * probe. A kubelet uses the pod's address, so any Host gets a status. Reasons go to trusted requests only, and only
   * without authentication.
   */
  #answerProbe(request: IncomingMessage, response: ServerResponse, isTrusted: boolean): boolean {
    const path = pathOf(request)
    if (path !== '/readyz' && path !== '/livez' && path !== '/healthz') return false
    const { readiness, tellsReasons } = this.#options
    const runs: Readiness = { ready: true, reasons: [] }
    const { ready, reasons, lagsBehindMs = [] } = path === '/readyz' ? readiness() : runs
    const lines = [ready ? 'ok' : 'not ready', ...(isTrusted && tellsReasons ? reasons : [])]
    if (lagsBehindMs.length > 0) {
      const longestS = Math.round(Math.max(...lagsBehindMs) / 1000)
      lines.push(`caches behind: ${lagsBehindMs.length}, by up to ${longestS} s`)
    }
    response.writeHead(ready ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' })
    response.end(`${lines.join('\n')}\n`)
    return true
  }

  async #answerGraphQL(
    request: IncomingMessage,
    response: ServerResponse,
    origin: string | undefined,
    sdl?: () => Promise<ServedSdl>,
  ): Promise<void> {
    if (sdl === undefined && this.#graphiql !== undefined && GraphiqlPage.isAskedFor(request)) {
      await this.#graphiql.answer(request, response)
      return
    }
    const { limits, origins } = this.#options
    if (origin !== undefined && request.method === 'OPTIONS') {
      response.writeHead(204, {
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': [...allowedRequestHeaders, ...limits.allowedHeaders].join(
          ', ',
        ),
        'access-control-max-age': '600',
      })
      response.end()
      return
    }
    const isByOwnScript = origins.isByOwnScript(request.headers)
    const refusal =
      sdl === undefined
        ? operationRefusal(request, { ...limits, isByOwnScript })
        : readRefusal(request, isByOwnScript)
    if (refusal !== undefined) {
      refuseRequest(response, refusal)
      return
    }
    const type = sdl === undefined ? answerType(request) : undefined
    // Checked before the operation runs: no write happens whose answer cannot be sent.
    if (sdl === undefined && type === undefined) {
      refuseRequest(response, {
        status: 406,
        reason: `Accept ${JSON.stringify(request.headers.accept)} matches no type that the gateway sends.`,
        hint: 'accept application/json or application/graphql-response+json; for subscriptions text/event-stream',
      })
      return
    }
    const requestId = answeredRequestId(response)
    const traced = this.#options.tracer?.begin({
      method: request.method ?? '',
      path: pathOf(request),
      requestId,
      carrier: () => request.headers,
    })
    const trace = { requestId, follower: traced?.follower }
    if (traced === undefined) {
      await this.#answerCaller(request, response, { trace, type, sdl })
      return
    }
    response.once('close', () => traced.end(response.statusCode))
    const begun = (): void => traced.end(response.statusCode)
    await traced.run(() => this.#answerCaller(request, response, { trace, type, sdl, begun }))
  }

  /**
   * Answers a request whose form is accepted. Finds the caller, takes the quota, reads the operation and its document, and
   * then answers by a plan, the pipeline or an event stream.
   */
  async #answerCaller(
    request: IncomingMessage,
    response: ServerResponse,
    { trace, type, sdl, begun }: AcceptedRequest,
  ): Promise<void> {
    const { limits, origins, authenticator, documents, unsent } = this.#options
    let known: Admitted | undefined
    let viewer: Viewer | undefined
    let made: MadeContext
    let ended: () => void
    const credentials = credentialsOf(request, origins)
    const isStream = type === eventStream
    try {
      const asked = authenticator?.authenticate(credentials)
      known = asked instanceof Promise ? await asked : asked
      viewer = known?.viewer
      const making = this.#madeFor(request, viewer)
      made = making instanceof Promise ? await making : making
      if ('context' in made) ({ viewer } = made.context)
      ended = this.#options.quotas.take(isStream ? 'subscriptions' : 'operations', viewer)
    } catch (error) {
      const code = refuseOperation(response, error)
      const { remoteAddress: address } = request.socket
      const { requestId } = trace
      this.#options.observer?.refused({ transport: 'http', code, viewer, address, requestId })
      return
    }
    // An operation counts until the reader has taken its answer.
    if (response.closed) ended()
    else response.once('close', ended)
    const sending = { compressFromBytes: limits.compressFromBytes, unsent, viewer }
    if (type === undefined) {
      if (sdl !== undefined) await sendSdl(request, response, await sdl(), sending)
      return
    }
    const beganMs = performance.now()
    const callerToken = authenticator?.tokenOf?.(credentials)
    // The program may have named another viewer.
    const sent = viewer === known?.viewer ? credentials : undefined
    const caller = { viewer, callerToken, sent, trace, made }
    if (isStream && authenticator !== undefined && known !== undefined && !response.closed) {
      const { reauthenticateMs } = limits
      const lost = (): void => void response.destroy()
      const following = { authenticator, credentials, known, reauthenticateMs, lost }
      const identity = new FollowedIdentity(following)
      response.once('close', () => identity[Symbol.dispose]())
    }
    const read = await sentOperation(request, documents.idMembers)
    // If the client left during authentication, no `close` would end the answer.
    if (read === undefined || response.closed || response.destroyed) return
    if (isStream) {
      const { params: operation } = 'params' in read ? read : { params: undefined }
      if (this.#options.connections.isClosed) {
        refuseRequest(response, { status: 503, reason: 'The gateway is stopping.' })
      } else if (isOperation(operation)) {
        const asked = { transport: 'http', request, operation, begun, ...caller } as const
        const learns = request.method === 'POST'
        await answerEvents(response, { ...asked, learns }, this.#options)
      } else {
        const hint = 'send { "query": "…" } as JSON, or as parameters of the URL'
        refuseRequest(response, { status: 400, reason: 'The request holds no operation.', hint })
      }
      return
    }
    const isKept = request.method === 'GET' && 'params' in read && namesHash(read.params)
    const { mayBeKept, ...answer } = await this.#answerOf(request, response, {
      ...caller,
      read,
      type,
      beganMs,
    })
    await sendAnswer(request, response, answer, { ...sending, revalidates: isKept && mayBeKept })
  }

  /**
   * Makes the program's context of an operation. A failure becomes the answer of the operation; an authentication error is
   * thrown.
   */
  #madeFor(
    { headers }: IncomingMessage,
    viewer: Viewer | undefined,
  ): MadeContext | Promise<MadeContext> {
    const origin = { transport: 'http', headers, connectionParams: undefined, viewer } as const
    try {
      const context = this.#options.contextOf(origin)
      if (!(context instanceof Promise)) return { context }
      return context.then((one) => ({ context: one }), unlessUnknown)
    } catch (error) {
      return unlessUnknown(error)
    }
  }

  /** Answers an operation by its plan; if it has none, by the pipeline. */
  async #answerOf(
    request: IncomingMessage,
    response: ServerResponse,
    {
      read,
      type,
      beganMs,
      made,
      ...caller
    }: OperationCaller & {
      readonly read: SentOperation
      readonly type: string
      readonly beganMs: number
    },
  ): Promise<HttpAnswer & { readonly mayBeKept: boolean }> {
    const { pipeline, planned } = this.#options
    const { headers } = request
    let mayBeKept = true
    const forbidKeeping = (): void => void (mayBeKept = false)
    const mayWrite = request.method === 'POST'
    const isOfPeer = (text: string): boolean => planned?.isOfPeer?.(headers, text) === true
    const asked = this.#withDocument(read, { learns: mayWrite, isOfPeer, ...caller })
    const operation = 'params' in asked ? plannable(asked.params) : undefined
    const isExplained = asksForExplanation(request)
    if (planned !== undefined && operation !== undefined && 'context' in made && !isExplained) {
      const origin = { transport: 'http', headers, connectionParams: undefined } as const
      const asker = { ...origin, ...caller, beganMs, forbidKeeping, mayWrite }
      const answered = planned.answer(operation, asker)
      const text = typeof answered === 'object' ? await answered : answered
      if (text !== undefined) {
        return { status: 200, headers: { 'content-type': type }, text, mayBeKept }
      }
    }
    const context = { req: request, res: response, asked, made, ...caller, forbidKeeping, beganMs }
    const piped = await pipeline.handleNodeRequestAndResponse(request, response, context)
    const { status } = piped
    const text = await piped.text()
    return { status, headers: Object.fromEntries(piped.headers), text, mayBeKept }
  }

  /** Puts the document in place of its id; or returns the refusal. Yoga refuses members that have no form of an operation. */
  #withDocument(sent: SentOperation, asker: Omit<DocumentAsked, 'observer'>): SentOperation {
    const { documents, observer } = this.#options
    if ('error' in sent) return { error: requestError(sent.error, false) }
    const { params } = sent
    try {
      if (!isRecord(params)) return sent
      const query = requestedDocument(documents, params, { ...asker, observer })
      const hasId = documents.idMembers.some((name) => Object.hasOwn(params, name))
      if (query === params['query'] && !hasId) return sent
      const others = Object.entries(params).filter(([name]) => !documents.idMembers.includes(name))
      return { params: { ...Object.fromEntries(others), query } }
    } catch (error) {
      return { error: requestError(error) }
    }
  }
}

/** The operation, if a plan may answer it: it has the right form, and no part that only the pipeline refuses or answers. */
function plannable(params: unknown): QueryRequest | undefined {
  const isPlain =
    isOperation(params) &&
    params.extensions?.['explain'] !== true &&
    Object.keys(params).every((name) => requestMembers.has(name))
  if (!isPlain) return undefined
  const { query, operationName, variables } = params as QueryRequest
  return { query, operationName, variables, clusters: clustersAsked(params) }
}

function unlessUnknown(error: unknown): MadeContext {
  if (isOfCaller(error)) throw error
  return { error }
}
