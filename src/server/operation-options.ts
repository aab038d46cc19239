/*
 * What a program gives to a server, and what the server tells it: the log, the observer, the tracer, the context of an
 * operation, the plans that answer, and the state for `/readyz`. Only types, so that a program can implement them without
 * loading the server.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Viewer } from '../access/viewer.ts'
import type { OperationOptions } from '../graphql/answer/execution.ts'
import type { QueryRequest } from '../graphql/answer/planned-queries.ts'
import type { FrameStream } from '../lib/frame-stream.ts'
import type { OperationFollower } from '../graphql/prepare/operation-trace.ts'
import type { RefusedDocument } from '../graphql/answer/operation-observer.ts'
import type { ExecEndReport, ExecReport } from './exec/exec-options.ts'

/** Handlers of further paths, by path: `/faults`. If a handler throws, the server answers 500. */
export type Routes = Readonly<
  Record<string, (request: IncomingMessage, response: ServerResponse) => void | Promise<void>>
>

/** The log for messages that are part of no answer. A detail named `error` is the thrown value. */
export interface ServerLog {
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** A request that was refused before its operation was read. */
export interface ServerRefusal {
  readonly transport: 'http' | 'websocket'
  /** UNAUTHENTICATED, IDENTITY_UNAVAILABLE, AUDIT_UNAVAILABLE, TOO_MANY_OPERATIONS. */
  readonly code: string
  /** The user, if known. */
  readonly viewer?: Viewer | undefined
  /** The address of the peer, possibly a proxy. */
  readonly address: string | undefined
  /** The id of the request, or of the request that opened the WebSocket. */
  readonly requestId?: string | undefined
}

/** Observes refusals and connections of a server. Must not throw. */
export interface ServerObserver {
  refused(refusal: ServerRefusal): void
  /** A document may not run, or does not match its hash. */
  rejected?(document: RefusedDocument): void
  socketOpened?(): void
  socketClosed?(): void
  /** The server has cut off a slow reader: too many bytes waited for it, or it took nothing for too long. */
  cutOff?(transport: 'http' | 'websocket'): void
  /** Called once with a function that returns the number of bytes that wait to be sent. */
  unsent?(bytes: () => number): void
  /** A process was started in a container. */
  execBegan?(report: ExecReport): void
  /** It has ended, or its caller has left. */
  execEnded?(report: ExecEndReport): void
  /** A process was not started: its caller may not, or it cannot be. */
  execRefused?(report: ExecEndReport): void
  /** Called once with a function that returns when the server's certificate ends, in Unix milliseconds. */
  certificate?(endMs: () => number | undefined): void
}

export interface FollowedRequest {
  readonly method: string
  readonly path: string
  readonly requestId: string
  /** The places of `traceparent`: headers, and the payloads of a WebSocket's `connection_init` and messages. */
  readonly carrier: () => Readonly<Record<string, unknown>>
}

/** A traced operation, from its request on. Must not throw. */
export interface TracedOperation {
  readonly follower: OperationFollower
  /** Runs work, and everything that it starts, as a part of the operation. */
  run<T>(work: () => T): T
  /** Ends the trace: the operation is over, or the subscription has begun. Idempotent. */
  end(httpStatus?: number): void
}

/** Traces operations: `GatewayTraces`. */
export interface OperationTracer {
  /** Returns `undefined` if the operation is not traced. */
  begin(request: FollowedRequest): TracedOperation | undefined
}

export const graphqlPath = '/graphql'

/** The paths of the schema as SDL. Tools take the second one for a file. */
export const sdlPaths: readonly string[] = ['/graphql/schema', '/schema.graphql']

/** The schema as SDL: compressed by Brotli, and its entity tag. */
export interface ServedSdl {
  readonly brotli: Buffer
  readonly etag: string
}

/** The origin of an operation, from which a program makes its context. */
export interface OperationOrigin {
  readonly transport: 'http' | 'websocket'
  /** The headers of the request, or of the request that opened the WebSocket. */
  readonly headers: IncomingHttpHeaders
  /** The payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, unknown>> | undefined
  /** The viewer that the authenticator found, if any. */
  readonly viewer?: Viewer | undefined
}

/** The program's context of an operation: the `contextValue` of its resolvers. */
export interface OperationContext {
  /** The viewer, if the program authenticates callers itself or replaces the authenticator's viewer. */
  readonly viewer?: Viewer | undefined
  readonly [name: string]: unknown
}

/**
 * A plugin of graphql-yoga: `gateway.plugin`, or your own. No signature of this package uses yoga's type, so that
 * programs compile without yoga's types.
 */
export type ServerPlugin = object

/**
 * Makes the `contextValue` of the resolvers for one operation; its `viewer` is the caller. A thrown error becomes the
 * answer; `UnauthenticatedError` is a 401.
 */
export type MakeContext = (origin: OperationOrigin) => OperationContext | Promise<OperationContext>

export interface Readiness {
  readonly ready: boolean
  /** The reasons why it waits or fails, one line each. */
  readonly reasons: readonly string[]
  /**
   * The lag of each cache that may be out of date, in milliseconds. A lag is not a failure: the gateway answers from
   * its caches, and other replicas have nothing newer.
   */
  readonly lagsBehindMs?: readonly number[]
}

/** The caller's token and credentials, the callback for an answer that no browser may keep, and the request. */
type OperationCaller = Pick<OperationOptions, 'callerToken' | 'forbidKeeping' | 'sent' | 'trace'>

/** Answers operations that have a plan, as most queries do. */
export interface PlannedQueries {
  /** The plugin that these plans replace. */
  readonly plugin?: ServerPlugin | undefined
  /** The address at which other gateways ask this one. */
  readonly address?: string | undefined
  /** Whether another gateway has made the document of a request, of one that may run there. */
  isOfPeer?(headers: IncomingHttpHeaders, document: string): boolean
  /**
   * The JSON text of the answer; `undefined` if the pipeline has to answer: the operation is not a query, has no plan,
   * or has errors. Returns a promise only if it has to wait. Never rejects. `mayWrite`: whether it may be a mutation.
   */
  answer(
    operation: QueryRequest,
    origin: OperationOrigin & OperationCaller & { readonly mayWrite: boolean },
  ): string | undefined | Promise<string | undefined>
  /** The frames of a subscription. If it fails, its errors come last. Never rejects. */
  subscribe?(
    operation: QueryRequest,
    origin: OperationOrigin &
      Omit<OperationCaller, 'forbidKeeping'> & { readonly mayWrite: boolean },
  ): Promise<FrameStream>
}
