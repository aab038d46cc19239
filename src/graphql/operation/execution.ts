import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql'
import { interruptible } from '../../lib/interruptible.ts'
import type { ResolverContext } from '../schema/read-context.ts'
import { QueryTooCostlyError, WorkBudget } from '../../query/condition/work-budget.ts'
import { variableError } from './argument-place.ts'
import { type ClientErrorCode, clientErrorOf, clientResult } from './client-error.ts'
import { problemOfVariables } from './document-bounds.ts'
import { fleetOf } from './fleet-state.ts'
import { answerIntrospection } from './introspection.ts'
import { LiveReader } from './live-reader.ts'
import { operationKinds } from './operation-kinds.ts'
import type { OpenSubscription, OpenSubscriptions } from './open-subscriptions.ts'
import { prepareOperation, inRounds } from './preparation.ts'
import { executePriced, executeValidated } from './priced-executor.ts'
import type { SettledKinds } from './prepared-kinds.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'
import { StoreReader } from './store-reader.ts'

export interface ExecutionOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Where those that are open are known. */
  readonly subscriptions: OpenSubscriptions
  /** Told of errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
}

/**
 * The two halves of an operation. Prepare, asynchronous: acquire its kinds and wait for them. Execute, synchronous: read
 * the stores, so that one answer sees one moment of all kinds. Where the kinds depend on data, both are done again.
 */
export class Execution {
  readonly #options: ExecutionOptions

  constructor(options: ExecutionOptions) {
    this.#options = options
  }

