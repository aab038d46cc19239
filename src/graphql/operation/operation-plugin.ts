import type { DocumentNode, GraphQLError, GraphQLSchema, Source } from 'graphql'
import type { ExecutionArgs } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { requestError } from './client-error.ts'
import { Execution, type ExplainingPlans } from './execution.ts'
import type { OperationDocuments } from './operation-documents.ts'
import type { OpenSubscriptions } from './open-subscriptions.ts'
import { inTime } from './operation-deadline.ts'
import type { SchemaHistory } from './schema-history.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'

export interface OperationPluginOptions {
  /** What is served at the moment; asked for once per operation. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  /** Where those that are open are known. */
  readonly subscriptions: OpenSubscriptions
  /** What the schema was before. */
  readonly history: SchemaHistory
  /** Told of errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
  /** Asked first where an answer is to be explained. */
  readonly plans?: ExplainingPlans
}

/**
 * The pipeline of every operation, whichever transport it came by: parse with a bound, validate, prepare, execute. As a
 * plugin, since HTTP and WebSocket meet only there.
 */
export function operationPlugin(options: OperationPluginOptions): Plugin {
  const { served, documents, limits, history } = options
  const { operationDeadlineMs } = limits
  const hideSuggestions = !limits.introspection
  const bySchema = new WeakMap<GraphQLSchema, ServedSchema>()
  const executionOf = ({ schema }: ExecutionArgs): Execution =>
    new Execution({ ...options, served: bySchema.get(schema) ?? served() })
  return {
    onEnveloped({ setSchema }) {
      const now = served()
      bySchema.set(now.schema, now)
      setSchema(now.schema)
    },
    onParse({ setParseFn }) {
      setParseFn((source: string | Source) =>
        documents.parse(typeof source === 'string' ? source : source.body),
      )
    },
    onValidate({ setValidationFn }) {
      setValidationFn((schema: GraphQLSchema, document: DocumentNode) =>
        documents
          .validate(schema, document)
          .map((error) => requestError(error, document, history.hint(schema, document, error))),
      )
    },
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) =>
        inTime(executionOf(args).execute({ ...args, hideSuggestions }), operationDeadlineMs),
      )
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) =>
        inTime(
          executionOf(args).subscribe({ ...args, hideSuggestions }),
          operationDeadlineMs,
          (answers) => {
            if (Symbol.asyncIterator in answers) void answers.return()
          },
        ),
      )
    },
  }
}
