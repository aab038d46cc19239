import { createHash } from 'node:crypto'
import {
  type DocumentNode,
  getOperationAST,
  Kind as NodeKind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type VariableValues,
  visit,
} from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import { clientErrorOf } from '../errors/client-error.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import type { OperationDocuments } from '../documents/operation-documents.ts'
import { operationKinds, supportingKinds } from '../reads/operation-kinds.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { OperationObserver, OperationReport } from '../answer/operation-observer.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { Plan } from '../plan/plan.ts'
import { compileOperation } from '../plan/plan.ts'
import type { QueryRequest } from '../answer/planned-queries.ts'
import { compileFrames, type FramePlan } from './frame-plan.ts'
import { failedStream, type MemberStream, type StreamEnd } from './group-member.ts'
import { NoRoomError } from './held-bytes.ts'
import type { LiveState } from './live-limits.ts'
import { LiveGroups, type LiveGroupsOptions } from './live-groups.ts'
import type { Joining } from './wanted-group.ts'

export interface PlannedSubscriptionsOptions extends LiveGroupsOptions {
  /** What is served at the moment. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  /** Told of each subscription that has begun, and of its end. */
  readonly observer?: OperationObserver | undefined
}

/** An operation that has been asked. */
interface KnownSubscription {
  readonly served: ServedSchema
  /** `undefined`: it has none. */
  readonly plan: Plan<FramePlan> | undefined
  /** Variables that stand nowhere but in `resumeFrom` and `coalesceMs`: what is asked for does not depend on them. */
  readonly otherVariables: ReadonlySet<string>
}

/** Answers subscriptions by their plans: those who ask the same are members of one group. */
export class PlannedSubscriptions {
  readonly #options: PlannedSubscriptionsOptions
  readonly #operations = new WeakMap<OperationDefinitionNode, KnownSubscription>()
  readonly #groups: LiveGroups

  constructor(options: PlannedSubscriptionsOptions) {
    this.#options = options
    this.#groups = new LiveGroups(options)
  }

  /**
   * The frames of one more subscriber; `undefined` where graphql-js has to answer: what is no subscription, is not covered, or has
   * an error to tell. Never rejects. They must be closed at the end.
   */
  async subscribe(
    request: QueryRequest,
    viewer: Viewer | undefined,
  ): Promise<MemberStream | undefined> {
    try {
      const served = this.#options.served()
      const { documents } = this.#options
      const document = documents.parse(request.query)
      const operation = getOperationAST(document, request.operationName)
      if (operation === undefined || operation === null) return undefined
      const { plan, otherVariables } = this.#known(served, document, operation)
      const inputs = request.variables ?? {}
      if (plan === undefined || problemOfVariables(inputs) !== undefined) return undefined
      const coerced = plan.coerce(inputs)
      if ('errors' in coerced) return undefined
      const { variableValues } = coerced
      const variables = variableValues
      const read = { document, operation, variables }
      if (checkPageSizes(served, this.#options.limits, read) !== undefined) return undefined
      const startMs = performance.now()
      const member = await this.#joined({
        served,
        document,
        plan: plan.variation(variables),
        variables,
        asked: askedBy(inputs, variables, otherVariables),
        supporting: (schema) => supportingKinds(schema, { ...read, variableValues }),
        viewer,
      })
      if (member !== undefined) {
        const kinds = (): readonly ClusterKind[] =>
          operationKinds(served, { ...read, variableValues })
        const operationName = operation.name?.value
        this.#observe(member, { document, operationName, kinds, viewer }, startMs)
      }
      return member
    } catch {
      // Whatever it is, graphql-js finds it too, and says which field it belongs to.
      return undefined
    }
  }

  /** Rejects where that takes too long, as an operation may: then it is for graphql-js to say so. */
  async #joined(joining: Joining): Promise<MemberStream | undefined> {
    const { operationDeadlineMs } = this.#options.limits
    const joined = this.#groups.join(joining)
    try {
      return await withDeadline('the beginning of a subscription', joined, operationDeadlineMs)
    } catch (error) {
      joined.then(
        (late) => late?.close(),
        () => {},
      )
      if (error instanceof NoRoomError) return failedStream(error)
      throw error
    }
  }

  /** How they are now. */
  state(): LiveState {
    return this.#groups.state()
  }

  #observe(
    member: MemberStream,
    operation: Pick<OperationReport, 'document' | 'operationName' | 'kinds' | 'viewer'>,
    startMs: number,
  ): void {
    const { observer } = this.#options
    if (observer === undefined) return
    const report = (): OperationReport => ({
      ...operation,
      operation: 'subscription',
      by: 'plan',
      codes: codesOf(member.end),
      rows: member.rows,
      durationMs: performance.now() - startMs,
    })
    observer.answered({ ...report(), rows: 0 })
    member.onLeft(() => observer.ended?.(report()))
  }

  #known(
    served: ServedSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): KnownSubscription {
    let known = this.#operations.get(operation)
    if (known?.served !== served) {
      const plan = this.#compiled(served, document, operation)
      known = { served, plan, otherVariables: otherVariablesOf(document) }
      this.#operations.set(operation, known)
    }
    return known
  }

  #compiled(
    served: ServedSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): Plan<FramePlan> | undefined {
    const { documents } = this.#options
    const type = OperationTypeNode.SUBSCRIPTION
    if (operation.operation !== type) return undefined
    if (documents.validate(served.schema, document).length > 0) return undefined
    const grown = (bytes: number): void => documents.grown(document, bytes)
    return compileOperation(served, { document, operation, grown }, type, compileFrames)
  }
}

/** The code of the error that a subscription has ended with. */
function codesOf(end: StreamEnd | undefined): readonly string[] {
  return end?.form === 'failed' ? [String(clientErrorOf(end.error).extensions['code'])] : []
}

/** What a request asks for by its variables, as a hash: two with the same are answered the same. */
function askedBy(
  inputs: Readonly<Record<string, unknown>>,
  { coerced }: VariableValues,
  without: ReadonlySet<string>,
): string {
  // Those that are not given have their defaults, which are the document's; null is another thing.
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
  // Its definition is a use, too.
  return new Set([...inOthers].filter((name) => uses.get(name) === 2))
}
