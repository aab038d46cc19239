import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Authenticated,
  type Authenticator,
  IdentityUnavailableError,
  UnauthenticatedError,
} from '../../access/authentication/authenticator.ts'
import type { CallerToken } from '../../access/authentication/caller-token.ts'
import type { Viewer } from '../../access/viewer.ts'
import { credentialsOf } from '../guard/caller.ts'
import { FollowedIdentity } from '../guard/followed-identity.ts'
import { refuseOperation } from '../guard/operation-refusal.ts'
import { GraphiqlPage } from './graphiql-page.ts'
import { graphqlPath, type MakeContext } from '../operation-options.ts'
import type { MadeContext, OperationPipeline } from '../operation-pipeline.ts'
import { allowedRequestHeaders, operationRefusal } from '../guard/operation-request.ts'
import type { OriginCheck } from '../guard/origin-check.ts'
import { answerMetrics, metricsPath, type MetricsSource } from './metrics-endpoint.ts'
import type { ServerObserver } from '../server-observer.ts'
import { sendAnswer } from './http-answer.ts'
import type { DocumentSource } from '../document-source.ts'
import { answerEvents, asksForEvents } from './event-stream.ts'
import {
  answerPlanned,
  isHashNamed,
  operationAsked,
  type PlannedQueries,
} from './query-fast-path.ts'
import { answerProbe, type ProbesOptions } from './probes.ts'
import { refuseRequest } from '../guard/refusal.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'
import type { UnsentBytes } from '../unsent-bytes.ts'
import { pathOf } from '../guard/operation-request.ts'
import type { ServerLog } from '../operation-options.ts'

export interface HttpTransportOptions {
  readonly pipeline: OperationPipeline
  readonly origins: OriginCheck
  readonly maxBodyBytes: number
  readonly compressFromBytes: number
  /** What the pipeline knows, too. */
  readonly documents: DocumentSource
  /** What GraphiQL shows first; `undefined`: no GraphiQL. */
  readonly graphiqlQuery: string | undefined
  readonly probes: ProbesOptions
  /** Finds out who asks; `undefined`: nobody is asked. */
  readonly authenticator: Authenticator | undefined
  readonly quotas: UserQuotas
  readonly unsent: UnsentBytes
  /** Makes the context of an operation, which says who asks. */
  readonly contextOf: MakeContext
  /** How often it is asked whether the reader of a stream of events is still known. */
  readonly reauthenticateMs: number
  /** `undefined`: none here. */
  readonly metrics: MetricsSource | undefined
  readonly observer: ServerObserver | undefined
  /** Answers what has a plan; all else is the pipeline's. */
  readonly planned: PlannedQueries | undefined
  /** How often a stream of events gets a comment. */
  readonly keepAliveMs: number
  readonly log: ServerLog
}

/** Who asks, where they are asked, the token that they have shown, and the context of what they ask. */
interface OperationCaller {
  readonly viewer: Viewer | undefined
  readonly callerToken: CallerToken | undefined
  readonly made: MadeContext
}

/** Everything that is asked by HTTP, in the order of distrust: probes, where it comes from, what it wants, its body. */
export class HttpTransport {
  readonly #options: HttpTransportOptions
  readonly #graphiql: GraphiqlPage | undefined
  readonly #streams = new Set<ServerResponse>()
  #isStopping = false

  constructor(options: HttpTransportOptions) {
    this.#options = options
    const { graphiqlQuery } = options
    this.#graphiql = graphiqlQuery === undefined ? undefined : new GraphiqlPage(graphiqlQuery)
  }

