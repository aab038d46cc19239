import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  Kind as NodeKind,
  OperationTypeNode,
  type Source,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { noViewer } from '../../access/authentication/authenticator.ts'
import { ClientError, clientErrorOf, requestError } from '../errors/client-error.ts'
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

export interface OperationPluginOptions extends ExecutionOptions {
  readonly live: SubscriptionSource
  /** Earlier states of the schema. */
  readonly history: SchemaHistory
  /** Whether an operation without a viewer is refused. */
  readonly requireViewer: boolean
}

/**
 * The pipeline of every operation, from any transport: parse with a bound, validate, prepare, execute. A plugin,
 * because HTTP and WebSocket meet only there.
 */
export function operationPlugin(options: OperationPluginOptions): Plugin {
  const { served, documents, limits, history, requireViewer, observer, live } = options
  const hideSuggestions = !limits.introspection
  const bySchema = new WeakMap<GraphQLSchema, ServedSchema>()
  const rejected = (text: string, errors: readonly GraphQLError[], context: unknown): void => {
    const { viewer } = context as OperationOptions
    observer?.rejected?.(refusedDocument(text, errors, viewer))
  }
  const checkViewer = (args: ExecutionArgs): void => {
    if (requireViewer && optionsOf(args).viewer === undefined) throw noViewer()
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
        lacksMutations(schema, document)
          ? [clientErrorOf(noMutations())]
          : documents
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
        const now = bySchema.get(args.schema) ?? served()
        return executeQuery(now, { ...args, hideSuggestions }, options)
      })
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(async (args: ExecutionArgs) => {
        checkViewer(args)
        const { document, operationName, variableValues: variables } = args
        const { viewer, callerToken, beganMs, ...wishes } = optionsOf(args)
        const { mayWrite = false, explain: explains = false } = wishes
        const request = { document, operationName, variables, explains }
        return live.subscribe(request, { viewer, callerToken, beganMs, mayWrite })
      })
    },
  }
}

function textOf(source: string | Source): string {
  return typeof source === 'string' ? source : source.body
}

function lacksMutations(schema: GraphQLSchema, { definitions }: DocumentNode): boolean {
  if ((schema.getMutationType() ?? null) !== null) return false
  return definitions.some(
    (one) =>
      one.kind === NodeKind.OPERATION_DEFINITION && one.operation === OperationTypeNode.MUTATION,
  )
}

function noMutations(): ClientError {
  const hint = 'its operator allows writes with --allow-writes (docs/writes.md)'
  return new ClientError('UNSUPPORTED', 'this gateway serves no mutations', { hint })
}
