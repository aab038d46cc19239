/*
 * Where subscriptions begin. The request is parsed and validated, and its variables are coerced (`subscribeTo`). Its
 * plan, kept for each document, says what its one field is (`#joined`): lists of objects, for which it joins a group
 * (`LiveGroups`), or values that come one by one: clusters, the progress of a drain, logs, events of an extension. An
 * error before that is the only message of a failed stream. Each subscription is reported when it begins and when it
 * ends.
 */

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type DocumentNode,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
  Kind as NodeKind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
  visit,
} from 'graphql'
import { noViewer } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { FrameStream } from '../../lib/frame-stream.ts'
import { interruptible } from '../../lib/generators.ts'
import { parseExact } from '../../lib/json.ts'
import type { SubscriptionSource } from '../answer/execution.ts'
import {
  maxCoercionErrors,
  variableError,
  ClientError,
  clientErrorOf,
  clientResult,
  writeByGet,
} from '../errors/client-error.ts'
import { problemOfVariables, type OperationDocuments } from '../documents/operation-documents.ts'
import {
  inTime,
  PlannedQueries,
  type QueryOrigin,
  type QueryRequest,
} from '../answer/planned-queries.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import {
  codesAtEnd,
  type OperationObserver,
  type OperationReport,
} from '../answer/operation-observer.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import { FollowedChanges } from '../reads/past/followed-changes.ts'
import { decodeResumeToken } from '../reads/resume-token.ts'
import type { LoggedObjects } from '../logs/log-request.ts'
import type { PodLogs } from '../logs/pod-logs.ts'
import type { Caller } from '../prepare/caller-server.ts'
import type { HeldBytes } from '../prepare/user-shares.ts'
import type {
  ChangesSubscriptionArguments,
  GatewayClustersSubscriptionArguments,
  KindLogsArguments,
  StreamArguments,
} from '../schema/gateway-types.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { Plan } from '../plan/plan.ts'
import type { PlanCompiler } from '../plan/plan-compiler.ts'
import type { DrainArguments, Drains } from '../writes/drain.ts'
import { checkedCoalesceMs, checkedEveryMs } from './followed-list.ts'
import { FramePlans } from './frame-plan.ts'
import { neededBy } from './group/group-access.ts'
import type { LiveState } from './live-limits.ts'
import { LiveGroups, type LiveGroupsOptions } from './live-groups.ts'
import {
  changesStream,
  clustersStream,
  drainStream,
  extensionStream,
  FailedStream,
} from './value-streams.ts'

export interface PlannedSubscriptionsOptions extends LiveGroupsOptions {
  readonly served: () => ServedSchema
  readonly documents: OperationDocuments
  readonly drains: Pick<Drains, 'open'>
  readonly logs: Pick<PodLogs, 'follow'>
  /** Receives a report for each started or refused subscription, and for its end. */
  readonly observer?: OperationObserver | undefined
}

/** The caller of a subscription, and its start in `performance.now()` time. */
export interface SubscriptionOrigin extends Pick<
  QueryOrigin,
  'viewer' | 'callerToken' | 'sent' | 'trace' | 'beganMs'
> {
  /** Whether a drain may begin. False for GET requests, and by default. */
  readonly mayWrite?: boolean
}

export interface SubscriptionRequest {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly explains?: boolean
}

interface Refusal {
  readonly errors: readonly GraphQLError[]
}

interface KnownSubscription {
  readonly schema: ServedSchema['schema']
  readonly plan: Plan<FramePlans>
  /** Variables that occur only in `resumeFrom` and `coalesceMs`. The rows do not depend on them. */
  readonly otherVariables: ReadonlySet<string>
}

/** How long the state of all caches, of which there may be thousands, is taken for the present one. */
const lookMs = 100

export class PlannedSubscriptions {
  readonly #options: PlannedSubscriptionsOptions
  readonly #operations = new WeakMap<OperationDefinitionNode, KnownSubscription>()
  readonly #groups: LiveGroups
  /** Answers the selections of `gatewayClusters` and of the events of extensions. */
  readonly #queries: PlannedQueries
  /** The last {@link #cachesState}, and when it was made. */
  #looked = { atMs: -Infinity, text: '' }

  constructor(options: PlannedSubscriptionsOptions) {
    this.#options = options
    this.#groups = new LiveGroups(options)
    // Leaves the observer out: a frame is no operation of its own.
    const { served, limits, documents, fragments, unexpected } = options
    this.#queries = new PlannedQueries({ served, limits, documents, fragments, unexpected })
  }

  /** The memory of all subscriptions. */
  get held(): HeldBytes {
    return this.#groups.held
  }

