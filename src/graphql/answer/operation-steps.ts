/*
 * The steps of every operation, over HTTP, WebSocket or within the process: parse, validate, then execute or subscribe.
 * Refused documents are reported here. An operation without a viewer is refused if viewers are required.
 */

import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  Kind as NodeKind,
  OperationTypeNode,
} from 'graphql'
import { noViewer } from '../../access/authentication/authenticator.ts'
import { ClientError, clientErrorOf, refusalOf, requestError } from '../errors/client-error.ts'
import {
  executeQuery,
  type ExecutionOptions,
  type OperationOptions,
  optionsOf,
  type SubscriptionSource,
} from './execution.ts'
import { refusedDocument } from './operation-observer.ts'
import type { SchemaHistory } from '../served/schema-history.ts'
import type { ServedSchema } from '../served/served-schema.ts'

export interface OperationStepsOptions extends ExecutionOptions {
  readonly live: SubscriptionSource
  /** Earlier states of the schema. */
  readonly history: SchemaHistory
  /** Whether an operation without a viewer is refused. */
  readonly requireViewer: boolean
}

type Asker = Pick<OperationOptions, 'viewer' | 'trace'>

export class OperationSteps {
  readonly #options: OperationStepsOptions

  constructor(options: OperationStepsOptions) {
    this.#options = options
  }

  get served(): ServedSchema {
    return this.#options.served()
  }

  /** Throws a GraphQLError for a text that is no document, or too large. */
  parse(text: string, asker: Asker): DocumentNode {
    try {
      return this.#options.documents.parse(text)
    } catch (error) {
      if (error instanceof GraphQLError) this.#rejected(text, [error], asker)
      throw error
    }
  }

  /** The first errors of a document, as a client sees them. */
  validate(schema: GraphQLSchema, document: DocumentNode, asker: Asker): readonly GraphQLError[] {
    const { documents, history } = this.#options
    const isMutation = document.definitions.some(
      (one) =>
        one.kind === NodeKind.OPERATION_DEFINITION && one.operation === OperationTypeNode.MUTATION,
    )
    const errors =
      isMutation && !schema.getMutationType()
        ? [
            clientErrorOf(
              new ClientError('UNSUPPORTED', 'this gateway serves no mutations', {
                hint: 'its operator allows writes with --allow-writes (docs/writes.md)',
              }),
            ),
          ]
        : documents
            .validate(schema, document)
            .map((error) => requestError(error, document, history.hint(schema, document, error)))
    if (errors.length > 0) this.#rejected(document.loc?.source.body ?? '', errors, asker)
    return errors
  }

  /** Answers a query or a mutation. The answer is UNAUTHENTICATED if a required viewer is missing. */
  async execute(served: ServedSchema, args: ExecutionArgs): Promise<ExecutionResult> {
    if (this.#lacksViewer(args)) return { errors: [refusalOf(noViewer())] }
    const hideSuggestions = !this.#options.limits.introspection
    return executeQuery(served, { ...args, hideSuggestions }, this.#options)
  }

  /** The frames of a subscription, or its errors, as in {@link execute}. */
  async subscribe(args: ExecutionArgs): ReturnType<SubscriptionSource['subscribe']> {
    if (this.#lacksViewer(args)) return { errors: [refusalOf(noViewer())] }
    const { document, operationName, variableValues: variables } = args
    const { viewer, callerToken, trace, beganMs, ...wishes } = optionsOf(args)
    const { mayWrite = false, explain: explains = false } = wishes
    const request = { document, operationName, variables, explains }
    return this.#options.live.subscribe(request, { viewer, callerToken, trace, beganMs, mayWrite })
  }

  #lacksViewer(args: ExecutionArgs): boolean {
    return this.#options.requireViewer && optionsOf(args).viewer === undefined
  }

  #rejected(text: string, errors: readonly GraphQLError[], asker: Asker): void {
    this.#options.observer?.rejected?.(refusedDocument(text, errors, asker))
  }
}
