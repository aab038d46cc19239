import type { DocumentNode, ExecutionArgs, GraphQLSchema, Source } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { isOfCaller } from '../../access/authentication/authenticator.ts'
import { refusalOf } from '../errors/client-error.ts'
import type { OperationOptions } from './execution.ts'
import type { OperationSteps } from './operation-steps.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/**
 * The steps of an operation as a plugin, the only place where HTTP and WebSocket meet. It also works in a program's own
 * server, which masks and logs unknown errors. So an error that the program's context throws for an unknown caller
 * becomes the answer here.
 */
export function operationPlugin(steps: OperationSteps): Plugin {
  const bySchema = new WeakMap<GraphQLSchema, ServedSchema>()
  return {
    onPluginInit({ registerContextErrorHandler }) {
      registerContextErrorHandler(({ error, setError }) => {
        if (isOfCaller(error)) setError(refusalOf(error))
      })
    },
    onEnveloped({ setSchema }) {
      const now = steps.served
      bySchema.set(now.schema, now)
      setSchema(now.schema)
    },
    onParse({ setParseFn, context }) {
      setParseFn((source: string | Source) =>
        steps.parse(textOf(source), context as OperationOptions),
      )
    },
    onValidate({ setValidationFn, context }) {
      setValidationFn((schema: GraphQLSchema, document: DocumentNode) =>
        steps.validate(schema, document, context as OperationOptions),
      )
    },
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) =>
        steps.execute(bySchema.get(args.schema) ?? steps.served, args),
      )
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) => steps.subscribe(args))
    },
  }
}

function textOf(source: string | Source): string {
  return typeof source === 'string' ? source : source.body
}