  /**
   * The frames of a new subscriber, or its errors. Never rejects. The caller must close the stream.
   */
  async subscribe(
    { query, ...request }: QueryRequest,
    origin: SubscriptionOrigin,
  ): Promise<FrameStream> {
    const { documents, served } = this.#options
    let document: DocumentNode
    try {
      document = documents.parse(query)
    } catch (error) {
      return new FailedStream([error])
    }
    const errors = documents.validate(served().schema, document)
    if (errors.length > 0) return new FailedStream(clientResult({ errors }).errors)
    return this.subscribeTo({ ...request, document }, origin)
  }

  /**
   * Like {@link subscribe}, for a parsed and validated document. A part of an operation has no report of its own.
   */
  async subscribeTo(
    request: SubscriptionRequest,
    origin: SubscriptionOrigin,
    isPart = false,
  ): Promise<FrameStream> {
    const { viewer, callerToken, trace, mayWrite = false, beganMs = performance.now() } = origin
    const served = this.#options.served()
    const { limits, unexpected, observer } = this.#options
    const { document, operationName, variables } = request
    const inputs = variables ?? {}
    const problem = problemOfVariables(inputs)
    const validated =
      problem === undefined
        ? validateSubscriptionArgs({
            schema: served.schema,
            document,
            operationName,
            variableValues: inputs,
            hideSuggestions: !limits.introspection,
            options: { maxCoercionErrors },
          })
        : [problem]
    const logged: LoggedObjects = new Map()
    const caller = { viewer, callerToken, trace, mayWrite, beganMs, logged }
    const deadline = { deadlineMs: limits.operationDeadlineMs, beganMs }
    const answer =
      'schema' in validated
        ? await inTime(
            () => this.#joined(served, request, validated, caller),
            deadline,
            (late) => {
              if ('take' in late) late.close()
            },
          )
        : { errors: validated.map((error) => variableError(error, document)) }
    const stream =
      'take' in answer
        ? answer
        : new FailedStream(
            clientResult({ errors: answer.errors }, unexpected, trace?.requestId).errors,
          )
    if (isPart || (observer === undefined && trace?.follower === undefined)) return stream
    const report = (): OperationReport => ({
      operation: 'subscription',
      document,
      operationName: getOperationAST(document, operationName)?.name?.value,
      viewer,
      requestId: trace?.requestId,
      by: 'plan',
      kinds: () => ('schema' in validated ? subscribedKinds(served, validated) : []),
      codes: codesAtEnd(stream),
      failed: stream.end?.form === 'failed',
      logs: [...logged.values()],
      rows: stream.rows,
      durationMs: performance.now() - beganMs,
    })
    const begun = { ...report(), rows: 0 }
    observer?.answered(begun)
    trace?.follower?.answered(begun)
    if (stream.end?.form !== 'failed') stream.onLeft(() => observer?.ended?.(report()))
    return stream
  }

  /** Like {@link subscribe}, for the gateway itself: a part of an operation that has its own report. */
  async follow({ query, ...request }: QueryRequest, caller: Caller): Promise<FrameStream> {
    const { documents, served } = this.#options
    const document = documents.parse(query)
    const [unfit] = documents.validate(served().schema, document)
    if (unfit !== undefined) {
      // A profile of the schema leaves a field out.
      const message = `the gateway's schema leaves out a field that this needs: ${unfit.message}`
      const hint = 'ask its operator to serve all fields of Pod'
      return new FailedStream([new ClientError('UNSUPPORTED', message, { hint })])
    }
    return await this.subscribeTo({ ...request, document }, caller, true)
  }

  state(): LiveState {
    return this.#groups.state()
  }

