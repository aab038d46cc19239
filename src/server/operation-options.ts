import type { IncomingHttpHeaders } from 'node:http'
import { noViewer } from '../access/authentication/authenticator.ts'
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
  /** Who asks, as the authenticator has found; absent where there is none. */
  readonly viewer?: Viewer | undefined
}

/** What a program knows of one operation: the `contextValue` of its resolvers. */
export interface OperationContext {
  /** Who asks, where the program finds that out itself, or says it in place of the authenticator. */
  readonly viewer?: Viewer | undefined
  readonly [name: string]: unknown
}

/**
 * A plugin of graphql-yoga: `gateway.plugin`, or one of your own. Its type is not in any signature of this package, so that
 * whoever compiles against it need not compile yoga's.
 */
export type ServerPlugin = object

/**
 * Makes the `contextValue` of the resolvers for one operation; its `viewer` is the caller. What it throws is the answer, as an error of the
 * operation: `UnauthenticatedError` is a 401.
 */
export type MakeContext = (origin: OperationOrigin) => OperationContext | Promise<OperationContext>

/** How operations are answered. */
export interface OperationPipelineOptions {
  /** Set the schema, parse, validate, execute and subscribe. */
  readonly plugins: readonly ServerPlugin[]
  /**
   * Makes the `contextValue` of one operation, whatever answers it; default: an empty one. What it throws is the operation's answer:
   * `UnauthenticatedError` where nobody is known.
   */
  readonly context?: MakeContext | undefined
  /**
   * Whether an operation without a viewer is refused with UNAUTHENTICATED; without one, everything may be seen. Default: where there
   * is an authenticator or a `context`.
   */
  readonly requireViewer?: boolean | undefined
  readonly log: ServerLog
}

/**
 * Makes contexts that say who asks: the viewer of the program's own context, or else the authenticator's. Throws
 * `UnauthenticatedError` where there is neither and one is required.
 */
export function contextWithViewer(
  context: MakeContext = () => ({}),
  requireViewer: boolean,
): MakeContext {
  const whole = (made: OperationContext, origin: OperationOrigin): OperationContext => {
    const viewer = made.viewer ?? origin.viewer
    if (viewer === undefined && requireViewer) throw noViewer()
    return { ...made, viewer }
  }
  return (origin) => {
    const made = context(origin)
    return made instanceof Promise ? made.then((one) => whole(one, origin)) : whole(made, origin)
  }
}
