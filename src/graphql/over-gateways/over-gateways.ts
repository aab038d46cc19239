/*
 * Operations of gateways that share the clusters out among themselves. An operation about clusters that this gateway holds
 * is answered by its plans, as without sharing. One about clusters of a single other gateway goes there as it came. One
 * over clusters of several is asked of each of them, this one included, and their answers become one
 * (`merged-answer.ts`, `merged-frames.ts`).
 *
 * An operation goes one hop: what another gateway has sent is answered for the clusters that are held here, and what is
 * not held is missing. A question whose holder is gone is asked once more, of the present holder. A write is sent once.
 *
 * While clusters are taken over from a gateway that is gone, questions about them wait for a moment, so that their answers
 * are whole. What is not there by then is missing.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import {
  type DocumentNode,
  getOperationAST,
  getVariableValues,
  locatedError,
  OperationTypeNode,
} from 'graphql'
import type { FrameStream } from '../../lib/frame-stream.ts'
import {
  codesAtEnd,
  codesOf,
  type OperationObserver,
  type OperationReport,
} from '../answer/operation-observer.ts'
import type { QueryOrigin, QueryRequest } from '../answer/planned-queries.ts'
import { type OperationDocuments, problemOfVariables } from '../documents/operation-documents.ts'
import { ClientError, clientResult, withoutTransportDetails } from '../errors/client-error.ts'
import type { PlannedOperations, SubscriptionOrigin } from '../live/planned-subscriptions.ts'
import { FailedStream } from '../live/value-streams.ts'
import { isOverClusters } from '../prepare/kind-view.ts'
import { type HeldBytes, queryLane, turns } from '../prepare/user-shares.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { PeerError, type PeerRequest, type Peers } from './peers.ts'
import {
  type Holder,
  type RoutedField,
  routedFields,
  type RoutedRequest,
  isOfClusters,
} from './routes.ts'

/** Says which gateway has sent a request on, by its address. Anyone may send it: it only ever restricts. */
export const forwardedHeader = 'informerql-forwarded'

/** Proves that the gateway of {@link forwardedHeader} has made the document itself. */
export const proofHeader = 'informerql-proof'

/** An operation over clusters of several gateways. */
export interface RoutedOperation extends RoutedRequest {
  /** As the caller has sent it. */
  readonly request: PeerRequest
  readonly fields: readonly RoutedField[]
  readonly limits: OperationLimits
  readonly origin: OverGatewaysOrigin
}

/**
 * Asks a holder for an answer, JSON text. This gateway answers by its plans. Rejects with `ClientError`: `PeerError` for a
 * gateway that does not answer.
 */
export type AskHolder = (holder: Holder, request: PeerRequest) => Promise<string>

/** A subscription over clusters. */
export interface MergedSubscription {
  /** It has one root field. */
  readonly operation: RoutedOperation
  /** At present. */
  readonly served: () => ServedSchema
  /** The gateway that holds a cluster at present; `null`: no gateway. */
  readonly holderOf: (cluster: string) => Holder | null
  /** The clusters that the field is about at present; `undefined` if its arguments name one that is gone. */
  readonly clusters: (served: ServedSchema) => readonly string[] | undefined
  /** Follows at a gateway. Its failure is the end of the stream, or a rejection. The caller must close it. */
  readonly follow: (holder: Holder, request: PeerRequest) => Promise<FrameStream>
  /** The memory of all subscriptions of this gateway. */
  readonly held: HeldBytes
}

/** Make one operation over several gateways: see `merged-answer.ts` and `merged-frames.ts`. */
export interface Merging {
  readonly answer: (operation: RoutedOperation, ask: AskHolder) => Promise<string>
  /** Throws `ClientError` and `ArgumentError` for what no frame could answer. */
  readonly frames: (of: MergedSubscription) => FrameStream
}

/** The caller of an operation. `mayWrite`: whether it may be a mutation or a drain; not by GET. */
export type OverGatewaysOrigin = QueryOrigin & Pick<SubscriptionOrigin, 'mayWrite'>