  /** The new member, or the errors that prevent it. Never rejects. */
  async #joined(
    served: ServedSchema,
    { document, operationName, variables, explains = false }: SubscriptionRequest,
    validated: ValidatedSubscriptionArgs,
    caller: SubscriptionOrigin & { readonly logged?: LoggedObjects },
  ): Promise<FrameStream | Refusal> {
    const { viewer, callerToken, beganMs = performance.now(), logged = new Map() } = caller
    const { limits, drains, logs } = this.#options
    const { variableValues, operation } = validated
    const pages = { document, operationName, variables: variableValues }
    const tooLarge = checkPageSizes(served, limits, pages)
    if (tooLarge !== undefined) return { errors: [tooLarge] }
    let plans: FramePlans | undefined
    try {
      const known = this.#known(served, document, operation)
      const asked = (plans = known.plan.variation(variableValues))
      const args = asked.arguments(variableValues) as StreamArguments
      const coalesceMs = checkedCoalesceMs(args.coalesceMs) ?? limits.coalesceMs
      const { source } = asked
      switch (source.form) {
        case 'clusterFrames': {
          const read = this.#answers({ document, variables }, validated, caller)
          const { resourcesEveryMs } = args as GatewayClustersSubscriptionArguments
          const everyMs = checkedEveryMs(resourcesEveryMs)
          const onRights = onRightsOf(served, viewer)
          const state = (): string => this.#cachesState()
          const caches = everyMs === undefined ? undefined : { everyMs, state, onRights }
          return await clustersStream({ coalesceMs, fleet: served.fleet, caches, read })
        }
        case 'changeFrames': {
          const changing = args as ChangesSubscriptionArguments
          const followed = new FollowedChanges(served, changing, limits)
          const { archive } = served
          return await changesStream({
            followed,
            coalesceMs,
            onWritten: (listener) => archive?.onWritten(listener) ?? (() => {}),
            onRights: onRightsOf(served, viewer),
            read: this.#answers({ document, variables }, validated, caller),
          })
        }
        case 'drainFrames': {
          if (caller.mayWrite !== true) throw writeByGet()
          const drain = await drains.open(served, args as DrainArguments, caller)
          return drainStream(drain, asked.valueFrames())
        }
        case 'logFrames': {
          const write = asked.valueFrames()
          return await logs.follow(args as KindLogsArguments, caller, { write, logged })
        }
        case 'extensionEvents': {
          const [typeName = '', fieldName = ''] = source.field.coordinate.split('.')
          const info = { typeName, fieldName, fieldNodes: asked.nodes }
          const { served: servedNow } = this.#options
          return await extensionStream({
            endsAtMs: beganMs + limits.operationDeadlineMs,
            write: this.#answers({ document, variables }, validated, caller),
            caller: {
              // The resolver reads the present schema, which also answers its events.
              get served() {
                return servedNow()
              },
              limits,
              viewer,
              callerToken,
            },
            subscribe: (context) =>
              source.subscribe(undefined, { ...args }, context as never, info),
          })
        }
        default: {
          const { resumeFrom: token } = args
          // The variables that decide the rows. Requests of one plan with the same values get the same answer. Omitted
          // variables take the document's defaults; null counts as given.
          const inputs = variables ?? {}
          const isGiven = (name: string): boolean =>
            Object.hasOwn(inputs, name) && !known.otherVariables.has(name)
          const names = Object.keys(variableValues.coerced).filter(isGiven).toSorted()
          const given = names.map((name) => [name, inputs[name]])
          return await this.#groups.join({
            ...asked.of(variableValues, limits, served),
            served,
            document,
            variables: variableValues,
            listsIn: (fleet) => asked.of(variableValues, limits, fleet).lists,
            asked: createHash('sha256').update(JSON.stringify(given)).digest('base64url'),
            explains,
            viewer,
            supporting: (schema) => subscribedKinds(schema, validated),
            coalesceMs,
            resumeFrom: typeof token === 'string' ? decodeResumeToken(token) : undefined,
          })
        }
      }
    } catch (error) {
      const nodes = plans?.nodes ?? operation.selectionSet.selections
      const path = plans === undefined ? undefined : [plans.key]
      return { errors: [locatedError(error, nodes, path)] }
    }
  }

  /** A text that differs whenever a cache may have changed. Subscribers who look within a moment share it. */
  #cachesState(): string {
    const atMs = performance.now()
    if (atMs - this.#looked.atMs > lookMs) {
      const { clusters } = this.#options.served()
      const states = Array.from(clusters.values(), (cache) => `${cache.name} ${cache.stateText}`)
      this.#looked = { atMs, text: states.join('\n') }
    }
    return this.#looked.text
  }

  /** Answers the events of a subscription, each by the present schema. Rejects if that schema lacks a selected field. */
  #answers(
    { document, variables }: Pick<SubscriptionRequest, 'document' | 'variables'>,
    { operation, schema: first }: ValidatedSubscriptionArgs,
    { viewer, callerToken }: SubscriptionOrigin,
  ): (event?: unknown) => Promise<string> {
    const { served, documents } = this.#options
    return async (event) => {
      const now = served()
      const isOther = now.schema !== first
      if (isOther && documents.validate(now.schema, document).length > 0) {
        const message = 'the schema has changed, and no longer has what this subscription selects'
        const hint = 'subscribe again with the current schema'
        throw new ClientError('SCHEMA_CHANGED', message, { hint })
      }
      const at = { served: now, document, operation }
      return await this.#queries.answerEvent(at, variables ?? {}, event, { viewer, callerToken })
    }
  }

  #known(
    served: ServedSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): KnownSubscription {
    let known = this.#operations.get(operation)
    // The plans depend on the schema, not on the clusters.
    if (known?.schema !== served.schema) {
      if (operation.operation !== OperationTypeNode.SUBSCRIPTION) {
        throw new TypeError(`a ${operation.operation} is not a subscription`)
      }
      const { documents } = this.#options
      const grown = (bytes: number): void => documents.grown(document, bytes)
      const plan = new Plan(served, { document, operation, grown }, framePlans)
      known = { schema: served.schema, plan, otherVariables: otherVariablesOf(document) }
      this.#operations.set(operation, known)
    }
    return known
  }
}

