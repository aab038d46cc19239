import { createHash } from 'node:crypto'
import {
  type DocumentNode,
  getOperationAST,
  type GraphQLError,
  Kind as NodeKind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
  type VariableValues,
  visit,
} from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import { maxCoercionErrors, variableError } from '../errors/argument-place.ts'
import { ClientError, clientResult } from '../errors/client-error.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { inTime } from '../answer/operation-deadline.ts'
import type { OperationDocuments } from '../documents/operation-documents.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { OperationObserver, OperationReport } from '../answer/operation-observer.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { Plan } from '../plan/plan.ts'
import type { QueryRequest } from '../answer/planned-queries.ts'
import { compileFrames, type FramePlan } from './frame-plan.ts'
import { failedStream, type MemberStream } from './group-member.ts'
import type { LiveState } from './live-limits.ts'
import { LiveGroups, type LiveGroupsOptions } from './live-groups.ts'
import { followedBy, neededBy } from './wanted-group.ts'

export interface PlannedSubscriptionsOptions extends LiveGroupsOptions {
  /** The schema currently served. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  /** Receives a report for each started or refused subscription, and for its end. */
  readonly observer?: OperationObserver | undefined
}

/** The viewer of a subscription, and its start in `performance.now()` time. */
export interface SubscriptionOrigin {
  /** Absent without access control: the subscriber may see everything. */
  readonly viewer?: Viewer | undefined
  readonly beganMs?: number | undefined
}

/** A parsed and validated document, with the other parts of the request. */
export interface SubscriptionRequest {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  /** Whether frames explain how their rows were read. */
  readonly explains?: boolean
}

/** A compiled operation. */
interface KnownSubscription {
  readonly served: ServedSchema
  readonly plan: Plan<FramePlan>
  /** Variables that occur only in `resumeFrom` and `coalesceMs`. The rows do not depend on them. */
  readonly otherVariables: ReadonlySet<string>
}

/** Answers subscriptions by their plans. Subscribers with the same operation share a group. */
export class PlannedSubscriptions {
  readonly #options: PlannedSubscriptionsOptions
  readonly #operations = new WeakMap<OperationDefinitionNode, KnownSubscription>()
  readonly #groups: LiveGroups

  constructor(options: PlannedSubscriptionsOptions) {
    this.#options = options
    this.#groups = new LiveGroups(options)
  }

  /**
   * The frames of a new subscriber, or its errors. Never rejects. The caller must close the stream.
   */
  async subscribe(
    { query, ...request }: QueryRequest,
    origin: SubscriptionOrigin,
  ): Promise<MemberStream> {
    const { documents, served } = this.#options
    let document: DocumentNode
    try {
      document = documents.parse(query)
    } catch (error) {
      return failedStream([error])
    }
    const errors = documents.validate(served().schema, document)
    if (errors.length > 0) return failedStream(clientResult({ errors }).errors)
    return this.subscribeTo({ ...request, document }, origin)
  }

  /** Like {@link subscribe}, for a parsed and validated document. */
  async subscribeTo(
    request: SubscriptionRequest,
    { viewer, beganMs = performance.now() }: SubscriptionOrigin,
  ): Promise<MemberStream> {
    const served = this.#options.served()
    const { limits, unexpected, observer } = this.#options
    const { document, operationName } = request
    const operation = getOperationAST(document, operationName)
    const begun = this.#begun(served, request, operation, viewer)
    const deadline = { deadlineMs: limits.operationDeadlineMs, beganMs }
    const answer = await inTime(begun, deadline, (late) => {
      if ('take' in late) late.close()
    })
    const stream =
      'take' in answer
        ? answer
        : failedStream(clientResult({ errors: answer.errors }, unexpected).errors)
    if (observer === undefined) return stream
    const report = (): OperationReport => ({
      operation: 'subscription',
      document,
      operationName: operation?.name?.value,
      viewer,
      by: 'plan',
      kinds: () => {
        const variableValues = request.variables ?? undefined
        const read = validateSubscriptionArgs({
          schema: served.schema,
          document,
          operationName,
          variableValues,
        })
        return 'schema' in read ? subscribedKinds(served, read) : []
      },
      codes: codesOf(stream),
      rows: stream.rows,
      durationMs: performance.now() - beganMs,
    })
    observer.answered({ ...report(), rows: 0 })
    if (stream.end === undefined) stream.onLeft(() => observer.ended?.(report()))
    return stream
  }