export interface OverGatewaysOptions {
  /** At present. */
  readonly served: () => ServedSchema
  /** The memory of all subscriptions of this gateway. */
  readonly held: HeldBytes
  readonly documents: OperationDocuments
  readonly limits: OperationLimits
  /** Of this gateway. */
  readonly address: string
  readonly peers: Peers
  /** Whether the gateway at an address has made a document, as the proof says. */
  readonly isProven: (address: string, document: string, proof: string) => boolean
  /** Whether the gateway at an address lives no more. */
  readonly isGone: (address: string) => boolean
  /** Whether a cluster that cannot be asked about now will be served in a moment: its gateway is gone. */
  readonly isComing: (cluster: string) => boolean
  /** This gateway's own. */
  readonly plans: PlannedOperations
  /** The answer to an operation that the plans leave to the pipeline: mostly its errors. */
  readonly refused: (request: PeerRequest, origin: OverGatewaysOrigin) => Promise<string>
  readonly merging: Merging
  readonly requireViewer: boolean
  readonly observer?: OperationObserver | undefined
}

/** What becomes of an operation that concerns other gateways. */
type Route =
  | { readonly form: 'forward'; readonly holder: string; readonly operation: RoutedOperation }
  | { readonly form: 'merge'; readonly operation: RoutedOperation }
  | { readonly form: 'refuse'; readonly error: ClientError; readonly operation: RoutedOperation }

/** A query about clusters that will be served in a moment. */
interface Wait {
  readonly form: 'wait'
  readonly clusters: readonly string[]
  readonly operation: RoutedOperation
}

/** Ends a query, since clusters that it is about are being taken over. It begins anew. */
class TakenOverError extends Error {}

/** How long to wait before a question is asked once more, and for how long it is asked anew while no gateway has begun. */
const againMs = 250
const againForMs = 3_000
/** How often a query begins anew because clusters are being taken over. */
const takenOverTimes = 3
/** How often those who wait for clusters look whether they are there. */
const comingMs = 25

export class OverGateways implements PlannedOperations {
  readonly plugin: object
  readonly address: string
  readonly #options: OverGatewaysOptions
  /** One pause for all who wait. */
  #pause: Promise<void> | undefined

  constructor(options: OverGatewaysOptions) {
    this.#options = options
    this.plugin = options.plans.plugin
    this.address = options.address
  }

  /** As that of the plans, and also the answers to mutations that other gateways make. */
  answer(
    request: QueryRequest,
    origin: OverGatewaysOrigin = {},
  ): string | undefined | Promise<string | undefined> {
    const route = this.#route(request, origin)
    const { plans } = this.#options
    if (route === undefined) return plans.answer(request, origin)
    if (!(route instanceof Promise)) return this.#answerBy(route, origin)
    return route.then((one) =>
      one === undefined ? plans.answer(request, origin) : this.#answerBy(one, origin),
    )
  }

  /** The answer if other gateways have a part in it; otherwise `undefined`. */
  async elsewhere(request: PeerRequest, origin: OverGatewaysOrigin): Promise<string | undefined> {
    const route = await this.#route(request, origin)
    return route && this.#answerBy(route, origin)
  }

  async subscribe(request: QueryRequest, origin: SubscriptionOrigin): Promise<FrameStream> {
    const { plans } = this.#options
    return await this.follow(request, origin, () => plans.subscribe(request, origin))
  }

  /** The frames of a subscription; `own`: those of this gateway alone. Never rejects. */
  async follow(
    request: PeerRequest,
    origin: SubscriptionOrigin,
    own: () => Promise<FrameStream>,
  ): Promise<FrameStream> {
    const startedMs = performance.now()
    const found = await this.#route(request, origin)
    const route = found?.form === 'wait' ? undefined : found
    const stream = route === undefined ? await own() : await this.#follow(route, origin)
    const operation = route?.operation ?? this.#routed(request, origin)
    if (operation === undefined) return stream
    if (route !== undefined) this.#report(operation, startedMs, codesAtEnd(stream))
    if (stream.end?.form === 'failed') return stream
    if (route?.form !== 'merge') stream.onLeft(this.#followHolders(operation, stream))
    if (route === undefined) return stream
    const { observer } = this.#options
    stream.onLeft(() => observer?.ended?.(reportOf(operation, startedMs, codesAtEnd(stream))))
    return stream
  }

  /** Whether another gateway, and no client, has made the document of a request. */
  isOfPeer(headers: IncomingHttpHeaders, document: string): boolean {
    const { [forwardedHeader]: address, [proofHeader]: proof } = headers
    if (typeof address !== 'string' || typeof proof !== 'string') return false
    return this.#options.isProven(address, document, proof)
  }

  liveState(): ReturnType<PlannedOperations['liveState']> {
    return this.#options.plans.liveState()
  }

  /** `undefined`: the plans and the pipeline of this gateway answer. */
  #route(
    request: PeerRequest,
    origin: OverGatewaysOrigin,
  ): Route | Wait | undefined | Promise<Route | Wait | undefined> {
    const { viewer } = origin
    const { documents, requireViewer } = this.#options
    if (viewer === undefined && requireViewer) return undefined
    const find = (): Route | Wait | undefined => {
      const operation = this.#routed(request, origin)
      if (operation === undefined) return undefined
      return this.#waitFor(operation) ?? this.#routeOf(operation)
    }
    if (documents.has(request.query)) return find()
    // The document may be large, and the user may send many like it, so parsing waits for its turn.
    const lane = queryLane(viewer)
    const turn = turns.enter(lane)
    return turn === undefined ? turns.run(find, lane) : turn.then(() => turns.run(find, lane))
  }