/** Calls a listener back when the rights of a viewer may have changed. */
function onRightsOf(
  { access }: ServedSchema,
  viewer: Viewer | undefined,
): (listener: () => void) => () => void {
  return (listener) => {
    if (viewer === undefined) return () => {}
    const forget = Array.from(access.values(), (one) => one.onChange(viewer, listener))
    return () => {
      for (const one of forget) one()
    }
  }
}

/** The kinds that a subscription names, by the given schema; none if its arguments are refused. */
function subscribedKinds(
  served: ServedSchema,
  { document, operation, variableValues: variables }: ValidatedSubscriptionArgs,
): readonly ClusterKind[] {
  try {
    const compiled = new Plan(served, { document, operation, grown: () => {} }, framePlans)
    const limits = { maxPageSize: Infinity, introspection: false }
    const { lists } = compiled.variation(variables).of(variables, limits, served)
    return lists.flatMap((one) => neededBy(one, variables))
  } catch {
    return []
  }
}

function framePlans(operation: OperationDefinitionNode, compiler: PlanCompiler): FramePlans {
  return new FramePlans(operation, compiler)
}

function otherVariablesOf(document: DocumentNode): ReadonlySet<string> {
  const uses = new Map<string, number>()
  const inOthers = new Set<string>()
  visit(document, {
    Variable({ name: { value } }) {
      uses.set(value, (uses.get(value) ?? 0) + 1)
    },
    Argument({ name, value }) {
      const isOther = name.value === 'resumeFrom' || name.value === 'coalesceMs'
      if (isOther && value.kind === NodeKind.VARIABLE) inOthers.add(value.name.value)
    },
  })
  // The definition of a variable counts as a use, too.
  return new Set([...inOthers].filter((name) => uses.get(name) === 2))
}

/** Frames as results, for servers that send results. Each is read from its source when it is taken. */
export function resultsOf(
  stream: FrameStream,
): Awaited<ReturnType<SubscriptionSource['subscribe']>> {
  const { end } = stream
  if (end?.form === 'failed') {
    stream.close()
    return { errors: end.errors.map(clientErrorOf) }
  }
  let ready = Promise.withResolvers<void>()
  stream.onReady(() => ready.resolve())
  async function* results(): AsyncGenerator<ExecutionResult, void, void> {
    try {
      for (;;) {
        const payload = stream.take()
        if (payload !== undefined) {
          yield parseExact(payload.toString()) as ExecutionResult
          continue
        }
        if (stream.end?.form === 'failed') yield { errors: stream.end.errors.map(clientErrorOf) }
        if (stream.end !== undefined) return
        await ready.promise
        ready = Promise.withResolvers()
      }
    } finally {
      stream.close()
    }
  }
  return interruptible(results(), () => {
    stream.close()
    ready.resolve()
  })
}

/** Answers operations by their plans, for `startGraphQLServer`. */
export interface PlannedOperations {
  /** The plugin whose place it takes. */
  readonly plugin: object
  /** The address at which other gateways ask this one; absent if it shares no clusters. */
  readonly address?: string | undefined
  /** Whether another gateway has made the document of a request, of one that may run there. */
  isOfPeer?(headers: IncomingHttpHeaders, document: string): boolean
  /** The JSON text of the answer to a query; `undefined` if the plugin must answer it. */
  answer(
    request: QueryRequest,
    origin?: QueryOrigin & Pick<SubscriptionOrigin, 'mayWrite'>,
  ): string | undefined | Promise<string | undefined>
  /** The frames of a subscription, or its errors. Never rejects. */
  subscribe(request: QueryRequest, origin: SubscriptionOrigin): Promise<FrameStream>
  liveState(): LiveState
}

/** Plans of queries and of subscriptions. `requireViewer`: refuses operations without a viewer. */
export function plannedOperations({
  queries,
  subscriptions,
  plugin,
  requireViewer,
}: {
  readonly queries: PlannedQueries
  readonly subscriptions: PlannedSubscriptions
  readonly plugin: object
  readonly requireViewer: boolean
}): PlannedOperations {
  const isAnswered = (viewer: Viewer | undefined): boolean => viewer !== undefined || !requireViewer
  return {
    plugin,
    // The plugin refuses the others.
    answer: (request, origin) =>
      isAnswered(origin?.viewer) ? queries.answer(request, origin) : undefined,
    subscribe: async (request, { viewer, callerToken, trace, beganMs, mayWrite = false }) =>
      isAnswered(viewer)
        ? subscriptions.subscribe(request, { viewer, callerToken, trace, beganMs, mayWrite })
        : new FailedStream([noViewer()]),
    liveState: () => subscriptions.state(),
  }
}