  /** Answers a query. */
  async execute(args: ExecutionArgs): Promise<ExecutionResult> {
    const problem = problemOfVariables(args.variableValues ?? {})
    const seen = (result: ExecutionResult): ExecutionResult =>
      this.#seen({ result, failures: [] }, args.document)
    if (problem !== undefined) return seen({ errors: [problem] })
    const introspected = await answerIntrospection(args, this.#options.limits.work)
    if (introspected !== undefined) return seen(introspected)
    using prepared = await prepareOperation(this.#options, args)
    const answered = await inRounds(prepared, async (settled) => {
      const { contextValue, failures, budget } = this.#context(args, settled)
      return { result: await executePriced({ ...args, contextValue }, budget), failures }
    })
    return this.#seen(answered, args.document)
  }

  /** Answers a subscription: its events, or why there are none. Its leases live as long as it does. */
  async subscribe(
    args: ExecutionArgs,
  ): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> {
    const problem = problemOfVariables(args.variableValues ?? {})
    if (problem !== undefined)
      return this.#seen({ result: { errors: [problem] }, failures: [] }, args.document)
    const prepared = await prepareOperation(this.#options, args)
    let opened: OpenedSource | ExecutionResult
    try {
      opened = await inRounds(prepared, (settled) =>
        openSource({ ...args, contextValue: this.#context(args, settled).contextValue }),
      )
    } catch (error) {
      prepared[Symbol.dispose]()
      throw error
    }
    if (!('source' in opened)) {
      prepared[Symbol.dispose]()
      return this.#seen({ result: opened, failures: [] }, args.document)
    }
    const { source, validated } = opened
    const answer = async (event: unknown): Promise<ExecutionResult> => {
      const answered = await inRounds(prepared, async (settled) => {
        const { contextValue, failures, budget } = this.#context(args, settled)
        const frame = { ...validated, rootValue: event, contextValue }
        return { result: await executeValidated(frame, budget), failures }
      })
      return this.#seen(answered, args.document)
    }
    const { served, subscriptions } = this.#options
    const { document } = args
    const open = { served, document, kinds: operationKinds(served, args) }
    return answers({
      source,
      answer,
      opened: (end) => subscriptions.add({ ...open, end }),
      ended: () => prepared[Symbol.dispose](),
    })
  }

  /** What the resolvers read, and what they report besides what they throw. */
  #context({ contextValue }: ExecutionArgs, settled: SettledKinds): ExecutionContext {
    const { served, limits } = this.#options
    const budget = new WorkBudget(limits.work)
    const failures: GraphQLError[] = []
    const context: ResolverContext = {
      read: new StoreReader({ served, limits, budget, parts: settled }),
      fleet: fleetOf(served),
      live: new LiveReader({ served, limits, kinds: settled }),
      report: (error) => {
        if (!failures.some((known) => isSameFailure(known, error))) failures.push(error)
      },
    }
    const all = { ...(contextValue as object | undefined), ...context }
    return { contextValue: all, failures, budget }
  }

  #seen({ result, failures }: Answered, document: DocumentNode): ExecutionResult {
    const { errors = [] } = result
    const all = [...errors.map((error) => variableError(error, document)), ...failures]
    const whole = all.length === 0 ? result : { ...result, errors: all }
    return clientResult(whole, this.#options.unexpected)
  }
}

/** What one execution is given: what its resolvers read, where they report to, and what it may cost. */
interface ExecutionContext {
  readonly contextValue: ResolverContext & object
  readonly failures: GraphQLError[]
  readonly budget: WorkBudget
}

/** A result, and the errors of its fields that did not end them. */
interface Answered {
  readonly result: ExecutionResult
  readonly failures: readonly GraphQLError[]
}

/** The events of a subscription, and what they are answered with. */
interface OpenedSource {
  readonly source: AsyncIterable<unknown>
  readonly validated: ValidatedSubscriptionArgs
}

/** What fails for one row of a list fails for all of them: it is told once, at the first. */
function isSameFailure(a: GraphQLError, b: GraphQLError): boolean {
  return a.originalError === b.originalError && a.nodes?.[0] === b.nodes?.[0]
}

async function openSource(args: ExecutionArgs): Promise<OpenedSource | ExecutionResult> {
  const validated = validateSubscriptionArgs(args)
  if (!('schema' in validated)) return { errors: validated }
  const source = await createSourceEventStream(validated)
  return Symbol.asyncIterator in source ? { source, validated } : source
}

interface AnswersOptions {
  readonly source: AsyncIterable<unknown>
  readonly answer: (event: unknown) => Promise<ExecutionResult>
  /** Told how to end it from outside; what it returns is called at the end. */
  readonly opened: (end: OpenSubscription['end']) => () => void
  /** May be called more than once. */
  readonly ended: () => void
}

/**
 * The answers to a subscription's events. Leaving them leaves the source, also while it has nothing to say, and before
 * anybody has asked for the first. One that is too costly is told so and is the last: its subscriber has missed something,
 * and the next frame would hardly be cheaper. So is the error with which it is ended from outside.
 */
function answers({
  source,
  answer,
  opened,
  ended,
}: AnswersOptions): AsyncGenerator<ExecutionResult, void, void> {
  const events = source[Symbol.asyncIterator]()
  let reason: Error | undefined
  const closed = opened((error) => {
    reason ??= error
    void events.return?.()
  })
  const end = (): void => {
    closed()
    ended()
  }
  async function* run(): AsyncGenerator<ExecutionResult, void, void> {
    try {
      for await (const event of { [Symbol.asyncIterator]: () => events }) {
        const result = await answer(event)
        if (reason !== undefined) break
        yield result
        if (result.errors?.some(isTooCostly) === true) return
      }
      if (reason !== undefined) yield { errors: [clientErrorOf(reason)] }
    } catch (error) {
      if (!(error instanceof QueryTooCostlyError)) throw error
      yield { errors: [clientErrorOf(error)] }
    } finally {
      end()
    }
  }
  return interruptible(run(), () => {
    void events.return?.()
    end()
  })
}

function isTooCostly({ extensions }: GraphQLError): boolean {
  return extensions['code'] === ('QUERY_TOO_COSTLY' satisfies ClientErrorCode)
}