  /** The wait of a query for clusters that are being taken over. */
  #waitFor(operation: RoutedOperation): Wait | undefined {
    if (operation.operation.operation !== OperationTypeNode.QUERY) return undefined
    const { isComing } = this.#options
    const clusters = askedAbout(operation).filter((name) => isComing(name))
    return clusters.length === 0 ? undefined : { form: 'wait', clusters, operation }
  }

  async #waited(clusters: readonly string[], untilMs: number): Promise<void> {
    const { isComing } = this.#options
    while (performance.now() < untilMs && clusters.some((name) => isComing(name))) {
      this.#pause ??= setTimeout(comingMs).finally(() => (this.#pause = undefined))
      await this.#pause
    }
  }

  /** The refusal of what another gateway has sent here in vain: it asks the present holder. */
  #misdirected(operation: RoutedOperation): Route | undefined {
    const { members, clusters } = operation.served
    const asked = askedAbout(operation)
    // What was just handed over is still in the caches.
    const isElsewhere = (name: string): boolean =>
      typeof members.get(name)?.holder === 'string' &&
      clusters.get(name)?.connection.state !== 'connected'
    if (asked.length === 0 || !asked.every(isElsewhere)) return undefined
    const message = 'this gateway does not hold the cluster'
    const error = new PeerError(message, { mayHaveBegun: false, isMisdirected: true })
    return { form: 'refuse', operation, error }
  }

  #routeOf(operation: RoutedOperation): Route | undefined {
    const { fields, origin, request } = operation
    if (origin.sent?.headers()[forwardedHeader] !== undefined) return this.#misdirected(operation)
    const holders = new Set(fields.flatMap((field) => [...field.holders.keys()]))
    const isNamed = origin.viewer === undefined || origin.sent !== undefined
    // Its clusters may go to other gateways while it is followed.
    const isFollowed = isFollowedOver(operation) && request.explains !== true
    if (isFollowed && isNamed) return { form: 'merge', operation }
    if (holders.size === 0 || (holders.size === 1 && holders.has(undefined))) return undefined
    const isWrite = writes(operation)
    // The gateway that is asked refuses writes by GET.
    if (isWrite && origin.mayWrite !== true) return undefined
    if (!isNamed) return { form: 'refuse', operation, error: unnamed() }
    const [holder] = holders
    if (holders.size === 1 && holder !== undefined) return { form: 'forward', holder, operation }
    const isExplained = request.explains === true
    if (!isWrite && !isExplained) return { form: 'merge', operation }
    return { form: 'refuse', operation, error: ofSeveral(isWrite ? 'a write' : 'an explanation') }
  }

  /** The operation with its routes; `undefined` if it is not valid: then this gateway answers with its errors. */
  #routed(request: PeerRequest, origin: OverGatewaysOrigin): RoutedOperation | undefined {
    const { documents, limits } = this.#options
    const served = this.#options.served()
    const { query, operationName, variables } = request
    let document: DocumentNode
    try {
      document = documents.parse(query)
    } catch {
      return undefined
    }
    if (documents.validate(served.schema, document).length > 0) return undefined
    const operation = getOperationAST(document, operationName)
    const inputs = variables ?? {}
    if (!operation || problemOfVariables(inputs) !== undefined) return undefined
    const { variableDefinitions = [] } = operation
    const coerced = getVariableValues(served.schema, variableDefinitions, inputs)
    if (coerced.errors !== undefined) return undefined
    const { clusters: within } = request
    const routed = { served, document, operation, variables: coerced.variableValues, within }
    return { ...routed, request, fields: routedFields(routed), limits, origin }
  }

  /** Never rejects. */
  async #answerBy(route: Route | Wait, origin: OverGatewaysOrigin): Promise<string> {
    const startedMs = performance.now()
    const { operationDeadlineMs } = this.#options.limits
    const { operation } = route
    const isWrite = writes(operation)
    // The answer may have data of a Secret.
    origin.forbidKeeping?.()
    let asked: Route | Wait | undefined = route
    let waitUntilMs = startedMs + againForMs
    for (let attempt = 1; ; attempt++) {
      try {
        if (asked?.form === 'wait') {
          await this.#waited(asked.clusters, waitUntilMs)
          asked = this.#routedAgain(operation)
        }
        const text = await (asked === undefined
          ? this.#own(operation.request, origin)
          : this.#answerOf(asked, attempt <= takenOverTimes))
        this.#report(operation, startedMs, [])
        return text
      } catch (error) {
        if (error instanceof TakenOverError) {
          waitUntilMs = performance.now() + againForMs
          asked = this.#waitFor(operation) ?? this.#routedAgain(operation)
          continue
        }
        const mayHaveBegun = error instanceof PeerError && error.mayHaveBegun
        const elapsedMs = performance.now() - startedMs
        const mayAskAgain = mayHaveBegun
          ? attempt === 1 && !isWrite && elapsedMs <= operationDeadlineMs
          : elapsedMs <= againForMs
        if (error instanceof PeerError && asked?.form !== 'refuse' && mayAskAgain) {
          await setTimeout(againMs)
          asked = this.#waitFor(operation) ?? this.#routedAgain(operation)
          continue
        }
        const seen = isWrite && mayHaveBegun ? outcomeUnknown(error) : error
        const { errors } = clientResult({ data: null, errors: [locatedError(seen, undefined)] })
        this.#report(operation, startedMs, codesOf(errors))
        return JSON.stringify({ errors: errors.map(withoutTransportDetails), data: null })
      }
    }
  }

  /** As it is routed now. */
  #routedAgain({ request, origin }: RoutedOperation): Route | undefined {
    const operation = this.#routed(request, origin)
    return operation && this.#routeOf(operation)
  }

  /** `mayBeginAnew`: rejects with `TakenOverError` if clusters of a query are being taken over. */
  async #answerOf(route: Route, mayBeginAnew: boolean): Promise<string> {
    const { merging } = this.#options
    const { operation } = route
    const { request, origin } = operation
    const isWrite = writes(operation)
    const clusters = mayBeginAnew && !isWrite ? askedAbout(operation) : []
    switch (route.form) {
      case 'refuse':
        throw route.error
      case 'forward':
        return await this.#askPeer(route.holder, { ...request, isWrite }, origin, clusters)
      case 'merge':
        return await merging.answer(operation, (holder, asked) =>
          holder === undefined
            ? this.#own(asked, origin)
            : this.#askPeer(holder, asked, origin, clusters),
        )
    }
  }

  /** Rejects with `TakenOverError` once the peer is gone, or if it cannot be asked and one of the clusters is coming. */
  async #askPeer(
    holder: string,
    asked: PeerRequest,
    origin: OverGatewaysOrigin,
    clusters: readonly string[],
  ): Promise<string> {
    const { peers, served, isGone, isComing } = this.#options
    if (clusters.length === 0) return await peers.ask(holder, asked, origin)
    const gone = Promise.withResolvers<never>()
    const forget = served().fleet.onChanged(() => {
      if (isGone(holder)) gone.reject(new TakenOverError())
    })
    try {
      return await Promise.race([peers.ask(holder, asked, origin), gone.promise])
    } catch (error) {
      const isTakenOver = error instanceof PeerError && clusters.some((name) => isComing(name))
      throw isTakenOver ? new TakenOverError() : error
    } finally {
      forget()
    }
  }

  async #own(request: PeerRequest, origin: OverGatewaysOrigin): Promise<string> {
    const { plans, refused } = this.#options
    const text = request.explains === true ? undefined : await plans.answer(request, origin)
    return text ?? (await refused(request, origin))
  }

  /** Never rejects. */
  async #follow(route: Route, origin: SubscriptionOrigin): Promise<FrameStream> {
    const { peers, plans, merging, served, held } = this.#options
    const { operation } = route
    try {
      switch (route.form) {
        case 'refuse':
          throw route.error
        case 'forward':
          return peers.follow(route.holder, operation.request, origin)
        case 'merge':
          return merging.frames({
            operation,
            served,
            held,
            holderOf: (cluster) => served().members.get(cluster)?.holder,
            clusters: (now) => routedFields({ ...operation, served: now })[0]?.clusters,
            follow: async (holder, asked) =>
              holder === undefined
                ? await plans.subscribe(asked, origin)
                : peers.follow(holder, asked, origin),
          })
      }
    } catch (error) {
      return new FailedStream([error])
    }
  }

  /**
   * Ends a subscription once one of its clusters has another holder: the client subscribes again, with its token. Returns
   * what ends the watch.
   */
  #followHolders({ served, fields }: RoutedOperation, stream: FrameStream): () => void {
    const held = fields.flatMap(({ holders }) =>
      [...holders].flatMap(([holder, clusters]) => clusters.map((name) => ({ name, holder }))),
    )
    return served.fleet.onChanged(() => {
      const { members } = this.#options.served()
      const moved = held.find(
        ({ name, holder }) => (members.get(name)?.holder ?? undefined) !== holder,
      )
      if (moved === undefined) return
      const message = `cluster ${JSON.stringify(moved.name)} is held by another gateway now`
      stream.finish({ form: 'failed', errors: [new PeerError(message, { mayHaveBegun: true })] })
    })
  }

  #report(operation: RoutedOperation, startedMs: number, codes: readonly string[]): void {
    const report = reportOf(operation, startedMs, codes)
    this.#options.observer?.answered(report)
    operation.origin.trace?.follower?.answered(report)
  }
}