  /** The current state. */
  state(): LiveState {
    return this.#groups.state()
  }

  /** The new member, or the errors that prevent it. Never rejects. */
  async #begun(
    served: ServedSchema,
    request: SubscriptionRequest,
    operation: OperationDefinitionNode | null | undefined,
    viewer: Viewer | undefined,
  ): Promise<MemberStream | { readonly errors: readonly GraphQLError[] }> {
    const { limits } = this.#options
    const { document, operationName, explains = false } = request
    const inputs = request.variables ?? {}
    const problem = problemOfVariables(inputs)
    if (problem !== undefined) return { errors: [problem] }
    const validated = validateSubscriptionArgs({
      schema: served.schema,
      document,
      operationName,
      variableValues: inputs,
      hideSuggestions: !limits.introspection,
      options: { maxCoercionErrors },
    })
    if (!('schema' in validated)) {
      return { errors: validated.map((error) => variableError(error, document)) }
    }
    const { variableValues } = validated
    const pages = { document, operationName, variables: variableValues }
    const tooLarge = checkPageSizes(served, limits, pages)
    if (tooLarge !== undefined) return { errors: [tooLarge] }
    let plan: FramePlan | undefined
    try {
      const known = this.#known(served, document, validated.operation)
      plan = known.plan.variation(variableValues)
      return await this.#groups.join({
        served,
        document,
        plan,
        variables: variableValues,
        asked: askedBy(inputs, variableValues, known.otherVariables),
        supporting: (schema) => subscribedKinds(schema, validated),
        explains,
        viewer,
      })
    } catch (error) {
      const nodes = plan?.nodes ?? operation?.selectionSet.selections
      const path = plan === undefined ? undefined : [plan.key]
      return { errors: [locatedError(followable(error), nodes, path)] }
    }
  }

  #known(
    served: ServedSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): KnownSubscription {
    let known = this.#operations.get(operation)
    if (known?.served !== served) {
      if (operation.operation !== OperationTypeNode.SUBSCRIPTION) {
        throw new NotCoveredError(`a ${operation.operation}`)
      }
      const { documents } = this.#options
      const grown = (bytes: number): void => documents.grown(document, bytes)
      const plan = new Plan(served, { document, operation, grown }, compileFrames)
      known = { served, plan, otherVariables: otherVariablesOf(document) }
      this.#operations.set(operation, known)
    }
    return known
  }
}

/** The kinds that a subscription names by a schema; none if its arguments are refused. */
function subscribedKinds(
  served: ServedSchema,
  { document, operation, variableValues: variables }: ValidatedSubscriptionArgs,
): readonly ClusterKind[] {
  try {
    const compiled = new Plan(served, { document, operation, grown: () => {} }, compileFrames)
    const plan = compiled.variation(variables)
    const list = followedBy({ served, plan }, plan.args.coerce(variables), Infinity)
    return neededBy({ plan, list, variables }, [])
  } catch {
    return []
  }
}

function followable(error: unknown): unknown {
  if (!(error instanceof NotCoveredError)) return error
  return new ClientError('UNSUPPORTED', `subscriptions do not cover this: ${error.message}`, {
    hint: 'read it by a query',
  })
}

/** The codes of the errors that ended a subscription. */
function codesOf({ end }: MemberStream): readonly string[] {
  if (end?.form !== 'failed') return []
  const { errors } = clientResult({
    data: null,
    errors: end.errors.map((error) => locatedError(error, undefined)),
  })
  return [...new Set(errors.map(({ extensions }) => String(extensions['code'])))]
}

/** A hash of the variables that decide the rows. Requests of one plan with the same hash get the same answer. */
function askedBy(
  inputs: Readonly<Record<string, unknown>>,
  { coerced }: VariableValues,
  without: ReadonlySet<string>,
): string {
  // Omitted variables take the document's defaults. Null counts as given.
  const isGiven = (name: string): boolean => Object.hasOwn(inputs, name) && !without.has(name)
  const names = Object.keys(coerced).filter(isGiven)
  const text = JSON.stringify(names.toSorted().map((name) => [name, inputs[name]]))
  return createHash('sha256').update(text).digest('base64url')
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
