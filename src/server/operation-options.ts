import type { IncomingHttpHeaders } from 'node:http'
import type { Viewer } from '../access/viewer.ts'

/** Where the server reports what is nobody's answer: the log of whoever runs it. A detail named `error` is what was thrown. */
export interface ServerLog {
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** The one path of the API, for both transports. */
export const graphqlPath = '/graphql'

/** Where an operation came from: what the caller's context is made of. */
export interface OperationOrigin {
  readonly transport: 'http' | 'websocket'
  /** Of the request, or of the one that opened the WebSocket. */
  readonly headers: IncomingHttpHeaders
  /** The payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, unknown>> | undefined
  /** Who asks; absent where nobody is asked who they are. */
  readonly viewer?: Viewer | undefined
}

/**
 * A plugin of graphql-yoga: `gateway.plugin`, or one of your own. Its type is not in any signature of this package, so that
 * whoever compiles against it need not compile yoga's.
 */
export type ServerPlugin = object

/** How operations are answered. */
export interface OperationPipelineOptions {
  /** Set the schema, parse, validate, execute and subscribe. */
  readonly plugins: readonly ServerPlugin[]
  /** Makes the `contextValue` of one operation; default: an empty one. What it throws is the operation's answer. */
  readonly context?: (origin: OperationOrigin) => object | Promise<object>
  readonly log: ServerLog
}