/** The clusters whose objects an operation is about. */
function askedAbout({ fields }: RoutedOperation): readonly string[] {
  return fields.flatMap((one) =>
    one.field && !isOfClusters(one.field) ? (one.clusters ?? []) : [],
  )
}

/** The holders report what was read. */
function reportOf(
  { document, operation, origin }: RoutedOperation,
  startedMs: number,
  codes: readonly string[],
): OperationReport {
  return {
    operation: operation.operation,
    document,
    operationName: operation.name?.value,
    viewer: origin.viewer,
    requestId: origin.trace?.requestId,
    by: 'peers',
    kinds: () => [],
    codes,
    failed: codes.length > 0,
    rows: 0,
    durationMs: performance.now() - startedMs,
  }
}

/** Whether an operation is a subscription over clusters, however many. */
function isFollowedOver({ operation, fields: [root, ...others] }: RoutedOperation): boolean {
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION || others.length > 0) return false
  if (root?.field === undefined || root.clusters === undefined) return false
  const { form } = fieldSourceOf(root.field)
  return isOverClusters(root.args) || form === 'objectsFrames' || form === 'clusterFrames'
}

/** Whether an operation changes something: it is sent once. */
function writes({ operation, fields }: RoutedOperation): boolean {
  if (operation.operation === OperationTypeNode.MUTATION) return true
  return fields.some(({ field }) => field && fieldSourceOf(field).form === 'drainFrames')
}

/** The refusal of a caller that no other gateway can know. */
export function unnamed(): ClientError {
  const message =
    'this is about a cluster that another gateway holds, which cannot know the caller: the program that runs this gateway has named them'
  const hint = 'send the credentials of the caller: gateways ask each other with these'
  return new ClientError('UNSUPPORTED', message, { hint })
}

function ofSeveral(what: string): ClientError {
  const message = `${what} cannot be about clusters of several gateways`
  const hint = 'send an operation for each cluster'
  return new ClientError('UNSUPPORTED', message, { hint })
}

function outcomeUnknown(cause: unknown): ClientError {
  const message =
    'the gateway that holds the cluster has not answered: the write may have been made'
  const hint = 'read the object before writing again'
  return new ClientError('OUTCOME_UNKNOWN', message, { hint, cause })
}
