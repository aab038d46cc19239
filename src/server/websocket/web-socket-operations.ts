import type { IncomingMessage } from 'node:http'
import { type ExecutionArgs, type FormattedExecutionResult, GraphQLError } from 'graphql'
import { type Context, makeServer, type Server } from 'graphql-ws'
import {
  clientErrorOf,
  clientResult,
  isUnexpected,
  withoutTransportDetails,
} from '../../graphql/operation/client-error.ts'
import type { OperationPipeline } from '../operation-pipeline.ts'
import type { ServerLog } from '../operation-options.ts'
import type { SocketIdentity } from './socket-identity.ts'

export interface WebSocketOperationsOptions {
  readonly pipeline: OperationPipeline
  readonly connectionInitDeadlineMs: number
  readonly maxOperationsPerSocket: number
  readonly log: ServerLog
}

/** What is known of a WebSocket besides its messages. */
export interface OpenedBy {
  /** The request that was upgraded. */
  readonly request: IncomingMessage
  readonly identity: SocketIdentity
}

type Connection = Context<Record<string, unknown> | undefined, OpenedBy>
type Enveloped = ReturnType<OperationPipeline['getEnveloped']>

/** The arguments of one operation, with the pipeline's functions for it. */
interface EnvelopedArgs extends ExecutionArgs {
  readonly enveloped: Enveloped
}

/** The graphql-transport-ws protocol on top of the pipeline that HTTP uses too. */
export function createWebSocketOperations(options: WebSocketOperationsOptions): Server<OpenedBy> {
  const { pipeline, maxOperationsPerSocket, log } = options

  const prepare = async (
    connection: Connection,
    payload: {
      query: string
      operationName?: string | null | undefined
      variables?: Record<string, unknown> | null | undefined
    },
  ): Promise<EnvelopedArgs | readonly GraphQLError[]> => {
    const { request, identity } = connection.extra
    const viewer = await identity.confirm()
    const enveloped = pipeline.getEnveloped({
      req: request,
      viewer,
      connectionParams: connection.connectionParams,
      params: payload,
    })
    const document = enveloped.parse(payload.query)
    const errors = enveloped.validate(enveloped.schema, document) as readonly GraphQLError[]
    if (errors.length > 0) return errors
    return {
      schema: enveloped.schema,
      document,
      operationName: payload.operationName,
      variableValues: payload.variables ?? undefined,
      contextValue: await enveloped.contextFactory(),
      enveloped,
    }
  }

  return makeServer<Record<string, unknown> | undefined, OpenedBy>({
    connectionInitWaitTimeout: options.connectionInitDeadlineMs,
    onConnect: ({ extra, connectionParams }) => extra.identity.begin(connectionParams),
    async onSubscribe(connection, _id, payload) {
      const operations = Object.keys(connection.subscriptions).length
      if (operations > maxOperationsPerSocket) return [tooManyOperations(maxOperationsPerSocket)]
      try {
        return await prepare(connection, payload)
      } catch (error) {
        const seen = clientErrorOf(error)
        if (isUnexpected(seen)) log.error('an operation failed unexpectedly', { error })
        return [seen]
      }
    },
    execute: (args) => (args as EnvelopedArgs).enveloped.execute(args),
    subscribe: (args) => (args as EnvelopedArgs).enveloped.subscribe(args),
    onNext(_connection, _id, _payload, _args, result) {
      const { errors, ...rest } = clientResult(result)
      if (errors === undefined) return undefined
      const formatted = errors.map((error) => withoutTransportDetails(error).toJSON())
      return { ...rest, errors: formatted } as FormattedExecutionResult
    },
    onError(_connection, _id, _payload, errors) {
      const coded = clientResult({ errors }).errors
      return coded.map((error) => withoutTransportDetails(error).toJSON())
    },
  })
}

function tooManyOperations(limit: number): GraphQLError {
  return new GraphQLError(`more than ${limit} operations are under way on this WebSocket`, {
    extensions: {
      code: 'QUERY_TOO_COSTLY',
      value: limit,
      hint: 'complete some of them, or open another WebSocket',
    },
  })
}
