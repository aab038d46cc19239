/*
 * What `over-gateways/` needs of the other gateways of the same configuration: to ask one an operation, and to follow a
 * subscription there. `gateway/peers.ts` implements it by HTTP.
 */

import type { FrameStream } from '../../lib/frame-stream.ts'
import type { QueryOrigin } from '../answer/planned-queries.ts'
import { ClientError } from '../errors/client-error.ts'

/** An operation for another gateway. */
export interface PeerRequest {
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  /** Of all clusters that the operation is about, only these are answered for. Absent: all that the peer holds. */
  readonly clusters?: readonly string[] | undefined
  /** Whether the answer explains itself in `extensions.explain`. */
  readonly explains?: boolean | undefined
  /** Whether the operation changes something. It is never sent twice. */
  readonly isWrite?: boolean | undefined
}

/** What of the caller goes along. The peer decides who asks, from what the caller has sent. */
export type PeerCaller = Pick<QueryOrigin, 'sent' | 'viewer' | 'trace' | 'beganMs'>

export interface Peers {
  /**
   * The answer, JSON text. Rejects with `PeerError` if the peer cannot be asked or does not answer within the deadline, and
   * with `ClientError`: TOO_MANY_OPERATIONS if too much is asked of it already, UNSUPPORTED if the caller cannot be named
   * there.
   */
  ask(address: string, request: PeerRequest, caller: PeerCaller): Promise<string>
  /**
   * The results of a subscription, JSON texts. Ends as the peer ends it; a connection that is lost, and what `ask` rejects
   * with, are errors of its end. The caller must close the stream.
   */
  follow(address: string, request: PeerRequest, caller: PeerCaller): FrameStream
}

/** The gateway that holds a cluster cannot be asked, or has not answered. */
export class PeerError extends ClientError {
  /** Whether the peer may have begun the operation. */
  readonly mayHaveBegun: boolean

  constructor(
    message: string,
    {
      mayHaveBegun,
      isMisdirected = false,
      cause,
    }: {
      readonly mayHaveBegun: boolean
      /** Whether the gateway that is asked is not the holder. */
      readonly isMisdirected?: boolean
      readonly cause?: unknown
    },
  ) {
    super('CLUSTER_UNREACHABLE', message, {
      hint: 'try again in a moment: another gateway takes over the clusters of one that is gone',
      retryAfterMs: 1_000,
      ...(isMisdirected && { facts: { misdirected: true } }),
      cause,
    })
    this.mayHaveBegun = mayHaveBegun
  }
}
