import type { Viewer } from '../access/viewer.ts'
import type { RefusedDocument } from '../graphql/answer/operation-observer.ts'

/** Somebody who was refused before the operation was read. */
export interface ServerRefusal {
  readonly transport: 'http' | 'websocket'
  /** UNAUTHENTICATED, IDENTITY_UNAVAILABLE, TOO_MANY_OPERATIONS. */
  readonly code: string
  /** Where that is known. */
  readonly viewer?: Viewer | undefined
  /** The address of the peer, which may be a proxy's. */
  readonly address: string | undefined
}

/** Told of what happens at the door. Must not throw. */
export interface ServerObserver {
  refused(refusal: ServerRefusal): void
  /** A document is not one of those that may be run, or not that of its hash. */
  rejected?(document: RefusedDocument): void
  socketOpened?(): void
  socketClosed?(): void
  /** A reader was cut off: too much waited for it, or it took nothing for too long. */
  cutOff?(transport: 'http' | 'websocket'): void
  /** Given once what tells how many bytes wait to be sent. */
  unsent?(bytes: () => number): void
}