  /** Answers a request, whatever happens. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response)
    } catch (error) {
      this.#options.log.error('a request failed unexpectedly', { error })
      if (response.headersSent) response.destroy()
      else refuseRequest(response, { status: 500, reason: 'The gateway failed; its log says why.' })
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origins, probes } = this.#options
    const { headers } = request
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    response.setHeader('x-frame-options', 'DENY')
    response.setHeader('cross-origin-resource-policy', 'same-origin')
    response.setHeader('referrer-policy', 'no-referrer')
    const refusal = origins.refusal(headers)
    if (answerProbe(request, response, { ...probes, trusted: refusal === undefined })) return
    if (refusal !== undefined) {
      refuseRequest(response, refusal)
      return
    }
    const origin = origins.allowedOrigin(headers)
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin)
      response.setHeader('vary', 'origin')
    }
    switch (pathOf(request)) {
      case graphqlPath:
        await this.#answerGraphQL(request, response, origin)
        return
      case metricsPath:
        if (this.#options.metrics === undefined) break
        await answerMetrics(request, response, this.#options.metrics)
        return
      case '/':
        if (this.#graphiql === undefined) break
        response.writeHead(302, { location: graphqlPath }).end()
        return
    }
    refuseRequest(response, { status: 404, reason: `There is nothing here; ask ${graphqlPath}.` })
  }

  async #answerGraphQL(
    request: IncomingMessage,
    response: ServerResponse,
    origin: string | undefined,
  ): Promise<void> {
    if (this.#graphiql !== undefined && GraphiqlPage.isAskedFor(request)) {
      await this.#graphiql.answer(request, response)
      return
    }
    if (origin !== undefined && request.method === 'OPTIONS') {
      response.writeHead(204, {
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': allowedRequestHeaders,
        'access-control-max-age': '600',
      })
      response.end()
      return
    }
    const refusal = operationRefusal(request, this.#options.maxBodyBytes)
    if (refusal !== undefined) {
      refuseRequest(response, refusal)
      return
    }
    const { authenticator } = this.#options
    let known: Authenticated | undefined
    let viewer: Viewer | undefined
    let made: MadeContext
    let ended: () => void
    const credentials = credentialsOf(request)
    const isStream = asksForEvents(request)
    try {
      const asked = authenticator?.authenticate(credentials)
      known = asked instanceof Promise ? await asked : asked
      viewer = known?.viewer
      const making = this.#madeFor(request, viewer)
      made = making instanceof Promise ? await making : making
      if ('context' in made) ({ viewer } = made.context)
      ended = this.#options.quotas.take(isStream ? 'subscriptions' : 'operations', viewer)
    } catch (error) {
      this.#refuse(request, response, error, viewer)
      return
    }
    // An answer is under way until its reader has taken it.
    if (response.closed) ended()
    else response.once('close', ended)
    const caller = { viewer, callerToken: authenticator?.tokenOf?.(credentials), made }
    if (!isStream) {
      await this.#answerOperation(request, response, caller)
      return
    }
    if (authenticator !== undefined && known !== undefined && !response.closed) {
      const { reauthenticateMs } = this.#options
      const lost = (): void => void response.destroy()
      const following = { authenticator, credentials, known, reauthenticateMs, lost }
      const identity = new FollowedIdentity(following)
      response.once('close', () => identity[Symbol.dispose]())
    }
    await this.#answerEvents(request, response, caller)
  }

  /**
   * The program's context of an operation. What it fails with is the operation's answer, and thrown only where it says that nobody is
   * known.
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

  #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    error: unknown,
    viewer: Viewer | undefined,
  ): void {
    const code = refuseOperation(request, response, error)
    const address = request.socket.remoteAddress
    this.#options.observer?.refused({ transport: 'http', code, viewer, address })
  }

  async #answerEvents(
    request: IncomingMessage,
    response: ServerResponse,
    caller: OperationCaller,
  ): Promise<void> {
    const operation = await operationAsked(request, this.#options.documents)
    if (this.#isStopping) {
      refuseRequest(response, { status: 503, reason: 'The gateway is stopping.' })
      return
    }
    if (operation === undefined) {
      refuseRequest(response, { status: 400, reason: 'There is no operation in the request.' })
      return
    }
    this.#streams.add(response)
    response.once('close', () => this.#streams.delete(response))
    await answerEvents(request, response, operation, { ...this.#options, ...caller })
  }

  /** Ends the streams of events, and begins no more, without saying that they are complete: their readers may come back elsewhere. */
  endStreams(): void {
    this.#isStopping = true
    for (const response of this.#streams) response.end()
  }

  async #answerOperation(
    request: IncomingMessage,
    response: ServerResponse,
    { viewer, callerToken, made }: OperationCaller,
  ): Promise<void> {
    const { pipeline, planned, documents, compressFromBytes, unsent } = this.#options
    const sending = { compressFromBytes, unsent, viewer }
    const beganMs = performance.now()
    if (planned !== undefined && 'context' in made) {
      const edge = { planned, documents, callerToken, ...sending }
      if (await answerPlanned(request, response, edge)) return
    }
    let mayBeKept = true
    const answered = await pipeline.handleNodeRequestAndResponse(request, response, {
      req: request,
      res: response,
      viewer,
      callerToken,
      made,
      secretRead: () => (mayBeKept = false),
      beganMs,
    })
    const { status } = answered
    const answer = {
      status,
      headers: Object.fromEntries(answered.headers),
      text: await answered.text(),
    }
    await sendAnswer(request, response, answer, {
      revalidates: mayBeKept && isHashNamed(request),
      ...sending,
    })
  }
}

function unlessUnknown(error: unknown): MadeContext {
  if (error instanceof UnauthenticatedError || error instanceof IdentityUnavailableError) {
    throw error
  }
  return { error }
}
