import type { Viewer } from '../access/viewer.ts'
import type { RefusedDocument } from '../graphql/answer/operation-observer.ts'

/** A request that was refused before its operation was read. */
export interface ServerRefusal {
  readonly transport: 'http' | 'websocket'
  /** UNAUTHENTICATED, IDENTITY_UNAVAILABLE, TOO_MANY_OPERATIONS. */
  readonly code: string
  /** The user, if known. */
  readonly viewer?: Viewer | undefined
  /** The address of the peer, possibly a proxy. */
  readonly address: string | undefined
}

/** Observes refusals and connections of a server. Must not throw. */
export interface ServerObserver {
  refused(refusal: ServerRefusal): void
  /** A document may not run, or does not match its hash. */
  rejected?(document: RefusedDocument): void
  socketOpened?(): void
  socketClosed?(): void
  /** A slow reader was cut off: too many bytes waited for it, or it took nothing for too long. */
  cutOff?(transport: 'http' | 'websocket'): void
  /** Called once with a function that returns the number of bytes that wait to be sent. */
  unsent?(bytes: () => number): void
}
