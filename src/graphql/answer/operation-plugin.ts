import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  type Source,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { noViewer } from '../../access/authentication/authenticator.ts'
import { requestError } from '../errors/client-error.ts'
import {
  Execution,
  type ExplainingPlans,
  type OperationOptions,
  type SubscriptionSource,
} from './execution.ts'
import type { OperationDocuments } from '../documents/operation-documents.ts'
import { inTime, type OperationDeadline } from './operation-deadline.ts'
import { type OperationObserver, refusedDocument } from './operation-observer.ts'
import { OperationRecord } from './operation-record.ts'
import type { SchemaHistory } from '../served/schema-history.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

export interface OperationPluginOptions {
  /** Returns the schema that is served now; called once per operation. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  readonly live: SubscriptionSource
  /** Earlier states of the schema. */
  readonly history: SchemaHistory
  /** Whether an operation without a viewer is refused. */
  readonly requireViewer: boolean
  /** Receives errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
  /** Answers first if the caller wants an explanation. */
  readonly plans?: ExplainingPlans
  readonly observer?: OperationObserver | undefined
}

/**
 * The pipeline of every operation, from any transport: parse with a bound, validate, prepare, execute. A plugin,
 * because HTTP and WebSocket meet only there.
 */
export function operationPlugin(options: OperationPluginOptions): Plugin {
  const { served, documents, limits, history, requireViewer, observer, live } = options
  const hideSuggestions = !limits.introspection
  const bySchema = new WeakMap<GraphQLSchema, ServedSchema>()
  const executionOf = ({ schema }: ExecutionArgs): Execution =>
    new Execution({ ...options, served: bySchema.get(schema) ?? served() })
  const recordOf = (args: ExecutionArgs): OperationRecord | undefined =>
    observer === undefined ? undefined : new OperationRecord(observer, args)
  const deadlineOf = ({ contextValue }: ExecutionArgs): OperationDeadline => {
    const wishes = contextValue as OperationOptions | undefined
    const beganMs = wishes?.beganMs ?? performance.now()
    return { deadlineMs: limits.operationDeadlineMs, beganMs }
  }
  const rejected = (text: string, errors: readonly GraphQLError[], context: unknown): void => {
    const { viewer } = context as OperationOptions
    observer?.rejected?.(refusedDocument(text, errors, viewer))
  }
  const checkViewer = ({ contextValue }: ExecutionArgs): void => {
    const { viewer } = (contextValue ?? {}) as OperationOptions
    if (requireViewer && viewer === undefined) throw noViewer()
  }
  return {
    onEnveloped({ setSchema }) {
      const now = served()
      bySchema.set(now.schema, now)
      setSchema(now.schema)
    },
    onParse({ setParseFn, params, context }) {
      setParseFn((source: string | Source) => documents.parse(textOf(source)))
      return ({ result }) => {
        if (result instanceof GraphQLError) rejected(textOf(params.source), [result], context)
      }
    },
    onValidate({ setValidationFn, params, context }) {
      setValidationFn((schema: GraphQLSchema, document: DocumentNode) =>
        documents
          .validate(schema, document)
          .map((error) => requestError(error, document, history.hint(schema, document, error))),
      )
      return ({ valid, result }) => {
        if (!valid)
          rejected(
            params.documentAST.loc?.source.body ?? '',
            result as readonly GraphQLError[],
            context,
          )
      }
    },
    onExecute({ setExecuteFn }) {
      setExecuteFn(async (args: ExecutionArgs) => {
        checkViewer(args)
        const record = recordOf(args)
        const deadline = deadlineOf(args)
        const answering = executionOf(args).execute({ ...args, hideSuggestions }, record)
        const result = await inTime(answering, deadline)
        record?.answered(result)
        return result
      })
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(async (args: ExecutionArgs) => {
        checkViewer(args)
        const { document, operationName, variableValues: variables, contextValue } = args
        const wishes = contextValue as OperationOptions | undefined
        const { viewer, beganMs, explain: explains = false } = wishes ?? {}
        const request = { document, operationName, variables, explains }
        return live.subscribe(request, { viewer, beganMs })
      })
    },
  }
}

function textOf(source: string | Source): string {
  return typeof source === 'string' ? source : source.body
}
