import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql'
import { interruptible } from '../../lib/interruptible.ts'
import type { ResolverContext } from '../schema/read-context.ts'
import { QueryTooCostlyError } from '../../query/condition/work-budget.ts'
import { clientError, type GatewayErrorCode } from './gateway-error.ts'
import { kindsOf } from './operation-kinds.ts'
import { OperationReader } from './operation-reader.ts'
import { executePriced, executeValidated } from './priced-executor.ts'
import { PreparedKinds } from './prepared-kinds.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'

/** How often execution may find that it needs further kinds. */
const maxRounds = 3

export interface ExecutionOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
}

/**
 * The two halves of an operation. Prepare, asynchronous: start the informers of its kinds and wait for them. Execute,
 * synchronous: read the stores, so that one answer sees one moment of all kinds. Where the kinds depend on data, both are
 * done again, at most three times.
 */
export class Execution {
  readonly #served: ServedSchema
  readonly #limits: OperationLimits

  constructor({ served, limits }: ExecutionOptions) {
    this.#served = served
    this.#limits = limits
  }

  /** Answers a query. */
  async execute(args: ExecutionArgs): Promise<ExecutionResult> {
    const prepared = await this.#prepareDocument(args)
    const result = await this.#rounds(prepared, (read) =>
      executePriced({ ...args, contextValue: contextOf(args.contextValue, read) }, read.budget),
    )
    return withClientErrors(result)
  }

  /** Answers a subscription: its events, or why there are none. */
  async subscribe(
    args: ExecutionArgs,
  ): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> {
    const prepared = await this.#prepareDocument(args)
    const opened = await this.#rounds(prepared, (read) => openSource(args, read))
    if (!('source' in opened)) return withClientErrors(opened)
    const { source, validated } = opened
    const answer = async (event: unknown): Promise<ExecutionResult> => {
      const result = await this.#rounds(prepared, (read) =>
        executeValidated(
          { ...validated, rootValue: event, contextValue: contextOf(args.contextValue, read) },
          read.budget,
        ),
      )
      return withClientErrors(result)
    }
    return answers(source, answer)
  }

  async #prepareDocument({
    document,
    operationName,
    variableValues,
  }: ExecutionArgs): Promise<PreparedKinds> {
    const prepared = new PreparedKinds()
    const operation = getOperationAST(document, operationName)
    if (operation === null || operation === undefined) return prepared
    for (const at of kindsOf(this.#served, document, operation, variableValues ?? {}))
      prepared.need(at)
    await this.#prepare(prepared)
    return prepared
  }

  async #prepare(prepared: PreparedKinds): Promise<void> {
    await Promise.all(
      prepared.needed.map(async (at) => {
        const cluster = this.#served.clusters.get(at.cluster)
        if (cluster === undefined) return
        await cluster.ready(at.kind, this.#limits.syncDeadlineMs).then(
          () => prepared.settle(at, 'ready'),
          (error: unknown) => prepared.settle(at, error as GraphQLError),
        )
      }),
    )
  }

  async #rounds<T>(
    prepared: PreparedKinds,
    run: (read: OperationReader) => T | PromiseLike<T>,
  ): Promise<T> {
    let result = await run(this.#reader(prepared))
    for (let round = 1; round < maxRounds && prepared.needed.length > 0; round++) {
      await this.#prepare(prepared)
      result = await run(this.#reader(prepared))
    }
    return result
  }

  #reader(prepared: PreparedKinds): OperationReader {
    return new OperationReader({ served: this.#served, limits: this.#limits, prepared })
  }
}

/** The events of a subscription, and what they are answered with. */
interface OpenedSource {
  readonly source: AsyncIterable<unknown>
  readonly validated: ValidatedSubscriptionArgs
}

async function openSource(
  args: ExecutionArgs,
  read: OperationReader,
): Promise<OpenedSource | ExecutionResult> {
  const contextValue = contextOf(args.contextValue, read)
  const validated = validateSubscriptionArgs({ ...args, contextValue })
  if (!('schema' in validated)) return { errors: validated }
  const source = await createSourceEventStream(validated)
  return Symbol.asyncIterator in source ? { source, validated } : source
}

function withClientErrors(result: ExecutionResult): ExecutionResult {
  if (result.errors === undefined) return result
  return { ...result, errors: result.errors.map(clientError) }
}

function contextOf(context: unknown, read: OperationReader): ResolverContext & object {
  return { ...(context as object | undefined), read }
}

const isTooCostly = ({ extensions }: GraphQLError): boolean =>
  extensions['code'] === ('QUERY_TOO_COSTLY' satisfies GatewayErrorCode)

/**
 * The answers to a subscription's events. Leaving them leaves the source, also while it has nothing to say. One that is too
 * costly is told so and is the last: its subscriber has missed something, and the next frame would hardly be cheaper.
 */
function answers(
  source: AsyncIterable<unknown>,
  answer: (event: unknown) => Promise<ExecutionResult>,
): AsyncGenerator<ExecutionResult, void, void> {
  const events = source[Symbol.asyncIterator]()
  async function* run(): AsyncGenerator<ExecutionResult, void, void> {
    try {
      for await (const event of { [Symbol.asyncIterator]: () => events }) {
        const result = await answer(event)
        yield result
        if (result.errors?.some(isTooCostly) === true) return
      }
    } catch (error) {
      if (!(error instanceof QueryTooCostlyError)) throw error
      yield withClientErrors({
        errors: [new GraphQLError(error.message, { originalError: error })],
      })
    }
  }
  return interruptible(run(), () => void events.return?.())
}
